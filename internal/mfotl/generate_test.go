package mfotl_test

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/aspis-rv/aspis/internal/lang/check"
	"github.com/aspis-rv/aspis/internal/lang/syntax"
	"github.com/aspis-rv/aspis/internal/mfotl/naive"
	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// generator makes random formulas that obey the contract of check.Checked, and
// traces for them.
type generator struct {
	*rand.Rand
	fresh int
	used  []relation // relations that the formulas made so far read
	wide  bool       // many facts over many integers, and no other values
	asks  bool       // formulas read external relations
	below int        // PREVIOUS around the place under way, where none are read

	histories  int // HISTORICALLY made so far
	aggregates int
	terms      int
	matches    int
	externals  int

	differences int

	kinds map[string]schema.ValueKind // of the variables of the formula under way
}

type relation struct {
	name  string
	kinds []schema.ValueKind
}

const (
	intKind = schema.KindInt
	strKind = schema.KindString
	fltKind = schema.KindFloat
)

func (g *generator) relations() []relation {
	if g.wide {
		return []relation{{"p", []schema.ValueKind{intKind}}, {"q", []schema.ValueKind{intKind}}, {"r", []schema.ValueKind{intKind, intKind}}}
	}
	return []relation{
		{"e", nil},
		{"f", nil},
		{"p", []schema.ValueKind{intKind}},
		{"q", []schema.ValueKind{intKind}},
		{"s", []schema.ValueKind{strKind}},
		{"t", []schema.ValueKind{strKind}},
		{"u", []schema.ValueKind{fltKind}},
		{"r", []schema.ValueKind{intKind, intKind}},
		{"m", []schema.ValueKind{intKind, strKind}},
		{"w", []schema.ValueKind{fltKind, intKind, strKind}},
	}
}

// values are the constants of a kind: small and large ones, such as fit into a
// word of the engine and such as do not.
func values(k schema.ValueKind) []schema.Value {
	switch k {
	case schema.KindInt:
		return []schema.Value{schema.IntValue(0), schema.IntValue(-1 << 62), schema.IntValue(3)}
	case schema.KindString:
		return []schema.Value{schema.StringValue("a"), schema.StringValue(""), schema.StringValue("b\n\"")}
	case schema.KindFloat:
		return []schema.Value{schema.FloatValue(0.5), schema.FloatValue(0.1)}
	}
	return nil
}

func pick[T any](g *generator, xs []T) T { return xs[g.IntN(len(xs))] }

func (g *generator) column(k schema.ValueKind) check.Column {
	g.fresh++
	c := check.Column{Name: fmt.Sprintf("x%d", g.fresh), Kind: k}
	g.kinds[c.Name] = k
	g.kinds["_"+c.Name] = k // of the wildcard
	return c
}

func (g *generator) kind() schema.ValueKind {
	if g.wide {
		return intKind
	}
	return pick(g, []schema.ValueKind{intKind, intKind, strKind, fltKind})
}

func (g *generator) value(k schema.ValueKind) schema.Value {
	if g.wide && k == intKind {
		return schema.IntValue(g.Int64N(12))
	}
	return pick(g, values(k))
}

// checked makes a formula with up to two free variables.
func (g *generator) checked(depth int) *check.Checked {
	g.fresh = 0
	g.kinds = map[string]schema.ValueKind{}
	var cols []check.Column
	for range pick(g, []int{0, 1, 1, 1, 2, 2}) {
		cols = append(cols, g.column(g.kind()))
	}
	core := g.formula(cols, depth)
	return &check.Checked{Core: core, Free: cols, Kinds: g.kinds}
}

