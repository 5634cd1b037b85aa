package mfotl

import "github.com/aspis-rv/aspis/pkg/verdict"

// storeAtom reads the window of a ONCE or SINCE.
type storeAtom struct {
	spec *storeSpec
	cols []int // environment slots of the store's columns
	// known are the columns whose variables are bound already; binds the others.
	known, binds []int
	index        int // secondary index on known; unused if all or none are known
}

func (a *storeAtom) run(st *State, c *chain, k int, m verdict.Value) bool {
	s := st.stores[a.spec.id]
	if s == nil || s.n == 0 {
		return true
	}
	key := st.key[:len(a.known)]
	for i, col := range a.known {
		key[i] = st.env[a.cols[col]]
	}
	switch {
	case len(a.binds) == 0:
		if slot := s.find(key); slot >= 0 {
			return a.visit(st, s, slot, c, k, m)
		}
	case len(a.known) == 0:
		for g := range s.primary.groups {
			if slot := s.primary.groups[g].first; slot >= 0 && !a.visit(st, s, slot, c, k, m) {
				return false
			}
		}
	default:
		x := &s.sec[a.index]
		g := x.find(s, key)
		if g < 0 {
			return true
		}
		for slot := x.groups[g].first; slot >= 0; slot = x.next[slot] {
			if !a.visit(st, s, slot, c, k, m) {
				return false
			}
		}
	}
	return true
}

func (a *storeAtom) visit(st *State, s *store, slot int32, c *chain, k int, m verdict.Value) bool {
	if clock, ok := st.clock(a.spec.delay); ok {
		s.thinIfDue(slot, clock.ts)
	}
	sm, at := s.best(slot, st.frame(a.spec.delay).ts)
	if sm == verdict.T {
		return true
	}
	t := s.tuple(slot)
	for _, col := range a.binds {
		st.env[a.cols[col]] = t[col]
	}
	n := len(st.wit)
	e := s.ents[slot]
	st.wit = append(st.wit, e[at+entWit:at+s.stride]...)
	more := c.next(st, k, verdict.Meet(m, sm))
	st.wit = st.wit[:n]
	return more
}
