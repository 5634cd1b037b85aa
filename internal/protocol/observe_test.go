package protocol

import (
	"testing"

	"github.com/aspis-rv/aspis/pkg/schema"
)

// TestObserving: whether the deployment only observes is said by the log, up to the log
// time that the activation names; an attempt keeps what held when it opened.
func TestObserving(t *testing.T) {
	p := New(0, DefaultRules())
	at := uint64(0)
	step := func(ev *schema.Event) []Effect {
		at++
		return append([]Effect(nil), p.Step(at, ev)...)
	}
	call := func(id string) *schema.Event {
		return &schema.Event{ID: id, CallID: id, SessionID: "s", Trace: "s", Kind: schema.KindCall, Digest: []byte(id)}
	}
	step(&schema.Event{Kind: schema.KindPolicy, Activation: &schema.Activation{Number: 1, Digest: []byte("d"), ObserveUntil: 100}})
	step(&schema.Event{Kind: schema.KindTick, Tick: &schema.Tick{N: 1, Time: 99}})
	opened := step(call("a"))
	if len(opened) != 1 || !opened[0].Observe {
		t.Fatalf("before the end: %+v", opened)
	}
	step(&schema.Event{Kind: schema.KindTick, Tick: &schema.Tick{N: 2, Time: 100}})
	if p.Observing() {
		t.Error("observing at the end")
	}
	state, err := p.AppendState(nil)
	if err != nil {
		t.Fatal(err)
	}
	restored, err := Restore(state, DefaultRules())
	if err != nil {
		t.Fatal(err)
	}
	restored.Opened(func(e *Effect) {
		if !e.Observe {
			t.Error("a restart changed what held when the attempt opened")
		}
	})
	step(&schema.Event{Kind: schema.KindResolution, Trace: "s", Resolution: &schema.Resolution{
		Attempt: opened[0].Attempt, CallDigest: []byte("a"), Outcome: schema.SettledRefuse,
	}})
	if opened = step(call("b")); len(opened) != 1 || opened[0].Observe {
		t.Errorf("after the end: %+v", opened)
	}
}
