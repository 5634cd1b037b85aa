package world

import (
	"slices"
	"strings"
)

// V is a vertex of a world and of those made from it; names that were met have one.
type V uint32

// Vertex returns the vertex of a name, false if the name was never met; the vertex may be
// unknown all the same.
func (w *World) Vertex(name string) (V, bool) { return w.graph.names.get(name) }

// Vertices is the number of vertices, unknown ones included: they are the V below it.
func (w *World) Vertices() int { return w.graph.names.len() }

// Name returns the name of a vertex.
func (w *World) Name(v V) string { return w.vertex(v).name }

// Sort returns the sort of a vertex.
func (w *World) Sort(v V) Sort { return w.vertex(v).sort }

// Domain returns the release domain of a vertex, "" if it has none.
func (w *World) Domain(v V) string {
	if x := w.vertex(v); x.sort != Unknown {
		return x.domain
	}
	return ""
}

// LabelID returns the id of a label in this world and those made from it, false if no vertex
// has or had it.
func (w *World) LabelID(label string) (uint32, bool) { return w.graph.labels.lookup(label) }

// HasLabel tells whether a vertex has the label with an id.
func (w *World) HasLabel(v V, label uint32) bool {
	x := w.vertex(v)
	return x.sort != Unknown && x.hasMark(label)
}

// Labels lists the labels of a vertex, sorted. Shared; never modified.
func (w *World) Labels(v V) []string { return w.vertex(v).labels }

// Edge is one end of an undirected edge.
type Edge struct {
	To       V
	Distance int64
	Origin   uint64 // see Tuple
}

// Edges lists the edges of a vertex, ascending by the name of the other end. Shared; never
// modified. Edges join vertices of either sort.
func (w *World) Edges(v V) []Edge { return w.graph.edges.get(uint32(v)) }

// Channel is one end of a directed release channel.
type Channel struct {
	To       V // the other end, also of those that come in
	Weight   int64
	Open     bool
	byDomain bool
	Origin   uint64 // of its being open or closed; see Tuple
}

// Out lists the channels from a vertex, In those to it, ascending by the name of the other
// end. Shared; never modified.
func (w *World) Out(v V) []Channel { return w.graph.out.get(uint32(v)) }

// In lists the channels to a vertex; see Out.
func (w *World) In(v V) []Channel { return w.graph.in.get(uint32(v)) }

// vertex returns a vertex, an empty one if it belongs to a later world.
func (w *World) vertex(v V) *vertex {
	if x := w.graph.vertices.get(uint32(v)); x != nil {
		return x
	}
	return &w.base.nowhere
}

// occurs tells whether something of the world is said about a vertex: that it is declared,
// holds an object, or has an edge or a channel.
func (w *World) occurs(v V) bool {
	if w.Sort(v) != Unknown || len(w.Edges(v)) > 0 || len(w.Out(v)) > 0 || len(w.In(v)) > 0 {
		return true
	}
	held := w.graph.holds.get(uint32(v))
	return held.len() > 0
}

// occurring calls yield for the vertices that occur, by name.
func (w *World) occurring(yield func(v V) bool) bool {
	return w.graph.names.scan(func(_ string, v V) bool { return !w.occurs(v) || yield(v) })
}

// Unknowns calls yield for the unknown vertices that hold an object or are the end of an edge
// or channel, by name. It stops when yield returns false, and then returns false.
func (w *World) Unknowns(yield func(v V) bool) bool {
	return w.graph.strangers.scan(func(_ string, v V) bool { return !w.occurs(v) || yield(v) })
}

// held calls yield for the objects at a vertex, by name.
func (w *World) held(v V, yield func(id uint32) bool) bool {
	held := w.graph.holds.get(uint32(v))
	return held.scan(func(_ string, id uint32) bool { return yield(id) })
}

func (x *vertex) hasMark(label uint32) bool {
	return slices.ContainsFunc(x.marks, func(l labelled) bool { return l.id == label })
}

// mark returns the image of a label of x, whether or not x is declared.
func (x *vertex) mark(label uint32) image {
	for _, l := range x.marks {
		if l.id == label {
			return image{present: true, origin: l.origin}
		}
	}
	return image{}
}

// findEdge returns where in edges that to a vertex is, or belongs.
func (w *World) findEdge(edges []Edge, to V) (int, bool) {
	name := w.Name(to)
	return slices.BinarySearchFunc(edges, name, func(e Edge, name string) int { return strings.Compare(w.Name(e.To), name) })
}

// findChannel returns where in channels that to or from a vertex is, or belongs.
func (w *World) findChannel(channels []Channel, to V) (int, bool) {
	name := w.Name(to)
	return slices.BinarySearchFunc(channels, name, func(c Channel, name string) int { return strings.Compare(w.Name(c.To), name) })
}

// findReplica returns where among the replicas of an object that at a vertex is, or belongs.
func (w *World) findReplica(at []replica, v V) (int, bool) {
	name := w.Name(v)
	return slices.BinarySearchFunc(at, name, func(r replica, name string) int { return strings.Compare(w.Name(r.v), name) })
}

// findParent returns where among the parents of an object another is, or belongs.
func (w *World) findParent(parents []link, id uint32) (int, bool) {
	name := w.object(id).name
	return slices.BinarySearchFunc(parents, name, func(l link, name string) int { return strings.Compare(w.object(l.id).name, name) })
}

// findMade returns where among the objects made from one another is, or belongs.
func (w *World) findMade(made []uint32, id uint32) (int, bool) {
	name := w.object(id).name
	return slices.BinarySearchFunc(made, name, func(m uint32, name string) int { return strings.Compare(w.object(m).name, name) })
}

// without returns a copy of list without the element at i.
func without[T any](list []T, i int) []T {
	if len(list) == 1 {
		return nil
	}
	out := make([]T, 0, len(list)-1)
	return append(append(out, list[:i]...), list[i+1:]...)
}

// with returns a copy of list with val at i, in place of what is there if replace.
func with[T any](list []T, i int, val T, replace bool) []T {
	out := make([]T, 0, len(list)+1)
	out = append(append(out, list[:i]...), val)
	if replace {
		i++
	}
	return append(out, list[i:]...)
}
