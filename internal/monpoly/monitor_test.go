package monpoly

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/aspis-rv/aspis/internal/lang/check"
	"github.com/aspis-rv/aspis/internal/lang/syntax"
	"github.com/aspis-rv/aspis/internal/mfotl"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// echo is an evaluator that answers one time point late.
type echo struct{ seen []Verdict }

func (e *echo) Step(ts int64, facts []schema.Fact, emit func(*Verdict)) error {
	if n := len(e.seen); n > 0 {
		emit(&e.seen[n-1])
	}
	e.seen = append(e.seen, Verdict{Index: uint64(len(e.seen)), TS: ts, Rows: make([]schema.Row, len(facts))})
	return nil
}

func (e *echo) Flush(emit func(*Verdict)) error {
	if n := len(e.seen); n > 0 {
		emit(&e.seen[n-1])
	}
	return nil
}

// monitored runs a monitor over a log and writes down what it does.
func monitored(e Evaluator, log string, skip bool) (string, error) {
	var b strings.Builder
	m := Monitor{
		Evaluator: e,
		Begin:     func(i uint64) { fmt.Fprintf(&b, "%d: ", i) },
		Emit:      func(v *Verdict) { b.Write(Style{}.Append(nil, v)) },
	}
	if skip {
		m.Skip = func(p *Point, last int64) { fmt.Fprintf(&b, "(%d after %d) ", p.TS, last) }
	}
	err := m.Run(NewReader(strings.NewReader(log), "log", testSignature(), testReads))
	return b.String(), err
}

func TestMonitor(t *testing.T) {
	for _, tc := range []struct {
		name, log, want string
		skip            bool
		err             error
	}{
		{"empty", "", "", false, nil},
		{"all", "@1 e @1 @4 e", "0: 1: @1 (time point 0): true\n2: @4 (time point 2): true\n", false, nil},
		{"skipped", "@-5 e @3 e @2 e e @3 @9 e", "(-5 after -1) 0: (2 after 3) 1: @3 (time point 0): true\n2: @9 (time point 2): true\n", true, nil},
		{"stopped", "@3 e @4 e\n@2 e @9 e", "0: 1: @3 (time point 0): true\n", false, ErrOrder},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := monitored(&echo{}, tc.log, tc.skip)
			if got != tc.want || !errors.Is(err, tc.err) {
				t.Errorf("got %q, %v, want %q, %v", got, err, tc.want, tc.err)
			}
		})
	}
}

// TestMonitorGivesNothingAfterAMistake holds that what waits for the rest of the log is
// not given when the rest cannot be read.
func TestMonitorGivesNothingAfterAMistake(t *testing.T) {
	got, err := monitored(&echo{}, "@1 e @2 e @3 e %", false)
	if at, ok := errors.AsType[*Error](err); !ok || at.Col != 16 || got != "0: 1: @1 (time point 0): true\n" {
		t.Errorf("got %q, %v", got, err)
	}
}

func evaluatorOf(t *testing.T, formula string) Evaluator {
	t.Helper()
	return newEvaluatorOf(t, formula, NewEvaluator)
}

func newEvaluatorOf(t *testing.T, formula string, newOne func(*check.Checked) (Evaluator, error)) Evaluator {
	t.Helper()
	f, diags := syntax.Parse(formula, syntax.Options{Mode: syntax.MonPoly})
	if f == nil {
		t.Fatal(diags)
	}
	c, diags := check.Check(f, testSignature(), check.Options{Mode: syntax.MonPoly, BuiltIn: true, Future: true})
	if c == nil {
		t.Fatal(diags)
	}
	e, err := newOne(c)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestEvaluator(t *testing.T) {
	for _, tc := range []struct{ formula, log, want string }{
		{"p(x) AND NOT (ONCE[0,3] s(_))", "@1 p(1) @2 s(a) @3 p(2) @9 p(3)", "0: @1 (time point 0): (1)\n1: 2: 3: @9 (time point 3): (3)\n"},
		{"p(x) AND (EVENTUALLY[0,3] e())", "@1 p(1) @3 p(2) @4 e() @9 p(3)", "0: 1: 2: 3: @1 (time point 0): (1)\n@3 (time point 1): (2)\n"},
		{"p(x) AND tpts(i, t)", "@7 p(1) @9 @9 p(2)", "0: @7 (time point 0): (1,0,7)\n1: 2: @9 (time point 2): (2,2,9)\n"},
		{"m <- MIN x p(x)", "@1 e @2 p(4)(3)", "0: @1 (time point 0): (0)\n1: @2 (time point 1): (3)\n"},
	} {
		if got, err := monitored(evaluatorOf(t, tc.formula), tc.log, false); got != tc.want || err != nil {
			t.Errorf("%s on %s: got %q, %v, want %q", tc.formula, tc.log, got, err, tc.want)
		}
	}
}

// TestEvaluatorFailsClosed holds that a time point whose answer would be incomplete ends
// the run, also when it is found out later.
func TestEvaluatorFailsClosed(t *testing.T) {
	for _, formula := range []string{"p(x) AND 6 / x = 2", "p(x) AND 6 / x = 2 AND (EVENTUALLY[0,2] e())"} {
		got, err := monitored(evaluatorOf(t, formula), "@1 p(3) e @2 p(3)\n p(0) e @9 p(3) e", false)
		want := "@1 (time point 0): (3)\n"
		if !errors.Is(err, mfotl.ErrFault) || !strings.Contains(err.Error(), "time point 1") || !strings.Contains(got, want) || strings.Contains(got, "(time point 2)") {
			t.Errorf("%s: got %q, %v, want %q and a fault", formula, got, err, want)
		}
	}
}
