package spatial

import (
	"cmp"
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/aspis-rv/aspis/internal/world"
	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// model is a small world as plain tables: what the oracle reads. It is a Graph too.
type model struct {
	names    []string
	sorts    []world.Sort
	labels   []map[string]bool
	edges    map[[2]world.V]int64 // both directions
	channels map[[2]world.V]channel
	tables   map[string]map[string]verdict.Value // relation → tuple → mark
}

type channel struct {
	weight int64
	open   bool
}

func modelLabels() []string { return []string{"p", "q", "r"} }

// modelSpec declares the relations that models have: attr(entity, value), hot(vertex),
// seen(vertex, object), alarm(object).
func modelSpec() *world.Spec {
	str := schema.KindString
	return &world.Spec{
		Attributes: []string{"attr"},
		States: []world.StateSpec{
			{Name: "alarm", Kinds: []schema.ValueKind{str}},
			{Name: "hot", Kinds: []schema.ValueKind{str}},
			{Name: "seen", Kinds: []schema.ValueKind{str, str}},
		},
		Labels: modelLabels(),
	}
}

func tupleKey(args ...string) string {
	key := ""
	for _, a := range args {
		key += a + "\x00"
	}
	return key
}

func splitKey(key string) []string {
	var args []string
	for {
		i := slices.Index([]byte(key), 0)
		if i < 0 {
			return args
		}
		args, key = append(args, key[:i]), key[i+1:]
	}
}

func vertexName(v int) string { return "v" + string(rune('0'+v)) }

// newModel makes a random model of n vertices.
func newModel(r *rand.Rand, n int) *model {
	m := &model{
		edges: map[[2]world.V]int64{}, channels: map[[2]world.V]channel{},
		tables: map[string]map[string]verdict.Value{"holds": {}, "hot": {}, "seen": {}, "alarm": {}},
	}
	sort := world.Sort(1 + r.IntN(2)) // mostly of one sort, so that walks are long
	for v := range n {
		m.names = append(m.names, vertexName(v))
		m.sorts = append(m.sorts, sort)
		m.labels = append(m.labels, map[string]bool{})
		if r.IntN(6) == 0 {
			m.sorts[v] = world.Sort(r.IntN(3))
		}
		for _, l := range modelLabels() {
			if m.sorts[v] != world.Unknown && r.IntN(2) == 0 {
				m.labels[v][l] = true
			}
		}
	}
	density := 1 + r.IntN(4)
	for a := range n {
		for b := range n {
			if r.IntN(4) < density && a <= b {
				m.setEdge(world.V(a), world.V(b), randomWeight(r))
			}
			if r.IntN(4) < density {
				m.channels[[2]world.V{world.V(a), world.V(b)}] = channel{r.Int64N(2), r.IntN(4) > 0}
			}
		}
	}
	for range r.IntN(8) {
		m.setTuple(r)
	}
	return m
}

func randomWeight(r *rand.Rand) int64 { return [...]int64{0, 0, 1, 1, 2, 3, 7}[r.IntN(7)] }

func (m *model) setEdge(a, b world.V, w int64) {
	m.edges[[2]world.V{a, b}], m.edges[[2]world.V{b, a}] = w, w
}

func (m *model) setTuple(r *rand.Rand) []world.Edit {
	v, o := vertexName(r.IntN(len(m.names))), [...]string{"a", "b"}[r.IntN(2)]
	mark := [...]verdict.Value{verdict.F, verdict.Fp}[r.IntN(2)]
	raise := func(name string, args ...string) []world.Edit {
		t := m.tables[name]
		t[tupleKey(args...)] = max(t[tupleKey(args...)], mark)
		return []world.Edit{markEdit(name, args, mark)}
	}
	switch r.IntN(5) {
	case 4:
		return raise("seen", v, v)
	case 0:
		m.tables["holds"][tupleKey(v, o)] = verdict.F
		return []world.Edit{{Op: world.Place, A: o, B: v}}
	case 1:
		return raise("hot", v)
	case 2:
		return raise("seen", v, o)
	default:
		return raise("alarm", o)
	}
}

func markEdit(name string, args []string, mark verdict.Value) world.Edit {
	e := world.Edit{Op: world.Mark, Name: name, Strength: verdict.Definite}
	if mark == verdict.Fp {
		e.Strength = verdict.Presumptive
	}
	for _, a := range args {
		e.Values = append(e.Values, schema.StringValue(a))
	}
	return e
}

func (m *model) clone() *model {
	c := &model{
		names: slices.Clone(m.names), sorts: slices.Clone(m.sorts),
		edges: maps.Clone(m.edges), channels: maps.Clone(m.channels), tables: map[string]map[string]verdict.Value{},
	}
	for _, l := range m.labels {
		c.labels = append(c.labels, maps.Clone(l))
	}
	for name, t := range m.tables {
		c.tables[name] = maps.Clone(t)
	}
	return c
}

// Vertex and what follows make a model a Graph.
func (m *model) Vertex(name string) (world.V, bool) {
	i := slices.Index(m.names, name)
	return world.V(max(i, 0)), i >= 0
}
func (m *model) Vertices() int             { return len(m.names) }
func (m *model) Name(v world.V) string     { return m.names[v] }
func (m *model) Sort(v world.V) world.Sort { return m.sorts[v] }

func (m *model) Unknowns(yield func(world.V) bool) bool {
	for v, sort := range m.sorts {
		if sort == world.Unknown && !yield(world.V(v)) {
			return false
		}
	}
	return true
}

func (m *model) LabelID(label string) (uint32, bool) {
	i := slices.Index(modelLabels(), label)
	return uint32(max(i, 0)), i >= 0
}

func (m *model) HasLabel(v world.V, label uint32) bool { return m.labels[v][modelLabels()[label]] }

func (m *model) Edges(v world.V) []world.Edge {
	var out []world.Edge
	for ends, w := range m.edges {
		if ends[0] == v {
			out = append(out, world.Edge{To: ends[1], Distance: w, Origin: uint64(1 + ends[0] + ends[1])})
		}
	}
	slices.SortFunc(out, func(a, b world.Edge) int { return cmp.Compare(a.To, b.To) })
	return out
}

func (m *model) Out(v world.V) []world.Channel { return m.ends(v, 0) }
func (m *model) In(v world.V) []world.Channel  { return m.ends(v, 1) }

func (m *model) ends(v world.V, near int) []world.Channel {
	var out []world.Channel
	for ends, c := range m.channels {
		if ends[near] == v {
			out = append(out, world.Channel{To: ends[1-near], Weight: c.weight, Open: c.open, Origin: uint64(100 + ends[0] + ends[1])})
		}
	}
	slices.SortFunc(out, func(a, b world.Channel) int { return cmp.Compare(a.To, b.To) })
	return out
}

func (m *model) Scan(rel world.Rel, known []schema.Value, bound uint64, sense world.Sense, yield func(world.Tuple) bool) bool {
	table := m.table(rel, sense)
next:
	for _, key := range slices.Sorted(maps.Keys(table)) {
		var args []schema.Value
		for i, a := range splitKey(key) {
			args = append(args, schema.StringValue(a))
			if bound>>i&1 == 1 && known[i] != args[i] {
				continue next
			}
		}
		if !yield(world.Tuple{Args: args, Mark: table[key]}) {
			return false
		}
	}
	return true
}

// table is a relation.
func (m *model) table(rel world.Rel, sense world.Sense) map[string]verdict.Value {
	switch rel.Kind { //nolint:exhaustive // models have no others
	case world.Holds:
		return m.tables["holds"]
	case world.StateOf:
		return m.tables[rel.Name]
	case world.HasLabel:
		out := map[string]verdict.Value{}
		for v, labels := range m.labels {
			for _, l := range modelLabels() {
				if labels[l] || m.sorts[v] == world.Unknown && sense == world.Unsafe {
					out[tupleKey(m.names[v], l)] = verdict.F
				}
			}
		}
		return out
	default:
		panic("no such relation in models")
	}
}
