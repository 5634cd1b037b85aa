package timed_test

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/aspis-rv/aspis/pkg/schema"
)

// TestShiftTime: if the same number is added to every time stamp, every time point has
// the same rows, marks and witnesses.
func TestShiftTime(t *testing.T) {
	everyVariant(t, tracesEach, all, func(c *trial) (variant, bool) {
		v := copied(c)
		first, last := c.trace[0].TS, c.trace[len(c.trace)-1].TS
		latest := math.MaxInt64 - (last - first)
		begin := pick(c.chance, []int64{first + 1, first - 1, 0, -last, c.Int64N(latest), -c.Int64N(math.MaxInt64), math.MinInt64, latest})
		for i := range v.trace {
			v.trace[i].TS = begin + (v.trace[i].TS - first)
		}
		return v, true
	})
}

// TestLongerPause: if a pause between two time points that is longer than the window, or
// any pause where the policy has none, is made longer, every time point has the same rows,
// marks and witnesses. The longest ones go from the first time stamp there is to the last.
func TestLongerPause(t *testing.T) {
	everyVariant(t, 30, all, func(c *trial) (variant, bool) {
		v := copied(c)
		var of []int // time points after such a pause
		for i := 1; i < len(v.trace); i++ {
			if v.trace[i].TS-v.trace[i-1].TS > c.policy.window {
				of = append(of, i)
			}
		}
		if len(of) == 0 {
			return v, false
		}
		at := pick(c.chance, of)
		before, after := v.trace[at-1].TS-v.trace[0].TS, v.trace[len(v.trace)-1].TS-v.trace[at].TS
		pause := pick(c.chance, []uint64{1 << 32, 1 << 63, math.MaxUint64 - uint64(before+after)}) // the last one is all there is
		for i, tp := range c.trace {
			ts := math.MinInt64 + (tp.TS - c.trace[0].TS)
			if i >= at {
				ts = int64(uint64(math.MinInt64+before) + pause + uint64(tp.TS-c.trace[at].TS)) // the sum wraps into place
			}
			v.trace[i].TS = ts
		}
		return v, true
	})
}

// TestRenameObjects: if a bijection renames the objects, to integers or to strings, the
// rows of every time point are the renamed ones, with the same marks and witnesses.
func TestRenameObjects(t *testing.T) {
	everyVariant(t, tracesEach, all, func(c *trial) (variant, bool) {
		v := copied(c)
		v.objects = pick(c.chance, []schema.ValueKind{schema.KindInt, schema.KindString})
		name := c.bijection(v.objects)
		c.policy.rename(v.trace, name)
		for i := range v.points {
			v.points[i].rows = c.policy.renameRows(v.points[i].rows, name)
		}
		return v, true
	})
}

// bijection gives every object another name as they come, in no order. Among the
// integers are those that fit into a word of the engine with a tag, and those that
// do not.
func (c chance) bijection(kind schema.ValueKind) func(schema.Value) schema.Value {
	const names = 64
	base := pick(c, []int64{-3, 1<<61 - 5, -1<<61 - 5, math.MinInt64, math.MaxInt64 - names})
	odd := []string{"", "a", "ä", "\"\n\x00", "1", "a "}
	numbers := c.Perm(names)
	given := map[schema.Value]schema.Value{}
	return func(v schema.Value) schema.Value {
		if w, ok := given[v]; ok {
			return w
		}
		n := numbers[len(given)]
		w := schema.IntValue(base + int64(n))
		if kind == schema.KindString {
			w = schema.StringValue(fmt.Sprintf("object %d", n))
			if n < len(odd) {
				w = schema.StringValue(odd[n])
			}
		}
		given[v] = w
		return w
	}
}

// TestDisjointObjects: if the time points of another trace, about other objects, come in
// between in the order of time, the rows that speak of the objects of the one trace are
// at each of its time points those it has alone, with the same marks and witnesses; and
// so for the other trace, witnesses aside. Where a policy reads facts that are about no
// object, the other trace is taken without these, and the claim is for the one only.
func TestDisjointObjects(t *testing.T) {
	everyVariant(t, tracesEach, all, func(c *trial) (variant, bool) {
		v := copied(c)
		p := c.policy
		other := c.another()
		p.rename(other.trace, func(v schema.Value) schema.Value { return schema.IntValue(v.Int + 1<<20) })
		mine, theirs := p.subjects(v.trace), p.subjects(other.trace)
		for i := range v.points {
			v.points[i].only = func(r tuple) bool { return mine[p.subject(r)] }
		}
		for i, tp := range other.trace {
			want := unspecified()
			if p.own {
				want = expected{only: func(r tuple) bool { return theirs[p.subject(r)] }}
				for _, r := range other.answer[i] {
					want.rows = append(want.rows, row(renamed(r, p.columns(), func(v schema.Value) schema.Value {
						return schema.IntValue(v.Int + 1<<20)
					})))
				}
			} else {
				tp.Facts = slices.DeleteFunc(tp.Facts, func(f schema.Fact) bool { return len(f.Args) == 0 })
			}
			v.insert(c.place(v.trace, tp.TS), tp, want)
		}
		return v, true
	})
}

