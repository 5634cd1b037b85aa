package compose

import (
	"slices"

	"github.com/aspis-rv/aspis/internal/lang/check"
	"github.com/aspis-rv/aspis/pkg/aspects"
	"github.com/aspis-rv/aspis/pkg/policy"
	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// clauseEval is the evaluation of one clause at one time point.
type clauseEval struct {
	in     *Input
	clause *policy.Clause
	out    Clause

	robust verdict.Value // strongest firing that no missing evidence can take back
	weak   bool          // some evidence below sound bears on the clause
	worst  verdict.Completeness
	// recorded is the strongest firing on an object that a documenting tool brings into
	// being: that is flagged, never refused.
	recorded verdict.Value
}

func evaluate(in *Input, c *policy.Clause) Clause {
	e := clauseEval{in: in, clause: c, out: Clause{ID: c.ID, Shadow: c.Shadow}}
	guards := e.guards()
	for i := range c.Formulas {
		if f := &c.Formulas[i]; f.Role == schema.RoleForbid && !e.off(f.Aspect) {
			e.part(f, guards)
		}
	}
	if e.disarmed(guards) {
		e.robust, e.weak, e.worst, e.recorded = verdict.T, false, verdict.Sound, verdict.T
		e.out.Value = verdict.T
	}
	e.out.Completeness = e.worst
	if c.Shadow {
		return e.out
	}
	e.out.Ruling = e.rule()
	return e.out
}

// rule combines the ruling of what is proven with that of what is merely not known
// to be harmless.
func (e *clauseEval) rule() verdict.Ruling {
	blocking := e.in.Blocking
	if blocking == 0 {
		blocking = e.in.Bundle.Blocking
	}
	proven := verdict.Finding{Value: e.robust, Strategy: e.clause.Strategy, FlagIncomplete: e.clause.FlagIncomplete}
	out := blocking.Rule(proven)
	if e.weak {
		doubt := proven
		doubt.Completeness = e.worst
		out = verdict.Combine(out, blocking.Rule(doubt))
	}
	if e.recorded >= verdict.Fp {
		out = verdict.Combine(out, verdict.Ruling{Flagged: true})
	}
	return out
}

func (e *clauseEval) off(k aspects.Kind) bool { return slices.Contains(e.in.Off, k) }

func (e *clauseEval) weaken(c verdict.Completeness) {
	if c != verdict.Sound {
		e.weak = true
		e.worst = verdict.Worse(e.worst, c)
	}
}

// guardRows is what is known of one guard.
type guardRows struct {
	formula *policy.Formula
	part    *schema.Part  // nil: no rows
	fixed   verdict.Value // mark for any binding, when known is false or the aspect is off
	known   bool          // part is meaningful
	quality verdict.Completeness
}

func (e *clauseEval) guards() []guardRows {
	var out []guardRows
	for i := range e.clause.Formulas {
		f := &e.clause.Formulas[i]
		if f.Role != schema.RoleGuard {
			continue
		}
		g := e.guard(f)
		e.out.Guards = append(e.out.Guards, Guard{ID: guardID(f), Value: verdict.Negate(g.strongest())})
		out = append(out, g)
	}
	return out
}

func guardID(f *policy.Formula) string {
	if f.Name == "" {
		return string(f.Aspect)
	}
	return string(f.Aspect) + "." + f.Name
}

func (e *clauseEval) guard(f *policy.Formula) guardRows {
	v := verdictOf(e.in, f.Aspect)
	if e.off(f.Aspect) && e.in.Guards != verdict.LooseGuard {
		return guardRows{formula: f, fixed: e.in.Guards.OffValue()}
	}
	if v == nil {
		return guardRows{formula: f, fixed: verdict.Fp, quality: verdict.Unavailable}
	}
	if c := e.typed(f); c != verdict.Sound {
		return guardRows{formula: f, fixed: verdict.Fp, quality: c}
	}
	g := guardRows{formula: f, part: partOf(v, e.clause.ID, f), known: true}
	if g.part != nil {
		g.quality = g.part.Completeness
	}
	return g
}

func (g *guardRows) strongest() verdict.Value {
	if !g.known {
		return g.fixed
	}
	if g.part == nil {
		return verdict.T
	}
	return g.part.Value()
}

// mark is the guard's mark for a firing: the strongest of the guard's rows that
// agree with it on the shared variables. A guard that rests on missing evidence
// does not disarm.
func (g *guardRows) mark(columns []string, values []schema.Value) verdict.Value {
	if !g.known {
		return g.fixed
	}
	out := verdict.T
	if g.part != nil {
		for i := range g.part.Rows {
			if agrees(g.part.Columns, g.part.Rows[i].Values, columns, values) {
				out = verdict.Fuse(out, g.part.Rows[i].Mark)
			}
		}
	}
	if g.quality != verdict.Sound {
		out = verdict.Fuse(out, verdict.Fp)
	}
	return out
}

// doubtful reports whether missing evidence could change the guard's mark.
func (g *guardRows) doubtful(mark verdict.Value) bool {
	return g.quality != verdict.Sound && (mark != verdict.F || g.part != nil && g.part.Absence)
}

func agrees(cols []string, vals []schema.Value, otherCols []string, otherVals []schema.Value) bool {
	for i, c := range cols {
		if j := slices.Index(otherCols, c); j >= 0 && vals[i] != otherVals[j] {
			return false
		}
	}
	return true
}

// disarmed reports whether some guard definitely does not hold for any binding.
func (e *clauseEval) disarmed(guards []guardRows) bool {
	return slices.ContainsFunc(guards, func(g guardRows) bool {
		return g.quality == verdict.Sound && g.strongest() == verdict.T
	})
}

// part adds one forbid part of the clause.
func (e *clauseEval) part(f *policy.Formula, guards []guardRows) {
	v := verdictOf(e.in, f.Aspect)
	if v == nil {
		e.weaken(verdict.Unavailable)
		return
	}
	e.weaken(e.typed(f))
	p := partOf(v, e.clause.ID, f)
	if p == nil {
		return
	}
	e.weaken(p.Completeness)
	for i := range p.Rows {
		e.row(f, p, &p.Rows[i], guards)
	}
}

func (e *clauseEval) row(f *policy.Formula, p *schema.Part, r *schema.Row, guards []guardRows) {
	mark, robust := r.Mark, r.Mark
	if p.Absence && (p.Completeness != verdict.Sound || e.typed(f) != verdict.Sound) {
		robust = verdict.T
	}
	for i := range guards {
		g := &guards[i]
		gm := g.mark(p.Columns, r.Values)
		mark = verdict.Arm(mark, gm)
		robust = verdict.Arm(robust, gm)
		if g.doubtful(gm) {
			e.weaken(g.quality)
			robust = verdict.T
		}
	}
	if mark == verdict.T {
		return
	}
	if r.Documents {
		e.recorded = verdict.Fuse(e.recorded, mark)
	} else {
		e.robust = verdict.Fuse(e.robust, robust)
	}
	e.out.Value = verdict.Fuse(e.out.Value, mark)
	if e.out.Parts == nil {
		e.out.Parts = map[aspects.Kind]verdict.Value{}
	}
	e.out.Parts[f.Aspect] = verdict.Fuse(e.out.Parts[f.Aspect], mark)
	e.out.Firings = append(e.out.Firings, Firing{
		Aspect: f.Aspect, Name: f.Name, Columns: p.Columns, Values: r.Values, Mark: mark, Witness: r.Witness,
		Paths: r.Paths, Documents: r.Documents,
	})
}

// typed is the completeness of what the formula reads of this time point: incomplete where an
// expression of a fact or a relation of the world could not be evaluated, degraded where the
// end of a text was not looked at.
func (e *clauseEval) typed(f *policy.Formula) verdict.Completeness {
	switch {
	case f.Checked == nil:
	case reads(f.Checked.Relations, e.in.Typing.Uncertain):
		return verdict.Incomplete
	case reads(f.Checked.Relations, e.in.Typing.Degraded):
		return verdict.Degraded
	}
	return verdict.Sound
}

// reads reports whether one of the relations is among those that a formula reads.
func reads(formula, relations []string) bool {
	return slices.ContainsFunc(relations, func(rel string) bool {
		return slices.Contains(formula, rel) || ofGraph(rel) && slices.Contains(formula, check.Graph)
	})
}

// ofGraph reports whether a relation is of what AT looks at without naming it: vertices with
// their labels and domains, edges and channels.
func ofGraph(rel string) bool {
	return slices.Contains([]string{"connects", "domain", "label", "opened", "vertex"}, rel)
}

func partOf(v *schema.Verdict, clause string, f *policy.Formula) *schema.Part {
	for i := range v.Parts {
		if p := &v.Parts[i]; p.Clause == clause && p.Role == f.Role && p.Name == f.Name {
			return p
		}
	}
	return nil
}
