package protocol

import (
	"fmt"
	"testing"

	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// feed folds records at consecutive offsets after an activation.
type feed struct {
	part   *Partition
	offset uint64
}

func newFeed(rules Rules) *feed {
	f := &feed{part: New(7, rules)}
	f.step(&schema.Event{Kind: schema.KindPolicy, Activation: &schema.Activation{Number: 1}})
	return f
}

func (f *feed) step(ev *schema.Event) []Effect {
	f.offset++
	ev.Position.Offset = f.offset
	ev.ID = fmt.Sprintf("r%d", f.offset)
	return f.part.Step(f.offset, ev)
}

func (f *feed) message(trace, producer string, seq uint64) {
	f.step(&schema.Event{Kind: schema.KindMessage, Tenant: "acme", Trace: trace, SessionID: trace, Producer: producer, Incarnation: 1, Seq: seq})
}

// TestWritersOfATrace: up to the limit a gap of a stranger does not concern a trace;
// beyond it every gap does.
func TestWritersOfATrace(t *testing.T) {
	for _, tc := range []struct {
		writers int
		want    verdict.Completeness
	}{{maxWriters, verdict.Sound}, {maxWriters + 1, verdict.Degraded}} {
		f := newFeed(DefaultRules())
		for i := range tc.writers {
			f.message("shared", fmt.Sprintf("gate-%02d", i), 1)
		}
		f.message("elsewhere", "stranger", 7)
		if got := f.part.traces[TraceID{"acme", "shared"}].evidence; got != tc.want {
			t.Errorf("with %d writers a stranger's gap makes the trace %s, want %s", tc.writers, got, tc.want)
		}
		f.message("elsewhere", "gate-00", 3)
		if got := f.part.traces[TraceID{"acme", "shared"}].evidence; got != verdict.Degraded {
			t.Errorf("with %d writers a gap of the first makes the trace %s", tc.writers, got)
		}
	}
}

// TestDistrustedPrincipals: the limit bounds who is remembered, nobody remembered is
// forgotten for another, and beyond it the tenant concerned is distrusted as a whole.
func TestDistrustedPrincipals(t *testing.T) {
	f := newFeed(DefaultRules())
	violate := func(who string) {
		f.step(&schema.Event{Kind: schema.KindResult, Tenant: "acme", Trace: "t", SessionID: "s", CallID: "never", Actor: schema.Actor{ID: who}})
	}
	for i := range maxDistrusted {
		violate(fmt.Sprint("agent ", i))
	}
	check := func(innocent bool) {
		t.Helper()
		for who, want := range map[principal]bool{
			{"acme", "agent 0"}: true, {"acme", fmt.Sprint("agent ", maxDistrusted-1)}: true,
			{"acme", "one more"}: innocent, {"acme", "innocent"}: innocent, {"globex", "innocent"}: false,
		} {
			if got := f.part.distrusts(who); got != want {
				t.Errorf("%v is distrusted: %t, want %t", who, got, want)
			}
		}
	}
	check(false)
	violate("one more")
	check(true)
	f.restart(t)
	check(true)
	if n := len(f.part.distrusted); n != maxDistrusted {
		t.Errorf("%d principals are remembered, want %d", n, maxDistrusted)
	}
}

// TestForgottenProducers: producers are forgotten by log time and beyond a number, the
// one heard longest ago first, and a tick carries only so many marks.
func TestForgottenProducers(t *testing.T) {
	rules := DefaultRules()
	f := newFeed(rules)
	f.message("t", "early", 1) // before the clock starts
	f.tick(1, 2*rules.IdleTTL)
	if f.part.producers["early"] == nil || f.part.traces[TraceID{"acme", "t"}] == nil {
		t.Error("what came before the first tick is forgotten by it")
	}
	f = newFeed(rules)
	f.tick(1, second)
	f.message("t", "old", 1)
	f.tick(2, 2*second)
	for i := range maxProducers {
		f.message("t", fmt.Sprintf("p%04d", i), 1)
	}
	f.restart(t)
	f.tick(3, 3*second)
	if n := len(f.part.producers); n != maxProducers || f.part.producers["old"] != nil {
		t.Errorf("%d producers are remembered, want the %d heard last", n, maxProducers)
	}
	f.message("t", "p0000", 2)
	f.restart(t)
	if m := f.part.Marks(); len(m) != maxMarks || m["p0000/1"] != 2 || m["p1023/1"] != 1 {
		t.Errorf("%d marks: %v", len(m), m)
	}
	f.tick(4, 3*second+rules.IdleTTL)
	if n := len(f.part.producers); n != 1 || f.part.producers["p0000"] == nil {
		t.Errorf("%d producers are remembered after a long silence, want the one that was heard in time", n)
	}
}

// TestMissingNumbers: as many late records of a gap are accepted as are remembered;
// an older one is taken for a duplicate, its trace being degraded already.
func TestMissingNumbers(t *testing.T) {
	rules := DefaultRules()
	for _, tc := range []struct {
		late     uint64
		accepted bool
	}{{2, true}, {1, false}} {
		f := newFeed(rules)
		f.message("t", "gate", uint64(rules.MissingLimit)+2) // 1 … MissingLimit+1 are missing
		before := f.part.traces[TraceID{"acme", "t"}].next
		f.message("t", "gate", tc.late)
		if got := f.part.traces[TraceID{"acme", "t"}].next > before; got != tc.accepted {
			t.Errorf("late record %d of a gap of %d: accepted %t, want %t", tc.late, rules.MissingLimit+1, got, tc.accepted)
		}
	}
}

// TestQueueLimit: so many calls wait behind the open attempt, and the next is busy.
func TestQueueLimit(t *testing.T) {
	rules := DefaultRules()
	f := newFeed(rules)
	for i := range rules.QueueLimit + 2 {
		effects := f.step(&schema.Event{
			Kind: schema.KindCall, Tenant: "acme", Trace: "t", SessionID: "s", CallID: fmt.Sprint(i), Digest: []byte{1},
		})
		busy := len(effects) == 1 && effects[0].Kind == Settled && effects[0].Resolution.Reason == verdict.Busy
		if want := i == rules.QueueLimit+1; busy != want {
			t.Errorf("call %d: busy %t, want %t", i, busy, want)
		}
	}
}
