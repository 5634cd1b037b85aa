package monitor_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/aspis-rv/aspis/internal/world"
	"github.com/aspis-rv/aspis/pkg/aspects"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// TestIdleEvent: an event without effects that concerns no clause allocates nothing.
func TestIdleEvent(t *testing.T) {
	s := tell(t, fleet(), exposure)
	s.happens(place("A", "home"), phi("A"))
	in := s.input(nil)
	if n := testing.AllocsPerRun(1000, func() { s.judgeAndAdopt(&in) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func (s *story) judgeAndAdopt(in *aspects.Input) {
	in.Timestamp++
	in.Offset++
	s.m.Judge(*in)
	s.m.Adopt(*in)
}

// BenchmarkIdle is an event without effects that concerns no clause.
func BenchmarkIdle(b *testing.B) {
	s := tell(b, fleet(), exposure)
	in := s.input(nil)
	b.ReportAllocs()
	for b.Loop() {
		s.judgeAndAdopt(&in)
	}
}

// The size of the world of the benchmarks.
const (
	benchVertices = 100_000
	benchChannels = 400_000
	benchDomains  = 64
)

// bigWorld is a random world in which a share of the channels is open.
func bigWorld(objects int, open float64) *world.Spec {
	g := rand.New(rand.NewPCG(1, 2))
	spec := &world.Spec{PhysicalUnit: "m", States: fleet().States, Attributes: []string{"lz"}, Labels: []string{"home"}}
	for i := range benchVertices {
		spec.Vertices = append(spec.Vertices, world.VertexSpec{
			Name: fmt.Sprintf("v%06d", i), Sort: world.Informational, Domain: fmt.Sprintf("D%02d", i%benchDomains),
		})
	}
	seen := map[[2]int]bool{}
	for len(spec.Channels) < benchChannels {
		a, b := g.IntN(benchVertices), g.IntN(benchVertices)
		if a == b || seen[[2]int{a, b}] {
			continue
		}
		seen[[2]int{a, b}] = true
		spec.Channels = append(spec.Channels, world.ChannelSpec{
			From: spec.Vertices[a].Name, To: spec.Vertices[b].Name, Weight: world.WeightByDomain, Open: g.Float64() < open,
		})
	}
	for i := range objects {
		spec.Objects = append(spec.Objects, world.ObjectSpec{Name: fmt.Sprintf("r%05d", i), At: []string{spec.Vertices[g.IntN(benchVertices)].Name}})
	}
	return spec
}

// crowded is a trace in a big world in which a tenth of the records is marked.
func crowded(b *testing.B, objects int, open float64) (*story, *world.Spec) {
	b.Helper()
	spec := bigWorld(objects, open)
	s := tell(b, spec, exposure, `NEW (lz(m, c) AND AT c (SOMEWHERE[0,4] home))`)
	for i := 0; i < objects; i += 10 {
		s.happens(phi(spec.Objects[i].Name))
	}
	return s, spec
}

// figures reports percentiles in microseconds.
func figures(b *testing.B, times []time.Duration) {
	b.Helper()
	slices.Sort(times)
	us := func(q float64) float64 { return float64(times[int(q*float64(len(times)-1))].Nanoseconds()) / 1e3 }
	b.ReportMetric(us(0.5), "p50-µs")
	b.ReportMetric(us(0.99), "p99-µs")
	b.ReportMetric(us(1), "max-µs")
}

// BenchmarkPlacement is the placement of a record in a big world, judged and adopted.
func BenchmarkPlacement(b *testing.B) {
	for _, objects := range []int{1_000, 10_000} {
		b.Run(fmt.Sprintf("records=%d", objects), func(b *testing.B) {
			s, spec := crowded(b, objects, 0.5)
			g := rand.New(rand.NewPCG(3, 4))
			var times []time.Duration
			b.ReportAllocs()
			for b.Loop() {
				in := s.input([]world.Edit{place(spec.Objects[g.IntN(objects)].Name, spec.Vertices[g.IntN(benchVertices)].Name)})
				start := time.Now()
				s.m.Judge(in)
				s.m.Adopt(in)
				times = append(times, time.Since(start))
				s.m.(aspects.Settler).Settle(aspects.Ended{Call: in.Call, Outcome: aspects.EffectsStay})
			}
			figures(b, times)
		})
	}
}

// BenchmarkChannel is the opening or closing of a random channel among 10,000 records.
func BenchmarkChannel(b *testing.B) {
	for _, share := range []float64{0.2, 0.3, 0.5} {
		for _, op := range []world.Op{world.OpenChannel, world.CloseChannel} {
			b.Run(fmt.Sprintf("%v/open=%v", op, share), func(b *testing.B) {
				s, spec := crowded(b, 10_000, share)
				var times []time.Duration
				i := 0
				for b.Loop() {
					for spec.Channels[i].Open == (op == world.OpenChannel) {
						i = (i + 1) % len(spec.Channels)
					}
					c := spec.Channels[i]
					i = (i + 1) % len(spec.Channels)
					in := s.input([]world.Edit{{Op: op, A: c.From, B: c.To, N: world.WeightByDomain}})
					start := time.Now()
					s.m.Judge(in)
					s.m.Adopt(in)
					times = append(times, time.Since(start))
					s.m.(aspects.Settler).Settle(aspects.Ended{Call: in.Call, Outcome: aspects.EffectsStay})
				}
				figures(b, times)
			})
		}
	}
}

// BenchmarkStanding is an event that asks a location formula over the whole graph about a
// vertex, while records are placed elsewhere: its value stands, and is remembered.
func BenchmarkStanding(b *testing.B) {
	s := tell(b, bigWorld(1_000, 0.5), `go(m) AND lz(m, c) AND AT c (SOMEWHERE[0,*] home)`)
	s.happens(world.Edit{Op: world.Set, Name: "lz", A: "m", Values: []schema.Value{schema.StringValue("v000001")}})
	asks := []schema.Fact{{Name: "go", Args: []schema.Value{schema.StringValue("m")}}}
	g := rand.New(rand.NewPCG(3, 4))
	b.ReportAllocs()
	for b.Loop() {
		in := s.input([]world.Edit{place("r00001", fmt.Sprintf("v%06d", g.IntN(benchVertices)))})
		s.m.Judge(in)
		s.m.Adopt(in)
		s.m.(aspects.Settler).Settle(aspects.Ended{Call: in.Call, Outcome: aspects.EffectsStay})
		in = s.input(nil)
		in.Facts = asks
		s.m.Judge(in)
		s.m.Adopt(in)
	}
}
