package mfotl_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/aspis-rv/aspis/internal/lang/check"
	"github.com/aspis-rv/aspis/internal/lang/syntax"
	"github.com/aspis-rv/aspis/internal/mfotl"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// TestTerms evaluates terms at the edges of their types, and without a value.
func TestTerms(t *testing.T) {
	const most, least = math.MaxInt64, math.MinInt64
	i, f, s := schema.IntValue, schema.FloatValue, schema.StringValue
	for _, c := range []struct {
		term string
		x, y schema.Value
		want string // a value, or a part of the fault
	}{
		{"x + y", i(most), i(0), "9223372036854775807"},
		{"x + y", i(most), i(1), "64 bits"},
		{"x + y", i(least), i(-1), "64 bits"},
		{"x - y", i(least), i(1), "64 bits"},
		{"x - y", i(0), i(least), "64 bits"},
		{"x - y", i(-1), i(least), "9223372036854775807"},
		{"x * y", i(least), i(-1), "64 bits"},
		{"x * y", i(-1), i(least), "64 bits"},
		{"x * y", i(1 << 32), i(1 << 31), "64 bits"},
		{"x * y", i(-1 << 32), i(1 << 31), "-9223372036854775808"},
		{"x / y", i(-7), i(2), "-3"},
		{"x / y", i(7), i(0), "division by zero"},
		{"x / y", i(least), i(-1), "64 bits"},
		{"x MOD y", i(-7), i(2), "-1"},
		{"x MOD y", i(7), i(-2), "1"},
		{"x MOD y", i(7), i(0), "division by zero"},
		{"x MOD y", i(least), i(-1), "0"},
		{"x + y", i(1), s("a"), "another type"},
		{"-(x)", i(least), i(0), "64 bits"},
		{"-(x)", i(7), i(0), "-7"},
		{"-(x)", f(0), i(0), "0"},
		{"x / y", f(1), f(0), "+Inf"},
		{"x / y", f(0), f(0), "no result"},
		{"x - y", f(math.Inf(1)), f(math.Inf(1)), "no result"},
		{"i2f(x)", i(3), i(0), "3"},
		{"f2i(x)", f(-3.9), i(0), "-3"},
		{"f2i(x)", f(math.Ldexp(1, 63)), i(0), "range"},
		{"f2i(x)", f(-math.Ldexp(1, 63)), i(0), "-9223372036854775808"},
		{"f2i(x)", f(math.Inf(-1)), i(0), "range"},
		{"i2s(x)", i(-3), i(0), `"-3"`},
		{"f2s(x)", f(0.1), i(0), `"0.1"`},
		{"s2i(x)", s("-12"), i(0), "-12"},
		{"s2i(x)", s("1.5"), i(0), "no number"},
		{"s2i(x)", s("9223372036854775808"), i(0), "no number"},
		{"s2f(x)", s("1e3"), i(0), "1000"},
		{"s2f(x)", s("nan"), i(0), "no number"},
		{"s2f(x)", s("0x1p3"), i(0), "no number"},
		{"s2f(x)", s(""), i(0), "no number"},
		{"s2i(x)", i(1), i(0), "another type"},
	} {
		t.Run(fmt.Sprint(c.term, " ", c.x, " ", c.y), func(t *testing.T) {
			st := compile(t, core(t, "r(x,y) AND z = "+c.term, "z", "x", "y")).New()
			st.Step(0, 0, []schema.Fact{{Name: "r", Args: []schema.Value{c.x, c.y}}})
			if err := st.Fault(0); err != nil {
				t.Error("a fault before the formula was evaluated", err)
			}
			rows, err := st.Rows(0), st.Fault(0)
			switch {
			case len(rows) == 1 && err == nil:
				if got := rows[0].Values[0].String(); got != c.want {
					t.Errorf("%s, want %s", got, c.want)
				}
			case len(rows) > 0 || !errors.Is(err, mfotl.ErrFault) || !strings.Contains(err.Error(), strings.Fields(c.term)[0]):
				t.Errorf("rows %v with the fault %v", rows, err)
			case !strings.Contains(err.Error(), c.want):
				t.Errorf("%v, want %s", err, c.want)
			}
			st.Rollback()
		})
	}
}

