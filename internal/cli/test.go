package cli

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/aspis-rv/aspis/internal/compose"
	"github.com/aspis-rv/aspis/internal/offline"
	"github.com/aspis-rv/aspis/internal/replay"
	"github.com/aspis-rv/aspis/pkg/policy"
	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// testLine is the outcome of one policy test.
type testLine struct {
	Name string   `json:"name"`
	OK   bool     `json:"ok"`
	Got  []string `json:"got"`
	Want []string `json:"want"`

	// Evidence says, of a test that failed, on what typed facts the unexpected decisions rest.
	Evidence []testEvidence `json:"evidence,omitempty"`

	text []string // what is wrong, a line for each event
}

// testEvidence is evidence of one clause.
type testEvidence struct {
	Clause string `json:"clause"`
	replay.EvidenceLine
}

// testReport is the output of `aspis test --json`.
type testReport struct {
	Passed int        `json:"passed"`
	Failed int        `json:"failed"`
	Tests  []testLine `json:"tests"`
}

func newTest(e *env) *cobra.Command {
	return &cobra.Command{
		Use: "test DIR…", Short: "Run the tests of policy bundles", Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			report := testReport{Tests: []testLine{}}
			for _, dir := range args {
				b, err := e.loadBundle(dir)
				if err != nil {
					return err
				}
				if err := e.runTests(&report, b); err != nil {
					return err
				}
			}
			return e.finishTests(&report)
		},
	}
}

func (e *env) runTests(report *testReport, b *policy.Bundle) error {
	engines, err := e.engines(b)
	if err != nil {
		return err
	}
	for i := range b.Tests {
		t := &b.Tests[i]
		line, err := runTest(t, offline.Config{Bundle: b, Engines: engines})
		if err != nil {
			return fmt.Errorf("%s:%d: test %q: %w", t.File, t.Pos.Line, t.Name, err)
		}
		if line.OK {
			report.Passed++
		} else {
			report.Failed++
		}
		report.Tests = append(report.Tests, line)
	}
	return nil
}

func runTest(t *policy.Test, cfg offline.Config) (testLine, error) {
	line := testLine{Name: t.Name, OK: true}
	witnesses := replay.NewWitnesses(cfg.Bundle)
	cfg.Records = witnesses.Keeping(cfg)
	decisions, err := offline.Run(cfg, t.Events)
	if err != nil {
		return line, err
	}
	byIndex := map[int]*offline.Decision{}
	for _, d := range decisions {
		byIndex[d.Index] = d
	}
	for _, x := range t.Expect {
		d := byIndex[x.At]
		if d == nil {
			line.OK = false
			line.Want = append(line.Want, fmt.Sprintf("%d: a call", x.At))
			line.Got = append(line.Got, fmt.Sprintf("%d: not a call that was decided", x.At))
			line.text = append(line.text, fmt.Sprintf("at %d: no call that was decided", x.At))
			continue
		}
		out := outcomeOf(d)
		misses := x.Match(out)
		if len(misses) > 0 {
			line.text = append(line.text, fmt.Sprintf("at %d: %s: got %s", x.At, strings.Join(misses, "; "), outcomeText(out)))
			line.rest(witnesses, d)
		}
		for _, miss := range misses {
			line.OK = false
			line.Want = append(line.Want, fmt.Sprintf("%d: %s", x.At, miss))
			line.Got = append(line.Got, fmt.Sprintf("%d: %s", x.At, outcomeText(out)))
		}
	}
	return line, nil
}

// rest says on what evidence of typing a decision rests that is not the expected one.
func (line *testLine) rest(w *replay.Witnesses, d *offline.Decision) {
	for i := range d.Clauses {
		c := &d.Clauses[i]
		for _, l := range w.Evidence(c) {
			line.text = append(line.text, fmt.Sprintf("  %s: %s", c.ID, evidenceText(&l)))
			line.Evidence = append(line.Evidence, testEvidence{Clause: c.ID, EvidenceLine: l})
		}
	}
}

// outcomeText is an outcome with what it rests on: the reason, and the clauses with a
// violation, possible or certain, or without all of their evidence.
func outcomeText(o policy.Outcome) string {
	parts := []string{o.Word()}
	if o.Reason != "" {
		parts[0] += " (" + string(o.Reason) + ")"
	}
	for i := range o.Clauses {
		c := &o.Clauses[i]
		switch {
		case c.Completeness != verdict.Sound:
			parts = append(parts, c.ID+" is "+c.Value.String()+" on "+c.Completeness.String()+" evidence")
		case c.Value != verdict.T:
			parts = append(parts, c.ID+" is "+c.Value.String())
		}
	}
	return strings.Join(parts, ", ")
}

// outcomeOf is what the policy decided, in the terms of an expectation: also an
// escalation, whether or not somebody is there to be asked.
func outcomeOf(d *offline.Decision) policy.Outcome {
	out := policy.Outcome{
		Decision: d.Outcome, Flagged: d.Flagged, Reason: d.Reason, Value: d.Value,
	}
	for i := range d.Clauses {
		c := &d.Clauses[i]
		out.Clauses = append(out.Clauses, policy.ClauseOutcome{ID: c.ID, Value: c.Value, Completeness: c.Completeness, Bindings: bindingsOf(c)})
	}
	return out
}

func bindingsOf(c *compose.Clause) []map[string]schema.Value {
	var out []map[string]schema.Value
	for i := range c.Firings {
		f := &c.Firings[i]
		m := map[string]schema.Value{}
		for k, col := range f.Columns {
			m[col] = f.Values[k]
		}
		out = append(out, m)
	}
	return out
}

func (e *env) finishTests(r *testReport) error {
	if e.json {
		if err := json.NewEncoder(e.out).Encode(r); err != nil {
			return err
		}
	} else {
		for _, t := range r.Tests {
			if t.OK {
				fmt.Fprintf(e.out, "ok    %s\n", t.Name)
				continue
			}
			fmt.Fprintf(e.out, "FAIL  %s\n      %s\n", t.Name, strings.Join(t.text, "\n      "))
		}
		fmt.Fprintf(e.out, "%d passed, %d failed\n", r.Passed, r.Failed)
	}
	if r.Failed > 0 {
		return errNo
	}
	return nil
}
