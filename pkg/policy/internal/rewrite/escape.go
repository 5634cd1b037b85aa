package rewrite

import "github.com/aspis-rv/aspis/internal/lang/syntax"

// RestrictEscape returns f with every ESCAPE restricted: its distance is that over vertices
// at which its formula holds.
func RestrictEscape(f syntax.Formula) syntax.Formula {
	return each(f, func(g syntax.Formula, inside func(syntax.Formula) syntax.Formula) syntax.Formula {
		if e, ok := g.(*syntax.Escape); ok {
			return &syntax.Escape{Node: e.Node, D: e.D, Restricted: true, F: inside(e.F)}
		}
		return nil
	})
}

// After returns f with every NEW replaced by its formula: what f says of the world after an
// event.
func After(f syntax.Formula) syntax.Formula {
	return each(f, func(g syntax.Formula, inside func(syntax.Formula) syntax.Formula) syntax.Formula {
		if n, ok := g.(*syntax.New); ok {
			return inside(n.F)
		}
		return nil
	})
}

// each rebuilds f from the outside in: replace gives what a node becomes, nil for the same
// node with its parts rebuilt.
func each(f syntax.Formula, replace func(syntax.Formula, func(syntax.Formula) syntax.Formula) syntax.Formula) syntax.Formula {
	c := change{span: sameSpan, term: sameTerm, vars: sameVars}
	c.formula = func(g syntax.Formula) syntax.Formula {
		if out := replace(g, c.formula); out != nil {
			return out
		}
		return c.node(g)
	}
	return c.formula(f)
}
