package mfotl

import (
	"github.com/aspis-rv/aspis/internal/lang/syntax"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// gateAtom is PREVIOUS: it lets pass if there is a time point before the one at
// delay, within the interval. Its operand is evaluated one delay later.
type gateAtom struct {
	f      *syntax.Prev
	delay  int
	lo, hi uint64
}

func (a *gateAtom) run(st *State, c *chain, k int, m verdict.Value) bool {
	if st.points < uint64(a.delay)+2 {
		return true
	}
	gap := age(st.frame(a.delay).ts, st.frame(a.delay+1).ts)
	if gap < a.lo || gap > a.hi {
		return true
	}
	return c.next(st, k, m)
}
