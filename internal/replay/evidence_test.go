package replay_test

import (
	"context"
	"fmt"
	"iter"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/aspis-rv/aspis/internal/bus/membus"
	"github.com/aspis-rv/aspis/internal/node"
	"github.com/aspis-rv/aspis/internal/offline"
	"github.com/aspis-rv/aspis/internal/protocol"
	"github.com/aspis-rv/aspis/internal/replay"
	"github.com/aspis-rv/aspis/pkg/policy"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// mailPolicy types what is written at the call, and what is fetched at the result.
const mailPolicy = `policy: mail
revision: 1
blocking: precautionary
cues: {secret: secret.txt}
classifiers: {leak: {threshold: 0.5}}
facts: {send: [draft, who]}
state: {secret: [draft]}
typing:
  secret(d, text, mark): {sets: secret(d), definite: 'mark == "SECRET"', cues: secret, in: [text]}
  leaks(d, text): {sets: secret(d), classifiers: [leak], in: [text]}
tools:
  write: {args: {d: string, text: string, mark: string = ""}, types: ['secret(d, text, mark)']}
  paste: {args: {d: string, text: string}, types: ['leaks(d, text)']}
  fetch: {args: {d: string}, types: [{apply: 'secret(d, result.lines, "")', at: result}]}
  send: {args: {d: string, who: string}, facts: ['send(d, who)']}
  note:
clauses:
  C: {text: t, forbid: {semantic: 'send(d, w) AND secret(d) AND NOT (w = "boss")'}}
`

func mail(t *testing.T) *policy.Bundle {
	t.Helper()
	b, found := policy.LoadFS(fstest.MapFS{"policy.yaml": {Data: []byte(mailPolicy)}, "secret.txt": {Data: []byte("kestrel\n")}})
	if len(found) > 0 {
		t.Fatalf("%+v", found)
	}
	return b
}

func events(t *testing.T, lines ...string) iter.Seq2[*schema.Event, error] {
	t.Helper()
	return func(yield func(*schema.Event, error) bool) {
		for i, line := range lines {
			kind := "call"
			if strings.Contains(line, `"result":`) {
				kind = "result"
			}
			ev, err := schema.ParseEventJSON(fmt.Appendf(nil, `{"session":"s1","actor":{"id":"a","class":"agent"},"kind":%q,"ts":%d,%s}`, kind, i, line))
			if err != nil {
				t.Fatal(err)
			}
			if ev.Tool == "paste" {
				q := policy.Question{Text: "a text"}
				ev.Answers = []schema.Answer{{Name: "leak", Version: "v7", Label: "odd", Score: 0.75, Of: q.Of()}}
			}
			if !yield(ev, nil) {
				return
			}
		}
	}
}

// said writes evidence in short: what holds, why, and in which record.
func said(lines []replay.EvidenceLine) []string {
	var out []string
	for i := range lines {
		l := &lines[i]
		text := fmt.Sprintf("%d %s %s by %s", l.Binding, l.Fact, l.Strength, l.Source)
		switch l.Source {
		case policy.FromMarking:
			text += " " + l.Condition
		case policy.FromCue:
			text += fmt.Sprintf(" %s/%s in %s[%d] %v %q", l.List, l.Cue, l.Param, l.Item, l.Span, l.Excerpt)
		case policy.FromClassifier:
			text += fmt.Sprintf(" %s %s %s %v in %s", l.Classifier, l.Version, l.Label, l.Score, l.Param)
		}
		out = append(out, text+" of "+l.Tool+" "+l.Call)
	}
	return out
}

// TestEvidence: each firing says why the typed facts hold that it is about, and a replay of the
// log says the same as one of the events.
func TestEvidence(t *testing.T) {
	const sends = `"tool":"send","call":"%s","args":{"d":"%s","who":"%s"}`
	given := []string{
		`"tool":"write","call":"w1","args":{"d":"a","text":"the Kestrel"}`,
		`"tool":"write","call":"w2","args":{"d":"b","text":"the kestrel","mark":"SECRET"}`,
		`"tool":"paste","call":"p1","args":{"d":"c","text":"a text"}`,
		`"tool":"fetch","call":"f1","args":{"d":"e"}`,
		`"tool":"fetch","call":"f1","result":{"lines":["nothing","a kestrel"]}`,
		`"tool":"note","call":"n1","args":{}`,
		fmt.Sprintf(sends, "s1", "a", "x"), fmt.Sprintf(sends, "s2", "b", "x"), fmt.Sprintf(sends, "s3", "c", "x"),
		fmt.Sprintf(sends, "s4", "e", "x"), fmt.Sprintf(sends, "s5", "a", "boss"),
	}
	want := map[string][]string{
		"s1": {`0 secret("a") presumptive by cue secret/kestrel in text[0] [4 11] "the Kestrel" of write w1`},
		"s2": {`0 secret("b") definite by marking mark == "SECRET" of write w2`},
		"s3": {`0 secret("c") presumptive by classifier leak v7 odd 0.75 in text of paste p1`},
		"s4": {`0 secret("e") presumptive by cue secret/kestrel in text[1] [2 9] "a kestrel" of fetch f1`},
	}
	b := mail(t)
	engines, err := node.Engines(b)
	if err != nil {
		t.Fatal(err)
	}
	log := &writer{t: t, log: membus.New(membus.Config{Partitions: 1})}
	found := map[string]*replay.Line{}
	cfg := offline.Config{Bundle: b, Engines: engines, Records: func(offset uint64, ev *schema.Event) {
		kept := *ev
		kept.ID = fmt.Sprint(offset)
		if ev.Kind == schema.KindCall {
			kept.ID = ev.ID // resolutions name it
		}
		if at := log.append(&kept); at != offset {
			t.Errorf("record %d is at %d in the log", offset, at)
		}
	}}
	if _, err := replay.Events(cfg, events(t, given...), func(l *replay.Line) error { found[l.Call] = l; return nil }); err != nil {
		t.Fatal(err)
	}
	for call, l := range found {
		var got []string
		for i := range l.Clauses {
			got = append(got, said(l.Clauses[i].Evidence)...)
		}
		if !slices.Equal(got, want[call]) {
			t.Errorf("%s rests on %q, want %q", call, got, want[call])
		}
	}
	compared := 0
	_, cmp, err := replay.Log(context.Background(), replay.LogConfig{Source: log.log, Bundle: b, Engines: engines, Rules: protocol.DefaultRules()},
		func(l *replay.Line) error {
			compared++
			if of := found[l.Call]; of == nil || !reflect.DeepEqual(of.Clauses, l.Clauses) {
				t.Errorf("%s: %+v of the log, %+v of the events", l.Call, l, of)
			}
			return nil
		})
	if err != nil || compared != len(given)-1 || len(cmp.Mismatches) > 0 {
		t.Errorf("%d calls of the log, %v, %v", compared, cmp.Mismatches, err)
	}
}

// TestEvidenceIsBounded: a firing for each of many drafts names the evidence of the first ones.
func TestEvidenceIsBounded(t *testing.T) {
	b, found := policy.LoadFS(fstest.MapFS{"secret.txt": {Data: []byte("kestrel\n")}, "policy.yaml": {Data: []byte(`policy: many
revision: 1
cues: {secret: secret.txt}
facts: {secret: [draft]}
typing:
  secret(d, text): {emits: secret(d), cues: secret, in: [text]}
tools:
  write:
    args: {drafts: [string], text: string}
    types: [{apply: 'secret(d, text)', each: d in drafts}]
clauses:
  C: {text: t, forbid: {semantic: 'secret(d)'}}
`)}})
	if found.HasErrors() {
		t.Fatalf("%+v", found)
	}
	engines, err := node.Engines(b)
	if err != nil {
		t.Fatal(err)
	}
	var drafts []string
	for i := range 100 {
		drafts = append(drafts, fmt.Sprintf(`"d%03d"`, i))
	}
	call := `"tool":"write","call":"w1","args":{"text":"kestrel, kestrel, kestrel","drafts":[` + strings.Join(drafts, ",") + `]}`
	_, err = replay.Events(offline.Config{Bundle: b, Engines: engines}, events(t, call), func(l *replay.Line) error {
		if n := len(l.Clauses[0].Bindings); n != 100 {
			t.Errorf("%d bindings", n)
		}
		if n := len(l.Clauses[0].Evidence); n < 16 || n > 64 {
			t.Errorf("%d lines of evidence, want some and at most 64", n)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestMissing: a line that is explained names the event that left open what a clause reads, once,
// over events as over their log; other lines do not.
func TestMissing(t *testing.T) {
	b := mail(t)
	engines, err := node.Engines(b)
	if err != nil {
		t.Fatal(err)
	}
	given := []string{
		`"tool":"fetch","call":"f1","args":{"d":"e"}`,
		`"tool":"fetch","call":"f1","result":{"lines":7}`,
		`"tool":"send","call":"s1","args":{"d":"e","who":"x"}`,
		`"tool":"send","call":"s2","args":{"d":"f","who":"x"}`,
	}
	log := &writer{t: t, log: membus.New(membus.Config{Partitions: 1})}
	cfg := offline.Config{Bundle: b, Engines: engines, Records: func(_ uint64, ev *schema.Event) { kept := *ev; log.append(&kept) }}
	said := map[string][]string{}
	tell := func(by string) func(*replay.Line) error {
		return func(l *replay.Line) error {
			for i := range l.Clauses {
				for _, g := range l.Clauses[i].Missing {
					said[by] = append(said[by], fmt.Sprintf("%s: %v at %s %s because %d", l.Call, g.Relations, g.Tool, g.Call, len(g.Why)))
				}
			}
			return nil
		}
	}
	if _, err := replay.Explain(cfg, events(t, given...), tell("events")); err != nil {
		t.Fatal(err)
	}
	cfg.Records = nil
	if _, err := replay.Events(cfg, events(t, given...), tell("none")); err != nil {
		t.Fatal(err)
	}
	if _, _, err := replay.Log(context.Background(), replay.LogConfig{
		Source: log.log, Bundle: b, Engines: engines, Rules: protocol.DefaultRules(), Missing: true,
	}, tell("log")); err != nil {
		t.Fatal(err)
	}
	want := []string{"s1: [secret] at fetch f1 because 1", "s2: [secret] at fetch f1 because 1"}
	if !slices.Equal(said["events"], want) || !slices.Equal(said["log"], want) || len(said["none"]) > 0 {
		t.Errorf("said %v, want %q of events and of the log, and nothing else", said, want)
	}
}
