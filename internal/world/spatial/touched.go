package spatial

import (
	"slices"

	"github.com/aspis-rv/aspis/internal/world"
)

// Touched calls yield for the vertices at which the value of the formula may have changed,
// whatever its arguments and the sense; each once. It stops when yield returns false. The
// cost grows with the part of the two graphs that lies within the operators' distances of
// what changed. A change of a relation that is read without @l touches all vertices, unless
// a conjunct beside it says where; see join.
func (f *Formula) Touched(before, after Graph, changes Changes, yield func(vertex string) bool) {
	t := &touch{graphs: [2]Graph{before, after}, changes: changes, s: f.run.take()}
	defer f.run.leave()
	f.run.budget = unlimited // each of its searches visits a vertex once, and there are few
	t.relabelled = changes.Vertices()
	for _, v := range t.relabelled {
		if t.sort(before, v) != t.sort(after, v) {
			t.turned = append(t.turned, v)
		}
	}
	var out region
	out.add(t.turned...)
	f.code.root.touched(t, &out)
	n := max(before.Vertices(), after.Vertices())
	if out.all {
		out.vertices = out.vertices[:0]
		for v := range n {
			out.add(world.V(v))
		}
	}
	t.s.clear(n)
	for _, v := range out.vertices {
		if t.s.marks[v].gen == t.s.gen || t.sort(before, v) == world.Unknown && t.sort(after, v) == world.Unknown {
			continue
		}
		t.s.marks[v].gen = t.s.gen
		if !yield(t.name(v)) {
			return
		}
	}
}

// region is a set of vertices, in which some may be twice.
type region struct {
	all      bool
	unknowns bool // it has the unknown vertices of the later graph
	vertices []world.V
}

func (r *region) add(vs ...world.V) { r.vertices = append(r.vertices, vs...) }

// touch is what Touched looks at.
type touch struct {
	graphs  [2]Graph
	changes Changes

	relabelled []world.V // their sort, labels or domain changed
	turned     []world.V // of these, their sort changed, or they became known or unknown

	s     *search // its memory
	joins []*pred // of the quantifications around
}

// sort is the sort of a vertex in a graph, which may not have met it.
func (t *touch) sort(g Graph, v world.V) world.Sort {
	if int(v) >= g.Vertices() {
		return world.Unknown
	}
	return g.Sort(v)
}

func (t *touch) name(v world.V) string {
	if g := t.graphs[1]; int(v) < g.Vertices() {
		return g.Name(v)
	}
	return t.graphs[0].Name(v)
}

// addUnknowns adds the unknown vertices. Those that are unknown in one graph alone have turned
// and are added with what turned.
func (t *touch) addUnknowns(out *region) {
	if out.unknowns {
		return
	}
	out.unknowns = true
	t.graphs[1].Unknowns(func(v world.V) bool {
		out.add(v)
		return true
	})
}

// addNamed adds the vertex of a name, if it ever was one.
func (t *touch) addNamed(name string, out *region) {
	for _, g := range t.graphs {
		if v, ok := g.Vertex(name); ok {
			out.add(v)
			return
		}
	}
}

// enters tells whether a walk of a sort may go to a vertex in either graph.
func (t *touch) enters(sort world.Sort, v world.V) bool {
	for _, g := range t.graphs {
		if s := t.sort(g, v); s == sort || s == world.Unknown {
			return true
		}
	}
	return false
}

// upstream adds to out the vertices from which a walk, within the upper bound of an operator
// and in either graph, leads to one of seeds or to what changed on the way: a step that
// came, went or has another weight, a vertex that walks may enter now or could before.
func (t *touch) upstream(s span, seeds, out *region) {
	out.all = out.all || seeds.all
	seeds.add(t.turned...)
	if out.all {
		return
	}
	for _, sort := range []world.Sort{world.Physical, world.Informational} {
		if s.via == world.Unknown || s.via == sort {
			t.upstreamOf(sort, s.hi, seeds.vertices, out)
		}
	}
}

func (t *touch) upstreamOf(sort world.Sort, hi int64, seeds []world.V, out *region) {
	s := t.s
	s.clear(max(t.graphs[0].Vertices(), t.graphs[1].Vertices()))
	for _, v := range seeds {
		s.reach(v, 0)
	}
	for _, v := range t.changes.Walked() {
		if t.steps(sort, v) {
			s.reach(v, 0)
		}
	}
	s.targets = s.targets[:0]
	for s.next() {
		out.add(s.v)
		if !t.enters(sort, s.v) {
			continue // a walk can start here, and not come here
		}
		t.back(sort, s.v, func(v world.V, weight int64) {
			if d := plus(s.d, weight); d <= hi {
				s.reach(v, d)
			}
		})
	}
}

// back calls yield for the steps by which a walk of a sort may come to a vertex in either
// graph. From a vertex of another sort it may only start.
func (t *touch) back(sort world.Sort, v world.V, yield func(from world.V, weight int64)) {
	for _, g := range t.graphs {
		if int(v) >= g.Vertices() {
			continue
		}
		for _, e := range g.Edges(v) {
			if sort == world.Physical || g.Sort(e.To) == world.Physical {
				yield(e.To, e.Distance)
			}
		}
		if sort != world.Informational {
			continue
		}
		for _, c := range g.In(v) {
			if c.Open {
				yield(c.To, c.Weight)
			}
		}
	}
}

// bordering adds, for each vertex that turned, those from which a step leads to it.
func (t *touch) bordering(out *region) {
	for _, v := range t.turned {
		for _, sort := range []world.Sort{world.Physical, world.Informational} {
			t.back(sort, v, func(from world.V, _ int64) { out.add(from) })
		}
	}
}

// steps tells whether the steps of a sort of walk that lead on from a vertex changed.
func (t *touch) steps(sort world.Sort, v world.V) bool {
	before, after := t.graphs[0], t.graphs[1]
	if int(v) >= before.Vertices() || int(v) >= after.Vertices() {
		return true
	}
	edges := sort == world.Physical || before.Sort(v) == world.Physical || after.Sort(v) == world.Physical
	if edges && !slices.EqualFunc(before.Edges(v), after.Edges(v), func(a, b world.Edge) bool { return a.To == b.To && a.Distance == b.Distance }) {
		return true
	}
	return sort == world.Informational && !slices.EqualFunc(before.Out(v), after.Out(v), func(a, b world.Channel) bool {
		return a.To == b.To && a.Open == b.Open && a.Weight == b.Weight
	})
}
