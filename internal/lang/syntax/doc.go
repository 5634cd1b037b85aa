// Package syntax reads the first-order metric temporal language: text to tree and
// back. The language is MonPoly's; this version has its past-time core.
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
// In a bundle names are [A-Za-z_][A-Za-z0-9_]*. In MonPoly mode they are
// [A-Za-z0-9_][A-Za-z0-9_\-/:'"]*, so that x-1 is one name, of which the parser
// warns. Keywords are upper case. A variable that starts with an underscore is a
// wildcard: it stands for some value of its predicate's argument, and each `_` for
// one of its own.
//
// Integers have 64 bits. A float has a decimal point with digits on both sides and
// may have an exponent. Strings stand in double quotes on one line with the
// escapes \" \\ \n \t \r \xHH \uHHHH and the rest of Go's; MonPoly mode reads a
// backslash before any other character as itself. # starts a comment that ends with
// the line.
//
// # Time
//
// An interval bounds the difference between the timestamps of two time points;
// without one it is [0,*). * stands for no upper bound, with either bracket. Bounds
// are converted into the unit of the log's timestamps: nanoseconds in a bundle, where
// a bound other than 0 needs a unit; in MonPoly mode a plain number is itself and the
// units count seconds. ( and ) exclude their bound and are normalised to inclusive
// bounds. An empty interval is an error, except that MonPoly mode accepts (n,n+1)
// with a warning.
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
