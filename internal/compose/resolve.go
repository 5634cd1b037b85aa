package compose

import (
	"slices"
	"strings"

	"github.com/aspis-rv/aspis/internal/protocol"
	"github.com/aspis-rv/aspis/pkg/aspects"
	"github.com/aspis-rv/aspis/pkg/policy"
	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// ObserveMark is the flag on a resolution that permitted, in observe mode, what
// would have been refused.
const ObserveMark = "observe"

// Resolve turns a decision into the resolution that records it. The caller fills in
// the call, the attempt and the parts.
func Resolve(b *policy.Bundle, d *Decision, observe bool) *schema.Resolution {
	r := &schema.Resolution{
		Outcome: settledAs(d.Outcome), Reason: d.Reason, Clause: d.Clause, Detail: d.Detail,
		Value: d.Value, Completeness: d.Completeness, Flags: d.Flags, Missing: names(d.Missing),
	}
	switch d.Outcome {
	case verdict.Permit:
		return r
	case verdict.Escalate:
		// No approver can be asked yet, and nobody may be asked in vain.
		r.Outcome, r.Reason = schema.SettledRefuse, verdict.NoAnswer
		r.Detail = "the clause asks for a human decision and no approver is configured"
	case verdict.Redirect, verdict.Refuse:
	}
	r.Message = Message(b, d)
	if observe {
		r.Outcome = schema.SettledPermit
		r.Flags = append(r.Flags, ObserveMark)
	}
	return r
}

// Record is Resolve with the policy and the parts that were used filled in: all of a
// resolution that follows from the decision. The parts are sorted by aspect, in whatever
// order the verdicts are given.
func Record(b *policy.Bundle, d *Decision, verdicts []*schema.Verdict, observe bool) *schema.Resolution {
	r := Resolve(b, d, observe)
	r.Policy = b.Digest[:]
	for _, v := range verdicts {
		r.Parts = append(r.Parts, schema.PartRef{Aspect: v.Aspect, Hash: v.Hash(), Value: v.Value()})
	}
	slices.SortStableFunc(r.Parts, func(a, b schema.PartRef) int { return strings.Compare(a.Aspect, b.Aspect) })
	return r
}

func settledAs(o verdict.Outcome) schema.SettledAs {
	switch o {
	case verdict.Permit:
		return schema.SettledPermit
	case verdict.Redirect:
		return schema.SettledRedirect
	case verdict.Escalate:
		return schema.SettledEscalate
	case verdict.Refuse:
		return schema.SettledRefuse
	}
	return schema.SettledRefuse
}

func names(kinds []aspects.Kind) []string {
	var out []string
	for _, k := range kinds {
		out = append(out, string(k))
	}
	return out
}

// Message is what the agent is told about a refusal: as much as the deciding
// clause discloses, and never another principal's events.
func Message(b *policy.Bundle, d *Decision) string {
	if d.Clause == "" {
		return d.Detail
	}
	c := clauseOf(b, d.Clause)
	if c == nil {
		return ""
	}
	switch c.Disclose {
	case policy.DiscloseNone:
		return ""
	case policy.DiscloseClass:
		return "clause " + c.ID + unchecked(d.Reason)
	case policy.DiscloseFull:
		return c.ID + unchecked(d.Reason) + ": " + c.Text + bindings(d, c.ID)
	case policy.DiscloseHint:
		return c.ID + unchecked(d.Reason) + ": " + c.Text
	}
	return c.ID + unchecked(d.Reason) + ": " + c.Text
}

// unchecked says of a clause that was not found violated why it refuses all the same.
func unchecked(r verdict.Reason) string {
	switch r {
	case verdict.NoAnswer:
		return " could not be checked, an aspect did not answer"
	case verdict.Unknown:
		return " could not be checked, the evidence is incomplete"
	case verdict.Violation, verdict.Late, verdict.Invalid, verdict.Unmapped, verdict.Unrecorded, verdict.Busy, verdict.NotAdmitted:
	}
	return ""
}

func clauseOf(b *policy.Bundle, id string) *policy.Clause {
	for i := range b.Clauses {
		if b.Clauses[i].ID == id {
			return &b.Clauses[i]
		}
	}
	return nil
}

func bindings(d *Decision, id string) string {
	for i := range d.Clauses {
		if d.Clauses[i].ID != id || len(d.Clauses[i].Firings) == 0 {
			continue
		}
		f := &d.Clauses[i].Firings[0]
		var parts []string
		for k, col := range f.Columns {
			parts = append(parts, col+" = "+f.Values[k].String())
		}
		if len(parts) > 0 {
			return " (" + strings.Join(parts, ", ") + ")"
		}
	}
	return ""
}

// awaits lists the calls in flight whose results may still supply what every
// violated clause found missing: the call then waits instead of being refused
// (rule 14). It is empty when some violation cannot be cured by waiting.
func (j *Joiner) awaits(jn *join, d *Decision) []string {
	if d.Outcome != verdict.Refuse || d.Reason != verdict.Violation || d.Clause == "" || jn.effect.Distrusted {
		return nil
	}
	var awaits []string
	for i := range d.Clauses {
		c := &d.Clauses[i]
		if c.Shadow || c.Ruling.Outcome != verdict.Refuse {
			continue
		}
		pending := j.suppliers(jn, clauseOf(j.cfg.Bundle, c.ID))
		if len(pending) == 0 {
			return nil
		}
		awaits = append(awaits, pending...)
	}
	slices.Sort(awaits)
	return slices.Compact(awaits)
}

// mayHold reports whether the parts that are missing could turn a refusal into a
// hold: every violation that is proven could be cured by waiting, and the parts may
// lift whatever else refuses.
func (j *Joiner) mayHold(jn *join, d *Decision) bool {
	if d.Clause == "" || jn.effect.Distrusted {
		return false
	}
	for i := range d.Clauses {
		c := &d.Clauses[i]
		proven := !c.Shadow && c.Ruling.Outcome == verdict.Refuse && c.Ruling.Reason == verdict.Violation
		if proven && len(j.suppliers(jn, clauseOf(j.cfg.Bundle, c.ID))) == 0 {
			return false
		}
	}
	return true
}

// suppliers lists the calls in flight of the same session whose ok result adds a
// fact to a relation that a formula of the clause reads under a negation.
func (j *Joiner) suppliers(jn *join, c *policy.Clause) []string {
	var out []string
	j.part.Outstanding(jn.effect.Trace, func(call *protocol.Call) bool {
		if call.Session == jn.call.Session && call.Offset < jn.call.Offset && supplies(j.cfg.Bundle, c, call.Event.Tool) {
			out = append(out, call.CallID)
		}
		return true
	})
	return out
}

func supplies(b *policy.Bundle, c *policy.Clause, tool string) bool {
	for i := range c.Formulas {
		f := &c.Formulas[i]
		if f.Role != schema.RoleForbid {
			continue
		}
		for rel := range lifting(f.Checked) {
			if b.ResultSupplies(tool, rel) {
				return true
			}
		}
	}
	return false
}
