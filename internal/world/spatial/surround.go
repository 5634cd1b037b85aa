package spatial

import "github.com/aspis-rv/aspis/internal/world"

// surround is SURROUND: left holds at the start, and no path over vertices with left leads to
// an exception. An exception is a vertex whose distance over such vertices exceeds the
// span, or one without left that lies nearer than the span or is without right.
//
// That a vertex is reached is read under a negation, that it has left or right and is within
// the upper bound is not; see reach.
type surround struct {
	span
	left, right node
}

func (n *surround) holds(r *run, v world.V, negated bool) bool {
	if !n.left.holds(r, v, negated) {
		return false
	}
	return !r.finds(n, v, negated)
}

// witness of SURROUND is a path to an exception, or the start if left does not hold there.
func (n *surround) witness(r *run, v world.V, negated, want bool) ([]world.Step, bool) {
	if want {
		return nil, false
	}
	if !n.left.holds(r, v, negated) {
		return []world.Step{{Vertex: r.g.Name(v)}}, true
	}
	return r.shows(n, v, negated)
}

// run searches for an exception; the caller gives back the memory of the searches.
func (n *surround) run(r *run, v world.V, negated, all bool) *search {
	inside := r.begin(r.walk(v, n.via))
	for inside.next() {
		if n.left.holds(r, inside.v, negated) {
			inside.expand(n.hi)
		}
	}
	s := r.begin(r.walk(v, n.via))
	s.all = all
	for s.next() {
		switch {
		case !inside.within(s.v) || n.excepted(r, s.v, s.d, negated):
			s.hit()
		case n.left.holds(r, s.v, !negated):
			s.expand(unlimited)
		}
	}
	return s
}

// excepted tells whether a vertex within the upper bound is an exception.
func (n *surround) excepted(r *run, v world.V, d int64, negated bool) bool {
	return !n.left.holds(r, v, negated) && (d < n.lo || !n.right.holds(r, v, negated))
}

func (n *surround) touched(t *touch, out *region) {
	var seeds region
	n.left.touched(t, &seeds)
	n.right.touched(t, &seeds)
	t.bordering(&seeds) // one that enters or leaves the walks beyond the upper bound is felt within
	t.upstream(n.span, &seeds, out)
}
