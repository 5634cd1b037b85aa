package replay_test

import (
	"context"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/aspis-rv/aspis/internal/bus"
	"github.com/aspis-rv/aspis/internal/bus/membus"
	"github.com/aspis-rv/aspis/internal/protocol"
	"github.com/aspis-rv/aspis/internal/replay"
	"github.com/aspis-rv/aspis/pkg/policy"
	"github.com/aspis-rv/aspis/pkg/schema"
)

func consent(t *testing.T) *policy.Bundle {
	t.Helper()
	b, diags := policy.Load("../../pkg/policy/testdata/consent")
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	return b
}

// writer appends records to a log of one partition.
type writer struct {
	t   *testing.T
	log *membus.Bus
	n   uint64
}

// activated returns the writer of a log in which the policy of the digest is active.
func activated(t *testing.T, digest []byte, name string) *writer {
	t.Helper()
	w := &writer{t: t, log: membus.New(membus.Config{Partitions: 1})}
	w.append(&schema.Event{ID: "policy/1", Kind: schema.KindPolicy, Activation: &schema.Activation{Number: 1, Digest: digest, Name: name, Revision: 7}})
	return w
}

func (w *writer) append(ev *schema.Event) uint64 {
	w.t.Helper()
	data, err := ev.AppendBinary(nil)
	if err != nil {
		w.t.Fatal(err)
	}
	if w.n, err = w.log.Publish(context.Background(), bus.Message{Topic: bus.Events, ID: ev.ID, Data: data}); err != nil {
		w.t.Fatal(err)
	}
	return w.n
}

func record(kind schema.Kind, id, session string) *schema.Event {
	return &schema.Event{
		ID: id, Tenant: "acme", Trace: session, SessionID: session, Kind: kind, CallID: "call of " + session,
		Actor: schema.Actor{ID: "agent", Class: schema.ClassAgent}, Tool: "noop",
	}
}

// permitted appends a call of a session of its own and a permit under the policy.
func (w *writer) permitted(session string, digest []byte) {
	w.t.Helper()
	call := record(schema.KindCall, session+"/call", session)
	call.Digest = []byte("digest of " + session)
	at := w.append(call)
	r := record(schema.KindResolution, session+"/decision", session)
	r.Actor.Class = schema.ClassMonitor
	r.Resolution = &schema.Resolution{
		CallID: call.CallID, Attempt: schema.Attempt{Opening: at, CallID: call.ID}, Outcome: schema.SettledPermit,
		Policy: digest, CallDigest: call.Digest, Writer: "composer",
	}
	w.append(r)
}

func (w *writer) replay(b *policy.Bundle) (map[string]*replay.Line, replay.Summary, replay.Comparison) {
	w.t.Helper()
	lines := map[string]*replay.Line{}
	sum, cmp, err := replay.Log(context.Background(), replay.LogConfig{Source: w.log, Bundle: b, Rules: protocol.DefaultRules()},
		func(l *replay.Line) error { lines[l.Session] = l; return nil })
	if err != nil {
		w.t.Fatal(err)
	}
	return lines, sum, cmp
}

// TestOutcomes: a line says what became of a permitted call.
func TestOutcomes(t *testing.T) {
	b := consent(t)
	w := activated(t, b.Digest[:], b.Name)
	want := map[string]replay.Outcome{
		"done": replay.OutcomeDone, "error": replay.OutcomeError, "withdrawn": replay.OutcomeWithdrawn,
		"unknown": replay.OutcomeUnknown, "pending": replay.OutcomePending,
	}
	for _, s := range []string{"done", "error", "withdrawn", "unknown"} {
		w.permitted(s, b.Digest[:])
	}
	w.append(record(schema.KindResult, "r1", "done"))
	failed := record(schema.KindResult, "r2", "error")
	failed.Status = schema.ResultError
	w.append(failed)
	w.append(record(schema.KindWithdrawn, "r3", "withdrawn"))
	ttl := protocol.DefaultRules().ResultTTL
	w.append(&schema.Event{ID: "tick/1", Kind: schema.KindTick, Tick: &schema.Tick{N: 1, Time: 1}})
	w.append(&schema.Event{ID: "tick/2", Kind: schema.KindTick, Tick: &schema.Tick{N: 2, Time: 2 * ttl}})
	w.permitted("pending", b.Digest[:])
	lines, sum, _ := w.replay(b)
	for session, outcome := range want {
		if l := lines[session]; l == nil || l.Outcome != outcome || l.Decision != "permit" {
			t.Errorf("%s: %+v", session, l)
		}
	}
	if sum.Permitted != 5 || sum.Withdrawn != 1 {
		t.Errorf("summary %+v, want 5 permits of which 1 withdrawn", sum)
	}
}

// TestAnotherPolicyDecided: what another policy decided is neither redone nor
// explained, and named.
func TestAnotherPolicyDecided(t *testing.T) {
	other := []byte(strings.Repeat("x", 32))
	w := activated(t, other, "other")
	w.permitted("s", other)
	lines, _, cmp := w.replay(consent(t))
	if cmp.Equal() || len(cmp.Mismatches) != 0 || cmp.Decisions != 0 || len(cmp.Others) != 1 {
		t.Fatalf("comparison %+v", cmp)
	}
	want := replay.PolicyRef{Digest: hex.EncodeToString(other), Name: "other", Revision: 7, Decisions: 1}
	if cmp.Others[0] != want {
		t.Errorf("got %+v, want %+v", cmp.Others[0], want)
	}
	if l := lines["s"]; l.Policy != want.Digest || len(l.Clauses) != 0 {
		t.Errorf("line %+v", l)
	}
}
