package future_test

import (
	"bytes"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/aspis-rv/aspis/internal/lang/check"
	"github.com/aspis-rv/aspis/internal/lang/syntax"
	"github.com/aspis-rv/aspis/internal/mfotl"
	"github.com/aspis-rv/aspis/internal/mfotl/future"
	"github.com/aspis-rv/aspis/internal/mfotl/naive"
	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// The flags of the random comparisons.
var (
	seedFlag  = flag.Uint64("seed", 1, "first seed of the random comparison")        //nolint:gochecknoglobals // flags of a test binary are global
	casesFlag = flag.Int("cases", 10_000, "formula and log pairs of the comparison") //nolint:gochecknoglobals // flags of a test binary are global
)

// TestAgainstDefinition compares verdicts with the executed definition, on random
// formulas and logs, on whole logs and on logs that end early, and compares when they
// come with the documented rule.
func TestAgainstDefinition(t *testing.T) {
	c := counts{used: map[string]int{}}
	for seed := *seedFlag; c.pairs < *casesFlag; seed++ {
		g := &generator{Rand: rand.New(rand.NewPCG(seed, 0)), past: seed%20 == 0}
		c.compare(t, g, seed, g.checked(pick(g, 1, 2, 2, 3)))
	}
	t.Log(c)
	if *casesFlag > 1000 && (c.rows < c.pairs/2 || c.early < c.pairs/4 ||
		c.used["NEXT"] < c.pairs/20 || c.used["EVENTUALLY"] < c.pairs/10 || c.used["UNTIL"] < c.pairs/10 ||
		c.used["aggregations"] < c.pairs/100) {
		t.Error("the generator does not exercise the operators")
	}
}

// TestGuardsAgainstDefinition compares on formulas and logs for which only some tuples
// of a future operator are looked at.
func TestGuardsAgainstDefinition(t *testing.T) {
	c := counts{used: map[string]int{}}
	for seed := *seedFlag; c.pairs < max(1, *casesFlag/4); seed++ {
		g := &generator{Rand: rand.New(rand.NewPCG(seed, 1)), many: true}
		c.compare(t, g, seed, g.checked(1+g.IntN(2)))
	}
	t.Log(c)
	if *casesFlag > 1000 && c.rows < c.pairs {
		t.Error("the generator does not exercise guards")
	}
}

// TestFaultsAgainstDefinition evaluates terms without a value. A verdict without a fault
// must not depend on what value they would have.
func TestFaultsAgainstDefinition(t *testing.T) {
	exact, faults, wrong := 0, 0, 0
	for seed := *seedFlag; exact+faults < max(1, *casesFlag/4); seed++ {
		g := &generator{Rand: rand.New(rand.NewPCG(seed, 2)), risky: true}
		f := g.checked(1 + g.IntN(3))
		if len(g.risks) == 0 {
			continue
		}
		plan, err := future.Compile(f, future.WithEngine(mfotl.WithBuiltIns()))
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, f.Core)
		}
		text, trace := f.Core.String(), g.trace(2+g.IntN(7))
		got, err := run(plan, trace)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		g.resolve(true)
		hold := expect(f, trace)
		g.resolve(false)
		fail := expect(f, trace)
		for i, v := range got {
			same := slices.EqualFunc(v.Rows, hold[i], sameValues) && slices.EqualFunc(v.Rows, fail[i], sameValues)
			switch {
			case v.Fault != nil && !same:
				wrong++
				fallthrough
			case v.Fault != nil:
				faults++
			case same:
				exact++
			default:
				t.Fatalf("seed %d (repeat: go test ./internal/mfotl/future -run '%s$' -args -seed %d -cases 1): time point %d: no fault and\n got %v\nwant %v\n  or %v\n%s\n%s",
					seed, t.Name(), seed, i, v.Rows, hold[i], fail[i], text, show(trace))
			}
		}
	}
	t.Logf("%d verdicts without a fault, %d with one, of which %d are wrong", exact, faults, wrong)
	if *casesFlag > 1000 && (exact < *casesFlag/8 || wrong < *casesFlag/100) {
		t.Error("the generator does not exercise faults")
	}
}

