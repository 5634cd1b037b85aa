package syntax

import (
	"strings"

	"github.com/aspis-rv/aspis/internal/diag"
)

// The codes of the parser's diagnostics.
const (
	CodeSyntax        diag.Code = "P001" // a token that cannot stand here
	CodeCharacter     diag.Code = "P002" // a character that is no part of the language
	CodeString        diag.Code = "P003" // a malformed string constant
	CodeNumber        diag.Code = "P004" // a malformed number or one out of range
	CodeInterval      diag.Code = "P005" // a malformed, negative or empty interval
	CodeUnit          diag.Code = "P006" // a time bound with a missing or unknown unit
	CodeNotYet        diag.Code = "P007" // a part of the language this version lacks
	CodeReading       diag.Code = "P008" // a prefix that reaches over a connective
	CodeSinceReading  diag.Code = "P009" // SINCE beside an unparenthesised connective
	CodeIdentifier    diag.Code = "P010" // an identifier that looks like arithmetic
	CodeWildcard      diag.Code = "P011" // a wildcard outside a predicate
	CodeDuplicate     diag.Code = "P012" // a variable quantified twice
	CodeTooDeep       diag.Code = "P013" // nested beyond MaxDepth
	CodeTooLarge      diag.Code = "P014" // beyond MaxSource or MaxNodes
	CodeOperator      diag.Code = "P015" // an operator of some other language
	CodeEmptyInterval diag.Code = "P016" // MonPoly's (n,n+1), which contains nothing
	CodeInternal      diag.Code = "P017" // a fault in the parser itself
	CodeRegexp        diag.Code = "P018" // a malformed regular expression, or terms that do not fit its groups
	CodeLocation      diag.Code = "P019" // a spatial operator or @l outside of AT
	CodeDistance      diag.Code = "P020" // a malformed or empty interval of distances, or no sort of vertices
)

// SettingMonPoly is the Setting of an example that is read in MonPoly mode.
const SettingMonPoly = "monpoly"

// Explanations documents every code but CodeInternal, which no text produces.
func Explanations() []diag.Explanation {
	return []diag.Explanation{
		{Code: CodeSyntax, Title: "a token that cannot stand here", Wrong: `p(x) AND`, Repair: `p(x) AND q(x)`},
		{Code: CodeCharacter, Title: "a character that is no part of the language", Wrong: `p(x) AND q{x}`, Repair: `p(x) AND q(x)`},
		{Code: CodeString, Title: "a malformed string constant", Wrong: `p("a)`, Repair: `p("a")`},
		{Code: CodeNumber, Title: "a malformed number or one out of range", Wrong: `p(99999999999999999999)`, Repair: `p(9999999999999)`},
		{Code: CodeInterval, Title: "a malformed, negative or empty interval", Wrong: `ONCE[5s,3s] p(x)`, Repair: `ONCE[3s,5s] p(x)`},
		{Code: CodeUnit, Title: "a time bound with a missing or unknown unit", Wrong: `ONCE[0,12] p(x)`, Repair: `ONCE[0,12h] p(x)`},
		{Code: CodeNotYet, Title: "a part of the language this version lacks", Wrong: `LETPAST u(x) = p(x) IN u(x)`, Repair: `LET u(x) = p(x) IN u(x)`},
		{Code: CodeReading, Title: "a prefix that reaches over a connective", Wrong: `ONCE a() AND b()`, Repair: `(ONCE a()) AND b()`},
		{Code: CodeSinceReading, Title: "SINCE beside an unparenthesised connective", Wrong: `a() AND b() SINCE c()`, Repair: `a() AND (b() SINCE c())`},
		{Code: CodeIdentifier, Title: "an identifier that looks like arithmetic", Wrong: `p(x) AND x = y-1`, Repair: `p(x) AND x = y_1`, Setting: SettingMonPoly},
		{Code: CodeWildcard, Title: "a wildcard outside a predicate", Wrong: `p(x) AND x = _`, Repair: `p(x) AND q(x, _)`},
		{Code: CodeDuplicate, Title: "a variable quantified twice", Wrong: `EXISTS x, x. r(x, x)`, Repair: `EXISTS x, y. r(x, y)`},
		{
			Code: CodeTooDeep, Title: "nested too deep",
			Wrong:  strings.Repeat("NOT ", MaxDepth) + "a()",
			Repair: strings.Repeat("NOT ", MaxDepth-1) + "a()",
		},
		{
			Code: CodeTooLarge, Title: "too large",
			Wrong:  "a()" + strings.Repeat(" AND a()", MaxNodes/2),
			Repair: "a()" + strings.Repeat(" AND a()", MaxNodes/2-1),
		},
		{Code: CodeOperator, Title: "an operator of some other language", Wrong: `p(x) && q(x)`, Repair: `p(x) AND q(x)`},
		{Code: CodeRegexp, Title: "a malformed regular expression, or terms that do not fit its groups", Wrong: `s(n) AND n MATCHES r"("`, Repair: `s(n) AND n MATCHES r"[(]"`},
		{
			Code: CodeLocation, Title: "a spatial operator or @l outside of AT",
			Wrong: `lz(m, c) AND (SOMEWHERE[0,4000] label(c, "threat"))`, Repair: `lz(m, c) AND AT c (SOMEWHERE[0,4000] threat)`,
		},
		{
			Code: CodeDistance, Title: "a malformed or empty interval of distances, or no sort of vertices",
			Wrong: `lz(m, c) AND AT c (SOMEWHERE[0,4m] threat)`, Repair: `lz(m, c) AND AT c (SOMEWHERE[0,4] threat)`,
		},
		{Code: CodeEmptyInterval, Title: "an interval that contains nothing", Wrong: `ONCE(3,4) a()`, Repair: `ONCE[3,4] a()`, Setting: SettingMonPoly},
	}
}
