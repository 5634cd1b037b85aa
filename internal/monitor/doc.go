// Package monitor judges the time points of a trace by the formulas that a bundle has
// for one aspect. It folds the world of the trace, if a formula reads it, and evaluates
// the formulas with internal/mfotl.
//
// # The world of a time point
//
// A formula reads the world as it is after the event: the shadow, which the event's
// effects make of the world that is there (see package world). Judging makes the shadow and drops it;
// adopting keeps it. Where the event is the result of a call, the end of that call comes
// first: its effects are taken back, stay, or are in doubt.
//
// # Lowering
//
// A predicate over a relation of the world becomes an external relation of mfotl
// (lower_relation.go), AT a test (lower_at.go). At positive polarity in the violation they
// are asked in the unsafe sense, below an odd number of negations in the safe one: so an
// unknown vertex never is an excuse.
//
// `reaches(o, d)` and `connects(v, d)` range over release domains. Over vertices as well they range
// only where d has a value anyway: if it is a constant that is no domain of the policy, or a
// variable that a conjunct binds whose predicate is neither of the two. This is decided by the
// text of the formula (binders.go).
//
// # NEW
//
// `NEW (φ)` holds, under a binding, where the mark of φ after the event exceeds that before
// it. Its mark is that of φ after AND NOT φ before: φ evaluated three ways on both worlds, see
// package mfotl. Without the first condition a presumption that stands would presumably be new at every event.
//
// φ is not evaluated at every event. If it holds after and not before, an atom of it, under an
// extension of the binding, has another value than before. So φ after the event
// is guarded by a disjunction over its atoms: a fact ~atom(…) for every tuple that the event
// may have changed (lower_new.go, touch.go). These facts are what wakes the formula. An event without effects
// has none, so that NEW holds at none: the passing of time fires nothing.
//
// # Completeness
//
// The world remembers for ever. So a formula that reads it rests on the whole history of its
// trace, however short its windows. It is incomplete where it reads what a call left in doubt
// (doubt.go), after an effect that could not be evaluated and might have changed a relation
// that it reads, and after the world overflowed.
package monitor
