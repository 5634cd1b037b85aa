package mfotl

import (
	"github.com/aspis-rv/aspis/internal/lang/syntax"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// An aggregation over one window that reaches up to the present is not recomputed: the
// window keeps, for every group, how many tuples of each mark it holds and what they sum
// up to. This is exact at a time point once the tuples that its time stamp puts out of
// the interval are taken off (lapse), which is undone if the step is rolled back. What
// cannot be kept that way (an order, a sum of floats, whose rounding depends on the order)
// is computed from the tuples of the group when it is asked for, and remembered until the
// group changes (ledger_value.go, ledger_witness.go).

// ledgerSpec describes what a window keeps for an aggregation.
type ledgerSpec struct {
	op    syntax.AggOp
	index int // the index on the columns of the groups
	over  int // the column aggregated
	// least is the number of rows, at least 1, below which nobody asks for a group
	// unless by its key.
	least int32
}

// ledger is what one store keeps for one aggregation. It follows from the entries of
// the store, and is no part of the state.
type ledger struct {
	spec   *ledgerSpec
	given  []uint8       // by slot: how it counts; 0: not
	groups []groupLedger // by group of the index
	large  []int32       // the groups of spec.least rows or more, in no order
}

// How a slot counts is its mark, and whether that can change by the passing of time
// alone.
const (
	givenMark  uint8 = 3
	givenMixed uint8 = 4
)

// groupLedger is what is known of one group. The value is remembered until the group
// changes, but no longer than until the dictionary is swept; the witness is kept up to date
// as rows come and as old ones go.
type groupLedger struct {
	n     tallied
	mixed int32       // slots whose mark time can change
	large int32       // where it stands in the list of large groups, plus one
	other [none]int32 // values that are no integers of 62 bits, by class
	sums  [none]wide  // of those that are, by class

	valued
	earlier valued // before the last step that changed the group
	step    uint64 // that step
	asked   bool   // the value has been asked for

	witness *groupWitness // nil: nobody has asked for it yet
}

// noteKind is what happens to a slot that a ledger counts.
type noteKind uint8

const (
	rowCame    noteKind = iota // its one entry is new
	rowLeft                    // it no longer counts, which the journal has
	rowExpired                 // it no longer counts, for good
	rowChanged                 // anything else
)

func newLedgers(specs []*ledgerSpec) []ledger {
	out := make([]ledger, len(specs))
	for i, spec := range specs {
		out[i].spec = spec
	}
	return out
}

// noted brings the ledgers up to date after the entries of a slot have changed. It is
// O(1), since a slot has three entries at most.
func (s *store) noted(slot int32, kind noteKind) {
	if len(s.ledgers) == 0 {
		return
	}
	how := uint8(verdict.T)
	e := s.ents[slot]
	for at := 0; at < len(e); at += s.stride {
		how = max(how, uint8(entryMark(e, at)))
	}
	if len(e) > s.stride {
		kind = rowChanged
		if s.spec.bounded {
			how |= givenMixed
		}
	}
	s.give(slot, how, kind)
}

// give records how a slot counts.
func (s *store) give(slot int32, how uint8, kind noteKind) {
	for i := range s.ledgers {
		l := &s.ledgers[i]
		g := s.index(l.spec.index).groupOf[slot]
		for int(slot) >= len(l.given) {
			l.given = append(l.given, 0)
		}
		for int(g) >= len(l.groups) {
			l.groups = append(l.groups, groupLedger{})
		}
		was := l.given[slot]
		if was == 0 && how == 0 {
			continue
		}
		of := &l.groups[g]
		if of.witness != nil && !s.undone(of.witness) {
			l.begin(s, g, kind)
			of.witness.change(s, s.ents[slot], classOf(verdict.Value(max(was, how)&givenMark)), kind)
		}
		l.revalue(s, g, slot, how, kind)
		l.given[slot] = how
		if was != how {
			of.recount(s.tuple(slot)[l.spec.over], was, how)
			l.resize(g)
		}
	}
}

// resize brings the list of large groups up to date after a group has changed.
func (l *ledger) resize(g int32) {
	of := &l.groups[g]
	switch large := of.n[verdict.F]+of.n[verdict.Fp]+of.n[verdict.Tp] >= l.spec.least; {
	case large && of.large == 0:
		l.large = append(l.large, g)
		of.large = int32(len(l.large))
	case !large && of.large > 0:
		last := len(l.large) - 1
		moved := l.large[last]
		l.large[of.large-1] = moved
		l.groups[moved].large = of.large
		l.large = l.large[:last]
		of.large = 0
	}
}

// replacing prepares the ledgers for a change of the entries of a slot that counts.
func (s *store) replacing(slot int32) {
	for i := range s.ledgers {
		l := &s.ledgers[i]
		g := s.index(l.spec.index).groupOf[slot]
		of := &l.groups[g]
		if of.witness == nil {
			continue
		}
		kind := rowLeft
		if len(s.ents[slot]) > s.stride {
			kind = rowChanged
		}
		l.begin(s, g, rowLeft)
		of.witness.change(s, s.ents[slot], classOf(verdict.Value(l.given[slot]&givenMark)), kind)
	}
}

// recount moves a value from the way it counted to the way it counts.
func (g *groupLedger) recount(w word, was, how uint8) {
	if m := verdict.Value(was & givenMark); m != verdict.T {
		g.n[m]--
		if c := classOf(m); w&tagMask == tagInt {
			g.sums[c].sub(int64(w) >> 2)
		} else {
			g.other[c]--
		}
	}
	if m := verdict.Value(how & givenMark); m != verdict.T {
		g.n[m]++
		if c := classOf(m); w&tagMask == tagInt {
			g.sums[c].add(int64(w) >> 2)
		} else {
			g.other[c]++
		}
	}
	g.mixed += int32(how/givenMixed) - int32(was/givenMixed)
	if g.n == (tallied{}) && g.witness != nil {
		g.witness.recent = recent{known: true}
	}
}

// lapse takes the slots off the ledgers that are out of the interval for good at the
// pending time point. It is journaled: they are freed only when the step is adopted.
func (s *store) lapse(st *State, now int64) {
	if !s.spec.bounded {
		return
	}
	s.step = st.step
	for slot := s.oldest; slot >= 0; slot = s.newer[slot] {
		e := s.ents[slot]
		if age(now, int64(e[len(e)-s.stride+entTS])) <= s.spec.hi {
			return
		}
		if s.ledgers[0].given[slot] != 0 {
			st.journal.log(slotLapsed, s, slot, stay)
			s.give(slot, 0, rowLeft)
		}
	}
}
