package compose

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/aspis-rv/aspis/internal/protocol"
	"github.com/aspis-rv/aspis/pkg/aspects"
	"github.com/aspis-rv/aspis/pkg/policy"
	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

const second = int64(1_000_000_000)

// loaded is a bundle with a clause over two aspects: the temporal part comes from
// the text, the spatial one is added, since nothing here runs a monitor.
func loaded(t *testing.T) *policy.Bundle {
	t.Helper()
	b, found := policy.LoadFS(fstest.MapFS{"policy.yaml": {Data: []byte(`policy: joins
revision: 1
trace: session
unmapped: refuse
facts:
  sent: [to]
  known: [address]
tools:
  send: {args: {to: string}, facts: [sent(to)]}
  look: {args: {name: string}, facts: [{emit: known(result.address), at: result}]}
clauses:
  Known:
    text: Mail goes to addresses that were looked up.
    forbid: {temporal: 'sent(a) AND NOT (ONCE known(a))'}
  Near:
    text: Mail stays near.
    forbid: {temporal: 'sent("far")'}
`)}})
	if b == nil {
		t.Fatal(found)
	}
	near := &b.Clauses[1]
	near.Formulas[0].Aspect = spatial
	return b
}

// rig is a joiner with the records given to it.
type rig struct {
	t      *testing.T
	b      *policy.Bundle
	j      *Joiner
	offset uint64
	said   uint64 // offset in the verdicts topic
}

func newRig(t *testing.T) *rig {
	t.Helper()
	b := loaded(t)
	r := &rig{t: t, b: b, j: NewJoiner(3, config(b))}
	r.event(activation(b))
	return r
}

func activation(b *policy.Bundle) *schema.Event {
	return &schema.Event{Kind: schema.KindPolicy, Activation: &schema.Activation{Number: 1, Digest: b.Digest[:]}}
}

func config(b *policy.Bundle) Config {
	return Config{Bundle: b, Rules: protocol.DefaultRules(), Writer: "composer", Margin: second}
}

func (r *rig) event(ev *schema.Event) []Proposal {
	r.offset++
	ev.Position = schema.Position{Partition: 3, Offset: r.offset}
	if ev.ID == "" {
		ev.ID = fmt.Sprintf("r%d", r.offset)
	}
	return r.j.Step(r.offset, ev)
}

func traced(k schema.Kind, call, tool, args string) *schema.Event {
	ev := &schema.Event{
		Kind: k, Tenant: "acme", Trace: "s", SessionID: "s", CallID: call, Tool: tool, ClaimedTS: 10 * second,
		Actor: schema.Actor{ID: "agent", Class: schema.ClassAgent},
	}
	if k == schema.KindCall {
		ev.Args = schema.Payload{Status: schema.PayloadOK, Canon: []byte(args)}
		ev.Digest = schema.CallDigest("acme", "agent", "", tool, nil, ev.Args.Canon)
		ev.Deadline = 30 * second
	}
	return ev
}

func (r *rig) call(id, tool, args string) []Proposal {
	r.t.Helper()
	return r.event(traced(schema.KindCall, id, tool, args))
}

// attempt is the open attempt of a call.
func (r *rig) attempt(call string) schema.Attempt {
	r.t.Helper()
	c := r.j.Partition().Lookup(protocol.TraceID{Tenant: "acme", Trace: "s"}, "s", call)
	if c == nil {
		r.t.Fatalf("no call %q", call)
	}
	return c.Attempt
}

func (r *rig) verdict(a schema.Attempt, k aspects.Kind, parts ...schema.Part) *schema.Verdict {
	return &schema.Verdict{Tenant: "acme", Trace: "s", Attempt: a, Aspect: string(k), Policy: r.b.Digest[:], Parts: parts}
}

func (r *rig) says(call string, k aspects.Kind, parts ...schema.Part) []Proposal {
	r.t.Helper()
	return r.give(r.verdict(r.attempt(call), k, parts...))
}

func (r *rig) give(v *schema.Verdict) []Proposal {
	r.said++
	return r.j.Verdict(r.said, v)
}

// resolve folds a proposal as the log would show it.
func (r *rig) resolve(p Proposal) []Proposal {
	ev := *p.Event
	return r.event(&ev)
}

