package rewrite

import (
	"maps"

	"github.com/aspis-rv/aspis/internal/lang/syntax"
)

// Unbound lists the atoms of f chosen by pick that do not stand beside an atom of
// the same time point chosen by anchor that binds their variables: in one
// conjunction, possibly below negations, quantifiers and disjunctions, but with no
// temporal operator between the two.
func Unbound(f syntax.Formula, pick, anchor func(*syntax.Pred) bool) []*syntax.Pred {
	u := unbound{pick: pick, anchor: anchor}
	u.visit(f, map[string]bool{})
	return u.found
}

type unbound struct {
	pick, anchor func(*syntax.Pred) bool
	found        []*syntax.Pred
}

// visit walks one time point; bound holds the variables that anchors around f bind.
func (u *unbound) visit(f syntax.Formula, bound map[string]bool) {
	switch f := f.(type) {
	case *syntax.Pred:
		if u.pick(f) && !covered(f, bound) {
			u.found = append(u.found, f)
		}
	case *syntax.And:
		inner := map[string]bool{}
		for v := range bound {
			inner[v] = true
		}
		u.bind(f, inner)
		u.visit(f.Left, inner)
		u.visit(f.Right, inner)
	case *syntax.Implies: // a condition binds its consequence
		inner := map[string]bool{}
		for v := range bound {
			inner[v] = true
		}
		u.bind(f.Left, inner)
		u.visit(f.Left, inner)
		u.visit(f.Right, inner)
	case *syntax.Exists:
		u.visit(f.F, without(bound, f.Vars))
	case *syntax.Forall:
		u.visit(f.F, without(bound, f.Vars))
	case *syntax.Agg:
		u.visit(f.F, within(bound, f.Groups))
	case *syntax.Let:
		u.visit(f.Def, map[string]bool{}) // it may be used anywhere
		u.visit(f.Body, bound)
	case *syntax.New, *syntax.Prev, *syntax.Once, *syntax.Historically, *syntax.Since, *syntax.Next, *syntax.Eventually,
		*syntax.Always, *syntax.Until:
		for _, g := range syntax.Children(f) {
			u.visit(g, map[string]bool{}) // another time point, or another world
		}
	case *syntax.Bool, *syntax.Cmp, *syntax.Match, *syntax.Not, *syntax.Or, *syntax.Equiv:
		for _, g := range syntax.Children(f) {
			u.visit(g, bound)
		}
	}
}

// bind adds the variables of the anchors among the conjuncts of f.
func (u *unbound) bind(f syntax.Formula, bound map[string]bool) {
	switch f := f.(type) {
	case *syntax.And:
		u.bind(f.Left, bound)
		u.bind(f.Right, bound)
	case *syntax.Exists:
		inner := map[string]bool{}
		u.bind(f.F, inner)
		for v := range without(inner, f.Vars) {
			bound[v] = true
		}
	case *syntax.Pred:
		if u.anchor(f) {
			for _, t := range f.Args {
				if v, ok := t.(syntax.Var); ok {
					bound[v.Name] = true
				}
			}
		}
	case *syntax.Agg: // a group has a tuple
		inner := map[string]bool{}
		u.bind(f.F, inner)
		for v := range within(inner, f.Groups) {
			bound[v] = true
		}
	case *syntax.Bool, *syntax.Cmp, *syntax.Match, *syntax.Not, *syntax.Or, *syntax.Implies, *syntax.Equiv, *syntax.Forall,
		*syntax.Let, *syntax.New, *syntax.Prev, *syntax.Once, *syntax.Historically, *syntax.Since, *syntax.Next,
		*syntax.Eventually, *syntax.Always, *syntax.Until:
	}
}

func within(bound map[string]bool, vars []syntax.Var) map[string]bool {
	out := map[string]bool{}
	for _, v := range vars {
		if bound[v.Name] {
			out[v.Name] = true
		}
	}
	return out
}

func without(bound map[string]bool, vars []syntax.Var) map[string]bool {
	out := make(map[string]bool, len(bound))
	for v := range bound {
		out[v] = true
	}
	for _, v := range vars {
		delete(out, v.Name)
	}
	return out
}

func covered(p *syntax.Pred, bound map[string]bool) bool {
	for _, t := range p.Args {
		if v, ok := t.(syntax.Var); !ok || !bound[v.Name] {
			return false
		}
	}
	return true
}

// Negated lists the relations of which an atom stands under an odd number of
// negations: a fact of theirs can make the formula false. The left side of an
// implication counts as negated, and as either do both sides of an equivalence, the
// formula of an aggregation, which a fact more can give another result, that of NEW,
// which may hold before, and a definition.
func Negated(f syntax.Formula) map[string]bool {
	out := map[string]bool{}
	negated(f, false, out)
	return out
}

func negated(f syntax.Formula, odd bool, out map[string]bool) {
	switch f := f.(type) {
	case *syntax.Pred:
		if odd {
			out[f.Name] = true
		}
	case *syntax.Not:
		negated(f.F, !odd, out)
	case *syntax.Implies:
		negated(f.Left, !odd, out)
		negated(f.Right, odd, out)
	case *syntax.Equiv, *syntax.Agg, *syntax.New:
		for _, g := range syntax.Children(f) {
			negated(g, odd, out)
			negated(g, !odd, out)
		}
	case *syntax.Let:
		negated(f.Def, odd, out)
		negated(f.Def, !odd, out)
		body := map[string]bool{}
		negated(f.Body, odd, body)
		delete(body, f.Name)
		maps.Copy(out, body)
	case *syntax.Bool, *syntax.Cmp, *syntax.Match, *syntax.And, *syntax.Or, *syntax.Exists, *syntax.Forall, *syntax.Prev,
		*syntax.Once, *syntax.Historically, *syntax.Since, *syntax.Next, *syntax.Eventually, *syntax.Always, *syntax.Until:
		for _, g := range syntax.Children(f) {
			negated(g, odd, out)
		}
	}
}
