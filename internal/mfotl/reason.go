package mfotl

import (
	"math"

	"github.com/aspis-rv/aspis/internal/lang/syntax"
	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// Reason says why a sub-formula holds, or does not, at a time point and under a binding.
// It is one node of a tree; State.Explain makes it.
type Reason struct {
	// Formula is a part of the core formula. It is shared and must not be changed.
	Formula syntax.Formula
	// Binding gives the values of its free variables in the order of their first
	// occurrence. Of a formula that does not hold, those that are not there have no value
	// that would make it hold.
	Binding []Bound
	// Point is the index in the trace of the time point at which it is evaluated, and TS
	// that one's time stamp.
	Point uint64
	TS    int64
	// Mark is T if the formula does not hold.
	Mark verdict.Value
	// Witness lists the log offsets of the events whose facts make it hold, ascending, as
	// the package documentation defines them; none if it does not.
	Witness []uint64
	// Window is where a temporal operator looks; nil for every other formula.
	Window *Window
	// Because are the reasons of the parts: for a formula that holds, of the conjuncts of
	// its best disjunct and instance; for NOT, of its operand; for a disjunction or
	// quantifier that does not hold, of one conjunct of each disjunct that fails. Below a
	// temporal operator there are none: a window keeps no more than the witness.
	Because []Reason
}

// Bound is a variable with its value.
type Bound struct {
	Name  string
	Value schema.Value
}

// Window is a span of time stamps, both ends included.
type Window struct {
	// From and To are the interval of the operator. From is math.MinInt64 if it reaches
	// back to the beginning of the trace. A ONCE or SINCE that does not hold misses its
	// operand everywhere in it. For a HISTORICALLY that does not hold they are the part of
	// the interval in which the operand failed last.
	From, To int64
	// At is the time stamp of the time point at which the operand of a ONCE, or the right
	// one of a SINCE, holds: the newest of the greatest mark. 0 if there is none.
	At int64
}

// windowOf is an interval seen from a time stamp.
func windowOf(ts int64, lo, hi uint64) Window {
	return Window{From: before(ts, hi), To: before(ts, lo)}
}

// before is the time stamp d earlier than ts, or the least one.
func before(ts int64, d uint64) int64 {
	if d > uint64(ts)+1<<63 { // what lies between the least one and ts
		return math.MinInt64
	}
	return int64(uint64(ts) - d)
}
