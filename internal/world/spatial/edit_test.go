package spatial

import (
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/aspis-rv/aspis/internal/world"
	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// edited returns a copy of a model with a few random changes.
func (m *model) edited(r *rand.Rand) *model {
	c, _ := m.editedBy(r)
	return c
}

// editedBy is edited that also returns the changes as edits of a world.
func (m *model) editedBy(r *rand.Rand) (*model, []world.Edit) {
	c := m.clone()
	var edits []world.Edit
	for range [...]int{1, 1, 2}[r.IntN(3)] {
		edits = append(edits, c.edit(r)...)
	}
	return c, edits
}

func (m *model) edit(r *rand.Rand) []world.Edit {
	n := len(m.names)
	a, b := world.V(r.IntN(n)), world.V(r.IntN(n))
	from, to := m.names[a], m.names[b]
	switch r.IntN(10) {
	case 0, 1:
		l := modelLabels()[r.IntN(3)]
		if m.sorts[a] == world.Unknown {
			return nil
		}
		m.labels[a][l] = !m.labels[a][l]
		if m.labels[a][l] {
			return []world.Edit{{Op: world.AddLabel, A: from, B: l}}
		}
		return []world.Edit{{Op: world.RemoveLabel, A: from, B: l}}
	case 2:
		m.setEdge(a, b, randomWeight(r))
		return []world.Edit{{Op: world.AddEdge, A: from, B: to, N: m.edges[[2]world.V{a, b}]}}
	case 3:
		delete(m.edges, [2]world.V{a, b})
		delete(m.edges, [2]world.V{b, a})
		return []world.Edit{{Op: world.RemoveEdge, A: from, B: to}}
	case 4:
		c := channel{r.Int64N(3), r.IntN(2) == 0}
		m.channels[[2]world.V{a, b}] = c
		return c.edits(from, to)
	case 5:
		m.remove(a)
		return []world.Edit{{Op: world.RemoveVertex, A: from}}
	case 6, 7: // declared, if it was unknown; else its sort stays
		for v, s := range m.sorts {
			if s == world.Unknown {
				m.sorts[v] = world.Sort(1 + r.IntN(2))
				return []world.Edit{{Op: world.AddVertex, A: m.names[v], Sort: m.sorts[v], B: m.domain(v)}}
			}
		}
	case 8:
		delete(m.tables["holds"], tupleKey(m.names[a], "a"))
		return []world.Edit{{Op: world.Remove, A: "a", B: from}}
	default:
		return m.setTuple(r)
	}
	return nil
}

// domain is the release domain of a vertex.
func (m *model) domain(v int) string {
	if m.sorts[v] == world.Informational {
		return "D"
	}
	return ""
}

// edits makes a channel so, whatever it was.
func (c channel) edits(from, to string) []world.Edit {
	edits := []world.Edit{{Op: world.OpenChannel, A: from, B: to, N: c.weight}}
	if !c.open {
		edits = append(edits, world.Edit{Op: world.CloseChannel, A: from, B: to})
	}
	return edits
}

// remove makes a vertex unknown: its labels, edges and channels go.
func (m *model) remove(a world.V) {
	m.sorts[a], m.labels[a] = world.Unknown, map[string]bool{}
	maps.DeleteFunc(m.edges, func(e [2]world.V, _ int64) bool { return e[0] == a || e[1] == a })
	maps.DeleteFunc(m.channels, func(e [2]world.V, _ channel) bool { return e[0] == a || e[1] == a })
}

// difference is the Changes from one model to another.
type difference struct{ before, after *model }

func (d difference) Vertices() []world.V {
	var out []world.V
	for v := range d.after.names {
		if d.before.sorts[v] != d.after.sorts[v] || !maps.Equal(present(d.before.labels[v]), present(d.after.labels[v])) {
			out = append(out, world.V(v))
		}
	}
	return out
}

func present(labels map[string]bool) map[string]bool {
	out := maps.Clone(labels)
	maps.DeleteFunc(out, func(_ string, has bool) bool { return !has })
	return out
}

func (d difference) Walked() []world.V {
	ends := map[world.V]bool{}
	for _, e := range changedKeys(d.before.edges, d.after.edges) {
		ends[e[0]], ends[e[1]] = true, true
	}
	for _, e := range changedKeys(d.before.channels, d.after.channels) {
		ends[e[0]], ends[e[1]] = true, true
	}
	return slices.Sorted(maps.Keys(ends))
}

func changedKeys[K, V comparable](before, after map[K]V) []K {
	var out []K
	for k, v := range before {
		if w, ok := after[k]; !ok || v != w {
			out = append(out, k)
		}
	}
	for k := range after {
		if _, ok := before[k]; !ok {
			out = append(out, k)
		}
	}
	return out
}

func (d difference) tuples(rel world.Rel) []string {
	return changedKeys[string, verdict.Value](d.before.table(rel, world.Safe), d.after.table(rel, world.Safe))
}

func (d difference) Touches(rel world.Rel) bool { return len(d.tuples(rel)) > 0 }

func (d difference) Touched(rel world.Rel, yield func([]schema.Value) bool) {
	for _, key := range d.tuples(rel) {
		var args []schema.Value
		for _, a := range splitKey(key) {
			args = append(args, schema.StringValue(a))
		}
		if !yield(args) {
			return
		}
	}
}
