package spatial

import "github.com/aspis-rv/aspis/internal/world"

// escape is ESCAPE: a path over vertices with of, the ends included, leads to a vertex whose
// distance from the start lies within the span. With restricted the distance is that over
// vertices with of, else that of any walk, and the path may be longer than it.
type escape struct {
	span
	restricted bool
	of         node
}

func (n *escape) holds(r *run, v world.V, negated bool) bool {
	if n.lo == 0 {
		return n.of.holds(r, v, negated) // at distance 0
	}
	return r.finds(n, v, negated)
}

func (n *escape) witness(r *run, v world.V, negated, want bool) ([]world.Step, bool) {
	if !want {
		return nil, false
	}
	return r.shows(n, v, negated)
}

// run searches; the caller gives back the memory of the searches.
func (n *escape) run(r *run, v world.V, negated, all bool) *search {
	near, hi := n.near(r, v, negated), n.hi
	if !n.restricted {
		hi = unlimited
	}
	s := r.begin(r.walk(v, n.via))
	s.all = all
	for n.lo <= n.hi && s.next() {
		switch {
		case !n.of.holds(r, s.v, negated):
		case n.ends(near, s.v):
			s.hit()
		default:
			s.expand(hi)
		}
	}
	return s
}

// ends tells whether a path may end at a vertex, given what near found.
func (n *escape) ends(near *search, v world.V) bool {
	switch {
	case near == nil: // no lower bound; the start, at distance 0, is asked first
		return true
	case n.restricted:
		return !near.expanded(v)
	case n.hi == unlimited:
		return !near.within(v)
	}
	d, ok := near.settled(v)
	return ok && d >= n.lo
}

// near is what lies at the distances that decide, nil if there is no lower bound: with
// restricted, and without an upper bound, what is nearer than the span; else all up to
// its end.
func (n *escape) near(r *run, v world.V, negated bool) *search {
	if n.lo == 0 || n.lo > n.hi {
		return nil
	}
	hi := n.lo - 1
	if !n.restricted && n.hi != unlimited {
		hi = n.hi
	}
	s := r.begin(r.walk(v, n.via))
	for s.next() {
		if !n.restricted || n.of.holds(r, s.v, !negated) {
			s.expand(hi)
		}
	}
	return s
}

func (n *escape) touched(t *touch, out *region) {
	if n.lo == 0 {
		n.of.touched(t, out)
		return
	}
	var seeds region
	n.of.touched(t, &seeds)
	reach := n.span
	if !n.restricted {
		reach.hi = unlimited // however long the path
	}
	t.upstream(reach, &seeds, out)
}
