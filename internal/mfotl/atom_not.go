package mfotl

import "github.com/aspis-rv/aspis/pkg/verdict"

// notAtom is negation with every free variable bound. It contributes no witness.
type notAtom struct {
	f *fused
}

func (a *notAtom) run(st *State, c *chain, k int, m verdict.Value) bool {
	n := verdict.Negate(a.f.check(st))
	if n == verdict.T {
		return true
	}
	return c.next(st, k, verdict.Meet(m, n))
}
