package compose

import (
	"github.com/aspis-rv/aspis/internal/lang/check"
	"github.com/aspis-rv/aspis/internal/lang/syntax"
)

// lifting returns the relations of which a further fact may lift a violation of the
// formula: those that occur below an odd number of negations, below an aggregation,
// whose result a fact changes, or below NEW, which needs them not to hold before. A fact
// of any other relation can only add violations, so there is no point in waiting for one. The cost
// is linear in the formula's nodes, shared ones counted once.
func lifting(c *check.Checked) map[string]bool {
	l := lifter{found: map[string]bool{}, seen: map[occurrence]bool{}}
	if c != nil && c.Core != nil {
		l.visit(c.Core, false)
	}
	return l.found
}

type lifter struct {
	found map[string]bool
	seen  map[occurrence]bool
}

// occurrence is a node below an even or an odd number of negations.
type occurrence struct {
	f   syntax.Formula
	odd bool
}

func (l *lifter) visit(f syntax.Formula, odd bool) {
	at := occurrence{f, odd}
	if l.seen[at] {
		return
	}
	l.seen[at] = true
	switch f := f.(type) {
	case *syntax.Pred:
		if odd {
			l.found[f.Name] = true
		}
	case *syntax.Not:
		l.visit(f.F, !odd)
	case *syntax.Implies:
		l.visit(f.Left, !odd)
		l.visit(f.Right, odd)
	case *syntax.Equiv, *syntax.Agg, *syntax.New:
		for _, side := range syntax.Children(f) {
			l.visit(side, odd)
			l.visit(side, !odd)
		}
	case *syntax.Bool, *syntax.Cmp, *syntax.Match, *syntax.And, *syntax.Or, *syntax.Exists, *syntax.Forall, *syntax.Let,
		*syntax.Prev, *syntax.Once, *syntax.Historically, *syntax.Since, *syntax.Next, *syntax.Eventually, *syntax.Always,
		*syntax.Until,
		*syntax.At, *syntax.Label, *syntax.Somewhere, *syntax.Everywhere, *syntax.Escape, *syntax.Reach, *syntax.Surround:
		for _, part := range syntax.Children(f) {
			l.visit(part, odd)
		}
	}
}
