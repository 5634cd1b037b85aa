package judge

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/aspis-rv/aspis/internal/protocol"
	"github.com/aspis-rv/aspis/pkg/aspects"
	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

var seedFlag = flag.Uint64("seed", 0, "run the random test with this seed alone") //nolint:gochecknoglobals // flags of a test binary are global

const (
	sendX = `{"to":"x"}`
	lookX = `{"name":"x"}`
)

// TestRefusedCallsLeaveNothing: whatever becomes of a call but a permit, the hash of
// the committed state is what it was.
func TestRefusedCallsLeaveNothing(t *testing.T) {
	b := bundle(t, 1)
	cfg := config(b)
	for name, end := range map[string]func(*log) *schema.Event{
		"nothing yet": func(*log) *schema.Event { return tick(2, 101) },
		"refuse":      func(l *log) *schema.Event { return l.resolution("s", "c", schema.SettledRefuse) },
		"redirect":    func(l *log) *schema.Event { return l.resolution("s", "c", schema.SettledRedirect) },
		"escalate":    func(l *log) *schema.Event { return l.resolution("s", "c", schema.SettledEscalate) },
		"expired":     func(l *log) *schema.Event { return l.resolution("s", "c", schema.SettledExpired) },
		"hold":        func(l *log) *schema.Event { return l.resolution("s", "c", schema.SettledHold, "first") },
		"a tick":      func(*log) *schema.Event { return tick(2, 111) },
	} {
		for _, history := range []bool{false, true} {
			l, j := newLog(t, cfg), New(3, cfg)
			l.give(activation(1, b), j)
			l.give(tick(1, 100), j)
			if history {
				l.give(record(schema.KindCall, "s", "first", "send", sendX), j)
				l.give(l.resolution("s", "first", schema.SettledPermit), j)
			}
			before := j.StateHash()
			l.give(record(schema.KindCall, "s", "c", "send", sendX), j)
			if j.StateHash() != before {
				t.Errorf("%s, history %t: proposing the call changed the state", name, history)
			}
			l.give(end(l), j)
			if j.StateHash() != before {
				t.Errorf("%s, history %t: the state has changed", name, history)
			}
		}
	}
	l, j := newLog(t, cfg), New(3, cfg)
	l.give(activation(1, b), j)
	before := j.StateHash()
	l.give(record(schema.KindCall, "s", "c", "send", sendX), j)
	l.give(l.resolution("s", "c", schema.SettledPermit), j)
	if j.StateHash() == before {
		t.Error("a permit leaves nothing: the test has lost its subject")
	}
}

// TestVerdict: what a verdict says about itself.
func TestVerdict(t *testing.T) {
	b := bundle(t, 1)
	cfg := config(b)
	l, j := newLog(t, cfg), New(3, cfg)
	l.give(activation(1, b), j)
	l.give(record(schema.KindMessage, "s", "", "", ""), j)
	got := l.give(record(schema.KindCall, "s", "c", "send", sendX), j)[0]
	if len(got) != 1 {
		t.Fatalf("%d verdicts", len(got))
	}
	v := got[0]
	want := schema.Attempt{Partition: 3, Opening: 6, CallID: "r6"}
	if v.Attempt != want || v.Tenant != "acme" || v.Trace != "s" || v.Aspect != "temporal" || v.TimePoint != 1 || v.Timestamp != 100*second {
		t.Errorf("the verdict is %+v", v)
	}
	if !bytes.Equal(v.Policy, b.Digest[:]) || v.Completeness != verdict.Sound {
		t.Errorf("policy %x, completeness %s", v.Policy, v.Completeness)
	}
}

// TestResultsAreTypedWithTheirCall: the facts of a result know the call's arguments,
// also a late one's and after a restart.
func TestResultsAreTypedWithTheirCall(t *testing.T) {
	b := bundle(t, 1)
	cfg := config(b)
	for _, late := range []bool{false, true} {
		l := newLog(t, cfg)
		seen := &spy{}
		cfg.Engine = seen
		j := New(3, cfg)
		l.give(activation(1, b), j)
		l.give(tick(1, 100), j)
		l.give(record(schema.KindCall, "s", "c", "look", lookX), j)
		l.give(l.resolution("s", "c", schema.SettledPermit), j)
		if late {
			l.give(tick(2, 121), j)
		}
		j = again(t, j, cfg)
		l.give(record(schema.KindResult, "s", "c", "look", `{"address":"@home"}`), j)
		want := schema.Fact{Name: "known", Args: []schema.Value{schema.StringValue("x@home")}}
		if len(seen.facts) != 1 || seen.facts[0].Name != want.Name || !slices.Equal(seen.facts[0].Args, want.Args) {
			t.Errorf("late %t: the result's facts are %v", late, seen.facts)
		}
	}
}

