package mfotl

import (
	"github.com/aspis-rv/aspis/internal/lang/syntax"
	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// operand is a term of a comparison: an environment slot, or a constant when the
// slot is negative.
type operand struct {
	slot int
	word word
}

func (o operand) in(st *State) word {
	if o.slot < 0 {
		return o.word
	}
	return st.env[o.slot]
}

// cmpAtom compares two known values. Values of different kinds satisfy no
// comparison.
type cmpAtom struct {
	op          syntax.CmpOp
	left, right operand
}

func (a *cmpAtom) run(st *State, c *chain, k int, m verdict.Value) bool {
	if !a.holds(st, a.left.in(st), a.right.in(st)) {
		return true
	}
	return c.next(st, k, m)
}

func (a *cmpAtom) holds(st *State, l, r word) bool {
	if a.op == syntax.Eq {
		return l == r
	}
	var order int
	if l&tagMask == tagInt && r&tagMask == tagInt {
		order = compareInts(int64(l), int64(r))
	} else {
		lv, rv := st.value(l), st.value(r)
		if lv.Kind != rv.Kind {
			return false
		}
		order = schema.Compare(lv, rv)
	}
	switch a.op {
	case syntax.Eq:
		return order == 0
	case syntax.Less:
		return order < 0
	case syntax.LessEq:
		return order <= 0
	case syntax.Greater:
		return order > 0
	case syntax.GreaterEq:
		return order >= 0
	}
	return false
}

func compareInts(a, b int64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// bindAtom is `x = t` where x is not bound yet.
type bindAtom struct {
	slot int
	from operand
}

func (a *bindAtom) run(st *State, c *chain, k int, m verdict.Value) bool {
	st.env[a.slot] = a.from.in(st)
	return c.next(st, k, m)
}

// falseAtom is FALSE.
type falseAtom struct{}

func (falseAtom) run(*State, *chain, int, verdict.Value) bool { return true }
