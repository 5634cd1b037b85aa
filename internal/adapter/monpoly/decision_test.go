package monpoly

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/aspis-rv/aspis/internal/corpus/jsonl"
	"github.com/aspis-rv/aspis/internal/offline"
	"github.com/aspis-rv/aspis/pkg/aspects"
	"github.com/aspis-rv/aspis/pkg/schema"
)

const consentText = `policy: consent
revision: 1
engine: monpoly
unmapped: permit
facts: {export: [object], consent: [object]}
tools:
  export_it: {args: {object: string}, facts: [export(object)]}
  give: {authority: true, args: {object: string}, facts: [consent(object)]}
authorities: [user]
clauses:
  E1: {text: An export needs a consent., forbid: {temporal: 'export(o) AND NOT (ONCE[0,24h] consent(o))'}}
`

// TestDecisions: with the engine a call is permitted, or refused as a violation; when
// no process answers it is refused as unavailable, and what the clause does not speak
// of is permitted.
func TestDecisions(t *testing.T) {
	const session = `{"session":"s","actor":{"id":"ann","class":"user"},"kind":"grant","tool":"give","args":{"object":"r1"}}
{"session":"s","actor":{"id":"bot","class":"agent"},"kind":"call","call":"c1","tool":"export_it","args":{"object":"r1"}}
{"session":"s","actor":{"id":"bot","class":"agent"},"kind":"call","call":"c2","tool":"export_it","args":{"object":"r2\n"}}
{"session":"s","actor":{"id":"bot","class":"agent"},"kind":"call","call":"c3","tool":"look","args":{"object":"r2"}}
`
	for mode, want := range map[string][]string{
		"ok":   {"c1 permit ", "c2 refuse violation", "c3 permit "},
		"zero": {"c1 refuse unavailable", "c2 refuse unavailable", "c3 permit "},
	} {
		b := load(t, consentText)
		binary, log := fake(t, mode)
		e := newEngine(t, b, Config{Binary: binary})
		var events []*schema.Event
		for ev, err := range jsonl.Events(strings.NewReader(session), "session") {
			if err != nil {
				t.Fatal(err)
			}
			events = append(events, ev)
		}
		decisions, err := offline.Run(offline.Config{Bundle: b, Engines: []aspects.Engine{e}}, events)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, d := range decisions {
			got = append(got, fmt.Sprintf("%s %s %s", d.Event.CallID, d.Resolution.Outcome, d.Resolution.Reason))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: decided %q, want %q", mode, got, want)
		}
		if mode == "ok" {
			if n := len(sent(t, log)); n != 1 {
				t.Errorf("%d processes for one formula of a session without refusals before its end", n)
			}
		}
		_ = os.Remove(log)
	}
}
