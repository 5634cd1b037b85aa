package semantic_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/aspis-rv/aspis/internal/node"
	"github.com/aspis-rv/aspis/internal/offline"
	"github.com/aspis-rv/aspis/pkg/aspects"
	"github.com/aspis-rv/aspis/pkg/policy"
	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

const (
	page   = "../../../docs/semantic.md"
	bundle = "../../../docs/examples/texts"
)

// known is what a row of the tables says is known: the first column, in its words.
type known struct {
	tool, class, kind, cue, label, marking string
	row                                    string
}

func (k *known) has(words string) bool { return strings.Contains(k.row, words) }

// events are a call about which that is known and nothing else, and the one that rests on it.
func (k *known) events(t *testing.T, b *policy.Bundle) []*schema.Event {
	t.Helper()
	if k.tool == "post" {
		return []*schema.Event{k.event(t, b)}
	}
	return []*schema.Event{k.event(t, b), record(t, "agent", "call", "publish", map[string]string{"draft": "d1"})}
}

func (k *known) event(t *testing.T, b *policy.Bundle) *schema.Event {
	t.Helper()
	args := map[string]string{"draft": "d1", "text": "nothing of note", "marking": ""}
	if k.has("a cue") {
		args["text"] = "note: " + k.cue
	}
	if k.has("a long text") {
		args["text"] += strings.Repeat(" and so on", 1000) + " " + k.cue
	}
	if k.has("a marking") {
		args["marking"] = k.marking
	}
	ev := record(t, k.class, k.kind, k.tool, args)
	for _, q := range b.Questions(nil, ev) {
		if a := k.answer(&q); a != nil {
			ev.Answers = append(ev.Answers, *a)
		}
	}
	return ev
}

func record(t *testing.T, class, kind, tool string, args map[string]string) *schema.Event {
	t.Helper()
	text, err := json.Marshal(map[string]any{
		"session": "s1", "actor": map[string]string{"id": class, "class": class}, "kind": kind, "tool": tool, "args": args,
	})
	if err != nil {
		t.Fatal(err)
	}
	ev, err := schema.ParseEventJSON(text)
	if err != nil {
		t.Fatal(err)
	}
	return ev
}

func (k *known) answer(q *policy.Question) *schema.Answer {
	a := &schema.Answer{Name: q.Classifier, Version: "1", Label: k.label, Of: q.Of()}
	switch {
	case k.has("no answer"):
		a.Missing = true
	case k.has("about another text"):
		a.Of, a.Score = (&policy.Question{Text: "another"}).Of(), 1
	case k.has("another label"):
		a.Label, a.Score = "weather", 1
	case k.has("at the threshold"):
		a.Score = 0.8
	case k.has("below the threshold"):
		a.Score = 0.79
	}
	return a
}

// TestEvidenceTables runs every row of the two tables of docs/semantic.md through typing,
// monitor and composition, under both blocking sets.
func TestEvidenceTables(t *testing.T) {
	b, found := policy.Load(bundle)
	if len(found) > 0 {
		t.Fatalf("%+v", found)
	}
	engine, err := node.Engine(b, aspects.Semantic)
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for _, table := range []struct {
		head string
		known
	}{
		{"| what is known of the draft |", known{tool: "post", class: "agent", kind: "call", cue: "project Kestrel", label: "secret", marking: "SECRET"}},
		{"| what is known of the approval |", known{tool: "review", class: "user", kind: "grant", cue: "approved by J. Doe", marking: "APPROVED"}},
	} {
		for _, cells := range tableOf(t, table.head) {
			rows++
			for i, blocking := range []verdict.BlockingSet{verdict.DefaultSet, verdict.PrecautionarySet} {
				k := table.known
				k.row = cells[0]
				cfg := offline.Config{Bundle: b, Engines: []aspects.Engine{engine}}
				cfg.Blocking = blocking
				decisions, err := offline.Run(cfg, k.events(t, b))
				if err != nil {
					t.Fatal(err)
				}
				if got := word(decisions[len(decisions)-1]); got != cells[1+i] {
					t.Errorf("%s, %q under %s: %s, the page says %s", k.tool, k.row, blocking, got, cells[1+i])
				}
			}
		}
	}
	if rows < 15 {
		t.Errorf("only %d rows were found", rows)
	}
}

func word(d *offline.Decision) string {
	switch {
	case !d.Permitted():
		return fmt.Sprintf("refuse %s %s", d.Reason, d.Value)
	case d.Flagged:
		return "flag " + d.Value.String()
	}
	return "permit " + d.Value.String()
}

// tableOf returns the cells of the table that begins with a head.
func tableOf(t *testing.T, head string) [][]string {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, there := strings.Cut(string(text), "\n"+head)
	if !there {
		t.Fatalf("%s has no table with the head %q", page, head)
	}
	var out [][]string
	for line := range strings.Lines(rest) {
		if len(out) == 0 && !strings.HasPrefix(line, "|") {
			continue
		}
		if !strings.HasPrefix(line, "|") {
			break
		}
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		if !strings.HasPrefix(cells[0], "---") && len(cells) == 3 {
			out = append(out, cells)
		}
	}
	return out
}
