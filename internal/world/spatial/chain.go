package spatial

import "github.com/aspis-rv/aspis/internal/world"

// step is a part of a chain: a conjunction whose variables are bound by backtracking, from
// the first conjunct to the last.
type step interface {
	// run tells whether the chain from here on can be satisfied. If so, the environment
	// has the first binding that does.
	run(r *run, v world.V, negated bool) bool
}

// filter is a conjunct all of whose variables are bound before it.
type filter struct {
	test node
	next step // nil after the last
}

func (s *filter) run(r *run, v world.V, negated bool) bool {
	return s.test.holds(r, v, negated) && (s.next == nil || s.next.run(r, v, negated))
}

// bind is `x = t` where x is not bound yet.
type bind struct {
	slot int
	from operand
	next step
}

func (s *bind) run(r *run, v world.V, negated bool) bool {
	r.env[s.slot] = s.from.in(r, v)
	return s.next == nil || s.next.run(r, v, negated)
}

// fork is a disjunction that binds variables. Both branches end in the rest of the chain.
type fork struct{ left, right step }

func (s *fork) run(r *run, v world.V, negated bool) bool {
	return s.left.run(r, v, negated) || s.right.run(r, v, negated)
}

// exists is EXISTS. If what it says depends on the vertex, it is a guess at an unknown one,
// as the predicates in it are.
type exists struct {
	chain step
	body  node // what the chain says, with all variables bound
	local bool
}

func (n *exists) holds(r *run, v world.V, negated bool) bool {
	if n.local && r.g.Sort(v) == world.Unknown {
		return r.guess(negated)
	}
	return n.chain.run(r, v, negated)
}

// witness is that of the first binding.
func (n *exists) witness(r *run, v world.V, negated, want bool) ([]world.Step, bool) {
	if !want || n.local && r.g.Sort(v) == world.Unknown || !n.chain.run(r, v, negated) {
		return nil, false
	}
	return n.body.witness(r, v, negated, true)
}

func (n *exists) touched(t *touch, out *region) { n.body.touched(t, out) }
