// Package mfotl evaluates formulas of past-time metric first-order temporal logic
// over a trace, one time point at a time, with the work of a step independent of
// the length of the trace.
//
// Compile turns checked formulas into a Plan, which is immutable. Plan.New makes
// the State of one trace. A step is made provisionally by State.Step, read by
// State.Rows, and ended by Commit or Rollback, so that a proposed event is judged
// on the very state it would meet and leaves none behind unless it is adopted.
//
// # Semantics
//
// As in Basin, Klaedtke, Müller and Zălinescu, "Monitoring Metric First-Order
// Temporal Properties" (JACM 62(2), 2015), for the past operators: PREVIOUS moves
// by index and is false at the first time point; ONCE and SINCE go by differences
// of time stamps, and see earlier time points of the same time stamp. `a SINCE[l,u]
// b` needs b at some j with l ≤ tsᵢ − tsⱼ ≤ u and a at every k with j < k ≤ i;
// entries that still wait to enter the interval fall with a as well.
//
// HISTORICALLY I f is NOT ONCE I NOT f: f at every time point within the interval, so
// true if there is none. Package check leaves it in a core formula only as a right
// operand of AND, or below a NOT there, where the left operand has bound all of its
// variables.
//
// Values of different kinds satisfy no comparison.
//
// # Marks
//
// Every tuple of every relation has a mark: F if it is derivable from definite
// facts, Fp if presumptive ones are needed, Tp if it is derivable only when
// presumptive facts under a negation are disregarded; a tuple that is absent has
// T. A conjunction takes the lesser mark, a disjunction, a quantifier, ONCE and the
// choice of j in SINCE the greater, HISTORICALLY the least within its interval and F
// if that holds no time point, NOT m is F − m. This is the evaluation of a
// formula three ways (all facts; presumptive facts only under negations; only
// outside of them) in one pass; package naive makes the three and is the oracle.
//
// # Witnesses
//
// The witness of a satisfied formula at a time point and under a binding is a set
// of log offsets, at most one for each predicate and one for each HISTORICALLY of the
// formula, defined thus:
//
//   - of a predicate: the offset of the event whose time point it is;
//   - of a comparison, TRUE and NOT: the empty set;
//   - of AND: the union of the operands' witnesses;
//   - of OR and EXISTS: that of the best operand or instance; the best is the one
//     with the greatest mark, among those the one with the most recent witness
//     (compared from the greatest offset down), and of two that agree as far as
//     the shorter goes, the shorter;
//   - of PREVIOUS: that of the operand at the time point before;
//   - of ONCE: that of the operand at the newest time point within the interval at
//     which it has the greatest mark;
//   - of SINCE: that of the right operand at the newest time point within the
//     interval of those whose mark, lowered by the left operand since, is greatest.
//     That the left operand held ever since is not listed;
//   - of HISTORICALLY: the offset of the first time point of the run, and the witness
//     of the operand at its last one. The run is the longest stretch of consecutive
//     time points, up to the present one, that contains those within the interval and
//     at all of which the operand has a mark other than T. So the witness says since
//     when the operand has held without a break, and what it rests on in the end;
//     both may lie outside of the interval. It is empty if no time point is within.
//
// It depends on the trace and the formula only: not on the order of facts, nor on
// steps rolled back, nor on the state having been stored and restored.
//
// # Explanations
//
// State.Explain says of a binding, conjunct by conjunct, why it satisfies a formula: for
// what holds the witness, and of ONCE and SINCE when; for a ONCE or SINCE under a NOT the
// window of time stamps in which what it needs is missing. It is made on demand from what
// the windows keep anyway, so that nobody pays for it who does not ask.
//
// # Evaluation
//
// A formula is a set of chains of conjuncts run by backtracking over one
// environment (chain.go, one file per kind of conjunct); ONCE and SINCE are stores
// (store.go, window.go, once.go, since.go) indexed by the columns by which they are
// read, and updated only when a fact that can change them is there. HISTORICALLY is
// one too (historically.go, held.go, gap.go): it holds the tuples of which its
// operand has spoken lately, each with the time points at which it failed, so that an
// update costs amortised O(1) for each tuple the operand yields at the time point,
// however long the interval; with a lower bound it looks at every time point, with or
// without facts, to see which runs end. PREVIOUS is no
// store: what stands under n of them reads the facts of n time points ago, of which
// a State retains that many (frame.go), and has stores of its own. The passing of
// time costs nothing until a store is used.
//
// # Bounds
//
// A trace holds at most DefaultTuples window entries. Beyond that the fullest
// window is emptied and every formula reading it is Lossy from then on; nothing is
// ever cut silently.
package mfotl
