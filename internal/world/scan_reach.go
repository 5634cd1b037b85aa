package world

import (
	"slices"
	"strings"
)

// row is the set of domains that something comes to; see reach.go.
type row [maxDomains/wordBits + 1]uint64

func (r *row) has(b int) bool { return r[b/wordBits]>>(b%wordBits)&1 != 0 }

// includes tells whether all of another row is in r.
func (r *row) includes(other *row) bool {
	for plane := range r {
		if other[plane]&^r[plane] != 0 {
			return false
		}
	}
	return true
}

// unknown tells whether an unknown vertex is among what is reached.
func (r *row) unknown() bool { return r[0]&unknownBit != 0 }

// add adds what is at a vertex.
func (r *row) add(w *World, v V) {
	for plane := range w.graph.reach {
		r[plane] |= w.reachWord(v, plane)
	}
}

// subject is what Reaches and Connects are about.
type subject struct {
	name string
	row  row
	at   []V
	self string // the vertex itself where it was never met
}

// reach answers reaches(o, d) and connects(v, d), of domains only unless full.
func (q *query) reach(objects, full bool) bool {
	switch {
	case !q.has(1):
		return q.subjects(objects, func(s *subject) bool { return q.reachAll(s, full) })
	case q.w.isDomain(q.str(1)):
		return q.reachDomain(objects)
	case full:
		return q.reachVertex(objects)
	}
	return true
}

// reachDomain is reach where d is bound to a domain.
func (q *query) reachDomain(objects bool) bool {
	b := 0
	if name := q.str(1); name != UnknownDomain {
		id, _ := q.w.graph.domains.lookup(name)
		b = bit(id)
	} else if q.sense == Safe {
		return true
	}
	return q.subjects(objects, func(s *subject) bool {
		reached := s.row.has(b) || q.sense == Unsafe && s.row.unknown()
		return !reached || q.two(s.name, q.str(1), 0)
	})
}

// reachVertex is reach where d is bound to a name that is no domain.
func (q *query) reachVertex(objects bool) bool {
	w := q.w
	target, met := w.Vertex(q.str(1))
	var r reacher
	if met {
		r = w.reacher(target)
	}
	var names []string
	q.subjects(objects, func(s *subject) bool {
		reached := s.self == q.str(1)
		for i := 0; met && !reached && i < len(s.at); i++ {
			reached = r.from(s.at[i])
		}
		if reached || met && q.sense == Unsafe && s.row.unknown() && w.Sort(target) != Unknown {
			names = append(names, s.name)
		}
		return true
	})
	if met {
		r.done()
	}
	for _, name := range names {
		if !q.two(name, q.str(1), 0) {
			return false
		}
	}
	return true
}

// reachAll is reach where d is not bound, for one subject.
func (q *query) reachAll(s *subject, full bool) bool {
	w := q.w
	unsafe := q.sense == Unsafe && s.row.unknown()
	if unsafe && !q.two(s.name, UnknownDomain, 0) {
		return false
	}
	ok := w.graph.domains.known(func(id uint32, name string) bool {
		return !unsafe && !s.row.has(bit(id)) || q.two(s.name, name, 0)
	})
	if !ok || !full {
		return ok
	}
	names := make([]string, 0, 8)
	for _, v := range w.downstream(s.at) {
		names = append(names, w.Name(v))
	}
	if s.self != "" {
		names = append(names, s.self)
	}
	if unsafe {
		w.graph.names.scan(func(name string, v V) bool {
			if w.Sort(v) != Unknown {
				names = append(names, name)
			}
			return true
		})
	}
	slices.SortFunc(names, strings.Compare)
	for _, name := range slices.Compact(names) {
		if !w.isDomain(name) && !q.two(s.name, name, 0) {
			return false
		}
	}
	return true
}

// downstream lists the vertices that what is at some vertices comes to, those included.
func (w *World) downstream(at []V) []V {
	list := slices.Clone(at)
	members := &w.scratch.members
	members.reset(w.Vertices())
	for _, v := range at {
		members.set(v, 1)
	}
	for i := 0; i < len(list); i++ {
		for _, c := range w.Out(list[i]) {
			if c.Open && members.get(c.To) == 0 {
				members.set(c.To, 1)
				list = append(list, c.To)
			}
		}
	}
	return list
}

// subjects calls yield for the objects, or for the vertices, that agree.
func (q *query) subjects(objects bool, yield func(*subject) bool) bool {
	w := q.w
	s := new(subject)
	object := func(name string, id uint32) bool {
		s.name, s.row, s.at = name, row{}, s.at[:0]
		for _, r := range w.object(id).at {
			s.row.add(w, r.v)
			s.at = append(s.at, r.v)
		}
		return yield(s)
	}
	vertex := func(v V) bool {
		s.name, s.row, s.at = w.Name(v), row{}, append(s.at[:0], v)
		s.row.add(w, v)
		return yield(s)
	}
	switch {
	case objects && q.has(0):
		id, ok := w.lookupObject(q.str(0))
		return !ok || object(q.str(0), id)
	case objects:
		return w.things.names.scan(object)
	case !q.has(0):
		return w.occurring(vertex)
	}
	if v, ok := w.Vertex(q.str(0)); ok {
		return vertex(v)
	}
	s.name, s.self, s.row = q.str(0), q.str(0), row{unknownBit}
	return yield(s)
}
