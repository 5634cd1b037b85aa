package naive

import (
	"slices"

	"github.com/aspis-rv/aspis/internal/lang/syntax"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// witness is the witness of f, ascending, as the documentation of package mfotl
// defines it. It is asked for only where f has a mark above T.
func (e *eval) witness(f syntax.Formula, i int) []uint64 {
	switch f := f.(type) {
	case *syntax.Pred:
		if table, ok := e.trace[i].Tables[f.Name]; ok {
			t, _ := e.tuple(f, table)
			return slices.Clone(t.Witness)
		}
		return []uint64{e.trace[i].Offset}
	case *syntax.New:
		return e.witness(syntax.Children(f.F)[0], i)
	case *syntax.And:
		return union(e.witness(f.Left, i), e.witness(f.Right, i))
	case *syntax.Or:
		b := best{}
		b.offer(e, f.Left, i)
		b.offer(e, f.Right, i)
		return b.witness
	case *syntax.Exists:
		b := best{}
		e.assign(names(f.Vars), func() { b.offer(e, f.F, i) })
		return b.witness
	case *syntax.Prev:
		return e.witness(f.F, i-1)
	case *syntax.Once:
		return e.newest(f.I, f.F, nil, i)
	case *syntax.Since:
		return e.newest(f.I, f.Right, f.Left, i)
	case *syntax.Historically:
		return e.stretch(f.I, f.F, i)
	case *syntax.Agg:
		return e.newestOfRows(f, i)
	default:
		return []uint64{}
	}
}

// stretch looks for the longest run of time points up to i that contains those within
// the interval, at all of which f has a mark other than T. The witness is that of f at
// its last time point together with its first. It is empty if there are none within.
func (e *eval) stretch(in syntax.Interval, f syntax.Formula, i int) []uint64 {
	first := i
	for first >= 0 && !e.within(in, i, first) {
		first--
	}
	if first < 0 {
		return []uint64{}
	}
	last := first
	for first > 0 && e.mark(f, first-1) != verdict.T {
		first--
	}
	for last < i && e.mark(f, last+1) != verdict.T {
		last++
	}
	return union([]uint64{e.trace[first].Offset}, e.witness(f, last))
}

// newest is the witness of right at the newest time point of the greatest mark,
// lowered by left (if any) at every later one.
func (e *eval) newest(in syntax.Interval, right, left syntax.Formula, i int) []uint64 {
	mark, at := verdict.T, -1
	limit := verdict.F
	for j := i; j >= 0; j-- {
		if e.within(in, i, j) {
			if m := min(e.mark(right, j), limit); m > mark {
				mark, at = m, j
			}
		}
		if left != nil {
			limit = min(limit, e.mark(left, j))
		}
	}
	return e.witness(right, at)
}

// best is the best of several instances of a sub-formula.
type best struct {
	mark    verdict.Value
	witness []uint64
}

func (b *best) offer(e *eval, f syntax.Formula, i int) {
	m := e.mark(f, i)
	if m == verdict.T || m < b.mark {
		return
	}
	w := e.witness(f, i)
	if m > b.mark || moreRecent(w, b.witness) {
		b.mark, b.witness = m, w
	}
}

// moreRecent compares two ascending sets from their greatest elements down; of two
// that agree as far as the shorter goes, the shorter wins.
func moreRecent(a, b []uint64) bool {
	for k := 1; k <= len(a) && k <= len(b); k++ {
		if x, y := a[len(a)-k], b[len(b)-k]; x != y {
			return x > y
		}
	}
	return len(a) < len(b)
}

func union(a, b []uint64) []uint64 {
	out := slices.Concat(a, b)
	slices.Sort(out)
	return slices.Compact(out)
}