// formula makes a formula whose free variables are exactly cols.
func (g *generator) formula(cols []check.Column, depth int) syntax.Formula {
	if depth <= 0 {
		return g.atom(cols)
	}
	if g.external() && g.IntN(5) == 0 {
		return g.tested(cols, depth-1)
	}
	switch d := depth - 1; g.IntN(19) {
	case 0:
		return &syntax.Or{Left: g.formula(cols, d), Right: g.formula(cols, d)}
	case 1:
		return g.exists(cols, d)
	case 2:
		g.below++
		f := &syntax.Prev{I: g.interval(), F: g.formula(cols, d)}
		g.below--
		return f
	case 3, 4:
		return &syntax.Once{I: g.interval(), F: g.formula(cols, d)}
	case 5, 6, 7:
		return &syntax.Since{I: g.interval(), Left: g.left(g.some(cols), d), Right: g.formula(cols, d)}
	case 8:
		a, b := g.cover(cols)
		return &syntax.And{Left: g.formula(a, d), Right: g.formula(b, d)}
	case 9, 10:
		return &syntax.And{Left: g.formula(cols, d), Right: &syntax.Not{F: g.formula(g.some(cols), d)}}
	case 11:
		return g.test(cols, d)
	case 12, 13:
		return &syntax.And{Left: g.formula(cols, d), Right: g.history(g.some(cols), d)}
	case 14:
		return g.match(cols, d)
	case 18:
		g.differences++
		return &syntax.New{F: &syntax.And{Left: g.formula(cols, d), Right: &syntax.Not{F: g.formula(g.some(cols), d)}}}
	case 15, 16, 17:
		return g.aggregate(cols, d)
	}
	return g.atom(cols)
}

// history makes a HISTORICALLY, or the NOT of one.
func (g *generator) history(cols []check.Column, depth int) syntax.Formula {
	g.histories++
	h := &syntax.Historically{I: g.interval(), F: g.formula(cols, depth-g.IntN(2))}
	if g.IntN(2) == 0 {
		return &syntax.Not{F: h}
	}
	return h
}

// left makes a left operand of SINCE.
func (g *generator) left(cols []check.Column, depth int) syntax.Formula {
	f := g.formula(cols, depth)
	if g.IntN(2) == 0 {
		return &syntax.Not{F: f}
	}
	return f
}

// some is a random subset of cols.
func (g *generator) some(cols []check.Column) []check.Column {
	var out []check.Column
	for _, c := range cols {
		if g.IntN(3) > 0 {
			out = append(out, c)
		}
	}
	return out
}

// cover is two subsets of cols that together are cols.
func (g *generator) cover(cols []check.Column) (a, b []check.Column) {
	for _, c := range cols {
		n := g.IntN(3)
		if n != 0 {
			a = append(a, c)
		}
		if n != 1 {
			b = append(b, c)
		}
	}
	return a, b
}

func (g *generator) exists(cols []check.Column, depth int) syntax.Formula {
	c := g.column(g.kind())
	f := g.formula(append(slices.Clip(cols), c), depth)
	return &syntax.Exists{Vars: []syntax.Var{{Name: c.Name}}, F: f}
}

// test adds a comparison: one that restricts, or one that binds the last column.
func (g *generator) test(cols []check.Column, depth int) syntax.Formula {
	if len(cols) == 0 {
		return g.closed(depth)
	}
	n := len(cols) - 1
	last := syntax.Var{Name: cols[n].Name}
	if g.IntN(2) == 0 {
		bind := &syntax.Cmp{Op: syntax.Eq, Left: last, Right: g.term(cols[n].Kind, cols[:n], 2)}
		if g.IntN(2) == 0 {
			bind.Left, bind.Right = bind.Right, bind.Left
		}
		return &syntax.And{Left: g.formula(cols[:n], depth), Right: bind}
	}
	var cmp syntax.Formula = &syntax.Cmp{
		Op:   pick(g, []syntax.CmpOp{syntax.Eq, syntax.Less, syntax.LessEq, syntax.Greater, syntax.GreaterEq}),
		Left: last, Right: g.term(cols[g.IntN(n+1)].Kind, cols, 2),
	}
	if g.IntN(4) == 0 {
		cmp = &syntax.Not{F: cmp}
	}
	return &syntax.And{Left: g.formula(cols, depth), Right: cmp}
}

func (g *generator) closed(depth int) syntax.Formula {
	if g.IntN(4) == 0 {
		return &syntax.Bool{Value: g.IntN(3) > 0}
	}
	return &syntax.Not{F: g.formula(nil, depth)}
}

