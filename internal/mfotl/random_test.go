package mfotl_test

import (
	"bytes"
	"flag"
	"fmt"
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

// The flags of the random comparisons.
var (
	seedFlag  = flag.Uint64("seed", 1, "first seed of the random comparison")               //nolint:gochecknoglobals // flags of a test binary are global
	casesFlag = flag.Int("cases", 20_000, "formula and log pairs of the random comparison") //nolint:gochecknoglobals // flags of a test binary are global
)

// TestAgainstDefinition compares the engine with the executed definition on random
// formulas and logs, at every time point, values, marks and witnesses, with steps
// rolled back and states restored in between.
func TestAgainstDefinition(t *testing.T) {
	cases, points, rows := 0, 0, 0
	var made struct{ terms, matches, aggregates, externals, differences int }
	marks := map[verdict.Value]int{}
	for seed := *seedFlag; cases < *casesFlag; seed++ {
		g := &generator{Rand: rand.New(rand.NewPCG(seed, 0)), asks: seed%2 == 0}
		formulas, plan := randomPlan(t, g, seed, 1+g.IntN(3), []int{1, 2, 2, 2, 3})
		trace := g.trace(2+g.IntN(7), pick(g, []float64{0, 0.3, 0.6}))
		want := expect(formulas, trace)
		for _, r := range slices.Concat(slices.Concat(want...)...) {
			marks[r.Mark]++
			rows++
		}
		if msg := compare(plan, trace, want, seed); msg != "" {
			trace, msg = shrink(plan, formulas, trace, seed, msg)
			t.Fatalf("seed %d (repeat: go test ./internal/mfotl -run TestAgainstDefinition -args -seed %d -cases 1): %s\n%s%s",
				seed, seed, msg, list(formulas), show(trace))
		}
		made.terms += g.terms
		made.matches += g.matches
		made.aggregates += g.aggregates
		made.externals += g.externals
		made.differences += g.differences
		cases += len(formulas)
		points += len(formulas) * len(trace)
	}
	t.Logf("%d formula and log pairs, %d time points, %d rows, by mark %v; %+v", cases, points, rows, marks, made)
	if least := *casesFlag / 40; made.terms < least || made.matches < least || made.aggregates < least || made.externals < least || made.differences < least {
		t.Errorf("%+v: the generator does not exercise them", made)
	}
	for _, m := range []verdict.Value{verdict.Tp, verdict.Fp, verdict.F} {
		if *casesFlag > 1000 && marks[m] < 100 {
			t.Errorf("only %d rows are marked %v: the generator does not exercise it", marks[m], m)
		}
	}
}

// TestWideAgainstDefinition compares on time points with many facts over more
// values, where hash indexes and groups are at work.
func TestWideAgainstDefinition(t *testing.T) {
	rows := 0
	for seed := *seedFlag; seed < *seedFlag+600; seed++ {
		g := &generator{Rand: rand.New(rand.NewPCG(seed, 2)), wide: true, asks: seed%3 == 0}
		formulas, plan := randomPlan(t, g, seed, 1, []int{1, 2, 2})
		trace := g.trace(4, pick(g, []float64{0, 0.3}))
		want := expect(formulas, trace)
		rows += len(slices.Concat(slices.Concat(want...)...))
		if msg := compare(plan, trace, want, seed); msg != "" {
			trace, msg = shrink(plan, formulas, trace, seed, msg)
			t.Fatalf("seed %d (repeat: go test ./internal/mfotl -run TestWideAgainstDefinition -args -seed %d): %s\n%s%s",
				seed, seed, msg, list(formulas), show(trace))
		}
	}
	t.Logf("%d rows", rows)
	if rows < 10_000 {
		t.Errorf("only %d rows: the generator is not wide", rows)
	}
}

func randomPlan(t *testing.T, g *generator, seed uint64, n int, depths []int) ([]*check.Checked, *mfotl.Plan) {
	t.Helper()
	var formulas []*check.Checked
	for range n {
		formulas = append(formulas, g.checked(pick(g, depths)))
	}
	plan, err := mfotl.Compile(formulas, mfotl.WithExternals(externals()...))
	if err != nil {
		t.Fatalf("seed %d: %v\n%s", seed, err, list(formulas))
	}
	return formulas, plan
}

// expect gives the rows by time point and formula, from the definition.
func expect(formulas []*check.Checked, trace []naive.TimePoint) [][][]schema.Row {
	want := make([][][]schema.Row, len(trace))
	for i := range trace {
		for _, f := range formulas {
			want[i] = append(want[i], naive.TypedRows(f.Core, f.Free, f.Kinds, trace, i))
		}
	}
	return want
}

// compare runs the trace; it says what is wrong, or nothing.
func compare(plan *mfotl.Plan, trace []naive.TimePoint, want [][][]schema.Row, seed uint64) (msg string) {
	defer func() {
		if r := recover(); r != nil {
			msg = fmt.Sprintf("panic: %v", r)
		}
	}()
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 1)), asks: len(trace) > 0 && trace[0].Tables != nil}
	st, straight, judged := plan.New(), plan.New(), plan.New()
	for i, tp := range trace {
		if g.IntN(3) == 0 {
			before := st.AppendState(nil)
			shadow := g.trace(1, 0.3)[0]
			st.StepIn(tp.TS+shadow.TS, tp.Offset+9, shadow.Facts, tableSource{tables: shadow.Tables})
			for f := range plan.Formulas() {
				st.Rows(f)
			}
			st.Rollback()
			if g.IntN(2) == 0 && !bytes.Equal(before, st.AppendState(nil)) {
				return fmt.Sprintf("time point %d: a step rolled back changed the state", i)
			}
		}
		if g.IntN(4) == 0 {
			saved := st.AppendState(nil)
			var err error
			if st, err = plan.Restore(saved); err != nil {
				return fmt.Sprintf("time point %d: %v", i, err)
			}
			if !bytes.Equal(saved, st.AppendState(nil)) {
				return fmt.Sprintf("time point %d: restoring changed the state", i)
			}
		}
		if g.IntN(4) == 0 {
			st.Trim()
		}
		st.StepIn(tp.TS, tp.Offset, tp.Facts, tableSource{tables: tp.Tables})
		straight.StepIn(tp.TS, tp.Offset, tp.Facts, tableSource{tables: tp.Tables})
		active := st.Active(nil)
		for f := range plan.Formulas() {
			got := st.Rows(f)
			if len(got) > 0 && !slices.Contains(active, f) {
				return fmt.Sprintf("time point %d, formula %d has rows and is not active", i, f)
			}
			if !same(got, want[i][f]) {
				return fmt.Sprintf("time point %d, formula %d:\n got %v\nwant %v", i, f, got, want[i][f])
			}
			if !same(straight.Rows(f), got) {
				return fmt.Sprintf("time point %d, formula %d: without roll-backs and restores %v, with them %v", i, f, straight.Rows(f), got)
			}
			if a, b := fmt.Sprint(straight.Fault(f), straight.Lossy(f)), fmt.Sprint(st.Fault(f), st.Lossy(f)); a != b {
				return fmt.Sprintf("time point %d, formula %d: without roll-backs and restores %s, with them %s", i, f, a, b)
			}
		}
		st.Commit()
		straight.Commit()
		if msg := adopt(judged, plan, tp, want[i], g.IntN(3) > 0); msg != "" {
			return fmt.Sprintf("time point %d, %s", i, msg)
		}
	}
	if !bytes.Equal(st.AppendState(nil), straight.AppendState(nil)) {
		return "equal traces, unequal states"
	}
	return ""
}

