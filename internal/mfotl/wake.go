package mfotl

import "math/bits"

// wakeups says which of some numbered things must be looked at in a step, by the facts
// of the step. A set of numbers is a run of words, one bit each.
type wakeups struct {
	always []uint64     // at every step
	on     [][][]uint64 // by delay and relation: when it has facts there; nil: none
}

// newWakeups makes the wake-ups of n things in a plan that looks depth time points back.
func newWakeups(n, depth, relations int) wakeups {
	w := wakeups{always: make([]uint64, (n+63)/64), on: make([][][]uint64, depth+1)}
	for d := range w.on {
		w.on[d] = make([][]uint64, relations)
	}
	return w
}

// add makes thing id wake when t fires.
func (w *wakeups) add(id int, t trigger) {
	bit := uint64(1) << (id % 64)
	if t.always {
		w.always[id/64] |= bit
		return
	}
	for _, src := range t.on {
		set := &w.on[src.delay][src.rel]
		if *set == nil {
			*set = make([]uint64, len(w.always))
		}
		(*set)[id/64] |= bit
	}
}

// in writes the things awake at the pending time point into set, which is as long as
// always. The cost is a word for 64 things and for each relation with facts.
func (w *wakeups) in(st *State, set []uint64) {
	copy(set, w.always)
	for d := 0; d < len(w.on) && uint64(d) < st.points; d++ {
		for _, sp := range st.frame(d).spans {
			for i, bits := range w.on[d][sp.rel] {
				set[i] |= bits
			}
		}
	}
}

// awake is scratch memory for sets of things awake.
type awake struct{ stores, formulas []uint64 }

// Active appends to dst the numbers of the formulas that may have rows at the pending
// time point, ascending; every other formula has none. A caller with many formulas asks
// these alone: the cost grows with the facts that formulas read and with the answer, and
// with the number of formulas by one bit each. It panics without a pending step.
func (st *State) Active(dst []int) []int {
	st.mustPend("Active")
	st.plan.formulaWakes.in(st, st.awake.formulas)
	for i, set := range st.awake.formulas {
		for ; set != 0; set &= set - 1 {
			dst = append(dst, 64*i+bits.TrailingZeros64(set))
		}
	}
	return dst
}
