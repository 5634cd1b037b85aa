package mfotl

import "github.com/aspis-rv/aspis/pkg/verdict"

// checkAtom is a quantifier or disjunction with every free variable bound.
type checkAtom struct {
	f *fused
}

func (a *checkAtom) run(st *State, c *chain, k int, m verdict.Value) bool {
	s := a.f.check(st)
	if s == verdict.T {
		return true
	}
	n := len(st.wit)
	st.wit = append(st.wit, st.levels[a.f.level].wit...)
	more := c.next(st, k, verdict.Meet(m, s))
	st.wit = st.wit[:n]
	return more
}

// tuplesAtom is a quantifier or disjunction that binds variables: those of the
// columns it collects.
type tuplesAtom struct {
	f *fused
}

func (a *tuplesAtom) run(st *State, c *chain, k int, m verdict.Value) bool {
	rel := a.f.collect(st)
	n := len(st.wit)
	for i := range rel.len() {
		for j, w := range rel.tuple(i) {
			st.env[a.f.out[j]] = w
		}
		st.wit = append(st.wit, rel.witness(i)...)
		more := c.next(st, k, verdict.Meet(m, rel.marks[i]))
		st.wit = st.wit[:n]
		if !more {
			return false
		}
	}
	return true
}
