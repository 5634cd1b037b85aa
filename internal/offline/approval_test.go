package offline_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/aspis-rv/aspis/internal/judge"
	"github.com/aspis-rv/aspis/internal/protocol"
	"github.com/aspis-rv/aspis/pkg/aspects/temporal"
	"github.com/aspis-rv/aspis/pkg/policy"
	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// wires plays proposals and approvals under docs/examples/provenance. It has the place of a
// composer with an approver: a proposal whose clause fires is escalated, another one permitted.
type wires struct {
	t        *testing.T
	judge    *judge.Judge
	policy   [32]byte
	calls    map[string]*schema.Event // by record id
	outcomes []string
	offset   uint64
}

func newWires(t *testing.T) *wires {
	t.Helper()
	b, diags := policy.Load("../../docs/examples/provenance")
	if diags.HasErrors() {
		t.Fatalf("%+v", diags)
	}
	engine, err := temporal.New(b)
	if err != nil {
		t.Fatal(err)
	}
	w := &wires{
		t: t, policy: b.Digest, calls: map[string]*schema.Event{},
		judge: judge.New(0, judge.Config{Bundle: b, Engine: engine, Rules: protocol.DefaultRules()}),
	}
	w.append(&schema.Event{Kind: schema.KindPolicy, Activation: &schema.Activation{Number: 1, Digest: b.Digest[:], Name: b.Name, Revision: 1}})
	return w
}

func (w *wires) append(ev *schema.Event) {
	w.offset++
	if ev.ID == "" {
		ev.ID = fmt.Sprintf("r%d", w.offset)
	}
	ev.Tenant, ev.Trace, ev.SessionID, ev.Vantage = "acme", "s", "s", schema.Observed
	ev.ClaimedTS = int64(w.offset) * 1e9
	if ev.Kind == schema.KindCall {
		w.calls[ev.ID] = ev
	}
	for _, v := range w.judge.Step(w.offset, ev) {
		w.settle(v.Attempt, v.Value())
	}
}

func (w *wires) settle(attempt schema.Attempt, value verdict.Value) {
	call := w.calls[attempt.CallID]
	r := &schema.Resolution{CallID: call.CallID, Attempt: attempt, Outcome: schema.SettledPermit, CallDigest: call.Digest, Policy: w.policy[:]}
	if value == verdict.F {
		r.Outcome = schema.SettledEscalate
	}
	w.outcomes = append(w.outcomes, fmt.Sprintf("%s %v", call.CallID, r.Outcome))
	w.append(&schema.Event{Kind: schema.KindResolution, Resolution: r})
}

func wireTo(to string, cents int) schema.Payload {
	return schema.Payload{Status: schema.PayloadOK, Canon: fmt.Appendf(nil, `{"cents":%d,"to":%q}`, cents, to)}
}

func digestOf(args schema.Payload) []byte {
	return schema.CallDigest("acme", "planner", "", "wire", nil, args.Canon)
}

func (w *wires) propose(id, to string, cents int) {
	args := wireTo(to, cents)
	w.append(&schema.Event{
		Kind: schema.KindCall, CallID: id, Tool: "wire", Args: args, Digest: digestOf(args), Deadline: 1 << 60,
		Actor: schema.Actor{ID: "planner", Class: schema.ClassAgent},
	})
}

// approve approves the proposal with these arguments, whether there is one or not.
func (w *wires) approve(by schema.ActorClass, to string, cents int) {
	w.append(&schema.Event{
		Kind: schema.KindGrant, Tool: "approve_wire", Actor: schema.Actor{ID: "ann", Class: by},
		Grant: &schema.Grant{CallDigest: digestOf(wireTo(to, cents))},
	})
}

// expect compares what was decided since the last time.
func (w *wires) expect(why string, want ...string) {
	w.t.Helper()
	if !slices.Equal(w.outcomes, want) {
		w.t.Errorf("%s: %q, want %q", why, w.outcomes, want)
	}
	w.outcomes = nil
}

// TestApprovalIsBoundToItsProposal: an approval discharges the proposal with that digest, made
// before it, once, and only if it is an authority's.
func TestApprovalIsBoundToItsProposal(t *testing.T) {
	w := newWires(t)
	w.approve(schema.ClassUser, "roofer", 100)
	w.propose("a", "roofer", 100)
	w.expect("approved before it was proposed", "a escalate")
	w.approve(schema.ClassUser, "roofer", 101)
	w.approve(schema.ClassUser, "carpenter", 100)
	w.expect("another amount, another recipient")
	w.approve(schema.ClassTool, "roofer", 100)
	w.expect("no authority: it is looked at again", "a escalate")
	w.propose("b", "carpenter", 100)
	w.expect("another proposal", "b escalate")
	w.approve(schema.ClassUser, "roofer", 100)
	w.expect("the approval, after the proposal", "a permit")
	w.propose("c", "roofer", 100)
	w.expect("it is spent", "c escalate")
	w.approve(schema.ClassUser, "roofer", 100)
	w.approve(schema.ClassUser, "carpenter", 100)
	w.expect("one approval each", "c permit", "b permit")
}
