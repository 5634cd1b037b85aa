package spatial

import (
	"slices"

	"github.com/aspis-rv/aspis/internal/world"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// pred is a predicate over a relation of the world. As a node all of its variables are
// known; as a step of a chain it binds those that are not. With @l among its arguments it
// is a guess at an unknown vertex.
type pred struct {
	index int // in code.preds
	rel   world.Rel
	args  []operand
	bound uint64 // the arguments that are known
	local bool   // @l is among them
	next  step   // of a chain, nil after its last step
}

// predState is the memory of a pred. No pred is evaluated within its own evaluation.
type predState struct {
	known   []schema.Value
	v       world.V
	negated bool
	found   bool
	yield   func(world.Tuple) bool
}

func (n *pred) holds(r *run, v world.V, negated bool) bool {
	if n.local && r.g.Sort(v) == world.Unknown {
		return r.guess(negated)
	}
	return n.run(r, v, negated)
}

// run tells whether some tuple agrees with what is known and lets the rest of the chain
// hold, whose variables are then bound so.
func (n *pred) run(r *run, v world.V, negated bool) bool {
	st := &r.preds[n.index]
	st.v, st.negated, st.found = v, negated, false
	for i := range n.args {
		if n.bound>>i&1 == 1 {
			st.known[i] = n.args[i].in(r, v)
		}
	}
	r.g.Scan(n.rel, st.known, n.bound, r.sense(negated), st.yield)
	return st.found
}

// take is given the tuples of a scan; false if it needs no more.
func (n *pred) take(r *run, t world.Tuple) bool {
	if r.budget == 0 {
		return false
	}
	spend(&r.budget, 1)
	st := &r.preds[n.index]
	if !r.counts(t.Mark, st.negated) {
		return true
	}
	for i := range n.args {
		if n.bound>>i&1 == 0 {
			r.env[n.args[i].slot] = t.Args[i]
		}
	}
	for i := range n.args { // a variable that occurs twice has one value
		if n.bound>>i&1 == 0 && r.env[n.args[i].slot] != t.Args[i] {
			return true
		}
	}
	st.found = n.next == nil || n.next.run(r, st.v, st.negated)
	return !st.found
}

func (*pred) witness(*run, world.V, bool, bool) ([]world.Step, bool) { return nil, false }

func (n *pred) touched(t *touch, out *region) {
	at := n.at()
	if !t.changes.Touches(n.rel) {
		return
	}
	t.changes.Touched(n.rel, func(args []schema.Value) bool {
		switch {
		case !n.agrees(args):
		case at >= 0 && at < len(args):
			t.addNamed(args[at].Str, out)
		case !t.join(n, args, out):
			out.all = true
		}
		return !out.all
	})
}

// at is the first argument that is @l, -1 if there is none.
func (n *pred) at() int {
	return slices.IndexFunc(n.args, func(o operand) bool { return o.kind == ofVertex })
}

// agrees tells whether a tuple, of which trailing arguments may be missing, can be one of
// the predicate's.
func (n *pred) agrees(tuple []schema.Value) bool {
	for i, v := range tuple {
		if i < len(n.args) && n.args[i].kind == ofConstant && n.args[i].value != v {
			return false
		}
	}
	return true
}
