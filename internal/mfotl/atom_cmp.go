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

// test is an atom that binds nothing and has no mark of its own.
type test interface {
	atom
	// holds evaluates it under st.env.
	holds(st *State) bool
}

// cmpAtom compares two known values. Values of different kinds satisfy no
// comparison.
type cmpAtom struct {
	op          syntax.CmpOp
	left, right operand
}

func (a *cmpAtom) run(st *State, c *chain, k int, m verdict.Value) bool {
	if !a.holds(st) {
		return true
	}
	return c.next(st, k, m)
}

func (a *cmpAtom) holds(st *State) bool {
	l, r := a.left.in(st), a.right.in(st)
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
	return a.op.Holds(order)
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

// exprCmpAtom compares two terms.
type exprCmpAtom struct {
	op          syntax.CmpOp
	left, right expr
}

func (a *exprCmpAtom) run(st *State, c *chain, k int, m verdict.Value) bool {
	if !a.holds(st) {
		return true
	}
	return c.next(st, k, m)
}

func (a *exprCmpAtom) holds(st *State) bool {
	l, ok := a.left.value(st)
	if !ok {
		return false
	}
	r, ok := a.right.value(st)
	return ok && l.Kind == r.Kind && a.op.Holds(schema.Compare(l, r))
}

// exprBindAtom is `x = t` where x is not bound yet and t is computed.
type exprBindAtom struct {
	slot int
	from expr
}

func (a *exprBindAtom) run(st *State, c *chain, k int, m verdict.Value) bool {
	v, ok := a.from.value(st)
	if !ok {
		return true
	}
	st.env[a.slot] = st.intern(v)
	return c.next(st, k, m)
}

// falseAtom is FALSE.
type falseAtom struct{}

func (falseAtom) run(*State, *chain, int, verdict.Value) bool { return true }
