package future_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/aspis-rv/aspis/internal/lang/check"
	"github.com/aspis-rv/aspis/internal/lang/syntax"
	"github.com/aspis-rv/aspis/internal/mfotl"
	"github.com/aspis-rv/aspis/internal/mfotl/future"
	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// core reads a formula that is in the core language as it stands, over integer
// columns.
func core(tb testing.TB, text string, columns ...string) *check.Checked {
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

func compile(tb testing.TB, f *check.Checked, opts ...future.Option) *future.Plan {
	tb.Helper()
	p, err := future.Compile(f, opts...)
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

func fact(name string, args ...int64) schema.Fact {
	f := schema.Fact{Name: name}
	for _, a := range args {
		f.Args = append(f.Args, schema.IntValue(a))
	}
	return f
}

type point struct {
	ts    int64
	facts []schema.Fact
}

func at(ts int64, facts ...schema.Fact) point { return point{ts, facts} }

// transcript prints what comes when: `<` marks the reading of a time point.
func transcript(t *testing.T, p *future.Plan, log ...point) string {
	t.Helper()
	var out []string
	emit := func(v future.Verdict) {
		text := fmt.Sprintf("@%d(%d)", v.TS, v.Index)
		for _, r := range v.Rows {
			text += strings.ReplaceAll(fmt.Sprint(r.Values), " ", ",")
		}
		out = append(out, text)
	}
	r := p.New()
	for _, tp := range log {
		out = append(out, "<")
		if err := r.Step(tp.ts, tp.facts, emit); err != nil {
			t.Fatal(err)
		}
	}
	out = append(out, "end")
	if err := r.Flush(emit); err != nil {
		t.Fatal(err)
	}
	return strings.Join(out, " ")
}

// TestTranscripts works small cases out by hand.
func TestTranscripts(t *testing.T) {
	for _, c := range []struct {
		formula string
		columns []string
		log     []point
		want    string
	}{
		{ // the past comes at once
			"p(x) AND NOT ONCE q(x)",
			[]string{"x"},
			[]point{at(1, fact("p", 1)), at(2, fact("q", 1), fact("p", 1), fact("p", 2))},
			"< @1(0)[1] < @2(1)[2] end",
		},
		{ // a response in time
			"q(x) AND NOT EVENTUALLY[0,3] p(x)",
			[]string{"x"},
			[]point{at(1, fact("q", 1), fact("q", 2)), at(2, fact("p", 1)), at(4), at(5, fact("q", 3))},
			"< < < < @1(0)[2] end @2(1) @4(2) @5(3)[3]",
		},
		{ // the last time point has no next one
			"NOT NEXT a()", nil,
			[]point{at(1, fact("a")), at(2), at(3, fact("a"))},
			"< < @1(0)[] < @2(1) end @3(2)[]",
		},
		{ // a gap is seen when the next time point is read
			"NEXT[0,2] EVENTUALLY[0,9] p(x)",
			[]string{"x"},
			[]point{at(1), at(9), at(10, fact("p", 1)), at(30)},
			"< < @1(0) < < @9(1)[1] @10(2) end @30(3)",
		},
		{ // equal time stamps: not before, but after
			"EVENTUALLY[0,0] p(x)",
			[]string{"x"},
			[]point{at(1, fact("p", 0)), at(1, fact("p", 1)), at(1), at(2, fact("p", 2))},
			"< < < < @1(0)[0][1] @1(1)[1] @1(2) end @2(3)[2]",
		},
		{ // the left operand counts from the time point itself, up to before the right one
			"(NOT p(x)) UNTIL[0,3] q(x)",
			[]string{"x"},
			[]point{at(1), at(2, fact("p", 1)), at(3, fact("q", 1), fact("q", 2), fact("p", 2)), at(9, fact("p", 2)), at(20)},
			"< < < < @1(0)[2] @2(1)[2] @3(2)[1][2] < @9(3) end @20(4)",
		},
		{ // also before the interval opens
			"p(x) UNTIL[2,5] r(x,y)",
			[]string{"x", "y"},
			[]point{at(1, fact("p", 1), fact("p", 2)), at(2, fact("p", 1)), at(3, fact("r", 1, 7), fact("r", 2, 7)), at(9)},
			"< < < < @1(0)[1,7] @2(1) @3(2) end @9(3)",
		},
		{ // within each other, either way round
			"ONCE[1,4] EVENTUALLY[1,2] (p(x) AND PREVIOUS q(x))",
			[]string{"x"},
			[]point{at(0), at(2, fact("q", 1)), at(4, fact("p", 1)), at(7)},
			"< < < @0(0) < @2(1) @4(2)[1] end @7(3)",
		},
	} {
		if got := transcript(t, compile(t, core(t, c.formula, c.columns...)), c.log...); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.formula, got, c.want)
		}
	}
}

