package mfotl

import (
	"math"
	"slices"

	"github.com/aspis-rv/aspis/pkg/verdict"
)

// storeSpec describes the window of one ONCE, SINCE or HISTORICALLY at one delay. It
// is part of the plan and immutable once that is compiled.
type storeSpec struct {
	id        int32
	key       string // canonical text
	delay     int
	arity     int
	wit       int // witness words per entry
	lo, hi    uint64
	bounded   bool          // hi is a bound
	universal bool          // HISTORICALLY
	operand   *fused        // what enters the window
	left      *leftOp       // SINCE only
	indexes   [][]int       // column sets of the secondary indexes
	ledgers   []*ledgerSpec // of the aggregations over it
	reads     []int32       // this store and those it depends on, ascending
}

// ordered says that slots are linked in the order of their newest entries.
func (p *storeSpec) ordered() bool { return p.bounded || p.universal }

// gapped says that the interval may hold no time point at all, and that it matters.
func (p *storeSpec) gapped() bool { return p.universal && p.lo > 0 }

// primaryIndex is the number of the index on all columns.
const primaryIndex = -1

// indexOn returns the number of the index on some columns, which ascend.
func (p *storeSpec) indexOn(cols []int) int {
	if len(cols) == p.arity {
		return primaryIndex
	}
	for i, x := range p.indexes {
		if slices.Equal(x, cols) {
			return i
		}
	}
	p.indexes = append(p.indexes, cols)
	return len(p.indexes) - 1
}

// stride is the number of words of an entry.
func (p *storeSpec) stride() int {
	if p.universal {
		return heldWit + p.wit
	}
	return entWit + p.wit
}

// store is the content of one window within one trace. A slot is one tuple; it
// holds entries, oldest first: of those already within the interval only such as
// no newer one equals or exceeds in mark, so at most three; of those that still
// wait to enter it, at most three of every time stamp. What the entries of a
// HISTORICALLY are stands in held.go.
//
// Invariants, for a clock (the newest committed time point):
//  1. entries of a slot are in order of time points; no slot is without entries;
//  2. slots are linked in the order of their newest entries, if the window has an
//     upper bound or is that of a HISTORICALLY;
//  3. expiring and thinning out by the clock changes no later answer and is not
//     journaled; it happens to a store before its first journaled change of a step.
type store struct {
	spec    *storeSpec
	seed    uint64
	tally   *int // entries of all stores of the state
	stride  int
	clock   int64  // of the step under way; not part of the content
	step    uint64 // the step under way, for the ledgers
	undoing bool   // the journal is being undone

	words []word     // tuples by slot
	ents  [][]uint64 // entries by slot
	free  []int32
	n     int // slots in use
	size  int // entries and gaps

	primary index
	sec     []index
	ledgers []ledger
	// HISTORICALLY with a lower bound only.
	gaps    []gap
	settled uint64 // the index, plus one, of the time point up to which it is settled

	// Time order, where the spec is ordered.
	older, newer []int32
	oldest       int32
	newest       int32
}

func newStore(spec *storeSpec, seed uint64, tally *int) *store {
	all := make([]int, spec.arity)
	for i := range all {
		all[i] = i
	}
	s := &store{
		spec: spec, seed: seed, tally: tally, stride: spec.stride(), clock: math.MinInt64,
		primary: newIndex(all), oldest: -1, newest: -1,
	}
	for _, cols := range spec.indexes {
		s.sec = append(s.sec, newIndex(cols))
	}
	s.ledgers = newLedgers(spec.ledgers)
	return s
}

func (s *store) tuple(slot int32) []word {
	o := int(slot) * s.spec.arity
	return s.words[o : o+s.spec.arity : o+s.spec.arity]
}

// index returns an index by its number.
func (s *store) index(number int) *index {
	if number == primaryIndex {
		return &s.primary
	}
	return &s.sec[number]
}

// find returns the slot of a tuple, or -1.
func (s *store) find(key []word) int32 {
	g := s.primary.find(s, key)
	if g < 0 {
		return -1
	}
	return s.primary.groups[g].first
}

// eachSlot calls do for every slot in use, in no particular order. do may free the
// slot it is given.
func (s *store) eachSlot(do func(slot int32)) {
	for g := range s.primary.groups {
		if slot := s.primary.groups[g].first; slot >= 0 {
			do(slot)
		}
	}
}

func (s *store) eachKey(do func([]word)) {
	s.eachSlot(func(slot int32) { do(s.tuple(slot)) })
}

// count runs a change of a slot's entries and keeps the sizes right.
func (s *store) count(slot int32, change func()) {
	before := len(s.ents[slot])
	change()
	s.resize((len(s.ents[slot]) - before) / s.stride)
}

// resize notes that the store holds d more entries or gaps.
func (s *store) resize(d int) {
	s.size += d
	*s.tally += d
}

