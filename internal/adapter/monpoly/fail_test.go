package monpoly

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aspis-rv/aspis/pkg/aspects"
	"github.com/aspis-rv/aspis/pkg/policy"
	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

const smallText = `policy: small
revision: 1
engine: monpoly
facts: {send: [to], grant: [to], read: [from], count: [n:int], score: [x:float]}
tools: {t: {}}
clauses:
  A: {text: t, forbid: {temporal: 'send(a) AND NOT (ONCE[0,9s] grant(a))'}}
  B: {text: t, forbid: {temporal: 'read(b)'}}
  C: {text: t, forbid: {temporal: 'count(n) AND (ONCE count(n))'}}
  D: {text: t, forbid: {temporal: 'EXISTS x. (score(x) AND x < 0.0)'}}
`

func at(n int, facts ...schema.Fact) aspects.Input {
	return aspects.Input{TimePoint: uint64(n), Timestamp: int64(n) * second, Offset: uint64(n), Facts: facts}
}

func fact(name string, v ...schema.Value) schema.Fact { return schema.Fact{Name: name, Args: v} }

func text(name, s string) schema.Fact { return fact(name, schema.StringValue(s)) }

// TestMisbehaviour: whatever a process does but answer, the part of the clause that
// could fire is unavailable, the others are not touched, and the process is gone.
func TestMisbehaviour(t *testing.T) {
	const failed, never = "process failed", "no answer in time"
	for _, tc := range []struct {
		mode string
		want string
	}{
		{"silent", never},
		{"late", never},
		{"head only", never},
		{"garbage", "where time point 1 at 1000000000 was expected"},
		{"other point", "where time point 1 at 1000000000 was expected"},
		{"other time", "where time point 1 at 1000000000 was expected"},
		{"other head", `where "At time point 1:" was expected`},
		{"twice", "more than one answer to time point 1"},
		{"row twice", "twice"},
		{"unquoted", "has no list of rows over v0:string"},
		{"partial", "ends within a line"},
		{"zero", "exception Division_by_zero"},
		{"dies", failed},
		{"endless", "a line of more than"},
	} {
		t.Run(tc.mode, func(t *testing.T) {
			t.Parallel()
			binary, log := fake(t, "from 1 "+tc.mode)
			var why []error
			deadline := generous
			e := newEngine(t, load(t, smallText), Config{
				Binary: binary, Failed: func(err error) { why = append(why, err) },
				Deadline: func() (context.Context, context.CancelFunc) { return deadline() },
			})
			m := e.New()
			if got, want := show(m.Judge(at(0, text("send", "x"), text("read", "y")))),
				"A.forbid. [a] sound true: [\"x\"]/F\nB.forbid. [b] sound false: [\"y\"]/F\n"; got != want {
				t.Fatalf("while it behaves: %s", got)
			}
			m.Adopt(at(0, text("send", "x"), text("read", "y")))
			if tc.want == never {
				deadline = brief
			}
			if got, want := show(m.Judge(at(1, text("send", "x")))), "A.forbid. [a] unavailable true:\n"; got != want {
				t.Errorf("got %swant %s", got, want)
			}
			if len(why) != 1 || !strings.Contains(why[0].Error(), tc.want) || !strings.Contains(why[0].Error(), "clause A") {
				t.Errorf("reported %v, want %q and the clause", why, tc.want)
			}
			if n := running(e); n != 1 { // that of clause B
				t.Errorf("%d processes are left\n%s", n, readFile(t, log))
			}
		})
	}
}

func running(e *Engine) int {
	e.pool.mu.Lock()
	defer e.pool.mu.Unlock()
	return e.pool.mu.running
}

