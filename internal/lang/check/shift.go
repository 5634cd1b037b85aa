package check

import "github.com/aspis-rv/aspis/internal/lang/syntax"

// rewriter rewrites desugared formulas, each once: the search tries the same ones
// again under other guards, and remembers what failed by the formula.
type rewriter struct {
	negations map[syntax.Formula]syntax.Formula
	pushes    map[*syntax.And]syntax.Formula
	shifts    map[syntax.Formula][]syntax.Formula
}

func newRewriter() *rewriter {
	return &rewriter{
		negations: map[syntax.Formula]syntax.Formula{}, pushes: map[*syntax.And]syntax.Formula{},
		shifts: map[syntax.Formula][]syntax.Formula{},
	}
}

// negation is the negation of a desugared formula, over the same operators.
func (r *rewriter) negation(f syntax.Formula) syntax.Formula {
	if g, ok := r.negations[f]; ok {
		return g
	}
	var g syntax.Formula
	switch f := f.(type) {
	case *syntax.Bool:
		g = &syntax.Bool{Node: f.Node, Value: !f.Value}
	case *syntax.Cmp:
		g = complement(f)
	case *syntax.Not:
		g = f.F
	case *syntax.Or:
		g = &syntax.And{Node: f.Node, Left: r.negation(f.Left), Right: r.negation(f.Right)}
	case *syntax.Pred, *syntax.Match, *syntax.And, *syntax.Implies, *syntax.Equiv, *syntax.Exists, *syntax.Forall,
		*syntax.Agg, *syntax.Let, *syntax.New, *syntax.Prev, *syntax.Once, *syntax.Historically, *syntax.Since,
		*syntax.Next, *syntax.Eventually, *syntax.Always, *syntax.Until,
		*syntax.At, *syntax.Label, *syntax.Somewhere, *syntax.Everywhere, *syntax.Escape, *syntax.Reach, *syntax.Surround:
		g = &syntax.Not{Node: syntax.Node{Pos: f.Span()}, F: f}
	}
	r.negations[f] = g
	return g
}

// pushed is NOT (f AND g) as NOT f OR NOT g.
func (r *rewriter) pushed(f *syntax.And) syntax.Formula {
	g, ok := r.pushes[f]
	if !ok {
		g = &syntax.Or{Node: f.Node, Left: r.negation(f.Left), Right: r.negation(f.Right)}
		r.pushes[f] = g
	}
	return g
}

// shifted moves a formula out of a temporal operator, so that a guard at the present
// time point reaches it. It returns the conjuncts of an equivalent formula that is
// closer to that, or nil. A rigid formula is one that does not depend on time.
func (r *rewriter) shifted(m *measure, f syntax.Formula) []syntax.Formula {
	if parts, ok := r.shifts[f]; ok {
		return parts
	}
	var parts []syntax.Formula
	switch f := f.(type) {
	case *syntax.Prev, *syntax.Next:
		parts = shiftStep(f)
	case *syntax.Once, *syntax.Eventually:
		parts = shiftSome(m, f)
	case *syntax.Since:
		parts = shiftLast(m, f, f.Right)
	case *syntax.Until:
		parts = shiftLast(m, f, f.Right)
	case *syntax.Bool, *syntax.Pred, *syntax.Cmp, *syntax.Match, *syntax.Not, *syntax.And, *syntax.Or, *syntax.Implies,
		*syntax.Equiv, *syntax.Exists, *syntax.Forall, *syntax.Agg, *syntax.Let, *syntax.New, *syntax.Historically,
		*syntax.Always,
		*syntax.At, *syntax.Label, *syntax.Somewhere, *syntax.Everywhere, *syntax.Escape, *syntax.Reach, *syntax.Surround:
	}
	r.shifts[f] = parts
	return parts
}

// at is the temporal formula f with another formula in the place of its last operand.
func at(f, g syntax.Formula) syntax.Formula {
	n := len(syntax.Children(f))
	return rebuilt(f, func(h syntax.Formula) syntax.Formula {
		if n--; n == 0 {
			return g
		}
		return h
	})
}