// TestGuardedTerm writes a guard before a division, as another sub-formula: the division
// is not tried where the guard fails, whatever it is.
func TestGuardedTerm(t *testing.T) {
	for _, text := range []string{
		"r(x,y) AND (NOT y = 0) AND x / y > 1",
		"r(x,y) AND (NOT ONCE zero(y)) AND x / y > 1",
		"r(x,y) AND (EXISTS u. (r(x,u) AND 0 < y)) AND x / y > 1",
		`r(x,y) AND (NOT y = 0) AND i2s(x / y) MATCHES r"2"`,
		`r(x,y) AND (NOT y = 0) AND i2s(x / y) SUBSTRING "12"`,
		"r(x,y) AND (EXISTS u. two(y,u)) AND (x / y = 2 OR zero(x))",
		"r(x,y) AND two(y,u) AND (EXISTS k. (two(k,u) AND k = x / y))",
		"r(x,y) AND two(y,u) AND NOT (EXISTS k. (zero(k) AND k = x / y))",
	} {
		columns := []string{"x", "y"}
		if strings.Contains(text, "AND two(y,u)") {
			columns = append(columns, "u")
		}
		st := compile(t, core(t, text, columns...)).New()
		st.Step(0, 0, []schema.Fact{fact("r", 4, 2), fact("r", 1, 0), fact("zero", 0), fact("two", 2, 0)})
		got := rows(st.Rows(0))
		if !strings.HasPrefix(got, "(4,2") || strings.Contains(got, ") ") || st.Fault(0) != nil {
			t.Errorf("%s: %s with the fault %v", text, got, st.Fault(0))
		}
		st.Rollback()
	}
}

// TestFaultOfFormula keeps a fault with the formula that met it, for one evaluation.
func TestFaultOfFormula(t *testing.T) {
	plan := compile(t,
		core(t, "p(x) AND 10 / x > 1", "x"),
		core(t, "p(x)", "x"),
		core(t, "NOT (EXISTS x. (p(x) AND 10 / x > 1))"),
	)
	st := plan.New()
	for i, c := range []struct {
		facts  []schema.Fact
		faults string
	}{
		{[]schema.Fact{fact("p", 0), fact("p", 3)}, "true false true"},
		{[]schema.Fact{fact("p", 3), fact("p", 0)}, "true false true"},
		{[]schema.Fact{fact("p", 3)}, "false false false"},
		{nil, "false false false"},
	} {
		st.Step(int64(i), uint64(i), c.facts)
		var got []string
		for f := range plan.Formulas() {
			st.Rows(f)
			got = append(got, fmt.Sprint(st.Fault(f) != nil))
		}
		if strings.Join(got, " ") != c.faults {
			t.Errorf("%v: faults %v, want %s", c.facts, got, c.faults)
		}
		st.Commit()
	}
}

// TestFaultInWindow loses a window by a fault, provisionally and for good; that is part
// of the state.
func TestFaultInWindow(t *testing.T) {
	plan := compile(t,
		core(t, "ONCE (p(x) AND 10 / x > 1)", "x"),
		core(t, "ONCE p(x)", "x"),
		core(t, "(NOT (q() AND 10 / 0 > 1)) SINCE p(x)", "x"),
		core(t, "n <- CNT x ONCE (p(x) AND 10 / x > 1)", "n"),
	)
	st := plan.New()
	lossy := func() string {
		return fmt.Sprint(st.Lossy(0), st.Lossy(1), st.Lossy(2), st.Lossy(3))
	}
	st.Step(0, 0, []schema.Fact{fact("p", 0), fact("p", 5)})
	if got := lossy(); got != "true false false true" {
		t.Errorf("pending: lossy %s", got)
	}
	if got, err := rows(st.Rows(3)), st.Fault(3); got != "(1)F@[0]" || err != nil {
		t.Errorf("the count is %s with the fault %v", got, err)
	}
	st.Rollback()
	if got := lossy(); got != "false false false false" || st.Overflowed() {
		t.Errorf("rolled back: lossy %s", got)
	}
	st.Step(0, 0, []schema.Fact{fact("p", 5)})
	st.Commit()
	st.Step(1, 1, []schema.Fact{fact("q")})
	st.Commit()
	st.Step(2, 2, []schema.Fact{fact("p", 0)})
	st.Commit()
	if got := lossy(); got != "true false true true" || !st.Overflowed() {
		t.Errorf("lossy %s", got)
	}
	var err error
	if st, err = plan.Restore(st.AppendState(nil)); err != nil {
		t.Fatal(err)
	}
	if got := lossy(); got != "true false true true" {
		t.Errorf("restored: lossy %s", got)
	}
}

