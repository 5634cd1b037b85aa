package policy

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/aspis-rv/aspis/internal/diag"
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
	// able to fire on it; empty when it is judged on every event.
	JudgedOn []string `json:"judged_on"`
	// Discharged lists, sorted, the facts that can keep the clause from firing.
	Discharged []string `json:"discharged_by,omitempty"`
}

// Check loads the bundle in a directory and reports on it. The error is not nil
// only when the directory cannot be read at all.
func Check(dir string) (*Report, error) { return CheckTools(dir, "") }

// CheckTools is Check with the tools of a deployment: a file with the answer of an
// MCP server to tools/list, or with OpenAI tool schemas. An empty name stands for
// no file. The report then also says which tools no entry covers, which have the
// same schema and different effects, and where arguments differ.
func CheckTools(dir, toolsFile string) (*Report, error) {
	if _, err := os.Stat(dir); err != nil {
		return nil, fmt.Errorf("policy: %w", err)
	}
	b, found := Load(dir)
	r := &Report{Bundle: b, Diagnostics: found, Sources: readSources(dir, found)}
	if b != nil {
		r.Summary, r.Clauses, r.Exceptions = b.String(), b.clauseReports(), b.exceptions()
		maps.Copy(r.Sources, b.sources)
	}
	if toolsFile != "" {
		data, err := os.ReadFile(toolsFile)
		if err != nil {
			return nil, fmt.Errorf("policy: %w", err)
		}
		r.Sources[toolsFile] = string(data)
		r.Diagnostics = append(r.Diagnostics, CompareTools(b, toolsFile, data)...).Sorted()
	}
	r.OK = !r.Diagnostics.HasErrors()
	return r, nil
}

// readSources reads the files of a bundle that diagnostics name, for rendering.
func readSources(dir string, found diag.List) diag.Sources {
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
	discharging := b.discharging()
	out := make([]ClauseReport, 0, len(b.Clauses))
	for i := range b.Clauses {
		c := &b.Clauses[i]
		r := ClauseReport{ID: c.ID, Text: c.Text, JudgedOn: []string{}}
		always := false
		for _, f := range c.Formulas {
			if f.Role != schema.RoleForbid {
				continue
			}
			always = always || len(f.Checked.Anchors) == 0
			r.JudgedOn = append(r.JudgedOn, f.Checked.Anchors...)
			for _, rel := range f.Checked.Relations {
				if discharging[rel] && !slices.Contains(f.Checked.Anchors, rel) {
					r.Discharged = append(r.Discharged, rel)
				}
			}
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

// String writes the report for people, without the diagnostics.
func (r *Report) String() string {
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
	return s.String()
}

func list(names []string) string { return strings.Join(names, ", ") }

// toolNames lists the tools with entries, sorted.
func (b *Bundle) toolNames() []string { return slices.Sorted(maps.Keys(b.typing.entries)) }
