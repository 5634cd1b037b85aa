package spatial

import "github.com/aspis-rv/aspis/internal/world"

// reach is REACH. A vertex l′ is reached within [a,b] if a path over vertices with left leads
// there whose weight is at most b, and none whose weight is below a. The second half
// speaks of left under a negation, and is read so: an unknown vertex or a presumptive
// tuple that could shorten the path never decides in the wrong sense.
type reach struct {
	span
	left, right node
}

func (n *reach) holds(r *run, v world.V, negated bool) bool {
	return r.finds(n, v, negated)
}

func (n *reach) witness(r *run, v world.V, negated, want bool) ([]world.Step, bool) {
	if !want {
		return nil, false
	}
	return r.shows(n, v, negated)
}

// run searches; the caller gives back the memory of the searches.
func (n *reach) run(r *run, v world.V, negated, all bool) *search {
	near := n.near(r, v, negated)
	s := r.begin(r.walk(v, n.via))
	s.all = all
	for n.lo <= n.hi && s.next() {
		if !near.within(s.v) && n.right.holds(r, s.v, negated) {
			s.hit()
			continue
		}
		if n.left.holds(r, s.v, negated) {
			s.expand(n.hi)
		}
	}
	return s
}

// near is what lies nearer than the span, nil if nothing can.
func (n *reach) near(r *run, v world.V, negated bool) *search {
	if n.lo == 0 || n.lo > n.hi {
		return nil
	}
	s := r.begin(r.walk(v, n.via))
	for s.next() {
		if n.left.holds(r, s.v, !negated) {
			s.expand(n.lo - 1)
		}
	}
	return s
}

func (n *reach) touched(t *touch, out *region) {
	var seeds region
	n.left.touched(t, &seeds)
	n.right.touched(t, &seeds)
	t.upstream(n.span, &seeds, out)
}
