// Package syntax reads the first-order metric temporal language: text to tree and
// back. The language is MonPoly's; this version has its past-time core. What
// follows is its reference.
//
// # Formulas
//
//	formula    = equiv [ "SINCE" [ interval ] formula ] .
//	equiv      = implies { "EQUIV" implies } .
//	implies    = or [ "IMPLIES" implies ] .
//	or         = and { "OR" and } .
//	and        = unary { "AND" unary } .
//	unary      = "NOT" unary | prefix | atom .
//	prefix     = ( "ONCE" | "PREVIOUS" | "PREV" | "HISTORICALLY" | "PAST_ALWAYS" ) [ interval ] equiv
//	           | ( "EXISTS" | "FORALL" ) variable { "," variable } "." equiv .
//	atom       = "TRUE" | "FALSE" | "(" formula ")" | predicate | comparison .
//	predicate  = name "(" [ term { "," term } ] ")" .
//	comparison = term ( "=" | "<" | "<=" | ">" | ">=" ) term .
//	term       = variable | "_" | [ "-" ] number | string | "(" term ")" .
//	interval   = ( "[" | "(" ) bound "," ( bound | "*" ) ( "]" | ")" ) .
//	bound      = digits [ "d" | "h" | "m" | "s" ] .
//
// SINCE is weakest and NOT strongest, and a temporal or quantifier prefix reaches
// to its right over EQUIV, IMPLIES, OR and AND, but not over SINCE:
//
//	ONCE a() AND b()        is  ONCE (a() AND b())
//	a() AND b() SINCE c()   is  (a() AND b()) SINCE c()
//
// Such readings surprise, so in a bundle they are errors until parentheses say what
// is meant; in MonPoly mode they are warnings.
//
// # Names and constants
//
// In a bundle names are `[A-Za-z_][A-Za-z0-9_]*`. In MonPoly mode they are
// `[A-Za-z0-9_][A-Za-z0-9_\-/:'"]*`, so that `x-1` is one name, of which the parser
// warns. Keywords are upper case. A variable that starts with an underscore is a
// wildcard: it stands for some value of its predicate's argument, and each `_` for
// one of its own.
//
// Integers have 64 bits. A float has a decimal point with digits on both sides and
// may have an exponent. Strings stand in double quotes on one line with the
// escapes `\" \\ \n \t \r \xHH \uHHHH` and the rest of Go's; MonPoly mode reads a
// backslash before any other character as itself. `#` starts a comment that ends with
// the line.
//
// # Time
//
// An interval bounds the difference between the timestamps of two time points;
// without one it is `[0,*)`. `*` stands for no upper bound, with either bracket. Bounds
// are converted into the unit of the log's timestamps: nanoseconds in a bundle, where
// a bound other than 0 needs a unit; in MonPoly mode a plain number is itself and the
// units count seconds. `(` and `)` exclude their bound and are normalised to inclusive
// bounds. An empty interval is an error, except that MonPoly mode accepts `(n,n+1)`
// with a warning.
//
// # Meaning
//
// A formula holds or does not hold at a time point of a log, for values of its free
// variables. Time points are numbered in the order of the log and carry timestamps
// that never go back; several may have the same one, and a time point may be without
// facts. Let i be the time point, and say that j lies in I if j is not after i and the
// timestamp of i minus that of j is in the interval I.
//
//	r(t, …)            the fact is among those of i
//	s = t, s < t, …    the values, of one type, compare so
//	NOT f              f does not hold
//	f AND g, f OR g    both hold, at least one holds
//	f IMPLIES g        NOT f OR g
//	f EQUIV g          (f IMPLIES g) AND (g IMPLIES f)
//	EXISTS x. f        f holds for some value of x
//	FORALL x. f        f holds for every value of x
//	PREVIOUS I f       there is a time point before i, it lies in I, and f holds there
//	ONCE I f           f holds at some time point in I
//	HISTORICALLY I f   f holds at every time point in I
//	f SINCE I g        g holds at some j in I, and f at every time point after j up to i
//
// PREV is PREVIOUS, PAST_ALWAYS is HISTORICALLY. What follows is worth knowing:
//
//   - The present lies in every interval with 0, and so do earlier time points of the
//     same timestamp; `(0,…]` leaves out all of them.
//   - PREVIOUS goes to the time point before, whatever its facts, and is false at the
//     first one.
//   - `HISTORICALLY I f` is `NOT ONCE I NOT f`. It is true when no time point lies in I, as
//     happens at the beginning of a log and, where the lower bound is not 0, after a
//     pause.
//   - HISTORICALLY looks at every time point, also at those that have nothing to do with
//     f, at which f therefore fails if it is a mere predicate. To speak of some time
//     points alone, say which: `HISTORICALLY[0,1h] (reading(x) IMPLIES good(x))` holds
//     if every reading of the last hour was good.
//
// # What can be monitored
//
// Every variable must get finitely many values from the formula. A predicate gives its
// variables values, and so does `x = c` with a constant c, or `x = y` if y has one. Then
//
//	f AND g            may have a g that gives no values: a comparison, NOT h, or
//	                   HISTORICALLY I h. Its variables get theirs from f
//	f OR g             needs the same variables on both sides
//	f SINCE I g        takes its values from g; f has no other variables
//	NOT f              by itself is a formula without free variables
//	HISTORICALLY I f   likewise
//	FORALL x. f        is NOT EXISTS x. NOT f, so that f is best an IMPLIES
//
// The order of conjuncts does not matter. In `p(x) AND (ONCE (NOT r(x, y)))` nothing
// gives y a value; in the following, p gives x its values:
//
//	p(x) AND (HISTORICALLY[0,5m] q(x))         q(x) held at every time point of five minutes
//	p(x) AND NOT (HISTORICALLY[0,5m] q(x))     at some of them it did not
//	p(x) AND (ONCE[0,5m] (NOT q(x)))           the same
//	p(x) AND NOT (ONCE[0,5m] (NOT q(x)))       the first again
//
// A formula that cannot be monitored is refused with the place,
// the reason and, where there is one, a repair. What a bundle forbids must moreover
// have a relation of which there is a fact at the violating time point itself.
//
// # Not yet
//
// The future operators (NEXT, EVENTUALLY, SOMETIMES, ALWAYS, UNTIL), arithmetic and
// conversions, aggregations, LET, SUBSTRING and MATCHES, and in bundles NEW and AT
// are recognised and refused at their place.
//
// # Printing
//
// Formula.String and Format print with all parentheses, chains of AND, OR and EQUIV
// excepted, so that what is printed parses to the same tree.
package syntax
