package policy

import (
	"slices"

	"github.com/aspis-rv/aspis/internal/diag"
	"github.com/aspis-rv/aspis/internal/lang/syntax"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// role is what a variable stands for where it stands: an object, a vertex, a label, or what
// an object comes to, a domain or a vertex.
type role struct {
	slot     slot
	relation string // that says so
	at       diag.Span
}

// noun is how messages call a role.
func (r role) noun() string {
	if r.slot == slotObject {
		return "an object"
	}
	if r.slot == slotVertex {
		return "a vertex"
	}
	if r.slot == slotLabel {
		return "a label"
	}
	return "a domain"
}

// clashes tells whether hardly anything has both roles. A vertex may be what objects come to.
func (r role) clashes(s role) bool {
	places := []slot{slotVertex, slotDomain}
	return r.slot != s.slot && (!slices.Contains(places, r.slot) || !slices.Contains(places, s.slot))
}

// roles warns of variables that stand for things of two kinds, as those of swapped arguments
// do: such a formula holds of nothing, and its clause never fires.
func (k *knownNames) roles(l *loader) {
	for i := range l.b.Clauses {
		for j := range l.b.Clauses[i].Formulas {
			f := &l.b.Clauses[i].Formulas[j]
			first := map[string]role{}
			warned := map[string]bool{}
			k.eachRole(f.Checked.Source, func(variable string, r role) {
				before, seen := first[variable]
				if !seen {
					first[variable] = r
				} else if before.clashes(r) && !warned[variable] {
					warned[variable] = true
					l.reportSpan(f.File, r.at, twoRoles(variable, before, r))
				}
			})
		}
	}
}

// eachRole visits the roles of a formula's free variables, but of those whose names are bound
// somewhere in it.
func (k *knownNames) eachRole(f syntax.Formula, visit func(string, role)) {
	names := syntax.FreeVars(f)
	for _, bound := range boundNames(f) {
		names = slices.DeleteFunc(names, func(n string) bool { return n == bound })
	}
	variable := func(t syntax.Term, s slot, relation string) {
		if v, ok := t.(syntax.Var); ok && slices.Contains(names, v.Name) {
			visit(v.Name, role{s, relation, v.Pos})
		}
	}
	syntax.Walk(f, func(g syntax.Formula) bool {
		if at, ok := g.(*syntax.At); ok {
			variable(at.Loc, slotVertex, "AT")
		}
		if p, ok := g.(*syntax.Pred); ok {
			for i, s := range argumentsOf(p.Name) {
				if i < len(p.Args) {
					variable(p.Args[i], s, p.Name)
				}
			}
		}
		if e, ok := g.(*syntax.Cmp); ok && e.Op == syntax.Eq {
			if c, ok := e.Right.(syntax.Const); ok && c.Value.Kind == schema.KindString && slices.Contains(k.domains, c.Value.Str) {
				variable(e.Left, slotDomain, "the domain "+c.Value.Str)
			}
		}
		return true
	})
}

// boundNames lists the variables that quantifiers, definitions and aggregations bind.
func boundNames(f syntax.Formula) []string {
	var names []string
	add := func(vars []syntax.Var) {
		for _, v := range vars {
			names = append(names, v.Name)
		}
	}
	syntax.Walk(f, func(g syntax.Formula) bool {
		if e, ok := g.(*syntax.Exists); ok {
			add(e.Vars)
		}
		if a, ok := g.(*syntax.Forall); ok {
			add(a.Vars)
		}
		if d, ok := g.(*syntax.Let); ok {
			add(d.Params)
		}
		if n, ok := g.(*syntax.Agg); ok {
			names = append(names, syntax.FreeVars(n.F)...)
		}
		return true
	})
	return names
}
