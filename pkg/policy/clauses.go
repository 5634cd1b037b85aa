package policy

import (
	"cmp"
	"maps"
	"slices"

	"github.com/aspis-rv/aspis/internal/lang/check"
	"github.com/aspis-rv/aspis/internal/lang/syntax"
	"github.com/aspis-rv/aspis/pkg/aspects"
	"github.com/aspis-rv/aspis/pkg/policy/internal/rewrite"
	"github.com/aspis-rv/aspis/pkg/policy/internal/source"
	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// clauses reads the rules.
func (l *loader) clauses(n *source.Node) {
	fields := l.mapOf(n, "clauses")
	if len(fields) > MaxClauses {
		l.report(fields[MaxClauses].Key, overLimit("the bundle has too many clauses", MaxClauses, "split the policy"))
		return
	}
	for _, f := range fields {
		l.clause(f)
	}
	slices.SortFunc(l.b.Clauses, func(a, b Clause) int { return cmp.Compare(a.ID, b.ID) })
}

func (l *loader) clause(f source.Field) {
	id := f.Key.Value
	where := "the clause " + id
	l.ids[id] = true
	if !isID(id) {
		l.report(f.Key, badName("a clause", id, "a name is a letter followed by letters, digits, _, - and ."))
	}
	n := f.Value
	if n.Kind != source.Map {
		l.report(n, wrongType(where, "a map", n.Describe()))
		return
	}
	l.keys(n, where,
		[]string{"text", "source", "guard", "forbid", "require", "unless", "strategy", "mode", "disclose", "on_incomplete"},
		[]string{"to", "next", "blocking", "carried_by", "free", "window", "redirect", "approvals", "escape"})
	c := Clause{ID: id, Disclose: DiscloseHint}
	if t := n.Get("text"); t == nil {
		l.report(f.Key, missingKey("text", where, "say in one sentence what it demands"))
	} else {
		c.Text, _ = l.text(t, "text")
	}
	if s := n.Get("source"); s != nil {
		c.Source, _ = l.text(s, "source")
	}
	l.manner(n, &c)
	r := clauseReader{l: l, c: &c, unless: l.formulaParts(n.Get("unless"))}
	r.section(n.Get("guard"), schema.RoleGuard, false)
	r.section(n.Get("forbid"), schema.RoleForbid, false)
	r.section(n.Get("require"), schema.RoleForbid, true)
	r.unusedUnless()
	if n.Get("forbid") == nil && n.Get("require") == nil {
		l.report(f.Key, missingKey("forbid", where, "write the violation under forbid, or a closed formula that must hold under require"))
	}
	slices.SortFunc(c.Formulas, func(a, b Formula) int {
		return cmp.Or(cmp.Compare(a.Role, b.Role), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Aspect, b.Aspect))
	})
	l.b.Clauses = append(l.b.Clauses, c)
}

// manner reads how a clause acts.
func (l *loader) manner(n *source.Node, c *Clause) {
	strategy := n.Get("strategy")
	if s, ok := l.choice(strategy, "strategy", "block", "redirect", "escalate", "flag"); ok {
		if s == "redirect" {
			l.report(strategy, notYet("the strategy redirect, which needs a target,"))
		} else if p, err := verdict.ParseStrategy(s); err == nil {
			c.Strategy = p
		}
	}
	if s, _ := l.choice(n.Get("mode"), "mode", "enforce", "shadow"); s == "shadow" {
		c.Shadow = true
	}
	if s, ok := l.choice(n.Get("disclose"), "disclose", "none", "class", "hint", "full"); ok {
		c.Disclose = Disclosure(s)
	}
	if _, ok := l.choice(n.Get("on_incomplete"), "on_incomplete", "flag"); ok {
		c.FlagIncomplete = true
	}
}

// part is one formula as a clause writes it.
type part struct {
	aspect aspects.Kind
	name   string
	node   *source.Node
}

