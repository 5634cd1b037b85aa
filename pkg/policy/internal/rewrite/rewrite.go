// Package rewrite turns formulas into formulas: it moves their positions from the
// text of one scalar to the file around it, puts the bodies of named formulas in
// the place of their names, and constant sets in the place of their relations. It
// never changes a node; results share what did not change.
package rewrite

import (
	"github.com/aspis-rv/aspis/internal/diag"
	"github.com/aspis-rv/aspis/internal/lang/syntax"
)

// change says what becomes of the parts of a node.
type change struct {
	span    func(diag.Span) diag.Span
	formula func(syntax.Formula) syntax.Formula
	term    func(syntax.Term) syntax.Term
	vars    func([]syntax.Var) []syntax.Var
}

// node copies one node with its direct parts changed.
func (c change) node(f syntax.Formula) syntax.Formula {
	n := syntax.Node{Pos: c.span(f.Span())}
	switch f := f.(type) {
	case *syntax.Bool:
		return &syntax.Bool{Node: n, Value: f.Value}
	case *syntax.Pred:
		return &syntax.Pred{Node: n, Name: f.Name, Args: c.terms(f.Args)}
	case *syntax.Cmp:
		return &syntax.Cmp{Node: n, Op: f.Op, Left: c.term(f.Left), Right: c.term(f.Right)}
	case *syntax.Not:
		return &syntax.Not{Node: n, F: c.formula(f.F)}
	case *syntax.And:
		return &syntax.And{Node: n, Left: c.formula(f.Left), Right: c.formula(f.Right)}
	case *syntax.Or:
		return &syntax.Or{Node: n, Left: c.formula(f.Left), Right: c.formula(f.Right)}
	case *syntax.Implies:
		return &syntax.Implies{Node: n, Left: c.formula(f.Left), Right: c.formula(f.Right)}
	case *syntax.Equiv:
		return &syntax.Equiv{Node: n, Left: c.formula(f.Left), Right: c.formula(f.Right)}
	case *syntax.Exists:
		return &syntax.Exists{Node: n, Vars: c.vars(f.Vars), F: c.formula(f.F)}
	case *syntax.Forall:
		return &syntax.Forall{Node: n, Vars: c.vars(f.Vars), F: c.formula(f.F)}
	case *syntax.Match:
		return &syntax.Match{Node: n, Op: f.Op, Left: c.term(f.Left), Right: c.term(f.Right), Pattern: f.Pattern, Groups: c.terms(f.Groups)}
	case *syntax.Agg:
		vars := c.vars(append([]syntax.Var{f.Result, f.Over}, f.Groups...))
		return &syntax.Agg{Node: n, Result: vars[0], Op: f.Op, Over: vars[1], Groups: vars[2:], F: c.formula(f.F)}
	case *syntax.Let:
		return &syntax.Let{Node: n, Name: f.Name, Params: c.vars(f.Params), Def: c.formula(f.Def), Body: c.formula(f.Body)}
	case *syntax.New:
		return &syntax.New{Node: n, F: c.formula(f.F)}
	case *syntax.Prev, *syntax.Once, *syntax.Historically, *syntax.Since, *syntax.Next, *syntax.Eventually,
		*syntax.Always, *syntax.Until:
		return c.temporal(n, f)
	case *syntax.At, *syntax.Label, *syntax.Somewhere, *syntax.Everywhere, *syntax.Escape, *syntax.Reach, *syntax.Surround:
		return c.located(n, f)
	}
	return f
}

// temporal is node for the temporal operators.
func (c change) temporal(n syntax.Node, f syntax.Formula) syntax.Formula {
	switch f := f.(type) {
	case *syntax.Prev:
		return &syntax.Prev{Node: n, I: f.I, F: c.formula(f.F)}
	case *syntax.Once:
		return &syntax.Once{Node: n, I: f.I, F: c.formula(f.F)}
	case *syntax.Historically:
		return &syntax.Historically{Node: n, I: f.I, F: c.formula(f.F)}
	case *syntax.Since:
		return &syntax.Since{Node: n, I: f.I, Left: c.formula(f.Left), Right: c.formula(f.Right)}
	case *syntax.Next:
		return &syntax.Next{Node: n, I: f.I, F: c.formula(f.F)}
	case *syntax.Eventually:
		return &syntax.Eventually{Node: n, I: f.I, F: c.formula(f.F)}
	case *syntax.Always:
		return &syntax.Always{Node: n, I: f.I, F: c.formula(f.F)}
	case *syntax.Until:
		return &syntax.Until{Node: n, I: f.I, Left: c.formula(f.Left), Right: c.formula(f.Right)}
	case *syntax.Bool, *syntax.Pred, *syntax.Cmp, *syntax.Match, *syntax.Not, *syntax.And, *syntax.Or, *syntax.Implies,
		*syntax.Equiv, *syntax.Exists, *syntax.Forall, *syntax.Agg, *syntax.Let, *syntax.New,
		*syntax.At, *syntax.Label, *syntax.Somewhere, *syntax.Everywhere, *syntax.Escape, *syntax.Reach, *syntax.Surround:
	}
	return f
}

