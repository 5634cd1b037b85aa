package world_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aspis-rv/aspis/internal/world"
	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// small is a spec in which random edits meet each other often.
func small(r *rand.Rand) *world.Spec {
	spec := &world.Spec{
		Attributes: []string{"lz"},
		States:     []world.StateSpec{{Name: "marked", Kinds: []schema.ValueKind{schema.KindString, schema.KindString}}},
		Labels:     []string{"hot", "l1"},
		Domains:    []string{"D0", "D9"},
	}
	n := 2 + r.IntN(4)
	for i := range n {
		v := world.VertexSpec{Name: fmt.Sprint("v", i), Sort: world.Informational}
		if r.IntN(4) > 0 {
			v.Domain = fmt.Sprint("D", r.IntN(3))
		} else if r.IntN(2) > 0 {
			v.Sort = world.Physical
		}
		if r.IntN(2) > 0 {
			v.Labels = []string{"l1", "l2"}[:1+r.IntN(2)]
		}
		spec.Vertices = append(spec.Vertices, v)
	}
	for i := range n {
		for j := range n {
			if r.IntN(3) == 0 {
				spec.Channels = append(spec.Channels, world.ChannelSpec{From: fmt.Sprint("v", i), To: fmt.Sprint("v", j), Weight: int64(r.IntN(3)) - 1, Open: r.IntN(2) > 0})
			}
			if i <= j && r.IntN(4) == 0 {
				spec.Edges = append(spec.Edges, world.EdgeSpec{From: fmt.Sprint("v", i), To: fmt.Sprint("v", j), Distance: int64(r.IntN(3))})
			}
		}
	}
	if r.IntN(2) > 0 {
		spec.Objects = []world.ObjectSpec{{Name: "o0", At: []string{"v0", "v1"}}}
		spec.Entities = []world.EntitySpec{{Name: "m0", Attributes: []world.AttributeSpec{{Name: "lz", Values: strs("v0")}}}}
	}
	return spec
}

// randomEdit makes an edit over few names: declared vertices, some that are not, and clashes of
// vertices and domains.
func randomEdit(r *rand.Rand) world.Edit {
	pick := func(names ...string) string { return names[r.IntN(len(names))] }
	vertex := func() string { return pick("v0", "v1", "v2", "v3", "v4", "u0", "D0", "v5") }
	domain := func() string { return pick("D0", "D1", "D2", "D3", "v1", "", "?") }
	object := func() string { return pick("o0", "o1", "o2") }
	e := world.Edit{Op: world.Op(1 + r.IntN(int(world.Mark))), A: vertex(), B: vertex()}
	if r.IntN(3) == 0 {
		e.Op = []world.Op{world.OpenChannel, world.CloseChannel, world.Place}[r.IntN(3)]
	}
	switch e.Op {
	case world.AddVertex:
		e.Sort, e.B, e.Names = world.Sort(r.IntN(3)), domain(), []string{pick("l1", "l2"), pick("l2", "l3")}
	case world.AddLabel, world.RemoveLabel:
		e.B = pick("l1", "l2", "l3")
	case world.SetDomain:
		e.B = domain()
	case world.AddEdge, world.OpenChannel:
		e.N = int64(r.IntN(4)) - 1
	case world.Place, world.Remove, world.Move, world.Destroy:
		e.A = object()
	case world.Purge:
		e.A, e.B = object(), pick("l1", "l2")
	case world.Derive:
		e.A, e.B = object(), object()
	case world.Set, world.Append:
		e.Name, e.A, e.Values = "lz", pick("m0", "m1"), strs([]string{pick("v0", "v1"), pick("v1", "v2")}[:r.IntN(3)]...)
	case world.Mark:
		e.Name, e.Values, e.Strength = "marked", strs(object(), pick("PHI", "TS")), verdict.Strength(r.IntN(2))
	case world.RemoveVertex, world.RemoveEdge, world.CloseChannel:
	}
	return e
}

