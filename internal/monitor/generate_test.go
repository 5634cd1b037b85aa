package monitor_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/aspis-rv/aspis/internal/lang/check"
	"github.com/aspis-rv/aspis/internal/lang/syntax"
	"github.com/aspis-rv/aspis/internal/world"
	"github.com/aspis-rv/aspis/pkg/aspects"
	"github.com/aspis-rv/aspis/pkg/policy"
	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// generator makes random worlds, clauses and events over few names.
type generator struct {
	*rand.Rand
	spec  *world.Spec
	ts    int64
	calls []string // adopted, without an end
	n     int      // events so far
}

func newGenerator(seed uint64) *generator {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 0))}
	g.spec = g.world()
	return g
}

func pick[T any](g *generator, xs []T) T { return xs[g.IntN(len(xs))] }

// The names that formulas, facts and effects have.
var (
	places  = []string{"home", "gw", "part", "ridge", "alpha", "nowhere"} //nolint:gochecknoglobals // the names of all tests
	objects = []string{"A", "B"}                                          //nolint:gochecknoglobals // the names of all tests
	domains = []string{"D0", "D1"}                                        //nolint:gochecknoglobals // the names of all tests
	labels  = []string{"own", "foreign"}                                  //nolint:gochecknoglobals // the names of all tests
)

// world makes a world with some of the places.
func (g *generator) world() *world.Spec {
	spec := &world.Spec{
		PhysicalUnit: "m", Attributes: []string{"lz"}, Domains: domains, Labels: labels,
		States: []world.StateSpec{{Name: "marked", Kinds: []schema.ValueKind{schema.KindString, schema.KindString}}},
	}
	for i, name := range places[:5] {
		if g.IntN(6) == 0 {
			continue
		}
		v := world.VertexSpec{Name: name, Sort: world.Informational, Labels: g.some(labels)}
		if i > 2 {
			v.Sort = world.Physical
		} else {
			v.Domain = pick(g, domains)
		}
		spec.Vertices = append(spec.Vertices, v)
	}
	for _, a := range spec.Vertices {
		for _, b := range spec.Vertices {
			switch {
			case a.Sort == world.Informational && b.Sort == world.Informational && a.Name != b.Name && g.IntN(3) == 0:
				spec.Channels = append(spec.Channels, world.ChannelSpec{From: a.Name, To: b.Name, Weight: world.WeightByDomain, Open: g.IntN(2) == 0})
			case a.Sort == world.Physical && b.Sort == world.Physical && a.Name < b.Name && g.IntN(2) == 0:
				spec.Edges = append(spec.Edges, world.EdgeSpec{From: a.Name, To: b.Name, Distance: g.Int64N(3)})
			}
		}
	}
	if len(spec.Vertices) > 0 && g.IntN(2) == 0 {
		spec.Objects = append(spec.Objects, world.ObjectSpec{Name: "A", At: []string{spec.Vertices[0].Name}})
	}
	return spec
}

func (g *generator) some(names []string) []string {
	var out []string
	for _, n := range names {
		if g.IntN(2) == 0 {
			out = append(out, n)
		}
	}
	slices.Sort(out)
	return out
}

// signature has the facts of the tests, and the world.
func signature(spec *world.Spec) check.Signature {
	sig := check.Signature{}
	maps.Copy(sig, spec.Signature())
	one, two := []schema.ValueKind{schema.KindString}, []schema.ValueKind{schema.KindString, schema.KindString}
	sig["release"], sig["asks"], sig["go"], sig["ours"] = one, one, one, one
	sig["send"], sig["grant"] = two, two
	return sig
}

// checked parses and checks a formula.
func checked(tb testing.TB, spec *world.Spec, text string) *check.Checked {
	tb.Helper()
	f, diags := syntax.Parse(text, syntax.Options{})
	if diags.HasErrors() {
		tb.Fatalf("%s: %v", text, diags)
	}
	names := map[string]bool{}
	for name := range spec.Signature() {
		names[name] = true
	}
	c, diags := check.Check(f, signature(spec), check.Options{World: names})
	if c == nil {
		tb.Fatalf("%s: %v", text, diags)
	}
	return c
}

// bundle has a clause for each formula, whose id is its number.
func bundle(tb testing.TB, spec *world.Spec, texts ...string) (*policy.Bundle, []*check.Checked) {
	tb.Helper()
	b := &policy.Bundle{World: spec, Digest: [32]byte{1}}
	var list []*check.Checked
	for i, text := range texts {
		c := checked(tb, spec, text)
		list = append(list, c)
		b.Clauses = append(b.Clauses, policy.Clause{ID: fmt.Sprintf("%02d", i), Formulas: []policy.Formula{
			{Aspect: aspects.Spatial, Role: schema.RoleForbid, Checked: c, Text: text},
		}})
	}
	return b, list
}

