package mfotl

import "github.com/aspis-rv/aspis/pkg/verdict"

// journal remembers how to undo every change that the pending step made to the
// stores, newest last. Undoing costs as much as the changes did.
type journal struct {
	recs []change
	data []uint64 // what the changes overwrote
}

// change is one reversible change of one slot.
type change struct {
	kind  changeKind
	store int32
	slot  int32
	prev  int32 // the slot's predecessor in time order before the change, or stay
	off   int32 // where the change's data starts; it ends where that of the next does
}

type changeKind uint8

const (
	slotMade   changeKind = iota // the slot is new
	slotFreed                    // data: its tuple and entries
	entryAdded                   // one entry appended; data: those it displaced from the end
	entriesSet                   // data: all entries as they were
	tailSet                      // data: the length of what stayed, and what stood behind it
	gapMade                      // one gap appended
	slotLapsed                   // taken off the ledgers
)

// stay stands for a predecessor when a slot did not move in the time order.
const stay = -2

func (j *journal) log(kind changeKind, s *store, slot, prev int32) {
	j.recs = append(j.recs, change{kind: kind, store: s.spec.id, slot: slot, prev: prev, off: int32(len(j.data))})
}

// undo takes every change back and leaves the journal empty.
func (j *journal) undo(stores []*store) {
	for i := len(j.recs) - 1; i >= 0; i-- {
		c := &j.recs[i]
		s := stores[c.store]
		data := j.data[c.off:]
		s.undoing = true
		switch c.kind {
		case slotMade:
			s.drop(c.slot)
		case slotFreed:
			a := s.spec.arity
			s.revive(c.slot, data[:a], data[a:], c.prev)
		case entryAdded:
			e := s.ents[c.slot]
			s.count(c.slot, func() { s.ents[c.slot] = append(e[:len(e)-s.stride], data...) })
			s.noted(c.slot, rowChanged)
			s.move(c.slot, c.prev)
		case entriesSet:
			s.count(c.slot, func() { s.ents[c.slot] = append(s.ents[c.slot][:0], data...) })
			s.noted(c.slot, rowChanged)
		case tailSet:
			s.count(c.slot, func() { s.ents[c.slot] = append(s.ents[c.slot][:data[0]], data[1:]...) })
			s.move(c.slot, c.prev)
		case gapMade:
			s.gaps = s.gaps[:len(s.gaps)-1]
			s.resize(-1)
		case slotLapsed:
			s.noted(c.slot, rowChanged)
		}
		s.undoing = false
		j.data = j.data[:c.off]
	}
	j.clear()
}

// clear forgets the changes.
func (j *journal) clear() {
	if cap(j.recs) > keepWords/4 || cap(j.data) > keepWords {
		*j = journal{}
		return
	}
	j.recs, j.data = j.recs[:0], j.data[:0]
}

// entry layout within a slot: time stamp, mark, witness. (HISTORICALLY has its own
// layout, held.go, with the mark at the same place.)
const (
	entTS   = 0
	entMark = 1
	entWit  = 2
)

func entryMark(e []uint64, at int) verdict.Value { return verdict.Value(e[at+entMark]) }
