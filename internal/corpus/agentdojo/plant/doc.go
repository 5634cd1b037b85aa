// Package plant writes lines into recorded runs: what somebody might do who wants a
// value to pass for a known one. It tests predicates that ask where a value comes
// from (arXiv 2610.09793, and its own kinds): a run in which such a predicate fired
// on a call is planted with the value it fired on, and is evaluated again.
//
// A planting changes nothing that was recorded but the one text that it names. It is
// a pure function of run, kind and value.
package plant
