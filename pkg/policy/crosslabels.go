package policy

import (
	"slices"

	"github.com/aspis-rv/aspis/internal/diag"
	"github.com/aspis-rv/aspis/internal/lang/syntax"
	"github.com/aspis-rv/aspis/internal/world"
)

// unreadLabels warns of labels that effects give and that nothing asks for: no vertex has them
// from the beginning, no formula and no purge names them.
func (l *loader) unreadLabels() {
	read, all := l.world.labelNames(), false
	for i := range l.b.Clauses {
		for j := range l.b.Clauses[i].Formulas {
			f := l.b.Clauses[i].Formulas[j].Checked.Source
			eachName(f, func(n named, _ diag.Span) {
				if n.slot == slotLabel {
					read = append(read, n.name)
				}
			})
			all = all || asksForLabels(f)
		}
	}
	var given []*emitter
	l.eachEffect(func(e *emitter, _ *toolEntry) {
		for i, p := range e.args {
			v, fixed := p.Constant()
			switch s, _ := e.operation.slot(i + e.skipped()); {
			case s != slotLabel && s != slotLabels:
			case e.operation.op == world.AddLabel && fixed:
				given = append(given, e)
			case e.operation.op == world.Purge && fixed:
				read = append(read, v.Str)
			case e.operation.op == world.Purge:
				all = true
			}
		}
	})
	for _, e := range given {
		label, _ := e.args[len(e.args)-1].Constant()
		if !all && !slices.Contains(read, label.Str) {
			l.report(e.node, unreadLabel(label.Str, unique(read)))
		}
	}
}

// asksForLabels tells whether a formula asks which labels a vertex has.
func asksForLabels(f syntax.Formula) bool {
	asks := false
	syntax.Walk(f, func(g syntax.Formula) bool {
		if p, ok := g.(*syntax.Pred); ok && p.Name == "label" && len(p.Args) == 2 {
			_, fixed := p.Args[1].(syntax.Const)
			asks = asks || !fixed
		}
		return true
	})
	return asks
}
