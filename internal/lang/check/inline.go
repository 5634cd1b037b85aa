package check

import (
	"maps"
	"slices"
	"strconv"

	"github.com/aspis-rv/aspis/internal/lang/syntax"
)

// inlineLets puts definitions in the place of the relations that LET declares. The
// variables of a definition get names of their own each time.
func (w *work) inlineLets() {
	if len(w.lets) == 0 {
		w.inlined = withoutLets(w.scoped)
		return
	}
	i := inliner{w: w, sizes: map[syntax.Formula]int{}, next: map[string]int{}}
	if i.size(w.scoped) > MaxCore {
		w.add(tooComplex(w.source))
		return
	}
	w.inlined = i.formula(w.scoped, nil)
}

// withoutLets leaves out the LETs of a formula that uses none of them.
func withoutLets(f syntax.Formula) syntax.Formula {
	if let, ok := f.(*syntax.Let); ok {
		return withoutLets(let.Body)
	}
	return rebuilt(f, withoutLets)
}

type inliner struct {
	w     *work
	sizes map[syntax.Formula]int
	next  map[string]int // where to look for a free name of a stem
}

// substitution maps variables to terms. It is nil outside definitions, where all
// names are kept.
type substitution map[string]syntax.Term

func (s substitution) variable(v syntax.Var) syntax.Term {
	if t, ok := s[v.Name]; ok {
		return t
	}
	return v
}

// size is the number of nodes of f with definitions in place, at most a little above
// MaxCore. It counts what formula makes before it is made.
func (i *inliner) size(f syntax.Formula) int {
	if n, ok := i.sizes[f]; ok {
		return n
	}
	n := 1
	switch f := f.(type) {
	case *syntax.Pred:
		if let := i.w.lets[f]; let != nil {
			n += i.size(let.Def) + 2*len(f.Args)
		}
	case *syntax.Let:
		n = i.size(f.Body)
	case *syntax.Bool, *syntax.Cmp, *syntax.Match, *syntax.Not, *syntax.And, *syntax.Or, *syntax.Implies, *syntax.Equiv,
		*syntax.Exists, *syntax.Forall, *syntax.Agg, *syntax.New, *syntax.Prev, *syntax.Once, *syntax.Historically,
		*syntax.Since, *syntax.Next, *syntax.Eventually, *syntax.Always, *syntax.Until,
		*syntax.At, *syntax.Label, *syntax.Somewhere, *syntax.Everywhere, *syntax.Escape, *syntax.Reach, *syntax.Surround:
		for _, c := range syntax.Children(f) {
			n += i.size(c)
		}
	}
	n = min(n, MaxCore+1)
	i.sizes[f] = n
	return n
}

// formula rewrites f under a substitution of its free variables.
func (i *inliner) formula(f syntax.Formula, env substitution) syntax.Formula {
	sub := func(g syntax.Formula) syntax.Formula { return i.formula(g, env) }
	switch f := f.(type) {
	case *syntax.Pred:
		if let := i.w.lets[f]; let != nil {
			return i.call(f, let, termsBy(f.Args, env.variable))
		}
		return substituted(f, env.variable)
	case *syntax.Cmp, *syntax.Match:
		return substituted(f, env.variable)
	case *syntax.At:
		return &syntax.At{Node: f.Node, Loc: termBy(f.Loc, env.variable), F: sub(f.F)}
	case *syntax.Exists:
		vars, inner := i.bind(f.Vars, env)
		return &syntax.Exists{Node: f.Node, Vars: vars, F: i.formula(f.F, inner)}
	case *syntax.Forall:
		vars, inner := i.bind(f.Vars, env)
		return &syntax.Forall{Node: f.Node, Vars: vars, F: i.formula(f.F, inner)}
	case *syntax.Agg:
		return i.agg(f, env)
	case *syntax.Let:
		return sub(f.Body)
	case *syntax.Bool, *syntax.Not, *syntax.And, *syntax.Or, *syntax.Implies, *syntax.Equiv, *syntax.Prev, *syntax.Once,
		*syntax.Historically, *syntax.Since, *syntax.Next, *syntax.Eventually, *syntax.Always, *syntax.Until, *syntax.New,
		*syntax.Label, *syntax.Somewhere, *syntax.Everywhere, *syntax.Escape, *syntax.Reach, *syntax.Surround:
	}
	return rebuilt(f, sub)
}

