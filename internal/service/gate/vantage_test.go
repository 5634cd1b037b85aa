package gate

import (
	"slices"
	"strings"
	"testing"

	"github.com/aspis-rv/aspis/internal/bus"
	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// recorded lists the records of a kind in the log.
func (r *rig) recorded(t *testing.T, kind schema.Kind) []*schema.Event {
	t.Helper()
	var out []*schema.Event
	for p := range uint32(2) {
		first, next, err := r.bus.Bounds(t.Context(), bus.Events, p)
		if err != nil {
			t.Fatal(err)
		}
		cur, err := r.bus.Read(t.Context(), bus.Events, p, bus.Start{Kind: bus.Earliest})
		if err != nil {
			t.Fatal(err)
		}
		for at := first; at < next; {
			rec, err := cur.Next(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			at = rec.Offset + 1
			ev, err := schema.DecodeEvent(rec.Data)
			if err != nil {
				t.Fatal(err)
			}
			if ev.Kind == kind {
				out = append(out, ev)
			}
		}
		if err := cur.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// TestVantageFollowsFromTheCredential posts as everybody to a session, with bodies that claim
// to be somebody else.
func TestVantageFollowsFromTheCredential(t *testing.T) {
	r := start(t, "session", nil)
	s := r.session(t)
	for i, tc := range []struct {
		name           string
		who            Principal
		result, speech string // the vantage, or empty: refused
	}{
		{"the session's own", agent(), "reported", "reported"},
		{"another agent", Principal{ID: "other", Class: schema.ClassAgent, Tenant: "acme"}, "", ""},
		{"a tool server", Principal{ID: "bank", Class: schema.ClassTool, Tenant: "acme"}, "attested", "attested"},
		{"a harness", Principal{ID: "harness", Class: schema.ClassEnv, Tenant: "acme"}, "attested", "attested"},
		{"the user", user(), "", "attested"},
		{"a command post", Principal{ID: "ops", Class: schema.ClassCommand, Tenant: "acme"}, "", "attested"},
		{"the agent's name in another tenant", Principal{ID: "planner", Class: schema.ClassAgent, Tenant: "evil"}, "", ""},
		{"a tool server of another tenant", Principal{ID: "bank", Class: schema.ClassTool, Tenant: "evil"}, "", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			id := "c" + string(rune('0'+i))
			if a := r.gate.Call(t.Context(), agent(), CallRequest{Session: s, Tool: "get_time", CallID: id}); !a.permits() {
				t.Fatalf("%+v", a)
			}
			_, err := r.gate.Result(t.Context(), tc.who, ResultRequest{Session: s, CallID: id, Result: []byte(`{"vantage":"observed"}`)})
			r.posted(t, schema.KindResult, err, tc.who, tc.result)
			for _, role := range []string{"", "user", "tool"} {
				_, err = r.gate.Message(t.Context(), tc.who, MessageRequest{Session: s, Kind: schema.KindMessage, Role: role, Text: "pay", Labels: map[string]string{"vantage": "observed", "class": "user"}})
				r.posted(t, schema.KindMessage, err, tc.who, tc.speech)
			}
			_, err = r.gate.Message(t.Context(), tc.who, MessageRequest{Session: s, Kind: schema.KindObservation, Labels: map[string]string{"vantage": "observed"}})
			r.posted(t, schema.KindObservation, err, tc.who, tc.speech)
		})
	}
}

// posted checks the last record of a kind: it is there with the vantage and the principal of
// its poster, or it was refused like a session that does not exist.
func (r *rig) posted(t *testing.T, kind schema.Kind, err error, who Principal, want string) {
	t.Helper()
	var mine []*schema.Event
	for _, ev := range r.recorded(t, kind) {
		if ev.Actor.ID == who.ID && ev.Tenant == who.Tenant {
			mine = append(mine, ev)
		}
	}
	switch {
	case want == "":
		if err == nil || !strings.Contains(err.Error(), errSession.Error()) || len(mine) > 0 {
			t.Errorf("%v of %s: %v, %d records", kind, who.ID, err, len(mine))
		}
	case err != nil || len(mine) == 0:
		t.Errorf("%v of %s: %v, %d records", kind, who.ID, err, len(mine))
	default:
		ev := slices.MaxFunc(mine, func(a, b *schema.Event) int { return int(a.Seq) - int(b.Seq) })
		if ev.Vantage.String() != want || ev.Actor.Class != who.Class {
			t.Errorf("%v of %s: %v from a %s, want %s", kind, who.ID, ev.Vantage, ev.Actor.Class, want)
		}
	}
}

// TestOwnerNeverAttests opens a session as each class: its owner is the one whose calls are
// judged, so that its account of them is only reported.
func TestOwnerNeverAttests(t *testing.T) {
	r := start(t, "session", nil)
	for _, class := range []schema.ActorClass{schema.ClassAgent, schema.ClassUser, schema.ClassTool, schema.ClassEnv, schema.ClassCommand} {
		who := Principal{ID: "owner-" + string(class), Class: class, Tenant: "acme"}
		s, err := r.gate.OpenSession(t.Context(), who, nil)
		if err != nil {
			t.Fatal(err)
		}
		_, err = r.gate.Message(t.Context(), who, MessageRequest{Session: s.Session, Kind: schema.KindMessage, Role: "user", Text: "x"})
		r.posted(t, schema.KindMessage, err, who, "reported")
	}
}

// TestAttestedResultOfARefusedCall: the tool server says that a refused call ran, so that the
// agent, whose call it was, gets no further permit.
func TestAttestedResultOfARefusedCall(t *testing.T) {
	r := start(t, "session", nil)
	s := r.session(t)
	server := Principal{ID: "registry", Class: schema.ClassTool, Tenant: "acme"}
	if a := r.gate.Call(t.Context(), agent(), CallRequest{Session: s, Tool: "export_record", Args: []byte(`{"object":"r1"}`), CallID: "c1"}); a.permits() {
		t.Fatalf("%+v", a)
	}
	_, err := r.gate.Result(t.Context(), server, ResultRequest{Session: s, CallID: "c1"})
	if p := IsProblem(err); p == nil || p.Reason != verdict.Violation {
		t.Fatalf("%v", err)
	}
	if a := r.call(t, s, "get_time", "{}"); a.permits() || a.Reason != verdict.Violation {
		t.Errorf("after its refused call ran: %+v", a)
	}
}
