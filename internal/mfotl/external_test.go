package mfotl_test

import (
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/aspis-rv/aspis/internal/lang/check"
	"github.com/aspis-rv/aspis/internal/mfotl"
	"github.com/aspis-rv/aspis/internal/mfotl/naive"
	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// compileExternal compiles one formula with external relations p, of one argument, q, of
// two, and the test t, of one.
func compileExternal(tb testing.TB, text string, columns ...string) (*mfotl.Plan, error) {
	tb.Helper()
	list := mfotl.WithExternals(mfotl.External{Name: "p", Arity: 1}, mfotl.External{Name: "q", Arity: 2}, mfotl.External{Name: "t", Arity: 1, Test: true})
	return mfotl.Compile([]*check.Checked{core(tb, text, columns...)}, list)
}

// TestExternalRefusals compiles formulas that ask for what an external relation has not.
func TestExternalRefusals(t *testing.T) {
	for text, want := range map[string]string{
		"PREVIOUS p(x)":              "stands below PREVIOUS",
		"PREVIOUS ONCE[0,3] p(x)":    "stands below PREVIOUS",
		"q(x,x) AND p(x,x)":          "has 1 arguments, not 2",
		"t(x)":                       "nothing binds",
		"ONCE t(x)":                  "nothing binds",
		"p(x) AND NOT PREVIOUS t(x)": "stands below PREVIOUS",
	} {
		if _, err := compileExternal(t, text, "x"); !errors.Is(err, mfotl.ErrFormula) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	for _, list := range [][]mfotl.External{{{Name: "p"}, {Name: "p"}}, {{Name: "p", Arity: 65}}} {
		if _, err := mfotl.Compile(nil, mfotl.WithExternals(list...)); !errors.Is(err, mfotl.ErrFormula) {
			t.Errorf("%v: %v", list, err)
		}
	}
}

// TestExternalFingerprint: states move only between plans with the same external relations.
func TestExternalFingerprint(t *testing.T) {
	prints := map[[16]byte]string{}
	for name, list := range map[string][]mfotl.External{
		"none": nil, "p": {{Name: "p", Arity: 1}}, "p/2": {{Name: "p", Arity: 2}}, "test p": {{Name: "p", Arity: 1, Test: true}},
		"p, q": {{Name: "p", Arity: 1}, {Name: "q", Arity: 1}}, "q, p": {{Name: "q", Arity: 1}, {Name: "p", Arity: 1}},
	} {
		plan, err := mfotl.Compile([]*check.Checked{core(t, "e()")}, mfotl.WithExternals(list...))
		if err != nil {
			t.Fatal(err)
		}
		if other, taken := prints[plan.Fingerprint()]; taken {
			t.Errorf("%s and %s have one fingerprint", name, other)
		}
		prints[plan.Fingerprint()] = name
	}
}

// asked counts what is asked of a source with the tuples 1, 2 and (1,2).
type asked struct {
	scans  [3]int
	bounds []uint64
}

func (a *asked) Scan(rel int, known []schema.Value, bound uint64, yield func(mfotl.ExternalTuple) bool) bool {
	a.scans[rel]++
	a.bounds = append(a.bounds, bound)
	if rel == 1 {
		tuple := []schema.Value{schema.IntValue(1), schema.IntValue(2)}
		for i, v := range tuple {
			if bound>>i&1 == 1 && v != known[i] {
				return true
			}
		}
		yield(mfotl.ExternalTuple{Args: tuple, Mark: verdict.F, Offset: 8})
		return true
	}
	for n := range int64(2) {
		if v := schema.IntValue(n + 1); bound == 0 || v == known[0] {
			if !yield(mfotl.ExternalTuple{Args: []schema.Value{v}, Mark: verdict.F}) {
				break
			}
		}
	}
	return true
}

// TestExternalOrder: facts come first, then what they bind is asked for; without facts
// nothing is.
func TestExternalOrder(t *testing.T) {
	for _, c := range []struct {
		text   string
		bounds []uint64
	}{
		{"q(x,y) AND p(x) AND f(x)", []uint64{1, 1}},
		{"t(x) AND f(x) AND NOT q(x,x)", []uint64{1, 3}},
		{"q(x,y) AND f(x) AND g(x,y)", []uint64{3}},
		{"(EXISTS y. q(x,y)) AND f(x)", []uint64{1}},
	} {
		columns := []string{"x", "y"}[:1+strings.Count(c.text[:1], "q")]
		plan, err := compileExternal(t, c.text, columns...)
		if err != nil {
			t.Fatal(err)
		}
		st, src := plan.New(), &asked{}
		st.StepIn(0, 0, []schema.Fact{fact("other", 1), fact("p", 7)}, src)
		if active := st.Active(nil); len(active) > 0 || len(st.Rows(0)) > 0 || len(src.bounds) > 0 {
			t.Errorf("%s: without facts active %v, asked %v", c.text, active, src.bounds)
		}
		st.Commit()
		st.StepIn(1, 1, []schema.Fact{fact("f", 1), fact("g", 1, 2)}, src)
		st.Rows(0)
		if slices.Sort(src.bounds); !slices.Equal(src.bounds, c.bounds) {
			t.Errorf("%s: asked %b, want %b", c.text, src.bounds, c.bounds)
		}
		st.Rollback()
	}
}

// TestExternalWitness: a tuple rests on the event it names, or on none.
func TestExternalWitness(t *testing.T) {
	plan, err := compileExternal(t, "ONCE[0,5] (q(x,y) AND p(x))", "x", "y")
	if err != nil {
		t.Fatal(err)
	}
	st := plan.New()
	for i := range 3 {
		st.StepIn(int64(i), uint64(10+i), nil, &asked{})
		if got, want := rows(st.Rows(0)), "(1,2)F@[7]"; got != want {
			t.Errorf("%s, want %s", got, want)
		}
		st.Commit()
	}
}

// TestExternalWithoutSource: to forget the source is an error of the program.
func TestExternalWithoutSource(t *testing.T) {
	plan, err := compileExternal(t, "p(x)", "x")
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	st := plan.New()
	st.Step(0, 0, nil)
	st.Rows(0)
}

// TestUncertainAgainstDefinition compares a trace whose external relations are uncertain in
// some tuples with one in which these are otherwise: a formula that is not told to be
// incomplete has the same rows in both.
func TestUncertainAgainstDefinition(t *testing.T) {
	complete, incomplete, differ := 0, 0, 0
	for seed := *seedFlag; seed < *seedFlag+3000; seed++ {
		g := &generator{Rand: rand.New(rand.NewPCG(seed, 5)), asks: true}
		formulas, plan := randomPlan(t, g, seed, 1, []int{1, 2, 2, 3})
		trace := g.trace(2+g.IntN(5), 0.3)
		other, sources := g.otherwise(trace)
		want := expect(formulas, other)
		st := plan.New()
		for i, tp := range trace {
			st.StepIn(tp.TS, tp.Offset, tp.Facts, sources[i])
			got := st.Rows(0)
			agree := slices.EqualFunc(got, want[i][0], func(a, b schema.Row) bool { return a.Mark == b.Mark && slices.Equal(a.Values, b.Values) })
			switch sure := st.Fault(0) == nil && !st.Lossy(0); {
			case sure && !agree:
				t.Fatalf("seed %d, time point %d: complete, and %v is otherwise %v\n%s%s", seed, i, got, want[i][0], list(formulas), show(trace))
			case sure:
				complete++
			default:
				incomplete++
			}
			if !agree {
				differ++
			}
			st.Commit()
		}
	}
	t.Logf("%d time points complete, %d incomplete, %d with other rows", complete, incomplete, differ)
	if min(complete, incomplete, differ) < 200 {
		t.Error("the generator does not exercise it")
	}
}

// otherwise is the trace with other tuples where sources, one for each time point, are
// uncertain.
func (g *generator) otherwise(trace []naive.TimePoint) (other []naive.TimePoint, sources []tableSource) {
	other = slices.Clone(trace)
	for i := range other {
		tables, changed := maps.Clone(trace[i].Tables), map[string][]naive.Tuple{}
		alternative := g.tables()
		for _, r := range allExternals() {
			if g.IntN(5) == 0 {
				tables[r.name] = alternative[r.name]
				changed[r.name] = slices.Concat(trace[i].Tables[r.name], alternative[r.name])
			}
		}
		other[i].Tables = tables
		sources = append(sources, tableSource{
			tables: trace[i].Tables, possible: changed,
			uncertain: func(rel string, _ []schema.Value) bool { return len(changed[rel]) > 0 },
		})
	}
	return other, sources
}

// BenchmarkExternal is a step that asks three external relations.
func BenchmarkExternal(b *testing.B) {
	plan, err := compileExternal(b, "f(x) AND p(x) AND q(x,y) AND NOT t(y)", "x", "y")
	if err != nil {
		b.Fatal(err)
	}
	st := plan.New()
	var buf mfotl.RowBuffer
	var src mfotl.Source = onlyTuple{{schema.IntValue(1)}, {schema.IntValue(1), schema.IntValue(5)}}
	facts := []schema.Fact{fact("f", 1)}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		st.StepIn(int64(i), uint64(i), facts, src)
		if len(st.ReadRows(0, &buf)) != 1 {
			b.Fatal("no row")
		}
		st.Commit()
	}
}

// onlyTuple has one tuple for each relation that it knows.
type onlyTuple [][]schema.Value

func (o onlyTuple) Scan(rel int, _ []schema.Value, _ uint64, yield func(mfotl.ExternalTuple) bool) bool {
	if rel < len(o) {
		yield(mfotl.ExternalTuple{Args: o[rel], Mark: verdict.F})
	}
	return true
}