// templates are clauses of every kind. A variable that begins with d ranges over release
// domains.
var templates = []string{ //nolint:gochecknoglobals // a table
	`NEW (reaches(r, d) AND marked(r, "PHI")) AND NOT ours(d) AND NOT (ONCE[0s,3s] grant(r, d))`,
	`NEW (EXISTS l. (holds(l, r) AND label(l, "foreign")))`,
	`NEW (exists(r) AND marked(r, "PHI") AND NOT (EXISTS l. (holds(l, r) AND label(l, "own"))))`,
	`NEW (gone(r) AND marked(r, "PHI")) AND NOT (ONCE[0s,5s] release(r))`,
	`NEW (derived(r, s) AND marked(s, "PHI")) AND NOT marked(r, "PHI")`,
	`NEW (lz(m, c) AND AT c ((NOT own) REACH[0,3] foreign))`,
	`NEW (lz(m, c) AND NOT (AT c (SOMEWHERE[0,2] own)))`,
	`go(m) AND lz(m, c) AND NOT (AT c (SOMEWHERE[1,2] own))`,
	`send(r, v) AND reaches(r, v)`,
	`send(r, v) AND NOT reaches(r, v)`,
	`NEW (connects(v, d) AND vertex(v)) AND NOT ours(d)`,
	`NEW (opened(a, b) AND domain(a, "D0") AND NOT domain(b, "D0"))`,
	`NEW (domain(l, d) AND holds(l, r))`,
	`send(r, v) AND (ONCE[0s,5s] NEW (holds(v, r)))`,
	`asks(r) AND ((NOT release(r)) SINCE[0s,9s] NEW (marked(r, "PHI")))`,
	`NEW (exists(r) AND NOT (EXISTS l. (holds(l, r) AND AT l (SOMEWHERE[0,1] own))))`,
	`NEW (label(l, "foreign") OR label(l, "own"))`,
	`label(l, "foreign") AND holds(l, r)`,
	`asks(r) AND reaches(r, d)`,
	`holds(l, r) AND connects(l, d) AND NOT reaches(r, "part")`,
	`asks(r) AND holds(l, r) AND AT l (SOMEWHERE[0,1] foreign)`,
	`asks(r) AND holds(l, r) AND NOT (AT l (SOMEWHERE[0,1] (EXISTS s. (holds(@l, s) AND marked(s, "PHI")))))`,
	`NEW (holds(l, r) AND AT l (EXISTS s. (holds(@l, s) AND marked(s, "PHI"))))`,
	`NEW (holds(l, r) AND AT l (SOMEWHERE[0,1] (EXISTS s. (holds(@l, s) AND derived(s, r)))))`,
	`send(r, v) AND NOT NEW (holds(v, r))`,
	`NEW (reaches(r, d) AND NOT connects("gw", d))`,
	`NEW (reaches(r, "part"))`,
	`NEW (reaches(r, "D1"))`,
	`NEW (AT "home" (SOMEWHERE[0,2] foreign))`,
	`NEW (AT "home" (SOMEWHERE[0,2] foreign) AND holds("home", r))`,
	`NEW (holds(l, r) AND NOT (l = "home"))`,
	`asks(r) AND (HISTORICALLY[0s,3s] NOT NEW (holds("home", r)))`,
	`NEW (holds(l, r) AND holds(m, r) AND NOT (l = m))`,
	`asks(r) AND (HISTORICALLY[0s,3s] (EXISTS l. holds(l, r)))`,
	`NEW (holds(l, r) AND AT l (FORALL s. (NOT holds(@l, s) OR marked(s, "PHI"))))`,
	`NEW (lz(m, c) AND AT c (ESCAPE[1,*] (NOT foreign)))`,
	`NEW (lz(m, c) AND AT c (own SURROUND[0,2] foreign))`,
	`NEW (lz(m, c) AND AT c (EVERYWHERE[0,2] (own OR domain(@l, "D0"))))`,
}

// formula makes a clause: one of the templates or a random NEW.
func (g *generator) formula() string {
	if g.IntN(2) == 0 {
		return pick(g, templates)
	}
	f := "NEW (" + g.conjunction() + ")"
	switch g.IntN(6) {
	case 0:
		return "asks(r) AND " + f
	case 1:
		return f + " AND NOT (ONCE[0s,4s] release(r))"
	case 2:
		return "asks(r) AND (ONCE[0s,3s] " + f + ")"
	}
	return f
}

// conjunction makes a formula over the world about an object r, with a location l that may
// be quantified.
func (g *generator) conjunction() string {
	about := []string{`exists(r)`, `marked(r, "PHI")`, `gone(r)`, `marked(r, k)`, `reaches(r, d)`, `reaches(r, "D1")`, `derived(r, "B")`, `derived("A", r)`}
	at := []string{
		`label(l, "own")`, `label(l, "foreign")`, `domain(l, "D0")`, `domain(l, d)`, `connects(l, d)`, `opened(l, "part")`, `opened("home", l)`,
		`reaches(r, l)`, `AT l (own)`, `AT l (SOMEWHERE[0,1] foreign)`, `AT l ((NOT foreign) REACH[0,*] domain(@l, "D1"))`, `vertex(l)`,
	}
	literal := func(of []string) string {
		a := pick(g, of)
		if strings.Contains(a, ", d)") || strings.Contains(a, ", k)") {
			return a
		}
		if g.IntN(3) == 0 {
			return "NOT (" + a + ")"
		}
		return a
	}
	if g.IntN(2) == 0 {
		return strings.Join([]string{pick(g, about), literal(about[:3])}, " AND ")
	}
	var f string
	inner := "holds(l, r) AND " + literal(at)
	if g.IntN(2) == 0 {
		inner += " AND " + literal(at)
	}
	if g.IntN(2) == 0 {
		f = "(EXISTS l. (" + inner + "))"
	} else {
		f = inner
	}
	if g.IntN(3) == 0 {
		f += " AND " + literal(about[:4])
	}
	return f
}

