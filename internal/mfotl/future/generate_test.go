package future_test

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/aspis-rv/aspis/internal/lang/check"
	"github.com/aspis-rv/aspis/internal/lang/syntax"
	"github.com/aspis-rv/aspis/internal/mfotl/naive"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// generator makes random formulas with past and future operators that obey the
// contract of check.Checked, and traces for them.
type generator struct {
	*rand.Rand
	fresh     int
	past      bool             // no future operators
	many      bool             // more values, and most time points with few facts of many
	made      []syntax.Formula // sub-formulas of earlier places
	over      [][]check.Column // their variables
	used      map[string]int   // future operators and aggregations made
	universal bool             // ALWAYS
	risky     bool             // comparisons that may have no value
	risks     []*syntax.Cmp    // those made

	kinds map[string]schema.ValueKind // of all variables made
}

const (
	intKind = schema.KindInt
	strKind = schema.KindString
)

func pick[T any](g *generator, xs ...T) T { return xs[g.IntN(len(xs))] }

type relation struct {
	name  string
	kinds []schema.ValueKind
}

func relations() []relation {
	return []relation{
		{"e", nil},
		{"p", []schema.ValueKind{intKind}},
		{"q", []schema.ValueKind{intKind}},
		{"s", []schema.ValueKind{strKind}},
		{"r", []schema.ValueKind{intKind, intKind}},
		{"m", []schema.ValueKind{intKind, strKind}},
	}
}

func (g *generator) value(k schema.ValueKind) schema.Value {
	if k == strKind {
		return schema.StringValue(pick(g, "a", "", "b\""))
	}
	if g.many {
		return schema.IntValue(g.Int64N(7))
	}
	return schema.IntValue(g.Int64N(3))
}

func (g *generator) column(k schema.ValueKind) check.Column {
	g.fresh++
	c := check.Column{Name: fmt.Sprintf("x%d", g.fresh), Kind: k}
	g.kinds[c.Name] = k
	return c
}

func (g *generator) checked(depth int) *check.Checked {
	g.used, g.kinds = map[string]int{}, map[string]schema.ValueKind{}
	var cols []check.Column
	for range g.IntN(3) {
		cols = append(cols, g.column(pick(g, intKind, intKind, strKind)))
	}
	if g.many {
		cols = []check.Column{g.column(intKind), g.column(intKind)}[:1+g.IntN(2)]
		return &check.Checked{Core: g.guarded(cols, depth), Free: cols, Kinds: g.kinds}
	}
	return &check.Checked{Core: g.formula(cols, depth), Free: cols, Kinds: g.kinds}
}

// guarded makes a formula in which a future operator stands beside an atom with its
// variables, at once, below other operators, or in several places.
func (g *generator) guarded(cols []check.Column, depth int) syntax.Formula {
	v := g.ahead(cols, depth-1, g.IntN(8))
	a := g.atom(cols)
	var f syntax.Formula
	switch g.IntN(7) {
	case 0:
		f = v
	case 1:
		f = &syntax.Not{F: v}
	case 2:
		f = &syntax.Not{F: &syntax.Or{Left: g.atom(cols), Right: v}}
	case 3:
		f = &syntax.Once{I: g.interval(true), F: v}
	case 4:
		f = &syntax.Historically{I: g.interval(true), F: v}
	case 5:
		f = &syntax.Since{I: g.interval(true), Left: g.left(g.some(cols), depth-1), Right: v}
	case 6:
		f = &syntax.Or{Left: &syntax.Not{F: v}, Right: g.atom(nil)}
		f = &syntax.Not{F: f}
	}
	f = &syntax.And{Left: a, Right: f}
	if g.IntN(3) == 0 { // and once more elsewhere
		f = &syntax.Or{Left: f, Right: pick[syntax.Formula](g, v, &syntax.Prev{I: syntax.AnyTime(), F: v})}
	}
	return f
}

// formula makes a formula whose free variables are exactly cols. Now and then it is
// one made before.
func (g *generator) formula(cols []check.Column, depth int) syntax.Formula {
	for i, f := range g.made {
		if g.IntN(12) == 0 && slices.Equal(g.over[i], cols) {
			return f
		}
	}
	f := g.build(cols, depth)
	if g.IntN(3) == 0 && !hasQuantifier(f) {
		g.made, g.over = append(g.made, f), append(g.over, cols)
	}
	return f
}

// hasQuantifier keeps what binds names from being used twice.
func hasQuantifier(f syntax.Formula) bool {
	found := false
	syntax.Walk(f, func(f syntax.Formula) bool {
		_, exists := f.(*syntax.Exists)
		_, aggregates := f.(*syntax.Agg)
		found = found || exists || aggregates
		return !found
	})
	return found
}

