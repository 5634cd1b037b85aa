package naive

import (
	"github.com/aspis-rv/aspis/internal/lang/check"
	"github.com/aspis-rv/aspis/internal/lang/syntax"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// Final is TypedRows for a formula with future operators, over a trace that is over:
// nothing follows its last time point. The witness lists nothing for a future operator.
func Final(f syntax.Formula, vars []check.Column, kinds map[string]schema.ValueKind, trace []TimePoint, i int) []schema.Row {
	return rows(f, vars, kinds, trace, i)
}

// ahead is the definition of the future operators.
func (e *eval) ahead(f syntax.Formula, i int, w way) bool {
	n := len(e.trace)
	switch f := f.(type) {
	case *syntax.Next:
		return i+1 < n && e.within(f.I, i+1, i) && e.holds(f.F, i+1, w)
	case *syntax.Eventually:
		for j := i; j < n; j++ {
			if e.within(f.I, j, i) && e.holds(f.F, j, w) {
				return true
			}
		}
	case *syntax.Always:
		for j := i; j < n; j++ {
			if e.within(f.I, j, i) && !e.holds(f.F, j, w) {
				return false
			}
		}
		return true
	case *syntax.Until:
		for j := i; j < n; j++ {
			if e.within(f.I, j, i) && e.holds(f.Right, j, w) {
				return true
			}
			if !e.holds(f.Left, j, w) {
				return false
			}
		}
	case *syntax.Bool, *syntax.Pred, *syntax.Cmp, *syntax.Match, *syntax.Not, *syntax.And, *syntax.Or, *syntax.Implies,
		*syntax.Equiv, *syntax.Exists, *syntax.Forall, *syntax.Prev, *syntax.Once, *syntax.Historically, *syntax.Since,
		*syntax.Agg, *syntax.Let, *syntax.New,
		*syntax.At, *syntax.Label, *syntax.Somewhere, *syntax.Everywhere, *syntax.Escape, *syntax.Reach, *syntax.Surround:
	}
	return false
}