// make takes a free slot for a tuple, without entries, newest in time order.
func (s *store) make(key []word) int32 {
	var slot int32
	if n := len(s.free); n > 0 {
		slot = s.free[n-1]
		s.free = s.free[:n-1]
		copy(s.tuple(slot), key)
	} else {
		slot = int32(len(s.ents))
		s.words = append(s.words, key...)
		s.ents = append(s.ents, nil)
	}
	s.n++
	s.primary.insert(s, slot)
	for i := range s.sec {
		s.sec[i].insert(s, slot)
	}
	s.link(slot, s.newest)
	return slot
}

// drop frees a slot with all its entries.
func (s *store) drop(slot int32) {
	s.give(slot, 0, rowExpired)
	s.count(slot, func() { s.ents[slot] = s.ents[slot][:0] })
	s.unlink(slot)
	s.primary.remove(slot)
	for i := range s.sec {
		s.sec[i].remove(slot)
	}
	s.free = append(s.free, slot)
	s.n--
}

// revive undoes a drop. The free list is a stack and changes are undone last first,
// so the slot is on top of it.
func (s *store) revive(slot int32, key []word, ents []uint64, prev int32) {
	if got := s.make(key); got != slot {
		panic("mfotl: internal error: a slot was not freed last")
	}
	s.count(slot, func() { s.ents[slot] = append(s.ents[slot][:0], ents...) })
	s.noted(slot, rowChanged)
	s.move(slot, prev)
}

// link puts a slot into the time order after prev (-1: first).
func (s *store) link(slot, prev int32) {
	if !s.spec.ordered() {
		return
	}
	for int(slot) >= len(s.older) {
		s.older = append(s.older, -1)
		s.newer = append(s.newer, -1)
	}
	next := s.oldest
	if prev >= 0 {
		next = s.newer[prev]
		s.newer[prev] = slot
	} else {
		s.oldest = slot
	}
	if next >= 0 {
		s.older[next] = slot
	} else {
		s.newest = slot
	}
	s.older[slot], s.newer[slot] = prev, next
}

func (s *store) unlink(slot int32) {
	if !s.spec.ordered() {
		return
	}
	prev, next := s.older[slot], s.newer[slot]
	if prev >= 0 {
		s.newer[prev] = next
	} else {
		s.oldest = next
	}
	if next >= 0 {
		s.older[next] = prev
	} else {
		s.newest = prev
	}
}

// move puts a slot after prev in the time order; stay leaves it where it is.
func (s *store) move(slot, prev int32) {
	if prev != stay {
		s.unlink(slot)
		s.link(slot, prev)
	}
}

// touch makes a slot the newest and returns where it was.
func (s *store) touch(slot int32) (prev int32) {
	if !s.spec.ordered() || s.newest == slot {
		return stay
	}
	prev = s.older[slot]
	s.unlink(slot)
	s.link(slot, s.newest)
	return prev
}

// add records that a tuple entered the window at ts with a mark and a witness of
// the store's width. ts is not before that of any earlier entry.
func (s *store) add(j *journal, key []word, ts int64, m verdict.Value, wit []uint64) {
	slot := s.find(key)
	if slot < 0 {
		slot = s.make(key)
		j.log(slotMade, s, slot, stay)
		s.append(slot, ts, m, wit)
		return
	}
	s.thinIfDue(slot, s.clock)
	s.replacing(slot)
	prev := s.touch(slot)
	j.log(entryAdded, s, slot, prev)
	e := s.ents[slot]
	keep := len(e)
	for keep > 0 {
		at := keep - s.stride
		if entryMark(e, at) > m || (s.spec.lo > 0 && int64(e[at+entTS]) != ts) {
			break
		}
		keep = at
	}
	j.data = append(j.data, e[keep:]...)
	s.resize((keep - len(e)) / s.stride)
	s.ents[slot] = e[:keep]
	s.append(slot, ts, m, wit)
}

func (s *store) append(slot int32, ts int64, m verdict.Value, wit []uint64) {
	s.ents[slot] = append(append(s.ents[slot], uint64(ts), uint64(m)), wit...)
	s.resize(1)
	s.noted(slot, rowCame)
}

// limit lowers every entry of a slot to m; at T the slot is freed.
func (s *store) limit(j *journal, slot int32, m verdict.Value) {
	e := s.ents[slot]
	if m == verdict.T {
		j.log(slotFreed, s, slot, s.before(slot))
		j.data = append(append(j.data, s.tuple(slot)...), e...)
		s.give(slot, 0, rowLeft)
		s.drop(slot)
		return
	}
	logged := false
	for at := 0; at < len(e); at += s.stride {
		if entryMark(e, at) <= m {
			continue
		}
		if !logged {
			j.log(entriesSet, s, slot, stay)
			j.data = append(j.data, e...)
			logged = true
		}
		e[at+entMark] = uint64(m)
	}
	if logged {
		s.noted(slot, rowChanged)
	}
}

func (s *store) before(slot int32) int32 {
	if !s.spec.ordered() {
		return stay
	}
	return s.older[slot]
}
