package spatial

import (
	"maps"
	"slices"
	"testing"

	"github.com/aspis-rv/aspis/internal/world"
	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

var (
	_ Graph   = (*world.World)(nil)
	_ Changes = (*world.Delta)(nil)
)

// world makes the world that a model is the table of.
func (m *model) world(t *testing.T) *world.World {
	t.Helper()
	spec := modelSpec()
	for v, name := range m.names {
		if m.sorts[v] != world.Unknown {
			labels := slices.Sorted(maps.Keys(present(m.labels[v])))
			spec.Vertices = append(spec.Vertices, world.VertexSpec{Name: name, Sort: m.sorts[v], Domain: m.domain(v), Labels: labels})
		}
	}
	w, err := world.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	var edits []world.Edit
	for ends, d := range m.edges {
		if ends[0] <= ends[1] {
			edits = append(edits, world.Edit{Op: world.AddEdge, A: m.names[ends[0]], B: m.names[ends[1]], N: d})
		}
	}
	for ends, c := range m.channels {
		edits = append(edits, c.edits(m.names[ends[0]], m.names[ends[1]])...)
	}
	for name, table := range m.tables {
		for key, mark := range table {
			args := splitKey(key)
			if name == "holds" {
				edits = append(edits, world.Edit{Op: world.Place, A: args[1], B: args[0]})
				continue
			}
			edits = append(edits, markEdit(name, args, mark))
		}
	}
	w, _ = w.Apply(edits, world.Origin{})
	return w
}

// TestOnWorlds compares values on worlds with those on their tables, over edits, and what a
// delta touches with what changed.
func TestOnWorlds(t *testing.T) {
	r := seeded(t)
	g := newGenerator(r)
	changed, spared := 0, 0
	for range 1_000 {
		m := newModel(r, 1+r.IntN(6))
		w := m.world(t)
		f := g.formula(1 + r.IntN(3))
		c := mustCompile(t, f, w.Spec())
		args := argsOf(c, "a")
		compare := func() map[string][2]verdict.Value {
			values := map[string][2]verdict.Value{}
			for _, name := range m.names {
				var both [2]verdict.Value
				for _, sense := range []world.Sense{world.Safe, world.Unsafe} {
					want := c.Value(m, name, args, sense)
					got := c.Value(w, name, args, sense)
					if got != want {
						t.Fatalf("%s at %s, %v: %v on the world, %v on the table\n%+v", f, name, sense, got, want, m)
					}
					both[sense] = got
				}
				values[name] = both
			}
			return values
		}
		old := compare()
		for range 3 {
			var edits []world.Edit
			m, edits = m.editedBy(r)
			after, delta := w.Apply(edits, world.Origin{Offset: 1})
			touched := map[string]bool{}
			c.Touched(w, after, delta, func(v string) bool { touched[v] = true; return true })
			w = after
			now := compare()
			for name := range now {
				if now[name] != old[name] {
					changed++
					if !touched[name] {
						t.Fatalf("%s at %s: %v became %v by %+v, and Touched gave %v", f, name, old[name], now[name], edits, touched)
					}
				} else if !touched[name] {
					spared++
				}
			}
			old = now
		}
	}
	if changed < 500 || spared < 500 {
		t.Errorf("%d values changed, %d vertices were not touched: the test says little", changed, spared)
	}
}

// BenchmarkWorld is the search for a threat that is not there, within 4 km in a physical world of 100,000
// vertices.
func BenchmarkWorld(b *testing.B) {
	const side = 316
	spec := modelSpec()
	name := func(x, y int) string { return schema.IntValue(int64(y*side + x)).String() }
	for y := range side {
		for x := range side {
			spec.Vertices = append(spec.Vertices, world.VertexSpec{Name: name(x, y), Sort: world.Physical, Labels: []string{"p"}})
			if x > 0 {
				spec.Edges = append(spec.Edges, world.EdgeSpec{From: name(x-1, y), To: name(x, y), Distance: 1000})
			}
			if y > 0 {
				spec.Edges = append(spec.Edges, world.EdgeSpec{From: name(x, y-1), To: name(x, y), Distance: 1000})
			}
		}
	}
	w, err := world.New(spec)
	if err != nil {
		b.Fatal(err)
	}
	f, err := Compile(at(reachFormula(0, 4000)), spec)
	if err != nil {
		b.Fatal(err)
	}
	loc := name(side/2, side/2)
	b.Run("value", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			f.Value(w, loc, nil, world.Unsafe)
		}
	})
	after, delta := w.Apply([]world.Edit{{Op: world.AddLabel, A: loc, B: "q"}}, world.Origin{Offset: 1})
	b.Run("touched", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			f.Touched(w, after, delta, func(string) bool { return true })
		}
	})
}