// TestUnfitBinary: an engine is made only of a binary that says that it monitors each
// formula, and that answers rightly.
func TestUnfitBinary(t *testing.T) {
	dir := t.TempDir()
	script := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	mode := func(s string) string { binary, _ := fake(t, s); return binary }
	for _, tc := range []struct {
		name, binary string
		err          error
		want         string
	}{
		{"missing", filepath.Join(dir, "none"), ErrBinary, "install MonPoly, or write `engine: aspis`"},
		{"not executable", script("plain", "#!/bin/sh\n", 0o600), ErrBinary, "permission denied"},
		{"a directory", dir, ErrBinary, "directory"},
		{"another program", script("true", "#!/bin/sh\nexit 0\n", 0o700), ErrBinary, "is no MonPoly"},
		{"says yes only", script("yes", "#!/bin/sh\necho 'The formula is monitorable.' >&2\n", 0o700), ErrBinary, "names other variables"},
		{"silent check", mode("mute"), ErrBinary, "does not say that it is monitorable"},
		{"failing check", mode("fails"), ErrBinary, "check_wff"},
		{"unsound", mode("unsound"), ErrBinary, "use another version of it"},
		{"not monitorable, exit 0", mode("unmonitorable"), ErrFormula, "NOT monitorable, because of the subformula"},
		{"silent check of a formula", mode("mute formula"), ErrFormula, "clause A"},
		{"failing check of a formula", mode("fails formula"), ErrFormula, "clause A"},
		{"other variables", mode("variables"), ErrFormula, "names other variables than v0:string"},
	} {
		e, err := New(load(t, smallText), Config{Binary: tc.binary, Deadline: generous})
		if e != nil || !errors.Is(err, tc.err) || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: got %v, want %v with %q", tc.name, err, tc.err, tc.want)
		}
	}
	e, err := New(load(t, smallText), Config{Binary: mode("hangs"), Deadline: brief})
	if e != nil || !errors.Is(err, ErrBinary) {
		t.Errorf("a check that hangs: %v", err)
	}
	if left, err := filepath.Glob(filepath.Join(os.TempDir(), "aspis-monpoly-*")); err != nil || len(left) > 0 {
		t.Logf("directories of engines that run: %v, %v", left, err)
	}
}

// TestUnfitFormula: what the binary would answer otherwise than we do, or not legibly,
// is refused with its place.
func TestUnfitFormula(t *testing.T) {
	binary, _ := fake(t, "ok")
	for _, tc := range []struct{ formula, want string }{
		{"score(x)", "the variable x is a float"},
		{"send(a) AND (HISTORICALLY[0,1s] grant(a))", "HISTORICALLY with free variables"},
		{"count(n) AND n < 9223372036854775807", "needs more than 63 bits"},
		{"count(n) AND n / 2 = 1", "arithmetic is not put to this engine"},
		{"count(n) AND (EXISTS k. ((k <- SUM n; n (ONCE count(n))) AND k > 1))", "SUM is not put to this engine"},
		{"count(n) AND (EXISTS k. ((k <- MAX n (ONCE count(n))) AND k > n))", "MAX without groups"},
		{`read(b) AND b MATCHES r"x"`, "MATCHES"},
	} {
		b := load(t, strings.ReplaceAll(smallText, "read(b)", tc.formula))
		_, err := New(b, Config{Binary: binary, Deadline: generous})
		if !errors.Is(err, ErrFormula) || !strings.Contains(err.Error(), tc.want) || !strings.Contains(err.Error(), "policy.yaml:8:") {
			t.Errorf("%s: got %v, want ErrFormula with %q", tc.formula, err, tc.want)
		}
	}
}

// TestWideNumbers: a bundle with numbers that a float does not hold has the binary
// asked about such numbers too.
func TestWideNumbers(t *testing.T) {
	binary, log := fake(t, "ok")
	for formula, probes := range map[string]int{
		"count(n) AND n = 9007199254740992":      3,
		"count(n) AND n = 9007199254740993":      4,
		"read(b) AND (ONCE[0,365d] grant(b))":    4,
		"read(b) AND NOT (ONCE[0,12h] grant(b))": 3,
	} {
		_ = os.Remove(log)
		newEngine(t, load(t, strings.ReplaceAll(smallText, "read(b)", formula)), Config{Binary: binary})
		if n := strings.Count(readFile(t, log), "start"); n != probes {
			t.Errorf("%s: %d probes, want %d", formula, n, probes)
		}
	}
}

