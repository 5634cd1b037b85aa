package mfotl_test

import (
	"slices"

	"github.com/aspis-rv/aspis/internal/lang/check"
	"github.com/aspis-rv/aspis/internal/lang/syntax"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// ofKind selects columns.
func ofKind(cols []check.Column, k schema.ValueKind) []check.Column {
	return slices.DeleteFunc(slices.Clone(cols), func(c check.Column) bool { return c.Kind != k })
}

// term makes a term of a kind over cols.
func (g *generator) term(k schema.ValueKind, cols []check.Column, depth int) syntax.Term {
	if own := ofKind(cols, k); len(own) > 0 && g.IntN(3) > 0 {
		v := syntax.Var{Name: pick(g, own).Name}
		if depth == 0 || g.IntN(2) == 0 {
			return v
		}
		g.terms++
		return g.computed(k, cols, depth, v)
	}
	if depth == 0 || g.IntN(2) == 0 {
		return syntax.Const{Value: g.value(k)}
	}
	return g.computed(k, cols, depth, syntax.Const{Value: g.value(k)})
}

// computed makes an operation with a result of a kind, on t as one operand or on
// something else.
func (g *generator) computed(k schema.ValueKind, cols []check.Column, depth int, t syntax.Term) syntax.Term {
	conv := func(op syntax.ConvOp) syntax.Term {
		return syntax.Conv{Op: op, T: g.term(op.From(), cols, depth-1)}
	}
	ops := []syntax.ArithOp{syntax.Add, syntax.Sub, syntax.Mul, syntax.Div, syntax.Mod}
	switch n := g.IntN(8); k {
	case schema.KindInt:
		switch n {
		case 0:
			return syntax.Neg{T: t}
		case 1:
			return conv(syntax.FloatToInt)
		case 2:
			return conv(syntax.StringToInt)
		}
		return syntax.Arith{Op: pick(g, ops), Left: t, Right: g.term(k, cols, depth-1)}
	case schema.KindFloat:
		switch n {
		case 0:
			return syntax.Neg{T: t}
		case 1, 2:
			return conv(syntax.IntToFloat)
		case 3:
			return conv(syntax.StringToFloat)
		}
		return syntax.Arith{Op: pick(g, ops[:4]), Left: t, Right: g.term(k, cols, depth-1)}
	case schema.KindString:
		switch n {
		case 0, 1:
			return conv(syntax.IntToString)
		case 2:
			return conv(syntax.FloatToString)
		}
	}
	return t
}

// match adds a test of a string: one that restricts, or MATCHES with groups.
func (g *generator) match(cols []check.Column, depth int) syntax.Formula {
	texts := ofKind(cols, schema.KindString)
	if len(texts) == 0 {
		return g.test(cols, depth)
	}
	g.matches++
	last := texts[len(texts)-1]
	pattern := pick(g, []string{"a", "^$", "^(a*)(.*)$", "(a)|(b)", "[0-9]", `b\n(.)`})
	matching := func(in []check.Column, pattern string) *syntax.Match {
		return &syntax.Match{
			Op: syntax.Matches, Left: g.term(schema.KindString, in, 1),
			Right: syntax.Const{Value: schema.StringValue(pattern)}, Pattern: pattern,
		}
	}
	m := matching(texts, pattern)
	switch g.IntN(4) {
	case 0:
		m = &syntax.Match{Op: syntax.Substring, Left: m.Left, Right: g.term(schema.KindString, texts, 1)}
	case 1:
		return &syntax.And{Left: g.formula(cols, depth), Right: &syntax.Not{F: m}}
	case 2:
		rest := slices.DeleteFunc(slices.Clone(cols), func(c check.Column) bool { return c == last })
		m = matching(rest, "^(a*)(.*)$")
		m.Groups = []syntax.Term{syntax.Var{Name: last.Name}, g.term(schema.KindString, texts, 0)}
		if g.IntN(2) == 0 {
			slices.Reverse(m.Groups)
		}
		return &syntax.And{Left: g.formula(rest, depth), Right: m}
	}
	return &syntax.And{Left: g.formula(cols, depth), Right: m}
}

// aggregate makes an aggregation whose result is one of cols and whose groups are the
// others.
func (g *generator) aggregate(cols []check.Column, depth int) syntax.Formula {
	if len(cols) == 0 {
		return g.exists(cols, depth)
	}
	g.aggregates++
	at := g.IntN(len(cols))
	result := cols[at]
	groups := slices.Delete(slices.Clone(cols), at, at+1)
	a := &syntax.Agg{Result: syntax.Var{Name: result.Name}}
	for _, c := range groups {
		a.Groups = append(a.Groups, syntax.Var{Name: c.Name})
	}
	over := result.Kind
	a.Op = pick(g, []syntax.AggOp{syntax.Sum, syntax.Min, syntax.Max})
	switch {
	case result.Kind == schema.KindString:
		a.Op = pick(g, []syntax.AggOp{syntax.Min, syntax.Max})
	case result.Kind == schema.KindInt && g.IntN(2) == 0:
		a.Op, over = syntax.Count, g.kind()
	case result.Kind == schema.KindFloat && g.IntN(3) > 0:
		a.Op, over = pick(g, []syntax.AggOp{syntax.Average, syntax.Median}), pick(g, []schema.ValueKind{intKind, fltKind})
	}
	inner := groups
	if own := ofKind(groups, over); len(own) > 0 && g.IntN(5) == 0 {
		a.Over = syntax.Var{Name: own[0].Name}
	} else {
		c := g.column(over)
		a.Over = syntax.Var{Name: c.Name}
		inner = append(slices.Clip(inner), c)
	}
	if g.IntN(3) == 0 {
		inner = append(slices.Clip(inner), g.column(g.kind()))
	}
	a.F = g.aggregated(inner, depth)
	return a
}

// aggregated makes the operand of an aggregation, most often a window.
func (g *generator) aggregated(cols []check.Column, depth int) syntax.Formula {
	in := g.interval()
	if g.IntN(3) > 0 {
		in = syntax.Interval{Hi: g.Int64N(6), Unbounded: g.IntN(3) == 0}
	}
	switch g.IntN(4) {
	case 0:
		return g.formula(cols, depth)
	case 1:
		return &syntax.Since{I: in, Left: g.left(g.some(cols), depth-1), Right: g.formula(cols, depth-1)}
	}
	return &syntax.Once{I: in, F: g.formula(cols, depth-1)}
}