// another makes one more trace of the trial's policy, in about the same time, with
// its answer.
func (c *trial) another() *trial {
	s := &story{chance: c.chance}
	c.policy.tell(s, c.IntN(tracesEach))
	by := c.trace[0].TS - s.points[0].TS + c.Int64N(5) - 2
	for i := range s.points {
		s.points[i].TS += by
		s.points[i].Offset = 1<<32 + uint64(i)
	}
	return &trial{trace: s.points, answer: c.policy.answer(s.points)}
}

// place is an index at which a time point may be inserted that comes after all those
// inserted so far: behind what is before ts, and behind some of what is at ts.
func (c chance) place(tr trace, ts int64) int {
	from, to := 0, 0
	for i, tp := range tr {
		if tp.TS < ts || tp.TS == ts && tp.Offset >= 1<<32 {
			from = i + 1
		}
		if tp.TS <= ts {
			to = i + 1
		}
	}
	return from + c.IntN(to-from+1)
}

// TestIrrelevantEvents: if time points are inserted anywhere without facts that the
// formula reads, and such facts are added to time points that there are, the latter
// have the same rows, marks and witnesses. The inserted ones have no rows if the policy
// judges facts; T2 has there the rows that its window still has.
func TestIrrelevantEvents(t *testing.T) {
	everyVariant(t, tracesEach, all, func(c *trial) (variant, bool) {
		v := copied(c)
		for range 1 + c.IntN(6) {
			i := c.IntN(len(v.trace))
			if c.IntN(3) == 0 {
				v.trace[i].Facts = append(v.trace[i].Facts, c.noise())
				continue
			}
			tp := timePoint{TS: c.between(v.trace, i), Offset: 1 << 32}
			if c.IntN(3) > 0 {
				tp.Facts = []schema.Fact{c.noise(), c.noise()}
			}
			v.insert(i+1, tp, expected{})
		}
		answer := c.policy.answer(v.trace)
		for i, tp := range v.trace {
			if tp.Offset == 1<<32 && c.policy.act == "" {
				v.points[i] = expected{rows: withoutEvidence(answer)[i]}
			}
		}
		return v, true
	})
}

// noise is a fact that no policy reads.
func (c chance) noise() schema.Fact {
	n := 1 + c.Int64N(5)
	return pick(c, []schema.Fact{fact("heartbeat"), fact("note", n), fact("Export", n), fact("consents", n), fact("setpoints", n, 30)})
}

// TestRepeatedFact: if facts of a time point are repeated within it, every time point has
// the same rows, marks and witnesses, and the state is the same to the byte.
func TestRepeatedFact(t *testing.T) {
	everyVariant(t, 190, all, func(c *trial) (variant, bool) {
		v := copied(c)
		v.sameState = true
		repeated := false
		for i := range v.trace {
			if n := len(v.trace[i].Facts); n > 0 && (c.IntN(2) == 0 || !repeated) {
				v.trace[i].Facts = slices.Insert(v.trace[i].Facts, c.IntN(n+1), v.trace[i].Facts[c.IntN(n)])
				repeated = true
			}
		}
		return v, repeated
	})
}

// TestReorderedFacts: if the facts of each time point come in another order, every time
// point has the same rows, marks and witnesses, and the state is the same to the byte.
func TestReorderedFacts(t *testing.T) {
	everyVariant(t, 40, all, func(c *trial) (variant, bool) {
		v := copied(c)
		v.sameState = true
		several := false
		for _, tp := range v.trace {
			several = several || len(tp.Facts) > 1
			if len(tp.Facts) == 2 {
				slices.Reverse(tp.Facts)
			} else {
				c.Shuffle(len(tp.Facts), func(i, k int) { tp.Facts[i], tp.Facts[k] = tp.Facts[k], tp.Facts[i] })
			}
		}
		return v, several
	})
}

// TestRepeatedTimePoint: if a time point is followed at once by another one of the same
// time stamp with the same facts, that one has the rows of the first, and all others
// have the rows they had, with the same marks. (Their witnesses may be of either.)
func TestRepeatedTimePoint(t *testing.T) {
	everyVariant(t, tracesEach, all, func(c *trial) (variant, bool) {
		v := copied(c)
		v.forgetWitnesses()
		i := c.IntN(len(v.trace))
		v.insert(i+1, v.trace[i], v.points[i])
		v.renumber()
		return v, true
	})
}