// formulaParts reads `temporal: 'φ'` or `temporal: {name: 'φ', …}` for each aspect.
func (l *loader) formulaParts(n *source.Node) []part {
	var out []part
	if n == nil {
		return nil
	}
	if n.Kind == source.Scalar {
		l.report(n, wrongType("a formula of a clause", "under the name of its aspect, for example {temporal: '…'}", n.Describe()))
		return nil
	}
	for _, f := range l.mapOf(n, "the formulas of a clause") {
		kind := aspects.Kind(f.Key.Value)
		switch kind {
		case aspects.Temporal, aspects.Spatial, aspects.Semantic:
		case aspects.Contract:
			l.report(f.Key, notYet("the aspect "+f.Key.Value))
			continue
		default:
			var names []string
			for _, k := range aspects.Kinds() {
				names = append(names, string(k))
			}
			l.report(f.Key, unknownKey(f.Key.Value, "a clause's formula map", names))
			continue
		}
		if f.Value.Kind != source.Map {
			out = append(out, part{aspect: kind, node: f.Value})
			continue
		}
		for _, named := range f.Value.Fields {
			if !isID(named.Key.Value) {
				l.report(named.Key, badName("a formula", named.Key.Value, "a name is a letter followed by letters, digits, _, - and ."))
			}
			out = append(out, part{kind, named.Key.Value, named.Value})
		}
	}
	return out
}

// clauseReader reads the formulas of one clause.
type clauseReader struct {
	l      *loader
	c      *Clause
	unless []part
	used   []bool
}

func (r *clauseReader) section(n *source.Node, role schema.Role, require bool) {
	for _, p := range r.l.formulaParts(n) {
		taken := slices.ContainsFunc(r.c.Formulas, func(f Formula) bool {
			return f.Role == role && f.Name == p.name && f.Aspect == p.aspect
		})
		if taken {
			r.l.report(p.node, sameFormula(p.name))
			continue
		}
		f := r.l.parseFormula(p.node, "a formula")
		if f == nil {
			continue
		}
		if f = r.l.expand(f); f == nil {
			continue
		}
		r.add(p, f, role, require)
	}
}

// add checks one formula and enters it.
func (r *clauseReader) add(p part, f syntax.Formula, role schema.Role, require bool) {
	l := r.l
	opts := check.Options{
		File: p.node.File().Name, Forbid: role == schema.RoleForbid && !require,
		Names: slices.Sorted(maps.Keys(l.names)), World: l.worldRelations(),
	}
	if require {
		if free := syntax.FreeVars(f); len(free) > 0 {
			l.report(p.node, fault(CodeClosed, "quantify it with EXISTS or FORALL, or write the violation under forbid",
				"a required formula says something of the whole trace, and %q is free in it", free[0]))
			return
		}
		f = &syntax.Not{Node: syntax.Node{Pos: f.Span()}, F: f}
	}
	if role == schema.RoleForbid && !require {
		if f = r.except(p, f); f == nil {
			return
		}
	}
	for _, g := range rewrite.Unbound(f, l.isGlob, l.isFact) {
		l.reportSpan(opts.File, g.Span(), fault(CodeGlob, "put it beside the fact that brings the path, inside the same temporal operator",
			"the glob %s needs a fact of the same time point that binds its argument", g.Name))
	}
	checked, found := check.Check(f, l.b.Signature, opts)
	l.diags = append(l.diags, found...)
	if checked == nil {
		return
	}
	at := p.node.Text().Whole().Start
	r.c.Formulas = append(r.c.Formulas, Formula{
		Aspect: p.aspect, Role: role, Name: p.name, Checked: checked,
		Text: p.node.Value, File: p.node.File().Name, Line: at.Line, Col: at.Col,
	})
}

// except adds AND NOT (unless) for the exceptions of the formula's aspect: those
// without a name, and the one with the formula's own.
func (r *clauseReader) except(p part, f syntax.Formula) syntax.Formula {
	if r.used == nil {
		r.used = make([]bool, len(r.unless))
	}
	for i, u := range r.unless {
		if u.aspect != p.aspect || (u.name != "" && u.name != p.name) {
			continue
		}
		r.used[i] = true
		g := r.l.parseFormula(u.node, "a formula")
		if g == nil {
			return nil
		}
		if g = r.l.expand(g); g == nil {
			return nil
		}
		at := syntax.Node{Pos: g.Span()}
		f = &syntax.And{Node: syntax.Node{Pos: f.Span()}, Left: f, Right: &syntax.Not{Node: at, F: g}}
	}
	return f
}

func (r *clauseReader) unusedUnless() {
	for i, u := range r.unless {
		if r.used == nil || !r.used[i] {
			r.l.report(u.node, fault(CodeUndeclared, "give it the name and aspect of a formula under forbid", "this exception belongs to no formula of the clause"))
		}
	}
}

func (l *loader) isGlob(p *syntax.Pred) bool {
	d := l.names[p.Name]
	return d != nil && d.kind == declGlob
}

func (l *loader) isFact(p *syntax.Pred) bool {
	d := l.names[p.Name]
	return d != nil && d.kind == declFact
}
