package world_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/aspis-rv/aspis/internal/world"
	"github.com/aspis-rv/aspis/pkg/schema"
)

const (
	bigVertices = 100_000
	bigLines    = 400_000
	bigObjects  = 10_000
	bigDomains  = 64
)

// bigSpec is a random world: lines are channels, of which a part is open.
func bigSpec(r *rand.Rand, lines int, open float64) *world.Spec {
	spec := &world.Spec{Vertices: make([]world.VertexSpec, bigVertices)}
	for i := range spec.Vertices {
		spec.Vertices[i] = world.VertexSpec{
			Name: fmt.Sprintf("vertex-%06d", i), Sort: world.Informational,
			Domain: fmt.Sprintf("domain-%02d", r.IntN(bigDomains)), Labels: []string{fmt.Sprintf("label-%d", r.IntN(16))},
		}
	}
	seen := map[[2]int]bool{}
	for len(spec.Channels) < lines {
		a, b := r.IntN(bigVertices), r.IntN(bigVertices)
		if a == b || seen[[2]int{a, b}] {
			continue
		}
		seen[[2]int{a, b}] = true
		spec.Channels = append(spec.Channels, world.ChannelSpec{
			From: spec.Vertices[a].Name, To: spec.Vertices[b].Name, Weight: world.WeightByDomain, Open: r.Float64() < open,
		})
	}
	return spec
}

// placeObjects puts the objects of a big world at vertices of its own choice.
func placeObjects(r *rand.Rand, w *world.World, at func(int) string) *world.World {
	edits := make([]world.Edit, bigObjects)
	for i := range edits {
		edits[i] = world.Edit{Op: world.Place, A: fmt.Sprintf("object-%05d", i), B: at(r.IntN(bigVertices))}
	}
	w, _ = w.Apply(edits, world.Origin{Offset: 1})
	return w
}

func anywhere(i int) string { return fmt.Sprintf("vertex-%06d", i) }

func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// BenchmarkBuild makes a world of 100,000 vertices and 400,000 channels.
func BenchmarkBuild(b *testing.B) {
	spec := bigSpec(rand.New(rand.NewPCG(1, 1)), bigLines, 0.5)
	before := heap()
	var w *world.World
	for b.Loop() {
		w = newWorld(b, spec)
	}
	b.ReportMetric(float64(heap()-before)/bigVertices, "heap-B/vertex")
	runtime.KeepAlive(w)
}

// BenchmarkPlace makes the shadow of one placement, with all other objects elsewhere or at the
// same vertex.
func BenchmarkPlace(b *testing.B) {
	spec := bigSpec(rand.New(rand.NewPCG(1, 1)), bigLines, 0.5)
	for name, at := range map[string]func(int) string{"scattered": anywhere, "one-vertex": func(int) string { return anywhere(7) }} {
		b.Run(name, func(b *testing.B) {
			w := placeObjects(rand.New(rand.NewPCG(1, 2)), newWorld(b, spec), at)
			edits := []world.Edit{{Op: world.Place, A: "fresh", B: anywhere(7)}}
			b.ReportAllocs()
			for b.Loop() {
				next, d := w.Apply(edits, world.Origin{Offset: 2, Call: "c"})
				if next == w {
					b.Fatal("nothing changed")
				}
				d.Touched(world.Rel{Kind: world.ReachesDomain}, func([]schema.Value) bool { return true })
			}
			b.StopTimer()
			shadows := make([]*world.World, 1000)
			before := heap()
			for i := range shadows {
				shadows[i], _ = w.Apply(edits, world.Origin{Offset: 2, Call: "c"})
			}
			b.ReportMetric(float64(heap()-before)/float64(len(shadows)), "heap-B/shadow")
			runtime.KeepAlive(shadows)
		})
	}
}

// BenchmarkChannels opens and closes random channels, what the objects newly come to included,
// in graphs of several densities: half of the channels open, the others around the point where
// a giant component appears.
func BenchmarkChannels(b *testing.B) {
	for _, c := range []struct {
		name  string
		lines int
		open  float64
	}{{"half-open", bigLines, 0.5}, {"dense", bigLines, 1}, {"below-threshold", bigVertices, 0.9}, {"above-threshold", 2 * bigVertices, 0.6}} {
		b.Run(c.name, func(b *testing.B) {
			r := rand.New(rand.NewPCG(1, 3))
			spec := bigSpec(r, c.lines, c.open)
			w := placeObjects(r, newWorld(b, spec), anywhere)
			for b.Loop() {
				var opened, closed []time.Duration
				const each = 2000
				for len(opened) < each || len(closed) < each {
					x := spec.Channels[r.IntN(len(spec.Channels))]
					v, _ := w.Vertex(x.From)
					to, _ := w.Vertex(x.To)
					out := w.Out(v)
					isOpen := out[slices.IndexFunc(out, func(c world.Channel) bool { return c.To == to })].Open
					e := world.Edit{Op: world.OpenChannel, A: x.From, B: x.To, N: world.WeightByDomain}
					if isOpen {
						e.Op = world.CloseChannel
					}
					start := time.Now()
					next := timed(w, e)
					if took := time.Since(start); isOpen {
						closed = append(closed, took)
					} else {
						opened = append(opened, took)
					}
					w = next
				}
				report(b, "open", opened)
				report(b, "close", closed)
			}
		})
	}
}

