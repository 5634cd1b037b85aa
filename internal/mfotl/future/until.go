package future

import "github.com/aspis-rv/aspis/pkg/schema"

// until evaluates UNTIL, and EVENTUALLY, which is an UNTIL whose left operand always
// holds.
//
// A tuple of the right operand at time point j satisfies the operator at the time
// points i ≤ j for which the distance lies in the interval and the left operand held
// from i up to before j. They are a run of consecutive time points, both ends of which
// are known when j is read: a span. The relation of i is the set of tuples that have a
// span around i, kept up to date from one i to the next.
type until struct {
	spec  *relation
	tally *int
	made  uint64 // time points whose relation was made

	right series[[]tuple] // what waits for the other operand
	left  series[[]tuple]
	held  *held // how long the left operand has held; nil for EVENTUALLY

	// For the time point of the right operand read last: the first time points not
	// made to which it is no more than the upper bound ahead, and less than the lower one.
	from, to uint64
	// horizon is the first time point read that is more than the upper bound ahead of made.
	horizon uint64

	set   table
	spans []spans       // by slot
	live  []int32       // slots with a span around the time point made last
	turns series[turn]  // by time point not made
	spare [][]int32     // memory for turns
	index []*matchIndex // of live, by the columns that guards give
}

// spans counts the spans of a tuple.
type spans struct {
	all   int32  // that have not ended
	open  int32  // of these, that have begun
	where int32  // position in live, if there are such
	given uint64 // number of time points made when matching gave it last
}

// turn lists the slots with spans that begin at a time point, and that are over there.
type turn struct {
	begin, end []int32
}

func newUntil(spec *relation, tally *int) *until {
	u := &until{spec: spec, tally: tally}
	if spec.op == opUntil {
		u.held = &held{negated: spec.negated, cols: spec.cols, tally: tally}
	}
	for _, cols := range spec.indexes {
		u.index = append(u.index, &matchIndex{cols: cols})
	}
	return u
}

func (u *until) read(l *log, which side, tuples []tuple) {
	waiting := &u.right
	if which == left {
		waiting = &u.left
	}
	if waiting.len() > 0 || !u.due(which) {
		waiting.push(copied(tuples))
		*u.tally += len(tuples)
		return
	}
	u.take(l, which, tuples)
	waiting.skip()
	for more := true; more; {
		more = u.resume(l, &u.right, right) || u.resume(l, &u.left, left)
	}
}

// due reports whether the next tuples of an operand can be taken. The left one's come
// after the right one's of the same time point, for which they make no difference.
func (u *until) due(which side) bool {
	if which == left {
		return u.left.first < u.right.first
	}
	return u.held == nil || u.left.first == u.right.first
}

// resume takes the tuples of an operand that have waited longest; false if they must
// wait on, or none do.
func (u *until) resume(l *log, waiting *series[[]tuple], which side) bool {
	if waiting.len() == 0 || !u.due(which) {
		return false
	}
	tuples := *waiting.at(waiting.first)
	u.take(l, which, tuples)
	*u.tally -= len(tuples)
	waiting.drop()
	return true
}

func (u *until) take(l *log, which side, tuples []tuple) {
	if which == left {
		u.held.read(u.left.first, tuples, u.from)
		return
	}
	u.reach(l, u.right.first, tuples)
}

// reach adds the spans of the right operand's tuples at time point j.
func (u *until) reach(l *log, j uint64, tuples []tuple) {
	for u.turns.end() <= j+1 {
		u.turns.push(turn{begin: u.memory(), end: u.memory()})
	}
	u.from, u.to = max(u.from, u.made), max(u.to, u.made)
	for l.age(j, u.from) > u.spec.hi {
		u.from++
	}
	for u.to <= j && l.age(j, u.to) >= u.spec.lo {
		u.to++
	}
	for _, t := range tuples {
		begin := u.from
		if u.held != nil {
			begin = max(begin, u.held.since(t, j))
		}
		if begin < u.to {
			u.span(t, begin, u.to)
		}
	}
}

// span adds a span from begin up to before end.
func (u *until) span(t tuple, begin, end uint64) {
	slot, made := u.set.add(t)
	if made && int(slot) == len(u.spans) {
		u.spans = append(u.spans, spans{})
	}
	u.spans[slot].all++
	*u.tally++
	b, e := u.turns.at(begin), u.turns.at(end)
	b.begin = append(b.begin, slot)
	e.end = append(e.end, slot)
}

func (u *until) known(l *log) bool {
	u.horizon = max(u.horizon, u.made)
	for u.horizon < l.end() && l.age(u.horizon, u.made) <= u.spec.hi {
		u.horizon++
	}
	return (u.horizon < l.end() || l.ended) && u.horizon <= u.right.first
}

func (u *until) advance() {
	t := u.turns.at(u.made)
	for _, slot := range t.begin {
		u.begin(slot)
	}
	for _, slot := range t.end {
		u.end(slot)
	}
	u.reuse(t.begin)
	u.reuse(t.end)
	u.turns.drop()
	u.made++
}

// keepSlots is the length above which the list of a turn is given back after use: one
// huge event must not leave its size to the lists of others (256 bytes each).
const keepSlots = 64

func (u *until) reuse(list []int32) {
	if cap(list) > 0 && cap(list) <= keepSlots {
		u.spare = append(u.spare, list[:0])
	}
}

// memory returns an empty list.
func (u *until) memory() []int32 {
	n := len(u.spare)
	if n == 0 {
		return nil
	}
	m := u.spare[n-1]
	u.spare = u.spare[:n-1]
	return m
}

func (u *until) begin(slot int32) {
	s := &u.spans[slot]
	if s.open++; s.open > 1 {
		return
	}
	s.where = int32(len(u.live))
	u.live = append(u.live, slot)
	for _, x := range u.index {
		x.add(u.set.tuples[slot], slot)
	}
}

func (u *until) end(slot int32) {
	s := &u.spans[slot]
	*u.tally--
	s.all--
	if s.open--; s.open > 0 {
		return
	}
	last := u.live[len(u.live)-1]
	u.live[s.where] = last
	u.spans[last].where = s.where
	u.live = u.live[:len(u.live)-1]
	for _, x := range u.index {
		x.remove(u.set.tuples[slot], slot)
	}
	if s.all == 0 {
		u.set.remove(slot)
	}
}

func (u *until) tuples(dst []schema.Fact) []schema.Fact {
	for _, slot := range u.live {
		dst = append(dst, schema.Fact{Name: u.spec.name, Args: u.set.tuples[slot]})
	}
	return dst
}
