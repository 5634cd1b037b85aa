package check

import (
	"github.com/aspis-rv/aspis/internal/lang/syntax"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// desugar rewrites the formula over the operators of the core and pushes negations
// down as far as costs nothing:
//
//	f IMPLIES g         NOT (f AND NOT g)
//	f EQUIV g           NOT (f AND NOT g) AND NOT (g AND NOT f)
//	FORALL x. f         NOT EXISTS x. NOT f
//	HISTORICALLY f      NOT ONCE NOT f
//	ALWAYS f            NOT EVENTUALLY NOT f
//	NOT (f OR g)        NOT f AND NOT g
//	NOT (x < y)         x >= y
//	2 < 3               TRUE
//
// A node that is made here has the place of what it is made from.
func (w *work) desugar() {
	d := desugarer{memo: map[polar]syntax.Formula{}, kinds: w.kinds}
	w.plain = d.formula(w.inlined, true)
	if m := newMeasure(); m.size(w.plain) > MaxCore {
		w.add(tooComplex(w.source))
	}
}

// polar is a formula or its negation.
type polar struct {
	f        syntax.Formula
	positive bool
}

// desugarer rewrites each formula and its negation once, so that the result is
// small, as a graph, even where EQUIV uses its operands twice.
type desugarer struct {
	memo  map[polar]syntax.Formula
	kinds map[string]schema.ValueKind
}

func (d *desugarer) formula(f syntax.Formula, positive bool) syntax.Formula {
	key := polar{f, positive}
	if g, ok := d.memo[key]; ok {
		return g
	}
	var g syntax.Formula
	if positive {
		g = d.affirm(f)
	} else {
		g = d.negate(f)
	}
	d.memo[key] = g
	return g
}

// affirm rewrites f.
func (d *desugarer) affirm(f syntax.Formula) syntax.Formula {
	at := syntax.Node{Pos: f.Span()}
	switch f := f.(type) {
	case *syntax.Bool, *syntax.Pred, *syntax.Match:
		return f
	case *syntax.Cmp:
		return fold(f)
	case *syntax.Not:
		g := d.formula(f.F, false)
		if not, ok := g.(*syntax.Not); ok {
			return &syntax.Not{Node: at, F: not.F} // with the place of the NOT
		}
		return g
	case *syntax.Implies:
		return d.unless(at, f.Left, f.Right)
	case *syntax.Equiv:
		return &syntax.And{Node: at, Left: d.unless(at, f.Left, f.Right), Right: d.unless(at, f.Right, f.Left)}
	case *syntax.Forall:
		return &syntax.Not{Node: at, F: d.formula(f, false)}
	case *syntax.Prev, *syntax.Once, *syntax.Historically, *syntax.Since, *syntax.Next, *syntax.Eventually,
		*syntax.Always, *syntax.Until:
		return d.affirmTemporal(at, f)
	case *syntax.And, *syntax.Or, *syntax.Exists, *syntax.Agg, *syntax.New, *syntax.Let,
		*syntax.At, *syntax.Label, *syntax.Somewhere, *syntax.Everywhere, *syntax.Escape, *syntax.Reach, *syntax.Surround:
	}
	return rebuilt(f, d.affirmed)
}

func (d *desugarer) affirmed(f syntax.Formula) syntax.Formula { return d.formula(f, true) }

// affirmTemporal rewrites a temporal formula. One whose interval is empty is never
// true, or always.
func (d *desugarer) affirmTemporal(at syntax.Node, f syntax.Formula) syntax.Formula {
	i, _ := intervalOf(f)
	parts := syntax.Children(f)
	switch f.(type) {
	case *syntax.Historically, *syntax.Always:
		if i.Empty() {
			return &syntax.Bool{Node: at, Value: true}
		}
		return &syntax.Not{Node: at, F: d.formula(f, false)}
	case *syntax.Prev, *syntax.Once, *syntax.Since, *syntax.Next, *syntax.Eventually, *syntax.Until:
		if i.Empty() {
			return never(at, d.formula(parts[len(parts)-1], true))
		}
	case *syntax.Bool, *syntax.Pred, *syntax.Cmp, *syntax.Match, *syntax.Not, *syntax.And, *syntax.Or, *syntax.Implies,
		*syntax.Equiv, *syntax.Exists, *syntax.Forall, *syntax.Agg, *syntax.Let, *syntax.New,
		*syntax.At, *syntax.Label, *syntax.Somewhere, *syntax.Everywhere, *syntax.Escape, *syntax.Reach, *syntax.Surround:
	}
	return rebuilt(f, d.affirmed)
}

// negate rewrites NOT f.
func (d *desugarer) negate(f syntax.Formula) syntax.Formula {
	at := syntax.Node{Pos: f.Span()}
	switch f := f.(type) {
	case *syntax.Bool:
		return &syntax.Bool{Node: at, Value: !f.Value}
	case *syntax.Cmp:
		return d.complement(f)
	case *syntax.Not:
		return d.formula(f.F, true)
	case *syntax.Or:
		return &syntax.And{Node: at, Left: d.formula(f.Left, false), Right: d.formula(f.Right, false)}
	case *syntax.Implies:
		return &syntax.And{Node: at, Left: d.formula(f.Left, true), Right: d.formula(f.Right, false)}
	case *syntax.Equiv:
		return &syntax.Or{
			Node:  at,
			Left:  &syntax.And{Node: at, Left: d.formula(f.Left, true), Right: d.formula(f.Right, false)},
			Right: &syntax.And{Node: at, Left: d.formula(f.Right, true), Right: d.formula(f.Left, false)},
		}
	case *syntax.Forall:
		return &syntax.Exists{Node: at, Vars: f.Vars, F: d.formula(f.F, false)}
	case *syntax.Historically:
		if f.I.Empty() {
			return &syntax.Bool{Node: at}
		}
		return &syntax.Once{Node: at, I: f.I, F: d.formula(f.F, false)}
	case *syntax.Always:
		if f.I.Empty() {
			return &syntax.Bool{Node: at}
		}
		return &syntax.Eventually{Node: at, I: f.I, F: d.formula(f.F, false)}
	case *syntax.Pred, *syntax.Match, *syntax.And, *syntax.Exists, *syntax.Agg, *syntax.New, *syntax.Let, *syntax.Prev,
		*syntax.Once, *syntax.Since, *syntax.Next, *syntax.Eventually, *syntax.Until,
		*syntax.At, *syntax.Label, *syntax.Somewhere, *syntax.Everywhere, *syntax.Escape, *syntax.Reach, *syntax.Surround:
	}
	return &syntax.Not{Node: at, F: d.formula(f, true)}
}

// unless is NOT (l AND NOT r).
func (d *desugarer) unless(at syntax.Node, l, r syntax.Formula) syntax.Formula {
	return &syntax.Not{Node: at, F: &syntax.And{Node: at, Left: d.formula(l, true), Right: d.formula(r, false)}}
}

// never is a formula with the variables of f that holds for no value of them.
func never(at syntax.Node, f syntax.Formula) syntax.Formula {
	return &syntax.And{Node: at, Left: f, Right: &syntax.Bool{Node: at}}
}

// fold evaluates a comparison of constants.
func fold(f *syntax.Cmp) syntax.Formula {
	l, ok := f.Left.(syntax.Const)
	r, ok2 := f.Right.(syntax.Const)
	if !ok || !ok2 {
		return f
	}
	return &syntax.Bool{Node: f.Node, Value: f.Op.Holds(schema.Compare(l.Value, r.Value))}
}

// complement is the negation of a comparison. That of x = x holds for no value, and so
// gives x its values, none.
func (d *desugarer) complement(f *syntax.Cmp) syntax.Formula {
	l, ok := f.Left.(syntax.Var)
	r, ok2 := f.Right.(syntax.Var)
	if f.Op != syntax.Eq || !ok || !ok2 || l.Name != r.Name {
		return complement(f)
	}
	some := syntax.Const{Pos: r.Pos, Value: schema.Value{Kind: d.kinds[l.Name]}}
	return never(f.Node, &syntax.Cmp{Node: f.Node, Op: syntax.Eq, Left: l, Right: some})
}

// complement is the negation of a comparison. (There is no NaN, so the order is
// total.)
func complement(f *syntax.Cmp) syntax.Formula {
	g := &syntax.Cmp{Node: f.Node, Op: f.Op, Left: f.Left, Right: f.Right}
	switch f.Op {
	case syntax.Eq:
		if b, ok := fold(f).(*syntax.Bool); ok {
			return &syntax.Bool{Node: f.Node, Value: !b.Value}
		}
		return &syntax.Not{Node: f.Node, F: g}
	case syntax.Less:
		g.Op = syntax.GreaterEq
	case syntax.LessEq:
		g.Op = syntax.Greater
	case syntax.Greater:
		g.Op = syntax.LessEq
	case syntax.GreaterEq:
		g.Op = syntax.Less
	}
	return fold(g)
}
