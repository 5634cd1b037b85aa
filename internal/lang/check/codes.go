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
	CodeSince      diag.Code = "C008" // a left operand of SINCE with variables of its own
	CodeNoAnchor   diag.Code = "C009" // nothing must hold at the event itself
	CodeNever      diag.Code = "C010" // a formula that never holds
	CodeTooComplex diag.Code = "C011" // beyond MaxCore or the search's limit
	CodeInternal   diag.Code = "C012" // a fault in the checker itself
)

// SettingForbid is the Setting of an example that is checked as a forbid formula.
const SettingForbid = "forbid"

// Explanations documents every code but CodeInternal, which no formula produces.
// The examples are over the relations a(), b(), c(), p(int), q(int), r(int, int),
// s(string) and f(float).
func Explanations() []diag.Explanation {
	return []diag.Explanation{
		{Code: CodeRelation, Title: "a relation nobody declared", Wrong: `pp(x)`, Repair: `p(x)`},
		{Code: CodeArity, Title: "the wrong number of arguments", Wrong: `p(x, y)`, Repair: `r(x, y)`},
		{Code: CodeUnused, Title: "a quantified variable that does not occur", Wrong: `EXISTS x, y. p(x)`, Repair: `EXISTS x. p(x)`},
		{Code: CodeType, Title: "two types for one thing", Wrong: `f(v) AND v > 1`, Repair: `f(v) AND v > 1.0`},
		{Code: CodeNegation, Title: "a negation whose variables nothing binds", Wrong: `NOT p(x)`, Repair: `q(x) AND NOT p(x)`},
		{Code: CodeComparison, Title: "a comparison whose variables nothing binds", Wrong: `p(x) AND x < y`, Repair: `r(x, y) AND x < y`},
		{Code: CodeOr, Title: "OR of formulas with different variables", Wrong: `p(x) OR q(y)`, Repair: `p(x) OR q(x)`},
		{Code: CodeSince, Title: "a left operand of SINCE with variables of its own", Wrong: `(NOT r(x, y)) SINCE q(x)`, Repair: `(NOT r(x, _)) SINCE q(x)`},
		{Code: CodeNoAnchor, Title: "nothing must hold at the event itself", Wrong: `ONCE p(x)`, Repair: `q(x) AND (ONCE p(x))`, Setting: SettingForbid},
		{Code: CodeNever, Title: "a formula that never holds", Wrong: `p(x) AND 1 = 2`, Repair: `p(x) AND x = 2`},
		{Code: CodeTooComplex, Title: "too complex", Wrong: nestedEquiv(24), Repair: nestedEquiv(3)},
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
