package mfotl

import "slices"

// enforceBudget keeps the number of window entries within the plan's budget. What
// counts is what a window must hold, not what it holds by chance: before anything
// is given up, everything expired goes. Then the fullest windows are emptied,
// one after the other, and marked as lossy for the rest of the trace.
func (st *State) enforceBudget() {
	if st.entries <= st.plan.budget {
		return
	}
	st.expireAll()
	if st.entries <= st.plan.budget {
		return
	}
	st.normalise()
	for st.entries > st.plan.budget {
		var fullest *store
		for _, s := range st.stores {
			if s != nil && (fullest == nil || s.size > fullest.size) {
				fullest = s
			}
		}
		st.lose(fullest.spec.id)
		fullest.clear()
	}
}

// normalise brings every store into the one form its content has.
func (st *State) normalise() {
	for _, s := range st.stores {
		if s == nil {
			continue
		}
		if clock, ok := st.clock(s.spec.delay); ok {
			s.normalise(clock)
		}
	}
}

// Overflowed reports whether a window of the trace is incomplete: the trace once needed
// more window entries than the plan's budget, or a window met a fault as it took in a
// time point.
func (st *State) Overflowed() bool { return slices.Contains(st.lost, true) }

// Lossy reports whether formula i reads a window that is incomplete, as Overflowed says:
// what it says, or does not say, rests on an incomplete history.
func (st *State) Lossy(i int) bool {
	if st.lost == nil {
		return false
	}
	for _, id := range st.plan.roots[st.plan.rootOf[i]].reads {
		if st.lost[id] {
			return true
		}
	}
	return false
}