// A time stamp before that of the last time point counts as that, also once the log has
// forgotten the last time point.
func TestTimeStampsDoNotDescend(t *testing.T) {
	for _, f := range []*check.Checked{core(t, "ts(x)", "x"), core(t, "EVENTUALLY[0,0] ts(x)", "x")} {
		got := transcript(t, compile(t, f, future.WithEngine(mfotl.WithBuiltIns())), at(5), at(3), at(7))
		got = strings.Join(strings.Fields(strings.NewReplacer("<", "", "end", "").Replace(got)), " ")
		if got != "@5(0)[5] @5(1)[5] @7(2)[7]" {
			t.Errorf("%s: %s", f.Core, got)
		}
	}
}

func TestCompileRefuses(t *testing.T) {
	p := &syntax.Pred{Name: "p", Args: []syntax.Term{syntax.Var{Name: "x"}}}
	q := &syntax.Pred{Name: "q", Args: []syntax.Term{syntax.Var{Name: "y"}}}
	in := syntax.Interval{Hi: 3}
	for _, c := range []struct {
		f    syntax.Formula
		want string
	}{
		{&syntax.Eventually{I: syntax.AnyTime(), F: p}, "without an upper bound"},
		{&syntax.Until{I: syntax.AnyTime(), Left: p, Right: p}, "without an upper bound"},
		{&syntax.Until{I: in, Left: q, Right: p}, "left operand of UNTIL"},
		{&syntax.Next{I: syntax.Interval{Lo: 2, Hi: 1}, F: p}, "negative or empty"},
		{&syntax.Next{I: syntax.Interval{Lo: -1, Hi: 1}, F: p}, "negative or empty"},
		{&syntax.Always{I: in, F: p}, "not an operator of the core"},
		{&syntax.Once{I: in, F: &syntax.Pred{Name: "future 0", Args: p.Args}}, "reserved"},
		{&syntax.Eventually{I: in, F: &syntax.Not{F: p}}, "operand"},
	} {
		_, err := future.Compile(&check.Checked{Core: c.f, Free: []check.Column{{Name: "x"}}})
		if !errors.Is(err, mfotl.ErrFormula) || !strings.Contains(fmt.Sprint(err), c.want) {
			t.Errorf("%s: error %v, want one with %q", c.f, err, c.want)
		}
	}
}

// TestPendingLimit reaches the limit and passes it by one.
func TestPendingLimit(t *testing.T) {
	f := core(t, "q(x) AND NOT EVENTUALLY[0,100] p(x)", "x")
	none := func(future.Verdict) {}
	for limit, fails := range map[int]bool{23: true, 24: false} {
		r := compile(t, f, future.WithPending(limit)).New()
		var err error
		for i := range int64(8) { // a time point, a fact of q, a tuple of p
			err = r.Step(i, []schema.Fact{fact("q", i), fact("p", i), fact("other", i)}, none)
		}
		if errors.Is(err, future.ErrPending) != fails {
			t.Errorf("limit %d: error %v with %d waiting", limit, err, r.Waiting())
		}
		if fails && !errors.Is(r.Flush(none), future.ErrPending) {
			t.Error("a run that has failed goes on")
		}
	}
}

// What waits is bounded by the horizon, not by the length of the log.
func TestWaitingIsBounded(t *testing.T) {
	r := compile(t, core(t, "q(x) AND (NOT p(x)) UNTIL[2,10] NEXT (r(x,y) AND NOT EVENTUALLY[0,5] p(y))", "x", "y")).New()
	most := 0
	for i := range int64(3000) {
		err := r.Step(i, []schema.Fact{fact("q", i%7), fact("p", i%11), fact("r", i%7, i%13)}, func(future.Verdict) {})
		if err != nil {
			t.Fatal(err)
		}
		if i < 100 {
			most = max(most, r.Waiting())
		}
		if r.Waiting() > most {
			t.Fatalf("%d wait at time point %d, there were %d at most before", r.Waiting(), i, most)
		}
	}
	if err := r.Audit(); err != nil {
		t.Error(err)
	}
}

