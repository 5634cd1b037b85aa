package spatial

import "github.com/aspis-rv/aspis/internal/world"

// node is a compiled location formula. Its implementations are immutable; what they
// remember is in the run.
type node interface {
	// holds evaluates the formula at a vertex, under the environment of the run.
	// negated says that it stands under an odd number of negations.
	holds(r *run, v world.V, negated bool) bool
	// witness returns the path that shows that the formula holds or, without want, that it
	// does not; false if no path shows it.
	witness(r *run, v world.V, negated, want bool) ([]world.Step, bool)
	// touched adds the vertices at which the formula may hold in one graph and not in
	// the other, under some environment. It need not add those whose sort changed.
	touched(t *touch, out *region)
}

// constant is TRUE or FALSE.
type constant bool

func (n constant) holds(*run, world.V, bool) bool { return bool(n) }

func (constant) witness(*run, world.V, bool, bool) ([]world.Step, bool) { return nil, false }

func (constant) touched(*touch, *region) {}

// not is negation.
type not struct{ of node }

func (n *not) holds(r *run, v world.V, negated bool) bool { return !n.of.holds(r, v, !negated) }

func (n *not) witness(r *run, v world.V, negated, want bool) ([]world.Step, bool) {
	return n.of.witness(r, v, !negated, !want)
}

func (n *not) touched(t *touch, out *region) { n.of.touched(t, out) }

// and is conjunction. first is the cheaper operand; left and right are as written. joins are
// those conjuncts that say where a change of another one matters.
type and struct {
	first, second, left, right node
	joins                      []*pred
}

func (n *and) holds(r *run, v world.V, negated bool) bool {
	return n.first.holds(r, v, negated) && n.second.holds(r, v, negated)
}

func (n *and) witness(r *run, v world.V, negated, want bool) ([]world.Step, bool) {
	return eitherWitness(r, v, negated, want, n.left, n.right)
}

func (n *and) touched(t *touch, out *region) {
	outer := len(t.joins)
	t.joins = append(t.joins, n.joins...)
	n.left.touched(t, out)
	n.right.touched(t, out)
	t.joins = t.joins[:outer]
}

// or is disjunction; see and.
type or struct{ first, second, left, right node }

func (n *or) holds(r *run, v world.V, negated bool) bool {
	return n.first.holds(r, v, negated) || n.second.holds(r, v, negated)
}

func (n *or) witness(r *run, v world.V, negated, want bool) ([]world.Step, bool) {
	return eitherWitness(r, v, negated, want, n.left, n.right)
}

func (n *or) touched(t *touch, out *region) {
	n.left.touched(t, out)
	n.right.touched(t, out)
}

// eitherWitness is the path of the first operand that is as wanted and has one.
func eitherWitness(r *run, v world.V, negated, want bool, operands ...node) ([]world.Step, bool) {
	for _, n := range operands {
		if n.holds(r, v, negated) != want {
			continue
		}
		if path, ok := n.witness(r, v, negated, want); ok {
			return path, true
		}
	}
	return nil, false
}
