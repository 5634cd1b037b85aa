package compose

import (
	"strings"

	"github.com/aspis-rv/aspis/internal/lang/check"
	"github.com/aspis-rv/aspis/pkg/aspects"
	"github.com/aspis-rv/aspis/pkg/policy"
	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// The tests of this package build clauses and part verdicts by hand: what the
// aspects say is given, what becomes of it is tested.

func forbid(k aspects.Kind, name string) policy.Formula {
	return policy.Formula{Aspect: k, Role: schema.RoleForbid, Name: name, Checked: &check.Checked{Relations: []string{"rel_" + string(k)}}}
}

func guard(k aspects.Kind, name string) policy.Formula {
	f := forbid(k, name)
	f.Role = schema.RoleGuard
	return f
}

func clause(id string, formulas ...policy.Formula) policy.Clause {
	return policy.Clause{ID: id, Text: "Text of " + id + ".", Formulas: formulas}
}

func bundle(clauses ...policy.Clause) *policy.Bundle {
	return &policy.Bundle{Name: "test", Blocking: verdict.DefaultSet, Unmapped: policy.UnmappedRefuse, Clauses: clauses, Digest: [32]byte{1}}
}

// says is a part verdict of one formula: rows such as "x=1:F" or "x=1,y=2:Fp", or
// ":F" for a closed formula that holds.
func says(id string, f policy.Formula, rows ...string) schema.Part {
	p := schema.Part{Clause: id, Role: f.Role, Name: f.Name}
	for _, row := range rows {
		binding, mark, _ := strings.Cut(row, ":")
		v, err := verdict.ParseValue(mark)
		if err != nil {
			panic(err)
		}
		r := schema.Row{Mark: v}
		p.Columns = nil
		for pair := range strings.SplitSeq(binding, ",") {
			if name, value, ok := strings.Cut(pair, "="); ok {
				p.Columns = append(p.Columns, name)
				r.Values = append(r.Values, schema.StringValue(value))
			}
		}
		p.Rows = append(p.Rows, r)
	}
	return p
}

// weak is p resting on evidence that is not all there; absence: on missing facts.
func weak(p schema.Part, c verdict.Completeness, absence bool) schema.Part {
	p.Completeness, p.Absence = c, absence
	return p
}

func answer(k aspects.Kind, parts ...schema.Part) *schema.Verdict {
	return &schema.Verdict{Tenant: "acme", Aspect: string(k), Parts: parts}
}

func decide(b *policy.Bundle, verdicts ...*schema.Verdict) Decision {
	return Decide(&Input{Bundle: b, Typing: policy.Typing{Mapped: true}, Verdicts: verdicts})
}

// short is a decision in a word or two: "refuse violation C1", "permit flagged". What
// is refused may be flagged as well; that is left out.
func short(d *Decision) string {
	words := []string{d.Outcome.String()}
	if d.Reason != "" {
		words = append(words, string(d.Reason))
	}
	if d.Clause != "" {
		words = append(words, d.Clause)
	}
	if d.Flagged && d.Outcome == verdict.Permit {
		words = append(words, "flagged")
	}
	return strings.Join(words, " ")
}