func (g *generator) interval() syntax.Interval {
	lo := pick(g, []int64{0, 0, 0, 1, 2, 3})
	if g.IntN(3) == 0 {
		return syntax.Interval{Lo: lo, Unbounded: true}
	}
	return syntax.Interval{Lo: lo, Hi: lo + pick(g, []int64{0, 0, 1, 2, 4})}
}

// atom makes a predicate over cols, or a conjunction of such.
func (g *generator) atom(cols []check.Column) syntax.Formula {
	var fit []relation
	relations := g.relations()
	if g.external() {
		relations = append(relations, externalRelations()...)
	}
	for _, r := range relations {
		if _, ok := place(r, cols); ok {
			fit = append(fit, r)
		}
	}
	if len(fit) > 0 {
		return g.pred(pick(g, fit), cols)
	}
	n := len(cols) / 2
	return &syntax.And{Left: g.atom(cols[:n]), Right: g.atom(cols[n:])}
}

// place gives every column a position of its kind.
func place(r relation, cols []check.Column) (map[int]check.Column, bool) {
	at := map[int]check.Column{}
	for _, c := range cols {
		found := false
		for i, k := range r.kinds {
			if _, taken := at[i]; !taken && !found && k == c.Kind {
				at[i] = c
				found = true
			}
		}
		if !found {
			return nil, false
		}
	}
	return at, true
}

// pred fills the positions without a column with constants, repeated variables and
// wildcards.
func (g *generator) pred(r relation, cols []check.Column) syntax.Formula {
	if isExternal(r.name) {
		g.externals++
	}
	g.used = append(g.used, r)
	at, _ := place(r, cols)
	p := &syntax.Pred{Name: r.name}
	var wild []syntax.Var
	for i, k := range r.kinds {
		c, ok := at[i]
		n := g.IntN(3)
		for _, x := range cols {
			if !ok && n == 0 && x.Kind == k {
				c, ok = x, true
			}
		}
		switch {
		case ok:
			p.Args = append(p.Args, syntax.Var{Name: c.Name})
		case n == 1:
			p.Args = append(p.Args, syntax.Const{Value: g.value(k)})
		default:
			v := syntax.Var{Name: "_" + g.column(k).Name}
			wild = append(wild, v)
			p.Args = append(p.Args, v)
		}
	}
	if len(wild) > 0 {
		return &syntax.Exists{Vars: wild, F: p}
	}
	return p
}

// trace makes a trace over the relations of formulas; offsets ascend with gaps. In
// some traces facts tend to be repeated from one time point to the next.
func (g *generator) trace(length int, presumptive float64) []naive.TimePoint {
	var tps []naive.TimePoint
	ts, offset := g.Int64N(3), g.Uint64N(3)
	repeated := pick(g, []float64{0, 0, 0.6, 0.9})
	for i := range length {
		facts := g.facts(presumptive)
		if i > 0 {
			facts = append(facts, g.again(tps[i-1].Facts, repeated)...)
		}
		tps = append(tps, naive.TimePoint{TS: ts, Offset: offset, Facts: facts, Tables: g.tables()})
		ts += pick(g, []int64{0, 0, 1, 1, 2, 3, 7})
		offset += 1 + g.Uint64N(3)
	}
	return tps
}

// again is a selection of facts, a few with the other strength.
func (g *generator) again(facts []schema.Fact, chance float64) []schema.Fact {
	var out []schema.Fact
	for _, f := range facts {
		if g.Float64() >= chance || len(out) >= 6 {
			continue
		}
		if g.IntN(6) == 0 {
			f.Strength = verdict.Presumptive - f.Strength
		}
		out = append(out, f)
	}
	return out
}

func (g *generator) facts(presumptive float64) []schema.Fact {
	var facts []schema.Fact
	sizes := []int{0, 1, 2, 4, 6}
	if g.wide {
		sizes = []int{0, 20, 50}
	}
	for range pick(g, sizes) {
		r := pick(g, g.relations())
		if len(g.used) > 0 && g.IntN(6) > 0 {
			r = pick(g, g.used)
		}
		f := schema.Fact{Name: r.name}
		for _, k := range r.kinds {
			f.Args = append(f.Args, g.value(k))
		}
		if g.Float64() < presumptive {
			f.Strength = verdict.Presumptive
		}
		facts = append(facts, f)
	}
	return facts
}
