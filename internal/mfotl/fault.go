package mfotl

import (
	"errors"
	"fmt"

	"github.com/aspis-rv/aspis/internal/diag"
)

// ErrFault is a term or an aggregation without a value, such as a division by zero.
var ErrFault = errors.New("mfotl: a value cannot be computed")

// fault says that a term has no value: its place in the plan and the cause. The zero
// value is no fault. Of several the least counts, so that which one is reported does
// not depend on the order of evaluation.
type fault uint32

// cause is why a term has no value.
type cause uint8

const (
	causeZero      cause = iota + 1 // division by zero
	causeOverflow                   // beyond 64 bits
	causeNumber                     // a text that is no number
	causeRange                      // a float that no integer is near to
	causeNaN                        // a float operation without a result
	causeKind                       // an operand of another type
	causeLong                       // a text too long to search
	causeUncertain                  // a source that is not certain
)

const causeBits = 4

func (c cause) String() string {
	switch c {
	case causeZero:
		return "division by zero; put a conjunct before it that excludes the divisor 0"
	case causeOverflow:
		return "the result does not fit into 64 bits; bound the operands, or compute with floats"
	case causeNumber:
		return "the text is no number; test it with MATCHES before"
	case causeRange:
		return "the float is outside the range of 64-bit integers; bound it before"
	case causeNaN:
		return "the operation has no result on these floats; exclude them before"
	case causeKind:
		return "an operand is of another type; correct the facts or the signature"
	case causeLong:
		return "the text is too long to be searched; use a smaller expression, or bound what the text may be"
	case causeUncertain:
		return "what it rests on is not known for certain"
	}
	return "?"
}

// place of a term or an aggregation that may have no value.
type faultPlace struct {
	of  fmt.Stringer // printed only when it fails
	pos diag.Pos
}

// faultAt gives a place its number, which is above that of every earlier place.
func (c *compiler) faultAt(of fmt.Stringer, at diag.Span) fault {
	c.plan.places = append(c.plan.places, faultPlace{of, at.Start})
	return fault(len(c.plan.places)) << causeBits
}

// fail records that the term at a place has no value.
func (st *State) fail(at fault, why cause) {
	if f := at | fault(why); st.fault == 0 || f < st.fault {
		st.fault = f
	}
}

func (p *Plan) faultError(f fault) error {
	if f == 0 {
		return nil
	}
	at := p.places[f>>causeBits-1]
	why := cause(f & (1<<causeBits - 1))
	if at.pos.Line == 0 {
		return fmt.Errorf("%w: %s: %v", ErrFault, at.of, why)
	}
	return fmt.Errorf("%w: %d:%d: %s: %v", ErrFault, at.pos.Line, at.pos.Col, at.of, why)
}

// Fault returns the error, an ErrFault, that the last Rows(i) of the pending step met: a term without
// a value, such as a division by zero. The comparison with such a term counts as
// false, and the aggregation as without a row, so that the rows are incomplete. It is
// nil if there was none, and before Rows(i). A fault met while a window takes in a time point leaves
// the formula Lossy instead. It panics without a pending step.
func (st *State) Fault(i int) error {
	st.mustPend("Fault")
	if st.faults == nil {
		return nil
	}
	return st.plan.faultError(st.faults[st.plan.rootOf[i]])
}

// noteFault keeps what the evaluation of a root met.
func (st *State) noteFault(root int) {
	if st.faults == nil {
		if st.fault == 0 {
			return
		}
		st.faults = make([]fault, len(st.plan.roots))
	}
	st.faults[root] = st.fault
}

// lostBefore is what was known of the losses of a store before the pending step.
type lostBefore struct {
	store int32
	loss  loss
}

// updateStore brings a store up to the pending time point. A fault makes it incomplete,
// which is taken back if the step is.
func (st *State) updateStore(spec *storeSpec) {
	st.fault = 0
	spec.update(st)
	if st.fault == 0 {
		return
	}
	before := st.lose(spec.id, loss{true, st.frame(0).ts})
	st.faulty = append(st.faulty, lostBefore{spec.id, before})
}

// lose notes that a store is incomplete and returns what was noted before.
func (st *State) lose(id int32, l loss) (before loss) {
	if st.lost == nil {
		st.lost = make([]loss, len(st.stores))
	}
	before, st.lost[id] = st.lost[id], l
	return before
}

// findAgain takes back what the pending step lost by faults.
func (st *State) findAgain() {
	for _, b := range st.faulty {
		st.lost[b.store] = b.loss
	}
	st.faulty = st.faulty[:0]
}
