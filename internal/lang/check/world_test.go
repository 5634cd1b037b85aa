package check

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/aspis-rv/aspis/internal/lang/syntax"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// This file is the definition of the language on a small world, executed: the vertices are
// the texts of the domain, and opened(s, t) is a way from s to t.

// here is the name of @l in a valuation.
const here = "@l"

// fact tells whether the fact, or the tuple of the world, is there.
func (m model) fact(i int, name string, args ...schema.Value) bool {
	texts := make([]string, len(args))
	for k, x := range args {
		texts[k] = x.String()
	}
	facts := m.trace[i].facts
	if m.before {
		facts = m.trace[i].before
	}
	return facts[name+"("+strings.Join(texts, ",")+")"]
}

// route is a way without a vertex twice, and its weight.
type route struct {
	vertices []schema.Value
	weight   int64
}

func (p route) end() schema.Value { return p.vertices[len(p.vertices)-1] }

// paths lists those from a vertex. A way to "ab" costs nothing.
func (m model) paths(from schema.Value, i int) []route {
	out := []route{{vertices: []schema.Value{from}}}
	for k := 0; k < len(out); k++ {
		for _, to := range domain("s") {
			if slices.Contains(out[k].vertices, to) || !m.fact(i, "opened", out[k].end(), to) {
				continue
			}
			p := route{append(slices.Clone(out[k].vertices), to), out[k].weight}
			if to.Str != "ab" {
				p.weight++
			}
			out = append(out, p)
		}
	}
	return out
}

// distance is that of the shortest of the paths to a vertex along which inner holds before
// the end.
func distance(paths []route, to schema.Value, inner func(schema.Value) bool) (n int64, reached bool) {
	n = math.MaxInt64
	for _, p := range paths {
		ok := p.end() == to
		for _, v := range p.vertices[:len(p.vertices)-1] {
			ok = ok && inner(v)
		}
		if ok {
			n, reached = min(n, p.weight), true
		}
	}
	return n, reached
}

// look evaluates a label or a spatial operator at @l.
func (m model) look(f syntax.Formula, i int, v valuation) bool {
	at := v[here]
	if label, ok := f.(*syntax.Label); ok {
		return m.fact(i, "label", at, schema.StringValue(label.Name))
	}
	sat := func(g syntax.Formula) func(schema.Value) bool {
		return func(x schema.Value) bool { return m.holds(g, i, v.with(here, x)) }
	}
	anywhere := func(schema.Value) bool { return true }
	paths := m.paths(at, i)
	within := func(d syntax.Distance, to schema.Value, inner func(schema.Value) bool) bool {
		n, reached := distance(paths, to, inner)
		return reached && d.Contains(n)
	}
	switch f := f.(type) {
	case *syntax.Somewhere:
		return some(func(x schema.Value) bool { return within(f.D, x, anywhere) && sat(f.F)(x) })
	case *syntax.Everywhere:
		return !some(func(x schema.Value) bool { return within(f.D, x, anywhere) && !sat(f.F)(x) })
	case *syntax.Escape:
		return some(func(x schema.Value) bool {
			_, reached := distance(paths, x, sat(f.F))
			return reached && sat(f.F)(x) && within(f.D, x, anywhere)
		})
	case *syntax.Reach:
		return some(func(x schema.Value) bool { return sat(f.Right)(x) && within(f.D, x, sat(f.Left)) })
	case *syntax.Surround:
		return sat(f.Left)(at) && !some(func(x schema.Value) bool {
			n, reached := distance(paths, x, sat(f.Left))
			if sat(f.Left)(x) {
				return reached && !f.D.Unbounded && n > f.D.Hi
			}
			return reached && (!sat(f.Right)(x) || !f.D.Contains(n))
		})
	case *syntax.Bool, *syntax.Pred, *syntax.Cmp, *syntax.Match, *syntax.Not, *syntax.And, *syntax.Or, *syntax.Implies,
		*syntax.Equiv, *syntax.Exists, *syntax.Forall, *syntax.Agg, *syntax.Let, *syntax.New, *syntax.Prev, *syntax.Once,
		*syntax.Historically, *syntax.Since, *syntax.Next, *syntax.Eventually, *syntax.Always, *syntax.Until, *syntax.At,
		*syntax.Label:
	}
	panic(fmt.Sprintf("%T is not looked for", f))
}

// some tells whether the condition holds at some vertex.
func some(holds func(schema.Value) bool) bool {
	return slices.ContainsFunc(domain("s"), holds)
}

