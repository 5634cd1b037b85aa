package spatial

import (
	"github.com/aspis-rv/aspis/internal/world"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// label holds at the vertices with a label.
type label struct {
	index int // in code.labels
	name  string
}

func (n *label) holds(r *run, v world.V, negated bool) bool {
	if r.g.Sort(v) == world.Unknown {
		return r.guess(negated)
	}
	l := r.labels[n.index]
	return l.ok && r.g.HasLabel(v, l.id)
}

func (*label) witness(*run, world.V, bool, bool) ([]world.Step, bool) { return nil, false }

func (n *label) touched(t *touch, out *region) {
	if !t.changes.Touches(world.Rel{Kind: world.HasLabel}) {
		return
	}
	t.changes.Touched(world.Rel{Kind: world.HasLabel}, func(args []schema.Value) bool {
		if args[1].Str == n.name {
			t.addNamed(args[0].Str, out)
		}
		return true
	})
}
