package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/aspis-rv/aspis/internal/corpus/jsonl"
	"github.com/aspis-rv/aspis/internal/node"
	"github.com/aspis-rv/aspis/internal/offline"
	"github.com/aspis-rv/aspis/internal/replay"
	"github.com/aspis-rv/aspis/pkg/policy"
)

func newExplain(e *env) *cobra.Command {
	var dir, log, events string
	cmd := &cobra.Command{
		Use: "explain CALL_ID --policy DIR (--log DIR|URL | --events FILE)", Args: cobra.ExactArgs(1),
		Short: "Say why a call was permitted or refused: clause, bindings, witness",
		RunE: func(cmd *cobra.Command, args []string) error {
			if (events == "") == (log == "") {
				return hint(errors.New("give either --events or --log"), "aspis explain CALL_ID --policy DIR --log DIR")
			}
			b, err := e.loadBundle(dir)
			if err != nil {
				return err
			}
			engines, err := node.Engines(b)
			if err != nil {
				return err
			}
			var found []*replay.Line
			keep := func(l *replay.Line) error {
				if l.Call == args[0] || l.Event == args[0] {
					found = append(found, l)
				}
				return nil
			}
			if events != "" {
				in, name, err := e.open(events)
				if err != nil {
					return err
				}
				defer in.Close() //nolint:errcheck // read only
				if _, err := replay.Events(offline.Config{Bundle: b, Engines: engines}, jsonl.Events(in, name), keep); err != nil {
					return err
				}
			} else {
				src, closeLog, err := openLog(cmd.Context(), log)
				if err != nil {
					return err
				}
				defer closeLog()
				if _, _, err := replay.Log(cmd.Context(), replay.LogConfig{Source: src, Bundle: b, Engines: engines, Rules: rules()}, keep); err != nil {
					return err
				}
			}
			return e.explain(b, args[0], found)
		},
	}
	fs := cmd.Flags()
	fs.StringVar(&dir, "policy", "", "directory of the policy bundle (required)")
	fs.StringVar(&log, "log", "", "data directory of a stopped `aspis up`, or URL of a NATS server")
	fs.StringVar(&events, "events", "", "file of canonical events; - is standard input")
	return cmd
}

func (e *env) explain(b *policy.Bundle, id string, found []*replay.Line) error {
	if len(found) == 0 {
		fmt.Fprintf(e.err, "aspis: no call with the id %s was decided\n", show(id))
		return errNo
	}
	for _, l := range found {
		if e.json {
			if err := json.NewEncoder(e.out).Encode(l); err != nil {
				return err
			}
			continue
		}
		fmt.Fprint(e.out, explanation(b, l))
	}
	return nil
}

// explanation is the text of one decision.
func explanation(b *policy.Bundle, l *replay.Line) string {
	var s strings.Builder
	fmt.Fprintf(&s, "%s of %s in session %s: %s\n", show(l.Call), show(l.Tool), show(l.Session), l.Decision)
	fmt.Fprintf(&s, "  policy %s revision %d, time point %d\n", b.Name, b.Revision, l.TP)
	if l.Reason != "" {
		fmt.Fprintf(&s, "  reason class: %s\n", l.Reason)
	}
	if l.Detail != "" {
		fmt.Fprintf(&s, "  detail: %s\n", show(l.Detail))
	}
	for i := range l.Clauses {
		clauseText(&s, b, &l.Clauses[i])
	}
	if len(l.Clauses) == 0 {
		s.WriteString("  no clause is violated, and the evidence is complete\n")
	}
	return s.String()
}

func clauseText(s *strings.Builder, b *policy.Bundle, c *replay.ClauseLine) {
	fmt.Fprintf(s, "  clause %s (%s): %s\n", c.ID, c.Mode, c.Value)
	for i := range b.Clauses {
		p := &b.Clauses[i]
		if p.ID != c.ID {
			continue
		}
		fmt.Fprintf(s, "    %s\n", p.Text)
		if p.Source != "" {
			fmt.Fprintf(s, "    source: %s\n", p.Source)
		}
		for k := range p.Formulas {
			f := &p.Formulas[k]
			fmt.Fprintf(s, "    %s:%d:%d %s\n", f.File, f.Line, f.Col, strings.TrimSpace(f.Text))
		}
	}
	for _, m := range c.Bindings {
		text, err := json.Marshal(m)
		if err == nil {
			fmt.Fprintf(s, "    binding %s\n", text)
		}
	}
	if len(c.Witness) > 0 {
		fmt.Fprintf(s, "    witness: records at %v\n", c.Witness)
	}
	for _, g := range c.Guards {
		fmt.Fprintf(s, "    guard %s: %s\n", g.ID, g.Value)
	}
}