func TestPresumptiveFacts(t *testing.T) {
	weak := fact("p", 1)
	weak.Strength = verdict.Presumptive
	var marks []verdict.Value
	emit := func(v future.Verdict) {
		for _, r := range v.Rows {
			marks = append(marks, r.Mark)
		}
	}
	past := compile(t, core(t, "ONCE p(x)", "x"))
	if err := past.New().Step(1, []schema.Fact{weak}, emit); err != nil || len(marks) != 1 || marks[0] != verdict.Fp {
		t.Errorf("a past formula: marks %v, error %v", marks, err)
	}
	r := compile(t, core(t, "NEXT p(x)", "x")).New()
	if err := r.Step(1, []schema.Fact{weak}, emit); !errors.Is(err, future.ErrPresumptive) {
		t.Errorf("a future formula: error %v", err)
	}
}

func TestAfterTheEnd(t *testing.T) {
	r := compile(t, core(t, "NEXT p(x)", "x")).New()
	none := func(future.Verdict) {}
	if err := r.Flush(none); err != nil {
		t.Fatal(err)
	}
	if err := r.Step(1, nil, none); !errors.Is(err, future.ErrEnded) {
		t.Errorf("Step: %v", err)
	}
	if err := r.Flush(none); !errors.Is(err, future.ErrEnded) {
		t.Errorf("Flush: %v", err)
	}
}

// A window that overflows in an operand spoils what is seen through it, and not what
// was final before.
func TestOverflowIsAFault(t *testing.T) {
	p := compile(t, core(t, "EVENTUALLY[0,1] ONCE p(x)", "x"), future.WithEngine(mfotl.WithTuples(3)))
	var faults []bool
	emit := func(v future.Verdict) {
		if v.Fault != nil && !errors.Is(v.Fault, future.ErrLossy) {
			t.Errorf("fault %v", v.Fault)
		}
		faults = append(faults, v.Fault != nil)
	}
	r := p.New()
	for i := range int64(8) {
		if err := r.Step(i, []schema.Fact{fact("p", i)}, emit); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Flush(emit); err != nil {
		t.Fatal(err)
	}
	// The fourth entry, of time point 3, makes the window overflow when it is adopted.
	if want := []bool{false, false, false, true, true, true, true, true}; fmt.Sprint(faults) != fmt.Sprint(want) {
		t.Errorf("faults %v, want %v", faults, want)
	}
}

// A term without a value spoils the verdicts that may see it, and no others.
func TestEvaluationFaults(t *testing.T) {
	for formula, want := range map[string][]bool{
		"p(x) AND 10 / x > 1":                   {false, false, true, false, false},
		"EVENTUALLY[0,1] (p(x) AND 10 / x > 1)": {false, true, true, false, false},
		"(EVENTUALLY[0,1] (p(x) AND 10 / x > 1)) AND NEXT (EVENTUALLY[0,1] (p(x) AND 10 / x > 1))": {true, true, true, false, false},
		"NEXT (p(x) AND 10 / x > 1)":            {false, true, false, false, false},
		"NEXT NEXT (p(x) AND 10 / x > 1)":       {true, false, false, false, false},
		"(p(x) AND 10 / x > 1) UNTIL[1,2] p(x)": {true, true, true, false, false},
		// The left operand lags behind the right one, and its fault lies further back.
		"((NEXT[0,9] (p(x) AND 10 / x > 1)) AND p(x)) UNTIL[0,9] (p(x) AND 10 / x > 1)": {true, true, true, false, false},
		"ONCE[0,1] EVENTUALLY[0,1] (p(x) AND 10 / x > 1)":                               {false, true, true, true, true}, // its window remembers
		"EVENTUALLY[0,1] ONCE[0,1] (p(x) AND 10 / x > 1)":                               {false, true, true, true, false},
	} {
		r := compile(t, core(t, formula, "x")).New()
		var faults []bool
		emit := func(v future.Verdict) {
			if v.Fault != nil && !errors.Is(v.Fault, mfotl.ErrFault) && !errors.Is(v.Fault, future.ErrLossy) {
				t.Errorf("%s: fault %v", formula, v.Fault)
			}
			faults = append(faults, v.Fault != nil)
		}
		for i, x := range []int64{1, 2, 0, 3, 4} {
			if err := r.Step(int64(i), []schema.Fact{fact("p", x)}, emit); err != nil {
				t.Fatal(err)
			}
		}
		if err := r.Flush(emit); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(faults, want) {
			t.Errorf("%s: faults at %v, want %v", formula, faults, want)
		}
	}
}
