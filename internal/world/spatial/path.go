package spatial

import (
	"slices"

	"github.com/aspis-rv/aspis/internal/world"
)

// path is the path to the targets of a search with all set: of the least weight, among those
// with the fewest vertices, among those the first by the names of its vertices in order.
func (s *search) path() ([]world.Step, bool) {
	if !s.found() {
		return nil, false
	}
	order, level := s.levels()
	last := -1
	for _, t := range s.targets {
		if n, ok := level[t]; ok && (last < 0 || n < last) {
			last = n
		}
	}
	// leads: the vertices from which a shortest rest of a path leads to a target
	leads := map[world.V]bool{}
	for _, v := range slices.Backward(order) {
		switch n := level[v]; {
		case n == last:
			leads[v] = slices.Contains(s.targets, v)
		case n < last:
			_, leads[v] = s.onward(v, level, leads)
		}
	}
	at := s.start
	steps := []world.Step{{Vertex: s.g.Name(at)}}
	for len(steps) <= last {
		h, _ := s.onward(at, level, leads)
		at = h.to
		steps = append(steps, world.Step{Vertex: s.g.Name(at), Distance: s.marks[at].dist, Origin: h.origin})
	}
	return steps, true
}

// levels is a breadth-first search over the least paths: the vertices in order, and how many
// steps they are from the start.
func (s *search) levels() ([]world.V, map[world.V]int) {
	order, level := []world.V{s.start}, map[world.V]int{s.start: 0}
	for i := 0; i < len(order); i++ {
		v := order[i]
		if !s.expanded(v) {
			continue
		}
		for h := range s.hops(v) {
			if _, seen := level[h.to]; !seen && s.isLeast(v, h) {
				level[h.to] = level[v] + 1
				order = append(order, h.to)
			}
		}
	}
	return order, level
}

// isLeast tells whether a step is on a least path to where it leads.
func (s *search) isLeast(v world.V, h hop) bool {
	d, ok := s.settled(h.to)
	return ok && d == plus(s.marks[v].dist, h.weight)
}

// onward is the step from a vertex, on a least path with the fewest vertices, to the first of
// the names that leads on.
func (s *search) onward(v world.V, level map[world.V]int, leads map[world.V]bool) (best hop, ok bool) {
	if !s.expanded(v) {
		return hop{}, false
	}
	for h := range s.hops(v) {
		if level[h.to] != level[v]+1 || !leads[h.to] || !s.isLeast(v, h) {
			continue
		}
		if !ok || s.g.Name(h.to) < s.g.Name(best.to) {
			best, ok = h, true
		}
	}
	return best, ok
}
