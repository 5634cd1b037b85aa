package timed_test

import (
	"strconv"

	"github.com/aspis-rv/aspis/pkg/schema"
)

// scenario tells a story about the object x, and about y, of which the answer is
// known by construction.
type scenario func(s *story, x, y int64)

// The families of traces. The scenarios of a policy are, in this order: on the boundary,
// one unit beyond it, unrelated objects, re-enabled.
const (
	onBoundary = iota
	beyond
	unrelated
	reenabled
	atRandom // no scenario
	families
)

// story is a trace in the making, with what must be found in it.
type story struct {
	chance
	now     int64
	points  trace
	demands []demand
}

// demand says that at time stamp ts some row speaks of the object, or none.
type demand struct {
	ts     int64
	object int64
	fires  bool
}

// add makes a time point so much later than the last one.
func (s *story) add(after int64, facts ...schema.Fact) *story {
	s.now += after
	s.points = append(s.points, timePoint{TS: s.now, Facts: facts})
	return s
}

func (s *story) fires(x int64)  { s.demands = append(s.demands, demand{s.now, x, true}) }
func (s *story) silent(x int64) { s.demands = append(s.demands, demand{s.now, x, false}) }

func fact(name string, args ...int64) schema.Fact {
	f := schema.Fact{Name: name}
	for _, a := range args {
		f.Args = append(f.Args, schema.IntValue(a))
	}
	return f
}

func digits(n int64) string { return strconv.FormatInt(n, 10) }
func upTo(n int64) string   { return "[0," + digits(n) + "]" }

func windowScenarios(act, leave string, window int64) []scenario {
	return []scenario{
		onBoundary: func(s *story, x, _ int64) {
			s.add(0, fact(leave, x)).add(window, fact(act, x)).silent(x)
			if s.IntN(2) == 0 { // the other end of the window: the time point itself
				s.add(2*window, fact(act, x), fact(leave, x)).silent(x)
			}
		},
		beyond: func(s *story, x, _ int64) {
			s.add(0, fact(leave, x)).add(window+1, fact(act, x)).fires(x)
			if s.IntN(2) == 0 { // leave that comes too late
				s.add(0, fact(leave, x)).add(window+1, fact(act, x)).fires(x)
			}
		},
		unrelated: func(s *story, x, y int64) {
			s.add(0, fact(leave, y)).add(s.Int64N(window+1), fact(act, x)).fires(x)
			s.silent(y)
		},
		reenabled: func(s *story, x, _ int64) {
			s.add(0, fact(leave, x)).add(s.Int64N(window+1), fact(act, x)).silent(x)
			s.add(window+1, fact(act, x)).fires(x)
			s.add(1+s.Int64N(window), fact(leave, x)).add(s.Int64N(window+1), fact(act, x)).silent(x)
		},
	}
}

func actuatorScenarios() []scenario {
	const window = 6
	three := func(s *story, d int64, apart int64) *story { // the first and the third so far apart
		second := s.Int64N(apart + 1)
		return s.add(0, fact("actuate", d, 1)).add(second, fact("actuate", d, 2)).add(apart-second, fact("actuate", d, 3))
	}
	return []scenario{
		onBoundary: func(s *story, x, _ int64) { three(s, x, window).fires(x) },
		beyond:     func(s *story, x, _ int64) { three(s, x, window+1).silent(x) },
		unrelated: func(s *story, x, y int64) { // too few for each device, and too few different ones
			s.add(0, fact("actuate", x, 1), fact("actuate", y, 2)).add(s.Int64N(3), fact("actuate", x, 3))
			s.add(s.Int64N(3), fact("actuate", x, 1)).silent(x)
			s.silent(y)
		},
		reenabled: func(s *story, x, _ int64) {
			three(s, x, window-s.Int64N(4)).fires(x)
			s.add(window+1, fact("actuate", x, 4)).silent(x)
			s.add(1, fact("actuate", x, 1)).silent(x)
			s.add(1+s.Int64N(window-1), fact("actuate", x, 2)).fires(x)
		},
	}
}

func maintenanceScenarios() []scenario {
	const hot, warm = 29, 28
	set := func(z, v int64) schema.Fact { return fact("setpoint", z, v) }
	on, off := fact("maint_on"), fact("maint_off")
	return []scenario{
		onBoundary: func(s *story, x, _ int64) {
			s.add(0, set(x, warm)).silent(x)
			s.add(s.Int64N(9)+1, on, set(x, hot)).silent(x)
			if s.IntN(2) == 0 { // on counts after off
				s.add(s.Int64N(9)+1, off, set(x, hot), on).silent(x)
			}
		},
		beyond: func(s *story, x, _ int64) {
			s.add(0, set(x, hot)).fires(x)
			s.add(s.Int64N(9)+1, on).add(1, set(x, hot), off).fires(x)
		},
		unrelated: func(s *story, x, y int64) {
			s.add(0, on).add(s.Int64N(9)+1, off).add(0, set(y, warm), fact("damper_open", x)).silent(y)
			s.add(s.Int64N(9), set(x, hot), set(y, warm)).fires(x)
			s.silent(y)
		},
		reenabled: func(s *story, x, _ int64) {
			s.add(0, on).add(s.Int64N(90), set(x, hot)).silent(x)
			s.add(0, off).add(s.Int64N(9)+1, set(x, hot)).fires(x)
			s.add(0, on).add(s.Int64N(90)+1, set(x, hot)).silent(x)
		},
	}
}

func lockScenarios() []scenario {
	const kept, public = 1, 2
	access := func(g, p int64) schema.Fact { return fact("grant_access", g, p) }
	return []scenario{
		onBoundary: func(s *story, x, _ int64) {
			s.add(0, access(x, public)).silent(x)
			s.add(s.Int64N(9)+1, access(x, kept), fact("consent")).silent(x)
			s.add(s.Int64N(3)*200+1, access(x, kept)).silent(x)
		},
		beyond: func(s *story, x, _ int64) { // one unit before the consent, which counts from then on
			s.add(0, access(x, kept)).fires(x)
			s.add(1, fact("consent"))
		},
		unrelated: func(s *story, x, y int64) {
			s.add(0, access(y, public-s.Int64N(2)*2)).silent(y)
			s.add(s.Int64N(9), access(x, kept), fact("badge_auth", x)).fires(x)
		},
		reenabled: func(s *story, x, y int64) {
			s.add(0, access(x, kept)).fires(x)
			s.add(s.Int64N(9)+1, fact("consent")).add(s.Int64N(200), access(x, kept), access(y, kept)).silent(x)
			s.silent(y)
		},
	}
}