// TestFaultIsForgotten loses bounded windows until the formula no longer reaches back to
// the fault, one above the other too; a later fault counts from then on, unless it is
// rolled back.
func TestFaultIsForgotten(t *testing.T) {
	plan := compile(t,
		core(t, "ONCE[0,5] (p(x) AND 10 / x > 1)", "x"),
		core(t, "ONCE[0,3] ONCE[2,5] (p(x) AND 10 / x > 1)", "x"),
		core(t, "ONCE (p(x) AND 10 / x > 1)", "x"),
	)
	st := plan.New()
	lossy := func(ts int64, facts ...schema.Fact) string {
		st.Step(ts, 0, facts)
		return fmt.Sprint(st.Lossy(0), st.Lossy(1), st.Lossy(2))
	}
	for _, c := range []struct {
		ts    int64
		x     int64
		adopt bool
		want  string
	}{
		{0, 2, true, "false false false"},
		{10, 0, false, "true true true"},
		{10, 0, true, "true true true"},
		{15, 2, true, "true true true"},
		{16, 2, true, "false true true"},
		{18, 2, true, "false true true"},
		{19, 2, true, "false false true"},
		{20, 0, false, "true true true"},
		{20, 2, true, "false false true"},
		{21, 0, true, "true true true"},
		{30, 2, true, "false false true"},
	} {
		if got := lossy(c.ts, fact("p", c.x)); got != c.want {
			t.Errorf("at %d: lossy %s, want %s", c.ts, got, c.want)
		}
		if !c.adopt {
			st.Rollback()
			continue
		}
		st.Commit()
		var err error
		if st, err = plan.Restore(st.AppendState(nil)); err != nil {
			t.Fatal(err)
		}
	}
}

// TestAggregates works small cases out by hand.
func TestAggregates(t *testing.T) {
	weak := presumptive
	for _, c := range []struct {
		formula string
		columns []string
		trace   []point
		want    string // at the last time point
	}{
		{"n <- CNT x p(x)", []string{"n"}, []point{at(0, fact("p", 1), fact("p", 2), fact("p", 2))}, "(2)F@[0]"},
		{"n <- CNT x p(x)", []string{"n"}, []point{at(0)}, "(0)F@[]"},
		{"n <- CNT x; y r(x,y)", []string{"n", "y"}, []point{at(0)}, ""},
		{"n <- CNT x p(x)", []string{"n"}, []point{at(0, fact("p", 1), weak(fact("p", 2)))}, "(2)Fp@[0]"},
		{"n <- CNT x; y r(x,y)", []string{"n", "y"}, []point{at(0, fact("r", 1, 1), weak(fact("r", 2, 2)))}, "(1,1)F@[0] (1,2)Fp@[0]"},
		// With q presumptive, p(2) is presumably excluded: it does not count, but casts doubt.
		{"n <- CNT x (p(x) AND NOT q(x))", []string{"n"}, []point{at(0, fact("p", 1), fact("p", 2), weak(fact("q", 2)))}, "(1)Fp@[0]"},
		{"n <- CNT x (p(x) AND NOT q(x))", []string{"n"}, []point{at(0, fact("p", 2), weak(fact("q", 2)))}, "(0)Fp@[]"},
		{"n <- MAX x (p(x) AND NOT q(x))", []string{"n"}, []point{at(0, fact("p", 2), weak(fact("q", 2)))}, "(2)Tp@[0]"},
		{"n <- CNT x; x (p(x) AND NOT q(x))", []string{"n", "x"}, []point{at(0, fact("p", 2), weak(fact("q", 2)))}, "(1,2)Tp@[0]"},
		{"n <- MIN x p(x)", []string{"n"}, []point{at(0)}, ""},
		{"n <- SUM x p(x)", []string{"n"}, []point{at(0, fact("p", math.MaxInt64), fact("p", 1), fact("p", -1))}, "(9223372036854775807)F@[0]"},
		{"n <- SUM x p(x)", []string{"n"}, []point{at(0, fact("p", math.MaxInt64), fact("p", 1))}, ""},
		{"n <- AVG x ONCE p(x)", []string{"n"}, []point{at(0, fact("p", math.MaxInt64)), at(1, fact("p", math.MaxInt64-1), fact("p", 1))}, "(6.148914691236517e+18)F@[0 1]"},
		{"n <- MED x ONCE[0,1] p(x)", []string{"n"}, []point{at(0, fact("p", 9)), at(1, fact("p", 1), fact("p", 2)), at(2, fact("p", 4), fact("p", 8))}, "(3)F@[1 2]"},
		{"n <- CNT x ONCE p(x)", []string{"n"}, []point{
			at(0, fact("p", 0)), at(1, fact("p", 1)), at(2, fact("p", 2)), at(3, fact("p", 3)), at(4, fact("p", 4)),
			at(5, fact("p", 5)), at(6, fact("p", 6)), at(7, fact("p", 7)), at(8, fact("p", 8)), at(9, fact("p", 0)), at(10),
		}, "(9)F@[2 3 4 5 6 7 8 9]"},
	} {
		got := run(compile(t, core(t, c.formula, c.columns...)), c.trace)
		if last := got[len(got)-1]; last != c.want {
			t.Errorf("%s: %s, want %s", c.formula, last, c.want)
		}
	}
}

