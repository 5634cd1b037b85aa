package mfotl

import (
	"math"

	"github.com/aspis-rv/aspis/pkg/verdict"
)

// The window of a HISTORICALLY holds, for a tuple, the time points at which the
// operand has a lesser mark than F: HISTORICALLY I f is NOT ONCE I NOT f. There are
// too many to list, since a tuple of which nothing is said fails at every one; so
// they are kept as segments, and a tuple that has failed for so long that it cannot
// be told from one that always did has no slot. The entries of a slot are, oldest
// first:
//
//   - segments: consecutive time points at which the operand has the mark of the
//     entry, which is T, Tp or Fp, with the time stamps of the first and the last of
//     them. A segment of mark T that is the newest entry is still going on;
//   - at the end, unless there is one of those, the run: the operand has a mark other
//     than T ever since the last segment of mark T, or since the trace began. It has
//     mark F and gives the index of its newest time point. If that is not the newest
//     of the trace, the tuple fails since the one after, which becomes a segment when
//     the store is settled.
//
// A segment of mark T carries the witness of the run before it, a run its own: where
// its first time point stands in the log, as offset plus one, and the witness of the
// operand at its newest time point.
//
// A segment counts if the interval reaches a time stamp from its first to its last.
// That is exact unless the interval lies between two consecutive time points and
// holds none at all; when it does is seen from the gaps (gap.go).
const (
	heldTo   = 0 // of a segment; of a run the index of its newest time point
	heldMark = entMark
	heldFrom = 2
	heldWit  = 3 // the run's first time point, then the operand's witness
)

// heldEver stands for the beginning of a segment that began before the tuple was
// heard of.
const heldEver = math.MinInt64

func firstOf(e []uint64, at int) int64 { return int64(e[at+heldFrom]) }
func lastOf(e []uint64, at int) int64  { return int64(e[at+heldTo]) }

// holding says that the operand has a mark other than T for a tuple at a time point.
type holding struct {
	now    moment
	source uint64 // of the time point
	before int64  // time stamp of the time point before; of no meaning at the first
	mark   verdict.Value
	wit    []uint64
}

// tail returns the entries of a slot and where the newest one starts.
func (s *store) tail(slot int32) (e []uint64, at int) {
	e = s.ents[slot]
	return e, len(e) - s.stride
}

// hold records that a tuple holds at a time point. It costs amortised O(1).
func (s *store) hold(j *journal, key []word, h *holding) {
	slot := s.find(key)
	if slot < 0 {
		if s.spec.bounded || h.now.index == 0 {
			s.begin(j, key, h)
		}
		return
	}
	e, last := s.tail(slot)
	failing := entryMark(e, last) == verdict.T
	if failing && !s.spec.bounded {
		return // it will never have held at all time points
	}
	s.forget(slot, h.before)
	e, last = s.tail(slot)
	prev := s.touch(slot)
	j.log(tailSet, s, slot, prev)
	if failing {
		j.data = append(append(j.data, uint64(last)), e[last:]...)
		e[last+heldTo] = uint64(h.before)
		s.reach(slot, s.weaken(e, h), h, h.source)
		return
	}
	w := s.weaken(e[:last], h)
	j.data = append(append(j.data, uint64(w.keep)), e[w.keep:]...)
	s.reach(slot, w, h, e[last+heldWit])
}

// begin makes the slot of a tuple. It failed at every time point before this one.
func (s *store) begin(j *journal, key []word, h *holding) {
	slot := s.make(key)
	j.log(slotMade, s, slot, stay)
	if h.now.index > 0 {
		s.count(slot, func() {
			s.ents[slot] = s.segment(s.ents[slot], verdict.T, heldEver, h.before)
		})
	}
	s.reach(slot, s.weaken(s.ents[slot], h), h, h.source)
}

// weakened is what becomes of the segments of a slot when the operand has a mark for
// its tuple: some words stay, and a segment follows them if there is one to add.
type weakened struct {
	keep int
	add  bool
	from int64
}

// weaken finds what a mark makes of segments e, none of which is going on. The new
// segment takes the place of those of the same time stamp with a mark not below its
// own, so that there are at most three of every time stamp. Without an upper bound it
// must have a mark below that of every other to be seen at all.
func (s *store) weaken(e []uint64, h *holding) weakened {
	w := weakened{keep: len(e), from: h.now.ts}
	if h.mark == verdict.F {
		return w
	}
	if at := w.keep - s.stride; at >= 0 && !s.spec.bounded && entryMark(e, at) <= h.mark {
		return w
	}
	w.add = true
	for ; w.keep > 0; w.keep -= s.stride {
		at := w.keep - s.stride
		if entryMark(e, at) < h.mark || (s.spec.lo > 0 && firstOf(e, at) != h.now.ts) {
			break
		}
	}
	// A segment that reached the time point before goes on. If it did not, but reached
	// one of the same time stamp, no interval can tell.
	if at := w.keep - s.stride; at >= 0 && entryMark(e, at) == h.mark && lastOf(e, at) == h.before {
		w.keep, w.from = at, firstOf(e, at)
	}
	return w
}

