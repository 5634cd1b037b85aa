package monpoly

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/aspis-rv/aspis/internal/lang/check"
	"github.com/aspis-rv/aspis/pkg/aspects"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// sent returns the time points that processes were sent, by process in the order in
// which they started, the probes left out.
func sent(t *testing.T, log string) [][]string {
	t.Helper()
	var pids []string
	points := map[string][]string{}
	for line := range strings.Lines(readFile(t, log)) {
		pid, what, _ := strings.Cut(strings.TrimSpace(line), " ")
		if what == "start" {
			pids = append(pids, pid)
			continue
		}
		points[pid] = append(points[pid], what)
	}
	var out [][]string
	for _, pid := range pids[3:] {
		out = append(out, points[pid])
	}
	return out
}

// TestSentOnce: an event that was judged and then adopted is not sent a second time,
// also when it is judged by one monitor and adopted by another; after one that was not
// adopted the history is replayed to another process, without it.
func TestSentOnce(t *testing.T) {
	binary, log := fake(t, "ok")
	e := newEngine(t, load(t, smallText), Config{Binary: binary})
	a, b, c := at(0, text("send", "a")), at(1, text("send", "b")), at(2, text("send", "c"))
	e.New().Judge(a) // a call that is refused leaves no monitor behind
	m := e.New()
	m.Judge(a)
	m.Adopt(a)
	m.Judge(b) // refused
	m.Judge(b)
	m.Judge(c)
	m.Adopt(at(2, text("grant", "z"))) // comes in between
	m.Adopt(at(3, text("read", "z")))  // nothing is asked about it
	m.Judge(at(4, text("send", "d")))
	got := sent(t, log)
	line := func(n int, facts string) string { return fmt.Sprintf("%d%s", int64(n)*second, facts) }
	want := [][]string{
		{line(0, " p0(x61)"), line(1, " p0(x62)")},
		{line(0, " p0(x61)"), line(2, " p0(x63)")},
		{line(0, " p0(x61)"), line(2, " p1(x7a)"), line(3, ""), line(4, " p0(x64)")},
	}
	if !slices.EqualFunc(got, want, slices.Equal) {
		t.Errorf("sent\n%s\nwant\n%s", got, want)
	}
}

// TestOutOfReach: what no formula reaches back to is neither kept nor replayed.
func TestOutOfReach(t *testing.T) {
	binary, log := fake(t, "ok")
	text1 := strings.ReplaceAll(smallText, "(ONCE count(n))", "(ONCE[0,1s] count(n))")
	e := newEngine(t, load(t, text1), Config{Binary: binary})
	m := e.monitor()
	for n := range 100 {
		m.Adopt(at(n, text("grant", "x")))
	}
	if n := len(m.record.moments); n != 10 {
		t.Errorf("%d time points are kept, want 10", n)
	}
	if parts := m.Judge(at(100, text("send", "x"))); len(parts) > 0 {
		t.Errorf("got %s", show(parts))
	}
	if got := sent(t, log); len(got) != 1 || len(got[0]) != 11 {
		t.Errorf("sent %s", got)
	}
	if len(m.record.at) != 11 {
		t.Errorf("%d chains for 10 time points", len(m.record.at))
	}
}

// TestReplayGoesOn: a replay that does not end in time is not begun anew.
func TestReplayGoesOn(t *testing.T) {
	binary, log := fake(t, "ok")
	var judging context.CancelFunc
	calls := 0
	slow := false
	e := newEngine(t, load(t, smallText), Config{
		Binary: binary,
		Deadline: func() (context.Context, context.CancelFunc) {
			ctx, cancel := generous()
			switch calls++; {
			case !slow:
			case judging == nil:
				judging = cancel
			default: // the first time point that is replayed takes all the time
				judging()
			}
			return ctx, cancel
		},
	})
	m := e.New()
	for n := range 4 {
		m.Adopt(at(n, text("grant", "x")))
	}
	slow = true
	if got, want := show(m.Judge(at(4, text("send", "y")))), "A.forbid. [a] unavailable true:\n"; got != want {
		t.Errorf("got %s", got)
	}
	slow = false
	if got, want := show(m.Judge(at(4, text("send", "y")))), "A.forbid. [a] sound true: [\"y\"]/F\n"; got != want {
		t.Errorf("got %s", got)
	}
	if got := sent(t, log); len(got) != 1 || len(got[0]) != 5 {
		t.Errorf("sent %s", got)
	}
}

// TestPool: never more processes than allowed, and a clear refusal when all are in use.
func TestPool(t *testing.T) {
	binary, _ := fake(t, "ok")
	var why []error
	e := newEngine(t, load(t, smallText), Config{Binary: binary, Processes: 2, Failed: func(err error) { why = append(why, err) }})
	var monitors []aspects.Monitor
	for range 4 {
		monitors = append(monitors, e.New())
	}
	for n := range 12 {
		in := at(n, text("send", fmt.Sprint(n)), text("read", "y"))
		if parts := monitors[n%4].Judge(in); len(parts) != 2 {
			t.Errorf("got %s", show(parts))
		}
		monitors[n%4].Adopt(in)
		if r := running(e); r > 2 {
			t.Fatalf("%d processes run", r)
		}
	}
	var held []*process
	for range 2 {
		held = append(held, e.pool.take(func(*process) (int, bool) { return 0, true }))
	}
	if got, want := show(monitors[0].Judge(at(20, text("read", "y")))), "B.forbid. [b] unavailable false:\n"; got != want {
		t.Errorf("got %s", got)
	}
	if len(why) != 1 || !errors.Is(why[0], ErrProcess) || !strings.Contains(why[0].Error(), "all 2 are in use") {
		t.Errorf("reported %v", why)
	}
	for _, c := range held {
		e.pool.put(c)
	}
}

