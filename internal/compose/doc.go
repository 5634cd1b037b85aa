// Package compose joins the part verdicts of the aspects into decisions. It fuses
// the parts of each clause by maximum, arms clauses by their guards, joins guards
// with firings on the variables they share, applies the decision table, and says
// when a decision can no longer change although parts are still missing.
//
// The package is pure. Composers, replays and evaluations use the same functions,
// so a decision can be redone from the records it names.
package compose