// reach writes what weaken found, and the run, which began at a given time point.
func (s *store) reach(slot int32, w weakened, h *holding, began uint64) {
	s.count(slot, func() {
		e := s.ents[slot][:w.keep]
		if w.add {
			e = s.segment(e, h.mark, w.from, h.now.ts)
		}
		e = append(e, h.now.index, uint64(verdict.F), 0, began)
		s.ents[slot] = append(e, h.wit...)
	})
}

// segment appends a segment without witness.
func (s *store) segment(e []uint64, m verdict.Value, from, to int64) []uint64 {
	e = append(e, uint64(to), uint64(m), uint64(from))
	for range s.spec.wit {
		e = append(e, 0)
	}
	return e
}

// settle brings the store up to the newest committed time point: runs that ended
// before it become segments, and slots of which nothing can be seen any more are
// freed. It must be done for every time point if the interval has a lower bound; if
// not, a run that has ended is over. The cost is that of what it changes and of the
// tuples that held at that time point, once.
func (s *store) settle(now moment) {
	if s.settled == now.index+1 {
		return
	}
	s.settled = now.index + 1
	if s.spec.lo == 0 {
		for s.oldest >= 0 {
			if e, at := s.tail(s.oldest); e[at+heldTo] == now.index {
				return
			}
			s.drop(s.oldest)
		}
		return
	}
	for slot := s.newest; slot >= 0; slot = s.older[slot] {
		e, at := s.tail(slot)
		if entryMark(e, at) == verdict.T {
			break
		}
		if e[at+heldTo] != now.index {
			s.fail(slot, now.ts)
		}
	}
	for s.oldest >= 0 {
		e, at := s.tail(s.oldest)
		if entryMark(e, at) != verdict.T || age(now.ts, firstOf(e, at)) < s.spec.lo {
			break
		}
		s.drop(s.oldest)
	}
	s.closeGaps(now.ts)
}

// fail ends the run of a slot at the committed time point with time stamp ts.
func (s *store) fail(slot int32, ts int64) {
	s.count(slot, func() {
		e, run := s.tail(slot)
		at := run
		for at > 0 && entryMark(e, at-s.stride) != verdict.T && firstOf(e, at-s.stride) == ts {
			at -= s.stride
		}
		if at > 0 && entryMark(e, at-s.stride) == verdict.T && firstOf(e, at-s.stride) == ts {
			s.ents[slot] = e[:at] // it failed at the same time stamp before
			return
		}
		copy(e[at:at+s.stride], e[run:])
		e[at+heldTo], e[at+heldMark], e[at+heldFrom] = uint64(ts), uint64(verdict.T), uint64(ts)
		s.ents[slot] = e[:at+s.stride]
	})
}

// forget drops the segments of a slot that the interval has left for good by the
// clock, and of those it has reached all but such as have a lesser mark than every
// later one. It is a no-op when called twice; its cost is amortised O(1), since each
// segment is reached once and three at most stay.
func (s *store) forget(slot int32, clock int64) {
	e, last := s.tail(slot)
	reached := 0
	for reached < last && age(clock, firstOf(e, reached)) >= s.spec.lo {
		reached += s.stride
	}
	w := reached // what stays is built from the end
	least := verdict.F
	for at := reached - s.stride; at >= 0 && age(clock, lastOf(e, at)) <= s.spec.hi; at -= s.stride {
		m := entryMark(e, at)
		if m >= least {
			continue
		}
		least = m
		w -= s.stride
		copy(e[w:w+s.stride], e[at:at+s.stride])
	}
	if w == 0 {
		return
	}
	s.resize(-w / s.stride)
	if rest := e[w:]; len(rest) <= w {
		s.ents[slot] = e[:copy(e, rest)]
	} else {
		s.ents[slot] = rest
	}
}

// held returns the least mark that the operand has for the tuple of a slot at the
// time points within the interval at time now, of which there are some, and the
// witness of the run that holds them; T if there is none. The cost is that of the
// segments of lesser marks in that run which the interval has not reached, of which
// there are none without presumptive facts.
func (s *store) held(slot int32, now moment) (verdict.Value, []uint64) {
	e, last := s.tail(slot)
	if s.spec.lo == 0 && e[last+heldTo] != now.index {
		return verdict.T, nil
	}
	m, at := verdict.F, 0
	for ; at < last && age(now.ts, firstOf(e, at)) >= s.spec.lo; at += s.stride {
		if age(now.ts, lastOf(e, at)) <= s.spec.hi {
			m = verdict.Meet(m, entryMark(e, at))
		}
	}
	if at == last && entryMark(e, at) == verdict.T && age(now.ts, firstOf(e, at)) >= s.spec.lo {
		m = verdict.T
	}
	if m == verdict.T {
		return m, nil
	}
	for at < last && entryMark(e, at) != verdict.T {
		at += s.stride // segments of the run that the interval has not reached yet
	}
	return m, e[at+heldWit : at+s.stride]
}
