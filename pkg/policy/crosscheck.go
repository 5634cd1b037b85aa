package policy

import (
	"slices"

	"github.com/aspis-rv/aspis/internal/lang/check"
	"github.com/aspis-rv/aspis/pkg/policy/internal/rewrite"
	"github.com/aspis-rv/aspis/pkg/policy/internal/source"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// crossCheck warns of what is well-formed and makes no sense together. It runs on
// bundles without errors only: after an error most of it would be an echo.
func (l *loader) crossCheck(root *source.Node) {
	if l.diags.HasErrors() {
		return
	}
	if n := root.Get("clauses"); n == nil || len(l.b.Clauses) == 0 {
		l.report(root, missingKey("clauses", "the bundle", "a policy without clauses permits everything"))
		return
	}
	l.unused()
	l.unusedSuspects()
	l.crossCheckWorld(root)
	l.neverFires(root.Get("clauses"))
	l.flaggedFaults(root.Get("clauses"))
	l.selfAuthority()
	l.noAuthority()
	if !slices.ContainsFunc(l.b.Clauses, func(c Clause) bool { return !c.Shadow }) {
		l.report(root.Get("clauses"), caution(CodeObserves, "", "every clause is in shadow mode: the bundle only observes"))
	}
}

// unused warns of declarations that nothing uses.
func (l *loader) unused() {
	for _, name := range l.relationNames() {
		d := l.names[name]
		made := d.kind == declFact || d.kind == declState || d.kind == declAttribute
		switch {
		case made && d.read && !d.emitted:
			l.report(d.key, neverMade(d.kind, name))
		case made && !d.read && d.emitted:
			l.report(d.key, caution(CodeUnused, "delete it, or judge something on it", "no clause reads the %s %s", d.kind.noun(), name))
		case !d.read:
			l.report(d.key, caution(CodeUnused, "delete it", "%s %s is never used", d.kind, name))
		}
	}
}

// neverFires warns of formulas that are judged on facts that nothing emits, and on changes
// that nothing makes.
func (l *loader) neverFires(n *source.Node) {
	for i := range l.b.Clauses {
		c := &l.b.Clauses[i]
		for j := range c.Formulas {
			f := c.Formulas[j].Checked
			on := slices.Concat(f.Anchors, f.Effects)
			if len(on) == 0 || c.Formulas[j].Role != schema.RoleForbid || slices.ContainsFunc(on, l.supplied) {
				continue
			}
			hint := "emit one of them from a tool or a class"
			if len(f.Effects) > 0 {
				hint = "write an effect under world of a tool"
			}
			l.report(l.clauseKey(n, c.ID), caution(CodeNeverFires, hint,
				"the clause %s can never fire: nothing brings what it is judged on (%s)", c.ID, f.JudgedOn()))
			break
		}
	}
}

// supplied reports whether events can bring facts of a relation, or change it if it is one of
// the world.
func (l *loader) supplied(rel string) bool {
	d := l.names[rel]
	switch {
	case rel == check.Graph:
		return slices.ContainsFunc([]string{"vertex", "label", "domain", "opened"}, l.supplied)
	case d == nil:
		return false
	case d.kind == declFact || d.kind == declProvenance:
		return d.emitted
	}
	return d.changed || d.kind == declGlob
}

func (l *loader) clauseKey(n *source.Node, id string) *source.Node {
	for _, f := range n.Fields {
		if f.Key.Value == id {
			return f.Key
		}
	}
	return n
}

// flaggedFaults warns of clauses that permit on missing evidence although whoever makes a
// call can choose its values so that there is none.
func (l *loader) flaggedFaults(n *source.Node) {
	for i := range l.b.Clauses {
		c := &l.b.Clauses[i]
		if !c.FlagIncomplete {
			continue
		}
		for j := range c.Formulas {
			if f := rewrite.MayFault(c.Formulas[j].Checked.Source); f != nil {
				l.report(l.clauseKey(n, c.ID), caution(CodeFlaggedFault, "leave out on_incomplete: flag, or the calculation",
					"the clause %s permits where its formula has no answer, and a call whose values make `%s` impossible to compute has none", c.ID, f))
				break
			}
		}
	}
}

// discharging lists the relations whose facts can make a forbidden formula false, or a guard,
// which disarms its clause. What held before an event does not count: it was judged when it
// came about.
func (b *Bundle) discharging() map[string]bool {
	out := map[string]bool{}
	for i := range b.Clauses {
		for _, f := range b.Clauses[i].Formulas {
			for rel := range rewrite.Negated(rewrite.After(f.Checked.Source)) {
				out[rel] = true
			}
		}
	}
	return out
}

// selfAuthority warns of facts that discharge an obligation and come with the call
// of a tool: whoever is watched can bring them about by itself.
func (l *loader) selfAuthority() {
	discharging := l.b.discharging()
	l.eachEmitter(func(e *emitter) {
		if !discharging[e.rel] || e.authority || e.atResult {
			return
		}
		l.report(e.node, caution(CodeSelfAuthority,
			"write authority: true, so that only the authorities' own calls count, or at: result, so that the tool's answer counts and not the call",
			"%s lets the agent discharge its own obligation: a call alone makes %s true", e.origin, e.rel))
	})
}

// noAuthority warns of facts and effects of authorities that can never count.
func (l *loader) noAuthority() {
	if len(l.b.Authorities) > 0 || l.b.SelfAuthority != "" {
		return
	}
	warned := false
	warn := func(e *emitter) {
		if e.authority && !warned {
			warned = true
			l.report(e.node, caution(CodeNoAuthority, "name the authorities, for example `authorities: [user]`",
				"%s counts only when an authority causes it, and the bundle names no authorities", e.what()))
		}
	}
	l.eachEmitter(warn)
	l.eachEffect(func(e *emitter, _ *toolEntry) { warn(e) })
}

// eachEmitter visits every emitter, those of same_as entries once.
func (l *loader) eachEmitter(visit func(*emitter)) {
	for i := range l.classes {
		for j := range l.classes[i].emitters {
			visit(&l.classes[i].emitters[j])
		}
	}
	for _, name := range l.b.toolNames() {
		e := l.b.typing.entries[name]
		if e.name != name {
			continue
		}
		for j := range e.emitters {
			visit(&e.emitters[j])
		}
	}
}
