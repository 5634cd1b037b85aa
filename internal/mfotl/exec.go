package mfotl

import (
	"slices"

	"github.com/aspis-rv/aspis/internal/lang/syntax"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// atom is one conjunct of a chain, compiled for the variables that are bound when
// it is reached. Implementations are immutable; what they compute with lies in the
// State.
type atom interface {
	// run finds every way to satisfy the atom under st.env, binds its variables
	// there, and goes on with conjunct k of c. m is the mark of the chain so far.
	// It returns false if the search may stop.
	run(st *State, c *chain, k int, m verdict.Value) bool
}

// chain is a conjunction evaluated from left to right by backtracking.
type chain struct {
	atoms []atom
	sink  *fused
	parts []part // what each atom stands for
}

// part is the sub-formula that an atom was made of, with its free variables and where the
// environment has them.
type part struct {
	f     syntax.Formula
	delay int
	names []string
	slots []int
}

func (c *chain) next(st *State, k int, m verdict.Value) bool {
	if k == len(c.atoms) {
		return c.sink.take(st, m)
	}
	return c.atoms[k].run(st, c, k+1, m)
}

// fused is a sub-formula at whose boundary derivations of one tuple are fused:
// the operand of a temporal operator or of NOT, a quantifier, a disjunction, or a
// whole formula. Its alternatives are the disjuncts.
type fused struct {
	level  int   // which scratch level it uses; nested ones use higher levels
	out    []int // environment slots of the columns to collect; nil to check only
	wit    int   // width of its witnesses; 0 when nobody asks for them
	faulty bool  // some term may have no value: every derivation is tried, so that it is met
	// determined says that there is one chain, and that its atoms have no variables but
	// the columns and those that are bound outside.
	determined bool
	chains     []chain
	trigger    trigger
}

// level is the scratch memory of one fused sub-formula under evaluation.
type level struct {
	base int // length of the witness stack on entry
	rel  relation
	mark verdict.Value // of a check
	wit  []uint64

	order []int32 // rows of rel by group, of an aggregation
}

// collect evaluates all tuples. The relation is valid until the level is used
// again.
func (f *fused) collect(st *State) *relation {
	lv := &st.levels[f.level]
	lv.base = len(st.wit)
	lv.rel.reset(len(f.out), f.wit, st.plan.seed)
	for i := range f.chains {
		f.chains[i].next(st, 0, verdict.F)
	}
	return &lv.rel
}

// check evaluates the formula with all its free variables bound: the mark of its
// best derivation, whose witness is then in the level.
func (f *fused) check(st *State) verdict.Value {
	lv := &st.levels[f.level]
	lv.base = len(st.wit)
	lv.mark = verdict.T
	lv.wit = lv.wit[:0]
	for i := range f.chains {
		if !f.chains[i].next(st, 0, verdict.F) {
			break
		}
	}
	st.wit = st.wit[:lv.base]
	return lv.mark
}

// take receives one derivation.
func (f *fused) take(st *State, m verdict.Value) bool {
	lv := &st.levels[f.level]
	raw := st.wit[lv.base:]
	if f.out != nil {
		key := st.key[:len(f.out)]
		for i, slot := range f.out {
			key[i] = st.env[slot]
		}
		lv.rel.fuse(key, m, raw)
		return true
	}
	if m < lv.mark {
		return true
	}
	if f.wit == 0 {
		lv.mark = m
		return m != verdict.F || f.faulty
	}
	n := len(lv.wit)
	lv.wit = appendWitness(lv.wit, raw, f.wit)
	if cand := lv.wit[n:]; n > 0 && (m > lv.mark || better(cand, lv.wit[:n])) {
		copy(lv.wit, cand)
	}
	lv.wit = lv.wit[:f.wit]
	lv.mark = m
	return true
}

// trigger says when a sub-formula can have tuples at all: always, or only when one
// of some relations has a fact at some delay.
type trigger struct {
	always bool
	on     []source
}

// source is a relation seen from a number of time points later.
type source struct {
	rel, delay int
}

func (t *trigger) fires(st *State) bool {
	if t.always {
		return true
	}
	for _, s := range t.on {
		if st.points > uint64(s.delay) && st.frame(s.delay).find(s.rel).hi > 0 {
			return true
		}
	}
	return false
}

// or is the trigger of a disjunction.
func (t trigger) or(u trigger) trigger {
	if t.always || u.always {
		return trigger{always: true}
	}
	out := trigger{on: append([]source(nil), t.on...)}
	for _, s := range u.on {
		if !containsSource(out.on, s) {
			out.on = append(out.on, s)
		}
	}
	return out
}

// and is a trigger of a conjunction: either operand's would do; the narrower one
// is taken.
func (t trigger) and(u trigger) trigger {
	if t.always || (!u.always && len(u.on) < len(t.on)) {
		return u
	}
	return t
}

func containsSource(ss []source, s source) bool {
	return slices.Contains(ss, s)
}
