package check

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/aspis-rv/aspis/internal/diag"
	"github.com/aspis-rv/aspis/internal/lang/syntax"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// This file builds every message of the checker. Files and repairs are filled in by
// the caller.

// unknownRelation reports a predicate, inside of AT or not, of which nobody declared the
// relation.
func unknownRelation(p *syntax.Pred, declared []string, inAt bool, opts Options) diag.Diagnostic {
	d := diag.Diagnostic{
		Code: CodeRelation, Span: nameSpan(p),
		Message: "there is no relation `" + p.Name + "`",
		Hint:    "declare it in the signature",
	}
	switch {
	case opts.World != nil:
		d.Hint = "declare it under `facts` or `state`, or as an attribute of the world"
	case opts.Mode == syntax.Bundle:
		d.Hint = "declare it under `facts`"
	}
	if _, ok := BuiltIn()[p.Name]; ok {
		d.Hint = "it is built in only where formulas are run on a log file"
	} else if near := diag.Closest(p.Name, declared); near != "" {
		d.Hint = "did you mean `" + near + "`?"
	} else if inAt && len(p.Args) == 0 {
		d.Hint = "a label stands without parentheses: `" + p.Name + "`"
	}
	return d
}

// nameSpan is the place of a predicate's name.
func nameSpan(p *syntax.Pred) diag.Span {
	s := p.Span()
	if s.Start.IsValid() {
		s.End = s.Start
		s.End.Offset += len(p.Name)
		s.End.Col += len(p.Name) // names are ASCII
	}
	return s
}

func wrongArity(p *syntax.Pred, want int, declared string) diag.Diagnostic {
	return diag.Diagnostic{
		Code: CodeArity, Span: p.Span(),
		Message: fmt.Sprintf("`%s` takes %s, not %d", p.Name, count(want, "argument"), len(p.Args)),
		Hint:    "it is declared as `" + declared + "`; write `_` for an argument that may be anything",
	}
}

// definitionOf is how a LET declares its relation.
func definitionOf(f *syntax.Let) string {
	names := make([]string, len(f.Params))
	for i, v := range f.Params {
		names[i] = v.Name
	}
	return f.Name + "(" + strings.Join(names, ", ") + ")"
}

func signatureOf(name string, kinds []schema.ValueKind) string {
	words := make([]string, len(kinds))
	for i, k := range kinds {
		words[i] = k.String()
	}
	return name + "(" + strings.Join(words, ", ") + ")"
}

func unusedVariable(v syntax.Var) diag.Diagnostic {
	return diag.Diagnostic{
		Code: CodeUnused, Severity: diag.Warning, Span: v.Pos,
		Message: "`" + v.Name + "` is quantified but does not occur in the formula that follows",
		Hint:    "leave it out",
	}
}

func wrongArgument(p *syntax.Pred, i int, c syntax.Const, want schema.ValueKind) diag.Diagnostic {
	return diag.Diagnostic{
		Code: CodeType, Span: c.Pos,
		Message: fmt.Sprintf("argument %d of `%s` is %s, and `%s` is %s", i+1, p.Name, article(want), c, article(c.Value.Kind)),
		Hint:    converted(c, want),
	}
}

// converted says how to write a constant in another type, or returns "".
func converted(c syntax.Const, want schema.ValueKind) string {
	got := c.Value
	switch {
	case want == schema.KindFloat && got.Kind == schema.KindInt:
		return "write `" + strconv.FormatInt(got.Int, 10) + ".0`"
	case want == schema.KindInt && got.Kind == schema.KindFloat:
		return "write a whole number without a decimal point"
	case want == schema.KindString:
		return `write "` + c.String() + `"`
	case got.Kind == schema.KindString:
		if _, err := strconv.ParseFloat(got.Str, 64); err != nil {
			return "write a number"
		}
		return "write the number without quotes"
	}
	return ""
}

func twoTypes(name string, at diag.Span, old, now evidence) diag.Diagnostic {
	return diag.Diagnostic{
		Code: CodeType, Span: at,
		Message: fmt.Sprintf("`%s` is %s in `%s` but %s in `%s`", name, article(old.kind), short(old.where), article(now.kind), short(now.where)),
		Hint:    "use two variables, or convert it with i2f, f2i, i2s, s2i, f2s or s2f",
	}
}

