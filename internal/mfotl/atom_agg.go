package mfotl

import (
	"slices"

	"github.com/aspis-rv/aspis/pkg/verdict"
)

// aggHead is what the two ways to evaluate an aggregation share: what becomes of the
// value of a group.
type aggHead struct {
	aggregate
	result int // environment slot
	known  bool
	// tests are the comparisons of the result that follow in the chain: they are made
	// before anything else of the group is looked at.
	tests  []test
	groups []int // environment slots of the group's variables
}

// admit binds the result and tells whether the group may satisfy the chain.
func (a *aggHead) admit(st *State, w word) bool {
	if a.known {
		if st.env[a.result] != w {
			return false
		}
	} else {
		st.env[a.result] = w
	}
	for _, t := range a.tests {
		if !t.holds(st) {
			return false
		}
	}
	return true
}

// follow goes on with the chain for a group whose variables are bound.
func (a *aggHead) follow(st *State, wit *newest, c *chain, k int, m verdict.Value) bool {
	n := len(st.wit)
	if wit != nil {
		st.wit = append(st.wit, wit.words[:wit.n]...)
	}
	more := c.next(st, k, m)
	st.wit = st.wit[:n]
	return more
}

// aggAtom is an aggregation of any formula: its tuples are collected, under the groups
// that are bound, and dealt out to the groups.
type aggAtom struct {
	aggHead
	f    *fused // its columns are those of groups, then the others
	over int    // the column aggregated
}

func (a *aggAtom) run(st *State, c *chain, k int, m verdict.Value) bool {
	rel := a.f.collect(st)
	lv := &st.levels[a.f.level]
	lv.order = lv.order[:0]
	for i := range rel.len() {
		lv.order = append(lv.order, int32(i))
	}
	width := len(a.groups)
	if width > 0 {
		slices.SortFunc(lv.order, func(x, y int32) int {
			return slices.Compare(rel.tuple(int(x))[:width], rel.tuple(int(y))[:width])
		})
	}
	for lo := 0; lo < len(lv.order) || (lo == 0 && width == 0); {
		hi := lo + 1
		for hi < len(lv.order) && slices.Equal(rel.tuple(int(lv.order[lo]))[:width], rel.tuple(int(lv.order[hi]))[:width]) {
			hi++
		}
		if !a.group(st, rel, lv.order[lo:min(hi, len(lv.order))], c, k, m) {
			return false
		}
		lo = hi
	}
	return true
}

// group evaluates one group, given by its rows.
func (a *aggAtom) group(st *State, rel *relation, rows []int32, c *chain, k int, m verdict.Value) bool {
	g := &st.gather
	g.reset()
	for _, i := range rows {
		g.add(rel.tuple(int(i))[a.over], rel.marks[i], rel.witness(int(i)))
	}
	gm, class := a.standing(&g.n)
	if gm == verdict.T {
		return true
	}
	var values []word
	var wit *newest
	if class != none {
		values = g.values[class]
		wit = &g.newest[class]
	}
	w, ok := a.value(st, class, values)
	if !ok || !a.admit(st, w) {
		return true
	}
	for i, slot := range a.groups {
		st.env[slot] = rel.tuple(int(rows[0]))[i]
	}
	return a.follow(st, wit, c, k, verdict.Meet(m, gm))
}