// located is node for what speaks of a vertex.
func (c change) located(n syntax.Node, f syntax.Formula) syntax.Formula {
	switch f := f.(type) {
	case *syntax.At:
		return &syntax.At{Node: n, Loc: c.term(f.Loc), F: c.formula(f.F)}
	case *syntax.Label:
		return &syntax.Label{Node: n, Name: f.Name}
	case *syntax.Somewhere:
		return &syntax.Somewhere{Node: n, D: f.D, F: c.formula(f.F)}
	case *syntax.Everywhere:
		return &syntax.Everywhere{Node: n, D: f.D, F: c.formula(f.F)}
	case *syntax.Escape:
		return &syntax.Escape{Node: n, D: f.D, Restricted: f.Restricted, F: c.formula(f.F)}
	case *syntax.Reach:
		return &syntax.Reach{Node: n, D: f.D, Left: c.formula(f.Left), Right: c.formula(f.Right)}
	case *syntax.Surround:
		return &syntax.Surround{Node: n, D: f.D, Left: c.formula(f.Left), Right: c.formula(f.Right)}
	case *syntax.Bool, *syntax.Pred, *syntax.Cmp, *syntax.Match, *syntax.Not, *syntax.And, *syntax.Or, *syntax.Implies,
		*syntax.Equiv, *syntax.Exists, *syntax.Forall, *syntax.Agg, *syntax.Let, *syntax.New, *syntax.Prev, *syntax.Once,
		*syntax.Historically, *syntax.Since, *syntax.Next, *syntax.Eventually, *syntax.Always, *syntax.Until:
	}
	return f
}

func (c change) terms(ts []syntax.Term) []syntax.Term {
	out := make([]syntax.Term, len(ts))
	for i, t := range ts {
		out[i] = c.term(t)
	}
	return out
}

func sameSpan(s diag.Span) diag.Span { return s }

func sameVars(vs []syntax.Var) []syntax.Var { return vs }

func sameTerm(t syntax.Term) syntax.Term { return t }

// Respan returns f with every position mapped by to.
func Respan(f syntax.Formula, to func(diag.Span) diag.Span) syntax.Formula {
	c := change{span: to}
	c.formula = func(g syntax.Formula) syntax.Formula { return c.node(g) }
	c.vars = func(vs []syntax.Var) []syntax.Var {
		out := make([]syntax.Var, len(vs))
		for i, v := range vs {
			out[i] = syntax.Var{Pos: to(v.Pos), Name: v.Name}
		}
		return out
	}
	c.term = func(t syntax.Term) syntax.Term { return respanTerm(t, to) }
	return c.formula(f)
}

func respanTerm(t syntax.Term, to func(diag.Span) diag.Span) syntax.Term {
	switch t := t.(type) {
	case syntax.Var:
		return syntax.Var{Pos: to(t.Pos), Name: t.Name}
	case syntax.Const:
		return syntax.Const{Pos: to(t.Pos), Value: t.Value}
	case syntax.Here:
		return syntax.Here{Pos: to(t.Pos)}
	case syntax.Arith:
		return syntax.Arith{Pos: to(t.Pos), Op: t.Op, Left: respanTerm(t.Left, to), Right: respanTerm(t.Right, to)}
	case syntax.Neg:
		return syntax.Neg{Pos: to(t.Pos), T: respanTerm(t.T, to)}
	case syntax.Conv:
		return syntax.Conv{Pos: to(t.Pos), Op: t.Op, T: respanTerm(t.T, to)}
	}
	return t
}

// Atoms returns f with every predicate replaced by what atom gives for it.
func Atoms(f syntax.Formula, atom func(*syntax.Pred) syntax.Formula) syntax.Formula {
	c := change{span: sameSpan, term: sameTerm, vars: sameVars}
	c.formula = func(g syntax.Formula) syntax.Formula {
		if p, ok := g.(*syntax.Pred); ok {
			return atom(p)
		}
		return c.node(g)
	}
	return c.formula(f)
}

// Size counts the nodes and terms of f.
func Size(f syntax.Formula) int {
	n := 0
	syntax.Walk(f, func(g syntax.Formula) bool {
		n++
		if p, ok := g.(*syntax.Pred); ok {
			n += len(p.Args)
		}
		if c, ok := g.(*syntax.Cmp); ok {
			n += termSize(c.Left) + termSize(c.Right)
		}
		if m, ok := g.(*syntax.Match); ok {
			n += termSize(m.Left) + termSize(m.Right) + len(m.Groups)
		}
		return true
	})
	return n
}

// termSize counts the operations in a term: variables and constants beside a
// comparison are counted as part of it.
func termSize(t syntax.Term) int {
	switch t := t.(type) {
	case syntax.Var, syntax.Const, syntax.Here:
	case syntax.Arith:
		return 1 + termSize(t.Left) + termSize(t.Right)
	case syntax.Neg:
		return 1 + termSize(t.T)
	case syntax.Conv:
		return 1 + termSize(t.T)
	}
	return 0
}