// shiftStep uses that there is at most one previous time point and at most one next:
//
//	PREVIOUS (f AND g)     PREVIOUS f AND PREVIOUS g
//	PREVIOUS (f OR g)      PREVIOUS f OR PREVIOUS g
//	PREVIOUS (EXISTS x. f) EXISTS x. PREVIOUS f
//	PREVIOUS NOT f         PREVIOUS TRUE AND NOT PREVIOUS f
//	PREVIOUS r             PREVIOUS TRUE AND r, for a comparison r
func shiftStep(f syntax.Formula) []syntax.Formula {
	inner := syntax.Children(f)[0]
	truth := &syntax.Bool{Node: syntax.Node{Pos: f.Span()}, Value: true}
	switch g := inner.(type) {
	case *syntax.And:
		return []syntax.Formula{at(f, g.Left), at(f, g.Right)}
	case *syntax.Or:
		return []syntax.Formula{&syntax.Or{Node: g.Node, Left: at(f, g.Left), Right: at(f, g.Right)}}
	case *syntax.Exists:
		return []syntax.Formula{&syntax.Exists{Node: g.Node, Vars: g.Vars, F: at(f, g.F)}}
	case *syntax.Not:
		return []syntax.Formula{at(f, truth), &syntax.Not{Node: g.Node, F: at(f, g.F)}}
	case *syntax.Cmp, *syntax.Match:
		return []syntax.Formula{at(f, truth), g}
	case *syntax.Bool, *syntax.Pred, *syntax.Implies, *syntax.Equiv, *syntax.Forall, *syntax.Agg, *syntax.Let, *syntax.New,
		*syntax.Prev, *syntax.Once, *syntax.Historically, *syntax.Since, *syntax.Next, *syntax.Eventually,
		*syntax.Always, *syntax.Until,
		*syntax.At, *syntax.Label, *syntax.Somewhere, *syntax.Everywhere, *syntax.Escape, *syntax.Reach, *syntax.Surround:
	}
	return nil
}

// shiftSome uses, and likewise for EVENTUALLY,
//
//	ONCE (f OR g)      ONCE f OR ONCE g
//	ONCE (EXISTS x. f) EXISTS x. ONCE f
//	ONCE (f AND r)     ONCE f AND r, for rigid r
//	ONCE r             ONCE TRUE AND r, for rigid r
func shiftSome(m *measure, f syntax.Formula) []syntax.Formula {
	inner := syntax.Children(f)[0]
	if g, ok := inner.(*syntax.Or); ok {
		return []syntax.Formula{&syntax.Or{Node: g.Node, Left: at(f, g.Left), Right: at(f, g.Right)}}
	}
	if g, ok := inner.(*syntax.Exists); ok {
		return []syntax.Formula{&syntax.Exists{Node: g.Node, Vars: g.Vars, F: at(f, g.F)}}
	}
	if _, ok := inner.(*syntax.Bool); ok {
		return nil
	}
	rest, rigid := split(m, inner)
	if len(rigid) == 0 {
		return nil
	}
	return append([]syntax.Formula{at(f, joined(syntax.Node{Pos: f.Span()}, rest))}, rigid...)
}

// shiftLast uses, for rigid r, and likewise for UNTIL,
//
//	f SINCE (g AND r)  (f SINCE g) AND r
//	f SINCE (g OR h)   (f SINCE g) OR (f SINCE h)
func shiftLast(m *measure, f, right syntax.Formula) []syntax.Formula {
	if g, ok := right.(*syntax.Or); ok {
		return []syntax.Formula{&syntax.Or{Node: g.Node, Left: at(f, g.Left), Right: at(f, g.Right)}}
	}
	rest, rigid := split(m, right)
	if len(rigid) == 0 || len(rest) == 0 {
		return nil
	}
	return append([]syntax.Formula{at(f, joined(syntax.Node{Pos: f.Span()}, rest))}, rigid...)
}

// split separates the rigid conjuncts of a formula from the others.
func split(m *measure, f syntax.Formula) (rest, rigid []syntax.Formula) {
	for _, c := range conjuncts(f) {
		if m.rigid(c) {
			rigid = append(rigid, c)
		} else {
			rest = append(rest, c)
		}
	}
	return rest, rigid
}

// joined is the conjunction of the formulas, TRUE when there are none.
func joined(at syntax.Node, fs []syntax.Formula) syntax.Formula {
	if len(fs) == 0 {
		return &syntax.Bool{Node: at, Value: true}
	}
	f := fs[0]
	for _, g := range fs[1:] {
		f = &syntax.And{Node: at, Left: f, Right: g}
	}
	return f
}
