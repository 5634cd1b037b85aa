package spatial

import "github.com/aspis-rv/aspis/internal/world"

// nearest searches for a vertex at a distance within the span at which a formula holds, or
// does not. It is SOMEWHERE and the negation of EVERYWHERE.
type nearest struct {
	span
	of    node
	value bool
}

func (n *nearest) search(r *run, s *search, negated bool) {
	for s.next() {
		if s.d >= n.lo && n.of.holds(r, s.v, negated) == n.value {
			s.hit()
			continue
		}
		s.expand(n.hi)
	}
}

func (n *nearest) exists(r *run, v world.V, negated bool) bool {
	if n.lo > n.hi {
		return false
	}
	s := r.begin(r.walk(v, n.via))
	defer r.end()
	n.search(r, s, negated)
	return s.found()
}

func (n *nearest) path(r *run, v world.V, negated bool) ([]world.Step, bool) {
	if n.lo > n.hi {
		return nil, false
	}
	s := r.begin(r.walk(v, n.via))
	defer r.end()
	s.all = true
	n.search(r, s, negated)
	return s.path()
}

func (n *nearest) touched(t *touch, out *region) {
	var seeds region
	n.of.touched(t, &seeds)
	t.upstream(n.span, &seeds, out)
}

// somewhere is SOMEWHERE.
type somewhere struct{ nearest }

func (n *somewhere) holds(r *run, v world.V, negated bool) bool { return n.exists(r, v, negated) }

func (n *somewhere) witness(r *run, v world.V, negated, want bool) ([]world.Step, bool) {
	if !want {
		return nil, false
	}
	return n.path(r, v, negated)
}

// everywhere is EVERYWHERE. What shows that it does not hold is a path to an exception.
type everywhere struct{ nearest }

func (n *everywhere) holds(r *run, v world.V, negated bool) bool { return !n.exists(r, v, negated) }

func (n *everywhere) witness(r *run, v world.V, negated, want bool) ([]world.Step, bool) {
	if want {
		return nil, false
	}
	return n.path(r, v, negated)
}