func (g *generator) build(cols []check.Column, depth int) syntax.Formula {
	if depth <= 0 {
		return g.atom(cols)
	}
	d := depth - 1
	switch n := g.IntN(18); {
	case g.universal && g.IntN(6) == 0:
		g.used["ALWAYS"]++
		return &syntax.And{Left: g.formula(cols, d), Right: &syntax.Always{I: g.interval(false), F: g.formula(g.some(cols), d)}}
	case g.risky && len(cols) > 0 && cols[0].Kind == intKind && g.IntN(4) == 0:
		return &syntax.And{Left: g.formula(cols, d), Right: g.risk(cols[0])}
	case n < 8 && !g.past:
		return g.ahead(cols, d, n)
	case n == 8:
		return &syntax.Or{Left: g.formula(cols, d), Right: g.formula(cols, d)}
	case n == 9:
		c := g.column(pick(g, intKind, strKind))
		return &syntax.Exists{Vars: []syntax.Var{{Name: c.Name}}, F: g.formula(append(slices.Clip(cols), c), d)}
	case n == 10:
		return &syntax.Prev{I: g.interval(true), F: g.formula(cols, d)}
	case n == 11:
		return &syntax.Once{I: g.interval(true), F: g.formula(cols, d)}
	case n == 12:
		return &syntax.Since{I: g.interval(true), Left: g.left(g.some(cols), d), Right: g.formula(cols, d)}
	case n == 13:
		h := &syntax.Historically{I: g.interval(true), F: g.formula(g.some(cols), d)}
		return &syntax.And{Left: g.formula(cols, d), Right: h}
	case n == 14 && len(cols) == 0:
		return &syntax.Not{F: g.formula(nil, d)}
	case n == 14 && cols[0].Kind == intKind:
		return g.aggregate(cols[0], cols[1:], d)
	case n == 15 && len(cols) == 1:
		return &syntax.Cmp{Op: syntax.Eq, Left: syntax.Var{Name: cols[0].Name}, Right: syntax.Const{Value: g.value(cols[0].Kind)}}
	}
	return g.and(cols, d)
}

// and makes a conjunction: often an atom with something that it guards.
func (g *generator) and(cols []check.Column, d int) syntax.Formula {
	var first syntax.Formula
	if g.IntN(2) == 0 {
		first = g.atom(cols)
	} else {
		first = g.formula(cols, d)
	}
	sub := g.some(cols)
	switch g.IntN(4) {
	case 0:
		return &syntax.And{Left: first, Right: g.formula(sub, d)}
	case 1:
		c := g.column(pick(g, intKind, strKind))
		e := &syntax.Exists{Vars: []syntax.Var{{Name: c.Name}}, F: g.formula(append(slices.Clip(sub), c), d)}
		return &syntax.And{Left: first, Right: &syntax.Not{F: e}}
	case 2:
		a, b := g.some(cols), cols
		return &syntax.And{Left: g.formula(a, d), Right: g.formula(b, d)}
	}
	return &syntax.And{Left: first, Right: &syntax.Not{F: g.formula(sub, d)}}
}

// risk makes the comparison 10 / x > 3, which has no value if x is 0.
func (g *generator) risk(c check.Column) syntax.Formula {
	ten, three := syntax.Const{Value: schema.IntValue(10)}, syntax.Const{Value: schema.IntValue(3)}
	f := &syntax.Cmp{Op: syntax.Greater, Left: syntax.Arith{Op: syntax.Div, Left: ten, Right: syntax.Var{Name: c.Name}}, Right: three}
	g.risks = append(g.risks, f)
	return f
}

// resolve gives the risky comparisons a value: true for 1 and 2, and for 0 as told.
func (g *generator) resolve(zero bool) {
	for _, f := range g.risks {
		var x syntax.Term
		syntax.TermVars(f.Left, func(v syntax.Var) { x = v })
		two, three := syntax.Const{Value: schema.IntValue(2)}, syntax.Const{Value: schema.IntValue(3)}
		f.Op, f.Left, f.Right = syntax.LessEq, x, two
		if !zero { // (2x - 3)² ≤ 2
			d := syntax.Arith{Op: syntax.Sub, Left: syntax.Arith{Op: syntax.Mul, Left: two, Right: x}, Right: three}
			f.Left = syntax.Arith{Op: syntax.Mul, Left: d, Right: d}
		}
	}
}