// TestRepeatedLater: if the facts of a time point come once more at the end of its time
// stamp, all other time points have the rows they had, with the same marks, and the
// repetition has no row that the first has not: what was given in between counts there.
// T2 has there the rows of the time point before, with all of the time stamp in the
// window of both. Nothing is claimed for P1, whose maintenance may have been switched
// between the two.
func TestRepeatedLater(t *testing.T) {
	everyVariant(t, 20, func(p *rule) bool { return p.name != "P1" }, func(c *trial) (variant, bool) {
		v := copied(c)
		v.forgetWitnesses()
		var from []int // time points that are not the last of their time stamp
		for i := range len(v.trace) - 1 {
			if v.trace[i].TS == v.trace[i+1].TS {
				from = append(from, i)
			}
		}
		if len(from) == 0 {
			return v, false
		}
		i := pick(c.chance, from)
		last := i
		for last+1 < len(v.trace) && v.trace[last+1].TS == v.trace[i].TS {
			last++
		}
		first := c.answer[i]
		want := expected{only: func(r tuple) bool {
			return !slices.ContainsFunc(first, func(f tuple) bool { return compareTuples(f, r) == 0 })
		}}
		if c.policy.act == "" { // the window of the time stamp's last time point is the same
			want = v.points[last]
		}
		v.insert(last+1, v.trace[i], want)
		v.renumber()
		return v, true
	})
}

// TestSplitTimePoint: if a time point is split in two of its time stamp, so that the
// facts which discharge come no later than those they discharge (P1: off, on, set
// points), each of the two has those rows of the whole that are about its own facts, and
// all others have the rows they had, with the same marks. T2 has at the second of the
// two the rows of the whole; at the first nothing is claimed, since the window is not
// yet complete there.
func TestSplitTimePoint(t *testing.T) {
	everyVariant(t, 30, all, func(c *trial) (variant, bool) {
		v := copied(c)
		v.forgetWitnesses()
		var of []int
		for i, tp := range v.trace {
			if len(tp.Facts) > 1 {
				of = append(of, i)
			}
		}
		if len(of) == 0 {
			return v, false
		}
		i := pick(c.chance, of)
		facts := c.dischargedLast(v.trace[i].Facts)
		cut := 1 + c.IntN(len(facts)-1)
		whole := v.points[i]
		first, second := unspecified(), whole
		if c.policy.act != "" {
			first, second = c.policy.about(whole, facts[:cut]), c.policy.about(whole, facts[cut:])
		}
		v.points[i] = second
		v.trace[i].Facts = facts[cut:]
		v.insert(i, timePoint{TS: v.trace[i].TS, Facts: facts[:cut]}, first)
		v.renumber()
		return v, true
	})
}

// dischargedLast orders facts so that they may be split anywhere, otherwise at random.
func (c *trial) dischargedLast(facts []schema.Fact) []schema.Fact {
	out := slices.Clone(facts)
	c.Shuffle(len(out), func(i, k int) { out[i], out[k] = out[k], out[i] })
	slices.SortStableFunc(out, func(a, b schema.Fact) int { return cmp.Compare(c.policy.rank(a), c.policy.rank(b)) })
	return out
}

func (p *rule) rank(f schema.Fact) int {
	return slices.IndexFunc(p.relations, func(r relation) bool { return r.name == f.Name })
}

// about keeps the rows that are the arguments of one of the facts that are judged.
func (p *rule) about(e expected, facts []schema.Fact) expected {
	var out expected
	for _, r := range e.rows {
		if slices.ContainsFunc(facts, func(f schema.Fact) bool { return f.Name == p.act && slices.Equal(f.Args, r.Values) }) {
			out.rows = append(out.rows, r)
		}
	}
	return out
}

// renumber gives every time point its index as offset again.
func (v *variant) renumber() { v.trace = numbered(v.trace) }

// TestWrongSplit shows that the order in which TestSplitTimePoint deals facts out
// matters: the reverse order changes some answer of every policy that judges facts.
func TestWrongSplit(t *testing.T) {
	for which, p := range policies() {
		if p.act == "" {
			continue
		}
		changed := 0
		for _, c := range p.trials(which, p.compile(t, p.formula, schema.KindInt)) {
			for i, tp := range c.trace {
				if len(tp.Facts) < 2 {
					continue
				}
				facts := c.dischargedLast(tp.Facts)
				slices.Reverse(facts)
				tr := slices.Insert(slices.Clone(c.trace), i, timePoint{TS: tp.TS, Facts: facts[:1]})
				tr[i+1].Facts = facts[1:]
				if got := p.answer(tr); len(asSet(slices.Concat(got[i], got[i+1]))) != len(c.answer[i]) {
					changed++
				}
			}
		}
		if changed == 0 {
			t.Errorf("%s, seed %d: no order of facts matters", p.name, *seedFlag)
		}
	}
}