// bind renames the variables that a node binds inside a definition.
func (i *inliner) bind(vars []syntax.Var, env substitution) ([]syntax.Var, substitution) {
	if env == nil {
		return vars, nil
	}
	inner := maps.Clone(env)
	renamed := make([]syntax.Var, len(vars))
	for k, v := range vars {
		renamed[k] = i.fresh(v)
		inner[v.Name] = renamed[k]
	}
	return renamed, inner
}

// agg rewrites an aggregation. Its result and groups are replaced by variables only:
// call sees to that.
func (i *inliner) agg(f *syntax.Agg, env substitution) syntax.Formula {
	if env == nil {
		return rebuilt(f, func(g syntax.Formula) syntax.Formula { return i.formula(g, nil) })
	}
	var own []syntax.Var
	for _, name := range syntax.FreeVars(f.F) {
		if !slices.ContainsFunc(f.Groups, named(name)) {
			own = append(own, syntax.Var{Name: name})
		}
	}
	_, inner := i.bind(own, env)
	g := &syntax.Agg{Node: f.Node, Op: f.Op, F: i.formula(f.F, inner)}
	g.Result = variableBy(f.Result, env)
	g.Over = variableBy(f.Over, inner)
	for _, v := range f.Groups {
		g.Groups = append(g.Groups, variableBy(v, env))
	}
	return g
}

// variableBy is what the substitution makes of a variable that becomes one.
func variableBy(v syntax.Var, by substitution) syntax.Var {
	if w, ok := by.variable(v).(syntax.Var); ok {
		return syntax.Var{Pos: v.Pos, Name: w.Name}
	}
	panic(v.Name + " is not replaced by a variable")
}

// call is the definition of a relation with the arguments in the place of its
// parameters.
func (i *inliner) call(p *syntax.Pred, let *syntax.Let, args []syntax.Term) syntax.Formula {
	env := substitution{}
	var closed []syntax.Var
	var equal []syntax.Formula
	for k, v := range let.Params {
		if onlyVariable(args, k) || !aggregated(let.Def, v.Name) {
			env[v.Name] = args[k]
			continue
		}
		x := i.fresh(v)
		env[v.Name] = x
		closed = append(closed, x)
		equal = append(equal, &syntax.Cmp{Node: p.Node, Op: syntax.Eq, Left: x, Right: args[k]})
	}
	f := i.formula(let.Def, env)
	for _, c := range equal {
		f = &syntax.And{Node: p.Node, Left: f, Right: c}
	}
	return around(p.Node, closed, f)
}

// onlyVariable tells whether an argument is a variable that is no other argument too.
func onlyVariable(args []syntax.Term, k int) bool {
	v, ok := args[k].(syntax.Var)
	if !ok {
		return false
	}
	for j, t := range args {
		if w, ok := t.(syntax.Var); ok && j != k && w.Name == v.Name {
			return false
		}
	}
	return true
}

// aggregated tells whether a variable is the result or a group of an aggregation, and
// so can only be replaced by a variable that is not another one of these.
func aggregated(f syntax.Formula, name string) bool {
	found := false
	syntax.Walk(f, func(g syntax.Formula) bool {
		if agg, ok := g.(*syntax.Agg); ok {
			found = found || agg.Result.Name == name || slices.ContainsFunc(agg.Groups, named(name))
		}
		return !found
	})
	return found
}

// fresh is a new variable for another copy of v.
func (i *inliner) fresh(v syntax.Var) syntax.Var {
	for n := max(i.next[v.Name], 1); ; n++ {
		name := v.Name + "_" + strconv.Itoa(n)
		if _, used := i.w.written[name]; !used {
			i.next[v.Name] = n + 1
			i.w.written[name] = i.w.written[v.Name]
			i.w.kinds[name] = i.w.kinds[v.Name]
			return syntax.Var{Pos: v.Pos, Name: name}
		}
	}
}