// adopt adopts a time point as an aspect does: it reads the rows, if at all, in a step that
// it takes back.
func adopt(st *mfotl.State, plan *mfotl.Plan, tp naive.TimePoint, want [][]schema.Row, read bool) string {
	if read {
		st.StepIn(tp.TS, tp.Offset, tp.Facts, tableSource{tables: tp.Tables})
		for f := range plan.Formulas() {
			if got := st.Rows(f); !same(got, want[f]) {
				return fmt.Sprintf("formula %d, judged and taken back:\n got %v\nwant %v", f, got, want[f])
			}
		}
		st.Rollback()
	}
	st.StepIn(tp.TS, tp.Offset, tp.Facts, tableSource{tables: tp.Tables})
	st.Commit()
	return ""
}

func same(a, b []schema.Row) bool {
	return slices.EqualFunc(a, b, func(x, y schema.Row) bool {
		return x.Mark == y.Mark && slices.Equal(x.Values, y.Values) && slices.Equal(x.Witness, y.Witness)
	})
}

// shrink leaves out time points and facts as long as the comparison fails.
func shrink(plan *mfotl.Plan, formulas []*check.Checked, trace []naive.TimePoint, seed uint64, msg string) ([]naive.TimePoint, string) {
	fails := func(tr []naive.TimePoint) string {
		return compare(plan, tr, expect(formulas, tr), seed)
	}
	for again := true; again; {
		again = false
		for _, smaller := range smallerTraces(trace) {
			if m := fails(smaller); m != "" {
				trace, msg, again = smaller, m, true
				break
			}
		}
	}
	return trace, msg
}

func smallerTraces(trace []naive.TimePoint) [][]naive.TimePoint {
	var out [][]naive.TimePoint
	for i := range trace {
		out = append(out, append(append([]naive.TimePoint(nil), trace[:i]...), trace[i+1:]...))
	}
	for i, tp := range trace {
		for k := range tp.Facts {
			cut := append([]naive.TimePoint(nil), trace...)
			cut[i].Facts = append(append([]schema.Fact(nil), tp.Facts[:k]...), tp.Facts[k+1:]...)
			out = append(out, cut)
		}
	}
	return out
}

func columns(f *check.Checked) []string {
	out := []string{}
	for _, c := range f.Free {
		out = append(out, c.Name)
	}
	return out
}

func list(fs []*check.Checked) string {
	var b strings.Builder
	for i, f := range fs {
		fmt.Fprintf(&b, "formula %d over %v: %s\n", i, columns(f), f.Core)
	}
	return b.String()
}

func show(trace []naive.TimePoint) string {
	var b strings.Builder
	for _, tp := range trace {
		fmt.Fprintf(&b, "@%d #%d", tp.TS, tp.Offset)
		for _, f := range tp.Facts {
			fmt.Fprintf(&b, " %s%v", f.Name, f.Args)
			if f.Strength == verdict.Presumptive {
				b.WriteByte('?')
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}
