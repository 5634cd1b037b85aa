// Package check turns a parsed formula into one that can be monitored: every
// relation is declared, every variable has one type and a finite set of values, and
// only the present and the past are read, or, where Options.Future admits it, a bounded
// future.
//
// A formula can be monitored when it is safe-range. A predicate gives its variables
// values, and so does `x = t` with a term t without variables; then, with fv the free
// variables,
//
//	f AND rel      is fine when a comparison's variables are among fv(f), or it is
//	               x = t and t's variables are: that binds x
//	f AND match    when the variables of the strings are among fv(f): that binds those of
//	               the groups
//	f AND NOT g    when fv(g) are among fv(f); likewise f AND HISTORICALLY g, and
//	               f AND NOT HISTORICALLY g
//	f OR g         when fv(f) and fv(g) are the same
//	NOT g          elsewhere only without free variables
//	f SINCE g      when fv(f) are among fv(g); f may be negated; likewise f UNTIL g
//	f AND AT v (g)  when v and fv(g) are among fv(f); likewise f AND NOT AT v (g)
//	n <- CNT x; k f  when f is, and x and k are among fv(f); that binds n and k
//
// The order in which conjuncts are written does not matter: they are put in an order
// in which each can be evaluated. Alternatives, quantifiers, aggregations and negations
// that need it are given a copy of what binds their variables, and so are formulas about
// the future, as something that was so before. A formula about the past is never turned
// into one about the future. The formula of AT is safe-range by itself with the variables
// that AT has as constants, and the operands of a spatial operator are so in turn.
// Definitions are put in the place of their names. Where a formula is refused, the diagnostic
// stands at the sub-formula, says why, and proposes a repair that has been checked,
// when there is a mechanical one.
//
// The package is pure; Check may be called concurrently.
package check
