package mfotl

import (
	"math/rand/v2"
	"testing"

	"github.com/aspis-rv/aspis/internal/lang/check"
	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// TestHeldIsThin runs long traces and holds the number of entries of the window of a
// HISTORICALLY: it grows with the lower bound of the interval alone.
func TestHeldIsThin(t *testing.T) {
	chance := rand.New(rand.NewPCG(1, 1))
	of := func(name string, s verdict.Strength, x int) schema.Fact {
		return schema.Fact{Name: name, Args: []schema.Value{schema.IntValue(int64(x))}, Strength: s}
	}
	steady := func(int) []schema.Fact { return []schema.Fact{of("q", verdict.Definite, 1)} }
	late := func(i int) []schema.Fact {
		if i == 0 {
			return nil
		}
		return steady(i)
	}
	presumed := func(int) []schema.Fact { return []schema.Fact{of("q", verdict.Presumptive, 1)} }
	// some gives 1 a random mark, T with the given chance.
	some := func(absent float64) func(int) []schema.Fact {
		return func(i int) (out []schema.Fact) {
			if i > 0 && chance.Float64() < absent {
				return nil
			}
			out = append(out, of("q", verdict.Strength(chance.IntN(2)), 1))
			if chance.IntN(2) == 0 {
				out = append(out, of("r", verdict.Presumptive, 1))
			}
			return out
		}
	}
	fresh := func(i int) []schema.Fact { return []schema.Fact{of("q", verdict.Definite, i)} }
	nothing := func(int) []schema.Fact { return nil }
	each := func(i int) int64 { return int64(i) }
	once := func(int) int64 { return 5 }
	far := func(i int) int64 { return 100 * int64(i) }
	for _, c := range []struct {
		name, interval string
		ts             func(int) int64
		facts          func(int) []schema.Fact
		most, last     int // entries and gaps at any time, and in the end
	}{
		{"the run alone", "[0,9]", each, steady, 1, 1},
		{"the run alone, delayed", "[3,9]", each, steady, 2, 1}, // and the time before the trace
		{"the run alone, after the time before it", "[0,9]", each, late, 2, 1},
		{"the run alone, after the time before it, delayed", "[3,9]", each, late, 3, 1},
		{"one weak segment and the run", "[0,9]", each, presumed, 2, 2},
		{"one weak segment and the run, delayed", "[3,9]", each, presumed, 3, 2},
		{"of each mark the newest time point", "[0,9]", each, some(0.3), 4, -1},
		{"the segments that wait, and three", "[3,9]", each, some(0.3), 3 + 3 + 1 + 1, -1},
		{"the least mark since the beginning", "[0,*]", each, some(0), 2, 2},
		{"lesser and lesser marks since the beginning", "[3,*]", each, some(0), 4, 2},
		{"nothing, once it has failed", "[3,*]", each, some(0.3), 5, 0},
		{"three of a time stamp", "[3,9]", once, some(0.3), 5, -1},
		{"three of a time stamp, delayed or not", "[0,9]", once, some(0.3), 4, -1},
		{"tuples that wait to be forgotten", "[3,9]", each, fresh, 2*5 + 1, -1},
		{"tuples of the present", "[0,9]", each, fresh, 2 * 2, -1},
		{"gaps within the lower bound", "[5,5]", each, nothing, 6, 6}, // what is passed goes with the next step
		{"gaps longer than the interval", "[50,55]", each, nothing, 1, 0},
		{"a gap at a time", "[50,55]", far, nothing, 2, 2},
		{"no gap but the first", "[50,*]", far, nothing, 1, 0},
	} {
		p, err := Compile([]*check.Checked{coreOf(t, "p(x) AND HISTORICALLY"+c.interval+" (q(x) AND NOT r(x))", "x")})
		if err != nil {
			t.Fatal(err)
		}
		st := p.New()
		most := 0
		for i := range 2000 {
			if i%3 == 0 { // roll-backs must leave nothing behind
				st.Step(c.ts(i)+7, 0, c.facts(i))
				st.Rollback()
			}
			st.Step(c.ts(i), uint64(i), c.facts(i))
			st.Commit()
			most = max(most, st.entries)
		}
		if most > c.most {
			t.Errorf("%s, %s: %d entries, want at most %d", c.name, c.interval, most, c.most)
		}
		if c.last >= 0 && st.entries != c.last {
			t.Errorf("%s, %s: %d entries in the end, want %d", c.name, c.interval, st.entries, c.last)
		}
		if counted := count(st); counted != st.entries {
			t.Errorf("%s, %s: %d entries are there, %d are counted", c.name, c.interval, counted, st.entries)
		}
	}
}

// count counts the entries and gaps of a state.
func count(st *State) int {
	n := 0
	for _, s := range st.stores {
		if s != nil {
			n += len(s.gaps)
			s.eachSlot(func(slot int32) { n += len(s.ents[slot]) / s.stride })
		}
	}
	return n
}