func comparedConstant(f syntax.Formula, text string, e evidence, c syntax.Const) diag.Diagnostic {
	return diag.Diagnostic{
		Code: CodeType, Span: f.Span(),
		Message: fmt.Sprintf("`%s` is %s in `%s` and cannot be compared with `%s`, %s",
			text, article(e.kind), short(e.where), c, article(c.Value.Kind)),
		Hint: madeComparable(f, text, e.kind, c),
	}
}

// madeComparable says how to make a term and a constant comparable. A text is compared
// character by character, so that a number is hardly ever meant as one.
func madeComparable(f syntax.Formula, text string, kind schema.ValueKind, c syntax.Const) string {
	hint := converted(c, kind)
	if kind != schema.KindString {
		return hint
	}
	to := syntax.StringToInt
	if c.Value.Kind == schema.KindFloat {
		to = syntax.StringToFloat
	}
	convert := "convert the text: `" + to.String() + "(" + text + ")`"
	if cmp, ok := f.(*syntax.Cmp); ok && (cmp.Left == syntax.Term(c) || cmp.Right == syntax.Term(c)) {
		return convert + "; or " + hint + " to compare texts"
	}
	return convert
}

func comparedTerms(f syntax.Formula, l string, el evidence, r string, er evidence) diag.Diagnostic {
	return diag.Diagnostic{
		Code: CodeType, Span: f.Span(),
		Message: fmt.Sprintf("`%s` is %s in `%s` and `%s` is %s in `%s`; they cannot be compared",
			l, article(el.kind), short(el.where), r, article(er.kind), short(er.where)),
		Hint: conversion(l, el.kind, r, er.kind),
	}
}

// conversion says how to convert one of two terms to the type of the other.
func conversion(l string, lk schema.ValueKind, r string, rk schema.ValueKind) string {
	if lk == schema.KindString || lk == schema.KindFloat && rk == schema.KindInt {
		l, lk, rk = r, rk, lk
	}
	for op := syntax.IntToFloat; op <= syntax.StringToFloat; op++ {
		if op.From() == lk && op.To() == rk {
			return "convert one: `" + op.String() + "(" + l + ")`"
		}
	}
	return ""
}

// differentTypes reports two terms that have to do with each other otherwise than by
// a comparison.
func differentTypes(f syntax.Formula, l string, el evidence, r string, er evidence) diag.Diagnostic {
	return diag.Diagnostic{
		Code: CodeType, Span: f.Span(),
		Message: fmt.Sprintf("`%s` is %s in `%s` and `%s` is %s in `%s`, and they must have one type here",
			l, article(el.kind), short(el.where), r, article(er.kind), short(er.where)),
		Hint: conversion(l, el.kind, r, er.kind),
	}
}

// noNumber reports a string where a number is needed.
func noNumber(text string, at diag.Span, e evidence, number syntax.Formula) diag.Diagnostic {
	return diag.Diagnostic{
		Code: CodeType, Span: at,
		Message: fmt.Sprintf("`%s` is a string in `%s`, and `%s` needs a number", text, short(e.where), short(number)),
		Hint:    "convert it with s2i or s2f",
	}
}

func mixedComparison(f syntax.Formula, l, r schema.ValueKind) diag.Diagnostic {
	return diag.Diagnostic{
		Code: CodeType, Span: f.Span(),
		Message: fmt.Sprintf("%s and %s cannot be compared", article(l), article(r)),
		Hint:    "write both in one type",
	}
}

func openNegationMessage(what, across string, missing []string) diag.Diagnostic {
	m := fmt.Sprintf("%s can hold for infinitely many values of %s", what, quoteAll(missing))
	if across != "" {
		m += ", and what gives " + it(missing) + " a value stands outside " + across
	} else {
		m += ", and nothing here gives " + it(missing) + " a value"
	}
	return diag.Diagnostic{
		Code: CodeNegation, Message: m,
		Hint: "conjoin a predicate with " + quoteAll(missing) + " in the same place",
	}
}

func openComparisonMessage(what, does string, missing []string) diag.Diagnostic {
	return diag.Diagnostic{
		Code:    CodeComparison,
		Message: fmt.Sprintf("nothing here gives %s a value: `%s` only %s", quoteAll(missing), what, does),
		Hint:    "conjoin a predicate with " + quoteAll(missing),
	}
}

