package spatial

import "github.com/aspis-rv/aspis/internal/world"

// search is a search for the vertices nearest to a start, by Dijkstra's algorithm. Its owner
// drives it:
//
//	s.begin(w)
//	for s.next() { // s.v at distance s.d, nearest first, each vertex once
//		if isTarget(s.v) { s.hit(); continue }
//		if leadsOn(s.v) { s.expand(hi) }
//	}
//
// It ends at the first target or, with all set, when no other target can be as near; or when
// the budget of the run is used up. Its memory is used again by the next search and is as large as the graph has vertices.
type search struct {
	walk
	v   world.V
	d   int64
	all bool

	targets []world.V // of one distance
	least   int64     // theirs

	marks  []mark
	gen    uint32
	queue  frontier
	budget *int64 // steps that are left, shared by the searches of a run
}

// mark is what a search knows of a vertex, if it is of its generation.
type mark struct {
	dist              int64
	gen               uint32
	settled, expanded bool
}

func (s *search) begin(w walk) {
	s.walk, s.all, s.targets = w, false, s.targets[:0]
	s.clear(w.g.Vertices())
	s.reach(w.start, 0)
}

// clear forgets all vertices, and makes room for n.
func (s *search) clear(n int) {
	s.queue.reset()
	if n > len(s.marks) {
		s.marks = make([]mark, n+n/8)
		s.gen = 0
	}
	s.gen++
	if s.gen == 0 {
		clear(s.marks)
		s.gen = 1
	}
}

// reach notes that a vertex can be reached at a distance.
func (s *search) reach(v world.V, d int64) {
	m := &s.marks[v]
	if m.gen == s.gen && m.dist <= d {
		return
	}
	*m = mark{dist: d, gen: s.gen}
	s.queue.push(v, d)
}

// next goes to the next vertex; false if the search is over.
func (s *search) next() bool {
	if len(s.targets) > 0 && !s.all {
		return false
	}
	for {
		v, d, ok := s.queue.pop()
		if !ok || len(s.targets) > 0 && d > s.least {
			return false
		}
		m := &s.marks[v]
		if m.settled {
			continue
		}
		if *s.budget == 0 {
			return false
		}
		spend(s.budget, 1)
		m.settled = true
		s.v, s.d = v, d
		return true
	}
}

// hit says that the present vertex is a target.
func (s *search) hit() {
	s.targets, s.least = append(s.targets, s.v), s.d
}

// found tells whether there was a target.
func (s *search) found() bool { return len(s.targets) > 0 }

// expand goes on from the present vertex to those at a distance of at most hi.
func (s *search) expand(hi int64) {
	s.marks[s.v].expanded = true
	if s.byEdge(s.v) {
		edges := s.g.Edges(s.v)
		spend(s.budget, len(edges))
		for _, e := range edges {
			if d := plus(s.d, e.Distance); d <= hi && s.enters(e.To) {
				s.reach(e.To, d)
			}
		}
	}
	if s.byChannel() {
		out := s.g.Out(s.v)
		spend(s.budget, len(out))
		for _, c := range out {
			if !c.Open {
				continue
			}
			if d := plus(s.d, c.Weight); d <= hi && s.enters(c.To) {
				s.reach(c.To, d)
			}
		}
	}
}

// settled returns the distance of a vertex that the search came to.
func (s *search) settled(v world.V) (int64, bool) {
	m := &s.marks[v]
	return m.dist, m.gen == s.gen && m.settled
}

// expanded tells whether the search went on from a vertex.
func (s *search) expanded(v world.V) bool {
	m := &s.marks[v]
	return m.gen == s.gen && m.expanded
}

// within tells whether the search came to a vertex. A nil search came to none.
func (s *search) within(v world.V) bool {
	if s == nil {
		return false
	}
	_, ok := s.settled(v)
	return ok
}
