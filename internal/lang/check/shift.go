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
	case *syntax.Pred, *syntax.And, *syntax.Implies, *syntax.Equiv, *syntax.Exists, *syntax.Forall, *syntax.Prev,
		*syntax.Once, *syntax.Historically, *syntax.Since:
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
	case *syntax.Prev:
		parts = shiftPrev(f)
	case *syntax.Once:
		parts = shiftOnce(m, f)
	case *syntax.Since:
		parts = shiftSince(m, f)
	case *syntax.Bool, *syntax.Pred, *syntax.Cmp, *syntax.Not, *syntax.And, *syntax.Or, *syntax.Implies, *syntax.Equiv,
		*syntax.Exists, *syntax.Forall, *syntax.Historically:
	}
	r.shifts[f] = parts
	return parts
}

// shiftPrev uses that there is at most one previous time point:
//
//	PREVIOUS (f AND g)     PREVIOUS f AND PREVIOUS g
//	PREVIOUS (f OR g)      PREVIOUS f OR PREVIOUS g
//	PREVIOUS (EXISTS x. f) EXISTS x. PREVIOUS f
//	PREVIOUS NOT f         PREVIOUS TRUE AND NOT PREVIOUS f
//	PREVIOUS r             PREVIOUS TRUE AND r, for a comparison r
func shiftPrev(f *syntax.Prev) []syntax.Formula {
	prev := func(g syntax.Formula) syntax.Formula { return &syntax.Prev{Node: f.Node, I: f.I, F: g} }
	truth := &syntax.Bool{Node: f.Node, Value: true}
	switch g := f.F.(type) {
	case *syntax.And:
		return []syntax.Formula{prev(g.Left), prev(g.Right)}
	case *syntax.Or:
		return []syntax.Formula{&syntax.Or{Node: g.Node, Left: prev(g.Left), Right: prev(g.Right)}}
	case *syntax.Exists:
		return []syntax.Formula{&syntax.Exists{Node: g.Node, Vars: g.Vars, F: prev(g.F)}}
	case *syntax.Not:
		return []syntax.Formula{prev(truth), &syntax.Not{Node: g.Node, F: prev(g.F)}}
	case *syntax.Cmp:
		return []syntax.Formula{prev(truth), g}
	case *syntax.Bool, *syntax.Pred, *syntax.Implies, *syntax.Equiv, *syntax.Forall, *syntax.Prev, *syntax.Once,
		*syntax.Historically, *syntax.Since:
	}
	return nil
}

// shiftOnce uses
//
//	ONCE (f OR g)      ONCE f OR ONCE g
//	ONCE (EXISTS x. f) EXISTS x. ONCE f
//	ONCE (f AND r)     ONCE f AND r, for rigid r
//	ONCE r             ONCE TRUE AND r, for rigid r
func shiftOnce(m *measure, f *syntax.Once) []syntax.Formula {
	once := func(g syntax.Formula) syntax.Formula { return &syntax.Once{Node: f.Node, I: f.I, F: g} }
	switch g := f.F.(type) {
	case *syntax.Or:
		return []syntax.Formula{&syntax.Or{Node: g.Node, Left: once(g.Left), Right: once(g.Right)}}
	case *syntax.Exists:
		return []syntax.Formula{&syntax.Exists{Node: g.Node, Vars: g.Vars, F: once(g.F)}}
	case *syntax.Bool:
		return nil
	case *syntax.Pred, *syntax.Cmp, *syntax.Not, *syntax.And, *syntax.Implies, *syntax.Equiv, *syntax.Forall,
		*syntax.Prev, *syntax.Once, *syntax.Historically, *syntax.Since:
	}
	rest, rigid := split(m, f.F)
	if len(rigid) == 0 {
		return nil
	}
	return append([]syntax.Formula{once(joined(f.Node, rest))}, rigid...)
}

// shiftSince uses, for rigid r,
//
//	f SINCE (g AND r)  (f SINCE g) AND r
//	f SINCE (g OR h)   (f SINCE g) OR (f SINCE h)
func shiftSince(m *measure, f *syntax.Since) []syntax.Formula {
	since := func(g syntax.Formula) syntax.Formula {
		return &syntax.Since{Node: f.Node, I: f.I, Left: f.Left, Right: g}
	}
	if g, ok := f.Right.(*syntax.Or); ok {
		return []syntax.Formula{&syntax.Or{Node: g.Node, Left: since(g.Left), Right: since(g.Right)}}
	}
	rest, rigid := split(m, f.Right)
	if len(rigid) == 0 || len(rest) == 0 {
		return nil
	}
	return append([]syntax.Formula{since(joined(f.Node, rest))}, rigid...)
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
