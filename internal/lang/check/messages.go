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

func unknownRelation(p *syntax.Pred, declared []string) diag.Diagnostic {
	d := diag.Diagnostic{
		Code: CodeRelation, Span: nameSpan(p),
		Message: "there is no relation `" + p.Name + "`",
		Hint:    "declare it in the signature",
	}
	if _, ok := BuiltIn()[p.Name]; ok {
		d.Hint = "it is built in only where formulas are run on a log file"
	} else if near := diag.Closest(p.Name, declared); near != "" {
		d.Hint = "did you mean `" + near + "`?"
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

func wrongArity(p *syntax.Pred, kinds []schema.ValueKind) diag.Diagnostic {
	return diag.Diagnostic{
		Code: CodeArity, Span: p.Span(),
		Message: fmt.Sprintf("`%s` takes %s, not %d", p.Name, count(len(kinds), "argument"), len(p.Args)),
		Hint:    "it is declared as `" + signatureOf(p.Name, kinds) + "`; write `_` for an argument that may be anything",
	}
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
		return "write the number without quotes"
	}
	return ""
}

func twoTypes(name string, at diag.Span, old, now evidence) diag.Diagnostic {
	return diag.Diagnostic{
		Code: CodeType, Span: at,
		Message: fmt.Sprintf("`%s` is %s in `%s` but %s in `%s`", name, article(old.kind), short(old.where), article(now.kind), short(now.where)),
		Hint:    "use two variables",
	}
}

func comparedConstant(f *syntax.Cmp, name string, e evidence, t syntax.Term, kind schema.ValueKind) diag.Diagnostic {
	d := diag.Diagnostic{
		Code: CodeType, Span: f.Span(),
		Message: fmt.Sprintf("`%s` is %s in `%s` and cannot be compared with `%s`, %s", name, article(e.kind), short(e.where), t, article(kind)),
	}
	if c, ok := t.(syntax.Const); ok {
		d.Hint = converted(c, e.kind)
	}
	return d
}

func comparedVariables(f *syntax.Cmp, l string, el evidence, r string, er evidence) diag.Diagnostic {
	return diag.Diagnostic{
		Code: CodeType, Span: f.Span(),
		Message: fmt.Sprintf("`%s` is %s in `%s` and `%s` is %s in `%s`; they cannot be compared",
			l, article(el.kind), short(el.where), r, article(er.kind), short(er.where)),
		Hint: "there is no conversion between int, string and float",
	}
}

func mixedComparison(f *syntax.Cmp, l, r schema.ValueKind) diag.Diagnostic {
	return diag.Diagnostic{
		Code: CodeType, Span: f.Span(),
		Message: fmt.Sprintf("%s and %s cannot be compared", article(l), article(r)),
		Hint:    "there is no conversion between int, string and float",
	}
}

func openNegationMessage(what, across string, missing []string) diag.Diagnostic {
	m := fmt.Sprintf("%s can hold for infinitely many values of %s", what, quoteAll(missing))
	if across != "" {
		m += ", and what gives " + it(missing) + " a value stands outside " + across + ", at another time point"
	} else {
		m += ", and nothing here gives " + it(missing) + " a value"
	}
	return diag.Diagnostic{
		Code: CodeNegation, Message: m,
		Hint: "conjoin a predicate with " + quoteAll(missing) + " in the same place",
	}
}

func openComparisonMessage(what string, missing []string) diag.Diagnostic {
	return diag.Diagnostic{
		Code:    CodeComparison,
		Message: fmt.Sprintf("nothing here gives %s a value: `%s` only compares", quoteAll(missing), what),
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

func sinceVariablesMessage(missing []string) diag.Diagnostic {
	return diag.Diagnostic{
		Code:    CodeSince,
		Message: fmt.Sprintf("%s %s in the left operand of SINCE only; its variables get their values from the right one", quoteAll(missing), verb(missing, "occurs", "occur")),
		Hint:    "use the variables of the right operand",
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
		Hint:    "split it; nests of EQUIV, and of OR that share a guard, multiply",
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