func (r *rig) violation(clause string, f int) schema.Part {
	return says(clause, r.b.Clauses[f].Formulas[0], "a=x:F")
}

// expect checks proposals: "outcome reason" each.
func expect(t *testing.T, what string, got []Proposal, want ...string) {
	t.Helper()
	var have []string
	for i := range got {
		res := got[i].Event.Resolution
		have = append(have, strings.TrimSpace(fmt.Sprintf("%s %s", res.Outcome, res.Reason)))
	}
	if !slices.Equal(have, want) {
		t.Errorf("%s: proposed %q, want %q", what, have, want)
	}
}

const sendX = `{"to":"x"}`

func TestJoinWaitsForAllParts(t *testing.T) {
	r := newRig(t)
	expect(t, "the call", r.call("c1", "send", sendX))
	expect(t, "one part", r.says("c1", temporal))
	expect(t, "an aspect that owns nothing", r.says("c1", semantic))
	got := r.says("c1", spatial)
	expect(t, "both parts", got, "permit")
	res := got[0].Event.Resolution
	if len(res.Parts) != 2 || len(res.Missing) != 0 || res.Attempt != r.attempt("c1") || !bytes.Equal(res.CallDigest, schema.CallDigest("acme", "agent", "", "send", nil, []byte(sendX))) {
		t.Errorf("the resolution is %+v", res)
	}
	expect(t, "the same part again", r.says("c1", spatial))
	expect(t, "the resolution", r.resolve(got[0]))
	if len(r.j.joins) != 0 {
		t.Errorf("%d attempts are still joined", len(r.j.joins))
	}
	expect(t, "a part that comes afterwards", r.says("c1", spatial))
}

func TestJoinDecidesEarly(t *testing.T) {
	r := newRig(t)
	r.call("c1", "send", sendX)
	got := r.says("c1", spatial, r.violation("Near", 1))
	expect(t, "a violation, the other part missing", got, "refuse violation")
	if m := got[0].Event.Resolution.Missing; !slices.Equal(m, []string{"temporal"}) {
		t.Errorf("missing are %v", m)
	}
}

func TestJoinAtTheDeadline(t *testing.T) {
	r := newRig(t)
	r.call("c1", "send", sendX)
	r.says("c1", temporal)
	at, ok := r.j.NextDue()
	if !ok || at != 29*second {
		t.Fatalf("due at %d, %t", at, ok)
	}
	expect(t, "before the margin", r.j.Due(at-1))
	got := r.j.Due(at)
	expect(t, "at the margin", got, "refuse unavailable")
	if m := got[0].Event.Resolution.Missing; !slices.Equal(m, []string{"spatial"}) {
		t.Errorf("missing are %v", m)
	}
	expect(t, "a second time", r.j.Due(at+1))
	if at, ok := r.j.NextDue(); ok {
		t.Errorf("something is due at %d", at)
	}
	r.j.Retry(got[0].Attempt)
	expect(t, "after a failed append", r.j.Due(at+1), "refuse unavailable")
}

func TestConflictingVerdictsFailClosed(t *testing.T) {
	r := newRig(t)
	r.call("c1", "send", sendX)
	r.says("c1", temporal)
	got := r.says("c1", temporal, r.violation("Known", 0))
	expect(t, "two values for one key", got, "refuse unavailable")
	if f := r.j.Faults(); len(f) != 1 || !strings.Contains(f[0], "two different temporal verdicts") {
		t.Errorf("faults: %q", f)
	}
	if d := got[0].Event.Resolution.Detail; d == "" {
		t.Error("the refusal does not say why")
	}

	// Also when both came ahead of the call.
	r = newRig(t)
	ahead := schema.Attempt{Partition: 3, Opening: 2, CallID: "r2"}
	r.give(r.verdict(ahead, temporal))
	r.give(r.verdict(ahead, temporal, r.violation("Known", 0)))
	expect(t, "opened with two values", r.call("c1", "send", sendX), "refuse unavailable")
}

