// Package check turns a parsed formula into one that can be monitored: every
// relation is declared, every variable has one type and a finite set of values, and
// only the present and the past are read.
//
// A formula can be monitored when it is safe-range. A predicate gives its variables
// values, and so does `x = c`; then, with fv the free variables,
//
//	f AND rel      is fine when a comparison's variables are among fv(f), or it is
//	               x = t and t's variable is: that binds x
//	f AND NOT g    when fv(g) are among fv(f); likewise f AND HISTORICALLY g, and
//	               f AND NOT HISTORICALLY g
//	f OR g         when fv(f) and fv(g) are the same
//	NOT g          elsewhere only without free variables
//	f SINCE g      when fv(f) are among fv(g); f may be negated
//
// The order in which conjuncts are written does not matter: they are put in an order
// in which each can be evaluated. Alternatives, quantifiers and negations that need
// it are given a copy of what binds their variables. A formula about the past is
// never turned into one about the future. Where a formula is refused, the diagnostic
// stands at the sub-formula, says why, and proposes a repair that has been checked,
// when there is a mechanical one.
//
// The package is pure; Check may be called concurrently.
package check
