package monpoly

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/aspis-rv/aspis/pkg/aspects"
	"github.com/aspis-rv/aspis/pkg/aspects/temporal"
	"github.com/aspis-rv/aspis/pkg/policy"
	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// bundle has clauses over most of what the engine takes: guards, several variables,
// numbers, constants, negation, every temporal operator, bounded and unbounded.
const bundleText = `policy: tested
revision: 1
engine: monpoly
facts:
  send: [to, n:int]
  read: [from]
  grant: [to]
  revoke: [to]
  score: [x:float]
  stop: []
tools: {t: {}}
clauses:
  A: {text: t, forbid: {temporal: 'send(a, n) AND NOT (ONCE[0,5s] grant(a))'}}
  B: {text: t, guard: {temporal: 'send(a, n) AND n > 1'}, forbid: {temporal: 'EXISTS n. (send(a, n) AND ((NOT revoke(a)) SINCE[2s,9s] grant(a)))'}}
  C: {text: t, forbid: {temporal: 'send(a, n) AND (PREVIOUS[0,3s] (NOT stop()))'}}
  D: {text: t, forbid: {temporal: 'stop() AND NOT (ONCE read("a\nb"))'}}
  E: {text: t, forbid: {temporal: 'read(b) AND (ONCE (send(a, n) AND (a < b OR a = b)))'}}
  F: {text: t, forbid: {temporal: 'send(a, n) AND n = 2'}}
  G: {text: t, forbid: {temporal: 'EXISTS x. (score(x) AND x > 0.5 AND stop())'}}
  H: {text: t, forbid: {temporal: 'stop() AND (HISTORICALLY[0,4s] (FORALL a. (read(a) IMPLIES (ONCE grant(a)))))'}}
  I: {text: t, forbid: {temporal: 'read(b) AND (EXISTS k. ((k <- CNT n; b (ONCE[0,6s] send(b, n))) AND k > 1))'}}
  J: {text: t, forbid: {temporal: 'LET twice(a, k) = (k <- MAX n; a (ONCE send(a, n))) IN (send(a, n) AND twice(a, k) AND n < k)'}}
  K: {text: t, forbid: {temporal: 'stop() AND (k <- CNT a (ONCE[1s,7s] grant(a)))'}}
`

func load(tb testing.TB, text string) *policy.Bundle {
	tb.Helper()
	b, found := policy.LoadFS(fstest.MapFS{"policy.yaml": {Data: []byte(text)}})
	if b == nil {
		tb.Fatal(found)
	}
	return b
}

// generous is a deadline that no sound process meets.
func generous() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), time.Minute)
}

// brief is a deadline for processes that never answer.
func brief() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), 50*time.Millisecond)
}

func newEngine(tb testing.TB, b *policy.Bundle, cfg Config) *Engine {
	tb.Helper()
	if cfg.Deadline == nil {
		cfg.Deadline = generous
	}
	e, err := New(b, cfg)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := e.Close(); err != nil {
			tb.Error(err)
		}
	})
	return e
}

// show prints parts without their witnesses, which MonPoly does not have.
func show(parts []schema.Part) string {
	var s strings.Builder
	for _, p := range parts {
		fmt.Fprintf(&s, "%s.%v.%s %v %s %t:", p.Clause, p.Role, p.Name, p.Columns, p.Completeness, p.Absence)
		for _, r := range p.Rows {
			fmt.Fprintf(&s, " %v/%v", r.Values, r.Mark)
		}
		s.WriteByte('\n')
	}
	return s.String()
}

const second = int64(1_000_000_000)

// randomInput is a time point after ts, some of its facts presumptive.
func randomInput(rng *rand.Rand, n int, ts int64, presumptive float64) aspects.Input {
	names := []string{"", "a", "b", "a\nb", "@5 (time point 0): true\n", "é\")(\"x"}
	text := func() schema.Value { return schema.StringValue(names[rng.IntN(len(names))]) }
	in := aspects.Input{TimePoint: uint64(n), Timestamp: ts + second*int64(rng.IntN(4)), Offset: uint64(n)}
	for range rng.IntN(5) {
		f := schema.Fact{}
		switch rng.IntN(6) {
		case 0:
			f.Name, f.Args = "send", []schema.Value{text(), schema.IntValue(int64(rng.IntN(4)) - 1)}
		case 1:
			f.Name, f.Args = "read", []schema.Value{text()}
		case 2:
			f.Name, f.Args = "grant", []schema.Value{text()}
		case 3:
			f.Name, f.Args = "revoke", []schema.Value{text()}
		case 4:
			f.Name, f.Args = "score", []schema.Value{schema.FloatValue(float64(rng.IntN(5)) / 4)}
		case 5:
			f.Name = "stop"
		}
		if rng.Float64() < presumptive {
			f.Strength = verdict.Presumptive
		}
		in.Facts = append(in.Facts, f)
	}
	if rng.IntN(4) == 0 {
		in.Evidence, in.Weakened = verdict.Degraded, ts-second*int64(rng.IntN(6))
	}
	if rng.IntN(4) == 0 {
		in.Uncertain = []aspects.Uncertain{{Relation: "grant", At: ts - second*int64(rng.IntN(6))}}
	}
	return in
}