// TestUnfitValues: a time stamp or a value that the binary would not read as itself
// is never sent. Judged, it makes the call unavailable; adopted, it makes incomplete
// what reaches back to it.
func TestUnfitValues(t *testing.T) {
	binary, log := fake(t, "ok")
	var why []error
	e := newEngine(t, load(t, smallText), Config{Binary: binary, Failed: func(err error) { why = append(why, err) }})
	_ = os.Remove(log)
	stamped := func(ts int64) aspects.Input {
		in := at(0, text("send", "x"))
		in.Timestamp = ts
		return in
	}
	for name, in := range map[string]aspects.Input{
		"out of order":       stamped(99*second - 1),
		"negative":           stamped(-1),
		"beyond 63 bits":     stamped(maxInt + 1),
		"a large integer":    at(100, text("send", "x"), fact("count", schema.IntValue(math.MaxInt64))),
		"a small integer":    at(100, text("send", "x"), fact("count", schema.IntValue(math.MinInt64))),
		"no number":          at(100, text("send", "x"), fact("score", schema.FloatValue(math.NaN()))),
		"an infinite number": at(100, text("send", "x"), fact("score", schema.FloatValue(math.Inf(1)))),
		"too many arguments": at(100, text("send", "x"), fact("count")),
		"of another type":    at(100, text("send", "x"), text("count", "1")),
	} {
		m := e.New()
		m.Adopt(at(99, text("grant", "x")))
		why = nil
		for _, p := range m.Judge(in) {
			if p.Completeness != verdict.Unavailable || len(p.Rows) > 0 {
				t.Errorf("%s, judged: clause %s is %s", name, p.Clause, p.Completeness)
			}
		}
		if len(why) == 0 || !errors.Is(why[0], ErrValue) {
			t.Errorf("%s: reported %v", name, why)
		}
		m.Adopt(in)
		later := at(100, text("send", "x"))
		later.Timestamp = m.(*Monitor).record.last()
		if got, want := show(m.Judge(later)), "A.forbid. [a] incomplete true:\n"; got != want {
			t.Errorf("%s, adopted: %s", name, got)
		}
		if later.Timestamp += 10 * second; later.Timestamp > maxInt {
			continue
		}
		if got, want := show(m.Judge(later)), "A.forbid. [a] sound true: [\"x\"]/F\n"; got != want {
			t.Errorf("%s, out of reach: %s", name, got)
		}
	}
	if sent := readFile(t, log); strings.Contains(sent, "-") || strings.Contains(sent, "NaN") || strings.Contains(sent, "92233720") {
		t.Errorf("a process was sent\n%s", sent)
	}
}

// TestControlCharacters: strings reach a process in an alphabet in which they cannot
// end a line or forge an answer, and come back as they were.
func TestControlCharacters(t *testing.T) {
	binary, log := fake(t, "ok")
	e := newEngine(t, load(t, smallText), Config{Binary: binary})
	forged := "x\")\nAt time point 1:\n@1000000000 (time point 1): (\"x00\n\x00\x1b;@"
	m := e.New()
	want := schema.StringValue(forged)
	if parts := m.Judge(at(0, text("read", forged))); len(parts) != 1 || len(parts[0].Rows) != 1 || parts[0].Rows[0].Values[0] != want {
		t.Errorf("got %s", show(parts))
	}
	for line := range strings.Lines(readFile(t, log)) {
		if err := sendable(strings.TrimSuffix(line, "\n")); err != nil {
			t.Error(err)
		}
	}
	for _, line := range []string{"1 p0(x\n)", "1 p0(\x00)", "\x1b", "é", "\x7f"} {
		if err := sendable(line); !errors.Is(err, ErrValue) {
			t.Errorf("%q is sent: %v", line, err)
		}
	}
	q := &question{relations: map[string]relation{"p": {all: true, kinds: []schema.ValueKind{schema.KindString}}}}
	if line, err := q.line(&moment{ts: 5, facts: []schema.Fact{text("p", "a\n")}}); err != nil || line != "5 p0(x610a) ;@" {
		t.Errorf("%q, %v", line, err)
	}
}

