package spatial

import (
	"slices"

	"github.com/aspis-rv/aspis/internal/lang/syntax"
)

// The cost of a conjunct orders a chain: what is certain to be cheap and can fail comes
// first. They are ranks, not times.
const (
	costTest    = 1   // a look at the vertex or at values
	costLookup  = 4   // of one tuple
	costSeek    = 10  // the tuples that agree with a known argument
	costQuery   = 30  // a quantifier of its own
	costScan    = 1e3 // a whole relation
	costWalk    = 100 // a spatial operator
	unplaceable = int(1e9)
)

// cost is that of a formula whose variables are all bound.
func cost(f syntax.Formula) int {
	total := 0
	syntax.Walk(f, func(f syntax.Formula) bool {
		switch f.(type) {
		case *syntax.Pred:
			total += costLookup
		case *syntax.Exists:
			total += costQuery
		case *syntax.Somewhere, *syntax.Everywhere, *syntax.Escape, *syntax.Reach, *syntax.Surround:
			total += costWalk
		default:
			total += costTest
		}
		return true
	})
	return total
}

// known tells whether all free variables of the conjunct are bound.
func (x conjunct) known(bound map[int]bool) bool {
	for _, n := range syntax.FreeVars(x.f) {
		if !bound[x.s.slots[n]] {
			return false
		}
	}
	return true
}

// bind adds the conjunct's variables to bound.
func (x conjunct) bind(bound map[int]bool) {
	for _, n := range syntax.FreeVars(x.f) {
		bound[x.s.slots[n]] = true
	}
}

// cost is that of the conjunct in a chain, unplaceable while it cannot be evaluated.
func (x conjunct) cost(bound map[int]bool) int {
	if x.known(bound) {
		return cost(x.f)
	}
	switch f := x.f.(type) {
	case *syntax.Pred:
		for _, t := range f.Args {
			if x.knows(t, bound) {
				return costSeek
			}
		}
		return costScan
	case *syntax.Cmp:
		if f.Op == syntax.Eq && (x.knows(f.Left, bound) && isVar(f.Right) || x.knows(f.Right, bound) && isVar(f.Left)) {
			return costTest
		}
	case *syntax.Or:
		return x.costFork(f, bound)
	case *syntax.Exists:
		return costSeek
	default:
	}
	return unplaceable
}

// costFork is the cost of a disjunction that binds; both of its branches must bind the same.
func (x conjunct) costFork(f *syntax.Or, bound map[int]bool) int {
	left, right := syntax.FreeVars(f.Left), syntax.FreeVars(f.Right)
	for _, n := range syntax.FreeVars(f) {
		if !bound[x.s.slots[n]] && (!slices.Contains(left, n) || !slices.Contains(right, n)) {
			return unplaceable
		}
	}
	return costQuery
}

func isVar(t syntax.Term) bool { _, ok := t.(syntax.Var); return ok }

// knows tells whether the value of a term is known.
func (x conjunct) knows(t syntax.Term, bound map[int]bool) bool {
	v, ok := t.(syntax.Var)
	return !ok || bound[x.s.slots[v.Name]]
}