// TestAgainstOurEngine compares with the built-in engine on random traces that take
// turns: values, marks and completeness, with refused time points, restored monitors
// and more traces than processes.
func TestAgainstOurEngine(t *testing.T) {
	binary, log := fake(t, "ok")
	compareEngines(t, binary, 60)
	if starts := strings.Count(readFile(t, log), " start"); starts < 100 {
		t.Errorf("only %d processes were started: the pool was never short", starts)
	}
}

// TestRealBinary is the same against MonPoly itself.
func TestRealBinary(t *testing.T) {
	binary, err := exec.LookPath(DefaultBinary)
	if err != nil {
		t.Skip("there is no monpoly in PATH")
	}
	compareEngines(t, binary, 60)
}

func compareEngines(t *testing.T, binary string, points int) {
	t.Helper()
	const seed = 1
	rng := rand.New(rand.NewPCG(seed, 0))
	b := load(t, bundleText)
	ours, err := temporal.New(b)
	if err != nil {
		t.Fatal(err)
	}
	theirs := newEngine(t, b, Config{Binary: binary, Processes: 12, Failed: func(err error) { t.Error(err) }})
	const traces = 3
	var want, got [traces]aspects.Monitor
	var ts [traces]int64
	for i := range traces {
		want[i], got[i] = ours.New(), theirs.New()
	}
	rows, fired := map[verdict.Value]int{}, map[string]int{}
	for n := range points * traces {
		i := rng.IntN(traces)
		in := randomInput(rng, n, ts[i], []float64{0, 0.3, 0.6}[i])
		expected := want[i].Judge(in)
		for _, p := range expected {
			for _, r := range p.Rows {
				rows[r.Mark]++
			}
			if len(p.Rows) > 0 {
				fired[p.Clause]++
			}
		}
		before := got[i].AppendState(nil)
		gave := got[i].Judge(in)
		if i > 0 {
			gave, expected = evaluated(gave), evaluated(expected)
		}
		if g, w := show(gave), show(expected); g != w {
			t.Fatalf("seed %d, step %d, trace %d, %v:\n got %s\nwant %s", seed, n, i, in.Facts, g, w)
		}
		if !bytes.Equal(before, got[i].AppendState(nil)) {
			t.Fatalf("step %d: judging changed the state", n)
		}
		if rng.IntN(3) > 0 {
			ts[i] = in.Timestamp
			want[i].Adopt(in)
			got[i].Adopt(in)
		}
		if rng.IntN(8) == 0 {
			state := got[i].AppendState(nil)
			if got[i], err = theirs.Restore(state); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(state, got[i].AppendState(nil)) {
				t.Fatalf("step %d: a restored monitor has another state", n)
			}
		}
	}
	t.Logf("rows by mark: %v; firings by clause: %v", rows, fired)
	if len(fired) != len(b.Clauses) {
		t.Errorf("of %d clauses %d fired", len(b.Clauses), len(fired))
	}
	for _, m := range []verdict.Value{verdict.Tp, verdict.Fp, verdict.F} {
		if rows[m] < 10 {
			t.Errorf("only %d rows are marked %v", rows[m], m)
		}
	}
}

// evaluated leaves out the clauses with aggregations: over presumptive facts the adapter
// does not evaluate them.
func evaluated(parts []schema.Part) []schema.Part {
	return slices.DeleteFunc(slices.Clone(parts), func(p schema.Part) bool { return p.Clause >= "I" })
}

func readFile(tb testing.TB, name string) string {
	tb.Helper()
	b, err := os.ReadFile(name)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		tb.Fatal(err)
	}
	return string(b)
}