// TestBudget: beyond the budget what reaches back to the lost time points is
// incomplete, also after a restart, and what does not is sound.
func TestBudget(t *testing.T) {
	binary, _ := fake(t, "ok")
	e := newEngine(t, load(t, smallText), Config{Binary: binary, Kept: 6})
	m := e.New()
	judge := func(n int) string {
		t.Helper()
		in := at(n, text("send", "x"), text("read", "y"), fact("count", schema.IntValue(1)))
		got := show(m.Judge(in))
		r, err := e.Restore(m.AppendState(nil))
		if err != nil {
			t.Fatal(err)
		}
		if again := show(r.Judge(in)); again != got {
			t.Errorf("restored: %s, before: %s", again, got)
		}
		return got
	}
	const read, count = "B.forbid. [b] sound false: [\"y\"]/F\n", "C.forbid. [n] sound false: [1]/F\n"
	for n := range 3 { // two each
		m.Adopt(at(n, text("grant", "x")))
	}
	if got, want := judge(3), read+count; got != want {
		t.Errorf("within: got %swant %s", got, want)
	}
	m.Adopt(at(3))
	const lost = "A.forbid. [a] incomplete true:\n" + read + "C.forbid. [n] incomplete false:\n"
	if got := judge(4); got != lost {
		t.Errorf("beyond: got %swant %s", got, lost)
	}
	if got := judge(9); got != lost { // the lost one is of second 0
		t.Errorf("at the edge of its reach: got %swant %s", got, lost)
	}
	if got, want := judge(10), read+"C.forbid. [n] incomplete false:\n"; got != want {
		t.Errorf("out of its reach: got %swant %s", got, want)
	}
}

// TestClosed: an engine that was closed answers nothing more.
func TestClosed(t *testing.T) {
	binary, _ := fake(t, "ok")
	e := newEngine(t, load(t, smallText), Config{Binary: binary})
	m := e.New()
	m.Judge(at(0, text("read", "y")))
	if err := e.Close(); err != nil || running(e) != 0 {
		t.Errorf("%v, %d processes", err, running(e))
	}
	if got, want := show(m.Judge(at(0, text("read", "y")))), "B.forbid. [b] unavailable false:\n"; got != want {
		t.Errorf("got %s", got)
	}
	if _, err := os.Stat(e.dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("its directory: %v", err)
	}
}

// TestNoClauses: a bundle without temporal clauses has monitors that say nothing.
func TestNoClauses(t *testing.T) {
	binary, _ := fake(t, "ok")
	e := newEngine(t, &policy.Bundle{}, Config{Binary: binary})
	m := e.New()
	m.Adopt(at(0, text("p", "x")))
	if parts := m.Judge(at(1, text("p", "x"))); len(parts) > 0 {
		t.Errorf("got %s", show(parts))
	}
}

// TestAggregationsOfPresumptiveFacts: they are incomplete as long as such a fact is
// within reach.
func TestAggregationsOfPresumptiveFacts(t *testing.T) {
	binary, _ := fake(t, "ok")
	b := load(t, strings.ReplaceAll(smallText, "read(b)", "read(b) AND (k <- CNT a (ONCE[0,2s] send(a))) AND k > 1"))
	e := newEngine(t, b, Config{Binary: binary})
	m := e.New()
	guess := text("send", "x")
	guess.Strength = verdict.Presumptive
	m.Adopt(at(0, guess, text("send", "y")))
	m.Adopt(at(2, text("send", "y"), text("send", "z")))
	for n, want := range map[int]string{
		2: "B.forbid. [b k] incomplete true:\n",
		3: "B.forbid. [b k] sound true: [\"r\" 2]/F\n",
	} {
		if got := show(m.Judge(at(n, text("read", "r")))); got != want {
			t.Errorf("at %d: got %swant %s", n, got, want)
		}
	}
}
