// Package world is the world model: a weighted graph with two sorts of vertices, the
// objects that the vertices hold, attributes of entities, and the state relations of a
// policy. See docs/world.md.
//
// A World is an immutable value. Apply makes a new one that shares what did not change: the
// shadow on which a proposed call is judged. Adopting it is keeping it, refusing it is
// dropping it; nothing is undone by hand. It is a pure function of its spec and the edits
// applied, so that equal histories have equal encodings and equal hashes.
package world

import (
	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// World is the state of a world. It is immutable, but for memory that it shares with the
// worlds made from it: so it and all of them belong to one goroutine.
type World struct{}

// New returns the world of a spec before the first event.
func New(spec *Spec) (*World, error) { panic("unwritten") }

// Spec returns what the world was made from.
func (w *World) Spec() *Spec { panic("unwritten") }

// Apply returns the world after edits, made in order, and what changed. Without a change
// the world is w itself and the delta is empty. w stays as it was.
func (w *World) Apply(edits []Edit, from Origin) (*World, *Delta) { panic("unwritten") }

// Revert takes back the changes of a call, but for what a later event has written since.
func (w *World) Revert(call string, from Origin) (*World, *Delta) { panic("unwritten") }

// Keep ends the time in which the changes of a call can be taken back, and the doubt about
// them.
func (w *World) Keep(call string) *World { panic("unwritten") }

// Doubt says that the outcome of a call is unknown: its changes stay, and what it changed is
// in doubt until Revert or Keep.
func (w *World) Doubt(call string) *World { panic("unwritten") }

// HasDoubts tells whether anything is in doubt; Doubtful whether the entity, object or vertex
// of a name is.
func (w *World) HasDoubts() bool { panic("unwritten") }

// Doubtful tells whether the entity, object or vertex of a name is in doubt.
func (w *World) Doubtful(name string) bool { panic("unwritten") }

// Overflowed tells whether an edit went beyond the limits of a world and was not made: every
// answer about it is incomplete from then on.
func (w *World) Overflowed() bool { panic("unwritten") }

// Hash is the SHA-256 of the encoding, computed without making it.
func (w *World) Hash() [32]byte { panic("unwritten") }

// AppendState appends the world in a deterministic encoding; equal worlds have equal bytes.
func (w *World) AppendState(dst []byte) []byte { panic("unwritten") }

// Restore returns the world of the spec that AppendState encoded. It fails on bytes that
// AppendState did not write.
func Restore(spec *Spec, state []byte) (*World, error) { panic("unwritten") }

// Sense says what a question about an unknown vertex answers.
type Sense uint8

// The senses. Under Unsafe an unknown vertex has every label and is in every domain that the
// world knows of, and in the domain UnknownDomain; under Safe it has and is in none.
const (
	Safe Sense = iota
	Unsafe
)

// UnknownDomain is the release domain of an unknown vertex.
const UnknownDomain = "?"

// Tuple is a tuple of a relation.
type Tuple struct {
	Args []schema.Value // valid until the next one
	Mark verdict.Value  // F, or Fp where it is presumptive
	// Origin is the offset of the event that made it so plus one, 0 for what the policy
	// declares and for what is computed (Reaches, Connects, Derived).
	Origin uint64
}

// Scan calls yield for the tuples of rel that agree with known: an argument whose bit in
// bound is set equals known there. It stops when yield returns false, and then returns
// false. Every tuple comes once, in an order that does not depend on how the world came
// about. The cost is that of a look-up if a leading or trailing part of the arguments is
// bound, and grows with the tuples that agree.
func (w *World) Scan(rel Rel, known []schema.Value, bound uint64, sense Sense, yield func(Tuple) bool) bool {
	panic("unwritten")
}

// V is a vertex of a world and of those made from it; names that were met have one.
type V uint32

// Vertex returns the vertex of a name, false if the name was never met; the vertex may be
// unknown all the same.
func (w *World) Vertex(name string) (V, bool) { panic("unwritten") }

// Vertices is the number of vertices, unknown ones included: they are the V below it.
func (w *World) Vertices() int { panic("unwritten") }

// Name returns the name of a vertex.
func (w *World) Name(v V) string { panic("unwritten") }

// Sort returns the sort of a vertex.
func (w *World) Sort(v V) Sort { panic("unwritten") }

// Domain returns the release domain of a vertex, "" if it has none.
func (w *World) Domain(v V) string { panic("unwritten") }

// LabelID returns the id of a label in this world and those made from it, false if no vertex
// has or had it.
func (w *World) LabelID(label string) (uint32, bool) { panic("unwritten") }

// HasLabel tells whether a vertex has the label with an id.
func (w *World) HasLabel(v V, label uint32) bool { panic("unwritten") }

// Labels lists the labels of a vertex, sorted. Shared; never modified.
func (w *World) Labels(v V) []string { panic("unwritten") }

// Edge is one end of an undirected edge.
type Edge struct {
	To       V
	Distance int64
	Origin   uint64 // see Tuple
}

// Edges lists the edges of a vertex, ascending by the name of the other end. Shared; never
// modified. Edges join vertices of either sort.
func (w *World) Edges(v V) []Edge { panic("unwritten") }

// Channel is one end of a directed release channel.
type Channel struct {
	To     V // the other end, also of those that come in
	Weight int64
	Open   bool
	Origin uint64 // of its being open or closed; see Tuple
}

// Out lists the channels from a vertex, In those to it, ascending by the name of the other
// end. Shared; never modified.
func (w *World) Out(v V) []Channel { panic("unwritten") }

// In lists the channels to a vertex; see Out.
func (w *World) In(v V) []Channel { panic("unwritten") }

// Step is one vertex of a path, with the distance from its start.
type Step struct {
	Vertex   string
	Distance int64
	Origin   uint64 // of the edge or channel that led here, of the replica at the first vertex
}

// Path returns a least walk through open channels by which what is at the vertex from comes to
// target, a domain or a vertex; among equals the first by the names on it. False if there is
// none.
func (w *World) Path(from V, target string) ([]Step, bool) { panic("unwritten") }

// ObjectPath is Path from the replica of an object that is nearest.
func (w *World) ObjectPath(object, target string) ([]Step, bool) { panic("unwritten") }

// Delta is what an Apply or a Revert changed: each field and set is a superset of what
// differs. It is immutable.
type Delta struct{}

// Empty tells whether nothing changed.
func (d *Delta) Empty() bool { panic("unwritten") }

// Touches tells whether tuples of a relation may have come or gone.
func (d *Delta) Touches(rel Rel) bool { panic("unwritten") }

// Touched calls yield once for each tuple of a relation that came or went or whose mark
// changed. Of Reaches and ReachesDomain the argument is the object alone, of Connects and
// ConnectsDomain the vertex. It stops when yield returns false.
func (d *Delta) Touched(rel Rel, yield func(args []schema.Value) bool) { panic("unwritten") }

// Created tells whether an object came into being.
func (d *Delta) Created(object string) bool { panic("unwritten") }

// Vertices lists the vertices that were declared or removed, or whose labels or domain
// changed, ascending. Edges and channels are not counted.
func (d *Delta) Vertices() []V { panic("unwritten") }

// Walked lists the vertices at an end of an edge or channel that came or went, or whose distance
// or weight changed, or that was opened or closed, ascending.
func (d *Delta) Walked() []V { panic("unwritten") }
