package mfotl

import "math"

// enforceBudget keeps the number of window entries within the plan's budget. What
// counts is what a window must hold, not what it holds by chance: before anything
// is given up, everything expired goes. Then the fullest windows are emptied,
// one after the other, and marked as incomplete since then.
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
		st.lose(fullest.spec.id, loss{true, st.frame(0).ts})
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

// loss says when a window was last found incomplete.
type loss struct {
	is bool
	at int64 // time stamp
}

// Overflowed reports whether a window of the trace was ever incomplete: the trace once
// needed more window entries than the plan's budget, or a window met a fault as it took
// in a time point.
func (st *State) Overflowed() bool {
	for _, l := range st.lost {
		if l.is {
			return true
		}
	}
	return false
}

// Lossy reports whether formula i reads a window that became incomplete, as Overflowed
// says, no longer ago than the formula reaches back: what it says, or does not say, rests
// on an incomplete history. Of a formula without an upper bound that is for good.
func (st *State) Lossy(i int) bool {
	if st.lost == nil {
		return false
	}
	r := &st.plan.roots[st.plan.rootOf[i]]
	for _, id := range r.reads {
		if l := st.lost[id]; l.is && (r.reach == math.MaxInt64 || age(st.frame(0).ts, l.at) <= uint64(r.reach)) {
			return true
		}
	}
	return false
}
