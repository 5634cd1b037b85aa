package mfotl

import (
	"cmp"
	"slices"

	"github.com/aspis-rv/aspis/pkg/verdict"
)

// ReasonBuffer is memory for reasons that is used over and over. Its zero value is ready
// for use. It is not safe for concurrent use. It grows to the largest explanation it has
// held.
type ReasonBuffer struct {
	reasons slab[Reason]
	bounds  slab[Bound]
	offsets slab[uint64]
	windows slab[Window]

	// Of the conjunct that is tested.
	chain chain
	probe testAtom
}

func (b *ReasonBuffer) reset() {
	b.reasons.reset()
	b.bounds.reset()
	b.offsets.reset()
	b.windows.reset()
	if b.chain.atoms == nil {
		b.chain.atoms = []atom{nil, &b.probe}
	}
}

// slab hands out pieces of one array. What was handed out stays where it is when it grows.
type slab[T any] struct{ mem []T }

func (s *slab[T]) reset() { s.mem = s.mem[:0] }

// take returns n zero values.
func (s *slab[T]) take(n int) []T {
	at := len(s.mem)
	if at+n > cap(s.mem) {
		s.mem = make([]T, 0, max(2*cap(s.mem), n, 8))
		at = 0
	}
	s.mem = s.mem[:at+n]
	out := s.mem[at : at+n : at+n]
	clear(out)
	return out
}

// one is a list of one reason.
func (x explainer) one(r Reason) []Reason {
	out := x.buf.reasons.take(1)
	out[0] = r
	return out
}

func (x explainer) window(ts int64, lo, hi uint64) *Window {
	w := &x.buf.windows.take(1)[0]
	*w = windowOf(ts, lo, hi)
	return w
}

// tested gives the reasons of the conjuncts of a chain whose variables all have values, or
// the number of the first atom that fails, -1 if none does, with its reason alone, without
// details. Nothing has to be searched: the chain holds if each of its conjuncts does.
func (x explainer) tested(c *chain) (out []Reason, failing int) {
	all := x.buf.reasons.take(len(c.atoms))
	for i, a := range c.atoms {
		if x.test(&all[i], a, &c.parts[i]); all[i].Mark == verdict.T {
			return all[i : i+1 : i+1], i
		}
	}
	gates := 0 // which come first
	for i, a := range c.atoms {
		if _, gate := a.(*gateAtom); gate {
			gates++
			continue
		}
		x.details(&all[i], a, &c.parts[i])
	}
	return all[gates:], -1
}

// test makes the reason of an atom all of whose variables have values, without details. Its
// mark is T if it does not hold.
func (x explainer) test(r *Reason, a atom, p *part) {
	x.begin(r, p, everyName)
	t := &x.buf.probe
	t.start(x.st, p.slots)
	x.buf.chain.atoms[0] = a
	x.buf.chain.next(x.st, 0, verdict.F)
	t.restore(x.st)
	r.Mark = t.mark
	if n := len(t.best); n > 0 {
		r.Witness = x.buf.offsets.take(n)
		for i, w := range t.best {
			r.Witness[n-1-i] = w - 1
		}
	}
}

// testAtom ends a chain of one atom. It keeps the best derivation under the values that
// the atom's variables had before, which an atom may bind anew.
type testAtom struct {
	slots      []int
	fixed      []word
	base       int // length of the witness stack before
	mark       verdict.Value
	best, cand []uint64 // witnesses, descending
}

func (t *testAtom) start(st *State, slots []int) {
	t.slots, t.fixed = slots, t.fixed[:0]
	for _, slot := range slots {
		t.fixed = append(t.fixed, st.env[slot])
	}
	t.base, t.mark, t.best = len(st.wit), verdict.T, t.best[:0]
}

// restore gives the variables their values back.
func (t *testAtom) restore(st *State) {
	for i, slot := range t.slots {
		st.env[slot] = t.fixed[i]
	}
}

func (t *testAtom) run(st *State, _ *chain, _ int, m verdict.Value) bool {
	for i, slot := range t.slots {
		if st.env[slot] != t.fixed[i] {
			return true
		}
	}
	raw := st.wit[t.base:]
	t.cand = appendWitness(t.cand[:0], raw, len(raw))
	if n := slices.Index(t.cand, 0); n >= 0 {
		t.cand = t.cand[:n] // padding
	}
	if cmp.Or(cmp.Compare(m, t.mark), recency(t.cand, t.best)) > 0 {
		t.mark, t.best, t.cand = m, t.cand, t.best
	}
	return true
}
