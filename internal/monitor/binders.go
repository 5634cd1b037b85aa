package monitor

import (
	"slices"
	"strings"

	"github.com/aspis-rv/aspis/internal/lang/syntax"
)

// binders lists the variables that a formula, as a conjunct, gives a value by something
// else than the second argument of reaches and connects: that one ranges over domains
// where nothing else says what it is.
func binders(f syntax.Formula) []string {
	switch f := f.(type) {
	case *syntax.Pred:
		args := f.Args
		if (f.Name == "reaches" || f.Name == "connects") && len(args) == 2 {
			args = args[:1]
		}
		return variablesOf(args)
	case *syntax.Cmp:
		if f.Op == syntax.Eq {
			return variablesOf([]syntax.Term{f.Left, f.Right})
		}
	case *syntax.Match:
		return variablesOf(f.Groups)
	case *syntax.And:
		return append(binders(f.Left), binders(f.Right)...)
	case *syntax.Or:
		right := binders(f.Right)
		return slices.DeleteFunc(binders(f.Left), func(v string) bool { return !slices.Contains(right, v) })
	case *syntax.Exists:
		return slices.DeleteFunc(binders(f.F), func(v string) bool {
			return slices.ContainsFunc(f.Vars, func(x syntax.Var) bool { return x.Name == v })
		})
	case *syntax.Agg:
		out := []string{f.Result.Name}
		for _, v := range f.Groups {
			out = append(out, v.Name)
		}
		return out
	case *syntax.New:
		return binders(f.F)
	case *syntax.Prev:
		return binders(f.F)
	case *syntax.Once:
		return binders(f.F)
	case *syntax.Since:
		return binders(f.Right)
	default: // a test, or a negation
	}
	return nil
}

func variablesOf(ts []syntax.Term) []string {
	var out []string
	for _, t := range ts {
		if v, ok := t.(syntax.Var); ok {
			out = append(out, v.Name)
		}
	}
	return out
}

// separator keeps the names of a set apart; no name has it.
const separator = "\x00"

// binding is the context of a conjunct beside f.
func (c context) binding(f syntax.Formula) context {
	return c.withBound(append(c.names(), binders(f)...))
}

// without is the context below a quantifier.
func (c context) without(vars []syntax.Var) context {
	return c.withBound(slices.DeleteFunc(c.names(), func(name string) bool {
		return slices.ContainsFunc(vars, func(v syntax.Var) bool { return v.Name == name })
	}))
}

func (c context) names() []string {
	if c.bound == "" {
		return nil
	}
	return strings.Split(c.bound, separator)
}

func (c context) withBound(names []string) context {
	slices.Sort(names)
	c.bound = strings.Join(slices.Compact(names), separator)
	return c
}
