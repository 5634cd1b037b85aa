package check

import (
	"math"
	"slices"

	"github.com/aspis-rv/aspis/internal/lang/syntax"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// Triggered reports whether a time point with the facts allows the formula to hold there at
// all, whatever became of the world there.
func (c *Checked) Triggered(facts []schema.Fact) bool { return c.TriggeredBy(facts, true) }

// TriggeredBy reports whether a time point with the facts allows the formula to hold there
// at all: one of them is of a relation in Anchors, or the world has changed there and there
// are Effects, or neither are there any. A caller that knows better what has changed than
// that something has may say so of the relations in Effects alone.
func (c *Checked) TriggeredBy(facts []schema.Fact, changed bool) bool {
	if len(c.Effects) > 0 && changed || len(c.Effects)+len(c.Anchors) == 0 {
		return true
	}
	return slices.ContainsFunc(facts, func(f schema.Fact) bool {
		return slices.Contains(c.Anchors, f.Name)
	})
}

// Reach is how far before a time point, in the unit of its intervals, something lies at
// most on which the value of the formula there may depend: its nested upper bounds added
// up, and math.MaxInt64 for a formula with an unbounded operator, or that reads the
// index of a time point. The cost is linear in its nodes, shared ones counted once.
func (c *Checked) Reach() int64 {
	if c.Core == nil {
		return math.MaxInt64
	}
	r := reach{of: map[syntax.Formula]int64{}}
	return r.visit(c.Core)
}

type reach struct{ of map[syntax.Formula]int64 }

// visit is how far f reaches back; math.MaxInt64 is for ever.
func (r *reach) visit(f syntax.Formula) int64 {
	if n, ok := r.of[f]; ok {
		return n
	}
	var n int64
	for _, c := range syntax.Children(f) {
		n = max(n, r.visit(c))
	}
	i, _ := intervalOf(f)
	p, isPred := f.(*syntax.Pred)
	switch {
	case isPred && (p.Name == "tp" || p.Name == "tpts"):
		n = math.MaxInt64
	case past(f):
		n = further(n, i)
	}
	r.of[f] = n
	return n
}

// Horizon is how far after a time point, in the unit of its intervals, something lies at
// most on which the value of the formula there may depend: the value is known when a
// time point beyond that was read. It is 0 for a formula about the past. Without a bound,
// as NEXT has none of its own, it is math.MaxInt64 and false. The cost is that of Reach.
func (c *Checked) Horizon() (n int64, bounded bool) {
	if c.Core == nil {
		return math.MaxInt64, false
	}
	n = horizon(c.Core, map[syntax.Formula]int64{})
	return n, n != math.MaxInt64
}

// Future tells whether the formula depends on later time points.
func (c *Checked) Future() bool {
	if c.Core == nil {
		return false
	}
	return readsFuture(c.Core, map[syntax.Formula]bool{})
}

func horizon(f syntax.Formula, of map[syntax.Formula]int64) int64 {
	if n, ok := of[f]; ok {
		return n
	}
	var n int64
	for _, c := range syntax.Children(f) {
		n = max(n, horizon(c, of))
	}
	if future(f) {
		i, _ := intervalOf(f)
		n = further(n, i)
	}
	of[f] = n
	return n
}

func readsFuture(f syntax.Formula, seen map[syntax.Formula]bool) bool {
	if seen[f] {
		return false
	}
	seen[f] = true
	return future(f) || slices.ContainsFunc(syntax.Children(f), func(c syntax.Formula) bool { return readsFuture(c, seen) })
}

func further(n int64, i syntax.Interval) int64 {
	if i.Unbounded || n > math.MaxInt64-max(0, i.Hi) {
		return math.MaxInt64
	}
	return n + i.Hi
}