// TestEmptyAggregates gives the values without a tuple that MonPoly prints.
func TestEmptyAggregates(t *testing.T) {
	for _, c := range []struct {
		op   syntax.AggOp
		kind schema.ValueKind
		want string
	}{
		{syntax.Count, strKind, "(0)F@[]"},
		{syntax.Sum, fltKind, "(0)F@[]"},
		{syntax.Average, intKind, "(0)F@[]"},
		{syntax.Median, intKind, "(0)F@[]"},
		{syntax.Min, intKind, "(0)F@[]"},
		{syntax.Max, strKind, `("")F@[]`},
		{syntax.Min, fltKind, "(+Inf)F@[]"},
		{syntax.Max, fltKind, "(-Inf)F@[]"},
	} {
		f := core(t, "n <- "+c.op.String()+" x p(x)", "n")
		f.Kinds = map[string]schema.ValueKind{"x": c.kind}
		plan, err := mfotl.Compile([]*check.Checked{f}, mfotl.WithMonPolyEmpty())
		if err != nil {
			t.Fatal(err)
		}
		if got := run(plan, []point{at(0)}); got[0] != c.want {
			t.Errorf("%v of %v: %s, want %s", c.op, c.kind, got[0], c.want)
		}
	}
}

// TestAggregateContract refuses what the contract of the core formula excludes.
func TestAggregateContract(t *testing.T) {
	for _, c := range []struct{ formula, want string }{
		{"x <- CNT x p(x)", "rename one"},
		{"n <- CNT y p(x)", "not a free variable"},
		{"n <- CNT x; y p(x)", "not a free variable"},
		{"q(x) AND (n <- CNT x p(x))", "both free and bound"},
		{"EXISTS x. (q(x) AND (n <- CNT x p(x)))", "bound again"},
		{"EVENTUALLY[0,3] p(n)", "judges at the time point itself"},
		{"p(n) AND NEW (p(n))", "spatial aspect"},
	} {
		f, diags := syntax.Parse(c.formula, syntax.Options{})
		if f == nil {
			f, diags = syntax.Parse(c.formula, syntax.Options{Mode: syntax.MonPoly})
		}
		if f == nil {
			t.Errorf("%s: %v", c.formula, diags)
			continue
		}
		checked := &check.Checked{Core: f}
		for _, n := range syntax.FreeVars(f) {
			checked.Free = append(checked.Free, check.Column{Name: n})
		}
		_, err := mfotl.Compile([]*check.Checked{checked})
		if !errors.Is(err, mfotl.ErrFormula) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.formula, err, c.want)
		}
	}
}

// TestLongTextIsNotSearched gives an expression that has to be tried at every place of a
// text a text of some length: the search is bounded, and what is beyond is a fault.
func TestLongTextIsNotSearched(t *testing.T) {
	for _, formula := range []string{`t(x) AND x MATCHES r"\(x.*y\)*xyz"`, `t(x) AND NOT (x MATCHES r"\(x.*y\)*xyz")`} {
		st := compile(t, core(t, formula, "x")).New()
		for n, long := range map[int]bool{1 << 10: false, 1 << 23: true} {
			st.Step(0, 0, []schema.Fact{{Name: "t", Args: []schema.Value{schema.StringValue(strings.Repeat("x", n))}}})
			fires := len(st.Rows(0)) > 0
			err := st.Fault(0)
			st.Rollback()
			if (err != nil) != long || long && !strings.Contains(err.Error(), "too long") {
				t.Errorf("%s, %d bytes: %v", formula, n, err)
			}
			if fires != strings.Contains(formula, "NOT") {
				t.Errorf("%s, %d bytes: fires: %t", formula, n, fires)
			}
		}
	}
}
