package timed_test

import (
	"slices"

	"github.com/aspis-rv/aspis/pkg/schema"
)

// step is an oracle in the course of a trace: it takes the facts of the next time
// point and returns the rows that violate there, in any order.
type step func(ts int64, facts []schema.Fact) []tuple

// tuple is a row without its evidence.
type tuple = []schema.Value

// withoutLeave remembers when each object was given leave last.
func withoutLeave(act, leave string, window uint64) step {
	last := map[schema.Value]int64{}
	return func(ts int64, facts []schema.Fact) (out []tuple) {
		for _, f := range named(facts, leave) {
			last[f.Args[0]] = ts
		}
		for _, f := range named(facts, act) {
			if at, ok := last[f.Args[0]]; !ok || since(at, ts) > window {
				out = append(out, f.Args)
			}
		}
		return out
	}
}

// tooManyCommands remembers when each command was given to each device last.
func tooManyCommands() step {
	last := map[schema.Value]map[schema.Value]int64{}
	return func(ts int64, facts []schema.Fact) (out []tuple) {
		for _, f := range named(facts, "actuate") {
			if last[f.Args[0]] == nil {
				last[f.Args[0]] = map[schema.Value]int64{}
			}
			last[f.Args[0]][f.Args[1]] = ts
		}
		for device, commands := range last {
			n := int64(0)
			for _, at := range commands {
				if since(at, ts) <= 6 {
					n++
				}
			}
			if n >= 3 {
				out = append(out, tuple{schema.IntValue(n), device})
			}
		}
		return out
	}
}

// hotOutsideMaintenance is a switch: at one time point on counts after off.
func hotOutsideMaintenance() step {
	on := false
	return func(_ int64, facts []schema.Fact) (out []tuple) {
		if len(named(facts, "maint_off")) > 0 {
			on = false
		}
		if len(named(facts, "maint_on")) > 0 {
			on = true
		}
		for _, f := range named(facts, "setpoint") {
			if !on && f.Args[1].Int > 28 {
				out = append(out, f.Args)
			}
		}
		return out
	}
}

// grantWithoutConsent is a latch.
func grantWithoutConsent() step {
	given := false
	return func(_ int64, facts []schema.Fact) (out []tuple) {
		given = given || len(named(facts, "consent")) > 0
		for _, f := range named(facts, "grant_access") {
			if !given && f.Args[1].Int == 1 {
				out = append(out, f.Args)
			}
		}
		return out
	}
}

// since is the time from one time stamp to a later one, which may be all there is.
func since(at, ts int64) uint64 { return uint64(ts) - uint64(at) }

func named(facts []schema.Fact, name string) []schema.Fact {
	return slices.DeleteFunc(slices.Clone(facts), func(f schema.Fact) bool { return f.Name != name })
}

// answer is the oracle's answer to a trace: the rows at each time point, a set.
func (p *rule) answer(tr trace) [][]tuple {
	next := p.oracle()
	out := make([][]tuple, len(tr))
	for i, tp := range tr {
		out[i] = asSet(next(tp.TS, tp.Facts))
	}
	return out
}

// asSet sorts tuples and leaves out repeated ones.
func asSet(ts []tuple) []tuple {
	slices.SortFunc(ts, compareTuples)
	return slices.CompactFunc(ts, func(a, b tuple) bool { return compareTuples(a, b) == 0 })
}

func compareTuples(a, b tuple) int { return slices.CompareFunc(a, b, schema.Compare) }
