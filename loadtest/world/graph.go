// Package world measures the monitors of the spatial and the temporal aspect on a large
// world, and checks their answers against searches of the plain graph.
package world

import (
	"fmt"
	"math/rand/v2"

	"github.com/aspis-rv/aspis/internal/world"
)

// Size is that of a world.
type Size struct {
	Vertices, Channels, Records, Domains int
	Open                                 float64 // share of the channels that are open
	Seed                                 uint64
}

// graph is a random world as plain tables: where records are and what is marked, and which
// channels are open.
type graph struct {
	size    Size
	ends    [][2]int
	open    []bool
	out, in [][]int // channels by vertex
	at      [][]int // vertices by record
	marked  []bool
}

func newGraph(size Size) *graph {
	r := rand.New(rand.NewPCG(size.Seed, 1))
	g := &graph{
		size: size, out: make([][]int, size.Vertices), in: make([][]int, size.Vertices),
		at: make([][]int, size.Records), marked: make([]bool, size.Records),
	}
	seen := map[[2]int]bool{}
	for len(g.ends) < size.Channels {
		end := [2]int{r.IntN(size.Vertices), r.IntN(size.Vertices)}
		if end[0] == end[1] || seen[end] {
			continue
		}
		seen[end] = true
		n := len(g.ends)
		g.ends, g.open = append(g.ends, end), append(g.open, r.Float64() < size.Open)
		g.out[end[0]], g.in[end[1]] = append(g.out[end[0]], n), append(g.in[end[1]], n)
	}
	for i := range g.at {
		g.at[i], g.marked[i] = []int{r.IntN(size.Vertices)}, i%10 == 0
	}
	return g
}

func vertexName(v int) string     { return fmt.Sprintf("v%06d", v) }
func recordName(r int) string     { return fmt.Sprintf("r%05d", r) }
func domainName(d int) string     { return fmt.Sprintf("D%02d", d) }
func (g *graph) domain(v int) int { return v % g.size.Domains }

// declare writes the world into a spec that has the states and attributes of the bundle.
func (g *graph) declare(spec world.Spec) *world.Spec {
	spec.Vertices, spec.Channels, spec.Objects = nil, nil, nil
	for v := range g.size.Vertices {
		spec.Vertices = append(spec.Vertices, world.VertexSpec{
			Name: vertexName(v), Sort: world.Informational, Domain: domainName(g.domain(v)),
		})
	}
	for i, e := range g.ends {
		spec.Channels = append(spec.Channels, world.ChannelSpec{
			From: vertexName(e[0]), To: vertexName(e[1]), Weight: world.WeightByDomain, Open: g.open[i],
		})
	}
	for r, at := range g.at {
		spec.Objects = append(spec.Objects, world.ObjectSpec{Name: recordName(r), At: []string{vertexName(at[0])}})
	}
	return &spec
}

// reached is the set of domains that open channels lead to from some vertices.
func (g *graph) reached(from ...int) []bool {
	domains := make([]bool, g.size.Domains)
	g.walk(from, g.out, 1, func(v int) { domains[g.domain(v)] = true })
	return domains
}

// sources is the set of vertices from which open channels lead to v.
func (g *graph) sources(v int) []bool {
	out := make([]bool, g.size.Vertices)
	g.walk([]int{v}, g.in, 0, func(w int) { out[w] = true })
	return out
}

// walk visits what is reached over open channels; end says which end of them is the next.
func (g *graph) walk(from []int, channels [][]int, end int, visit func(v int)) {
	seen := make([]bool, g.size.Vertices)
	var next []int
	push := func(v int) {
		if !seen[v] {
			seen[v] = true
			next = append(next, v)
		}
	}
	for _, v := range from {
		push(v)
	}
	for len(next) > 0 {
		v := next[len(next)-1]
		next = next[:len(next)-1]
		visit(v)
		for _, c := range channels[v] {
			if g.open[c] {
				push(g.ends[c][end])
			}
		}
	}
}

// closed returns a random channel that is open, or is not.
func (g *graph) channel(r *rand.Rand, open bool) int {
	for {
		if c := r.IntN(len(g.ends)); g.open[c] == open {
			return c
		}
	}
}