// timed makes an edit and asks for the objects that come elsewhere.
func timed(w *world.World, e world.Edit) *world.World {
	next, d := w.Apply([]world.Edit{e}, world.Origin{Offset: 2})
	d.Touched(world.Rel{Kind: world.ReachesDomain}, func([]schema.Value) bool { return true })
	return next
}

func report(b *testing.B, what string, took []time.Duration) {
	b.Helper()
	slices.Sort(took)
	at := func(q float64) float64 { return float64(took[int(q*float64(len(took)-1))].Microseconds()) }
	b.ReportMetric(at(0.5), what+"-p50-µs")
	b.ReportMetric(at(0.99), what+"-p99-µs")
	b.ReportMetric(at(1), what+"-max-µs")
}

// BenchmarkBridge opens and closes the only channel between two halves of the world, both of
// them strongly connected and in domains of their own.
func BenchmarkBridge(b *testing.B) {
	spec := &world.Spec{}
	for i := range bigVertices {
		half := i * 2 / bigVertices
		spec.Vertices = append(spec.Vertices, world.VertexSpec{Name: anywhere(i), Sort: world.Informational, Domain: fmt.Sprintf("domain-%d-%02d", half, i%32)})
	}
	r := rand.New(rand.NewPCG(1, 4))
	half := bigVertices / 2
	for h := range 2 {
		for i := range half {
			for k, to := range []int{(i + 1) % half, r.IntN(half)} {
				if k == 0 || to != (i+1)%half {
					spec.Channels = append(spec.Channels, world.ChannelSpec{From: anywhere(h*half + i), To: anywhere(h*half + to), Weight: 1, Open: true})
				}
			}
		}
	}
	w := placeObjects(r, newWorld(b, spec), anywhere)
	var opened, closed []time.Duration
	for b.Loop() {
		start := time.Now()
		w = timed(w, world.Edit{Op: world.OpenChannel, A: anywhere(1), B: anywhere(half + 1)})
		opened = append(opened, time.Since(start))
		start = time.Now()
		w = timed(w, world.Edit{Op: world.CloseChannel, A: anywhere(1), B: anywhere(half + 1)})
		closed = append(closed, time.Since(start))
	}
	report(b, "open", opened)
	report(b, "close", closed)
}

// TestApplyOfNothingAllocatesNothing holds the cost of an event without effects.
func TestApplyOfNothingAllocatesNothing(t *testing.T) {
	w := newWorld(t, medevac())
	if n := testing.AllocsPerRun(100, func() { w.Apply(nil, world.Origin{Offset: 1, Call: "c"}) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// BenchmarkTouchedStops is the listing of the first 16,384 of the pairs that a change touches, of
// which there are many more: a source below a chain of objects, a label among unknown vertices.
func BenchmarkTouchedStops(b *testing.B) {
	first := func(b *testing.B, rel world.Rel, edits []world.Edit, last world.Edit) {
		b.Helper()
		w := newWorld(b, &world.Spec{Vertices: []world.VertexSpec{{Name: "v", Sort: world.Physical}}})
		w, _ = w.Apply(edits, world.Origin{Offset: 1})
		_, d := w.Apply([]world.Edit{last}, world.Origin{Offset: 2})
		for b.Loop() {
			n := 0
			d.Touched(rel, func([]schema.Value) bool { n++; return n < 1<<14 })
		}
	}
	b.Run("derived", func(b *testing.B) {
		var edits []world.Edit
		for i := range 20_000 {
			edits = append(edits, world.Edit{Op: world.Derive, A: fmt.Sprint("o", i+1), B: fmt.Sprint("o", i)})
		}
		first(b, world.Rel{Kind: world.Derived}, edits, world.Edit{Op: world.Derive, A: "o10000", B: "root"})
	})
	b.Run("label", func(b *testing.B) {
		var edits []world.Edit
		for i := range 10_000 {
			edits = append(edits, world.Edit{Op: world.Place, A: fmt.Sprint("o", i), B: fmt.Sprint("u", i)})
		}
		for i := range 1000 {
			edits = append(edits, world.Edit{Op: world.AddLabel, A: "v", B: fmt.Sprint("l", i)})
		}
		first(b, world.Rel{Kind: world.HasLabel}, edits, world.Edit{Op: world.AddLabel, A: "v", B: "new"})
	})
}