func allRels() []world.Rel {
	var rels []world.Rel
	for k := world.Holds; k <= world.DeclaredVertex; k++ {
		rels = append(rels, world.Rel{Kind: k})
	}
	return append(rels, world.Rel{Kind: world.AttributeOf, Name: "lz"}, world.Rel{Kind: world.StateOf, Name: "marked"})
}

func arity(rel world.Rel) int {
	if slices.Contains([]world.RelKind{world.Exists, world.Gone, world.DeclaredVertex}, rel.Kind) {
		return 1
	}
	return 2
}

// scan lists the tuples of a relation that agree, and the names in them, in Scan's order.
func scan(w *world.World, rel world.Rel, known []schema.Value, bound uint64, sense world.Sense) (lines []string, args [][]schema.Value) {
	w.Scan(rel, known, bound, sense, func(t world.Tuple) bool {
		lines = append(lines, line(t))
		args = append(args, slices.Clone(t.Args))
		return true
	})
	return lines, args
}

// pair is a world and its oracle.
type pair struct {
	w *world.World
	o *oracle
}

type checker struct {
	t      *testing.T
	r      *rand.Rand
	rels   []world.Rel
	counts map[string]int
	log    []string
}

func (c *checker) fail(format string, args ...any) {
	c.t.Helper()
	c.t.Fatalf("%s\nhistory:\n%s", fmt.Sprintf(format, args...), strings.Join(c.log, "\n"))
}

// check compares every relation in both senses, and one question with bound arguments.
func (c *checker) check(p pair) {
	c.t.Helper()
	for _, rel := range c.rels {
		for _, sense := range []world.Sense{world.Safe, world.Unsafe} {
			if sense == world.Unsafe && !sensitive(rel) {
				continue
			}
			got, args := scan(p.w, rel, make([]schema.Value, arity(rel)), 0, sense)
			slices.Sort(got)
			want := p.o.table(rel, sense)
			if !slices.Equal(got, want) {
				c.fail("relation %v, sense %v:\n got %v\nwant %v", rel, sense, got, want)
			}
			c.counts[fmt.Sprint("tuples of ", rel)] += len(got)
			if len(args) > 0 {
				c.bound(p, rel, sense, args[c.r.IntN(len(args))], want)
			}
		}
	}
}

func (c *checker) bound(p pair, rel world.Rel, sense world.Sense, args []schema.Value, all []string) {
	known := slices.Clone(args)
	if c.r.IntN(3) == 0 {
		_, other := scan(p.w, c.rels[c.r.IntN(len(c.rels))], make([]schema.Value, 2), 0, sense)
		if len(other) > 0 {
			known[c.r.IntN(len(known))] = other[c.r.IntN(len(other))][0]
		}
	}
	mask := uint64(1 + c.r.IntN(1<<len(known)-1))
	if mask&1 != 0 && !slices.Contains(p.o.vertices(), known[0].Str) {
		return // an unknown vertex that does not occur has tuples where it is asked for alone
	}
	got, _ := scan(p.w, rel, known, mask, sense)
	var want []string
	for _, l := range all {
		names, _, _ := strings.Cut(l, "@")
		names, _, _ = strings.Cut(names, ":")
		agrees := true
		for i, name := range strings.Split(names, ",") {
			agrees = agrees && (mask>>i&1 == 0 || known[i].Str == name)
		}
		if agrees {
			want = append(want, l)
		}
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		c.fail("relation %v%v bound %b, sense %v:\n got %v\nwant %v", rel, known, mask, sense, got, want)
	}
	c.counts["questions with bound arguments"]++
}

