package mfotl

import (
	"math"

	"github.com/aspis-rv/aspis/internal/lang/syntax"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// valued is the value of a group, if it is known.
type valued struct {
	value word
	// swept is the number of sweeps of the dictionary when it was computed, plus one;
	// lasting: it does not depend on the dictionary; 0: it is not known.
	swept uint64
}

const lasting = math.MaxUint64

// revalue brings the value of a group up to date as a slot, which still counts as it did,
// is about to count otherwise. A least or greatest integer is still known if the row is
// not the one, or new; after a roll-back it is what it was before the step.
func (l *ledger) revalue(s *store, number, slot int32, how uint8, kind noteKind) {
	g := &l.groups[number]
	switch {
	case s.undoing && g.step == s.step:
		g.valued = g.earlier
		return
	case s.undoing:
		g.swept = 0
		return
	case kind != rowExpired && g.step != s.step:
		if g.asked && g.swept == 0 {
			g.valued = l.extreme(s, number)
		}
		g.step, g.earlier = s.step, g.valued
	}
	if g.swept > 0 && !l.replaces(s, g, slot, how) {
		g.swept = 0
	}
}

// replaces brings a least or greatest integer up to date, and tells whether it could.
func (l *ledger) replaces(s *store, g *groupLedger, slot int32, after uint8) bool {
	w, was, how := s.tuple(slot)[l.spec.over], verdict.Value(l.given[slot]&givenMark), verdict.Value(after&givenMark)
	if !l.spec.extreme() || g.mixed > 0 || was == verdict.Tp || how == verdict.Tp || (w|g.value)&tagMask != tagInt {
		return false
	}
	others := g.n.of(certain) // the value is that of certain rows if there are any
	if was != verdict.T {
		others--
	}
	switch {
	case others == 0:
		return false
	case how == verdict.T:
		return w != g.value
	case was == verdict.T && l.spec.beyond(w, g.value):
		g.value = w
	}
	return true
}

// extreme finds the least or greatest integer of a group whose marks time cannot change;
// it is not known if there are other values, or no certain row.
func (l *ledger) extreme(s *store, g int32) (v valued) {
	if !l.spec.extreme() || l.groups[g].mixed > 0 {
		return v
	}
	x := s.index(l.spec.index)
	for slot := x.groups[g].first; slot >= 0; slot = x.next[slot] {
		w, m := s.tuple(slot)[l.spec.over], verdict.Value(l.given[slot]&givenMark)
		switch {
		case m == verdict.T || classOf(m) != certain:
		case w&tagMask != tagInt:
			return valued{}
		case v.swept == 0 || l.spec.beyond(w, v.value):
			v = valued{value: w, swept: lasting}
		}
	}
	return v
}

// extreme tells whether the aggregation picks one of the values.
func (p *ledgerSpec) extreme() bool { return p.op == syntax.Min || p.op == syntax.Max }

// beyond tells whether integer a is less than b for MIN, and greater for MAX.
func (p *ledgerSpec) beyond(a, b word) bool {
	return a != b && (int64(a) < int64(b)) == (p.op == syntax.Min)
}
