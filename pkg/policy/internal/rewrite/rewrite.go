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
		args := make([]syntax.Term, len(f.Args))
		for i, t := range f.Args {
			args[i] = c.term(t)
		}
		return &syntax.Pred{Node: n, Name: f.Name, Args: args}
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
	case *syntax.Prev:
		return &syntax.Prev{Node: n, I: f.I, F: c.formula(f.F)}
	case *syntax.Once:
		return &syntax.Once{Node: n, I: f.I, F: c.formula(f.F)}
	case *syntax.Historically:
		return &syntax.Historically{Node: n, I: f.I, F: c.formula(f.F)}
	case *syntax.Since:
		return &syntax.Since{Node: n, I: f.I, Left: c.formula(f.Left), Right: c.formula(f.Right)}
	}
	return f
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
		return true
	})
	return n
}
