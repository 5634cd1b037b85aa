package monitor

import (
	"github.com/aspis-rv/aspis/internal/lang/syntax"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// instance is a location formula with values for its free variables.
func instance(f syntax.Formula, of map[string]schema.Value) syntax.Formula {
	if len(of) == 0 {
		return f
	}
	in := func(g syntax.Formula) syntax.Formula { return instance(g, of) }
	term := func(t syntax.Term) syntax.Term {
		if v, ok := t.(syntax.Var); ok {
			if c, ok := of[v.Name]; ok {
				return syntax.Const{Value: c}
			}
		}
		return t
	}
	terms := func(ts []syntax.Term) []syntax.Term {
		var out []syntax.Term
		for _, t := range ts {
			out = append(out, term(t))
		}
		return out
	}
	switch f := f.(type) {
	case *syntax.Pred:
		return &syntax.Pred{Name: f.Name, Args: terms(f.Args)}
	case *syntax.Cmp:
		return &syntax.Cmp{Op: f.Op, Left: term(f.Left), Right: term(f.Right)}
	case *syntax.Match:
		return &syntax.Match{Op: f.Op, Left: term(f.Left), Right: term(f.Right), Pattern: f.Pattern, Groups: terms(f.Groups)}
	default:
		return inside(f, in)
	}
}

// inside is f with what in makes of its direct sub-formulas.
func inside(f syntax.Formula, in func(syntax.Formula) syntax.Formula) syntax.Formula {
	switch f := f.(type) {
	case *syntax.Not:
		return &syntax.Not{F: in(f.F)}
	case *syntax.And:
		return &syntax.And{Left: in(f.Left), Right: in(f.Right)}
	case *syntax.Or:
		return &syntax.Or{Left: in(f.Left), Right: in(f.Right)}
	case *syntax.Exists:
		return &syntax.Exists{Vars: f.Vars, F: in(f.F)}
	case *syntax.Somewhere:
		return &syntax.Somewhere{D: f.D, F: in(f.F)}
	case *syntax.Everywhere:
		return &syntax.Everywhere{D: f.D, F: in(f.F)}
	case *syntax.Escape:
		return &syntax.Escape{D: f.D, Restricted: f.Restricted, F: in(f.F)}
	case *syntax.Reach:
		return &syntax.Reach{D: f.D, Left: in(f.Left), Right: in(f.Right)}
	case *syntax.Surround:
		return &syntax.Surround{D: f.D, Left: in(f.Left), Right: in(f.Right)}
	default: // without variables
		return f
	}
}
