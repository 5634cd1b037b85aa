package spatial

import (
	"github.com/aspis-rv/aspis/internal/world"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// A predicate without @l does not say at which vertices a change of its tuples matters. Another
// conjunct may: in
//
//	holds(@l, r) AND marked(r, "PHI")
//
// a change of marked("A", "PHI") matters where "A" is held. For wherever the conjunction
// holds, before or after, all of its conjuncts do under the same binding; and a conjunct that
// itself does in one of the two only says where that is on its own account. At an unknown
// vertex it holds by a guess, whatever its tuples are, so the change matters there too.

// joins lists the conjuncts that say where.
func joins(body node) []*pred {
	switch n := body.(type) {
	case *and:
		return append(joins(n.left), joins(n.right)...)
	case *pred:
		if n.local && located(n.rel.Kind) {
			return []*pred{n}
		}
	}
	return nil
}

// located tells whether a relation has at known vertices the same tuples in either sense.
func located(k world.RelKind) bool {
	switch k {
	case world.Holds, world.Opened, world.AttributeOf, world.StateOf:
		return true
	case world.Reaches, world.ReachesDomain, world.Connects, world.ConnectsDomain, world.HasLabel, world.InDomain,
		world.Exists, world.Gone, world.Derived, world.DeclaredVertex:
	}
	return false
}

// join adds the vertices at which a change of a tuple of p matters; false if no conjunct
// beside it that shares a variable says where.
func (t *touch) join(p *pred, tuple []schema.Value, out *region) bool {
	for _, q := range t.joins {
		known, bound, shared := q.given(p, tuple)
		if !shared {
			continue
		}
		at := q.at()
		t.graphs[1].Scan(q.rel, known, bound, world.Safe, func(x world.Tuple) bool {
			t.addNamed(x.Args[at].Str, out)
			return true
		})
		t.addUnknowns(out)
		return true
	}
	return false
}

// given is what is known of a tuple of q if another of p is known, and whether any of it is by
// a variable that they share.
func (n *pred) given(p *pred, tuple []schema.Value) (known []schema.Value, bound uint64, shared bool) {
	known = make([]schema.Value, len(n.args))
	for i, a := range n.args {
		switch a.kind {
		case ofConstant:
			known[i] = a.value
			bound |= 1 << i
		case ofVariable:
			for j := range min(len(tuple), len(p.args)) {
				if p.args[j].kind == ofVariable && p.args[j].slot == a.slot {
					known[i], shared = tuple[j], true
					bound |= 1 << i
				}
			}
		case ofVertex:
		}
	}
	return known, bound, shared
}
