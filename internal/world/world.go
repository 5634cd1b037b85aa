// Package world is the world model: a weighted graph with two sorts of vertices, the
// objects that the vertices hold, attributes of entities, and the state relations of a
// policy. See docs/world.md.
//
// A World is an immutable value. Apply makes a new one that shares what did not change: the
// shadow on which a proposed call is judged. Adopting it is keeping it, refusing it is
// dropping it; nothing is undone by hand. It is a pure function of its spec and the edits
// applied, so that equal histories have equal encodings and equal hashes.
package world

// World is the state of a world. It is immutable, but for memory for searches that it shares
// with the worlds made from it: so it and all of them belong to one goroutine. Fork gives it
// to another one.
type World struct {
	base     *foundation
	graph    graph
	things   things
	flying   flying
	diff     index[struct{}] // keys of the cells that differ from the spec's
	overflow bool
	scratch  *scratch
}

// foundation is what all worlds of a spec share.
type foundation struct {
	spec    *Spec
	initial *World
	digest  [32]byte             // of the spec's cells and relations
	tables  map[string]StateSpec // attributes and states, by name
	nothing *Delta
	nowhere vertex
	nobody  object
}

// graph is the location graph with what is computed from it.
type graph struct {
	names    index[V]
	vertices vec[*vertex]
	edges    vec[[]Edge]
	out, in  vec[[]Channel]
	holds    vec[index[uint32]] // objects by name
	labels   groups
	domains  groups
	reach    []vec[uint64] // see reach.go
	lines    int           // edges and channels
	// strangers are the vertices that were met and are not declared.
	strangers index[V]
}

// things are the objects and the tuples of attributes and states.
type things struct {
	names    index[uint32]
	objects  vec[*object]
	replicas int
	tuples   index[tuple]    // by key
	reversed index[struct{}] // the same, arguments from last to first
	links    int
}

// tuple is what is known of a tuple of an attribute or a state.
type tuple struct {
	image image
	rev   string // its key in reversed
}

// vertex is what the graph knows about one vertex beside its neighbours. It is never
// written to.
type vertex struct {
	name     string
	sort     Sort
	origin   uint64 // of its being declared
	domain   string
	domainID uint32
	domainAt uint64
	marks    []labelled // by name
	labels   []string   // their names; nil if the vertex is unknown
}

type labelled struct {
	id     uint32
	origin uint64
}

// object is what is known of one object. It is never written to.
type object struct {
	name    string
	exists  image
	emptied image
	at      []replica // by the name of the vertex
	parents []link    // by name
	made    []uint32  // objects made from this one, by name
}

type replica struct {
	v      V
	origin uint64
}

type link struct {
	id     uint32
	origin uint64
}

// gone tells whether an object came into being and lost its last replica.
func (o *object) gone() bool { return o.exists.present && o.emptied.present && len(o.at) == 0 }

// Spec returns what the world was made from.
func (w *World) Spec() *Spec { return w.base.spec }

// Fork returns the same world for another goroutine. Its cost does not depend on the size
// of the world, and it may run while the goroutine of w goes on.
func (w *World) Fork() *World {
	fork := *w
	fork.scratch = new(scratch)
	return &fork
}

// Overflowed tells whether an edit went beyond the limits of a world and was not made: every
// answer about it is incomplete from then on.
func (w *World) Overflowed() bool { return w.overflow }

// object returns an object, an empty one if it belongs to a later world.
func (w *World) object(id uint32) *object {
	if o := w.things.objects.get(id); o != nil {
		return o
	}
	return &w.base.nobody
}

// lookupObject returns an object that was met.
func (w *World) lookupObject(name string) (uint32, bool) { return w.things.names.get(name) }