// aggregate makes an aggregation of integers.
func (g *generator) aggregate(result check.Column, groups []check.Column, d int) syntax.Formula {
	g.used["aggregations"]++
	over := g.column(intKind)
	f := &syntax.Agg{
		Result: syntax.Var{Name: result.Name}, Op: pick(g, syntax.Count, syntax.Sum, syntax.Min, syntax.Max),
		Over: syntax.Var{Name: over.Name}, F: g.formula(append(slices.Clip(groups), over), d),
	}
	for _, c := range groups {
		f.Groups = append(f.Groups, syntax.Var{Name: c.Name})
	}
	return f
}

// ahead makes a future operator.
func (g *generator) ahead(cols []check.Column, d, n int) syntax.Formula {
	switch {
	case n < 2:
		g.used["NEXT"]++
		return &syntax.Next{I: g.interval(true), F: g.formula(cols, d)}
	case n < 5:
		g.used["EVENTUALLY"]++
		return &syntax.Eventually{I: g.interval(false), F: g.formula(cols, d)}
	}
	g.used["UNTIL"]++
	return &syntax.Until{I: g.interval(false), Left: g.left(g.some(cols), d), Right: g.formula(cols, d)}
}

func (g *generator) left(cols []check.Column, d int) syntax.Formula {
	f := g.formula(cols, d-g.IntN(2))
	if g.IntN(2) == 0 {
		return &syntax.Not{F: f}
	}
	return f
}

func (g *generator) some(cols []check.Column) []check.Column {
	var out []check.Column
	for _, c := range cols {
		if g.IntN(3) > 0 {
			out = append(out, c)
		}
	}
	return out
}

func (g *generator) interval(unbounded bool) syntax.Interval {
	lo := pick[int64](g, 0, 0, 0, 1, 2, 3)
	if unbounded && g.IntN(3) == 0 {
		return syntax.Interval{Lo: lo, Unbounded: true}
	}
	return syntax.Interval{Lo: lo, Hi: lo + pick[int64](g, 0, 0, 1, 2, 4, 8)}
}

// atom makes a predicate over cols, or a conjunction of such.
func (g *generator) atom(cols []check.Column) syntax.Formula {
	var fit []relation
	for _, r := range relations() {
		if _, ok := place(r, cols); ok {
			fit = append(fit, r)
		}
	}
	if len(fit) == 0 {
		n := len(cols) / 2
		return &syntax.And{Left: g.atom(cols[:n]), Right: g.atom(cols[n:])}
	}
	if len(cols) == 1 && cols[0].Kind == intKind && g.IntN(8) == 0 {
		return &syntax.Pred{Name: pick(g, "tp", "ts"), Args: []syntax.Term{syntax.Var{Name: cols[0].Name}}}
	}
	r := pick(g, fit...)
	at, _ := place(r, cols)
	p := &syntax.Pred{Name: r.name}
	var wild []syntax.Var
	for i, k := range r.kinds {
		switch c, ok := at[i]; {
		case ok:
			p.Args = append(p.Args, syntax.Var{Name: c.Name})
		case g.IntN(2) == 0:
			p.Args = append(p.Args, syntax.Const{Value: g.value(k)})
		default:
			v := syntax.Var{Name: g.column(k).Name}
			wild = append(wild, v)
			p.Args = append(p.Args, v)
		}
	}
	if len(wild) > 0 {
		return &syntax.Exists{Vars: wild, F: p}
	}
	return p
}

// place gives every column a position of its kind.
func place(r relation, cols []check.Column) (map[int]check.Column, bool) {
	at := map[int]check.Column{}
	for _, c := range cols {
		found := false
		for i, k := range r.kinds {
			if _, taken := at[i]; !taken && !found && k == c.Kind {
				at[i], found = c, true
			}
		}
		if !found {
			return nil, false
		}
	}
	return at, true
}

// trace makes a trace: equal time stamps, gaps, and time points without facts occur.
func (g *generator) trace(length int) []naive.TimePoint {
	var tps []naive.TimePoint
	ts := g.Int64N(3)
	for i := range length {
		tp := naive.TimePoint{TS: ts, Offset: uint64(i)}
		sizes := []int{0, 1, 2, 4, 7}
		if g.many {
			sizes = []int{1, 1, 2, 2, 25}
		}
		for range pick(g, sizes...) {
			r := pick(g, relations()...)
			f := schema.Fact{Name: r.name}
			for _, k := range r.kinds {
				f.Args = append(f.Args, g.value(k))
			}
			tp.Facts = append(tp.Facts, f)
		}
		tps = append(tps, tp)
		ts += pick[int64](g, 0, 0, 1, 1, 2, 3, 7)
	}
	return tps
}
