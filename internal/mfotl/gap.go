package mfotl

import "sort"

// gap is two consecutive time points, given by their time stamps, which are so far
// apart that the interval of a HISTORICALLY fits between them; or the time before the
// first time point.
type gap struct {
	first         bool // there is no time point before
	before, after int64
}

// opensGap reports whether the interval may come to lie between the pending time
// point and the one before, whose time stamp is given.
func (p *storeSpec) opensGap(now moment, before int64) bool {
	switch {
	case p.lo == 0:
		return false // the interval holds the present
	case now.index == 0:
		return true
	}
	return p.bounded && age(now.ts, before) > p.hi-p.lo
}

// openGap records a gap that ends at the pending time point. It is journaled.
func (s *store) openGap(j *journal, now moment, before int64) {
	j.log(gapMade, s, -1, stay)
	g := gap{first: now.index == 0, after: now.ts}
	if !g.first {
		g.before = before
	}
	s.gaps = append(s.gaps, g)
	s.resize(1)
}

// closeGaps drops the gaps that the interval has passed by the clock.
func (s *store) closeGaps(clock int64) {
	n := s.passed(clock)
	if n == 0 {
		return
	}
	s.gaps = append(s.gaps[:0], s.gaps[n:]...)
	s.resize(-n)
}

// passed is the number of gaps that lie before the interval at a time.
func (s *store) passed(ts int64) int {
	if len(s.gaps) == 0 || age(ts, s.gaps[0].after) < s.spec.lo {
		return 0
	}
	return sort.Search(len(s.gaps), func(i int) bool { return age(ts, s.gaps[i].after) < s.spec.lo })
}

// hollow reports whether no time point lies within the interval at a time that is
// not before the newest committed time point.
func (s *store) hollow(ts int64) bool {
	n := s.passed(ts)
	if n == len(s.gaps) {
		return false
	}
	g := s.gaps[n]
	return g.first || age(ts, g.before) > s.spec.hi
}
