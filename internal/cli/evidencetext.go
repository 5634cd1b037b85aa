package cli

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/aspis-rv/aspis/internal/replay"
	"github.com/aspis-rv/aspis/pkg/policy"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// evidenceText is why a typed fact holds, on one line: what it is, by what, and where that stood.
func evidenceText(l *replay.EvidenceLine) string {
	return fmt.Sprintf("%s (%s): %s%s", factText(&l.Of), l.Strength, reasonText(l), eventText(l))
}

// reasonText is what made the fact. What stood in a text is foreign, and always in quotes.
func reasonText(l *replay.EvidenceLine) string {
	switch l.Source {
	case policy.FromMarking:
		return "marking, " + show(l.Condition)
	case policy.FromCue:
		return fmt.Sprintf("cue %s of the list %s in %s, bytes %d to %d: %s",
			quoted(l.Cue), show(l.List), paramText(l), l.Span[0], l.Span[1], quoted(l.Excerpt))
	case policy.FromClassifier:
		text := fmt.Sprintf("classifier %s about %s, score %s", show(l.Classifier), paramText(l), strconv.FormatFloat(l.Score, 'g', -1, 64))
		if l.Label != "" {
			text += ", label " + quoted(l.Label)
		}
		if l.Version != "" {
			text += ", version " + quoted(l.Version)
		}
		return text
	}
	return string(l.Source)
}

func paramText(l *replay.EvidenceLine) string {
	if l.Item > 0 {
		return fmt.Sprintf("%s (item %d)", show(l.Param), l.Item)
	}
	return show(l.Param)
}

// eventText is the event whose text or marking it was.
func eventText(l *replay.EvidenceLine) string {
	text := fmt.Sprintf("; record %d", l.Record)
	if l.Tool != "" {
		text += ", " + show(l.Tool)
	}
	if l.Call != "" {
		text += " " + show(l.Call)
	}
	return text
}

// factText is a fact with its values as foreign strings.
func factText(f *schema.Fact) string {
	args := make([]string, len(f.Args))
	for i, v := range f.Args {
		if args[i] = v.String(); v.Kind == schema.KindString {
			args[i] = quoted(v.Str)
		}
	}
	return f.Name + "(" + strings.Join(args, ", ") + ")"
}

// evidenceOf is the first presumptive evidence of the clause that decided, or of the first clause
// where none did; nil without. `aspis explain` prints all of it, markings too.
func evidenceOf(l *replay.Line) *replay.EvidenceLine {
	for i := range l.Clauses {
		c := &l.Clauses[i]
		if c.ID != l.Clause && l.Clause != "" {
			continue
		}
		for k := range c.Evidence {
			if c.Evidence[k].Presumptive() {
				return &c.Evidence[k]
			}
		}
	}
	return nil
}

// missingText says which event left open what a clause reads, and why.
func missingText(g *replay.GapLine) string {
	var s strings.Builder
	what := "not known: %s, since"
	if g.Held {
		what = "not counted: %s of"
	}
	fmt.Fprintf(&s, "    "+what+" record %d", strings.Join(g.Relations, ", "), g.Record)
	if event := strings.TrimSpace(show(g.Tool) + " " + show(g.Call)); event != "" {
		fmt.Fprintf(&s, ", %s", event)
	}
	s.WriteString("\n")
	for _, why := range g.Why {
		fmt.Fprintf(&s, "      %s\n", showWhole(why))
	}
	return s.String()
}
