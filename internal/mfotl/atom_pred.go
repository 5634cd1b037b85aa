package mfotl

import (
	"slices"

	"github.com/aspis-rv/aspis/pkg/verdict"
)

// predAtom matches the facts of one relation at one delay.
type predAtom struct {
	id    int // of its hash index
	rel   int
	delay int
	args  []predArg
	keys  []int // positions whose value is known before the facts are looked at
}

// predArg says what to do with one argument of a fact.
type predArg struct {
	kind argKind
	slot int  // argBound, argBind
	word word // argConst
}

type argKind uint8

const (
	argConst argKind = iota // equals a constant
	argBound                // equals a variable bound before or by an earlier argument
	argBind                 // binds a variable
)

func (a *predAtom) run(st *State, c *chain, k int, m verdict.Value) bool {
	f := st.frame(a.delay)
	sp := f.find(a.rel)
	if sp.hi == sp.lo {
		return true
	}
	arity := len(a.args)
	if sp.hi-sp.lo > scanRows && len(a.keys) > 0 {
		return a.probe(st, f, sp, c, k, m)
	}
	for r := sp.lo; r < sp.hi; r++ {
		row := f.words[sp.words+(r-sp.lo)*arity:][:arity]
		if a.bind(st, row) && !a.follow(st, f, r, c, k, m) {
			return false
		}
	}
	return true
}

// bind checks a row against what is known and binds the rest.
func (a *predAtom) bind(st *State, row []word) bool {
	for i := range a.args {
		arg := &a.args[i]
		switch arg.kind {
		case argConst:
			if row[i] != arg.word {
				return false
			}
		case argBound:
			if row[i] != st.env[arg.slot] {
				return false
			}
		case argBind:
			st.env[arg.slot] = row[i]
		}
	}
	return true
}

func (a *predAtom) follow(st *State, f *frame, r int, c *chain, k int, m verdict.Value) bool {
	n := len(st.wit)
	st.wit = append(st.wit, f.source)
	more := c.next(st, k, verdict.Meet(m, f.marks[r]))
	st.wit = st.wit[:n]
	return more
}

// predIndex is a hash index over the facts of one relation at one time point, made
// when an atom with known arguments meets a large set of facts.
type predIndex struct {
	step  uint64 // the step it was made in
	heads []int32
	next  []int32
}

// probe is run by hash index.
func (a *predAtom) probe(st *State, f *frame, sp span, c *chain, k int, m verdict.Value) bool {
	x := a.index(st, f, sp)
	arity := len(a.args)
	key := st.key[:len(a.keys)]
	for i, p := range a.keys {
		if arg := &a.args[p]; arg.kind == argConst {
			key[i] = arg.word
		} else {
			key[i] = st.env[arg.slot]
		}
	}
	h := hashWords(st.plan.seed, key) & uint64(len(x.heads)-1)
	for i := x.heads[h]; i >= 0; i = x.next[i] {
		row := f.words[sp.words+int(i)*arity:][:arity]
		if a.bind(st, row) && !a.follow(st, f, sp.lo+int(i), c, k, m) {
			return false
		}
	}
	return true
}

func (a *predAtom) index(st *State, f *frame, sp span) *predIndex {
	if st.preds == nil {
		st.preds = make([]predIndex, st.plan.preds)
	}
	x := &st.preds[a.id]
	if x.step == st.step {
		return x
	}
	n := sp.hi - sp.lo
	size := 32
	for size < n {
		size *= 2
	}
	if cap(x.heads) > keepWords {
		*x = predIndex{}
	}
	x.step = st.step
	x.heads = slices.Grow(x.heads[:0], size)[:size]
	x.next = slices.Grow(x.next[:0], n)[:n]
	for i := range x.heads {
		x.heads[i] = -1
	}
	key := st.key[:len(a.keys)]
	for i := range n {
		row := f.words[sp.words+i*len(a.args):]
		for j, p := range a.keys {
			key[j] = row[p]
		}
		h := hashWords(st.plan.seed, key) & uint64(size-1)
		x.next[i], x.heads[h] = x.heads[h], int32(i)
	}
	return x
}
