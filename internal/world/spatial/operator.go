package spatial

import "github.com/aspis-rv/aspis/internal/world"

// operator is a spatial operator at its place in a formula. At an unknown vertex, of which
// every question about what lies around it is open, it is a guess.
type operator struct {
	node
	memo int // in run.memos, -1 if each value is asked for once anyway
}

func (n *operator) holds(r *run, v world.V, negated bool) bool {
	if r.g.Sort(v) == world.Unknown {
		return r.guess(negated)
	}
	if n.memo < 0 {
		return n.node.holds(r, v, negated)
	}
	if value, ok := r.memos[n.memo].get(v, negated, r.gen); ok {
		return value
	}
	value := n.node.holds(r, v, negated)
	r.memos[n.memo].set(v, negated, r.gen, value, r.g.Vertices())
	return value
}

func (n *operator) witness(r *run, v world.V, negated, want bool) ([]world.Step, bool) {
	if r.g.Sort(v) == world.Unknown {
		return []world.Step{{Vertex: r.g.Name(v)}}, r.guess(negated) == want
	}
	return n.node.witness(r, v, negated, want)
}

// memo remembers the values of one operator at the vertices, within one evaluation, for
// either parity of negations: REACH, ESCAPE and SURROUND read their left operand both ways.
type memo struct{ values [2][]memoValue }

type memoValue struct {
	gen   uint32
	value bool
}

func (m *memo) forget() { clear(m.values[0]); clear(m.values[1]) }

func parity(negated bool) int {
	if negated {
		return 1
	}
	return 0
}

func (m *memo) get(v world.V, negated bool, gen uint32) (value, ok bool) {
	values := m.values[parity(negated)]
	if int(v) >= len(values) || values[v].gen != gen {
		return false, false
	}
	return values[v].value, true
}

func (m *memo) set(v world.V, negated bool, gen uint32, value bool, vertices int) {
	values := &m.values[parity(negated)]
	if int(v) >= len(*values) {
		grown := make([]memoValue, vertices+vertices/8)
		copy(grown, *values)
		*values = grown
	}
	(*values)[v] = memoValue{gen, value}
}

// span is the distances of an operator, and the sort of its walks.
type span struct {
	lo, hi int64      // hi is unlimited if it is not given
	via    world.Sort // Unknown: that of the vertex of evaluation
}
