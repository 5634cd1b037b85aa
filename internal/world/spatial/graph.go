package spatial

import (
	"iter"
	"math"

	"github.com/aspis-rv/aspis/internal/world"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// Graph is what location formulas read of a world. *world.World is the one that ships; see
// there for what the methods mean. Scan may be called while another Scan yields.
type Graph interface {
	Places
	Labels
	Links
	Scan(rel world.Rel, known []schema.Value, bound uint64, sense world.Sense, yield func(world.Tuple) bool) bool
}

// Places are the vertices of a graph.
type Places interface {
	Vertex(name string) (world.V, bool)
	Vertices() int
	Name(v world.V) string
	Sort(v world.V) world.Sort
}

// Labels are the labels of vertices.
type Labels interface {
	LabelID(label string) (uint32, bool)
	HasLabel(v world.V, label uint32) bool
	// Unknowns yields the vertices that may have any: those that are unknown and to which
	// something leads.
	Unknowns(yield func(v world.V) bool) bool
}

// Links are the edges and channels of a graph.
type Links interface {
	Edges(v world.V) []world.Edge
	Out(v world.V) []world.Channel
	In(v world.V) []world.Channel
}

// Changes is what Touched reads of the difference of two graphs. *world.Delta is the one
// that ships.
type Changes interface {
	Vertices() []world.V
	Walked() []world.V
	Touches(rel world.Rel) bool
	Touched(rel world.Rel, yield func(args []schema.Value) bool)
}

// unlimited is the distance that no path exceeds: sums of weights stop at it.
const unlimited = math.MaxInt64

// plus adds a weight to a distance. Both are not negative.
func plus(d, w int64) int64 {
	if d > unlimited-w {
		return unlimited
	}
	return d + w
}

// walk is the part of a graph that the walks of one operator use.
//
// A physical walk uses edges, an informational one open channels in their direction. After
// the start it enters vertices of its own sort, and unknown ones, whose sort nobody knows. A
// walk that starts at a physical vertex and is informational may use an edge as its first
// step, which is how it leaves the vertex at all.
type walk struct {
	g     Graph
	sort  world.Sort
	start world.V
}

// enters tells whether the walk may go to a vertex.
func (w *walk) enters(v world.V) bool {
	s := w.g.Sort(v)
	return s == w.sort || s == world.Unknown
}

// byEdge and byChannel tell what the walk may leave a vertex by.
func (w *walk) byEdge(v world.V) bool {
	return w.sort == world.Physical || v == w.start && w.g.Sort(v) == world.Physical
}

func (w *walk) byChannel() bool { return w.sort == world.Informational }

// hop is one step of a walk.
type hop struct {
	to     world.V
	weight int64
	origin uint64
}

// hops lists the steps that lead on from a vertex.
func (w *walk) hops(v world.V) iter.Seq[hop] {
	return func(yield func(hop) bool) {
		if w.byEdge(v) {
			for _, e := range w.g.Edges(v) {
				if w.enters(e.To) && !yield(hop{e.To, e.Distance, e.Origin}) {
					return
				}
			}
		}
		if w.byChannel() {
			for _, c := range w.g.Out(v) {
				if c.Open && w.enters(c.To) && !yield(hop{c.To, c.Weight, c.Origin}) {
					return
				}
			}
		}
	}
}
