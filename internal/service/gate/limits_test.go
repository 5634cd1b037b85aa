package gate

import (
	"strconv"
	"testing"
	"time"

	"github.com/aspis-rv/aspis/internal/bus"
	"github.com/aspis-rv/aspis/internal/protocol"
	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

func TestRate(t *testing.T) {
	r, now := newRate(2, time.Second), time.Unix(100, 0)
	for i, step := range []struct {
		after time.Duration
		want  bool
	}{{0, true}, {0, true}, {0, false}, {999 * time.Millisecond, false}, {time.Second, true}, {time.Second, false}, {time.Hour, true}} {
		if got := r.take(agent(), now.Add(step.after)); got != step.want {
			t.Errorf("step %d, after %s: %v", i, step.after, got)
		}
	}
	if !r.take(user(), now) {
		t.Error("one principal spends what is another's")
	}
}

// TestSessionsAndRecordsAreLimited exhausts a principal's sessions and records.
func TestSessionsAndRecordsAreLimited(t *testing.T) {
	r := start(t, "session", nil)
	r.gate.opened, r.gate.records = newRate(1, time.Hour), newQuota(0)
	busy := func(what string, err error) {
		t.Helper()
		if p := IsProblem(err); p == nil || p.Reason != verdict.Busy {
			t.Errorf("%s: %v", what, err)
		}
	}
	_, err := r.gate.OpenSession(t.Context(), agent(), nil)
	busy("a record beyond the quota", err)
	_, err = r.gate.OpenSession(t.Context(), agent(), nil)
	busy("a session beyond the rate", err)
}

// TestRoomOfRecords puts records behind an open attempt and asks which class the next
// ones have.
func TestRoomOfRecords(t *testing.T) {
	l := &lane{}
	l.mu.fold = protocol.New(0, protocol.DefaultRules())
	offset := uint64(0)
	step := func(ev schema.Event) *schema.Event {
		offset++
		ev.ID, ev.Tenant, ev.Trace, ev.SessionID = strconv.FormatUint(offset, 10), "acme", "s", "s"
		l.mu.fold.Step(offset, &ev)
		return &ev
	}
	event := func(kind schema.Kind, call string) *schema.Event {
		return &schema.Event{Kind: kind, Tenant: "acme", Trace: "s", SessionID: "s", CallID: call}
	}
	step(schema.Event{Kind: schema.KindSession, Session: &schema.SessionMark{}})
	step(schema.Event{Kind: schema.KindCall, CallID: "c1"})
	c := l.mu.fold.Lookup(protocol.TraceID{Tenant: "acme", Trace: "s"}, "s", "c1")
	step(schema.Event{Kind: schema.KindResolution, CallID: "c1", Resolution: &schema.Resolution{CallID: "c1", Attempt: c.Attempt, Outcome: schema.SettledPermit}})
	step(schema.Event{Kind: schema.KindCall, CallID: "c2"})
	for range maxQueued - 1 {
		step(schema.Event{Kind: schema.KindMessage})
	}
	check := func(ev *schema.Event, want bus.Class, busy bool) {
		t.Helper()
		got, no := l.classOf(ev)
		if got != want || (no != nil) != busy {
			t.Errorf("%s %s: class %s, %v", ev.Kind, ev.CallID, got, no)
		}
	}
	check(event(schema.KindMessage, ""), bus.Ordinary, false)
	check(event(schema.KindResult, "c2"), bus.Ordinary, false)
	check(event(schema.KindResult, "nobody"), bus.Ordinary, false)
	check(event(schema.KindResult, "c1"), bus.Reserved, false)
	step(schema.Event{Kind: schema.KindMessage})
	check(event(schema.KindMessage, ""), bus.Ordinary, true)
	check(event(schema.KindResult, "nobody"), bus.Ordinary, true)
	check(event(schema.KindResult, "c1"), bus.Reserved, false)
	check(event(schema.KindGrant, ""), bus.Reserved, false)
	for range maxQueued {
		step(schema.Event{Kind: schema.KindMessage})
	}
	check(event(schema.KindResult, "c1"), bus.Reserved, true)
}
