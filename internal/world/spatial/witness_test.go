package spatial

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/aspis-rv/aspis/internal/lang/syntax"
	"github.com/aspis-rv/aspis/internal/world"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// TestWitness compares the paths of operators with the best one among all simple paths, and
// checks that their steps are there.
func TestWitness(t *testing.T) {
	r := seeded(t)
	g := newGenerator(r)
	g.labels = 1
	counts := map[string]int{}
	for range 4_000 {
		m := newModel(r, 1+r.IntN(6))
		f := g.operator(2)
		inner, negated := f, r.IntN(2) == 0
		if negated {
			f = &syntax.Not{F: f}
		}
		c := mustCompile(t, f, modelSpec())
		sense := world.Sense(r.IntN(2))
		o := newOracle(m)
		for v, value := range o.values(f, sense) {
			got, ok := c.Witness(m, m.names[v], nil, sense)
			if m.sorts[v] == world.Unknown {
				if ok != (sense == world.Unsafe) {
					t.Fatalf("%s at unknown %s: %v", f, m.names[v], got)
				}
				continue
			}
			want, expected := o.best(inner, world.V(v), negated)
			expected = expected && value == verdict.F
			if ok != expected || ok && render(got) != want {
				t.Fatalf("%s at %s, %v: %v %s, want %v %s\n%+v", kindOf(inner), m.names[v], sense, ok, render(got), expected, want, m)
			}
			if ok {
				counts[kindOf(inner)]++
			}
		}
	}
	for _, k := range []string{"SOMEWHERE", "EVERYWHERE", "ESCAPE", "ESCAPE restricted", "REACH", "SURROUND"} {
		if counts[k] < 100 {
			t.Errorf("%d paths of %s", counts[k], k)
		}
	}
	t.Logf("paths %v", counts)
}

func render(path []world.Step) string {
	var b strings.Builder
	for _, s := range path {
		fmt.Fprintf(&b, "%s:%d:%d ", s.Vertex, s.Distance, s.Origin)
	}
	return b.String()
}

// best is the path that shows that an operator holds, or with negated that it does not,
// rendered: least weight, fewest vertices, first names.
func (o *oracle) best(f syntax.Formula, v world.V, negated bool) (string, bool) {
	o.which, o.tables = allTuples, map[tableKey][]bool{}
	var d syntax.Distance
	var shows func(simple) bool
	switch f := f.(type) {
	case *syntax.Somewhere:
		d = f.D
		shows = o.ends(f.D, v, o.table(f.F, negated), true)
	case *syntax.Everywhere:
		d = f.D
		shows = o.ends(f.D, v, o.table(f.F, negated), false)
	case *syntax.Reach:
		d = f.D
		right, along, nearer := o.table(f.Right, negated), o.before(f.Left, negated), o.before(f.Left, !negated)
		paths := o.paths(v, d)
		shows = func(p simple) bool {
			short, near := least(paths, p.end(), nearer)
			return right[p.end()] && along(p) && within(d, p.weight) && (!near || short >= d.Lo)
		}
	case *syntax.Escape:
		d = f.D
		shows = o.escapes(f, v, negated)
	case *syntax.Surround:
		d = f.D
		shows = o.exceptions(f, v, negated)
	default:
		return "", false
	}
	_, universal := f.(*syntax.Everywhere)
	_, surround := f.(*syntax.Surround)
	if negated != (universal || surround) {
		return "", false
	}
	return o.first(o.paths(v, d), shows)
}

func within(d syntax.Distance, n int64) bool {
	return d.Unbounded || n <= d.Hi && d.Lo <= d.Hi
}

func (o *oracle) ends(d syntax.Distance, v world.V, holds []bool, want bool) func(simple) bool {
	paths := o.paths(v, d)
	return func(p simple) bool {
		n, _ := least(paths, p.end(), anyPath)
		return p.weight == n && d.Contains(n) && holds[p.end()] == want
	}
}

func (o *oracle) escapes(f *syntax.Escape, v world.V, negated bool) func(simple) bool {
	paths, along, nearer := o.paths(v, f.D), o.throughout(f.F, negated), o.throughout(f.F, !negated)
	return func(p simple) bool {
		if f.Restricted {
			short, near := least(paths, p.end(), nearer)
			return along(p) && within(f.D, p.weight) && (!near || short >= f.D.Lo)
		}
		n, _ := least(paths, p.end(), anyPath)
		return along(p) && f.D.Contains(n)
	}
}

func (o *oracle) exceptions(f *syntax.Surround, v world.V, negated bool) func(simple) bool {
	left, right := o.table(f.Left, negated), o.table(f.Right, negated)
	paths, inside, reached := o.paths(v, f.D), o.before(f.Left, negated), o.before(f.Left, !negated)
	return func(p simple) bool {
		if !left[v] {
			return len(p.vertices) == 1
		}
		if !reached(p) {
			return false
		}
		m := p.end()
		n, ok := least(paths, m, inside)
		nearest, _ := least(paths, m, reached)
		return !ok || !f.D.Unbounded && n > f.D.Hi || !left[m] && (!right[m] || nearest < f.D.Lo)
	}
}

// first renders the best of the paths that show something.
func (o *oracle) first(paths []simple, shows func(simple) bool) (string, bool) {
	var best []simple
	for _, p := range paths {
		if shows(p) {
			best = append(best, p)
		}
	}
	if len(best) == 0 {
		return "", false
	}
	p := slices.MinFunc(best, func(a, b simple) int {
		switch {
		case a.weight != b.weight:
			return int(a.weight - b.weight)
		case len(a.vertices) != len(b.vertices):
			return len(a.vertices) - len(b.vertices)
		}
		return slices.Compare(a.vertices, b.vertices)
	})
	return o.render(p), true
}

// render prints a path with the distances and origins of its steps. The origins of models
// tell edges from channels; the walk uses the lighter of both.
func (o *oracle) render(p simple) string {
	out, d := fmt.Sprintf("%s:0:0 ", o.m.names[p.vertices[0]]), int64(0)
	for i, v := range p.vertices[1:] {
		d += p.steps[i].weight
		out += fmt.Sprintf("%s:%d:%d ", o.m.names[v], d, p.steps[i].origin)
	}
	return out
}

// line is a physical world: a row of vertices with p, so many metres apart.
func line(n int, metres int64) *model {
	m := newModel(rand.New(rand.NewPCG(1, 1)), n)
	for i := range n {
		m.remove(world.V(i))
		m.sorts[i], m.labels[i] = world.Physical, map[string]bool{"p": true}
		if i > 0 {
			m.setEdge(world.V(i-1), world.V(i), metres)
		}
	}
	return m
}

func reachFormula(lo, hi int64) syntax.Formula {
	return &syntax.Reach{D: syntax.Distance{Lo: lo, Hi: hi}, Left: &syntax.Label{Name: "p"}, Right: &syntax.Label{Name: "q"}}
}

func sameWords(a, b string) bool {
	return slices.Equal(slices.Sorted(slices.Values(strings.Fields(a))), slices.Sorted(slices.Values(strings.Fields(b))))
}