// tuples adds a few tuples of the world to the facts.
func (g generator) tuples(facts map[string]bool) {
	for range g.IntN(9) {
		s, t := g.among("s").String(), g.among("s").String()
		switch g.IntN(6) {
		case 0:
			facts["vertex("+s+")"] = true
		case 1:
			facts["label("+s+","+t+")"] = true
		case 2:
			facts["holds("+s+","+t+")"] = true
		case 3:
			facts["load("+s+","+g.among("x").String()+")"] = true
		default:
			facts["opened("+s+","+t+")"] = true
		}
	}
}

// state is a formula about the world alone.
func (g generator) state(height int) syntax.Formula {
	sub := func() syntax.Formula { return g.state(height - 1) }
	if height <= 1 {
		return g.tuple()
	}
	switch g.IntN(10) {
	case 0, 1:
		return &syntax.Not{F: sub()}
	case 2:
		return &syntax.Or{Left: sub(), Right: sub()}
	case 3:
		return &syntax.Exists{Vars: []syntax.Var{g.variableLike("s")}, F: sub()}
	case 4:
		return &syntax.Implies{Left: sub(), Right: sub()}
	case 5, 6:
		return g.at(height - 1)
	}
	return &syntax.And{Left: sub(), Right: sub()}
}

// tuple is an atom about the world.
func (g generator) tuple() syntax.Formula {
	switch g.IntN(6) {
	case 0:
		return &syntax.Pred{Name: "vertex", Args: []syntax.Term{g.argumentLike("s")}}
	case 1:
		return &syntax.Pred{Name: "load", Args: []syntax.Term{g.argumentLike("s"), g.argument()}}
	case 2:
		return &syntax.Pred{Name: "label", Args: []syntax.Term{g.argumentLike("s"), g.argumentLike("s")}}
	case 3:
		return &syntax.Cmp{Op: syntax.Eq, Left: g.termLike("s"), Right: g.termLike("s")}
	}
	return &syntax.Pred{Name: "holds", Args: []syntax.Term{g.argumentLike("s"), g.argumentLike("s")}}
}

// at speaks of a vertex, often of one that a predicate beside it knows.
func (g generator) at(height int) syntax.Formula {
	at := &syntax.At{Loc: g.termLike("s"), F: g.location(height)}
	if g.IntN(2) == 0 {
		at.F = g.spatial(func() syntax.Formula { return g.location(height - 1) })
	}
	var f syntax.Formula = at
	if g.IntN(3) == 0 {
		f = &syntax.Not{F: f}
	}
	if g.IntN(5) > 0 {
		known := &syntax.Pred{Name: "holds", Args: []syntax.Term{at.Loc, g.argumentLike("s")}}
		f = &syntax.And{Left: f, Right: known}
	}
	return f
}

// location is a formula about @l.
func (g generator) location(height int) syntax.Formula {
	sub := func() syntax.Formula { return g.location(height - 1) }
	if height <= 1 {
		return g.mark()
	}
	switch g.IntN(13) {
	case 0, 1:
		return &syntax.Not{F: sub()}
	case 2, 3:
		return &syntax.Or{Left: sub(), Right: sub()}
	case 4:
		return &syntax.Exists{Vars: []syntax.Var{g.variableLike("s")}, F: sub()}
	case 5:
		return &syntax.Forall{Vars: []syntax.Var{g.variableLike("s")}, F: &syntax.Implies{Left: sub(), Right: sub()}}
	case 6:
		return &syntax.Equiv{Left: sub(), Right: sub()}
	case 7, 8, 9:
		return g.spatial(sub)
	}
	return &syntax.And{Left: sub(), Right: sub()}
}

func (g generator) spatial(sub func() syntax.Formula) syntax.Formula {
	switch g.IntN(5) {
	case 0:
		return &syntax.Somewhere{D: g.away(), F: sub()}
	case 1:
		return &syntax.Everywhere{D: g.away(), F: sub()}
	case 2:
		return &syntax.Escape{D: g.away(), F: sub()}
	case 3:
		return &syntax.Reach{D: g.away(), Left: sub(), Right: sub()}
	}
	return &syntax.Surround{D: g.away(), Left: sub(), Right: sub()}
}

// mark is an atom about @l.
func (g generator) mark() syntax.Formula {
	switch g.IntN(6) {
	case 0:
		return &syntax.Pred{Name: "holds", Args: []syntax.Term{syntax.Here{}, g.argumentLike("s")}}
	case 1:
		return &syntax.Pred{Name: "load", Args: []syntax.Term{syntax.Here{}, g.argument()}}
	case 2:
		return &syntax.Cmp{Op: syntax.Eq, Left: g.termLike("s"), Right: syntax.Here{}}
	}
	return &syntax.Label{Name: g.among("s").Str}
}

func (g generator) away() syntax.Distance {
	lo := int64(max(0, g.IntN(4)-1))
	return syntax.Distance{Lo: lo, Hi: lo + int64(g.IntN(3)), Unbounded: g.IntN(3) == 0}
}
