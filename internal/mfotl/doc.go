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
// # Terms
//
// Arithmetic is on 64-bit integers and on floats; division and remainder of integers
// truncate towards zero. f2i truncates, f2s gives the shortest text that reads back as
// the float, s2i and s2f read a decimal number. A term has no value if an integer is
// divided by zero or does not fit into 64 bits, if a text is no number, if a float is
// beyond the integers, or if a float operation has no result (there is no NaN). That is a
// fault: the comparison is false, and State.Fault says that the answer is incomplete. If
// it happens as a window takes in a time point, the window has forgotten something from
// then on, and every formula that reads it is Lossy. A conjunct with a term that can fail
// is evaluated after those written before it, so that these guard it.
//
// MATCHES searches with package regexp; of the places where the expression matches the
// leftmost counts, and a group that had no part in it is the empty string.
//
// # Aggregations
//
// An aggregation sees the set of tuples over all free variables of its formula, in
// groups. SUM, MIN and MAX have the type of what is aggregated, CNT gives an integer, AVG
// and MED a float; a sum of floats adds them in ascending order. A sum of integers that
// does not fit into 64 bits, and a float that is no number, is a fault, and the group has no row.
// With groups there is a row for every group with a tuple; without, there is one always:
// of no tuple CNT and SUM are 0, AVG and MED 0, and MIN and MAX have no row unless
// WithMonPolyEmpty gives them one.
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
// The value of an aggregation is that of the tuples of marks F and Fp of the group. Its
// mark is F if there are no others and all are F, else Fp. If there are tuples of mark Tp
// alone, an aggregation that has a value without a tuple gives that, with mark Fp; every
// other aggregates these, with mark Tp.
//
// # Witnesses
//
// The witness of a satisfied formula at a time point and under a binding is a set
// of log offsets, at most one for each predicate, one for each HISTORICALLY and eight for
// each aggregation of the formula, defined thus:
//
//   - of a predicate: the offset of the event whose time point it is; of an external
//     relation the offset that its tuple names, or none;
//   - of a comparison, SUBSTRING, MATCHES, TRUE and NOT: the empty set;
//   - of AND: the union of the operands' witnesses;
//   - of OR and EXISTS: that of the best operand or instance; the best is the one
//     with the greatest mark, among those the one with the most recent witness
//     (compared from the greatest offset down), and of two that agree as far as
//     the shorter goes, the shorter;
//   - of NEW: that of the left operand of its conjunction;
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
//     both may lie outside of the interval. It is empty if no time point is within;
//   - of an aggregation: the eight greatest offsets in the witnesses of the tuples that
//     its value is computed from. A count of many tuples rests on more, and every further
//     one would make the rows wider.
//
// It depends on the trace and the formula only: not on the order of facts, nor on
// steps rolled back, nor on the state having been stored and restored.
//
// # External relations
//
// The tuples of an external relation (WithExternals) are not facts of the log: StepIn gives
// a Source that is asked for them at the pending time point. They have marks and witnesses of
// their own. What a window took in of them stays in it; PREVIOUS cannot look at them. A
// source that is not certain of an answer makes what read it incomplete, as a term without
// a value does.
//
// # Differences
//
// NEW (f AND NOT g), with this form of operand alone, is f AND NOT g where the mark of f
// exceeds that of g. Between two presumptions of one strength there is no difference,
// although either AND NOT the other is presumably satisfied.
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
// An aggregation is a conjunct too: the tuples of its operand are collected, for the
// groups that are bound alone. If the operand is a ONCE or SINCE up to the present, nothing
// is recounted: the window keeps the counts and sums of its groups (ledger.go, atom_ledger.go), exact
// under expiry and rollback, and a group that cannot pass a comparison of its count with a
// constant is not looked at. MED, a sum of floats, and a MIN or MAX that is not of small
// integers or whose extreme has gone, go over the tuples of their own group after that has
// changed.
//
// # Bounds
//
// A trace holds at most DefaultTuples window entries. Beyond that the fullest
// window is emptied and every formula reading it is Lossy for as long as it reaches back
// to that time; nothing is ever cut silently. What a window keeps for an aggregation takes a byte for each tuple
// and some 150 bytes for each group, 200 more once its witness has been asked for.
package mfotl
