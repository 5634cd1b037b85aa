package mfotl

import "github.com/aspis-rv/aspis/pkg/verdict"

// age is the time from ts to now, exact for all 64-bit time stamps; 0 if ts is
// later, as an entry of the pending step may be when seen by the committed clock.
func age(now, ts int64) uint64 {
	if ts > now {
		return 0
	}
	return uint64(now) - uint64(ts)
}

// best returns the strongest mark among the entries of a slot that lie within the
// interval at time now, and where the newest entry of that mark stands; T if none.
func (s *store) best(slot int32, now int64) (m verdict.Value, at int) {
	e := s.ents[slot]
	for i := 0; i < len(e); i += s.stride {
		a := age(now, int64(e[i+entTS]))
		if a < s.spec.lo {
			break
		}
		if a > s.spec.hi {
			continue
		}
		if em := entryMark(e, i); em >= m {
			m, at = em, i
		}
	}
	return m, at
}

// thin brings a slot's entries into normal form for a clock: expired ones go, and
// so does one that a later entry equals or exceeds in mark while both are within
// the interval. It is a no-op when called twice.
func (s *store) thin(slot int32, clock int64) {
	e := s.ents[slot]
	if age(clock, int64(e[len(e)-s.stride+entTS])) > s.spec.hi {
		return // expire will free the slot
	}
	w := len(e) // the normal form is built from the end
	inside := verdict.T
	for at := len(e) - s.stride; at >= 0; at -= s.stride {
		a := age(clock, int64(e[at+entTS]))
		if a > s.spec.hi {
			break
		}
		if a >= s.spec.lo {
			m := entryMark(e, at)
			if m <= inside {
				continue
			}
			inside = m
		}
		w -= s.stride
		copy(e[w:w+s.stride], e[at:at+s.stride])
	}
	if w > 0 {
		s.resize(-w / s.stride)
		s.ents[slot] = e[w:]
		s.noted(slot, rowChanged)
	}
}

// thinIfDue is thin for a window with a lower bound whose slot has more than one
// entry inside the interval, so that reading it costs amortised O(1).
func (s *store) thinIfDue(slot int32, clock int64) {
	e := s.ents[slot]
	if s.spec.lo > 0 && len(e) > s.stride && age(clock, int64(e[s.stride+entTS])) >= s.spec.lo {
		s.thin(slot, clock)
	}
}

// expire frees the slots whose newest entry has left the interval for good by the
// clock.
func (s *store) expire(clock moment) {
	if s.spec.universal {
		s.settle(clock)
		return
	}
	for s.oldest >= 0 {
		e := s.ents[s.oldest]
		if age(clock.ts, int64(e[len(e)-s.stride+entTS])) <= s.spec.hi {
			return
		}
		s.drop(s.oldest)
	}
}

// normalise brings the whole store into the one form that its logical content has.
func (s *store) normalise(clock moment) {
	s.expire(clock)
	s.eachSlot(func(slot int32) {
		switch {
		case s.spec.universal:
			s.forget(slot, clock.ts)
		case len(s.ents[slot]) > s.stride:
			s.thin(slot, clock.ts)
		}
	})
}

// clear forgets everything.
func (s *store) clear() {
	*s.tally -= s.size
	*s = *newStore(s.spec, s.seed, s.tally)
}