// event makes an event: a call with effects, the end of one, or something else that happens.
func (g *generator) event() aspects.Input {
	g.ts += pick(g, []int64{0, 1, 1, 2, 4}) * 1e9
	g.n++
	in := aspects.Input{TimePoint: uint64(g.n), Timestamp: g.ts, Offset: uint64(10 * g.n), Facts: g.facts(), Evidence: verdict.Sound}
	switch g.IntN(8) {
	case 0: // nothing happens to the world
	case 1, 2:
		in.Ended = g.end()
		if g.IntN(4) == 0 {
			in.Edits = g.edits()
		}
	case 3:
		in.Edits = g.edits()
	default:
		in.Edits, in.Call = g.edits(), fmt.Sprint(in.Offset)
	}
	return in
}

// end ends a call, if there is one.
func (g *generator) end() aspects.Ended {
	if len(g.calls) == 0 {
		return aspects.Ended{}
	}
	at := g.IntN(len(g.calls))
	end := aspects.Ended{Call: g.calls[at], Outcome: pick(g, []aspects.Outcome{aspects.EffectsStay, aspects.EffectsGo, aspects.EffectsDoubt})}
	if end.Outcome != aspects.EffectsDoubt {
		g.calls = slices.Delete(g.calls, at, at+1)
	}
	return end
}

func (g *generator) facts() []schema.Fact {
	var out []schema.Fact
	add := func(name string, args ...string) {
		f := schema.Fact{Name: name}
		for _, a := range args {
			f.Args = append(f.Args, schema.StringValue(a))
		}
		if g.IntN(5) == 0 {
			f.Strength = verdict.Presumptive
		}
		out = append(out, f)
	}
	for range g.IntN(4) {
		switch g.IntN(7) {
		case 0:
			add("send", pick(g, objects), pick(g, places))
		case 1:
			add("grant", pick(g, objects), pick(g, domains))
		case 2:
			add("ours", pick(g, domains))
		case 3:
			add("go", "m")
		case 4:
			add("release", pick(g, objects))
		default:
			add("asks", pick(g, objects))
		}
	}
	return out
}

func (g *generator) edits() []world.Edit {
	var out []world.Edit
	for range 1 + g.IntN(3) {
		out = append(out, g.edit())
	}
	return out
}

func (g *generator) edit() world.Edit {
	place, other, object := pick(g, places), pick(g, places), pick(g, objects)
	switch g.IntN(20) {
	case 0, 1, 2, 3:
		return world.Edit{Op: world.Place, A: object, B: place}
	case 4:
		return world.Edit{Op: world.Move, A: object, B: place}
	case 5:
		return world.Edit{Op: pick(g, []world.Op{world.Remove, world.Remove, world.Destroy}), A: object, B: place}
	case 6, 7:
		return world.Edit{Op: world.OpenChannel, A: place, B: other, N: world.WeightByDomain}
	case 8:
		return world.Edit{Op: world.CloseChannel, A: place, B: other}
	case 9, 10, 11:
		strength := pick(g, []verdict.Strength{verdict.Definite, verdict.Presumptive})
		return world.Edit{Op: world.Mark, Name: "marked", Values: []schema.Value{schema.StringValue(object), schema.StringValue("PHI")}, Strength: strength}
	case 12:
		return world.Edit{Op: world.Derive, A: object, B: pick(g, objects)}
	case 13, 14:
		op := pick(g, []world.Op{world.Set, world.Append})
		return world.Edit{Op: op, Name: "lz", A: "m", Values: []schema.Value{schema.StringValue(place)}}
	case 15:
		return world.Edit{Op: pick(g, []world.Op{world.AddLabel, world.RemoveLabel}), A: place, B: pick(g, labels)}
	case 16:
		return world.Edit{Op: world.SetDomain, A: place, B: pick(g, domains)}
	case 17:
		return world.Edit{Op: world.AddEdge, A: place, B: other, N: g.Int64N(3)}
	case 18:
		sort := pick(g, []world.Sort{world.Physical, world.Informational})
		e := world.Edit{Op: world.AddVertex, A: place, Sort: sort, Names: g.some(labels)}
		if sort == world.Informational {
			e.B = pick(g, domains)
		}
		return e
	}
	return world.Edit{Op: pick(g, []world.Op{world.RemoveVertex, world.RemoveEdge, world.Purge}), A: place, B: pick(g, append(labels, other))}
}