// counts is what was compared.
type counts struct {
	pairs, points, rows int
	early               int            // verdicts delayed and before the end
	used                map[string]int // future operators and aggregations
}

func (c counts) String() string {
	return fmt.Sprintf("%d formula and log pairs, %d time points, %d rows, %d verdicts delayed and before the end; operators %v",
		c.pairs, c.points, c.rows, c.early, c.used)
}

func (c *counts) compare(t *testing.T, g *generator, seed uint64, f *check.Checked) {
	t.Helper()
	plan, err := future.Compile(f, future.WithEngine(mfotl.WithBuiltIns()))
	if err != nil {
		t.Fatalf("seed %d: %v\n%s", seed, err, f.Core)
	}
	whole := g.trace(2 + g.IntN(7))
	start := whole[:g.IntN(len(whole))]
	// The verdicts that come within the start are right whatever follows.
	for _, trace := range [][]naive.TimePoint{whole, start, after(start, g.trace(3))} {
		got, err := run(plan, trace)
		if err != nil {
			t.Fatalf("seed %d: %v\n%s\n%s", seed, err, f.Core, show(trace))
		}
		if msg := compare(f, trace, got, expect(f, trace)); msg != "" {
			t.Fatalf("seed %d (repeat: go test ./internal/mfotl/future -run '%s$' -args -seed %d -cases 1): %s\n%s\n%s",
				seed, t.Name(), seed, msg, f.Core, show(trace))
		}
		c.pairs++
		c.points += len(trace)
		for i, v := range got {
			c.rows += len(v.Rows)
			if v.read > i+1 && v.read <= len(trace) {
				c.early++
			}
		}
	}
	for op, n := range g.used {
		c.used[op] += n
	}
}

// after appends a trace to another.
func after(start, tail []naive.TimePoint) []naive.TimePoint {
	trace := slices.Clone(start)
	for _, tp := range tail {
		if len(start) > 0 {
			tp.TS += start[len(start)-1].TS
		}
		tp.Offset = uint64(len(trace))
		trace = append(trace, tp)
	}
	return trace
}

// timed is a verdict with the number of time points read when it came; one more than
// there are if it came at the end.
type timed struct {
	future.Verdict
	read int
}

// run hands facts over in memory that is overwritten afterwards.
func run(plan *future.Plan, trace []naive.TimePoint) ([]timed, error) {
	r := plan.New()
	var out []timed
	for i, tp := range trace {
		facts, wipe := borrowed(tp.Facts)
		err := r.Step(tp.TS, facts, func(v future.Verdict) { out = append(out, timed{owned(v), i + 1}) })
		if err != nil {
			return nil, err
		}
		wipe()
		if err := r.Audit(); err != nil {
			return nil, err
		}
	}
	if err := r.Flush(func(v future.Verdict) { out = append(out, timed{owned(v), len(trace) + 1}) }); err != nil {
		return nil, err
	}
	return out, r.Audit()
}

func owned(v future.Verdict) future.Verdict {
	v.Rows = slices.Clone(v.Rows)
	for i := range v.Rows {
		v.Rows[i].Values = slices.Clone(v.Rows[i].Values)
	}
	return v
}

func borrowed(facts []schema.Fact) (out []schema.Fact, wipe func()) {
	var texts [][]byte
	var args [][]schema.Value
	for _, f := range facts {
		f.Args = slices.Clone(f.Args)
		for i := range f.Args {
			if s := f.Args[i].Str; s != "" {
				text := []byte(s)
				texts = append(texts, text)
				f.Args[i].Str = unsafe.String(&text[0], len(text))
			}
		}
		args = append(args, f.Args)
		out = append(out, f)
	}
	return out, func() {
		for _, text := range texts {
			copy(text, bytes.Repeat([]byte{'#'}, len(text)))
		}
		for _, a := range args {
			clear(a)
		}
	}
}

func expect(f *check.Checked, trace []naive.TimePoint) [][]schema.Row {
	with := withBuiltIns(trace)
	var want [][]schema.Row
	for i := range with {
		want = append(want, naive.Final(f.Core, f.Free, f.Kinds, with, i))
	}
	return want
}

