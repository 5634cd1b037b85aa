package mfotl

import (
	"fmt"
	"slices"
	"testing"

	"github.com/aspis-rv/aspis/internal/lang/check"
	"github.com/aspis-rv/aspis/internal/lang/syntax"
	"github.com/aspis-rv/aspis/pkg/schema"
)

func coreOf(tb testing.TB, text string, columns ...string) *check.Checked {
	tb.Helper()
	f, diags := syntax.Parse(text, syntax.Options{Mode: syntax.MonPoly})
	if f == nil {
		tb.Fatalf("%s: %v", text, diags)
	}
	c := &check.Checked{Core: f}
	for _, n := range columns {
		c.Free = append(c.Free, check.Column{Name: n})
	}
	return c
}

// TestSharing counts windows and roots: temporal sub-formulas are shared up to the
// names of variables and when they are seen at one delay, and whole formulas too.
func TestSharing(t *testing.T) {
	for _, c := range []struct {
		formulas      []*check.Checked
		stores, roots int
	}{
		{[]*check.Checked{
			coreOf(t, "p(x) AND NOT (ONCE[0,5] q(x))", "x"),
			coreOf(t, "r(a,b) AND (ONCE[0,5] q(b)) AND NOT (ONCE[0,5] q(a))", "a", "b"),
		}, 1, 2},
		{[]*check.Checked{
			coreOf(t, "ONCE[0,5] q(x)", "x"),
			coreOf(t, "ONCE[0,6] q(x)", "x"),
			coreOf(t, "ONCE[0,5] q(3)"),
			coreOf(t, "PREVIOUS (ONCE[0,5] q(x))", "x"),
		}, 4, 4},
		{[]*check.Checked{
			coreOf(t, "ONCE (r(x,y) AND ONCE q(y))", "x", "y"),
			coreOf(t, "ONCE (r(y,x) AND ONCE q(x))", "y", "x"),
			coreOf(t, "ONCE (r(y,x) AND ONCE q(x))", "x", "y"),
		}, 2, 2},
		{[]*check.Checked{
			coreOf(t, "(NOT q(x)) SINCE r(x,y)", "x", "y"),
			coreOf(t, "(NOT q(y)) SINCE r(x,y)", "x", "y"),
			coreOf(t, "q(x) SINCE r(x,y)", "x", "y"),
		}, 3, 3},
		{[]*check.Checked{
			coreOf(t, "p(x) AND HISTORICALLY[0,5] q(x)", "x"),
			coreOf(t, "r(a,b) AND NOT (HISTORICALLY[0,5] q(b))", "a", "b"),
			coreOf(t, "p(x) AND (ONCE[0,5] q(x)) AND HISTORICALLY[0,6] q(x)", "x"),
		}, 3, 3},
	} {
		p, err := Compile(c.formulas)
		if err != nil {
			t.Fatal(err)
		}
		if len(p.stores) != c.stores || len(p.roots) != c.roots {
			t.Errorf("%s …: %d windows and %d roots, want %d and %d",
				c.formulas[0].Core, len(p.stores), len(p.roots), c.stores, c.roots)
		}
	}
}

// TestManyFormulas has 300 formulas with one window in common, at different depths, and one
// of their own: there are 301 stores, and a fact wakes those and the formulas it concerns.
func TestManyFormulas(t *testing.T) {
	const n = 300
	var formulas []*check.Checked
	for i := range n {
		text := fmt.Sprintf("a%d(x) AND NOT (ONCE[0,9] (b%d(x) AND ONCE[0,24] common(x)))", i, i)
		formulas = append(formulas, coreOf(t, text, "x"))
	}
	formulas = append(formulas, coreOf(t, "e() AND ONCE[0,24] common(y)", "y"), coreOf(t, "NOT f()"))
	p, err := Compile(formulas)
	if err != nil {
		t.Fatal(err)
	}
	if len(p.stores) != n+1 {
		t.Errorf("%d windows, want %d", len(p.stores), n+1)
	}
	st := p.New()
	for i, c := range []struct {
		fact   string
		stores []int
		active []int
	}{
		{"common", []int{0}, []int{n + 1}},
		{"b7", []int{8}, []int{n + 1}},
		{"a299", nil, []int{n - 1, n + 1}},
		{"z", nil, []int{n + 1}},
	} {
		st.Step(int64(i), uint64(i), []schema.Fact{{Name: c.fact, Args: []schema.Value{schema.IntValue(1)}}})
		var woken []int
		for id := range p.stores {
			if st.awake.stores[id/64]>>(id%64)&1 != 0 {
				woken = append(woken, id)
			}
		}
		if !slices.Equal(woken, c.stores) {
			t.Errorf("%s wakes the windows %v, want %v", c.fact, woken, c.stores)
		}
		if got := st.Active(nil); !slices.Equal(got, c.active) {
			t.Errorf("%s wakes the formulas %v, want %v", c.fact, got, c.active)
		}
		st.Commit()
	}
}

