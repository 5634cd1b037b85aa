// Package replay runs events again, from a file or from the retained log, and says
// for every call what was decided and why. Over a log it also computes every part
// verdict and every decision anew and compares them with what the log holds, byte for
// byte.
package replay

import (
	"github.com/aspis-rv/aspis/internal/compose"
	"github.com/aspis-rv/aspis/pkg/aspects"
	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// Line is the outcome of one call.
type Line struct {
	Event        string         `json:"event"`
	Session      string         `json:"session,omitempty"`
	Call         string         `json:"call,omitempty"`
	Trace        string         `json:"trace"`
	TP           uint64         `json:"tp"`
	TS           int64          `json:"ts"`
	Tool         string         `json:"tool"`
	Decision     string         `json:"decision"`
	Reason       verdict.Reason `json:"reason,omitempty"`
	Clause       string         `json:"clause,omitempty"`
	Value        string         `json:"value"`
	Completeness string         `json:"completeness"`
	Flags        []string       `json:"flags,omitempty"`
	Detail       string         `json:"detail,omitempty"`
	Clauses      []ClauseLine   `json:"clauses,omitempty"`
	Aspects      []string       `json:"aspects,omitempty"` // whose value is the fused one
	Position     string         `json:"position,omitempty"`
	Outcome      Outcome        `json:"outcome,omitempty"` // of a permitted call of a log
	// Policy is the digest, in hex, of the policy that decided, where that is not the
	// given one. Clauses are left out then: they cannot be computed.
	Policy string `json:"policy,omitempty"`
	// Differs says what was computed anew and came out different from the log.
	Differs string `json:"differs,omitempty"`
}

// Outcome is what became of a permitted call.
type Outcome string

// The outcomes of permitted calls.
const (
	OutcomePending   Outcome = "pending"   // neither a result nor an end of the wait for one is in the log
	OutcomeDone      Outcome = "done"      // a result came
	OutcomeError     Outcome = "error"     // a result came that says the tool failed
	OutcomeWithdrawn Outcome = "withdrawn" // the permit was never delivered: the tool did not run
	OutcomeUnknown   Outcome = "unknown"   // no result came in time: the tool may have run
)

// ClauseLine is what one clause said.
type ClauseLine struct {
	ID       string                  `json:"id"`
	Value    string                  `json:"value"`
	Mode     string                  `json:"mode"`
	Parts    map[aspects.Kind]string `json:"parts,omitempty"`
	Guards   []GuardLine             `json:"guards,omitempty"`
	Bindings []map[string]any        `json:"bindings,omitempty"`
	Witness  []uint64                `json:"witness,omitempty"`
	Paths    []PathLine              `json:"paths,omitempty"`
	Evidence []EvidenceLine          `json:"evidence,omitempty"`
	// Completeness is that of the clause's evidence, unless it is sound; Missing are the events
	// that made it so, and those of which facts did not count, where they are looked for and known.
	Completeness string    `json:"completeness,omitempty"`
	Missing      []GapLine `json:"missing,omitempty"`
}

// PathLine is a walk through the world on which a binding rests.
type PathLine struct {
	Binding  int      `json:"binding"` // index into the clause's bindings
	Of       string   `json:"of"`      // the sub-formula that it makes true
	Path     []string `json:"path"`    // the vertices in order
	Distance int64    `json:"distance"`
}

// GuardLine is the value of one guard.
type GuardLine struct {
	ID    string `json:"id"`
	Value string `json:"value"`
}

// Summary counts the calls of a replay.
type Summary struct {
	Calls     int            `json:"calls"`
	Permitted int            `json:"permitted"`           // also those withdrawn
	Withdrawn int            `json:"withdrawn,omitempty"` // permits that were never delivered
	Refused   int            `json:"refused"`
	Escalated int            `json:"escalated"`
	Flagged   int            `json:"flagged"`
	ByClause  map[string]int `json:"by_clause"`
}

// Add counts one line.
func (s *Summary) Add(l *Line) {
	s.Calls++
	switch l.Decision {
	case verdict.Permit.String():
		s.Permitted++
		if l.Outcome == OutcomeWithdrawn {
			s.Withdrawn++
		}
	case verdict.Escalate.String():
		s.Escalated++
	default:
		s.Refused++
	}
	if len(l.Flags) > 0 {
		s.Flagged++
	}
	if l.Clause != "" {
		if s.ByClause == nil {
			s.ByClause = map[string]int{}
		}
		s.ByClause[l.Clause]++
	}
}

// describe fills in what a decision says, and on what evidence of typing it rests.
func (l *Line) describe(d *compose.Decision, r *schema.Resolution, w *Witnesses) {
	l.Decision, l.Reason, l.Clause = outcome(r.Outcome), r.Reason, r.Clause
	l.Value, l.Completeness, l.Flags, l.Detail = r.Value.String(), r.Completeness.String(), r.Flags, r.Detail
	seen := map[aspects.Kind]bool{}
	for i := range d.Clauses {
		c := &d.Clauses[i]
		line := clauseLine(c)
		line.Evidence = w.Evidence(c)
		if w.gaps != nil {
			line.Missing = w.gaps.of(l.Session, c)
		}
		l.Clauses = append(l.Clauses, line)
		for k, v := range c.Parts {
			if v == d.Value && v >= verdict.Tp && !c.Shadow {
				seen[k] = true
			}
		}
	}
	if w.gaps != nil && r.Outcome != schema.SettledPermit {
		w.gaps.drop(l.Session, l.Call)
	}
	for _, k := range aspects.Kinds() {
		if seen[k] {
			l.Aspects = append(l.Aspects, string(k))
		}
	}
}

func outcome(s schema.SettledAs) string {
	switch s {
	case schema.SettledPermit:
		return verdict.Permit.String()
	case schema.SettledRedirect:
		return verdict.Redirect.String()
	case schema.SettledEscalate:
		return verdict.Escalate.String()
	case schema.SettledRefuse, schema.SettledHold, schema.SettledExpired:
		return verdict.Refuse.String()
	}
	return verdict.Refuse.String()
}

func clauseLine(c *compose.Clause) ClauseLine {
	out := ClauseLine{ID: c.ID, Value: c.Value.String(), Mode: "enforce"}
	if c.Shadow {
		out.Mode = "shadow"
	}
	if c.Completeness != verdict.Sound {
		out.Completeness = c.Completeness.String()
	}
	for k, v := range c.Parts {
		if out.Parts == nil {
			out.Parts = map[aspects.Kind]string{}
		}
		out.Parts[k] = v.String()
	}
	for _, g := range c.Guards {
		out.Guards = append(out.Guards, GuardLine{ID: g.ID, Value: g.Value.String()})
	}
	for i := range c.Firings {
		out.Bindings = append(out.Bindings, binding(&c.Firings[i]))
		if i == 0 {
			out.Witness = c.Firings[i].Witness
		}
		for _, p := range c.Firings[i].Paths {
			out.Paths = append(out.Paths, PathLine{Binding: i, Of: p.Of, Path: p.Vertices, Distance: p.Distance})
		}
	}
	return out
}

func binding(f *compose.Firing) map[string]any {
	m := make(map[string]any, len(f.Columns))
	for i, c := range f.Columns {
		switch v := f.Values[i]; v.Kind {
		case schema.KindInt:
			m[c] = v.Int
		case schema.KindFloat:
			m[c] = v.Float
		case schema.KindString:
			m[c] = v.Str
		}
	}
	return m
}
