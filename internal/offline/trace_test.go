package offline_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aspis-rv/aspis/internal/corpus/jsonl"
	"github.com/aspis-rv/aspis/internal/offline"
	"github.com/aspis-rv/aspis/pkg/aspects"
	"github.com/aspis-rv/aspis/pkg/aspects/temporal"
	"github.com/aspis-rv/aspis/pkg/policy"
	"github.com/aspis-rv/aspis/pkg/schema"
)

const agentPolicy = `policy: p
revision: 1
trace: agent
authorities: [user]
facts: {export: [object], consent: [object]}
tools:
  export_record: {args: {object: string}, facts: [export(object)]}
  give_consent: {authority: true, args: {object: string}, facts: [consent(object)]}
clauses:
  C1:
    text: A record is exported under a consent for it.
    forbid: {temporal: 'export(o) AND NOT (ONCE consent(o))'}
`

// TestTraceOfAnAgentHasWhatOthersDoForIt judges a session under the trace key agent:
// a user's grant discharges the agent's clause, also one from before the agent's first
// record, and another actor may post the result of the agent's call.
func TestTraceOfAnAgentHasWhatOthersDoForIt(t *testing.T) {
	const session = `{"session":"s1","actor":{"id":"ann","class":"user"},"kind":"grant","tool":"give_consent","args":{"object":"r1"}}
{"session":"s1","actor":{"id":"planner","class":"agent"},"kind":"call","call":"c1","tool":"export_record","args":{"object":"r1"}}
{"session":"s1","actor":{"id":"exporter","class":"tool"},"kind":"result","call":"c1","result":{}}
{"session":"s1","actor":{"id":"planner","class":"agent"},"kind":"call","call":"c2","tool":"export_record","args":{"object":"r2"}}
{"session":"s1","actor":{"id":"ann","class":"user"},"kind":"grant","tool":"give_consent","args":{"object":"r3"}}
{"session":"s2","actor":{"id":"planner","class":"agent"},"kind":"call","call":"c3","tool":"export_record","args":{"object":"r3"}}
`
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "policy.yaml"), []byte(agentPolicy), 0o600); err != nil {
		t.Fatal(err)
	}
	b, diags := policy.Load(dir)
	if diags.HasErrors() {
		t.Fatalf("%+v", diags)
	}
	engine, err := temporal.New(b)
	if err != nil {
		t.Fatal(err)
	}
	decisions := decide(t, b, engine, session)
	var got []string
	for _, d := range decisions {
		got = append(got, d.Event.CallID+" "+d.Resolution.Outcome.String())
	}
	if want := "c1 permit, c2 refuse, c3 permit"; strings.Join(got, ", ") != want {
		t.Errorf("decided %q, want %q", got, want)
	}
}

// decide runs events, JSON Lines, under a bundle with one engine.
func decide(t *testing.T, b *policy.Bundle, engine aspects.Engine, lines string) []*offline.Decision {
	t.Helper()
	var events []*schema.Event
	for ev, err := range jsonl.Events(strings.NewReader(lines), "events") {
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, ev)
	}
	decisions, err := offline.Run(offline.Config{Bundle: b, Engines: []aspects.Engine{engine}}, events)
	if err != nil {
		t.Fatal(err)
	}
	return decisions
}
