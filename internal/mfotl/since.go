package mfotl

import "github.com/aspis-rv/aspis/pkg/verdict"

// leftOp is the left operand of a SINCE. At each time point it lowers the mark of
// every entry of the window, waiting ones included, to that of the operand for the
// entry's tuple; what falls to T is gone.
type leftOp struct {
	negated bool   // the operand is NOT f
	f       *fused // collects its columns, or checks them if it may hold anywhere
	cols    []int  // environment slots of its columns, in the index's order
	index   int    // the store's index on these columns
	checks  bool
}

func (l *leftOp) restrict(st *State, s *store) {
	x := s.index(l.index)
	if l.checks {
		for g := range x.groups {
			if first := x.groups[g].first; first >= 0 {
				for i, w := range x.keyOf(s, first) {
					st.env[l.cols[i]] = w
				}
				l.limit(st, s, x, int32(g), l.f.check(st))
			}
		}
		return
	}
	var rel *relation
	if l.f.trigger.fires(st) {
		rel = l.f.collect(st)
	}
	if l.negated {
		if rel == nil {
			return
		}
		for i := range rel.len() {
			if g := x.find(s, rel.tuple(i)); g >= 0 {
				l.limit(st, s, x, g, rel.marks[i])
			}
		}
		return
	}
	for g := range x.groups {
		first := x.groups[g].first
		if first < 0 {
			continue
		}
		m := verdict.T
		if rel != nil {
			if i := rel.find(x.keyOf(s, first)); i >= 0 {
				m = rel.marks[i]
			}
		}
		l.limit(st, s, x, int32(g), m)
	}
}

// limit applies the mark that f has for a group of tuples.
func (l *leftOp) limit(st *State, s *store, x *index, g int32, m verdict.Value) {
	if l.negated {
		m = verdict.Negate(m)
	}
	if m == verdict.F {
		return
	}
	for slot := x.groups[g].first; slot >= 0; {
		next := x.next[slot]
		s.limit(&st.journal, slot, m)
		slot = next
	}
}
