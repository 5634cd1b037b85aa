package monitor

import (
	"slices"

	"github.com/aspis-rv/aspis/internal/lang/syntax"
	"github.com/aspis-rv/aspis/internal/mfotl"
	"github.com/aspis-rv/aspis/internal/world"
)

// pred lowers a predicate: over the world to an external relation, else to itself.
func (l *lowering) pred(f *syntax.Pred, c context) syntax.Formula {
	out := &syntax.Pred{Node: f.Node, Name: f.Name, Args: l.terms(f.Args, c)}
	rel, ok := l.relation(f, c)
	if !ok {
		return out
	}
	l.read(rel)
	if !sensitive(rel) {
		c.sense = world.Safe
	}
	out.Name = rel.String() + " " + c.side()
	l.number(external{
		External: mfotl.External{Name: out.Name, Arity: len(f.Args)},
		rel:      rel, before: c.before, sense: c.sense,
	})
	return out
}

// relation is the relation of the world that a predicate reads, if it does.
func (l *lowering) relation(f *syntax.Pred, c context) (world.Rel, bool) {
	rel, ok := l.spec.Lookup(f.Name)
	if !ok || (rel.Kind != world.Reaches && rel.Kind != world.Connects) || len(f.Args) != 2 || l.overVertices(f.Args[1], c) {
		return rel, ok
	}
	if rel.Kind == world.Reaches {
		return world.Rel{Kind: world.ReachesDomain}, true
	}
	return world.Rel{Kind: world.ConnectsDomain}, true
}

// overVertices tells whether the second argument of reaches or connects may be a vertex.
func (l *lowering) overVertices(t syntax.Term, c context) bool {
	switch t := t.(type) {
	case syntax.Const:
		return !l.spec.IsDomain(t.Value.Str)
	case syntax.Var:
		return slices.Contains(c.names(), t.Name)
	case syntax.Arith, syntax.Neg, syntax.Conv, syntax.Here:
	}
	return true
}

// sensitive tells whether the sense in which it is asked matters to a relation.
func sensitive(rel world.Rel) bool {
	switch rel.Kind {
	case world.Reaches, world.ReachesDomain, world.Connects, world.ConnectsDomain, world.HasLabel, world.InDomain:
		return true
	case world.Holds, world.Exists, world.Gone, world.Derived, world.Opened, world.DeclaredVertex, world.AttributeOf, world.StateOf:
	}
	return false
}
