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
//
// A parameter that is the result or a group of an aggregation is replaced by a variable
// only; where the argument is none, or one that stands twice, it is a new variable that
// equals the argument.
func Apply(use *syntax.Pred, params []string, body syntax.Formula) syntax.Formula {
	s := substitution{to: map[string]syntax.Term{}, avoid: map[string]bool{}}
	var hidden []syntax.Var
	var equal []syntax.Formula
	for _, arg := range use.Args {
		syntax.TermVars(arg, func(v syntax.Var) { s.avoid[v.Name] = true })
	}
	for i, p := range params {
		arg := use.Args[i]
		v, isVar := arg.(syntax.Var)
		switch {
		case isVar && wildcard(v.Name):
			v.Name = strings.TrimLeft(v.Name, "_") + "'" + p // no written name contains a quote
			hidden = append(hidden, v)
			arg = v
			s.avoid[v.Name] = true
		case aggregated(body, p) && (!isVar || !once(use.Args, v.Name)):
			x := syntax.Var{Pos: arg.Span(), Name: s.unused(p + "'")}
			hidden = append(hidden, x)
			equal = append(equal, &syntax.Cmp{Node: syntax.Node{Pos: use.Pos}, Op: syntax.Eq, Left: x, Right: arg})
			arg = x
			s.avoid[x.Name] = true
		}
		s.to[p] = arg
	}
	out := s.apply(body)
	for _, e := range equal {
		out = &syntax.And{Node: syntax.Node{Pos: use.Pos}, Left: out, Right: e}
	}
	if used := onlyFree(hidden, out); len(used) > 0 {
		out = &syntax.Exists{Node: syntax.Node{Pos: use.Pos}, Vars: used, F: out}
	}
	return out
}

// once tells whether a variable is one argument only.
func once(args []syntax.Term, name string) bool {
	n := 0
	for _, t := range args {
		if v, ok := t.(syntax.Var); ok && v.Name == name {
			n++
		}
	}
	return n == 1
}

// aggregated tells whether a free variable of f is the result or a group of an
// aggregation.
func aggregated(f syntax.Formula, name string) bool {
	is := func(v syntax.Var) bool { return v.Name == name }
	found := false
	syntax.Walk(f, func(g syntax.Formula) bool {
		if agg, ok := g.(*syntax.Agg); ok {
			found = found || is(agg.Result) || slices.ContainsFunc(agg.Groups, is)
		}
		return !found
	})
	return found
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
	case *syntax.Agg:
		return s.agg(f)
	case *syntax.Let: // the definition has no variables but its parameters
		return &syntax.Let{Node: f.Node, Name: f.Name, Params: f.Params, Def: f.Def, Body: s.apply(f.Body)}
	case *syntax.Bool, *syntax.Pred, *syntax.Cmp, *syntax.Match, *syntax.Not, *syntax.And, *syntax.Or, *syntax.Implies,
		*syntax.Equiv, *syntax.New, *syntax.Prev, *syntax.Once, *syntax.Historically, *syntax.Since, *syntax.Next,
		*syntax.Eventually, *syntax.Always, *syntax.Until,
		*syntax.At, *syntax.Label, *syntax.Somewhere, *syntax.Everywhere, *syntax.Escape, *syntax.Reach, *syntax.Surround:
	}
	c := change{span: sameSpan, formula: s.apply, term: s.term, vars: sameVars}
	return c.node(f)
}

// agg applies the substitution to an aggregation, which binds the variables of its
// formula that are not among the groups.
func (s substitution) agg(f *syntax.Agg) syntax.Formula {
	var own []syntax.Var
	for _, name := range syntax.FreeVars(f.F) {
		if !wildcard(name) && !slices.ContainsFunc(f.Groups, func(v syntax.Var) bool { return v.Name == name }) {
			own = append(own, syntax.Var{Name: name})
		}
	}
	_, inner := s.under(own)
	g := &syntax.Agg{Node: f.Node, Result: s.variable(f.Result), Op: f.Op, Over: inner.variable(f.Over), F: inner.apply(f.F)}
	for _, v := range f.Groups {
		g.Groups = append(g.Groups, s.variable(v))
	}
	return g
}

// variable replaces a variable that becomes one: Apply sees to that.
func (s substitution) variable(v syntax.Var) syntax.Var {
	if to, ok := s.to[v.Name].(syntax.Var); ok {
		return syntax.Var{Pos: v.Pos, Name: to.Name}
	}
	return v
}

// unused is a name like the given one that no argument has.
func (s substitution) unused(name string) string {
	for s.avoid[name] {
		name += "'"
	}
	return name
}

func (s substitution) term(t syntax.Term) syntax.Term {
	switch t := t.(type) {
	case syntax.Var:
		if to, ok := s.to[t.Name]; ok {
			return to
		}
	case syntax.Const, syntax.Here:
	case syntax.Arith:
		return syntax.Arith{Pos: t.Pos, Op: t.Op, Left: s.term(t.Left), Right: s.term(t.Right)}
	case syntax.Neg:
		return syntax.Neg{Pos: t.Pos, T: s.term(t.T)}
	case syntax.Conv:
		return syntax.Conv{Pos: t.Pos, Op: t.Op, T: s.term(t.T)}
	}
	return t
}

// under gives the substitution below what binds the variables, and their names there.
func (s substitution) under(vars []syntax.Var) ([]syntax.Var, substitution) {
	inner := substitution{to: maps.Clone(s.to), avoid: maps.Clone(s.avoid)}
	out := make([]syntax.Var, len(vars))
	for i, v := range vars {
		delete(inner.to, v.Name)
		out[i] = v
		if s.avoid[v.Name] {
			out[i].Name = inner.unused(v.Name)
			inner.to[v.Name] = out[i]
			inner.avoid[out[i].Name] = true // further inside it must not be captured either
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
	case syntax.Arith, syntax.Neg, syntax.Conv, syntax.Here:
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
