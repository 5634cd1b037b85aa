package rewrite

import (
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
	case *syntax.Bool, *syntax.Cmp, *syntax.Match, *syntax.Not, *syntax.Or, *syntax.Equiv,
		*syntax.At, *syntax.Label, *syntax.Somewhere, *syntax.Everywhere, *syntax.Escape, *syntax.Reach, *syntax.Surround: // the variables of AT have their values from beside it
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
		*syntax.Eventually, *syntax.Always, *syntax.Until,
		*syntax.At, *syntax.Label, *syntax.Somewhere, *syntax.Everywhere, *syntax.Escape, *syntax.Reach, *syntax.Surround:
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
// implication counts as negated, and as either do both sides of an equivalence, that of
// NEW, which may hold before, a definition, and the formula of an aggregation, which a
// fact more can give another result; but not where that can only make it hold, because
// the result is a count or a maximum and only bounded from below, or a minimum and only
// bounded from above.
func Negated(f syntax.Formula) map[string]bool {
	out := map[string]bool{}
	for name := range NegatedAtoms(f) {
		out[name] = true
	}
	return out
}

// NegatedAtoms is Negated with the first such atom of each relation.
func NegatedAtoms(f syntax.Formula) map[string]*syntax.Pred {
	n := negation{bounds: boundsOf(f), out: map[string]*syntax.Pred{}}
	n.formula(f, false)
	return n.out
}

// negation walks a formula.
type negation struct {
	bounds uses
	out    map[string]*syntax.Pred
}

func (n *negation) formula(f syntax.Formula, odd bool) {
	switch f := f.(type) {
	case *syntax.Pred:
		if odd && n.out[f.Name] == nil {
			n.out[f.Name] = f
		}
	case *syntax.Not:
		n.formula(f.F, !odd)
	case *syntax.Implies:
		n.formula(f.Left, !odd)
		n.formula(f.Right, odd)
	case *syntax.Agg:
		n.formula(f.F, odd)
		if !n.bounds[f.Result.Name].grows(f.Op) {
			n.formula(f.F, !odd)
		}
	case *syntax.Equiv, *syntax.New:
		for _, g := range syntax.Children(f) {
			n.formula(g, odd)
			n.formula(g, !odd)
		}
	case *syntax.Let:
		n.formula(f.Def, odd)
		n.formula(f.Def, !odd)
		body := negation{bounds: n.bounds, out: map[string]*syntax.Pred{}}
		body.formula(f.Body, odd)
		delete(body.out, f.Name)
		for name, atom := range body.out {
			if n.out[name] == nil {
				n.out[name] = atom
			}
		}
	case *syntax.Bool, *syntax.Cmp, *syntax.Match, *syntax.And, *syntax.Or, *syntax.Exists, *syntax.Forall, *syntax.Prev,
		*syntax.Once, *syntax.Historically, *syntax.Since, *syntax.Next, *syntax.Eventually, *syntax.Always, *syntax.Until,
		*syntax.At, *syntax.Label, *syntax.Somewhere, *syntax.Everywhere, *syntax.Escape, *syntax.Reach, *syntax.Surround:
		for _, g := range syntax.Children(f) {
			n.formula(g, odd)
		}
	}
}

// bound is how a formula uses a name other than as the result of an aggregation: the
// zero value says that it does not.
type bound struct {
	below, above bool // compared with a constant below, or above, it
	other        bool
}

// grows tells whether a result that is so bounded still passes when a fact comes.
func (b bound) grows(op syntax.AggOp) bool {
	switch op {
	case syntax.Count, syntax.Max:
		return b.below && !b.above && !b.other
	case syntax.Min:
		return b.above && !b.below && !b.other
	case syntax.Sum, syntax.Average, syntax.Median:
	}
	return false
}

// uses are the bounds of names.
type uses map[string]bound

// boundsOf finds how the names of a formula are used, whatever their scopes. What stands
// under a negation is no bound.
func boundsOf(f syntax.Formula) uses {
	u := uses{}
	u.formula(f, false)
	return u
}

func (u uses) note(t syntax.Term, how func(b *bound)) {
	syntax.TermVars(t, func(v syntax.Var) {
		b := u[v.Name]
		how(&b)
		u[v.Name] = b
	})
}

func (u uses) other(ts ...syntax.Term) {
	for _, t := range ts {
		u.note(t, func(b *bound) { b.other = true })
	}
}

func (u uses) formula(f syntax.Formula, negated bool) {
	switch f := f.(type) {
	case *syntax.Cmp:
		if negated {
			u.other(f.Left, f.Right)
			return
		}
		u.compared(f.Op, f.Left, f.Right)
		u.compared(f.Op.Mirrored(), f.Right, f.Left)
	case *syntax.Pred:
		u.other(f.Args...)
	case *syntax.Match:
		u.other(f.Left, f.Right)
		u.other(f.Groups...)
	case *syntax.At:
		u.other(f.Loc)
	case *syntax.Agg:
		u.other(f.Over)
		for _, v := range f.Groups {
			u.other(v)
		}
	case *syntax.Not, *syntax.Implies, *syntax.Equiv, *syntax.New:
		negated = true
	case *syntax.Bool, *syntax.And, *syntax.Or, *syntax.Exists, *syntax.Forall, *syntax.Prev, *syntax.Once, *syntax.Historically,
		*syntax.Since, *syntax.Next, *syntax.Eventually, *syntax.Always, *syntax.Until, *syntax.Let,
		*syntax.Label, *syntax.Somewhere, *syntax.Everywhere, *syntax.Escape, *syntax.Reach, *syntax.Surround:
	}
	for _, g := range syntax.Children(f) {
		u.formula(g, negated)
	}
}

// compared notes how `t op c` bounds t.
func (u uses) compared(op syntax.CmpOp, t, c syntax.Term) {
	_, isVar := t.(syntax.Var)
	_, isConst := c.(syntax.Const)
	u.note(t, func(b *bound) {
		switch {
		case !isVar || !isConst || op == syntax.Eq:
			b.other = true
		case op == syntax.Greater || op == syntax.GreaterEq:
			b.below = true
		default:
			b.above = true
		}
	})
}
