package check

import (
	"math"

	"github.com/aspis-rv/aspis/internal/lang/syntax"
)

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
	switch f := f.(type) {
	case *syntax.Pred:
		if f.Name == "tp" || f.Name == "tpts" {
			n = math.MaxInt64
		}
	case *syntax.Prev:
		n = further(n, f.I)
	case *syntax.Once:
		n = further(n, f.I)
	case *syntax.Historically:
		n = further(n, f.I)
	case *syntax.Since:
		n = further(n, f.I)
	case *syntax.Bool, *syntax.Cmp, *syntax.Not, *syntax.And, *syntax.Or, *syntax.Implies, *syntax.Equiv,
		*syntax.Exists, *syntax.Forall:
	}
	r.of[f] = n
	return n
}

func further(n int64, i syntax.Interval) int64 {
	if i.Unbounded || n > math.MaxInt64-max(0, i.Hi) {
		return math.MaxInt64
	}
	return n + i.Hi
}