// TestManyGoroutines: the monitors of an engine may be used at the same time.
func TestManyGoroutines(t *testing.T) {
	binary, _ := fake(t, "ok")
	e := newEngine(t, load(t, smallText), Config{Binary: binary, Processes: 4, Failed: func(err error) { t.Error(err) }})
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			m := e.New()
			for n := range 6 {
				in := at(n, text("send", "x"))
				if parts := m.Judge(in); len(parts) != 1 || len(parts[0].Rows) != 1 {
					t.Errorf("got %s", show(parts))
				}
				m.Adopt(in)
			}
		})
	}
	wg.Wait()
}

// TestRestoreRefuses: a state of another version, engine or policy, and a damaged one.
func TestRestoreRefuses(t *testing.T) {
	binary, _ := fake(t, "ok")
	b := load(t, smallText)
	e := newEngine(t, b, Config{Binary: binary})
	m := e.New()
	m.Adopt(at(1, text("grant", "x"), fact("score", schema.FloatValue(0.5))))
	m.Adopt(at(2, fact("count", schema.IntValue(-3))))
	state := m.AppendState([]byte("prefix"))[len("prefix"):]
	if _, err := e.Restore(state); err != nil {
		t.Fatal(err)
	}
	for n := range state {
		if _, err := e.Restore(state[:n]); !errors.Is(err, ErrState) {
			t.Errorf("%d bytes of it: %v", n, err)
		}
		flipped := slices.Clone(state)
		flipped[n] ^= 0xff
		if r, err := e.Restore(flipped); err != nil && !errors.Is(err, ErrState) || err == nil && slices.Equal(r.AppendState(nil), state) {
			t.Errorf("byte %d changed: %v", n, err)
		}
	}
	if _, err := e.Restore(append(slices.Clone(state), 0)); !errors.Is(err, ErrState) {
		t.Errorf("a byte more: %v", err)
	}
	other := *b
	other.Digest[0]++
	if _, err := newEngine(t, &other, Config{Binary: binary}).Restore(state); !errors.Is(err, ErrState) {
		t.Errorf("another policy: %v", err)
	}
}

func TestParseAnswer(t *testing.T) {
	text, number := check.Column{Name: "v0", Kind: schema.KindString}, check.Column{Name: "v1", Kind: schema.KindInt}
	open := &question{variables: []check.Column{text, number}, order: []int{1, 0}}
	closed := &question{}
	for _, tc := range []struct {
		q    *question
		line string
		want string // ! stands for an error
	}{
		{closed, "@5 (time point 3): true", "[[]]"},
		{closed, "@5 (time point 3): false", "[]"},
		{closed, "@5 (time point 3): ()", "!"},
		{closed, "@5 (time point 3): true ", "!"},
		{closed, "@5 (time point 3):", "!"},
		{closed, "", "!"},
		{closed, "@5 (time point 30): true", "!"},
		{closed, "@05 (time point 3): true", "!"},
		{open, "@5 (time point 3): ()", "[]"},
		{open, `@5 (time point 3): ((-1,"x61"))`, `[["a" -1]]`},
		{open, `@5 (time point 3): ((1,"x"),(1,"x22"))`, `[["" 1] ["\"" 1]]`},
		{open, `@5 (time point 3): ((1,"x"),(1,"x"))`, "!"},
		{open, `@5 (time point 3): ((1,"x") (1,"x22"))`, "!"},
		{open, `@5 (time point 3): ((1,"x"),)`, "!"},
		{open, `@5 (time point 3): ((1,"x"))x`, "!"},
		{open, `@5 (time point 3): ((1,"x")`, "!"},
		{open, `@5 (time point 3): (("x",1))`, "!"},
		{open, `@5 (time point 3): ((1,x))`, "!"},
		{open, `@5 (time point 3): ((1,"y"))`, "!"},
		{open, `@5 (time point 3): ((1,"xA0"))`, "!"},
		{open, `@5 (time point 3): ((1,"x6"))`, "!"},
		{open, `@5 (time point 3): ((1,"))`, "!"},
		{open, `@5 (time point 3): ((01,"x"))`, "!"},
		{open, `@5 (time point 3): ((+1,"x"))`, "!"},
		{open, `@5 (time point 3): ((1))`, "!"},
		{open, `@5 (time point 3): ((1,"x",2))`, "!"},
		{open, `@5 (time point 3): (4611686018427387904,"x")`, "!"},
		{open, `@5 (time point 3): true`, "!"},
	} {
		rows, err := tc.q.parseAnswer(tc.line, 3, 5)
		switch {
		case tc.want == "!" && !errors.Is(err, ErrAnswer):
			t.Errorf("%s: got %v, %v, want ErrAnswer", tc.line, rows, err)
		case tc.want != "!" && (err != nil || fmt.Sprint(rows) != tc.want):
			t.Errorf("%s: got %v, %v, want %s", tc.line, rows, err, tc.want)
		}
	}
}
