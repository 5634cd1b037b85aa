package naive

import (
	"github.com/aspis-rv/aspis/internal/lang/syntax"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// constants adds the constants of f to a set.
func constants(f syntax.Formula, set map[schema.Value]bool) {
	syntax.Walk(f, func(f syntax.Formula) bool {
		switch f := f.(type) {
		case *syntax.Pred:
			termConstants(set, f.Args...)
		case *syntax.Cmp:
			termConstants(set, f.Left, f.Right)
		case *syntax.Match:
			termConstants(set, f.Left, f.Right)
			termConstants(set, f.Groups...)
		default:
		}
		return true
	})
}

func termConstants(set map[schema.Value]bool, ts ...syntax.Term) {
	for _, t := range ts {
		switch t := t.(type) {
		case syntax.Var, syntax.Here:
		case syntax.Const:
			set[t.Value] = true
		case syntax.Arith:
			termConstants(set, t.Left, t.Right)
		case syntax.Neg:
			termConstants(set, t.T)
		case syntax.Conv:
			termConstants(set, t.T)
		}
	}
}