func orVariablesMessage(missing []string) diag.Diagnostic {
	return diag.Diagnostic{
		Code:    CodeOr,
		Message: fmt.Sprintf("%s %s on one side of OR only, so the other side holds for infinitely many values of %s", quoteAll(missing), verb(missing, "occurs", "occur"), it(missing)),
		Hint:    "give both sides the same variables",
	}
}

func sinceVariablesMessage(op string, missing []string) diag.Diagnostic {
	return diag.Diagnostic{
		Code: CodeSince,
		Message: fmt.Sprintf("%s %s in the left operand of %s only; its variables get their values from the right one",
			quoteAll(missing), verb(missing, "occurs", "occur"), op),
		Hint: "use the variables of the right operand",
	}
}

// futureOperator reports an operator that looks at later time points.
func futureOperator(f syntax.Formula) diag.Diagnostic {
	return diag.Diagnostic{
		Code: CodeFuture, Span: f.Span(),
		Message: operatorOf(f) + " depends on what comes after the time point, and a policy must decide at the time point itself",
		Hint:    "say it of the past, at the later event: with ONCE, PREVIOUS, HISTORICALLY or SINCE",
	}
}

// unboundedFuture reports a future operator without an upper bound. An ALWAYS around the
// whole formula, at least of one that looks at every time point, is not needed.
func unboundedFuture(f syntax.Formula, whole bool, mode syntax.Mode) diag.Diagnostic {
	bound := "[0,3600]"
	if mode == syntax.Bundle {
		bound = "[0,1h]"
	}
	hint := "say how long it may take, such as `" + operatorOf(f) + bound + "`"
	if i, ok := intervalOf(f); ok && whole && operatorOf(f) == "ALWAYS" && i.Lo == 0 {
		hint = "leave it out: the formula is evaluated at every time point; to see where it is violated, monitor its negation"
	}
	return diag.Diagnostic{
		Code: CodeUnbounded, Span: f.Span(),
		Message: operatorOf(f) + " has no upper bound: its verdict may have to wait for the end of the log",
		Hint:    hint,
	}
}

func newWithoutWorld(f *syntax.New) diag.Diagnostic {
	return diag.Diagnostic{
		Code: CodeNew, Span: f.Span(),
		Message: "NEW compares the world before a proposed change with the world after it, and there is no world here",
		Hint:    "declare one in the bundle: `world: world.yaml`",
	}
}

func expressionArgument(f syntax.Formula, t syntax.Term) diag.Diagnostic {
	return diag.Diagnostic{
		Code: CodeArgument, Span: t.Span(),
		Message: fmt.Sprintf("`%s` stands as an argument in `%s`, where only variables and constants do", t, short(f)),
		Hint:    fmt.Sprintf("put a variable there, and `v = %s` beside it", t),
	}
}

// notAggregated reports a variable that an aggregation uses in the given way and its
// formula does not have.
func notAggregated(f *syntax.Agg, v syntax.Var, how string) diag.Diagnostic {
	d := diag.Diagnostic{
		Code: CodeAggregate, Span: v.Pos,
		Message: fmt.Sprintf("`%s` is %s, and does not occur free in `%s`", v.Name, how, short(f.F)),
		Hint:    "use a variable of the formula that follows",
	}
	if near := diag.Closest(v.Name, syntax.FreeVars(f.F)); near != "" {
		d.Hint = "did you mean `" + near + "`?"
	}
	return d
}

func resultGrouped(f *syntax.Agg, v syntax.Var) diag.Diagnostic {
	return diag.Diagnostic{
		Code: CodeAggregate, Span: v.Pos,
		Message: fmt.Sprintf("`%s` is the result of %s and is grouped by", v.Name, f.Op),
		Hint:    "give the result a name of its own",
	}
}

func namelessResult(f *syntax.Agg) diag.Diagnostic {
	return diag.Diagnostic{
		Code: CodeAggregate, Span: f.Result.Pos,
		Message: fmt.Sprintf("the result of %s needs a name, and `%s` is a wildcard", f.Op, f.Result.Name),
		Hint:    "use a name that does not start with an underscore",
	}
}

