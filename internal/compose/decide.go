package compose

import (
	"slices"

	"github.com/aspis-rv/aspis/pkg/aspects"
	"github.com/aspis-rv/aspis/pkg/policy"
	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// Options are the parts of a decision that are configuration, not evidence.
type Options struct {
	// Blocking overrides the bundle's blocking set when not zero.
	Blocking verdict.BlockingSet
	// Off lists aspects that are switched off, and Guards how guards they own are read.
	Off    []aspects.Kind
	Guards verdict.OffReading
}

// Input is the evidence of one decision.
type Input struct {
	Bundle *policy.Bundle
	Typing policy.Typing
	// Verdicts holds the part verdicts received, at most one per aspect.
	Verdicts []*schema.Verdict
	// Distrusted is set when the principal broke the protocol's integrity.
	Distrusted bool
	Options
}

// Clause is what became of one clause.
type Clause struct {
	ID           string
	Value        verdict.Value
	Completeness verdict.Completeness
	Shadow       bool
	Ruling       verdict.Ruling
	Parts        map[aspects.Kind]verdict.Value
	Guards       []Guard
	Firings      []Firing
}

// Guard is the reading of one guard: T when its condition holds definitely, F when
// it definitely does not.
type Guard struct {
	ID    string
	Value verdict.Value
}

// Firing is one violation with the binding of the formula's free variables.
type Firing struct {
	Aspect  aspects.Kind
	Name    string
	Columns []string
	Values  []schema.Value
	Mark    verdict.Value
	Witness []uint64
	Paths   []schema.Path
	// Documents is set when the firing is about an object that a documenting tool brings
	// into being: it is flagged, not refused.
	Documents bool
}

// Decision is the composed outcome for one attempt.
type Decision struct {
	verdict.Ruling
	Value        verdict.Value
	Completeness verdict.Completeness
	// Clause is the id of the clause that decided; empty when none did.
	Clause string
	// Detail says what decided when no clause did.
	Detail string
	// Flags lists the clauses that flagged without refusing, in bundle order.
	Flags []string
	// Clauses lists every clause that has a value other than a sound T.
	Clauses []Clause
	// Missing lists the aspects that own a part of the bundle and did not answer.
	Missing []aspects.Kind
}

// Aspects lists the aspects whose verdicts a decision needs, in the order of
// aspects.Kinds: those that own some formula of the bundle. One that is switched off
// is needed only for its guards, and only when they are evaluated all the same.
func Aspects(b *policy.Bundle, o Options) []aspects.Kind {
	var out []aspects.Kind
	for _, k := range aspects.Kinds() {
		off := slices.Contains(o.Off, k)
		needs := func(f policy.Formula) bool {
			return f.Aspect == k && (!off || f.Role == schema.RoleGuard && o.Guards == verdict.LooseGuard)
		}
		if slices.ContainsFunc(b.Clauses, func(c policy.Clause) bool { return slices.ContainsFunc(c.Formulas, needs) }) {
			out = append(out, k)
		}
	}
	return out
}

// Decide composes the decision from what is there. Aspects that did not answer
// make the clauses they own unavailable; they are never passed over in silence.
func Decide(in *Input) Decision {
	d := Decision{Missing: missing(in)}
	d.admit(in)
	for i := range in.Bundle.Clauses {
		d.add(in, &in.Bundle.Clauses[i])
	}
	return d
}

// admit applies what refuses a call whatever the clauses say.
func (d *Decision) admit(in *Input) {
	switch {
	case in.Typing.Invalid != "":
		d.Ruling, d.Detail = verdict.Ruling{Outcome: verdict.Refuse, Reason: verdict.Invalid}, in.Typing.Invalid
	case in.Distrusted:
		d.Ruling = verdict.Ruling{Outcome: verdict.Refuse, Reason: verdict.Violation}
		d.Detail = "the principal posted a result for a call that was not permitted"
	case !in.Typing.Mapped:
		d.Ruling, d.Detail = unmapped(in.Bundle.Unmapped)
	}
}

func unmapped(rule policy.UnmappedRule) (verdict.Ruling, string) {
	const detail = "no entry of the policy covers this tool"
	switch rule {
	case policy.UnmappedPermit:
		return verdict.Ruling{}, ""
	case policy.UnmappedFlag:
		return verdict.Ruling{Flagged: true}, detail
	case policy.UnmappedEscalate:
		return verdict.Ruling{Outcome: verdict.Escalate, Reason: verdict.Unmapped}, detail
	case policy.UnmappedRefuse:
		return verdict.Ruling{Outcome: verdict.Refuse, Reason: verdict.Unmapped}, detail
	}
	return verdict.Ruling{Outcome: verdict.Refuse, Reason: verdict.Unmapped}, detail
}

func (d *Decision) add(in *Input, c *policy.Clause) {
	res := evaluate(in, c)
	if res.Value == verdict.T && res.Completeness == verdict.Sound {
		return
	}
	d.Clauses = append(d.Clauses, res)
	if c.Shadow {
		return
	}
	d.Value = verdict.Fuse(d.Value, res.Value)
	d.Completeness = verdict.Worse(d.Completeness, res.Completeness)
	if res.Ruling.Flagged {
		d.Flags = append(d.Flags, c.ID)
	}
	before := d.Ruling
	d.Ruling = verdict.Combine(d.Ruling, res.Ruling)
	if d.Outcome != before.Outcome || d.Reason != before.Reason {
		d.Clause, d.Detail = c.ID, ""
	}
}

func missing(in *Input) []aspects.Kind {
	var out []aspects.Kind
	for _, k := range Aspects(in.Bundle, in.Options) {
		if verdictOf(in, k) == nil {
			out = append(out, k)
		}
	}
	return out
}

func verdictOf(in *Input, k aspects.Kind) *schema.Verdict {
	for _, v := range in.Verdicts {
		if v.Aspect == string(k) {
			return v
		}
	}
	return nil
}

// Final reports whether every completion of the missing parts gives the outcome and
// reason of d (rule 8): nothing outweighs a refusal for a violation, and nothing
// can take a firing back whose guards are all known.
func (d *Decision) Final() bool {
	return len(d.Missing) == 0 || d.Outcome == verdict.Refuse && d.Reason == verdict.Violation
}
