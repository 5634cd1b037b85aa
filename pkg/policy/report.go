package policy

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/aspis-rv/aspis/internal/diag"
	"github.com/aspis-rv/aspis/pkg/policy/internal/rewrite"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// Report is what `aspis check` says of a bundle.
type Report struct {
	OK bool `json:"ok"`
	// Summary is Bundle.String; empty for a bundle that does not load.
	Summary string         `json:"summary,omitempty"`
	Clauses []ClauseReport `json:"clauses,omitempty"`
	// Exceptions lists what the bundle accepts and should not be overlooked.
	Exceptions  []string  `json:"exceptions,omitempty"`
	Diagnostics diag.List `json:"diagnostics"`

	// Bundle is nil for a bundle that does not load.
	Bundle *Bundle `json:"-"`
	// Sources holds the texts that the diagnostics speak of.
	Sources diag.Sources `json:"-"`
}

// ClauseReport is what a report says of one clause.
type ClauseReport struct {
	ID   string `json:"id"`
	Text string `json:"text"`
	// JudgedOn lists, sorted, the facts that an event must bring for the clause to be
	// able to fire on it, and the changes of the world that it must make ("a change of
	// reaches"); empty when it is judged on every event.
	JudgedOn []string `json:"judged_on"`
	// Discharged lists, sorted, the facts that can keep the clause from firing.
	Discharged []string `json:"discharged_by,omitempty"`
}

// CheckOptions says what else to look at. The zero value looks at the bundle alone.
type CheckOptions struct {
	// Tools names a file with the tools of a deployment: the answer of an MCP server
	// to tools/list, or OpenAI tool schemas. The report then also says which tools no
	// entry covers, which have the same schema and different effects, and where
	// arguments differ.
	Tools string
}

// Check loads the bundle in a directory and reports on it. The error is not nil
// only when the directory or the file of tools cannot be read at all.
func Check(dir string, opts CheckOptions) (*Report, error) {
	if _, err := os.Stat(dir); err != nil {
		return nil, fmt.Errorf("policy: %w", err)
	}
	b, found := Load(dir)
	r := &Report{Bundle: b, Diagnostics: found, Sources: Sources(dir, found)}
	if b != nil {
		r.Summary, r.Clauses, r.Exceptions = b.String(), b.clauseReports(), b.exceptions()
		maps.Copy(r.Sources, b.sources)
	}
	if opts.Tools != "" {
		data, err := os.ReadFile(opts.Tools)
		if err != nil {
			return nil, fmt.Errorf("policy: %w", err)
		}
		r.Sources[opts.Tools] = string(data)
		r.Diagnostics = append(r.Diagnostics, CompareTools(b, opts.Tools, data)...).Sorted()
	}
	r.OK = !r.Diagnostics.HasErrors()
	return r, nil
}

// Sources reads the files of the bundle in a directory that diagnostics name, so
// that found.Render(Sources(dir, found)) shows the lines they speak of. What cannot
// be read is left out.
func Sources(dir string, found diag.List) diag.Sources {
	out := diag.Sources{}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return out
	}
	defer func() { _ = root.Close() }() // read only: nothing is lost
	for _, d := range found {
		if _, done := out[d.File]; done {
			continue
		}
		if data, err := root.ReadFile(d.File); err == nil && len(data) <= MaxFile {
			out[d.File] = string(data)
		}
	}
	return out
}

func (b *Bundle) clauseReports() []ClauseReport {
	out := make([]ClauseReport, 0, len(b.Clauses))
	for i := range b.Clauses {
		c := &b.Clauses[i]
		r := ClauseReport{ID: c.ID, Text: c.Text, JudgedOn: []string{}}
		always := false
		for _, f := range c.Formulas {
			if f.Role != schema.RoleForbid {
				continue
			}
			always = always || f.Checked.JudgedOn() == ""
			r.JudgedOn = append(r.JudgedOn, f.Checked.Anchors...)
			if change := f.Checked.Change(); change != "" {
				r.JudgedOn = append(r.JudgedOn, change)
			}
			r.Discharged = slices.AppendSeq(r.Discharged, maps.Keys(rewrite.Negated(rewrite.After(f.Checked.Source))))
		}
		r.JudgedOn, r.Discharged = unique(r.JudgedOn), unique(r.Discharged)
		if always {
			r.JudgedOn = []string{}
		}
		out = append(out, r)
	}
	return out
}

func unique(s []string) []string {
	slices.Sort(s)
	return slices.Compact(s)
}

// exceptions lists what the bundle accepts against the usual rule.
func (b *Bundle) exceptions() []string {
	var out []string
	if b.SelfAuthority != "" {
		out = append(out, "self-authority is accepted (observe mode and evaluation only): "+b.SelfAuthority)
	}
	for i := range b.Clauses {
		if b.Clauses[i].Shadow {
			out = append(out, "the clause "+b.Clauses[i].ID+" is in shadow mode")
		}
		if b.Clauses[i].FlagIncomplete {
			out = append(out, "the clause "+b.Clauses[i].ID+" permits on missing evidence")
		}
	}
	return out
}

// Text writes the report for people: the summary, what each clause is judged on,
// the exceptions, and the diagnostics with their lines.
func (r *Report) Text() string {
	var s strings.Builder
	if r.Summary != "" {
		s.WriteString(r.Summary + "\n")
	}
	for _, c := range r.Clauses {
		on := "every event"
		if len(c.JudgedOn) > 0 {
			on = list(c.JudgedOn)
		}
		fmt.Fprintf(&s, "%s judged on: %s", c.ID, on)
		if len(c.Discharged) > 0 {
			fmt.Fprintf(&s, "; discharged by: %s", list(c.Discharged))
		}
		s.WriteByte('\n')
	}
	for _, e := range r.Exceptions {
		s.WriteString("note: " + e + "\n")
	}
	s.WriteString(r.Diagnostics.Render(r.Sources))
	return s.String()
}

func list(names []string) string { return strings.Join(names, ", ") }

// toolNames lists the tools with entries, sorted.
func (b *Bundle) toolNames() []string { return slices.Sorted(maps.Keys(b.typing.entries)) }
