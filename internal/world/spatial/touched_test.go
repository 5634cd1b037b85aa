package spatial

import (
	"testing"

	"github.com/aspis-rv/aspis/internal/lang/syntax"
	"github.com/aspis-rv/aspis/internal/world"
	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// TestTouchedCoversChanges compares what Touched says with the values before and after.
func TestTouchedCoversChanges(t *testing.T) {
	r := seeded(t)
	g := newGenerator(r)
	changed, spared := 0, 0
	for range 6_000 {
		before := newModel(r, 1+r.IntN(6))
		after := before.edited(r)
		f := g.formula(1 + r.IntN(3))
		c := mustCompile(t, f, modelSpec())
		touched := map[string]bool{}
		c.Touched(before, after, difference{before, after}, func(v string) bool {
			if touched[v] {
				t.Fatalf("%s: %s twice", f, v)
			}
			touched[v] = true
			return true
		})
		for _, name := range before.names {
			for _, sense := range []world.Sense{world.Safe, world.Unsafe} {
				for _, x := range []string{"a", "b"} {
					old, now := c.Value(before, name, argsOf(c, x), sense), c.Value(after, name, argsOf(c, x), sense)
					if old != now && !touched[name] {
						t.Fatalf("%s at %s: %v became %v, and Touched gave %v\n%+v\n%+v", f, name, old, now, touched, before, after)
					}
					if old != now {
						changed++
					}
				}
			}
			if !touched[name] {
				spared++
			}
		}
	}
	if changed < 2_000 || spared < 2_000 {
		t.Errorf("%d values changed, %d vertices were not touched: the test says little", changed, spared)
	}
	t.Logf("%d values changed, %d vertices were not touched", changed, spared)
}

// TestTouchedIsLocal shows which vertices a change concerns: those from which a walk within
// the distance leads to it.
func TestTouchedIsLocal(t *testing.T) {
	m := line(10, 100)
	c := mustCompile(t, reachFormula(0, 250), modelSpec())
	after := m.clone()
	after.labels[5]["q"] = true
	got := ""
	c.Touched(m, after, difference{m, after}, func(v string) bool { got += v + " "; return true })
	if want := "v5 v4 v6 v3 v7 "; !sameWords(got, want) {
		t.Errorf("touched %s, want %s", got, want)
	}
}

// TestTouchedAtUnknown: where a conjunct says at which vertices a change matters, it matters at
// unknown ones too, at which that conjunct is a guess.
func TestTouchedAtUnknown(t *testing.T) {
	m := line(3, 1)
	m.remove(2)
	m.setEdge(1, 2, 1)
	m.tables["seen"], m.tables["alarm"] = map[string]verdict.Value{}, map[string]verdict.Value{}
	after := m.clone()
	after.tables["alarm"][tupleKey("b")] = verdict.F
	x := variable("x")
	f := mustCompile(t, &syntax.Somewhere{D: syntax.Distance{Hi: 1}, F: both(fact("alarm", x), fact("seen", syntax.Here{}, x))}, modelSpec())
	got := ""
	f.Touched(m, after, difference{m, after}, func(v string) bool { got += v + " "; return true })
	if !sameWords(got, "v1") {
		t.Errorf("touched %s, want v1", got)
	}
	args := argsOf(f, "b")
	if old, now := f.Value(m, "v1", args, world.Unsafe), f.Value(after, "v1", args, world.Unsafe); old != verdict.T || now != verdict.F {
		t.Errorf("%v before and %v after, want T and F", old, now)
	}
}

// TestTouchedBeyondTheBound shows changes farther away than the upper bound that matter.
func TestTouchedBeyondTheBound(t *testing.T) {
	p := &syntax.Label{Name: "p"}
	turns := line(3, 100)
	turns.remove(2) // unknown: it may be of any sort
	turns.setEdge(1, 2, 100)
	turned := turns.clone()
	turned.sorts[2] = world.Informational // beyond the bound, and no walk enters it now

	detour := line(4, 50) // from v0 to v3 at v1 and v2, or directly by way of v4
	detour.names, detour.sorts = append(detour.names, "v4"), append(detour.sorts, world.Physical)
	detour.labels = append(detour.labels, map[string]bool{})
	detour.setEdge(0, 4, 1)
	detour.setEdge(4, 3, 4)
	delete(detour.labels[2], "p")
	opened := detour.clone()
	opened.labels[2]["p"] = true

	for _, c := range []struct {
		name          string
		f             syntax.Formula
		before, after *model
		want          string
	}{
		{"a vertex beyond leaves the walks", &syntax.Surround{D: syntax.Distance{Hi: 150}, Left: p, Right: p}, turns, turned, "v0 v1 v2"},
		{"a long way to a near vertex", &syntax.Escape{D: syntax.Distance{Lo: 5, Hi: 5}, F: p}, detour, opened, "v0 v1 v2 v3 v4"},
	} {
		f, got := mustCompile(t, c.f, modelSpec()), ""
		f.Touched(c.before, c.after, difference{c.before, c.after}, func(v string) bool { got += v + " "; return true })
		if !sameWords(got, c.want) {
			t.Errorf("%s: touched %s, want %s", c.name, got, c.want)
		}
		old, now := f.Value(c.before, "v0", nil, world.Safe), f.Value(c.after, "v0", nil, world.Safe)
		if old == now {
			t.Errorf("%s: %v before and after", c.name, old)
		}
	}
}

// TestCacheAgrees compares a cache over random edits with fresh values.
func TestCacheAgrees(t *testing.T) {
	r := seeded(t)
	g := newGenerator(r)
	hits := 0
	for range 200 {
		m := newModel(r, 6)
		f := g.formula(3)
		fresh := mustCompile(t, f, modelSpec())
		cache := NewCache(fresh.Clone(), m, 2+r.IntN(40))
		for range 12 {
			for range 12 {
				name, sense := vertexName(r.IntN(7)), world.Sense(r.IntN(2))
				args := argsOf(fresh, [...]string{"a", "b"}[r.IntN(2)])
				if v, ok := m.Vertex(name); ok && cache.young.of[v] != nil {
					hits++
				}
				if want := fresh.Value(m, name, args, sense); cached(cache, m, name, args, sense) != want {
					t.Fatalf("%s at %s: cached %v, is %v", f, name, cached(cache, m, name, args, sense), want)
				}
			}
			if cache.young.n+cache.old.n > cache.limit {
				t.Fatalf("%d and %d entries, the limit is %d", cache.young.n, cache.old.n, cache.limit)
			}
			after := m.edited(r)
			shadow := cached(cache, after, "v0", argsOf(fresh, "a"), world.Safe)
			if want := fresh.Value(after, "v0", argsOf(fresh, "a"), world.Safe); shadow != want {
				t.Fatalf("%s on a shadow: %v, is %v", f, shadow, want)
			}
			if r.IntN(3) > 0 { // else the shadow is dropped
				cache.Update(after, difference{m, after})
				m = after
			}
		}
	}
	if hits < 500 {
		t.Errorf("%d hits", hits)
	}
}

func cached(c *Cache, g Graph, loc string, args []schema.Value, sense world.Sense) verdict.Value {
	value, _ := c.Value(g, loc, args, sense)
	return value
}

// TestCachePays: a purse suffices for the same values whether or not they are remembered.
func TestCachePays(t *testing.T) {
	m := line(9, 1)
	m.remove(8)
	f := &syntax.Somewhere{D: syntax.Distance{Unbounded: true}, F: &syntax.Label{Name: "p"}}
	for purse := range int64(60) {
		fresh, warm := mustCompile(t, f, modelSpec()), mustCompile(t, f, modelSpec())
		cache := NewCache(warm, m, 40)
		names := []string{"v0", "v3", "v8", "v0", "v5", "v3", "v8"}
		for _, name := range names {
			cached(cache, m, name, nil, world.Unsafe)
		}
		left, same := purse, purse
		fresh.Within(&left)
		warm.Within(&same)
		for i, name := range names {
			want := fresh.Value(m, name, nil, world.Unsafe)
			got, found := cache.Value(m, name, nil, world.Unsafe)
			if got != want || found == fresh.Exhausted() || left != same {
				t.Fatalf("with %d, value %d: %v %t and %d left, want %v %t and %d", purse, i, got, found, same, want, !fresh.Exhausted(), left)
			}
		}
	}
}
