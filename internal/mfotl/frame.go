package mfotl

import (
	"math"
	"slices"

	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// frame is one time point: its facts as words, grouped by relation. Facts of
// relations that no formula reads are not in it.
type frame struct {
	ts     int64
	source uint64 // offset of the event plus one
	spans  []span // ascending by relation, none empty
	words  []word
	marks  []verdict.Value
}

// span is the run of rows of one relation within a frame.
type span struct {
	rel    int
	lo, hi int // rows
	words  int // where row lo starts
}

// indexedBelow is the number of relations of one time point up to which a linear
// search for a span beats a binary one.
const indexedBelow = 12

// find returns the span of a relation; an empty one if it has no facts.
func (f *frame) find(rel int) span {
	if len(f.spans) <= indexedBelow {
		for i := range f.spans {
			if f.spans[i].rel == rel {
				return f.spans[i]
			}
		}
		return span{}
	}
	i, ok := slices.BinarySearchFunc(f.spans, rel, func(s span, r int) int { return s.rel - r })
	if !ok {
		return span{}
	}
	return f.spans[i]
}

// frame returns the time point that lies delay time points before the newest.
func (st *State) frame(delay int) *frame {
	at := st.base + delay
	if at >= len(st.ring) {
		at -= len(st.ring)
	}
	return &st.ring[at]
}

// fill makes f the time point of the given facts. Facts of unknown relations, and
// facts with another number of arguments than the formulas give, are passed over.
func (st *State) fill(f *frame, ts int64, source uint64, facts []schema.Fact) {
	if cap(f.words) > keepWords {
		*f = frame{}
	}
	f.ts, f.source = ts, source
	f.spans, f.words, f.marks = f.spans[:0], f.words[:0], f.marks[:0]
	order := st.order[:0]
	for i := range facts {
		rel, ok := st.plan.relOf[facts[i].Name]
		if ok && st.plan.rels[rel].arity == len(facts[i].Args) {
			order = append(order, uint64(rel)<<32|uint64(uint32(i)))
		}
	}
	for which, rel := range st.plan.builtIns {
		if rel >= 0 {
			order = append(order, uint64(rel)<<32|uint64(math.MaxUint32-which))
		}
	}
	st.order = order
	if len(order) > 1 {
		slices.Sort(order)
	}
	for _, o := range order {
		f.open(int(o >> 32))
		if at := uint32(o); int(at) >= len(facts) {
			f.words = st.appendBuiltIn(f.words, math.MaxUint32-at, ts)
			f.marks = append(f.marks, verdict.F)
			continue
		}
		fact := &facts[uint32(o)]
		for _, v := range fact.Args {
			f.words = append(f.words, st.intern(v))
		}
		f.marks = append(f.marks, fact.Strength.Mark())
	}
}

// appendBuiltIn appends the arguments of a built-in relation: tp, ts or tpts.
func (st *State) appendBuiltIn(dst []word, which uint32, ts int64) []word {
	index := st.intern(schema.IntValue(int64(st.points - 1)))
	switch which {
	case 0:
		return append(dst, index)
	case 1:
		return append(dst, st.intern(schema.IntValue(ts)))
	}
	return append(dst, index, st.intern(schema.IntValue(ts)))
}

// open makes room for one more row of rel, which is not below that of any earlier
// row.
func (f *frame) open(rel int) {
	n := len(f.marks)
	if k := len(f.spans); k == 0 || f.spans[k-1].rel != rel {
		f.spans = append(f.spans, span{rel: rel, lo: n, words: len(f.words)})
	}
	f.spans[len(f.spans)-1].hi = n + 1
}
