package rewrite

import (
	"maps"
	"slices"
	"strings"

	"github.com/aspis-rv/aspis/internal/lang/syntax"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// wildcard reports whether a variable stands for `_`.
func wildcard(name string) bool { return strings.HasPrefix(name, "_") }

// Apply returns the body of a named formula with its parameters replaced by the
// arguments of a use. Variables that the body binds are renamed where they would
// capture a variable of the arguments. A wildcard argument is quantified over the
// whole body: `bad(_)` says that there is some m with bad(m).
func Apply(use *syntax.Pred, params []string, body syntax.Formula) syntax.Formula {
	s := substitution{to: map[string]syntax.Term{}, avoid: map[string]bool{}}
	var hidden []syntax.Var
	for i, p := range params {
		arg := use.Args[i]
		if v, ok := arg.(syntax.Var); ok {
			if wildcard(v.Name) {
				v.Name = strings.TrimLeft(v.Name, "_") + "'" + p // no written name contains a quote
				hidden = append(hidden, v)
				arg = v
			}
			s.avoid[v.Name] = true
		}
		s.to[p] = arg
	}
	out := s.apply(body)
	if used := onlyFree(hidden, out); len(used) > 0 {
		out = &syntax.Exists{Node: syntax.Node{Pos: use.Pos}, Vars: used, F: out}
	}
	return out
}

// onlyFree keeps the variables that are free in f.
func onlyFree(vars []syntax.Var, f syntax.Formula) []syntax.Var {
	free := map[string]bool{}
	for _, name := range syntax.FreeVars(f) {
		free[name] = true
	}
	var out []syntax.Var
	for _, v := range vars {
		if free[v.Name] {
			out = append(out, v)
		}
	}
	return out
}

// substitution replaces free variables by terms.
type substitution struct {
	to    map[string]syntax.Term
	avoid map[string]bool // names that a quantifier of the body must not bind
}

func (s substitution) apply(f syntax.Formula) syntax.Formula {
	switch f := f.(type) {
	case *syntax.Exists:
		vars, inner := s.under(f.Vars)
		return &syntax.Exists{Node: f.Node, Vars: vars, F: inner.apply(f.F)}
	case *syntax.Forall:
		vars, inner := s.under(f.Vars)
		return &syntax.Forall{Node: f.Node, Vars: vars, F: inner.apply(f.F)}
	case *syntax.Bool, *syntax.Pred, *syntax.Cmp, *syntax.Not, *syntax.And, *syntax.Or, *syntax.Implies,
		*syntax.Equiv, *syntax.Prev, *syntax.Once, *syntax.Historically, *syntax.Since:
	}
	c := change{span: sameSpan, formula: s.apply, term: s.term, vars: sameVars}
	return c.node(f)
}

func (s substitution) term(t syntax.Term) syntax.Term {
	if v, ok := t.(syntax.Var); ok {
		if to, ok := s.to[v.Name]; ok {
			return to
		}
	}
	return t
}

// under gives the substitution below a quantifier and the variables it binds there.
func (s substitution) under(vars []syntax.Var) ([]syntax.Var, substitution) {
	inner := substitution{to: make(map[string]syntax.Term, len(s.to)), avoid: s.avoid}
	maps.Copy(inner.to, s.to)
	out := make([]syntax.Var, len(vars))
	for i, v := range vars {
		delete(inner.to, v.Name)
		out[i] = v
		if s.avoid[v.Name] {
			for s.avoid[out[i].Name] {
				out[i].Name += "'"
			}
			inner.to[v.Name] = out[i]
		}
	}
	return out, inner
}

// Member returns the formula that says that the argument of use is one of values:
// a disjunction of equalities, balanced so that a large set does not nest deeply.
func Member(use *syntax.Pred, values []schema.Value) syntax.Formula {
	n := syntax.Node{Pos: use.Pos}
	switch arg := use.Args[0].(type) {
	case syntax.Const:
		return &syntax.Bool{Node: n, Value: slices.Contains(values, arg.Value)}
	case syntax.Var:
		if wildcard(arg.Name) {
			return &syntax.Bool{Node: n, Value: true} // sets are never empty
		}
	}
	return oneOf(n, use.Args[0], values)
}

func oneOf(n syntax.Node, t syntax.Term, values []schema.Value) syntax.Formula {
	if len(values) == 1 {
		return &syntax.Cmp{Node: n, Op: syntax.Eq, Left: t, Right: syntax.Const{Pos: n.Pos, Value: values[0]}}
	}
	half := len(values) / 2
	return &syntax.Or{Node: n, Left: oneOf(n, t, values[:half]), Right: oneOf(n, t, values[half:])}
}
