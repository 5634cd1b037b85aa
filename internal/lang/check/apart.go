package check

import (
	"maps"
	"strconv"

	"github.com/aspis-rv/aspis/internal/lang/syntax"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// renameApart gives quantifiers of the core names of their own again. A quantified
// formula that was combined with different guards in different places has become
// several, with the same variables, and one may even stand within another. Shared
// nodes stay shared: they are copies of one formula.
func (w *work) renameApart() {
	a := aparter{
		measure: newMeasure(), w: w, owner: map[string]*syntax.Exists{},
		done: map[syntax.Formula]syntax.Formula{}, kinds: maps.Clone(w.kinds),
	}
	w.apart = a.formula(w.core, nil)
	w.coreKinds = a.kinds
}

type aparter struct {
	*measure
	w     *work
	owner map[string]*syntax.Exists // which quantifier has the name
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
	sub := func(g syntax.Formula) syntax.Formula { return a.formula(g, env) }
	switch f := f.(type) {
	case *syntax.Bool:
		return f
	case *syntax.Pred:
		if env == nil {
			return f
		}
		args := make([]syntax.Term, len(f.Args))
		for i, t := range f.Args {
			args[i] = env.term(t)
		}
		return &syntax.Pred{Node: f.Node, Name: f.Name, Args: args}
	case *syntax.Cmp:
		if env == nil {
			return f
		}
		return &syntax.Cmp{Node: f.Node, Op: f.Op, Left: env.term(f.Left), Right: env.term(f.Right)}
	case *syntax.Not:
		return &syntax.Not{Node: f.Node, F: sub(f.F)}
	case *syntax.And:
		return &syntax.And{Node: f.Node, Left: sub(f.Left), Right: sub(f.Right)}
	case *syntax.Or:
		return &syntax.Or{Node: f.Node, Left: sub(f.Left), Right: sub(f.Right)}
	case *syntax.Exists:
		return a.exists(f, env)
	case *syntax.Prev:
		return &syntax.Prev{Node: f.Node, I: f.I, F: sub(f.F)}
	case *syntax.Once:
		return &syntax.Once{Node: f.Node, I: f.I, F: sub(f.F)}
	case *syntax.Historically:
		return &syntax.Historically{Node: f.Node, I: f.I, F: sub(f.F)}
	case *syntax.Since:
		return &syntax.Since{Node: f.Node, I: f.I, Left: sub(f.Left), Right: sub(f.Right)}
	case *syntax.Implies, *syntax.Equiv, *syntax.Forall:
	}
	panic("not of the core: " + f.String())
}

func (a *aparter) exists(f *syntax.Exists, env renaming) syntax.Formula {
	inner := maps.Clone(env)
	vars := make([]syntax.Var, len(f.Vars))
	for i, v := range f.Vars {
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
	return &syntax.Exists{Node: f.Node, Vars: vars, F: a.formula(f.F, inner)}
}

func (a *aparter) fresh(name string) string {
	for n := 1; ; n++ {
		next := name + "_" + strconv.Itoa(n)
		if _, used := a.kinds[next]; !used {
			return next
		}
	}
}

func (r renaming) term(t syntax.Term) syntax.Term {
	if v, ok := t.(syntax.Var); ok {
		if name, ok := r[v.Name]; ok {
			v.Name = name
			return v
		}
	}
	return t
}
