package schema

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/aspis-rv/aspis/pkg/verdict"
)

func TestSamplesAreValid(t *testing.T) {
	for name, e := range samples() {
		if err := e.Validate(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// problems returns the fields that Validate complains about.
func problems(t *testing.T, e *Event) []string {
	t.Helper()
	err := e.Validate()
	if err == nil {
		return nil
	}
	var invalid *InvalidError
	if !errors.As(err, &invalid) || !errors.Is(err, ErrInvalid) {
		t.Fatalf("got %T, want an InvalidError", err)
	}
	var out []string
	for _, p := range invalid.Problems {
		if p.What == "" || !strings.Contains(err.Error(), p.Field+": "+p.What) {
			t.Errorf("the message %q does not say %+v", err, p)
		}
		out = append(out, p.Field)
	}
	return out
}

func TestValidateFinds(t *testing.T) {
	tests := []struct {
		sample string
		change func(*Event)
		want   []string
	}{
		{"call", func(e *Event) { e.ID = "" }, []string{"id"}},
		{"tick", func(e *Event) { e.ID = "" }, nil},
		{"call", func(e *Event) { e.Tenant, e.Trace = "", "" }, []string{"tenant", "trace"}},
		{"call", func(e *Event) { e.Producer = "" }, []string{"producer"}},
		{"call", func(e *Event) { e.Producer, e.Seq = "", 0 }, nil},
		{"call", func(e *Event) { e.Kind = 42 }, []string{"kind"}},
		{"call", func(e *Event) { e.CallID, e.Deadline = "", 0 }, nil},
		{"result", func(e *Event) { e.CallID = "" }, []string{"call_id"}},
		{"withdrawn", func(e *Event) { e.CallID = "" }, []string{"call_id"}},
		{"call", func(e *Event) { e.Tool = "" }, []string{"tool"}},
		{"session", func(e *Event) { e.SessionID = "" }, []string{"session_id"}},
		{"call", func(e *Event) { e.Vantage = 7 }, []string{"vantage"}},
		{"call", func(e *Event) { e.ClaimedTS, e.Deadline, e.Timestamp = -1, 0, -2 }, []string{"claimed_ts", "timestamp"}},
		{"call", func(e *Event) { e.Actor.Class = "" }, []string{"actor.class"}},
		{"call", func(e *Event) { e.Actor.Class = "root" }, []string{"actor.class"}},
		{"call", func(e *Event) { e.Actor.ID = "" }, nil},
		{"tick", func(e *Event) { e.Actor = Actor{} }, nil},
		{"tick", func(e *Event) { e.Tenant, e.Trace = "", "" }, nil},
		{"call", func(e *Event) { e.Tenant, e.Trace = "", "" }, []string{"tenant", "trace"}},

		{"call", func(e *Event) { e.Tool = "rm\x00" }, []string{"tool"}},
		{"call", func(e *Event) { e.Tenant = "a\nb" }, []string{"tenant"}},
		{"call", func(e *Event) { e.SessionID = "a\u0085b" }, []string{"session_id"}},
		{"call", func(e *Event) { e.Server = "a\xffb" }, []string{"server"}},
		{"message", func(e *Event) { e.Text = "line\nline\ttab" }, nil},
		{"message", func(e *Event) { e.Text = "\xc0" }, []string{"text"}},
		{"call", func(e *Event) { e.Object = []string{"ok", "", "\xff"} }, []string{"object[1]", "object[2]"}},
		{"call", func(e *Event) { e.Labels = map[string]string{"": "x", "a\x1b": "y", "z": "\xff"} }, []string{"labels", `labels["a\x1b"]`, `labels["z"]`}},

		{"call", func(e *Event) { e.Args = Payload{Status: PayloadOK} }, []string{"args"}},
		{"call", func(e *Event) { e.Args.Canon = []byte(`{"b":1,"a":2}`) }, []string{"args"}},
		{"call", func(e *Event) { e.Args.Status = PayloadWithheld }, []string{"args_status"}},
		{"call", func(e *Event) { e.Args.Status = 9 }, []string{"args_status", "args_status"}},
		{"call", func(e *Event) { e.Args.RawDigest = []byte{1} }, []string{"args_digest"}},
		{"call", func(e *Event) { e.Digest = []byte{1} }, []string{"digest"}},
		{"call", func(e *Event) { e.Issuer = "me" }, []string{"issuer"}},
		{"call", func(e *Event) { e.Status = ResultError }, []string{"status"}},
		{"result", func(e *Event) { e.Status = 9 }, []string{"status"}},
		{"call", func(e *Event) { e.Text = "x" }, []string{"text"}},
		{"call", func(e *Event) { e.Result = Payload{Status: PayloadWithheld} }, []string{"result"}},
		{"tick", func(e *Event) { e.Args = Payload{Status: PayloadWithheld} }, []string{"args"}},
		{"message", func(e *Event) { e.Deadline = e.ClaimedTS + 1 }, []string{"deadline"}},
		{"call", func(e *Event) { e.Deadline = e.ClaimedTS }, []string{"deadline"}},
		{"call", func(e *Event) { e.Deadline = -1 }, []string{"deadline"}},
		{"call", func(e *Event) { e.Answers = []Answer{{Score: math.NaN()}} }, []string{"answers[0].name", "answers[0].score"}},
		{"call", func(e *Event) { e.Answers = []Answer{{Name: "a", Score: math.Inf(1)}} }, []string{"answers[0].score"}},
		{"call", func(e *Event) { e.Answers = []Answer{{Name: "a", Missing: true, Label: "b"}} }, []string{"answers[0].missing"}},
		{"call", func(e *Event) { e.Answers = []Answer{{Name: "a", Of: []byte{1}}} }, []string{"answers[0].of"}},
		{"call", func(e *Event) { e.Unknown = map[string][]byte{"t": {1}} }, []string{"record"}},

		{"resolution", func(e *Event) { e.Resolution = nil }, []string{"resolution"}},
		{"call", func(e *Event) { e.Tick = &Tick{N: 1} }, []string{"tick"}},
		{"tick", func(e *Event) { e.Session = &SessionMark{} }, []string{"session_mark"}},
		{"resolution", func(e *Event) { e.Resolution.CallID = "" }, []string{"resolution.call_id", "resolution.call_id"}},
		{"resolution", func(e *Event) { e.Resolution.Attempt.CallID = "" }, []string{"resolution.attempt.call_id"}},
		{"resolution", func(e *Event) { e.Resolution.Attempt = Attempt{} }, nil},
		{"resolution", func(e *Event) { e.CallID = "other" }, []string{"resolution.call_id"}},
		{"resolution", func(e *Event) { e.Resolution.Outcome = 9 }, []string{"resolution.outcome"}},
		{"resolution", func(e *Event) { e.Resolution.Outcome = SettledPermit }, []string{"resolution.reason"}},
		{"resolution", func(e *Event) { e.Resolution.Reason = "" }, []string{"resolution.reason"}},
		{"resolution", func(e *Event) { e.Resolution.Reason = "because" }, []string{"resolution.reason"}},
		{"resolution_hold", func(e *Event) { e.Resolution.Reason = "because" }, []string{"resolution.reason"}},
		{"resolution_hold", func(e *Event) { e.Resolution.Reason = "" }, nil},
		{"resolution_hold", func(e *Event) { e.Resolution.Outcome = SettledRefuse }, []string{"resolution.awaits"}},
		{"resolution", func(e *Event) { e.Resolution.Value, e.Resolution.Completeness = 9, 9 }, []string{"resolution.value", "resolution.completeness"}},
		{"resolution", func(e *Event) { e.Resolution.Parts = []PartRef{{Hash: []byte{1}, Value: verdict.F + 1}} }, []string{"resolution.parts[0].aspect", "resolution.parts[0].hash", "resolution.parts[0].value"}},
		{"resolution", func(e *Event) { e.Resolution.Signature = []byte{1} }, []string{"resolution.signature"}},
		{"resolution", func(e *Event) { e.Resolution.Policy, e.Resolution.CallDigest = []byte{1}, []byte{1} }, []string{"resolution.policy", "resolution.call_digest"}},
		{"tick", func(e *Event) { e.Tick.N, e.Tick.Time = 0, -1 }, []string{"tick.n", "tick.time"}},
		{"grant", func(e *Event) { e.Grant, e.Tool = &Grant{NotBefore: -1}, "" }, []string{"grant.not_before", "grant"}},
		{"grant", func(e *Event) { e.Grant = &Grant{} }, nil},
		{"policy", func(e *Event) { *e.Activation = Activation{Revision: -1} }, []string{"activation.number", "activation.digest", "activation.name", "activation.revision"}},
	}
	for i, tt := range tests {
		e := samples()[tt.sample]
		tt.change(e)
		if got := problems(t, e); !slices.Equal(got, tt.want) {
			t.Errorf("case %d (%s): complains about %q, want %q: %v", i, tt.sample, got, tt.want, e.Validate())
		}
	}
}

func TestValidateReportsEverythingAtOnce(t *testing.T) {
	e := &Event{Kind: KindPolicy, Text: "x", Tool: "\x01", Tick: &Tick{}}
	got := problems(t, e)
	want := []string{"tool", "text", "tick", "activation", "tick.n"}
	if !slices.Equal(got, want) {
		t.Errorf("complains about %q, want %q", got, want)
	}
}

func TestValidateLimits(t *testing.T) {
	x := func(n int) string { return strings.Repeat("x", n) }
	list := func(n int) []string { return strings.Split(strings.Repeat("x,", n-1)+"x", ",") }
	labels := func(n int) map[string]string {
		m := map[string]string{}
		for i := range n {
			m[fmt.Sprint(i)] = ""
		}
		return m
	}
	marks := func(n int) map[string]uint64 {
		m := map[string]uint64{}
		for i := range n {
			m[fmt.Sprint(i)] = 1
		}
		return m
	}
	tests := []struct {
		sample, field string
		limit         int
		set           func(e *Event, n int)
	}{
		{"call", "id", MaxID, func(e *Event, n int) { e.ID = x(n) }},
		{"call", "actor.id", MaxID, func(e *Event, n int) { e.Actor.ID = x(n) }},
		{"call", "tool", MaxID, func(e *Event, n int) { e.Tool = x(n) }},
		{"call", "source", MaxField, func(e *Event, n int) { e.Source = x(n) }},
		{"call", "object[0]", MaxField, func(e *Event, n int) { e.Object = []string{x(n)} }},
		{"call", "state_after", MaxState, func(e *Event, n int) { e.StateAfter = x(n) }},
		{"message", "text", MaxText, func(e *Event, n int) { e.Text = x(n) }},
		{"call", "recipient", MaxList, func(e *Event, n int) { e.Recipient = list(n) }},
		{"call", "labels", MaxList, func(e *Event, n int) { e.Labels = labels(n) }},
		{"call", "answers", MaxList, func(e *Event, n int) { e.Answers = slices.Repeat([]Answer{{Name: "a"}}, n) }},
		{"tick", "tick.marks", MaxList, func(e *Event, n int) { e.Tick.Marks = marks(n) }},
		{"resolution", "resolution.parts", MaxParts, func(e *Event, n int) { e.Resolution.Parts = slices.Repeat([]PartRef{{Aspect: "a"}}, n) }},
		{"resolution", "resolution.detail", MaxField, func(e *Event, n int) { e.Resolution.Detail = x(n) }},
		{"call", "args", MaxJSON, func(e *Event, n int) { e.Args.Canon = []byte(`"` + x(n-2) + `"`) }},
		{"call", "deadline", MaxTimeout, func(e *Event, n int) { e.Deadline = e.ClaimedTS + int64(n) }},
	}
	for _, tt := range tests {
		e := samples()[tt.sample]
		tt.set(e, tt.limit)
		if got := problems(t, e); got != nil {
			t.Errorf("%s at %d: %v", tt.field, tt.limit, e.Validate())
		}
		tt.set(e, tt.limit+1)
		if got := problems(t, e); !slices.Equal(got, []string{tt.field}) {
			t.Errorf("%s at %d: complains about %q", tt.field, tt.limit+1, got)
		}
	}
}

// A record that is within every other limit is still bounded as a whole.
func TestValidateRecordSize(t *testing.T) {
	e := samples()["message"]
	e.Text = strings.Repeat("x", MaxText)
	e.Args = Payload{Status: PayloadOK, Canon: []byte(`"` + strings.Repeat("x", MaxRecord-MaxText) + `"`)}
	if got := problems(t, e); !slices.Equal(got, []string{"record"}) {
		t.Errorf("complains about %q", got)
	}
}

// Whatever Validate accepts can be written in both forms.
func TestValidCanBeWritten(t *testing.T) {
	r := seeded(t)
	valid := 0
	for range 3000 {
		e := randomEvent(r)
		for _, s := range samples() {
			if s.Kind == e.Kind { // keep the random part small enough to be valid at times
				c := *s
				c.Object, c.Labels, c.Answers, c.Unknown = e.Object, e.Labels, e.Answers, e.Unknown
				e = &c
				break
			}
		}
		if e.Validate() != nil {
			continue
		}
		valid++
		if _, err := e.AppendBinary(nil); err != nil {
			t.Fatalf("valid, but: %v", err)
		}
		if _, err := e.MarshalJSON(); err != nil {
			t.Fatalf("valid, but: %v", err)
		}
	}
	if valid < 100 {
		t.Fatalf("only %d of the random events were valid", valid)
	}
}
