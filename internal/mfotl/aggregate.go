package mfotl

import (
	"cmp"
	"math"
	"math/big"
	"math/bits"
	"slices"

	"github.com/aspis-rv/aspis/internal/lang/syntax"
	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// aggWitness is the number of offsets in the witness of an aggregate: the newest ones
// of its rows. Eight say what a count rests on without making every row as wide as the
// window.
const aggWitness = 8

// aggregate is what an aggregation does with the rows of one group.
type aggregate struct {
	op      syntax.AggOp
	grouped bool
	// empty is the value without a row; false: there is none.
	empty    schema.Value
	hasEmpty bool
	at       fault
}

// class says which rows of a group its value is computed from.
type class uint8

const (
	certain  class = iota // those of marks F and Fp
	possible              // those of mark Tp, if there are no others
	none                  // there are none: the value is that of the empty group
)

// classOf is the class to which rows of a mark other than T belong.
func classOf(m verdict.Value) class {
	if m == verdict.Tp {
		return possible
	}
	return certain
}

// tallied counts the rows of a group by their marks.
type tallied [verdict.F + 1]int32

// of returns the number of rows of a class.
func (n *tallied) of(c class) int32 {
	switch c {
	case certain:
		return n[verdict.F] + n[verdict.Fp]
	case possible:
		return n[verdict.Tp]
	case none:
	}
	return 0
}

// standing is the mark of a group with the given rows, T if it has no value, and the
// rows that count. A group without a certain row that has a value all the same is
// presumptive if some row is possible.
func (a *aggregate) standing(n *tallied) (verdict.Value, class) {
	doubt := n[verdict.Fp]+n[verdict.Tp] > 0
	switch {
	case n.of(certain) > 0 && doubt:
		return verdict.Fp, certain
	case n.of(certain) > 0:
		return verdict.F, certain
	case a.hasEmpty && doubt:
		return verdict.Fp, none
	case a.hasEmpty:
		return verdict.F, none
	case doubt:
		return verdict.Tp, possible
	}
	return verdict.T, none
}

// value aggregates the values of the rows that count. It may reorder them. If there is no
// value, the reason is recorded and the result is false.
func (a *aggregate) value(st *State, c class, values []word) (word, bool) {
	if c == none {
		return st.intern(a.empty), true
	}
	switch a.op {
	case syntax.Count:
		return word(len(values)) << 2, true
	case syntax.Min:
		return slices.MinFunc(values, st.compareWords), true
	case syntax.Max:
		return slices.MaxFunc(values, st.compareWords), true
	case syntax.Sum, syntax.Average, syntax.Median:
	}
	slices.SortFunc(values, st.compareWords)
	kind := st.value(values[0]).Kind
	if kind == schema.KindString || kind != st.value(values[len(values)-1]).Kind {
		st.fail(a.at, causeKind)
		return 0, false
	}
	switch {
	case a.op == syntax.Median:
		return a.float(st, median(st, values))
	case kind == schema.KindInt:
		var sum wide
		for _, w := range values {
			sum.add(st.value(w).Int)
		}
		return a.ofSum(st, sum, len(values))
	}
	return a.float(st, a.sumFloats(st, values))
}

// sumFloats adds floats in ascending order, so that the result does not depend on that of
// the rows, and divides them for a mean.
func (a *aggregate) sumFloats(st *State, values []word) float64 {
	sum := 0.0
	for _, w := range values {
		sum += st.value(w).Float
	}
	if a.op == syntax.Average {
		return sum / float64(len(values))
	}
	return sum
}

func (a *aggregate) float(st *State, f float64) (word, bool) {
	if math.IsNaN(f) {
		st.fail(a.at, causeNaN)
		return 0, false
	}
	return st.intern(schema.FloatValue(f + 0)), true
}

// ofSum is the sum or the mean of n integers.
func (a *aggregate) ofSum(st *State, sum wide, n int) (word, bool) {
	if a.op == syntax.Average {
		return a.float(st, sum.float()/float64(n))
	}
	v, ok := sum.int()
	if !ok {
		st.fail(a.at, causeOverflow)
		return 0, false
	}
	return st.intern(schema.IntValue(v)), true
}

// median is the middle value of an ascending list, or the mean of the middle two.
func median(st *State, values []word) float64 {
	n := len(values)
	high := toFloat(st.value(values[n/2]))
	if n%2 == 1 {
		return high
	}
	return (toFloat(st.value(values[n/2-1])) + high) / 2
}

func toFloat(v schema.Value) float64 {
	if v.Kind == schema.KindInt {
		return float64(v.Int)
	}
	return v.Float
}

// wide is a sum of 64-bit integers, exact for any number of them: 128 bits in two's
// complement. So what was added can be taken away again.
type wide struct {
	hi, lo uint64
}

func (s *wide) add(v int64) {
	var carry uint64
	s.lo, carry = bits.Add64(s.lo, uint64(v), 0)
	s.hi += uint64(v>>63) + carry
}

func (s *wide) sub(v int64) {
	var borrow uint64
	s.lo, borrow = bits.Sub64(s.lo, uint64(v), 0)
	s.hi -= uint64(v>>63) + borrow
}

// int is the sum if it fits into 64 bits.
func (s wide) int() (int64, bool) {
	v := int64(s.lo)
	return v, s.hi == uint64(v>>63)
}

// float is the float nearest to the sum.
func (s wide) float() float64 {
	if v, ok := s.int(); ok {
		return float64(v)
	}
	b := new(big.Int).Lsh(big.NewInt(int64(s.hi)), 64)
	f, _ := new(big.Float).SetInt(b.Add(b, new(big.Int).SetUint64(s.lo))).Float64()
	return f
}

// gathered are the rows of one group, collected to compute its value.
type gathered struct {
	n      tallied
	values [none][]word
	newest [none]newest
}

func (g *gathered) reset() {
	for c := range g.values {
		if cap(g.values[c]) > keepWords {
			g.values[c] = nil
		}
		g.values[c] = g.values[c][:0]
		g.newest[c].n = 0
	}
	g.n = tallied{}
}

// add takes in a row of a mark other than T.
func (g *gathered) add(w word, m verdict.Value, wit []uint64) {
	g.n[m]++
	c := classOf(m)
	g.values[c] = append(g.values[c], w)
	g.newest[c].add(wit)
}

// newest are the greatest of the witness words of some rows, descending.
type newest struct {
	n     int
	words [aggWitness]uint64
}

// add takes in the witness of a row.
func (w *newest) add(wit []uint64) {
	for _, o := range wit {
		if o == 0 || (w.n == aggWitness && o <= w.words[aggWitness-1]) {
			continue
		}
		at, found := slices.BinarySearchFunc(w.words[:w.n], o, func(a, b uint64) int { return cmp.Compare(b, a) })
		if found {
			continue
		}
		w.n = min(w.n+1, aggWitness)
		copy(w.words[at+1:w.n], w.words[at:])
		w.words[at] = o
	}
}
