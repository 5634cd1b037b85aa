package protocol

import (
	"testing"

	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

func sessionMark(session, trace string, end bool) *schema.Event {
	return &schema.Event{Kind: schema.KindSession, Tenant: "acme", Trace: trace, SessionID: session, Session: &schema.SessionMark{End: end}}
}

func proposed(session, trace, call string) *schema.Event {
	return &schema.Event{Kind: schema.KindCall, Tenant: "acme", Trace: trace, SessionID: session, CallID: call, Digest: []byte{1}}
}

func (f *feed) tick(n uint64, at int64) {
	f.step(&schema.Event{Kind: schema.KindTick, Tick: &schema.Tick{N: n, Time: at}})
}

func (f *feed) restart(t *testing.T) {
	t.Helper()
	b, err := f.part.AppendState(nil)
	if err != nil {
		t.Fatal(err)
	}
	if f.part, err = Restore(b, f.part.rules); err != nil {
		t.Fatal(err)
	}
}

// TestCallOfForgottenSession: a call that was permitted in a session that was evicted
// since is not judged again, whatever comes before it; one of a session that says that
// it begins is, and so is one without a beginning while nothing was forgotten.
func TestCallOfForgottenSession(t *testing.T) {
	for _, ended := range []bool{true, false} {
		rules := DefaultRules()
		f := newFeed(rules)
		f.tick(1, second)
		if e := f.step(proposed("ingested", "ingested", "a")); e[0].Kind != Opened {
			t.Fatalf("a session without a beginning: %s", effectText(&e[0]))
		}
		f.step(sessionMark("s", "s", false))
		opened := f.step(proposed("s", "s", "a"))[0]
		f.step(&schema.Event{Kind: schema.KindResolution, Tenant: "acme", Trace: "s", SessionID: "s", Resolution: &schema.Resolution{
			Attempt: opened.Attempt, Outcome: schema.SettledPermit, CallDigest: []byte{1},
		}})
		f.step(&schema.Event{Kind: schema.KindResult, Tenant: "acme", Trace: "s", SessionID: "s", CallID: "a"})
		after := rules.IdleTTL + 3*second
		if ended {
			f.step(sessionMark("s", "s", true))
			after = rules.EndedTTL + 3*second
		}
		f.tick(2, after)
		f.restart(t)
		if f.part.traces[TraceID{"acme", "s"}] != nil {
			t.Fatal("the session was not forgotten")
		}
		f.message("s", "gate", 1)
		e := f.step(proposed("s", "s", "a"))
		if len(e) != 1 || e[0].Kind != Settled || e[0].Resolution.Outcome != schema.SettledRefuse || e[0].Resolution.Reason != verdict.Invalid {
			t.Errorf("ended %t: the repeated call: %s", ended, effectText(&e[0]))
		}
		if !f.part.Ended(TraceID{"acme", "s"}, "s") {
			t.Error("the forgotten session is not reported as ended")
		}
		f.step(sessionMark("new", "new", false))
		if e := f.step(proposed("new", "new", "a")); e[0].Kind != Opened || e[0].Evidence != verdict.Sound {
			t.Errorf("a new session: %s", effectText(&e[0]))
		}
	}
}

// TestStartInCoarseTrace: the start of a session is not the start of the trace of its
// agent or tenant.
func TestStartInCoarseTrace(t *testing.T) {
	f := &feed{part: New(7, DefaultRules())} // the log was trimmed: no activation
	f.step(sessionMark("s", "fleet", false))
	if e := f.step(proposed("s", "fleet", "a")); e[0].Evidence != verdict.Incomplete {
		t.Errorf("the history of a coarse trace is %s", e[0].Evidence)
	}
	f.step(sessionMark("own", "own", false))
	if e := f.step(proposed("own", "own", "a")); e[0].Evidence != verdict.Sound {
		t.Errorf("the history of a session is %s", e[0].Evidence)
	}
}

// TestEndsInCoarseTrace: a coarse trace remembers which of its sessions ended, up to
// the limit.
func TestEndsInCoarseTrace(t *testing.T) {
	rules := DefaultRules()
	rules.CallMemory = 2
	f := newFeed(rules)
	id := TraceID{"acme", "fleet"}
	for _, s := range []string{"a", "b", "b"} {
		f.step(sessionMark(s, "fleet", true))
	}
	f.restart(t)
	if !f.part.Ended(id, "a") || !f.part.Ended(id, "b") || f.part.Ended(id, "c") {
		t.Error("a and b ended, c did not")
	}
	f.step(sessionMark("c", "fleet", true))
	if f.part.Ended(id, "a") || !f.part.Ended(id, "c") {
		t.Error("the oldest end is forgotten first")
	}
}
