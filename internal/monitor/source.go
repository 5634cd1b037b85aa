package monitor

import (
	"github.com/aspis-rv/aspis/internal/mfotl"
	"github.com/aspis-rv/aspis/internal/world"
	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// at makes the source answer from the worlds of a shadow.
func (s *source) at(of *shadow) {
	s.before = doubtsOf(of.before)
	s.after = s.before
	if of.after != of.before {
		s.after = doubtsOf(of.after)
	}
}

// source answers for the external relations of a plan from the worlds before and after an
// event.
type source struct {
	monitor       *Monitor
	before, after doubts // the worlds, with what of them is in doubt

	scans []*tupleScan // by depth
	under int          // how many are under way
}

var _ mfotl.Source = (*source)(nil)

// Scan yields the tuples of an external relation. They are certain unless the world is
// not, see doubts.
func (s *source) Scan(rel int, known []schema.Value, bound uint64, yield func(mfotl.ExternalTuple) bool) bool {
	x := &s.monitor.engine.externals[rel]
	d := &s.after
	if x.before {
		d = &s.before
	}
	if x.at != nil {
		m, certain := s.monitor.value(x, d.w, known)
		if m != verdict.T {
			yield(mfotl.ExternalTuple{Args: known, Mark: m})
		}
		return certain && !d.at(x.at)
	}
	scan := s.open(yield)
	d.w.Scan(x.rel, known, bound, x.sense, scan.take)
	s.under--
	scan.yield = nil
	return !d.relation(x.rel, known, bound)
}

// tupleScan hands the tuples of a world on. One is kept for each depth, so that a scan
// allocates nothing.
type tupleScan struct {
	yield func(mfotl.ExternalTuple) bool
	take  func(world.Tuple) bool
}

func (s *source) open(yield func(mfotl.ExternalTuple) bool) *tupleScan {
	if s.under == len(s.scans) {
		t := &tupleScan{}
		t.take = func(x world.Tuple) bool {
			return t.yield(mfotl.ExternalTuple{Args: x.Args, Mark: x.Mark, Offset: x.Origin})
		}
		s.scans = append(s.scans, t)
	}
	t := s.scans[s.under]
	t.yield = yield
	s.under++
	return t
}