// delta checks that what changed is touched.
func (c *checker) delta(before, after pair, d *world.Delta) {
	c.t.Helper()
	for _, rel := range c.rels {
		keys := map[string]bool{}
		d.Touched(rel, func(args []schema.Value) bool {
			key := line(world.Tuple{Args: args, Mark: verdict.F})
			if keys[key] {
				c.fail("%v touches %s twice", rel, key)
			}
			keys[key] = true
			return true
		})
		if len(keys) > 0 && (!d.Touches(rel) || d.Empty()) {
			c.fail("%v touches %v, but Touches denies it", rel, keys)
		}
		for _, sense := range []world.Sense{world.Safe, world.Unsafe} {
			if sense == world.Unsafe && !sensitive(rel) {
				continue
			}
			for _, l := range difference(before.o.table(rel, sense), after.o.table(rel, sense)) {
				key := l
				if k := rel.Kind; k == world.Reaches || k == world.ReachesDomain || k == world.Connects || k == world.ConnectsDomain {
					key, _, _ = strings.Cut(l, ",")
				}
				if !keys[key] {
					c.fail("%v changed by %s in sense %v, touched are %v", rel, l, sense, keys)
				}
				c.counts[fmt.Sprint("changes of ", rel)]++
			}
		}
	}
	c.structure(before, after, d)
}

// difference lists what is in one of two tables only, without origins.
func difference(a, b []string) []string {
	strip := func(list []string) map[string]bool {
		out := map[string]bool{}
		for _, l := range list {
			l, _, _ = strings.Cut(l, "@")
			out[l] = true
		}
		return out
	}
	x, y := strip(a), strip(b)
	var out []string
	for _, pair := range [][2]map[string]bool{{x, y}, {y, x}} {
		for l := range pair[0] {
			if !pair[1][l] {
				names, _, _ := strings.Cut(l, ":")
				out = append(out, names)
			}
		}
	}
	return out
}

// structure checks the vertices and ends that a delta names.
func (c *checker) structure(before, after pair, d *world.Delta) {
	c.t.Helper()
	describe := func(o *oracle, v string) string {
		s := o.sort(v).String() + o.domain(v)
		for _, p := range o.all("label", v) {
			if o.hasLabel(v, p.b) {
				s += p.b
			}
		}
		return s
	}
	ends := func(o *oracle, v string) string {
		var list []string
		for _, kind := range []string{"edge", "channel"} {
			for p := range o.kinds[kind] {
				if x := o.get(p); x.there && (p.a == v || p.b == v) {
					if kind == "channel" {
						x.n = o.weight(p, x)
					}
					list = append(list, fmt.Sprint(p, x))
				}
			}
		}
		slices.Sort(list)
		return strings.Join(list, " ")
	}
	for v := range world.V(after.w.Vertices()) {
		name := after.w.Name(v)
		if (describe(before.o, name) != describe(after.o, name)) != slices.Contains(d.Vertices(), v) {
			c.fail("vertex %s: %s, then %s; Vertices %v", name, describe(before.o, name), describe(after.o, name), d.Vertices())
		}
		if ends(before.o, name) != ends(after.o, name) && !slices.Contains(d.Walked(), v) {
			c.fail("vertex %s: the ends changed; Walked %v", name, d.Walked())
		}
	}
}

