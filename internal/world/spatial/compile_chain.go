package spatial

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/aspis-rv/aspis/internal/lang/syntax"
)

// exists compiles EXISTS.
func (c *compiler) exists(f *syntax.Exists, s scope) (node, error) {
	s = c.quantify(f.Vars, s)
	s.again = true
	chain, err := c.chain(conjuncts(f.F, s, nil), nil, maps.Clone(s.bound), nil)
	if err != nil {
		return nil, err
	}
	for _, v := range f.Vars {
		s.bound[s.slots[v.Name]] = true
	}
	body, err := c.node(f.F, s)
	return &exists{chain: chain, body: body, local: local(f.F)}, err
}

// quantify is the scope within a quantifier: its variables are in it and not bound.
func (c *compiler) quantify(vars []syntax.Var, s scope) scope {
	s.slots, s.bound, s.inner = maps.Clone(s.slots), maps.Clone(s.bound), maps.Clone(s.inner)
	for _, v := range vars {
		s.inner[c.slot(s, v.Name)] = true
	}
	return s
}

// local tells whether what a formula says of a vertex depends on more than its name.
func local(f syntax.Formula) bool {
	found := false
	syntax.Walk(f, func(f syntax.Formula) bool {
		switch f := f.(type) {
		case *syntax.Label, *syntax.Somewhere, *syntax.Everywhere, *syntax.Escape, *syntax.Reach, *syntax.Surround:
			found = true
		case *syntax.Pred:
			found = found || slices.ContainsFunc(f.Args, isHere)
		default:
		}
		return !found
	})
	return found
}

func isHere(t syntax.Term) bool { _, ok := t.(syntax.Here); return ok }

// conjunct is a part of a chain that is not placed yet.
type conjunct struct {
	f syntax.Formula
	s scope
}

// conjuncts adds the conjuncts of a formula to list.
func conjuncts(f syntax.Formula, s scope, list []conjunct) []conjunct {
	if f, ok := f.(*syntax.And); ok {
		return conjuncts(f.Right, s, conjuncts(f.Left, s, list))
	}
	return append(list, conjunct{f, s})
}

// chain orders conjuncts, the cheapest of those that can be evaluated first, and links them
// up to rest, which is nil for a chain of its own; beside lists what is in that of which
// this is a branch. bound is what is bound before it, and afterwards what is bound at its
// end.
func (c *compiler) chain(list, beside []conjunct, bound map[int]bool, rest step) (step, error) {
	var order []placed
	all := slices.Concat(list, beside)
	for len(list) > 0 {
		best, least := -1, unplaceable
		for i := range list {
			if n := list[i].cost(bound); n < least {
				best, least = i, n
			}
		}
		if best < 0 {
			return nil, unbound(list, bound)
		}
		next := list[best]
		list = slices.Delete(list, best, best+1)
		if f, ok := next.f.(*syntax.Exists); ok && !next.known(bound) {
			inner := conjuncts(f.F, c.quantify(f.Vars, next.s), nil)
			list, all = append(list, inner...), append(all, inner...)
			continue
		}
		order = append(order, placed{next, maps.Clone(bound)})
		next.bind(bound)
	}
	for _, p := range slices.Backward(order) {
		var err error
		if rest, err = c.step(p, all, rest); err != nil {
			return nil, err
		}
	}
	return rest, nil
}

// placed is a conjunct in its place, with what is bound there.
type placed struct {
	conjunct
	bound map[int]bool
}

// step compiles a conjunct; beside lists all of the chain.
func (c *compiler) step(p placed, beside []conjunct, rest step) (step, error) {
	s := p.s
	s.bound = p.bound
	if p.known(p.bound) {
		test, err := c.node(p.f, s)
		return &filter{test, rest}, err
	}
	switch f := p.f.(type) {
	case *syntax.Pred:
		c.unranged[f] = !p.ranged(f, beside)
		n, err := c.partly(f, s)
		if err != nil {
			return nil, err
		}
		n.next = rest
		return n, nil
	case *syntax.Cmp:
		to, from := f.Left, f.Right
		if v, ok := to.(syntax.Var); !ok || s.bound[s.slots[v.Name]] {
			to, from = from, to
		}
		o, err := c.operand(from, s)
		return &bind{s.slots[to.(syntax.Var).Name], o, rest}, err //nolint:forcetypeassert // cost saw to it
	case *syntax.Or:
		beside = slices.DeleteFunc(slices.Clone(beside), func(o conjunct) bool { return o.f == f })
		left, err := c.chain(conjuncts(f.Left, p.s, nil), beside, maps.Clone(p.bound), rest)
		if err != nil {
			return nil, err
		}
		right, err := c.chain(conjuncts(f.Right, p.s, nil), beside, maps.Clone(p.bound), rest)
		return &fork{left, right}, err
	default:
		return nil, unbound([]conjunct{p.conjunct}, p.bound)
	}
}

// ranged tells whether the last argument of a predicate is known from elsewhere: it is no
// variable quantified in the formula, or another conjunct that can bind it is beside it.
func (p placed) ranged(f *syntax.Pred, beside []conjunct) bool {
	v, ok := f.Args[len(f.Args)-1].(syntax.Var)
	if !ok || !p.s.inner[p.s.slots[v.Name]] {
		return true
	}
	slot := p.s.slots[v.Name]
	return slices.ContainsFunc(beside, func(o conjunct) bool {
		if o.f == f || !binds(o.f) {
			return false
		}
		return slices.ContainsFunc(syntax.FreeVars(o.f), func(n string) bool { return o.s.slots[n] == slot })
	})
}

// binds tells whether a conjunct can bind variables.
func binds(f syntax.Formula) bool {
	switch f := f.(type) {
	case *syntax.Pred, *syntax.Or, *syntax.Exists:
		return true
	case *syntax.Cmp:
		return f.Op == syntax.Eq
	default:
		return false
	}
}

func unbound(list []conjunct, bound map[int]bool) error {
	var names []string
	for _, x := range list {
		for _, n := range syntax.FreeVars(x.f) {
			if !bound[x.s.slots[n]] && !slices.Contains(names, n) {
				names = append(names, n)
			}
		}
	}
	return fmt.Errorf("no predicate binds %s; add one beside `%s`, outside of spatial operators and NOT",
		strings.Join(names, ", "), list[0].f)
}