func TestForeignVerdictsAreFaults(t *testing.T) {
	r := newRig(t)
	r.call("c1", "send", sendX)
	for name, change := range map[string]func(*schema.Verdict){
		"policy": func(v *schema.Verdict) { v.Policy = []byte("another") },
		"tenant": func(v *schema.Verdict) { v.Tenant = "other" },
	} {
		v := r.verdict(r.attempt("c1"), temporal, r.violation("Known", 0))
		change(v)
		expect(t, "a verdict of another "+name, r.give(v))
		if f := r.j.Faults(); len(f) != 1 || !strings.Contains(f[0], "another "+name) {
			t.Errorf("another %s: faults %q", name, f)
		}
	}
	r.says("c1", temporal)
	expect(t, "the right ones", r.says("c1", spatial), "permit")
}

// TestEarlyVerdicts: an aspect may be ahead of the joiner.
func TestEarlyVerdicts(t *testing.T) {
	r := newRig(t)
	next := schema.Attempt{Partition: 3, Opening: 2, CallID: "r2"}
	r.give(r.verdict(next, temporal))
	r.give(r.verdict(next, temporal))
	r.give(r.verdict(next, spatial))
	never := schema.Attempt{Partition: 3, Opening: 2, CallID: "another"}
	r.give(r.verdict(never, spatial))
	if at := r.j.VerdictOffset(5); at != 1 {
		t.Errorf("verdicts have to be read again from %d", at)
	}
	expect(t, "the call", r.call("c1", "send", sendX), "permit")
	if f := r.j.Faults(); len(f) != 1 || !strings.Contains(f[0], "never opened") {
		t.Errorf("faults: %q", f)
	}
	r.event(&schema.Event{Kind: schema.KindTick, Tick: &schema.Tick{N: 1, Time: 31 * second}})
	if at := r.j.VerdictOffset(5); at != 5 {
		t.Errorf("verdicts have to be read again from %d: what never opened holds the joiner back", at)
	}
}

func TestEarlyVerdictLimit(t *testing.T) {
	r := newRig(t)
	for i := range uint64(earlyLimit) {
		if !r.j.WantsVerdicts() {
			t.Fatalf("no verdicts are wanted after %d", i)
		}
		r.give(r.verdict(schema.Attempt{Partition: 3, Opening: 2 + i, CallID: "r"}, temporal))
	}
	if r.j.WantsVerdicts() {
		t.Error("verdicts are wanted beyond the limit")
	}
	r.event(&schema.Event{Kind: schema.KindTick, Tick: &schema.Tick{N: 1, Time: second}})
	if !r.j.WantsVerdicts() {
		t.Error("no verdicts are wanted although one attempt can no longer open")
	}
}

// TestReopenedAttempt: verdicts on the attempt before an authority record do not
// count for the one after it.
func TestReopenedAttempt(t *testing.T) {
	r := newRig(t)
	r.call("c1", "send", sendX)
	before := r.attempt("c1")
	r.says("c1", temporal)
	g := traced(schema.KindGrant, "", "", "")
	g.Grant = &schema.Grant{}
	expect(t, "the grant", r.event(g))
	expect(t, "a part of the old attempt", r.give(r.verdict(before, spatial)))
	expect(t, "one of the new", r.says("c1", spatial))
	got := r.says("c1", temporal)
	expect(t, "both of the new", got, "permit")
	if got[0].Attempt == before {
		t.Error("the resolution names the old attempt")
	}
}

// TestHold: a violation for want of a fact that a call in flight may supply waits for
// it; so a joiner that lacks a part does not refuse before it knows.
func TestHold(t *testing.T) {
	r := newRig(t)
	r.call("look", "look", `{"name":"X"}`)
	r.says("look", temporal)
	r.resolve(r.says("look", spatial)[0])
	r.call("c1", "send", sendX)
	expect(t, "the curable violation, a part missing", r.says("c1", temporal, r.violation("Known", 0)))
	got := r.says("c1", spatial)
	expect(t, "nothing else violated", got, "hold violation")
	if aw := got[0].Event.Resolution.Awaits; !slices.Equal(aw, []string{"look"}) {
		t.Errorf("it awaits %v", aw)
	}
	r.resolve(got[0])
	res := traced(schema.KindResult, "look", "look", "")
	res.Result = schema.Payload{Status: schema.PayloadOK, Canon: []byte(`{"address":"x"}`)}
	r.event(res)
	r.says("c1", temporal)
	expect(t, "after the result", r.says("c1", spatial), "permit")

	// A violation that no call in flight can cure refuses at once.
	r = newRig(t)
	r.call("look", "look", `{"name":"X"}`)
	r.says("look", temporal)
	r.resolve(r.says("look", spatial)[0])
	r.call("c1", "send", sendX)
	expect(t, "the incurable violation, a part missing", r.says("c1", spatial, r.violation("Near", 1)), "refuse violation")
}

