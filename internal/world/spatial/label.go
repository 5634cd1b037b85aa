package spatial

import "github.com/aspis-rv/aspis/internal/world"

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

// touched needs no unknown vertices: what the label is there is a guess before and after.
func (n *label) touched(t *touch, out *region) {
	for _, v := range t.relabelled {
		if t.labelled(0, n.name, v) != t.labelled(1, n.name, v) {
			out.add(v)
		}
	}
}

// labelled tells whether a vertex has a label in one of the graphs.
func (t *touch) labelled(graph int, name string, v world.V) bool {
	g := t.graphs[graph]
	id, ok := g.LabelID(name)
	return ok && int(v) < g.Vertices() && g.HasLabel(v, id)
}
