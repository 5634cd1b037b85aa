package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/aspis-rv/aspis/internal/compose"
	"github.com/aspis-rv/aspis/internal/corpus/jsonl"
	"github.com/aspis-rv/aspis/internal/offline"
	"github.com/aspis-rv/aspis/internal/replay"
	"github.com/aspis-rv/aspis/internal/world"
	"github.com/aspis-rv/aspis/internal/world/render"
	"github.com/aspis-rv/aspis/pkg/policy"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

func newExplain(e *env) *cobra.Command {
	var dir, log, events string
	cmd := &cobra.Command{
		Use: "explain CALL_ID --policy DIR (--log DIR|URL | --events FILE)", Args: cobra.ExactArgs(1),
		Short: "Say why a call was permitted or refused: clause, bindings, evidence, witness, and what was missing",
		RunE: func(cmd *cobra.Command, args []string) error {
			if (events == "") == (log == "") {
				return hint(errors.New("give either --events or --log"), "aspis explain CALL_ID --policy DIR --log DIR")
			}
			b, err := e.loadBundle(dir)
			if err != nil {
				return err
			}
			engines, err := e.engines(b)
			if err != nil {
				return err
			}
			var found []*replay.Line
			var cmp replay.Comparison
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
				if _, err := replay.Explain(offline.Config{Bundle: b, Engines: engines}, jsonl.Events(in, name), keep); err != nil {
					return err
				}
			} else {
				src, closeLog, err := openLog(cmd.Context(), log)
				if err != nil {
					return err
				}
				defer closeLog()
				if _, cmp, err = replay.Log(cmd.Context(), replay.LogConfig{Source: src, Bundle: b, Engines: engines, Rules: rules(), Missing: true}, keep); err != nil {
					return err
				}
			}
			return e.explain(b, args[0], found, &cmp)
		},
	}
	fs := cmd.Flags()
	policyFlag(cmd, &dir)
	fs.StringVar(&log, "log", "", "data directory of a stopped deployment, or URL of a NATS server")
	fs.StringVar(&events, "events", "", "file of canonical events; - is standard input")
	return cmd
}

func (e *env) explain(b *policy.Bundle, id string, found []*replay.Line, cmp *replay.Comparison) error {
	if len(found) == 0 {
		fmt.Fprintf(e.err, "aspis: no call with the id %s was decided\nhint: aspis replay lists the calls with their ids\n", show(id))
		return errNo
	}
	var answer error
	for _, l := range found {
		if l.Policy != "" {
			e.refuseToExplain(b, l, cmp)
			answer = errNo
			continue
		}
		if l.Differs != "" {
			fmt.Fprintf(e.err, "aspis: %s on %s, computed again, differs from the log's: what follows need not be why it was decided\n", l.Differs, show(l.Call))
			answer = errNo
		}
		var err error
		if e.json {
			err = json.NewEncoder(e.out).Encode(l)
		} else {
			_, err = fmt.Fprint(e.out, explanation(b, l))
		}
		if err != nil {
			return err
		}
	}
	return answer
}

// refuseToExplain says that another policy decided: an explanation from the given one
// would be invented.
func (e *env) refuseToExplain(b *policy.Bundle, l *replay.Line, cmp *replay.Comparison) {
	name := "a policy"
	for i := range cmp.Others {
		if o := &cmp.Others[i]; o.Digest == l.Policy && o.Name != "" {
			name = fmt.Sprintf("%s revision %d", o.Name, o.Revision)
		}
	}
	given := replay.RefOf(b)
	fmt.Fprintf(e.err, "aspis: the call %s was decided by %s with the digest %s; the policy given is %s revision %d with the digest %s and cannot explain it\n",
		show(l.Call), name, l.Policy, given.Name, given.Revision, given.Digest)
	fmt.Fprintf(e.err, "hint: name with --policy the bundle that decided, as it was then\n")
}

// explanation is the text of one decision.
func explanation(b *policy.Bundle, l *replay.Line) string {
	var s strings.Builder
	fmt.Fprintf(&s, "%s of %s in session %s: %s\n", show(l.Call), show(l.Tool), show(l.Session), decisionText(l))
	fmt.Fprintf(&s, "  policy %s revision %d, time point %d\n", b.Name, b.Revision, l.TP)
	if l.Reason != "" {
		fmt.Fprintf(&s, "  reason class: %s\n", l.Reason)
	}
	if l.Detail != "" {
		fmt.Fprintf(&s, "  detail: %s\n", show(l.Detail))
	}
	if len(l.Flags) > 0 {
		fmt.Fprintf(&s, "  flags: %s\n", strings.Join(l.Flags, ", "))
	}
	observed := slices.Contains(l.Flags, compose.ObserveMark)
	if observed {
		s.WriteString("  observed only: the deployment refused nothing; enforced, this call would not have been permitted\n")
	}
	for i := range l.Clauses {
		clauseText(&s, b, &l.Clauses[i])
	}
	if len(l.Clauses) == 0 {
		fmt.Fprintf(&s, "  %s\n", withoutClause(l, observed))
	}
	return s.String()
}

// withoutClause says what a decision rests on that no clause speaks about.
func withoutClause(l *replay.Line, observed bool) string {
	if l.Decision == verdict.Permit.String() && !observed && l.Reason == "" {
		return "no clause is violated, and the evidence is complete"
	}
	switch l.Reason {
	case verdict.Unmapped:
		return "no entry or class of the policy covers the tool, and the policy says what happens then (unmapped)"
	case verdict.Invalid:
		return "the call itself is not valid: its arguments do not fit the policy's entry, or the record breaks a rule of the log"
	case verdict.Late:
		return "its deadline passed before a decision stood"
	case verdict.Unknown:
		return "the evidence is incomplete, and no clause permits on incomplete evidence"
	case verdict.NoAnswer:
		return "a part of the deployment did not answer"
	case verdict.Unrecorded:
		return "the decision could not be written to the log"
	case verdict.Busy:
		return "a limit was reached"
	case verdict.Violation, verdict.NotAdmitted:
	}
	return "no clause's part of the decision is known"
}

// undeclared lists the vertices of a path that a policy does not declare.
func undeclared(b *policy.Bundle, path []string) []string {
	if b.World == nil {
		return nil
	}
	var out []string
	for _, name := range path {
		declares := func(v world.VertexSpec) bool { return v.Name == name }
		if !slices.ContainsFunc(b.World.Vertices, declares) && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
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
	for i, m := range c.Bindings {
		text, err := json.Marshal(m)
		if err == nil {
			fmt.Fprintf(s, "    binding %s\n", text)
		}
		for _, p := range c.Paths {
			if p.Binding == i {
				fmt.Fprintf(s, "      path: %s, of %s\n", render.Walk(p.Path, p.Distance), showWhole(p.Of))
				for _, name := range undeclared(b, p.Path) {
					fmt.Fprintf(s, "      the policy declares no vertex %s: while unknown, it is read in the unsafe sense\n", render.Name(name))
				}
			}
		}
	}
	for i := range c.Evidence {
		fmt.Fprintf(s, "    evidence: %s\n", evidenceText(&c.Evidence[i]))
	}
	if c.Completeness != "" {
		fmt.Fprintf(s, "    the evidence is %s\n", c.Completeness)
	}
	for i := range c.Missing {
		s.WriteString(missingText(&c.Missing[i]))
	}
	if len(c.Witness) > 0 {
		fmt.Fprintf(s, "    witness: records at %v\n", c.Witness)
	}
	for _, g := range c.Guards {
		fmt.Fprintf(s, "    guard %s: %s\n", g.ID, g.Value)
	}
}