// graph compares the graph's own questions.
func (c *checker) graph(p pair) {
	c.t.Helper()
	for v := range world.V(p.w.Vertices()) {
		name := p.w.Name(v)
		if p.w.Sort(v) != p.o.sort(name) || p.w.Domain(v) != p.o.domain(name) {
			c.fail("vertex %s is %v %q", name, p.w.Sort(v), p.w.Domain(v))
		}
		var out, in, edges, want, wantIn, wantEdges []string
		for _, x := range p.w.Out(v) {
			out = append(out, fmt.Sprint(p.w.Name(x.To), x.Weight, x.Open, x.Origin))
		}
		for _, x := range p.w.In(v) {
			in = append(in, fmt.Sprint(p.w.Name(x.To), x.Weight, x.Open, x.Origin))
		}
		for _, x := range p.w.Edges(v) {
			edges = append(edges, fmt.Sprint(p.w.Name(x.To), x.Distance, x.Origin))
		}
		for _, q := range p.o.all("channel", "") {
			x := p.o.get(q)
			if x.there && q.a == name {
				want = append(want, fmt.Sprint(q.b, p.o.weight(q, x), x.open, p.o.origin(q)))
			}
			if x.there && q.b == name {
				wantIn = append(wantIn, fmt.Sprint(q.a, p.o.weight(q, x), x.open, p.o.origin(q)))
			}
		}
		for _, q := range p.o.all("edge", "") {
			if x := p.o.get(q); x.there && q.a == name {
				wantEdges = append(wantEdges, fmt.Sprint(q.b, x.n, p.o.origin(q)))
			} else if x.there && q.b == name {
				wantEdges = append(wantEdges, fmt.Sprint(q.a, x.n, p.o.origin(q)))
			}
		}
		slices.Sort(wantEdges)
		if !slices.Equal(out, want) || !slices.Equal(in, wantIn) || !slices.Equal(edges, wantEdges) {
			c.fail("at %s:\n got %v %v %v\nwant %v %v %v", name, out, in, edges, want, wantIn, wantEdges)
		}
	}
}

// path compares one least path with all walks.
func (c *checker) path(p pair) {
	c.t.Helper()
	targets := []string{"D0", "D1", "D3", "?", "v1", "v2", "u0"}
	target := targets[c.r.IntN(len(targets))]
	object := fmt.Sprint("o", c.r.IntN(3))
	from := p.o.replicas(object)
	known := p.o.domains()
	unknown := func(v string) bool { return p.o.sort(v) == world.Unknown }
	var weight int64
	var names []string
	if known[target] {
		weight, names = p.o.bestPath(from, func(v string) bool { return p.o.domain(v) == target })
	} else if target != "?" {
		weight, names = p.o.bestPath(from, func(v string) bool { return v == target })
	}
	if names == nil && (known[target] || target == "?" || !unknown(target)) {
		weight, names = p.o.bestPath(from, unknown)
	}
	steps, ok := p.w.ObjectPath(object, target)
	if ok != (names != nil) {
		c.fail("path of %s to %s: %v, want %v", object, target, steps, names)
	}
	if !ok {
		return
	}
	c.counts["paths"]++
	for i, s := range steps {
		origin := p.o.origin(place{"replica", object, s.Vertex})
		if i > 0 {
			origin = p.o.origin(place{"channel", steps[i-1].Vertex, s.Vertex})
		}
		if i >= len(names) || s.Vertex != names[i] || s.Origin != origin {
			c.fail("path of %s to %s: %v, want %v", object, target, steps, names)
		}
	}
	if last := steps[len(steps)-1]; len(steps) != len(names) || last.Distance != weight {
		c.fail("path of %s to %s: %v, want %v of weight %d", object, target, steps, names, weight)
	}
}

// next makes a random step.
func (c *checker) next(p pair, offset uint64) (pair, *world.Delta) {
	o := p.o.clone()
	calls := []string{"c0", "c1", "c2", "c3"}
	call := calls[c.r.IntN(len(calls))]
	switch c.r.IntN(8) {
	case 0:
		c.log = append(c.log, fmt.Sprint("revert ", call))
		w, d := p.w.Revert(call, world.Origin{Offset: offset})
		o.end(call, true)
		o.release()
		return pair{w, o}, d
	case 1:
		c.log = append(c.log, fmt.Sprint("keep ", call))
		o.end(call, false)
		o.release()
		return pair{p.w.Keep(call), o}, nil
	case 2:
		c.log = append(c.log, fmt.Sprint("doubt ", call))
		if o.names[call] != nil {
			o.doubt[call] = true
		}
		o.release()
		return pair{p.w.Doubt(call), o}, nil
	}
	from := world.Origin{Offset: offset}
	if c.r.IntN(2) > 0 {
		from.Call = call
	}
	edits := make([]world.Edit, 1+c.r.IntN(3))
	for i := range edits {
		edits[i] = randomEdit(c.r)
	}
	c.log = append(c.log, fmt.Sprintf("%d %s %+v", offset, from.Call, edits))
	w, d := p.w.Apply(edits, from)
	o.apply(edits, from)
	o.release()
	return pair{w, o}, d
}

