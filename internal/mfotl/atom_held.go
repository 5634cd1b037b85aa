package mfotl

import "github.com/aspis-rv/aspis/pkg/verdict"

// heldAtom is a HISTORICALLY, or the NOT of one, with every free variable bound.
type heldAtom struct {
	spec    *storeSpec
	cols    []int // environment slots of the store's columns
	negated bool
}

func (a *heldAtom) run(st *State, c *chain, k int, m verdict.Value) bool {
	held, wit := a.held(st)
	if a.negated {
		held, wit = verdict.Negate(held), nil
	}
	if held == verdict.T {
		return true
	}
	n := len(st.wit)
	st.wit = append(st.wit, wit...)
	more := c.next(st, k, verdict.Meet(m, held))
	st.wit = st.wit[:n]
	return more
}

func (a *heldAtom) held(st *State) (verdict.Value, []uint64) {
	s := st.stores[a.spec.id]
	if s == nil {
		return verdict.T, nil
	}
	now := st.moment(a.spec.delay)
	if s.hollow(now.ts) {
		return verdict.F, nil
	}
	key := st.key[:len(a.cols)]
	for i, slot := range a.cols {
		key[i] = st.env[slot]
	}
	slot := s.find(key)
	if slot < 0 {
		return verdict.T, nil
	}
	if clock, ok := st.clock(a.spec.delay); ok && a.spec.lo > 0 {
		s.forget(slot, clock.ts)
	}
	return s.held(slot, now)
}
