package mfotl

import (
	"math"

	"github.com/aspis-rv/aspis/internal/lang/syntax"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// An aggregation over one window that reaches up to the present is not recomputed: the
// window keeps, for every group, how many tuples of each mark it holds and what they sum
// up to. This is exact at a time point once the tuples that its time stamp puts out of
// the interval are taken off (lapse), which is undone if the step is rolled back. What
// cannot be kept that way (an order, a sum of floats, whose rounding depends on the order)
// is computed from the tuples of the group when it is asked for, and remembered until the
// group changes.

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

// valued is the value of a group, if it is known.
type valued struct {
	value word
	// swept is the number of sweeps of the dictionary when it was computed, plus one;
	// lasting: it does not depend on the dictionary; 0: it is not known.
	swept uint64
}

const lasting = math.MaxUint64

// groupWitness is the witness of the certain rows of a group.
type groupWitness struct {
	recent
	before recent // before the last step that changed the group
	step   uint64 // that step
}

// recent is a witness, if it is known.
type recent struct {
	newest
	known bool
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

// undone gives a group back the witness it had before the step that is being rolled back,
// and tells whether one is.
func (s *store) undone(w *groupWitness) bool {
	if s.undoing {
		w.recent = w.before
		w.known = w.known && w.step == s.step
	}
	return s.undoing
}

// begin keeps the witness of a group before the first change in a step, so that it is
// there again if the step is rolled back. The ledger, and unless the kind is rowChanged
// the entries too, are as they were before.
func (l *ledger) begin(s *store, g int32, kind noteKind) {
	w := l.groups[g].witness
	if w.step == s.step || kind == rowExpired {
		return
	}
	if !w.known && kind != rowChanged {
		w.recent = recent{l.recent(s, g), true}
	}
	w.step, w.before = s.step, w.recent
}

// change keeps a witness up to date as a slot with entries e comes or goes. A row that goes
// with an offset among the newest leaves it unknown.
func (w *groupWitness) change(s *store, e []uint64, c class, kind noteKind) {
	switch kind {
	case rowCame:
		if c == certain && w.known {
			w.add(e[entWit:s.stride])
		}
	case rowLeft, rowExpired:
		if c == certain && w.holds(e[entWit:s.stride]) {
			w.known = false
		}
	case rowChanged:
		w.known = false
	}
}

// recent is the witness of the certain rows of a group whose marks time cannot change.
// It costs the number of its rows.
func (l *ledger) recent(s *store, g int32) (w newest) {
	x := s.index(l.spec.index)
	for slot := x.groups[g].first; slot >= 0; slot = x.next[slot] {
		if m := verdict.Value(l.given[slot] & givenMark); m == verdict.T || classOf(m) != certain {
			continue
		}
		e, best := s.ents[slot], 0
		for at := s.stride; at < len(e); at += s.stride {
			if entryMark(e, at) >= entryMark(e, best) {
				best = at
			}
		}
		w.add(e[best+entWit : best+s.stride])
	}
	return w
}

// holds tells whether an offset of a row's witness may be among the newest.
func (w *newest) holds(wit []uint64) bool {
	return len(wit) > 0 && w.n > 0 && wit[0] >= w.words[w.n-1]
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