// spy keeps the facts of the last result adopted.
type spy struct{ facts []schema.Fact }

func (s *spy) Kind() aspects.Kind                      { return aspects.Temporal }
func (s *spy) New() aspects.Monitor                    { return s }
func (s *spy) Restore([]byte) (aspects.Monitor, error) { return s, nil }
func (s *spy) Judge(aspects.Input) []schema.Part       { return nil }
func (s *spy) Advance(int64)                           {}
func (s *spy) AppendState(dst []byte) []byte           { return dst }

func (s *spy) Adopt(in aspects.Input) {
	if in.Event.Kind == schema.KindResult {
		s.facts = in.Facts
	}
}

func again(t *testing.T, j *Judge, cfg Config) *Judge {
	t.Helper()
	b, err := j.AppendState(nil)
	if err != nil {
		t.Fatal(err)
	}
	out, err := Restore(b, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestForeignPolicy: under another policy nothing is judged; when the loaded one
// comes back, its monitors start afresh and say that history is missing.
func TestForeignPolicy(t *testing.T) {
	b, other := bundle(t, 1), bundle(t, 2)
	cfg := config(b)
	l, j := newLog(t, cfg), New(3, cfg)
	l.give(activation(1, b), j)
	l.give(record(schema.KindMessage, "s", "", "", ""), j)
	if n := len(l.give(record(schema.KindCall, "s", "c", "send", sendX), j)[0]); n != 1 {
		t.Fatalf("%d verdicts", n)
	}
	if n := len(l.give(activation(2, other), j)[0]); n != 0 {
		t.Errorf("%d verdicts under another policy", n)
	}
	if digest, foreign := j.Foreign(); !foreign || !bytes.Equal(digest, other.Digest[:]) || len(j.Pending()) != 0 || len(j.monitors) != 0 {
		t.Errorf("foreign %t, %d pending verdicts, %d traces", foreign, len(j.Pending()), len(j.monitors))
	}
	j = again(t, j, cfg)
	got := l.give(activation(3, b), j)[0]
	if len(got) != 1 || got[0].Completeness != verdict.Incomplete {
		t.Errorf("back under the loaded policy: %+v", got)
	}
	if _, foreign := j.Foreign(); foreign {
		t.Error("the loaded policy is foreign")
	}
}

// TestUnknownFactsOfThePast: a fact whose expression failed on an adopted event is
// unknown to every later judging, also after a restart; on a refused one it is not.
func TestUnknownFactsOfThePast(t *testing.T) {
	b := bundle(t, 1)
	cfg := config(b)
	l, j := newLog(t, cfg), New(3, cfg)
	l.give(activation(1, b), j)
	l.give(record(schema.KindCall, "s", "c", "divide", `{"n":0}`), j)
	l.give(l.resolution("s", "c", schema.SettledRefuse), j)
	id := protocol.TraceID{Tenant: "acme", Trace: "s"}
	if n := len(j.doubts[id].list()); n != 0 {
		t.Errorf("a refused call left %d relations unknown", n)
	}
	before := j.StateHash()
	l.give(record(schema.KindCall, "s", "d", "divide", `{"n":0}`), j)
	l.give(l.resolution("s", "d", schema.SettledPermit), j)
	want := []aspects.Uncertain{{Relation: "divided", At: 100 * second}}
	if got := again(t, j, cfg).doubts[id].list(); !slices.Equal(got, want) || j.StateHash() == before {
		t.Errorf("unknown are %v", got)
	}
}

// TestEvictedTraces: a trace that the log forgets has no monitor.
func TestEvictedTraces(t *testing.T) {
	b := bundle(t, 1)
	cfg := config(b)
	l, j := newLog(t, cfg), New(3, cfg)
	l.give(activation(1, b), j)
	l.give(tick(1, 100), j)
	l.give(record(schema.KindMessage, "s", "", "", ""), j)
	if len(j.monitors) != 1 {
		t.Fatalf("%d traces", len(j.monitors))
	}
	l.give(tick(2, 200), j)
	if len(j.monitors) != 0 {
		t.Errorf("%d traces after the idle time", len(j.monitors))
	}
}

func TestRestoreRefusesWhatIsNotItsOwn(t *testing.T) {
	b := bundle(t, 1)
	cfg := config(b)
	l, j := newLog(t, cfg), New(3, cfg)
	l.give(activation(1, b), j)
	l.give(record(schema.KindMessage, "s", "", "", ""), j)
	state, err := j.AppendState(nil)
	if err != nil {
		t.Fatal(err)
	}
	otherPolicy, otherAspect := config(bundle(t, 2)), cfg
	otherAspect.Engine = fake{aspects.Spatial}
	for name, try := range map[string]struct {
		state []byte
		cfg   Config
	}{
		"another policy": {state, otherPolicy},
		"another aspect": {state, otherAspect},
		"nothing":        {nil, cfg},
		"half":           {state[:len(state)/2], cfg},
		"another state":  {[]byte{0x90}, cfg},
	} {
		if _, err := Restore(try.state, try.cfg); !errors.Is(err, ErrState) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Restore(state, cfg); err != nil {
		t.Error(err)
	}
}

// TestRestoredJudges: a judge that is restored at random points, in the middle of
// open attempts too, gives the same verdict bytes, hashes and states as one that goes
// on; and what it would publish again is what was published.
func TestRestoredJudges(t *testing.T) {
	first, last := uint64(1), uint64(75)
	if *seedFlag != 0 {
		first, last = *seedFlag, *seedFlag
	}
	b := bundle(t, 1)
	verdicts := 0
	for seed := first; seed <= last; seed++ {
		n, err := compareJudges(t, rand.New(rand.NewPCG(seed, 5)), config(b)) //nolint:gosec // a test's chance is a seed
		if err != nil {
			t.Fatalf("seed %d: %v\nrepeat: go test ./internal/judge -run TestRestoredJudges -seed %d", seed, err, seed)
		}
		verdicts += n
	}
	if *seedFlag == 0 && verdicts < 1000 {
		t.Errorf("only %d verdicts were compared", verdicts)
	}
}

func compareJudges(t *testing.T, rng *rand.Rand, cfg Config) (verdicts int, err error) {
	t.Helper()
	l, straight, resumed := newLog(t, cfg), New(3, cfg), New(3, cfg)
	l.give(activation(1, cfg.Bundle), straight, resumed)
	g := &chance{rng: rng, log: l}
	published := map[schema.Attempt][]byte{}
	for i := range 120 {
		out := l.give(g.next(), straight, resumed)
		verdicts += len(out[0])
		if err := equal(out[0], out[1]); err != nil {
			return verdicts, fmt.Errorf("record %d: %w", i, err)
		}
		for _, v := range out[0] {
			published[v.Attempt] = v.Hash()
		}
		if rng.IntN(4) == 0 {
			resumed = again(t, resumed, cfg)
		}
		for _, v := range resumed.Pending() {
			if !bytes.Equal(published[v.Attempt], v.Hash()) {
				return verdicts, fmt.Errorf("record %d: attempt %v is judged otherwise a second time", i, v.Attempt)
			}
		}
		a, err := straight.AppendState(nil)
		if err != nil {
			return verdicts, err
		}
		b, err := resumed.AppendState(nil)
		if err != nil || !bytes.Equal(a, b) || straight.StateHash() != resumed.StateHash() {
			return verdicts, fmt.Errorf("record %d: the states differ: %w", i, err)
		}
	}
	return verdicts, nil
}

func equal(a, b []*schema.Verdict) error {
	if len(a) != len(b) {
		return fmt.Errorf("%d and %d verdicts", len(a), len(b))
	}
	for i := range a {
		if !bytes.Equal(a[i].Hash(), b[i].Hash()) {
			return fmt.Errorf("verdicts %+v and %+v", a[i], b[i])
		}
	}
	return nil
}

// chance makes records of a few sessions and calls.
type chance struct {
	rng   *rand.Rand
	log   *log
	calls []*schema.Event
	ticks uint64
	time  int64
}

func (g *chance) next() *schema.Event {
	session := []string{"s1", "s2"}[g.rng.IntN(2)]
	tools := []string{"send", sendX, "look", lookX, "divide", `{"n":0}`, "divide", `{"n":2}`}
	k := g.rng.IntN(12)
	if len(g.calls) == 0 {
		k = 0
	}
	switch {
	case k < 4:
		tool := 2 * g.rng.IntN(4)
		ev := record(schema.KindCall, session, fmt.Sprintf("c%d", len(g.calls)), tools[tool], tools[tool+1])
		ev.Deadline = (103 + g.time + g.rng.Int64N(8)) * second
		ev.ClaimedTS = (98 + g.time + g.rng.Int64N(6)) * second
		g.calls = append(g.calls, ev)
		return ev
	case k < 8:
		c := g.calls[max(0, len(g.calls)-1-g.rng.IntN(4))]
		return g.log.resolution(c.SessionID, c.CallID, schema.Settlements()[g.rng.IntN(6)], fmt.Sprintf("c%d", g.rng.IntN(len(g.calls))))
	case k == 8:
		c := g.calls[max(0, len(g.calls)-1-g.rng.IntN(6))]
		return record(schema.KindResult, c.SessionID, c.CallID, c.Tool, `{"address":"a"}`)
	case k == 9:
		return record(schema.KindGrant, session, "", "send", "")
	case k == 10:
		g.ticks++
		g.time += g.rng.Int64N(4)
		return tick(g.ticks, 100+g.time)
	}
	return record(schema.KindMessage, session, "", "", "")
}
