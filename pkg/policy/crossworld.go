package policy

import (
	"slices"

	"github.com/aspis-rv/aspis/internal/diag"
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
	k.roles(l)
	l.unreadLabels()
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
	// anyVertex and so on: an effect adds one whose name is not in the bundle.
	anyVertex, anyLabel, anyDomain bool
}

func (l *loader) knownNames() *knownNames {
	k := &knownNames{vertices: l.world.vertexNames(), labels: l.world.labelNames(), domains: l.world.domainNames()}
	l.eachEffect(func(e *emitter, _ *toolEntry) {
		op := e.operation.op
		if op != world.AddVertex && op != world.AddLabel && op != world.SetDomain {
			return
		}
		for i, p := range e.args {
			v, fixed := p.Constant()
			switch s, _ := e.operation.slot(i); {
			case s == slotVertex && op == world.AddVertex && fixed:
				k.vertices = append(k.vertices, v.Str)
			case s == slotVertex && op == world.AddVertex:
				k.anyVertex = true
			case (s == slotLabel || s == slotLabels) && fixed:
				k.labels = append(k.labels, v.Str)
			case s == slotLabel || s == slotLabels:
				k.anyLabel = true
			case s == slotDomain && op == world.AddVertex && fixed:
				k.domains = append(k.domains, v.Str)
			case s == slotDomain && !fixed:
				k.anyDomain = true
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
			if slices.Contains(k.domains, v.Str) {
				l.report(e.node, domainForVertex(v.Str))
				return
			}
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

// formulas warns of names in formulas that the world lacks.
func (k *knownNames) formulas(l *loader) {
	targets := slices.Concat(k.domains, l.setDomains(), k.vertices)
	known := func(s slot) (names []string, others bool) {
		if s == slotLabel {
			return k.labels, k.anyLabel
		}
		if s == slotDomain {
			return targets, k.anyDomain || k.anyVertex
		}
		return k.vertices, k.anyVertex
	}
	warned := map[named]bool{}
	for i := range l.b.Clauses {
		for j := range l.b.Clauses[i].Formulas {
			f := &l.b.Clauses[i].Formulas[j]
			eachName(f.Checked.Source, func(n named, at diag.Span) {
				names, others := known(n.slot)
				if others || warned[n] || slices.Contains(names, n.name) {
					return
				}
				warned[n] = true
				l.reportSpan(f.File, at, notInWorld(n.what(), n.name, names))
			})
		}
	}
}

// named is a name in a formula, and what it is the name of.
type named struct {
	slot slot
	name string
}

func (n named) what() string {
	if n.slot == slotLabel {
		return "vertex with the label"
	}
	if n.slot == slotDomain {
		return "domain or vertex"
	}
	return "vertex"
}

// eachName visits the constants of a formula that are vertices, labels and domains by where
// they stand. A target of reaches or connects, a domain or a vertex, counts as a domain.
func eachName(f syntax.Formula, visit func(named, diag.Span)) {
	constant := func(t syntax.Term, s slot) {
		if c, ok := t.(syntax.Const); ok && c.Value.Kind == schema.KindString {
			visit(named{s, c.Value.Str}, c.Pos)
		}
	}
	syntax.Walk(f, func(g syntax.Formula) bool {
		if l, ok := g.(*syntax.Label); ok {
			visit(named{slotLabel, l.Name}, l.Pos)
		}
		if at, ok := g.(*syntax.At); ok {
			constant(at.Loc, slotVertex)
		}
		if p, ok := g.(*syntax.Pred); ok {
			for i, s := range argumentsOf(p.Name) {
				if i < len(p.Args) && s != slotObject {
					constant(p.Args[i], s)
				}
			}
		}
		return true
	})
}

// argumentsOf says what the arguments of a relation of the graph are.
func argumentsOf(relation string) []slot {
	switch relation {
	case "holds":
		return []slot{slotVertex, slotObject}
	case "label":
		return []slot{slotVertex, slotLabel}
	case "domain", "connects":
		return []slot{slotVertex, slotDomain}
	case "reaches":
		return []slot{slotObject, slotDomain}
	case "opened":
		return []slot{slotVertex, slotVertex}
	case "vertex":
		return []slot{slotVertex}
	case "exists", "gone":
		return []slot{slotObject}
	case "derived":
		return []slot{slotObject, slotObject}
	}
	return nil
}
