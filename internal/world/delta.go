package world

import (
	"cmp"
	"slices"
	"strings"

	"github.com/aspis-rv/aspis/pkg/schema"
)

// Delta is what an Apply or a Revert changed: each field and set is a superset of what
// differs. It is immutable, but for answers that it remembers; it belongs to the goroutine of
// its worlds. It keeps the world before it alive.
type Delta struct {
	before, after *World

	// What was written, maybe more than once, and maybe as it was.
	vertices []V
	walked   []V
	channels [][2]V // opened or closed
	replicas []placed
	objects  []uint32 // of which exists or emptied was written
	links    [][2]uint32
	tuples   []string
	reach    []V // whose row was written

	// Whether a label or a domain became known or ceased to be.
	labelsChanged, domainsChanged bool

	moved *[]uint32 // objects that come to other domains; nil: not computed yet
}

type placed struct {
	object uint32
	vertex V
}

// Before returns the world before: equal to that which was asked to change, and mostly the same.
func (d *Delta) Before() *World { return d.before }

// Empty tells whether nothing changed.
func (d *Delta) Empty() bool {
	return len(d.vertices)+len(d.walked)+len(d.replicas)+len(d.objects)+len(d.links)+len(d.tuples)+len(d.reach) == 0
}

// Touches tells whether tuples of a relation may have come or gone.
func (d *Delta) Touches(rel Rel) bool {
	switch rel.Kind {
	case Holds:
		return len(d.replicas) > 0
	case ReachesDomain:
		return len(d.reach) > 0 || len(d.replicas) > 0 || d.domainsChanged
	case Reaches:
		return len(d.reach)+len(d.replicas)+len(d.channels)+len(d.vertices) > 0 || d.domainsChanged
	case Connects, ConnectsDomain:
		return len(d.reach)+len(d.replicas)+len(d.walked)+len(d.vertices) > 0 || d.domainsChanged
	case HasLabel:
		return len(d.vertices) > 0 || d.labelsChanged || len(d.met()) > 0
	case InDomain:
		return len(d.vertices) > 0 || d.domainsChanged || len(d.met()) > 0
	case Exists:
		return len(d.objects) > 0
	case Gone:
		return len(d.objects)+len(d.replicas) > 0
	case Derived:
		return len(d.links) > 0
	case Opened:
		return len(d.channels) > 0
	case DeclaredVertex:
		return len(d.vertices) > 0
	case AttributeOf, StateOf:
		prefix := string(tuplePrefix(rel.Name))
		return slices.ContainsFunc(d.tuples, func(key string) bool { return strings.HasPrefix(key, prefix) })
	}
	return false
}

// Created tells whether an object came into being.
func (d *Delta) Created(object string) bool {
	id, ok := d.after.lookupObject(object)
	return ok && d.after.object(id).exists.present && !d.before.object(id).exists.present
}

// Vertices lists the vertices that were declared or removed, or whose labels or domain
// changed, ascending. Edges and channels are not counted.
func (d *Delta) Vertices() []V {
	list := distinct(d.vertices)
	return slices.DeleteFunc(list, func(v V) bool {
		a, b := d.before.vertex(v), d.after.vertex(v)
		return a.sort == b.sort && d.before.Domain(v) == d.after.Domain(v) && slices.Equal(a.labels, b.labels)
	})
}

// Walked lists the vertices at an end of an edge or channel that came or went, or whose distance
// or weight changed, or that was opened or closed, ascending.
func (d *Delta) Walked() []V { return distinct(d.walked) }

// distinct is a sorted copy of list without duplicates.
func distinct(list []V) []V {
	out := slices.Clone(list)
	slices.Sort(out)
	return slices.Compact(out)
}

// Touched calls yield once for each tuple of a relation that came or went or whose mark
// changed, in an order that does not depend on how the worlds came about. Of Reaches and
// ReachesDomain the argument is the object alone, of Connects and ConnectsDomain the vertex.
// It stops when yield returns false.
//
// It is exact but for Reaches and Connects, which have all that come to where a channel was
// opened or closed, for Derived, which has every pair that a link written joins, and for
// unknown vertices. What is touched is computed when it is asked for, pairs of which there can
// be as many as the product of two sets one by one. The arguments are valid until the next ones.
func (d *Delta) Touched(rel Rel, yield func(args []schema.Value) bool) {
	switch rel.Kind {
	case Holds:
		pairs(sorted(d.touchedHolds()), yield)
	case HasLabel:
		if list := sorted(d.touchedLabels()); pairs(list, yield) {
			d.assumed(list, d.labelsChanged, d.before.graph.labels, d.after.graph.labels, yield)
		}
	case InDomain:
		if list := sorted(d.touchedDomains()); pairs(list, yield) {
			d.assumed(list, d.domainsChanged, d.before.graph.domains, d.after.graph.domains, yield)
		}
	case Derived:
		d.touchedDerived(yield)
	case Opened:
		pairs(sorted(d.touchedChannels()), yield)
	case Exists:
		singles(d.touchedObjects(func(o *object) bool { return o.exists.present }), yield)
	case Gone:
		singles(d.touchedObjects((*object).gone), yield)
	case ReachesDomain:
		singles(d.objectNames(d.touchedReach()), yield)
	case Reaches:
		singles(d.objectNames(d.touchedFullReach()), yield)
	case ConnectsDomain:
		singles(d.vertexNames(d.touchedConnects()), yield)
	case Connects:
		singles(d.vertexNames(d.touchedFullConnects()), yield)
	case DeclaredVertex:
		singles(d.touchedVertices(), yield)
	case AttributeOf, StateOf:
		d.touchedTuples(rel.Name, yield)
	}
}

// sorted sorts pairs of names in place, and has each once.
func sorted(list [][2]string) [][2]string {
	slices.SortFunc(list, comparePairs)
	return slices.Compact(list)
}

func comparePairs(a, b [2]string) int {
	return cmp.Or(strings.Compare(a[0], b[0]), strings.Compare(a[1], b[1]))
}

// pairs yields pairs of names; false if it was stopped.
func pairs(list [][2]string, yield func([]schema.Value) bool) bool {
	var args [2]schema.Value
	for _, p := range list {
		args[0], args[1] = schema.StringValue(p[0]), schema.StringValue(p[1])
		if !yield(args[:]) {
			return false
		}
	}
	return true
}

// singles yields names, sorted and once each.
func singles(list []string, yield func([]schema.Value) bool) {
	slices.Sort(list)
	var args [1]schema.Value
	for _, name := range slices.Compact(list) {
		args[0] = schema.StringValue(name)
		if !yield(args[:]) {
			return
		}
	}
}

func (d *Delta) objectNames(ids []uint32) []string {
	names := make([]string, len(ids))
	for i, id := range ids {
		names[i] = d.after.object(id).name
	}
	return names
}

func (d *Delta) vertexNames(vs []V) []string {
	names := make([]string, len(vs))
	for i, v := range vs {
		names[i] = d.after.Name(v)
	}
	return names
}
