// Package syntax reads the first-order metric temporal language: text to tree and
// back. The language is MonPoly's, without its regular-expression operators over
// time. What follows is its reference.
//
// # Formulas
//
//	formula    = equiv [ ( ( "SINCE" | "UNTIL" ) [ interval ]
//	                     | ( "REACH" | "SURROUND" ) [ distance ] ) formula ] .
//	equiv      = implies { "EQUIV" implies } .
//	implies    = or [ "IMPLIES" implies ] .
//	or         = and { "OR" and } .
//	and        = unary { "AND" unary } .
//	unary      = "NOT" unary | prefix | let | aggregate | atom .
//	prefix     = ( past | future ) [ interval ] equiv | spatial [ distance ] equiv
//	           | ( "EXISTS" | "FORALL" ) variable { "," variable } "." equiv .
//	past       = "ONCE" | "PREVIOUS" | "PREV" | "HISTORICALLY" | "PAST_ALWAYS" .
//	future     = "EVENTUALLY" | "SOMETIMES" | "NEXT" | "ALWAYS" .
//	spatial    = "SOMEWHERE" | "EVERYWHERE" | "ESCAPE" .
//	let        = "LET" name "(" [ variable { "," variable } ] ")" "=" formula "IN" formula .
//	aggregate  = variable "<-" ( "CNT" | "SUM" | "MIN" | "MAX" | "AVG" | "MED" ) variable
//	             [ ";" variable { "," variable } ] formula .
//	atom       = "TRUE" | "FALSE" | "(" formula ")" | predicate | comparison | match
//	           | "NEW" "(" formula ")" | "AT" ( variable | string ) "(" formula ")" | label .
//	label      = name | string .
//	predicate  = name "(" [ term { "," term } ] ")" .
//	comparison = term ( "=" | "<" | "<=" | ">" | ">=" ) term .
//	match      = term "SUBSTRING" term
//	           | term "MATCHES" regexp [ "(" term { "," term } ")" ] .
//	term       = product { ( "+" | "-" ) product } .
//	product    = factor { ( "*" | "/" ) factor } .
//	factor     = operand [ "MOD" term ] .
//	operand    = variable | "_" | "@l" | number | string | "(" term ")" | "-" factor
//	           | ( "i2f" | "f2i" | "i2s" | "s2i" | "f2s" | "s2f" ) "(" term ")" .
//	interval   = ( "[" | "(" ) bound "," ( bound | "*" ) ( "]" | ")" ) .
//	bound      = digits [ "d" | "h" | "m" | "s" ] .
//	distance   = [ ( "[" | "(" ) digits "," ( digits | "*" ) ( "]" | ")" ) ]
//	             [ "VIA" ( "physical" | "informational" ) ] .
//
// SINCE, UNTIL, REACH and SURROUND are weakest and NOT strongest, and a temporal, spatial
// or quantifier prefix reaches to its right over EQUIV, IMPLIES, OR and AND, but not over
// these. Labels, @l and the spatial operators stand inside of the parentheses of AT alone.
// The last formula of LET and that of an aggregation reach as far as they can:
//
//	ONCE a() AND b()             is  ONCE (a() AND b())
//	a() AND b() SINCE c()        is  (a() AND b()) SINCE c()
//	n <- CNT x p(x) SINCE q(x)   is  n <- CNT x (p(x) SINCE q(x))
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
// A regular expression stands in r"…", where a backslash is an ordinary character, and
// cannot contain a quote. In a bundle it has the syntax of RE2, that of Go's package
// regexp; in MonPoly mode that of OCaml's library Str, in which `\(`, `\)` and `\|`
// are operators and the bare characters are themselves. Back references are refused.
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
//	s = t, s < t, …    the values, of one type, compare so; strings byte by byte
//	NOT f              f does not hold
//	f AND g, f OR g    both hold, at least one holds
//	f IMPLIES g        NOT f OR g
//	f EQUIV g          (f IMPLIES g) AND (g IMPLIES f)
//	EXISTS x. f        f holds for some value of x
//	FORALL x. f        f holds for every value of x
//	s SUBSTRING t      the string s is part of t
//	s MATCHES r"…"     the expression matches somewhere in s; the terms that follow it
//	                   equal what its groups matched in the first such place
//	NEW (f)            f holds in the world after the proposed change, not before it
//	AT v (f)           f holds at the vertex v of the world
//	PREVIOUS I f       there is a time point before i, it lies in I, and f holds there
//	ONCE I f           f holds at some time point in I
//	HISTORICALLY I f   f holds at every time point in I
//	f SINCE I g        g holds at some j in I, and f at every time point after j up to i
//
// The future operators are the mirror images: NEXT, EVENTUALLY, ALWAYS and UNTIL look at
// the time points from i on whose timestamp minus that of i is in the interval, and f
// UNTIL I g wants f at every time point from i up to the one before g. They are for
// recorded logs (`aspis mfotl`): a policy decides at the time point itself, so bundles
// refuse them. EVENTUALLY, ALWAYS and UNTIL need an upper bound.
//
// PREV is PREVIOUS, PAST_ALWAYS is HISTORICALLY, SOMETIMES is EVENTUALLY. What follows is
// worth knowing:
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
//     points alone, say which: `HISTORICALLY[0,1h] (FORALL x. (reading(x) IMPLIES good(x)))`
//     holds if every reading of the last hour was good.
//
// # The world
//
// A policy with a world has relations that are no facts but what is so when the event has
// happened: holds(l, o), reaches(o, d), label(l, x), and what else it declares. They have no
// history. NEW (f) is about such relations and AT alone, without temporal operators, facts
// and aggregations; these stand beside it. What a policy forbids is a change of the world or
// has a fact of the event: a state that lasts would be held against everybody.
//
// AT v (f) looks at the world from the vertex v, a variable that something beside AT gives
// values, or a string. f is about one vertex at a time, which is @l in it:
//
//	ridge, "own lines"   the vertex has the label: a name without parentheses, or a string
//	r(@l, x), @l = x     relations of the world, and comparisons, hold of it
//	SOMEWHERE D f        f holds at some vertex whose distance is in D
//	EVERYWHERE D f       f holds at every vertex whose distance is in D
//	f REACH D g          g holds at a vertex that the shortest path along which f holds
//	                     before its end reaches with a weight in D
//	ESCAPE D f           f holds all along a path that ends at a vertex whose distance,
//	                     whichever way, is in D
//	f SURROUND D g       f holds, g holds at every vertex without f that a path along f
//	                     meets first, with a weight in D, and none with f is further away
//
// The vertex itself is at distance 0. Distances are whole numbers in the unit of the graph,
// without one: metres, if the world does not say otherwise, or crossed boundaries of release
// domains. Without an interval D is `[0,*)`. A walk stays in the sort of vertices that VIA
// names, or in that of the vertex where the operator is evaluated. In
//
//	NEW (lz(m, c) AND AT c ((NOT masking) REACH[0,4000] threat))
//
// the change gives m a landing zone c, or takes away what masked it, from which a threat
// within 4000 is reached over vertices that are not masking.
//
// Below PREVIOUS there are no relations of the world and no AT, for only the present world
// is kept. Below ONCE, SINCE and HISTORICALLY they say what was so then, and should stand
// beside a fact, or in NEW: else they are looked at, all of them, at every time point.
//
// # Terms
//
// Arithmetic is of two ints or two floats; nothing is converted unless a conversion says
// so: i is int, f float, s string. Division of ints and MOD truncate towards zero.
// MOD is of ints. `x MOD 2 + 1` is `x MOD (2 + 1)`, as in MonPoly. Dividing an int by zero,
// an int out of range, a string that is no number, and a text too long to be searched are
// faults: what the formula says at that time point is then incomplete, and below ONCE,
// SINCE and HISTORICALLY also what it says for as long as it reaches back to it; a policy
// refuses on it, and `aspis mfotl` ends. A conjunct that excludes the
// fault has to stand before the term: `NOT (y = 0) AND z = x / y`. Arithmetic stands in
// comparisons; the arguments of predicates are variables and constants.
//
// # Aggregations
//
// `n <- CNT x; g, h f` groups the tuples over all free variables of f that satisfy it by
// the values of g and h and gives each group a number n. f holds for a set of tuples, and
// each counts, also where their values of x are equal:
//
//	n <- CNT i; d (ONCE[0,6h] cmd(d, i))            how many different i each device got
//	n <- CNT i (EXISTS d. (ONCE[0,6h] cmd(d, i)))   how many different i there were
//
// A tuple that was satisfied at several time points counts once below ONCE and SINCE: three
// payments of 99 to one payee within `ONCE[0,1h] pay(to, n)` sum up to 99. Where each is
// to count, give the fact an argument that tells them apart: in a bundle `event.call`, in
// a log an id or tp.
//
// CNT gives an int, SUM, MIN and MAX the type of x, AVG and MED, the median, a float. The
// free variables are the result and the groups; all others of f are local. Without groups
// there is one result also if nothing satisfies f: 0 for CNT, SUM, AVG and MED. MIN and MAX
// of nothing are no value in a policy; `aspis mfotl` prints what MonPoly does.
//
// # Definitions
//
// `LET r(x, y) = f IN g` gives f a name within g. The parameters are the free variables of
// f. It hides a relation of the same name; f itself does not see it.
//
// `aspis mfotl` has three relations of its own, as MonPoly has: tp(i), the number of the time
// point from 0, ts(t), its timestamp, and tpts(i, t), both. Bundles do not have them.
//
// # What can be monitored
//
// Every variable must get finitely many values from the formula. A predicate gives its
// variables values, and so does `x = c` with a constant c, or `x = y` if y has one. Then
//
//	f AND g            may have a g that gives no values: a comparison, a match, NOT h,
//	                   or HISTORICALLY I h. Its variables get theirs from f. But `x = t`
//	                   gives x a value when the variables of t have one, and MATCHES
//	                   the variables that stand for its groups
//	f AND AT v (g)     likewise: v and the variables of AT get their values from f; inside
//	                   they are like constants, and so are, inside of a spatial operator,
//	                   those that it has
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
// have a relation of which there is a fact at the violating time point itself, or a NEW.
//
// # Left out
//
// MonPoly's operators over regular expressions of formulas, LETPAST, and regular
// expressions as data. NEW, AT, SOMEWHERE, EVERYWHERE, ESCAPE, REACH, SURROUND and VIA are
// keywords of bundles alone.
//
// # Printing
//
// Formula.String and Format print with all parentheses, chains of AND, OR and EQUIV
// excepted, so that what is printed parses to the same tree.
package syntax