// doubts compares what is in doubt.
func (c *checker) doubts(p pair) {
	c.t.Helper()
	for _, name := range []string{"v0", "v1", "u0", "o0", "o1", "m0", "PHI"} {
		want := false
		for call := range p.o.doubt {
			want = want || p.o.names[call][name]
		}
		if p.w.Doubtful(name) != want {
			c.fail("%s in doubt: %v, want %v", name, !want, want)
		}
	}
	if p.w.HasDoubts() != (len(p.o.doubt) > 0) {
		c.fail("doubts %v, want %v", p.w.HasDoubts(), p.o.doubt)
	}
}

var seedFlag = flag.Uint64("seed", 1, "run the random histories with this seed; 0: one of the time") //nolint:gochecknoglobals // flags of a test binary are global

// TestRandomEdits compares worlds with the oracle along random histories: every relation, what
// is touched, paths, doubts, encodings; and that no world changes once it is made.
func TestRandomEdits(t *testing.T) {
	seed := *seedFlag
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("repeat with: go test ./internal/world -run '^TestRandomEdits$' -seed %d", seed)
	const runs, length = 340, 30
	counts := map[string]int{}
	for run := range runs {
		c := &checker{t: t, r: rand.New(rand.NewPCG(seed, uint64(run))), rels: allRels(), counts: counts}
		c.run(length)
	}
	for _, rel := range allRels() {
		for _, what := range []string{"tuples of ", "changes of "} {
			if counts[fmt.Sprint(what, rel)] < 100 {
				t.Errorf("only %d %s%v", counts[fmt.Sprint(what, rel)], what, rel)
			}
		}
	}
	if counts["paths"] < 1000 || counts["questions with bound arguments"] < 10000 {
		t.Errorf("too little was checked: %v", counts)
	}
}

func (c *checker) run(length int) {
	c.t.Helper()
	spec := small(c.r)
	w := newWorld(c.t, spec)
	p := pair{w, newOracle(spec)}
	past := []pair{p}
	hashes, states := map[[32]byte]string{w.Hash(): p.o.canonical()}, map[string][32]byte{p.o.canonical(): w.Hash()}
	for i := range length {
		if c.r.IntN(10) == 0 { // go back to an older world
			p = past[c.r.IntN(len(past))]
			c.log = append(c.log, "go back")
		}
		hash := p.w.Hash()
		next, d := c.next(p, uint64(i+1))
		if p.w.Hash() != hash {
			c.fail("the old world changed")
		}
		c.check(next)
		c.graph(next)
		c.path(next)
		c.doubts(next)
		if d != nil {
			c.delta(p, next, d)
		}
		p = next
		past = append(past, p)
		h, state := p.w.Hash(), p.o.canonical()
		if was, ok := hashes[h]; ok && was != state {
			c.fail("two states have one hash:\n%s\n--\n%s", was, state)
		}
		if was, ok := states[state]; ok && was != h {
			c.fail("one state has two hashes:\n%s", state)
		}
		hashes[h], states[state] = state, h
		if c.r.IntN(8) == 0 {
			p.w = c.restored(p.w)
			c.log = append(c.log, "restore")
		}
	}
	c.check(past[c.r.IntN(len(past))])
}

func (c *checker) restored(w *world.World) *world.World {
	c.t.Helper()
	state := w.AppendState(nil)
	again, err := restore(w.Spec(), state)
	if err != nil {
		c.fail("restore: %v", err)
	}
	if again.Hash() != w.Hash() {
		c.fail("the restored world has another hash")
	}
	return again
}