// TestForeignPolicy: under a policy that is not loaded nothing is decided, until the
// deadline makes it a refusal.
func TestForeignPolicy(t *testing.T) {
	r := newRig(t)
	r.call("c1", "send", sendX)
	r.event(&schema.Event{Kind: schema.KindPolicy, Activation: &schema.Activation{Number: 2, Digest: []byte("another")}})
	expect(t, "a part", r.says("c1", temporal))
	expect(t, "at the deadline", r.j.Due(29*second), "refuse unavailable")
}

// TestRestoredJoiner: given the same verdicts, a joiner restored in the middle of an
// open attempt proposes the same bytes.
func TestRestoredJoiner(t *testing.T) {
	r := newRig(t)
	r.call("c1", "send", sendX)
	r.says("c1", temporal)
	if at := r.j.VerdictOffset(9); at != 1 {
		t.Errorf("verdicts have to be read again from %d", at)
	}
	restored := r.restored()
	given := r.verdict(r.attempt("c1"), temporal)
	last := r.verdict(r.attempt("c1"), spatial)
	want := r.give(last)
	expect(t, "straight", want, "permit")
	restored.Verdict(1, given)
	got := restored.Verdict(2, last)
	expect(t, "restored", got, "permit")
	a, err := want[0].Event.AppendBinary(nil)
	if err != nil {
		t.Fatal(err)
	}
	b, err := got[0].Event.AppendBinary(nil)
	if err != nil || !bytes.Equal(a, b) {
		t.Errorf("the proposals differ: %v", err)
	}
}

// restored is a joiner that begins with the state of the rig's.
func (r *rig) restored() *Joiner {
	r.t.Helper()
	b, err := protocol.EncodeSnapshot(protocol.Snapshot{Partition: r.j.Partition()})
	if err != nil {
		r.t.Fatal(err)
	}
	s, err := protocol.DecodeSnapshot(b, protocol.DefaultRules())
	if err != nil {
		r.t.Fatal(err)
	}
	return RestoreJoiner(s.Partition, config(r.b))
}

// TestRestoredWithoutParts: what needs no part is proposed after a restart too, by
// whatever call comes first.
func TestRestoredWithoutParts(t *testing.T) {
	for name, first := range map[string]func(*Joiner) []Proposal{
		"step": func(j *Joiner) []Proposal {
			return j.Step(99, &schema.Event{Kind: schema.KindTick, Tick: &schema.Tick{N: 1, Time: second}})
		},
		"due":     func(j *Joiner) []Proposal { return j.Due(0) },
		"again":   func(j *Joiner) []Proposal { return j.Again() },
		"verdict": func(j *Joiner) []Proposal { return j.Verdict(1, &schema.Verdict{}) },
	} {
		r := newRig(t)
		rogue := traced(schema.KindResult, "never", "send", "")
		rogue.Trace, rogue.SessionID = "s0", "s0"
		r.event(rogue)
		expect(t, "a principal that is distrusted", r.call("c1", "send", sendX), "refuse violation")
		j := r.restored()
		expect(t, "restored, first "+name, first(j), "refuse violation")
		expect(t, "restored, then", j.Due(0))
	}
}

// TestObserve: what would be refused is permitted and marked.
func TestObserve(t *testing.T) {
	r := newRig(t)
	r.event(&schema.Event{Kind: schema.KindPolicy, Activation: &schema.Activation{
		Number: 2, Digest: r.b.Digest[:], ObserveUntil: 1 << 60, Reason: "tuning",
	}})
	r.call("c1", "send", sendX)
	got := r.says("c1", spatial, r.violation("Near", 1))
	if len(got) != 1 || got[0].Event.Resolution.Outcome != schema.SettledPermit || !slices.Contains(got[0].Event.Resolution.Flags, ObserveMark) {
		t.Errorf("proposed %+v", got)
	}
	if got[0].Event.Resolution.Reason != verdict.Violation {
		t.Errorf("the reason is %q", got[0].Event.Resolution.Reason)
	}
}
