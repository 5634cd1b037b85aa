package spatial

import (
	"maps"
	"slices"
	"testing"

	"github.com/aspis-rv/aspis/internal/lang/syntax"
	"github.com/aspis-rv/aspis/internal/world"
	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// grid is a large world: a square of vertices 1000 apart, of one sort. All have p, but in an
// informational world those of five rows in the middle only.
type grid struct {
	*model
	side  int
	sort  world.Sort
	edges [][]world.Edge
	out   [][]world.Channel
	tuple [2]schema.Value
}

func newGrid(side int, sort world.Sort) *grid {
	g := &grid{model: line(1, 1), side: side, sort: sort}
	g.edges, g.out = make([][]world.Edge, side*side), make([][]world.Channel, side*side)
	for v := range g.edges {
		x, y := v%side, v/side
		for _, to := range [][2]int{{x, y - 1}, {x - 1, y}, {x + 1, y}, {x, y + 1}} {
			if to[0] < 0 || to[1] < 0 || to[0] == side || to[1] == side {
				continue
			}
			u := world.V(to[1]*side + to[0])
			if sort == world.Physical {
				g.edges[v] = append(g.edges[v], world.Edge{To: u, Distance: 1000})
			} else {
				g.out[v] = append(g.out[v], world.Channel{To: u, Weight: int64(v+int(u)) % 2, Open: true})
			}
		}
	}
	return g
}

func (g *grid) Vertex(string) (world.V, bool)      { return world.V(g.side*g.side/2 + g.side/2), true }
func (g *grid) Vertices() int                      { return g.side * g.side }
func (g *grid) Name(world.V) string                { return "v" }
func (g *grid) Sort(world.V) world.Sort            { return g.sort }
func (g *grid) Edges(v world.V) []world.Edge       { return g.edges[v] }
func (g *grid) Out(v world.V) []world.Channel      { return g.out[v] }
func (g *grid) In(v world.V) []world.Channel       { return g.out[v] }
func (g *grid) HasLabel(v world.V, id uint32) bool { return id == 0 && g.hasP(v) }

// Scan finds one tuple with the string "a" at each vertex, whatever the relation.
func (g *grid) Scan(_ world.Rel, known []schema.Value, _ uint64, _ world.Sense, yield func(world.Tuple) bool) bool {
	g.tuple[0], g.tuple[1] = known[0], schema.StringValue("a")
	return yield(world.Tuple{Args: g.tuple[:len(known)], Mark: verdict.F})
}

func (g *grid) hasP(v world.V) bool {
	return g.sort == world.Physical || int(v)/g.side/5 == g.side/10
}

// workloads are formulas on large worlds in which nothing is found, so that all of the ball
// is searched.
func workloads(tb testing.TB) map[string]func() {
	tb.Helper()
	p, q := &syntax.Label{Name: "p"}, &syntax.Label{Name: "q"}
	o := variable("o")
	near, free := syntax.Distance{Hi: 4000}, syntax.Distance{Unbounded: true}
	physical, informational := newGrid(316, world.Physical), newGrid(316, world.Informational)
	out := map[string]func(){}
	for name, c := range map[string]struct {
		f syntax.Formula
		g *grid
	}{
		"reach physical ball of 41":       {&syntax.Reach{D: near, Left: p, Right: q}, physical},
		"reach physical with lower bound": {&syntax.Reach{D: syntax.Distance{Lo: 1000, Hi: 4000}, Left: p, Right: q}, physical},
		"surround physical ball of 41":    {&syntax.Surround{D: near, Left: p, Right: q}, physical},
		"nested physical balls of 41":     {&syntax.Somewhere{D: near, F: &syntax.And{Left: p, Right: &syntax.Somewhere{D: near, F: q}}}, physical},
		"objects in a ball of 41": {&syntax.Somewhere{D: near, F: &syntax.Exists{Vars: []syntax.Var{o}, F: &syntax.And{
			Left:  &syntax.Pred{Name: "holds", Args: []syntax.Term{syntax.Here{}, o}},
			Right: &syntax.Not{F: &syntax.Cmp{Op: syntax.Eq, Left: o, Right: text("a")}},
		}}}, physical},
		"reach informational, 5 rows":      {&syntax.Reach{D: free, Left: p, Right: q}, informational},
		"somewhere informational, 100,000": {&syntax.Somewhere{D: free, F: q}, informational},
	} {
		f, err := Compile(at(c.f), modelSpec())
		if err != nil {
			tb.Fatal(err)
		}
		out[name] = func() { f.Value(c.g, "v", nil, world.Unsafe) }
	}
	return out
}

func BenchmarkValue(b *testing.B) {
	all := workloads(b)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		run := all[name]
		b.Run(name, func(b *testing.B) {
			run()
			b.ReportAllocs()
			for b.Loop() {
				run()
			}
		})
	}
}

func TestValueAllocatesNothing(t *testing.T) {
	for name, run := range workloads(t) {
		if n := testing.AllocsPerRun(3, run); n > 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}