// noParameter reports a free variable of a definition that is no parameter.
func noParameter(f *syntax.Let, name string) diag.Diagnostic {
	return diag.Diagnostic{
		Code: CodeLet, Span: f.Def.Span(),
		Message: fmt.Sprintf("`%s` occurs free in the definition of `%s` and is no parameter of it", name, f.Name),
		Hint:    "make it a parameter, or quantify it with EXISTS",
	}
}

// emptyParameter reports a parameter that the definition says nothing of.
func emptyParameter(f *syntax.Let, v syntax.Var) diag.Diagnostic {
	return diag.Diagnostic{
		Code: CodeLet, Span: v.Pos,
		Message: fmt.Sprintf("the parameter `%s` does not occur free in the definition of `%s`", v.Name, f.Name),
		Hint:    "leave it out",
	}
}

func unusedLet(f *syntax.Let) diag.Diagnostic {
	return diag.Diagnostic{
		Code: CodeUnusedLet, Severity: diag.Warning, Span: f.Def.Span(),
		Message: "`" + f.Name + "` is defined and not used in the formula after IN",
		Hint:    "leave the definition out",
	}
}

// vanished reports a variable that occurs only where it makes no difference.
func vanished(f syntax.Formula, name string) diag.Diagnostic {
	return diag.Diagnostic{
		Code: CodeNegation, Span: f.Span(),
		Message: "the formula holds for every value of `" + name + "` or for none",
		Hint:    "leave out the part with `" + name + "`",
	}
}

func noAnchor(f syntax.Formula) diag.Diagnostic {
	return diag.Diagnostic{
		Code: CodeNoAnchor, Span: f.Span(),
		Message: "this can never be judged on an event: nothing in it must hold at the event itself",
		Hint:    "conjoin the relation of the event that violates: `… AND (" + short(f) + ")`",
	}
}

func neverFires(f syntax.Formula) diag.Diagnostic {
	return diag.Diagnostic{
		Code: CodeNever, Severity: diag.Warning, Span: f.Span(),
		Message: "this never holds, whatever happens",
		Hint:    "a comparison of constants in it is false, or an interval is empty",
	}
}

func tooComplex(f syntax.Formula) diag.Diagnostic {
	return diag.Diagnostic{
		Code: CodeTooComplex, Span: f.Span(),
		Message: fmt.Sprintf("the formula is too complex: written out it has more than %d parts", MaxCore),
		Hint:    "split it; nests of EQUIV, of LET, and of OR that share a guard, multiply",
	}
}

func article(k schema.ValueKind) string {
	if k == schema.KindInt {
		return "an int"
	}
	return "a " + k.String()
}

