package world

import "cmp"

// Step is one vertex of a path, with the distance from its start.
type Step struct {
	Vertex   string
	Distance int64
	Origin   uint64 // of the edge or channel that led here, of the replica at the first vertex
}

// Path returns a least walk through open channels by which what is at the vertex from comes to
// target, a domain or a vertex: of least weight, among those of fewest steps, among those the
// first by the names on it. Where target is reached under Unsafe alone, the path leads to an
// unknown vertex. False if there is none.
func (w *World) Path(from V, target string) ([]Step, bool) {
	return w.pathTo([]replica{{v: from}}, target)
}

// ObjectPath is Path from the replica of an object that is nearest.
func (w *World) ObjectPath(object, target string) ([]Step, bool) {
	id, ok := w.lookupObject(object)
	if !ok {
		return nil, false
	}
	return w.pathTo(w.object(id).at, target)
}

func (w *World) pathTo(from []replica, target string) ([]Step, bool) {
	var row row
	for _, r := range from {
		row.add(w, r.v)
	}
	unknown := func(v V) bool { return w.Sort(v) == Unknown }
	if w.isDomain(target) {
		if id, ok := w.graph.domains.lookup(target); ok && row.has(bit(id)) {
			return w.leastPath(from, func(v V) bool { return w.Domain(v) == target })
		}
		return w.pathIf(row.unknown(), from, unknown)
	}
	end, ok := w.Vertex(target)
	if !ok {
		return nil, false
	}
	if w.anyComesTo(from, end) {
		return w.leastPath(from, func(v V) bool { return v == end })
	}
	return w.pathIf(row.unknown() && !unknown(end), from, unknown)
}

func (w *World) pathIf(there bool, from []replica, goal func(V) bool) ([]Step, bool) {
	if !there {
		return nil, false
	}
	return w.leastPath(from, goal)
}

func (w *World) anyComesTo(from []replica, end V) bool {
	r := w.reacher(end)
	defer r.done()
	for _, f := range from {
		if r.from(f.v) {
			return true
		}
	}
	return false
}

// route is the cost of the best way known to a vertex, compared in this order.
type route struct {
	distance int64
	steps    int32
}

func (a route) compare(b route) int {
	return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(a.steps, b.steps))
}

// by is the cost of going on through a channel.
func (a route) by(c *Channel) route { return route{a.distance + c.Weight, a.steps + 1} }

// hop is an entry of the heap of open vertices.
type hop struct {
	route route
	v     V
}

// The states of a vertex in a search for a path.
const (
	open    = iota + 1 // has a route, maybe not the best one
	settled            // has its best route
	onPath             // lies on a best way to the goal
)

// leastPath searches from all of from at once. They are sorted by the names of the vertices.
func (w *World) leastPath(from []replica, goal func(V) bool) ([]Step, bool) {
	s := w.scratch
	if n := w.Vertices(); len(s.routes) < n {
		s.routes = make([]route, n+n/4)
	}
	s.states.reset(w.Vertices())
	s.heap = s.heap[:0]
	for _, r := range from {
		s.relax(r.v, route{})
	}
	ends := s.todo[:0]
	for len(s.heap) > 0 {
		h := s.pop()
		if s.states.get(h.v) == settled {
			continue
		}
		if len(ends) > 0 && h.route.compare(s.routes[ends[0]]) > 0 {
			break
		}
		s.states.set(h.v, settled)
		if goal(h.v) {
			ends = append(ends, h.v)
			continue
		}
		out := w.Out(h.v)
		for i := range out {
			if out[i].Open {
				s.relax(out[i].To, h.route.by(&out[i]))
			}
		}
	}
	s.todo = ends
	if len(ends) == 0 {
		return nil, false
	}
	w.markPaths(ends)
	return w.firstPath(from, goal), true
}

// relax offers a route to a vertex.
func (s *scratch) relax(v V, r route) {
	state := s.states.get(v)
	if state == settled || state == open && s.routes[v].compare(r) <= 0 {
		return
	}
	s.states.set(v, open)
	s.routes[v] = r
	s.push(hop{r, v})
}

// markPaths marks what lies on a best way to one of ends.
func (w *World) markPaths(ends []V) {
	s := w.scratch
	todo := append(s.visited[:0], ends...)
	for _, v := range ends {
		s.states.set(v, onPath)
	}
	for len(todo) > 0 {
		v := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		in := w.In(v)
		for i := range in {
			u := in[i].To
			if in[i].Open && s.states.get(u) == settled && s.routes[u].by(&in[i]) == s.routes[v] {
				s.states.set(u, onPath)
				todo = append(todo, u)
			}
		}
	}
	s.visited = todo
}

// firstPath follows the marks, the least name first.
func (w *World) firstPath(from []replica, goal func(V) bool) []Step {
	s := w.scratch
	var steps []Step
	var v V
	for _, r := range from {
		if s.states.get(r.v) == onPath && s.routes[r.v] == (route{}) {
			v = r.v
			steps = append(steps, Step{Vertex: w.Name(v), Origin: r.origin})
			break
		}
	}
	for !goal(v) {
		out := w.Out(v)
		for i := range out {
			c := &out[i]
			if c.Open && s.states.get(c.To) == onPath && s.routes[v].by(c) == s.routes[c.To] {
				v = c.To
				steps = append(steps, Step{Vertex: w.Name(v), Distance: s.routes[v].distance, Origin: c.Origin})
				break
			}
		}
	}
	return steps
}

// push and pop keep the heap, the least route first.

func (s *scratch) push(h hop) {
	s.heap = append(s.heap, h)
	for i := len(s.heap) - 1; i > 0; {
		up := (i - 1) / 2
		if s.heap[up].route.compare(s.heap[i].route) <= 0 {
			return
		}
		s.heap[up], s.heap[i] = s.heap[i], s.heap[up]
		i = up
	}
}

func (s *scratch) pop() hop {
	top := s.heap[0]
	last := len(s.heap) - 1
	s.heap[0] = s.heap[last]
	s.heap = s.heap[:last]
	for i := 0; ; {
		least := i
		for c := 2*i + 1; c <= 2*i+2 && c < last; c++ {
			if s.heap[c].route.compare(s.heap[least].route) < 0 {
				least = c
			}
		}
		if least == i {
			return top
		}
		s.heap[least], s.heap[i] = s.heap[i], s.heap[least]
		i = least
	}
}
