package mfotl

import (
	"github.com/aspis-rv/aspis/internal/lang/syntax"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// ledgerAtom is an aggregation of a window that keeps a ledger for it.
type ledgerAtom struct {
	aggHead
	spec   *storeSpec
	ledger int
	cols   []int // columns of the groups
	bound  []int // which groups are bound before, ascending
	all    bool  // look at groups below the threshold of the ledger as well
	wit    bool  // a witness is asked for; else only by explanations
}

func (a *ledgerAtom) run(st *State, c *chain, k int, m verdict.Value) bool {
	s := st.stores[a.spec.id]
	if s == nil || s.n == 0 {
		return a.empty(st, c, k, m)
	}
	if clock, ok := st.clock(a.spec.delay); ok {
		s.expire(clock)
	}
	s.lapse(st, st.frame(a.spec.delay).ts)
	x := s.index(a.spec.ledgers[a.ledger].index)
	if len(a.bound) == len(a.groups) {
		key := st.key[:len(a.groups)]
		for i, slot := range a.groups {
			key[i] = st.env[slot]
		}
		if g := x.find(s, key); g >= 0 {
			return a.group(st, s, g, c, k, m)
		}
		return a.empty(st, c, k, m)
	}
	if a.all {
		return a.runAll(st, s, c, k, m)
	}
	for _, g := range s.ledgers[a.ledger].large {
		if a.matches(st, s.tuple(x.groups[g].first)) && !a.group(st, s, g, c, k, m) {
			return false
		}
	}
	return true
}

// runAll is run over every group that has a row.
func (a *ledgerAtom) runAll(st *State, s *store, c *chain, k int, m verdict.Value) bool {
	x := s.index(a.spec.ledgers[a.ledger].index)
	for g := range x.groups {
		if first := x.groups[g].first; first >= 0 && a.matches(st, s.tuple(first)) && !a.group(st, s, int32(g), c, k, m) {
			return false
		}
	}
	return true
}

// matches compares a tuple of a group with what is bound of the groups.
func (a *ledgerAtom) matches(st *State, t []word) bool {
	for _, i := range a.bound {
		if t[a.cols[i]] != st.env[a.groups[i]] {
			return false
		}
	}
	return true
}

// empty is the group without rows.
func (a *ledgerAtom) empty(st *State, c *chain, k int, m verdict.Value) bool {
	gm, class := a.standing(&tallied{})
	if gm == verdict.T {
		return true
	}
	if w, ok := a.value(st, class, nil); !ok || !a.admit(st, w) {
		return true
	}
	return a.follow(st, nil, c, k, verdict.Meet(m, gm))
}

func (a *ledgerAtom) group(st *State, s *store, g int32, c *chain, k int, m verdict.Value) bool {
	of := &s.ledgers[a.ledger].groups[g]
	n := &of.n
	if of.mixed > 0 {
		a.gather(st, s, g)
		n = &st.gather.n
	}
	gm, class := a.standing(n)
	if gm == verdict.T {
		return true
	}
	w, ok := a.valueOf(st, s, g, of, class)
	if !ok || !a.admit(st, w) {
		return true
	}
	if len(a.bound) < len(a.groups) {
		t := s.tuple(s.index(a.spec.ledgers[a.ledger].index).groups[g].first)
		for i, slot := range a.groups {
			st.env[slot] = t[a.cols[i]]
		}
	}
	return a.follow(st, a.witness(st, s, g, of, class), c, k, verdict.Meet(m, gm))
}

// valueOf is the value of a group. If time can change it, the group is gathered.
func (a *ledgerAtom) valueOf(st *State, s *store, g int32, of *groupLedger, c class) (word, bool) {
	switch {
	case c == none:
		return a.value(st, c, nil)
	case of.mixed > 0:
		return a.value(st, c, st.gather.values[c])
	case a.op == syntax.Count:
		return word(of.n.of(c)) << 2, true
	case of.swept == st.dict.sweeps+1 || of.swept == lasting:
		return of.value, true
	}
	var w word
	var ok bool
	if (a.op == syntax.Sum || a.op == syntax.Average) && of.other[c] == 0 {
		w, ok = a.ofSum(st, of.sums[c], int(of.n.of(c)))
	} else {
		a.gather(st, s, g)
		w, ok = a.value(st, c, st.gather.values[c])
		of.asked = true
	}
	if ok {
		of.valued = valued{w, st.dict.sweeps + 1}
	}
	return w, ok
}

// witness is that of a group, nil if it has none or none is asked for.
func (a *ledgerAtom) witness(st *State, s *store, g int32, of *groupLedger, c class) *newest {
	switch {
	case c == none || !a.wit && !st.explains:
		return nil
	case of.mixed > 0:
		return &st.gather.newest[c]
	case c == possible:
		a.gather(st, s, g)
		return &st.gather.newest[c]
	case of.witness == nil:
		of.witness = &groupWitness{}
	}
	if !of.witness.known {
		of.witness.recent = recent{s.ledgers[a.ledger].recent(s, g), true}
	}
	return &of.witness.newest
}

// gather collects the rows of a group that lie within the interval.
func (a *ledgerAtom) gather(st *State, s *store, g int32) {
	st.gather.reset()
	now := st.frame(a.spec.delay).ts
	spec := a.spec.ledgers[a.ledger]
	x := s.index(spec.index)
	for slot := x.groups[g].first; slot >= 0; slot = x.next[slot] {
		m, at := s.best(slot, now)
		if m != verdict.T {
			st.gather.add(s.tuple(slot)[spec.over], m, s.ents[slot][at+entWit:at+s.stride])
		}
	}
}
