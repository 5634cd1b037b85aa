package mfotl

import (
	"slices"

	"github.com/aspis-rv/aspis/internal/lang/syntax"
)

// weighed is a conjunct that is not in the chain yet, with what it would cost if it came
// next. Both figures change only when one of its variables is bound.
type weighed struct {
	conjunct
	partial bool // has a term that needs a guard
	cost    int
	known   int // arguments of a predicate that are known
}

// weighing is what is left of the conjuncts of a chain, in the order of the formula.
type weighing struct {
	parts   []*weighed
	reading map[string][]*weighed // by variable
}

func (b *chainBuilder) weighAll(parts []conjunct) weighing {
	w := weighing{reading: map[string][]*weighed{}}
	for _, p := range parts {
		q := &weighed{conjunct: p, partial: partialTest(p.f)}
		b.weigh(q)
		w.parts = append(w.parts, q)
		for _, v := range b.freeVars(p.f) {
			if !b.bound[v] {
				w.reading[v] = append(w.reading[v], q)
			}
		}
	}
	return w
}

func (b *chainBuilder) weigh(p *weighed) { p.cost, p.known = b.cost(p.f), b.knownArgs(p.f) }

// cheapest returns the place of the conjunct that comes next, or -1. What can lack a
// value waits for everything written before it.
func (w *weighing) cheapest() int {
	next, least, most := -1, inadmissible, 0
	for i, p := range w.parts {
		cost := p.cost
		if i > 0 && p.partial {
			cost += costGuard
		}
		if cost < least || (cost == least && p.known > most) {
			next, least, most = i, cost, p.known
		}
	}
	return next
}

func (w *weighing) remove(i int) { w.parts = slices.Delete(w.parts, i, i+1) }

// knownArgs is the number of arguments of a predicate that are known: of two sets of facts
// the one with more is likely to be the smaller.
func (b *chainBuilder) knownArgs(f syntax.Formula) (n int) {
	p, ok := f.(*syntax.Pred)
	if !ok {
		return 0
	}
	for _, t := range p.Args {
		if b.known(t) {
			n++
		}
	}
	return n
}

// The costs by which conjuncts are ordered: estimates of how much work reaching
// the next conjunct takes, in no unit.
const (
	costTest     = 0  // a comparison
	costFact     = 1  // one known fact of the moment
	costMatch    = 2  // a search in a text
	costLookup   = 2  // one key of a window
	costNot      = 3  // a negated sub-formula
	costCheck    = 4  // a sub-formula to test
	costFacts    = 5  // facts of the moment
	costSeek     = 6  // part of a window
	costTuples   = 7  // a sub-formula to enumerate
	costOutside  = 7  // a test that an external relation makes, which may search
	costSelect   = 8  // part of an external relation, by constants alone
	costScan     = 9  // a whole window
	costGuard    = 50 // on top: a term to guard, before whatever was written before it
	inadmissible = 100
)

func (b *chainBuilder) cost(f syntax.Formula) int {
	free := b.freeVars(f)
	known := b.bound.all(free)
	choose := func(ifKnown, otherwise int) int {
		if known {
			return ifKnown
		}
		return otherwise
	}
	switch f := f.(type) {
	case *syntax.Bool:
		return costTest
	case *syntax.Cmp:
		if known || (f.Op == syntax.Eq && (b.binds(f.Left, f.Right) || b.binds(f.Right, f.Left))) {
			return costTest
		}
		return inadmissible
	case *syntax.Match:
		if known || (f.Op == syntax.Matches && b.known(f.Left)) {
			return costMatch
		}
		return inadmissible
	case *syntax.Agg:
		return b.aggCost(f)
	case *syntax.Not:
		if _, ok := f.F.(*syntax.Historically); ok {
			return choose(costLookup, inadmissible)
		}
		if b.testsOutside(f.F) {
			return choose(costOutside, inadmissible)
		}
		return choose(costNot, inadmissible)
	case *syntax.Historically:
		return choose(costLookup, inadmissible)
	case *syntax.Pred:
		if rel, ok := b.externalOf(f); ok {
			return b.externalCost(f, rel, known)
		}
		return choose(costFact, costFacts)
	case *syntax.Once, *syntax.Since:
		if !known && b.bound.any(free) {
			return costSeek
		}
		return choose(costLookup, costScan)
	case *syntax.Or, *syntax.Exists, *syntax.New:
		return choose(costCheck, costTuples)
	default:
		return inadmissible
	}
}

// partialTest tells whether a conjunct has a term that needs a guard and is evaluated
// with it. What stands in a window is evaluated when that takes in a time point.
func partialTest(f syntax.Formula) bool {
	switch f := f.(type) {
	case *syntax.Cmp:
		return partial(f.Left) || partial(f.Right)
	case *syntax.Match:
		return f.Op == syntax.Matches || partial(f.Left) || partial(f.Right)
	case *syntax.Agg:
		return ledgered(f) == nil && partialTest(f.F)
	case *syntax.Not, *syntax.And, *syntax.Or, *syntax.Exists, *syntax.Prev, *syntax.New:
		return slices.ContainsFunc(syntax.Children(f), partialTest)
	default:
		return false
	}
}