// withBuiltIns adds the facts of tp and ts, which the definition does not supply.
func withBuiltIns(trace []naive.TimePoint) []naive.TimePoint {
	with := slices.Clone(trace)
	for i := range with {
		with[i].Facts = slices.Concat(with[i].Facts, []schema.Fact{
			{Name: "tp", Args: []schema.Value{schema.IntValue(int64(i))}}, {Name: "ts", Args: []schema.Value{schema.IntValue(with[i].TS)}},
		})
	}
	return with
}

// compare says what is wrong, or nothing.
func compare(f *check.Checked, trace []naive.TimePoint, got []timed, want [][]schema.Row) string {
	if len(got) != len(trace) {
		return fmt.Sprintf("%d verdicts for %d time points", len(got), len(trace))
	}
	due := 0
	for i, v := range got {
		due = max(due, min(needs(f.Core, trace, i), len(trace)+1))
		switch {
		case v.Index != uint64(i) || v.TS != trace[i].TS || v.Fault != nil:
			return fmt.Sprintf("verdict %d is for time point %d at %d, fault %v", i, v.Index, v.TS, v.Fault)
		case !slices.EqualFunc(v.Rows, want[i], sameValues):
			return fmt.Sprintf("time point %d:\n got %v\nwant %v", i, v.Rows, want[i])
		case v.read != due:
			return fmt.Sprintf("the verdict for time point %d came after %d time points, want %d", i, v.read, due)
		}
	}
	return ""
}

func sameValues(a, b schema.Row) bool { return a.Mark == verdict.F && slices.Equal(a.Values, b.Values) }

// needs is the number of time points to be read until f is known at i, by the rule in
// the documentation; a huge one if the trace is too short.
func needs(f syntax.Formula, trace []naive.TimePoint, i int) int {
	most := 0
	for k := range i + 1 {
		most = max(most, needsAt(f, trace, k))
	}
	return most
}

func needsAt(f syntax.Formula, trace []naive.TimePoint, i int) int {
	switch f := f.(type) {
	case *syntax.Next:
		if i+1 == len(trace) {
			return math.MaxInt
		}
		if !f.I.Contains(trace[i+1].TS - trace[i].TS) {
			return i + 2
		}
		return max(i+2, needs(f.F, trace, i+1))
	case *syntax.Eventually:
		return needsUntil(f.I, nil, f.F, trace, i)
	case *syntax.Until:
		return needsUntil(f.I, f.Left, f.Right, trace, i)
	case *syntax.Bool, *syntax.Pred, *syntax.Cmp, *syntax.Match, *syntax.Not, *syntax.And, *syntax.Or, *syntax.Implies,
		*syntax.Equiv, *syntax.Exists, *syntax.Forall, *syntax.Prev, *syntax.Once, *syntax.Historically, *syntax.Since,
		*syntax.Always, *syntax.Agg, *syntax.Let, *syntax.New,
		*syntax.At, *syntax.Label, *syntax.Somewhere, *syntax.Everywhere, *syntax.Escape, *syntax.Reach, *syntax.Surround:
	}
	most := i + 1
	for _, g := range syntax.Children(f) {
		most = max(most, needsAt(g, trace, i))
	}
	return most
}

func needsUntil(in syntax.Interval, left, right syntax.Formula, trace []naive.TimePoint, i int) int {
	end := i
	for end < len(trace) && trace[end].TS-trace[i].TS <= in.Hi {
		end++
	}
	if end == len(trace) {
		return math.MaxInt
	}
	n := max(end+1, needs(right, trace, end-1))
	if left != nil && end >= 2 {
		n = max(n, needs(left, trace, end-2))
	}
	return n
}

func show(trace []naive.TimePoint) string {
	var b strings.Builder
	for _, tp := range trace {
		fmt.Fprintf(&b, "@%d", tp.TS)
		for _, f := range tp.Facts {
			fmt.Fprintf(&b, " %s%v", f.Name, f.Args)
		}
		b.WriteByte('\n')
	}
	return b.String()
}
