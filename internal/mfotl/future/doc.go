// Package future evaluates formulas of metric first-order temporal logic with future
// operators, NEXT, EVENTUALLY and UNTIL, over a log, on top of the past-time engine of
// package mfotl. The verdict for a time point comes as soon as enough of the log was
// read to know it, in the order of the time points.
//
// # Method
//
// Compile cuts the formula at its future operators. Each of them becomes a virtual
// relation over its free variables, with a name that no signature can have. What is
// left are past-time formulas over relations of the log and virtual ones: the operands
// of the operators and, last, the formula itself. Those that read the same virtual
// relations form a stage, which is one mfotl.Plan. A stage steps through the time
// points one by one, as soon as the virtual relations that it reads are known there.
// The stage that reads none runs on the facts as they come, so a formula without
// future operators costs what it costs in package mfotl, and its verdict comes at once.
// For the others the facts of the relations that they read are kept until the slowest
// has used them.
//
// An operator turns the stream of its operands' tuples into that of its own relation
// (next.go, until.go), in time proportional to what it reads and produces. Where the
// relation is only ever joined with facts of the same time point, as in
// `request(x) AND NOT EVENTUALLY[0,10] answer(x)`, only the tuples are produced that
// match those facts (guard.go).
//
// # When a verdict is known
//
// A formula is known at time point i when it is known at those before, and each of its
// outermost future operators is known at i:
//
//   - NEXT[l,u] f, when time point i+1 was read and either lies outside the interval
//     or f is known there;
//   - EVENTUALLY[l,u] f and f UNTIL[l,u] g, when a time point more than u after i was
//     read, and the operand, here g, is known at every one up to u after i, and f
//     at every one before the last of these.
//
// That is by the operators and the time stamps alone: `EVENTUALLY[0,9] e()` is known
// no sooner if e() comes at once. At the end of the log everything is known, as nothing
// follows: NEXT is false at the last time point.
//
// # Marks and witnesses
//
// A plan with future operators takes definite facts only. The witness of a row lists
// indexes of time points, by the rules of package mfotl, where a future operator
// counts as a fact of the time point from which it looks.
//
// # Explanations
//
// Run.Explain says why a row satisfies the formula, as far as the past goes: a future
// operator holds from a time point, or does not, without reasons.
//
// # Bounds
//
// What waits for its verdict is bounded by the horizon of the formula, and by a number
// of tuples (WithPending) beyond which Step fails with ErrPending. Nothing is ever cut
// silently. The package is pure.
package future