func count(n int, what string) string {
	switch n {
	case 0:
		return "no " + what + "s"
	case 1:
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}

func quoteAll(names []string) string {
	if len(names) == 1 {
		return "`" + names[0] + "`"
	}
	last := len(names) - 1
	return "`" + strings.Join(names[:last], "`, `") + "` and `" + names[last] + "`"
}

func it(names []string) string { return verb(names, "it", "them") }

func verb(names []string, one, many string) string {
	if len(names) == 1 {
		return one
	}
	return many
}

// short prints a formula for a message.
func short(f syntax.Formula) string { return shortIn(f, syntax.Bundle) }

func shortIn(f syntax.Formula, mode syntax.Mode) string {
	const limit = 100
	s := []rune(syntax.Format(f, mode))
	if len(s) > limit {
		return string(s[:limit]) + "…"
	}
	return string(s)
}

func atWithoutWorld(f *syntax.At) diag.Diagnostic {
	return diag.Diagnostic{
		Code: CodeAt, Span: f.Span(),
		Message: "AT speaks of a vertex of the world, and there is no world here",
		Hint:    "declare one in the bundle: `world: world.yaml`",
	}
}

func wrongLocation(c syntax.Const) diag.Diagnostic {
	return diag.Diagnostic{
		Code: CodeType, Span: c.Pos,
		Message: fmt.Sprintf("the vertex of AT is a string, and `%s` is %s", c, article(c.Value.Kind)),
		Hint:    converted(c, schema.KindString),
	}
}

// inside names the operator, of NEW and AT, that something stands below, and its code.
func inside(in below) (op string, code diag.Code) {
	if in.vertex != nil {
		return "AT", CodeAt
	}
	return "NEW", CodeNew
}

// outside says to write f beside the operator that it stands below.
func outside(f syntax.Formula, in below) string {
	if in.vertex != nil && in.change == nil {
		return "put it outside of AT: `AT … (…) AND (" + short(f) + ")`"
	}
	return "put it outside of NEW: `NEW (…) AND (" + short(f) + ")`"
}

func temporalInside(f syntax.Formula, in below) diag.Diagnostic {
	op, code := inside(in)
	message := operatorOf(f) + " stands inside of AT, which speaks of one vertex at one time"
	if op == "NEW" {
		message = operatorOf(f) + " stands inside of NEW, which compares two worlds at one time"
	}
	return diag.Diagnostic{Code: code, Span: f.Span(), Message: message, Hint: outside(f, in)}
}

func factInWorld(f syntax.Formula, in below) diag.Diagnostic {
	op, code := inside(in)
	return diag.Diagnostic{
		Code: code, Span: f.Span(),
		Message: "`" + short(f) + "` is a fact of an event and no state of the world, of which " + op + " speaks",
		Hint:    outside(f, in),
	}
}

func aggregationInside(f syntax.Formula, in below) diag.Diagnostic {
	op, code := inside(in)
	return diag.Diagnostic{
		Code: code, Span: f.Span(),
		Message: operatorOf(f) + " stands inside of " + op + ", where there are no aggregations",
		Hint:    outside(f, in),
	}
}

func newInside(f syntax.Formula, in below) diag.Diagnostic {
	if in.vertex != nil {
		return diag.Diagnostic{
			Code: CodeAt, Span: f.Span(),
			Message: "NEW stands inside of AT, which speaks of a vertex in one world",
			Hint:    "put AT inside of NEW: `NEW (AT … (…))`",
		}
	}
	return diag.Diagnostic{
		Code: CodeNew, Span: f.Span(),
		Message: "NEW stands inside of NEW, and what one change brings about is new once",
		Hint:    "leave the inner one out, or put it outside: `NEW (…) AND (" + short(f) + ")`",
	}
}

func atInAt(f syntax.Formula) diag.Diagnostic {
	return diag.Diagnostic{
		Code: CodeAt, Span: f.Span(),
		Message: "AT stands inside of AT, which speaks of one vertex and of those that its operators look at",
		Hint:    "put it outside: `AT … (…) AND " + short(f) + "`",
	}
}

func pastWorld(f syntax.Formula) diag.Diagnostic {
	return diag.Diagnostic{
		Code: CodePastWorld, Span: f.Span(),
		Message: "`" + short(f) + "` is a state of the world and stands below PREVIOUS: only the present world is kept",
		Hint:    "tie it to an event of that time: `ONCE (event(…) AND " + short(f) + ")`, or say what came about: `PREVIOUS NEW (…)`",
	}
}

func stateAtEveryPoint(f syntax.Formula, op string) diag.Diagnostic {
	return diag.Diagnostic{
		Code: CodeEveryPoint, Severity: diag.Warning, Span: f.Span(),
		Message: "`" + short(f) + "` is a state of the world, and nothing beside it ties it to an event: " + op + " looks at it, at every time point, in full",
		Hint:    "conjoin the relation of an event, `event(…) AND " + short(f) + "`, or say what came about, `NEW (…)`",
	}
}

// stateViolation reports a violation that nothing brings about. The change may be nil.
func stateViolation(f, change syntax.Formula) diag.Diagnostic {
	d := diag.Diagnostic{
		Code: CodeState, Span: f.Span(),
		Message: "this is a state of the world and no change of it: it would be a violation of every event for as long as it lasts",
		Hint:    "write `NEW (…)` around what an event must not bring about, or conjoin the relation of the event that violates",
	}
	if change != nil {
		d.Hint = "if no event may bring it about, write `" + short(change) + "`"
	}
	return d
}

func openLocationMessage(what string, missing []string) diag.Diagnostic {
	return diag.Diagnostic{
		Code:    CodeLocation,
		Message: fmt.Sprintf("nothing here gives %s a value: `%s` only looks at vertices that are known", quoteAll(missing), what),
		Hint:    "conjoin a predicate with " + quoteAll(missing) + " in the same place",
	}
}