// TestDictionaryIsBounded feeds ever new strings through a short window, adopted
// and not: ids must be taken back, and those in use must not.
func TestDictionaryIsBounded(t *testing.T) {
	c := coreOf(t, "p(x) AND ONCE[0,10] q(x)", "x")
	c.Free[0].Kind = schema.KindString
	keep := coreOf(t, `e() AND ONCE q("kept") AND PREVIOUS[0,9] q("kept 2")`)
	last := coreOf(t, "e() AND PREVIOUS s(x)", "x")
	p, err := Compile([]*check.Checked{c, keep, last})
	if err != nil {
		t.Fatal(err)
	}
	st := p.New()
	largest := 0
	for i := range 20_000 {
		name := fmt.Sprint("value ", i)
		facts := []schema.Fact{
			{Name: "q", Args: []schema.Value{schema.StringValue(name)}},
			{Name: "s", Args: []schema.Value{schema.StringValue("last " + name)}},
		}
		st.Step(int64(i), uint64(i), facts)
		if i%2 == 0 {
			st.Commit()
		} else {
			st.Rollback()
		}
		st.Step(int64(i), uint64(i), []schema.Fact{{Name: "e"}})
		if rows, want := st.Rows(2), fmt.Sprint("last value ", i/2*2); len(rows) != 1 || rows[0].Values[0].Str != want {
			t.Fatalf("step %d: the time point before has %v, want %s", i, rows, want)
		}
		st.Rollback()
		largest = max(largest, st.dict.size())
		seen := fmt.Sprint("value ", i/2*2-8)
		st.Step(int64(i), uint64(i), []schema.Fact{{Name: "p", Args: []schema.Value{schema.StringValue(seen)}}})
		if rows := st.Rows(0); i > 8 && (len(rows) != 1 || rows[0].Values[0].Str != seen) {
			t.Fatalf("step %d: %v, want %s", i, rows, seen)
		}
		st.Rollback()
	}
	if most := 2*sweepSlack + 64; largest > most {
		t.Errorf("the dictionary grew to %d values, want at most %d", largest, most)
	}
	if live := st.dict.size(); len(st.dict.strs) != live {
		t.Errorf("%d strings are indexed, %d have ids", len(st.dict.strs), live)
	}
}

// TestWordsAreCanonical checks that values are equal if and only if their words
// are, and come back from them.
func TestWordsAreCanonical(t *testing.T) {
	p, err := Compile([]*check.Checked{coreOf(t, `s("a")`)})
	if err != nil {
		t.Fatal(err)
	}
	st := p.New()
	var vs []schema.Value
	for _, i := range []int64{0, 1, -1, 1 << 61, 1<<61 - 1, -1 << 61, -1<<61 - 1, 1<<63 - 1, -1 << 63} {
		vs = append(vs, schema.IntValue(i))
	}
	for _, f := range []float64{0, 1, -1, 0.5, 0.1, 1e300, 5e-324} {
		vs = append(vs, schema.FloatValue(f))
	}
	for _, s := range []string{"", "a", "b", "0"} {
		vs = append(vs, schema.StringValue(s))
	}
	for _, a := range vs {
		if got := st.value(st.intern(a)); got != a {
			t.Errorf("%v comes back as %v", a, got)
		}
		for _, b := range vs {
			if (st.intern(a) == st.intern(b)) != (a == b) {
				t.Errorf("%v and %v: words equal %v", a, b, st.intern(a) == st.intern(b))
			}
			if got, want := st.compareWords(st.intern(a), st.intern(b)), schema.Compare(a, b); got != want {
				t.Errorf("%v and %v: order %d, want %d", a, b, got, want)
			}
		}
	}
	negativeZero := schema.FloatValue(0)
	negativeZero.Float = -negativeZero.Float
	if st.intern(negativeZero) != st.intern(schema.FloatValue(0)) {
		t.Error("the two zeros differ")
	}
}

// TestDelayedWindowIsThin repeats one tuple in a window that never ends but begins
// late: what has entered must shrink to the newest, read or not.
func TestDelayedWindowIsThin(t *testing.T) {
	p, err := Compile([]*check.Checked{coreOf(t, "e() AND ONCE[3,*] p(x)", "x")})
	if err != nil {
		t.Fatal(err)
	}
	for _, read := range []bool{false, true} {
		st := p.New()
		for i := range 1000 {
			name := "p"
			if read && i > 500 {
				name = "e"
			}
			facts := []schema.Fact{{Name: name}}
			if name == "p" {
				facts[0].Args = []schema.Value{schema.IntValue(1)}
			}
			st.Step(int64(i), uint64(i), facts)
			st.Rows(0)
			st.Commit()
			if most := 6; st.entries > most {
				t.Fatalf("read %v, step %d: %d entries, want at most %d", read, i, st.entries, most)
			}
		}
		if read && st.entries != 1 {
			t.Errorf("%d entries after all but the newest were passed, want 1", st.entries)
		}
	}
}

// TestRollbackKeepsTimeOrder takes back a step that freed an old tuple of a bounded
// window: it must expire in its turn all the same.
func TestRollbackKeepsTimeOrder(t *testing.T) {
	p, err := Compile([]*check.Checked{coreOf(t, "(NOT q(x)) SINCE[0,10] p(x)", "x")})
	if err != nil {
		t.Fatal(err)
	}
	st := p.New()
	step := func(ts int64, name string, x int64) {
		st.Step(ts, uint64(ts), []schema.Fact{{Name: name, Args: []schema.Value{schema.IntValue(x)}}})
	}
	for x := range int64(3) {
		step(x, "p", x)
		st.Commit()
	}
	for x := range int64(2) {
		step(5, "q", x)
		st.Rollback()
		step(5, "p", x)
		st.Rollback()
	}
	var order []int64
	s := st.stores[0]
	for slot := s.oldest; slot >= 0; slot = s.newer[slot] {
		order = append(order, st.value(s.tuple(slot)[0]).Int)
	}
	if fmt.Sprint(order) != "[0 1 2]" {
		t.Errorf("time order %v, want [0 1 2]", order)
	}
	step(12, "z", 0)
	st.Commit()
	st.Trim()
	if st.entries != 1 {
		t.Errorf("%d entries at time 12, want the one of time 2", st.entries)
	}
}
