package check

import "github.com/aspis-rv/aspis/internal/diag"

// The codes of the checker's diagnostics. C013 is retired: it said that a guarded
// HISTORICALLY could not be run.
const (
	CodeRelation   diag.Code = "C001" // a relation nobody declared
	CodeArity      diag.Code = "C002" // the wrong number of arguments
	CodeUnused     diag.Code = "C003" // a quantified variable that does not occur
	CodeType       diag.Code = "C004" // two types for one thing
	CodeNegation   diag.Code = "C005" // a negation whose variables nothing binds
	CodeComparison diag.Code = "C006" // a comparison whose variables nothing binds
	CodeOr         diag.Code = "C007" // OR of formulas with different variables
	CodeSince      diag.Code = "C008" // a left operand of SINCE or UNTIL with variables of its own
	CodeNoAnchor   diag.Code = "C009" // nothing must hold at the event itself
	CodeNever      diag.Code = "C010" // a formula that never holds
	CodeTooComplex diag.Code = "C011" // beyond MaxCore or the search's limit
	CodeInternal   diag.Code = "C012" // a fault in the checker itself
	CodeLet        diag.Code = "C014" // parameters of LET that are not the variables of its definition
	CodeUnusedLet  diag.Code = "C015" // a LET whose relation is not used
	CodeAggregate  diag.Code = "C016" // an aggregation with variables that its formula does not have
	CodeFuture     diag.Code = "C017" // a future operator where a verdict is due at once
	CodeUnbounded  diag.Code = "C018" // a future operator without an upper bound
	CodeNew        diag.Code = "C019" // NEW where there is no world to compare, or around what is no state of it
	CodeArgument   diag.Code = "C020" // an expression as an argument
	CodeAt         diag.Code = "C021" // AT where there is no world, or around what says nothing of a vertex
	CodeLocation   diag.Code = "C022" // AT or a spatial operator whose variables nothing binds
	CodeState      diag.Code = "C023" // a violation that is a state of the world, and not a change of it
	CodePastWorld  diag.Code = "C024" // a state of the world below PREVIOUS
	CodeEveryPoint diag.Code = "C025" // a state of the world that is looked at, in full, at every time point
)

// The Settings of examples.
const (
	SettingForbid = "forbid" // checked as a forbid formula
	SettingFuture = "future" // checked with Options.Future
	SettingWorld  = "world"  // checked as a forbid formula, with a world
)

// Explanations documents every code but CodeInternal, which no formula produces.
// The examples are over the relations a(), b(), c(), p(int), q(int), r(int, int),
// s(string) and f(float), and of the world over vertex(string), label(string, string),
// holds(string, string) and lz(string, string).
func Explanations() []diag.Explanation {
	return []diag.Explanation{
		{Code: CodeRelation, Title: "a relation nobody declared", Wrong: `pp(x)`, Repair: `p(x)`},
		{Code: CodeArity, Title: "the wrong number of arguments", Wrong: `p(x, y)`, Repair: `r(x, y)`},
		{Code: CodeUnused, Title: "a quantified variable that does not occur", Wrong: `EXISTS x, y. p(x)`, Repair: `EXISTS x. p(x)`},
		{Code: CodeType, Title: "two types for one thing", Wrong: `f(v) AND v > 1`, Repair: `f(v) AND v > 1.0`},
		{Code: CodeNegation, Title: "a negation whose variables nothing binds", Wrong: `NOT p(x)`, Repair: `q(x) AND NOT p(x)`},
		{Code: CodeComparison, Title: "a comparison whose variables nothing binds", Wrong: `p(x) AND x < y`, Repair: `r(x, y) AND x < y`},
		{Code: CodeOr, Title: "OR of formulas with different variables", Wrong: `p(x) OR q(y)`, Repair: `p(x) OR q(x)`},
		{Code: CodeSince, Title: "a left operand of SINCE or UNTIL with variables of its own", Wrong: `(NOT r(x, y)) SINCE q(x)`, Repair: `(NOT r(x, _)) SINCE q(x)`},
		{Code: CodeNoAnchor, Title: "nothing must hold at the event itself", Wrong: `ONCE p(x)`, Repair: `q(x) AND (ONCE p(x))`, Setting: SettingForbid},
		{Code: CodeNever, Title: "a formula that never holds", Wrong: `p(x) AND 1 = 2`, Repair: `p(x) AND x = 2`},
		{Code: CodeTooComplex, Title: "too complex", Wrong: nestedEquiv(24), Repair: nestedEquiv(3)},
		{Code: CodeLet, Title: "parameters of LET that are not the variables of its definition", Wrong: `LET u(x) = r(x, y) IN u(x)`, Repair: `LET u(x, y) = r(x, y) IN u(x, y)`},
		{Code: CodeUnusedLet, Title: "a LET whose relation is not used", Wrong: `LET u(x) = p(x) IN q(x)`, Repair: `LET u(x) = p(x) IN (q(x) AND u(x))`},
		{Code: CodeAggregate, Title: "an aggregation with variables that its formula does not have", Wrong: `n <- CNT y p(x)`, Repair: `n <- CNT x p(x)`},
		{Code: CodeFuture, Title: "a future operator where a verdict is due at once", Wrong: `p(x) AND (EVENTUALLY[0,1h] q(x))`, Repair: `p(x) AND (ONCE[0,1h] q(x))`},
		{Code: CodeUnbounded, Title: "a future operator without an upper bound", Wrong: `EVENTUALLY p(x)`, Repair: `EVENTUALLY[0,1h] p(x)`, Setting: SettingFuture},
		{Code: CodeNew, Title: "NEW where there is no world to compare, or around what is no state of it", Wrong: `NEW (p(x))`, Repair: `p(x)`},
		{Code: CodeArgument, Title: "an expression as an argument", Wrong: `q(x) AND p(x + 1)`, Repair: `q(x) AND y = x + 1 AND p(y)`},
		{
			Code: CodeAt, Title: "AT where there is no world, or around what says nothing of a vertex",
			Wrong: `s(v) AND AT v (ridge AND s(@l))`, Repair: `s(v) AND AT v (ridge)`, Setting: SettingWorld,
		},
		{
			Code: CodeLocation, Title: "AT or a spatial operator whose variables nothing binds",
			Wrong: `a() AND AT v (ridge)`, Repair: `a() AND vertex(v) AND AT v (ridge)`, Setting: SettingWorld,
		},
		{
			Code: CodeState, Title: "a violation that is a state of the world, and not a change of it",
			Wrong: `lz(m, v) AND AT v (ridge)`, Repair: `NEW (lz(m, v) AND AT v (ridge))`, Setting: SettingWorld,
		},
		{
			Code: CodePastWorld, Title: "a state of the world below PREVIOUS",
			Wrong: `s(m) AND (PREVIOUS lz(m, v))`, Repair: `s(m) AND (ONCE[0,1h] (s(m) AND lz(m, v)))`, Setting: SettingWorld,
		},
		{
			Code: CodeEveryPoint, Title: "a state of the world that is looked at, in full, at every time point",
			Wrong: `s(m) AND (ONCE[0,1h] lz(m, v))`, Repair: `s(m) AND (ONCE[0,1h] NEW (lz(m, v)))`, Setting: SettingWorld,
		},
	}
}

// nestedEquiv is a formula whose core has about 2^n nodes.
func nestedEquiv(n int) string {
	f := "a()"
	for range n {
		f = "(" + f + " EQUIV b())"
	}
	return f
}
