package mfotl

import (
	"cmp"
	"slices"

	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// Explain says why a binding satisfies formula i at the pending time point: of every
// conjunct what it rests on, of every temporal one the time points, or the window in
// which what would have made it hold is missing. It returns the reasons of the conjuncts;
// false if the binding does not satisfy the formula. It depends on the trace and the
// formula only. Of formulas that are equal up to the names of variables all are explained
// in the names of the first.
//
// Nothing is kept for it: it evaluates the formula anew. Where the binding leaves nothing
// to search, as in a conjunction without quantifiers, that is each conjunct once; otherwise
// it is once for each level of negation, disjunction or quantification, and once more for
// each conjunct. It panics without a pending step, and changes nothing that can be
// observed.
func (st *State) Explain(i int, values []schema.Value) ([]Reason, bool) {
	var buf ReasonBuffer
	return st.ReadReasons(i, values, &buf)
}

// ReadReasons is Explain into the memory of buf: what it returns is valid until buf is used
// again.
func (st *State) ReadReasons(i int, values []schema.Value, buf *ReasonBuffer) ([]Reason, bool) {
	st.mustPend("Explain")
	buf.reset()
	st.explains = true
	defer func() { st.explains = false }()
	f := st.plan.roots[st.plan.rootOf[i]].f
	if len(values) != len(f.out) {
		return nil, false
	}
	for k, v := range values {
		st.env[f.out[k]] = st.intern(v)
	}
	return explainer{st, buf}.holds(f)
}

// explainer makes reasons. It works with the environment of the state: a method reads the
// values that it needs from there and leaves others behind.
type explainer struct {
	st  *State
	buf *ReasonBuffer
}

// derivation is one way to satisfy a sub-formula, or a conjunct of one.
type derivation struct {
	chain   *chain
	env     []word
	mark    verdict.Value // T: there is none
	witness []uint64      // descending
}

// holds gives the reasons of the conjuncts of the best derivation of f, whose columns and
// outer variables are in the environment.
func (x explainer) holds(f *fused) ([]Reason, bool) {
	if f.determined {
		out, failing := x.tested(&f.chains[0])
		if failing >= 0 {
			return nil, false
		}
		return out, true
	}
	best := x.best(f)
	if best.mark == verdict.T {
		return nil, false
	}
	var out []Reason
	for i := range best.chain.atoms {
		if _, ok := best.chain.atoms[i].(*gateAtom); !ok {
			copy(x.st.env, best.env)
			out = append(out, x.conjunct(best.chain.atoms[i], &best.chain.parts[i]))
		}
	}
	return out, true
}

// best finds the best derivation of f: of two with one mark and witness the one of the
// first disjunct, and then of the least values.
func (x explainer) best(f *fused) derivation {
	var best derivation
	fixed := x.values(f.out)
	for i := range f.chains {
		c := &f.chains[i]
		x.run(c.atoms, func(d derivation) {
			d.chain = c
			if slices.Equal(x.values(f.out), fixed) && x.better(&d, &best) {
				d.env = slices.Clone(x.st.env)
				best = d
			}
		})
	}
	return best
}

func (x explainer) better(d, best *derivation) bool {
	order := cmp.Or(cmp.Compare(d.mark, best.mark), recency(d.witness, best.witness))
	if order == 0 && d.chain == best.chain {
		return x.less(d.chain.parts, best.env)
	}
	return order > 0
}

// less reports whether the values that the environment has for parts come before those of
// another environment.
func (x explainer) less(parts []part, env []word) bool {
	for _, p := range parts {
		for _, slot := range p.slots {
			if c := x.st.compareWords(x.st.env[slot], env[slot]); c != 0 {
				return c < 0
			}
		}
	}
	return false
}

// recency compares two witnesses, in descending order: the newer one is greater, and of
// two that agree as far as the shorter goes, the shorter.
func recency(a, b []uint64) int {
	n := min(len(a), len(b))
	return cmp.Or(slices.Compare(a[:n], b[:n]), cmp.Compare(len(b), len(a)))
}

func (x explainer) values(slots []int) []word {
	out := make([]word, len(slots))
	for i, slot := range slots {
		out[i] = x.st.env[slot]
	}
	return out
}

// run makes every derivation of a conjunction.
func (x explainer) run(atoms []atom, found func(d derivation)) {
	base := len(x.st.wit)
	end := &probeAtom{reach: func(m verdict.Value) {
		raw := x.st.wit[base:]
		w := appendWitness(nil, raw, len(raw))
		for len(w) > 0 && w[len(w)-1] == 0 {
			w = w[:len(w)-1]
		}
		found(derivation{mark: m, witness: w})
	}}
	c := chain{atoms: append(slices.Clip(atoms), end)}
	c.next(x.st, 0, verdict.F)
}

// probeAtom calls a function each time it is reached and lets nothing pass unless it is
// open.
type probeAtom struct {
	reach func(m verdict.Value)
	open  bool
}

func (a *probeAtom) run(st *State, c *chain, k int, m verdict.Value) bool {
	a.reach(m)
	return !a.open || c.next(st, k, m)
}

// conjunct is the reason of an atom that holds with all its variables in the environment.
func (x explainer) conjunct(a atom, p *part) Reason {
	env := slices.Clone(x.st.env)
	fixed := x.values(p.slots)
	r := x.reason(p, everyName)
	var best []uint64
	x.run([]atom{a}, func(d derivation) {
		if !slices.Equal(x.values(p.slots), fixed) {
			return
		}
		if cmp.Or(cmp.Compare(d.mark, r.Mark), recency(d.witness, best)) > 0 {
			r.Mark, best = d.mark, d.witness
		}
	})
	for _, w := range slices.Backward(best) {
		r.Witness = append(r.Witness, w-1)
	}
	copy(x.st.env, env)
	x.details(&r, a, p)
	return r
}

// everyName is for parts all of whose variables have values.
func everyName(string) bool { return true }

// reason is a node without its outcome; it gives the values of the known variables.
func (x explainer) reason(p *part, known func(name string) bool) (r Reason) {
	x.begin(&r, p, known)
	return r
}

// begin is reason into memory that is there.
func (x explainer) begin(r *Reason, p *part, known func(name string) bool) {
	now := x.st.moment(p.delay)
	r.Formula, r.Point, r.TS = p.f, now.index, now.ts
	bound := x.buf.bounds.take(len(p.slots))[:0]
	for i, slot := range p.slots {
		if known(p.names[i]) {
			bound = append(bound, Bound{Name: p.names[i], Value: x.st.value(x.st.env[slot])})
		}
	}
	if len(bound) > 0 {
		r.Binding = bound
	}
}

// details adds what only some operators have to the reason of an atom that holds.
func (x explainer) details(r *Reason, a atom, p *part) {
	switch a := a.(type) {
	case *notAtom:
		r.Because = x.negated(a.f, p.names)
	case *checkAtom:
		r.Because, _ = x.holds(a.f)
	case *tuplesAtom:
		r.Because, _ = x.holds(a.f)
	case *riseAtom:
		r.Because, _ = x.holds(a.now)
	case *storeAtom:
		r.Window = x.window(r.TS, a.spec.lo, a.spec.hi)
		r.Window.At = x.entry(a)
	case *heldAtom:
		if a.negated {
			r.Because = x.one(x.historically(a, p))
		} else {
			r.Window = x.window(r.TS, a.spec.lo, a.spec.hi)
		}
	}
}

// entry is the time stamp of the entry of a window on which an atom rests.
func (x explainer) entry(a *storeAtom) int64 {
	s := x.st.stores[a.spec.id]
	slot := s.find(x.values(a.cols))
	_, at := s.best(slot, x.st.frame(a.spec.delay).ts)
	return int64(s.ents[slot][at+entTS])
}
