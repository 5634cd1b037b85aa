package check

import (
	"maps"
	"strconv"

	"github.com/aspis-rv/aspis/internal/lang/syntax"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// renameApart gives the bound variables of the core names of their own again. A
// quantified formula or an aggregation that was combined with different guards in different places has become
// several, with the same variables, and one may even stand within another. Shared
// nodes stay shared: they are copies of one formula.
func (w *work) renameApart() {
	a := aparter{
		measure: newMeasure(), w: w, owner: map[string]syntax.Formula{},
		done: map[syntax.Formula]syntax.Formula{}, kinds: maps.Clone(w.kinds),
	}
	for _, name := range a.list(a.free(w.core)) {
		a.owner[name] = w.core
	}
	w.apart = a.formula(w.core, nil)
	w.coreKinds = a.kinds
}

type aparter struct {
	*measure
	w     *work
	owner map[string]syntax.Formula // what has the name: a quantifier, an aggregation, or all of it
	done  map[syntax.Formula]syntax.Formula
	kinds map[string]schema.ValueKind
}

// renaming maps old names to new ones.
type renaming map[string]string

// formula rewrites f under a renaming of its free variables.
func (a *aparter) formula(f syntax.Formula, env renaming) syntax.Formula {
	if a.untouched(f, env) {
		env = nil
		if g, ok := a.done[f]; ok {
			return g
		}
	}
	g := a.rebuilt(f, env)
	if env == nil {
		a.done[f] = g
	}
	return g
}

func (a *aparter) untouched(f syntax.Formula, env renaming) bool {
	free := a.free(f)
	for name := range env {
		if free.has(a.number(name)) {
			return false
		}
	}
	return true
}

func (a *aparter) rebuilt(f syntax.Formula, env renaming) syntax.Formula {
	switch f := f.(type) {
	case *syntax.At:
		loc := termBy(f.Loc, func(v syntax.Var) syntax.Term { return env.variable(v) })
		return &syntax.At{Node: f.Node, Loc: loc, F: a.formula(f.F, env)}
	case *syntax.Pred, *syntax.Cmp, *syntax.Match:
		if env == nil {
			return f
		}
		return substituted(f, func(v syntax.Var) syntax.Term { return env.variable(v) })
	case *syntax.Exists:
		vars, inner := a.bind(f, f.Vars, env)
		return &syntax.Exists{Node: f.Node, Vars: vars, F: a.formula(f.F, inner)}
	case *syntax.Agg:
		return a.agg(f, env)
	case *syntax.Bool, *syntax.Not, *syntax.And, *syntax.Or, *syntax.Implies, *syntax.Equiv, *syntax.Forall, *syntax.Let,
		*syntax.New, *syntax.Prev, *syntax.Once, *syntax.Historically, *syntax.Since, *syntax.Next, *syntax.Eventually,
		*syntax.Always, *syntax.Until,
		*syntax.Label, *syntax.Somewhere, *syntax.Everywhere, *syntax.Escape, *syntax.Reach, *syntax.Surround:
	}
	return rebuilt(f, func(g syntax.Formula) syntax.Formula { return a.formula(g, env) })
}

// agg rewrites an aggregation, which binds what its formula has besides the groups.
func (a *aparter) agg(f *syntax.Agg, env renaming) syntax.Formula {
	var own []syntax.Var
	for _, name := range a.list(a.free(f.F).minus(a.variables(f.Groups))) {
		own = append(own, syntax.Var{Name: name})
	}
	_, inner := a.bind(f, own, env)
	g := &syntax.Agg{Node: f.Node, Result: env.variable(f.Result), Op: f.Op, Over: inner.variable(f.Over), F: a.formula(f.F, inner)}
	for _, v := range f.Groups {
		g.Groups = append(g.Groups, env.variable(v))
	}
	return g
}

// bind gives names of their own to the variables that f binds, and returns them with
// the renaming inside.
func (a *aparter) bind(f syntax.Formula, bound []syntax.Var, env renaming) ([]syntax.Var, renaming) {
	inner := maps.Clone(env)
	vars := make([]syntax.Var, len(bound))
	for i, v := range bound {
		vars[i] = v
		delete(inner, v.Name)
		if a.owner[v.Name] == nil {
			a.owner[v.Name] = f
			continue
		}
		vars[i].Name = a.fresh(v.Name)
		a.owner[vars[i].Name] = f
		a.kinds[vars[i].Name] = a.kinds[v.Name]
		if inner == nil {
			inner = renaming{}
		}
		inner[v.Name] = vars[i].Name
	}
	return vars, inner
}

func (a *aparter) fresh(name string) string {
	for n := 1; ; n++ {
		next := name + "_" + strconv.Itoa(n)
		if _, used := a.kinds[next]; !used {
			return next
		}
	}
}

func (r renaming) variable(v syntax.Var) syntax.Var {
	if name, ok := r[v.Name]; ok {
		v.Name = name
	}
	return v
}
