package policy

import (
	"slices"

	"github.com/aspis-rv/aspis/internal/lang/syntax"
	"github.com/aspis-rv/aspis/internal/world"
	"github.com/aspis-rv/aspis/pkg/policy/internal/source"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// crossCheckWorld warns of what does not fit together in a bundle with a world.
func (l *loader) crossCheckWorld(root *source.Node) {
	l.unusedRules()
	if !l.world.declared() {
		return
	}
	if l.b.Trace == TraceSession {
		at := root.Get("trace")
		if at == nil {
			at = l.world.key
		}
		l.report(at, caution(CodeWorldPerSession, "write trace: tenant, or trace: agent",
			"each session has a world of its own, and records and channels are usually shared"))
	}
	k := l.knownNames()
	l.eachEffect(func(e *emitter, entry *toolEntry) { k.effect(l, e, entry) })
	k.formulas(l)
}

// unusedRules warns of typing rules that no tool applies.
func (l *loader) unusedRules() {
	for _, name := range l.ruleNames() {
		if r := l.rules[name]; !r.used {
			l.report(r.key, caution(CodeUnused, "apply it under types of a tool, or delete it", "the typing rule %s is never used", name))
		}
	}
}

// eachEffect visits every effect, those of same_as entries once, with the entry that it is
// of, nil for one of a class.
func (l *loader) eachEffect(visit func(*emitter, *toolEntry)) {
	for i := range l.classes {
		for j := range l.classes[i].effects {
			visit(&l.classes[i].effects[j], nil)
		}
	}
	for _, name := range l.b.toolNames() {
		e := l.b.typing.entries[name]
		if e.name != name {
			continue
		}
		for j := range e.effects {
			visit(&e.effects[j], e)
		}
	}
}

// knownNames are the names of a world: what it declares, and what effects may add to it.
type knownNames struct {
	vertices, labels, domains []string
	// anyVertex, anyLabel: an effect adds one whose name is not in the bundle.
	anyVertex, anyLabel bool
}

func (l *loader) knownNames() *knownNames {
	k := &knownNames{vertices: l.world.vertexNames(), labels: l.world.labelNames(), domains: l.world.domainNames()}
	l.eachEffect(func(e *emitter, _ *toolEntry) {
		if e.operation.op != world.AddVertex && e.operation.op != world.AddLabel {
			return
		}
		for i, p := range e.args {
			v, fixed := p.Constant()
			switch s, _ := e.operation.slot(i); {
			case s == slotVertex && e.operation.op == world.AddVertex && fixed:
				k.vertices = append(k.vertices, v.Str)
			case s == slotVertex && e.operation.op == world.AddVertex:
				k.anyVertex = true
			case (s == slotLabel || s == slotLabels) && fixed:
				k.labels = append(k.labels, v.Str)
			case s == slotLabel || s == slotLabels:
				k.anyLabel = true
			case s == slotDomain && fixed:
				k.domains = append(k.domains, v.Str)
			}
		}
	})
	k.vertices, k.labels, k.domains = unique(k.vertices), unique(k.labels), unique(k.domains)
	return k
}

// effect warns of names in an effect that the world lacks.
func (k *knownNames) effect(l *loader, e *emitter, entry *toolEntry) {
	var ends []string
	for i, p := range e.args {
		s, _ := e.operation.slot(i + e.skipped())
		v, fixed := p.Constant()
		if !fixed {
			v, fixed = entry.fallback(p.Variable())
		}
		if !fixed || v.Kind != schema.KindString || v.Str == "" {
			continue
		}
		switch s {
		case slotVertex:
			ends = append(ends, v.Str)
			if !k.anyVertex && !slices.Contains(k.vertices, v.Str) {
				l.report(e.node, notInWorld("vertex", v.Str, k.vertices))
				return
			}
		case slotLabel, slotLabels:
			if !k.anyLabel && !slices.Contains(k.labels, v.Str) {
				l.report(e.node, notInWorld("label", v.Str, k.labels))
			}
		case slotDomain:
			if !slices.Contains(k.domains, v.Str) {
				l.report(e.node, notInWorld("domain", v.Str, k.domains))
			}
		case slotObject, slotSort, slotDistance, slotWeight, slotEntity, slotAttribute, slotValues:
		}
	}
	if len(ends) == 2 {
		k.link(l, e, [2]string(ends))
	}
}

// fallback returns the default of an argument that a program is.
func (e *toolEntry) fallback(name string, isVariable bool) (schema.Value, bool) {
	if e == nil || !isVariable {
		return schema.Value{}, false
	}
	for _, p := range e.params {
		if s, ok := p.fallbackText(); ok && p.name == name {
			return schema.StringValue(s), true
		}
	}
	return schema.Value{}, false
}

// link warns of effects on edges and channels that the world does not declare.
func (k *knownNames) link(l *loader, e *emitter, ends [2]string) {
	declared, what := true, "channel"
	if op := e.operation.op; op == world.OpenChannel || op == world.CloseChannel {
		_, declared = l.world.channels[ends]
	} else if op == world.RemoveEdge {
		what = "edge"
		slices.Sort(ends[:])
		_, declared = l.world.edges[ends]
	}
	if !declared {
		l.report(e.node, caution(CodeNotInWorld, "declare it under "+what+"s", "the world has no %s from %q to %q", what, ends[0], ends[1]))
	}
}

// formulas warns of labels that no vertex has or gets.
func (k *knownNames) formulas(l *loader) {
	if k.anyLabel {
		return
	}
	warned := map[string]bool{}
	for i := range l.b.Clauses {
		for j := range l.b.Clauses[i].Formulas {
			f := &l.b.Clauses[i].Formulas[j]
			syntax.Walk(f.Checked.Source, func(g syntax.Formula) bool {
				name, ok := labelOf(g)
				if ok && !slices.Contains(k.labels, name) && !warned[name] {
					warned[name] = true
					l.reportSpan(f.File, g.Span(), notInWorld("vertex with the label", name, k.labels))
				}
				return true
			})
		}
	}
}

// labelOf returns the label that a formula names.
func labelOf(f syntax.Formula) (string, bool) {
	if l, ok := f.(*syntax.Label); ok {
		return l.Name, true
	}
	p, ok := f.(*syntax.Pred)
	if !ok || p.Name != "label" || len(p.Args) != 2 {
		return "", false
	}
	c, ok := p.Args[1].(syntax.Const)
	return c.Value.Str, ok
}
