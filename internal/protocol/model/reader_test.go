package model

import "slices"

// maxLog bounds the log of every configuration, and maxAttempts the attempts that
// such a log can open: a record opens at most one, but for a hold and a grant, which
// also may; the bound is checked.
const (
	maxLog      = 12
	maxAttempts = 16
)

// status of a call.
const (
	absent uint8 = iota
	queued
	open
	held
	permitted
	done
	unknown
	withdrawn
	refused
	expired
)

func unresolved(s uint8) bool { return s == queued || s == open || s == held }

// Bits of the monitor state: what was adopted.
const (
	didCall   = 1 << 0 // << call
	didResult = 1 << 2 // << call
	didGrant  = 1 << 4
)

// attempt is one judging of a call.
type attempt struct {
	call, at  uint8 // at: index of the record at which it opened
	timePoint uint8
	state     uint8 // the monitor state that it is judged on
	holdable  bool  // the other call is permitted and has no outcome
}

// violates is the value that an aspect gives a call on a monitor state: a pure
// function, the same for every owner. Aspect 0 forbids a call while the other one is
// adopted and has no result, unless a grant allows it; aspect 1 forbids call a once
// a grant revoked it. So order matters, and an authority record cuts both ways.
func violates(aspect, c, state uint8) bool {
	other := 1 - c
	if aspect == 0 {
		return state&(didCall<<other) != 0 && state&(didResult<<other) == 0 && state&didGrant == 0
	}
	return c == callA && state&didGrant != 0
}

// reader folds a log by the rules of docs/protocol.md. Numbers are indices into the
// log; -1 is none. It is comparable: equal readers have read the same.
type reader struct {
	rule     mutation
	log      [maxLog]record
	n        int8
	tick     uint8
	open     int8 // the call whose attempt is open
	status   [calls]uint8
	first    [calls]int8   // the record that proposed it
	claim    [calls]record // the last one that did before it was settled
	settled  [calls]int8   // the record that settled it
	permit   [calls]bool   // it stands permitted
	since    [calls]uint8  // the tick at which it was settled
	ready    [calls]bool   // held, and what it waits for has come
	last     [calls]int8   // its last attempt
	attempts [maxAttempts]attempt
	judged   int8
	queue    [maxLog]int8
	waiting  int8
	adopted  [maxLog]int8
	points   int8
	state    uint8 // of the monitors, after the adopted records

	unsound bool // a permit was adopted on a state whose values forbid it
	accused bool // a result was taken for an integrity violation
}

func newReader(rule mutation) reader {
	r := reader{rule: rule, open: -1}
	for c := range calls {
		r.first[c], r.settled[c], r.last[c] = -1, -1, -1
	}
	return r
}

func read(rule mutation, log []record) reader {
	r := newReader(rule)
	for _, rec := range log {
		r.step(rec)
	}
	return r
}

func (r *reader) step(rec record) {
	i := r.n
	r.log[i] = rec
	r.n++
	switch {
	case isResolve(rec):
		r.resolution(i, attemptOf(rec), outcomeOf(rec))
	case isTick(rec):
		r.ticked(i, rec-recTick)
	case r.duplicate(i): // rule 3
	case rec == recGrant:
		r.grant(i)
	case isResult(rec):
		if r.open >= 0 && r.rule != resultsPass {
			r.push(i)
			return
		}
		r.point(i)
		r.drain(i)
	case kind(rec) == recCall:
		r.proposed(i, callOf(rec))
	case kind(rec) == recExpired: // rule 12: in whatever unresolved state the call is
		if c := callOf(rec); unresolved(r.status[c]) {
			r.settle(c, expired, i)
			r.drain(i)
		}
	case kind(rec) == recWithdrawn:
		if c := callOf(rec); r.status[c] == permitted {
			r.finish(c, withdrawn)
			r.drain(i)
		}
	}
}

// duplicate reports whether the record is in the log already, byte for byte: the
// same producer, incarnation and number.
func (r *reader) duplicate(i int8) bool {
	if r.rule == duplicatesCount {
		return false
	}
	return slices.Contains(r.log[:i], r.log[i])
}

func (r *reader) proposed(i int8, c uint8) {
	if r.status[c] != absent { // rule 17
		if unresolved(r.status[c]) {
			r.claim[c] = r.log[i]
		}
		return
	}
	r.first[c], r.claim[c], r.status[c] = i, r.log[i], queued
	if r.open >= 0 {
		r.push(i)
		return
	}
	r.begin(c, i)
	r.drain(i)
}

func (r *reader) push(i int8) {
	r.queue[r.waiting] = i
	r.waiting++
}

// begin opens an attempt of c at record i, unless it is born expired (rule 5).
func (r *reader) begin(c uint8, i int8) {
	if deadline(c) < r.tick && r.rule != neverBornExpired {
		r.settle(c, expired, i)
		return
	}
	other := 1 - c
	r.attempts[r.judged] = attempt{
		call: c, at: uint8(i), timePoint: uint8(r.points), state: r.state, holdable: r.status[other] == permitted,
	}
	r.status[c], r.open, r.last[c], r.ready[c] = open, int8(c), r.judged, false
	r.judged++
}

// drain: held calls whose condition came, in log order, then the queue.
func (r *reader) drain(i int8) {
	for r.open < 0 {
		if c := r.wakes(); c >= 0 {
			r.begin(uint8(c), i)
			continue
		}
		if r.waiting == 0 {
			return
		}
		q := r.queue[0]
		copy(r.queue[:], r.queue[1:r.waiting])
		r.waiting--
		r.queue[r.waiting] = 0
		if kind(r.log[q]) == recCall && !isResult(r.log[q]) {
			r.begin(callOf(r.log[q]), i)
		} else {
			r.point(q)
		}
	}
}

func (r *reader) wakes() int8 {
	best := int8(-1)
	for c := range int8(calls) {
		if r.status[c] == held && r.ready[c] && (best < 0 || r.first[c] < r.first[best]) {
			best = c
		}
	}
	return best
}

func (r *reader) adopt(i int8, bit uint8) {
	r.adopted[r.points] = i
	r.points++
	r.state |= bit
}

// point adopts the result at i, if its call was permitted (rule 17).
func (r *reader) point(i int8) {
	c := callOf(r.log[i])
	switch r.status[c] {
	case permitted:
		r.adopt(i, didResult<<c)
		r.finish(c, done)
	case unknown:
		r.adopt(i, didResult<<c)
		r.status[c] = done
	default:
		r.accused = true
	}
}

func (r *reader) finish(c, as uint8) {
	r.status[c] = as
	if other := 1 - c; r.status[other] == held {
		r.ready[other] = true
	}
}

// grant passes the queue and reopens the open attempt (rule 6).
func (r *reader) grant(i int8) {
	if r.open < 0 || r.rule == grantsDoNotReopen {
		r.adopt(i, didGrant)
		r.drain(i)
		return
	}
	c := uint8(r.open)
	r.open = -1
	r.adopt(i, didGrant)
	r.begin(c, i)
	r.drain(i)
}

// ticked is rule 15.
func (r *reader) ticked(i int8, n uint8) {
	if n <= r.tick {
		return
	}
	r.tick = n
	for _, c := range r.inOrder(&r.first) {
		if unresolved(r.status[c]) && deadline(c) < n && r.rule != ticksDoNotExpire {
			r.settle(c, expired, i)
			r.drain(i)
		}
	}
	for _, c := range r.inOrder(&r.settled) { // the time-to-live of a result is none
		if r.status[c] == permitted && n > r.since[c] {
			r.finish(c, unknown)
			r.drain(i)
		}
	}
}

func (r *reader) inOrder(at *[calls]int8) [calls]uint8 {
	if at[callA] <= at[callB] {
		return [calls]uint8{callA, callB}
	}
	return [calls]uint8{callB, callA}
}

// resolution: the first one that matches the open attempt stands (rules 6 and 10).
func (r *reader) resolution(i int8, o, outcome uint8) {
	if int8(o) >= r.judged {
		return
	}
	c := r.attempts[o].call
	matches := r.open == int8(c) && r.last[c] == int8(o)
	if r.rule == matchByCall {
		matches = r.open == int8(c)
	}
	if !matches {
		r.override(i, c, o, outcome)
		return
	}
	switch outcome {
	case permit:
		r.settle(c, permitted, i)
	case refuse:
		r.settle(c, refused, i)
	case hold: // rule 14
		r.open = -1
		r.status[c] = held
		r.ready[c] = r.status[1-c] != permitted && r.rule != holdsLookForwardOnly
	}
	r.drain(i)
}

// override is what the loosened rules do with a second resolution of an attempt.
func (r *reader) override(i int8, c, o, outcome uint8) {
	again := r.rule == lastWins && r.settled[c] >= 0 && outcome != hold ||
		r.rule == expiredIsNotTerminal && r.status[c] == expired && outcome == permit
	if !again || r.last[c] != int8(o) {
		return
	}
	r.permit[c], r.settled[c] = outcome == permit, i
	r.status[c] = refused
	if outcome == permit {
		r.status[c] = permitted
		r.adopt(r.first[c], didCall<<c)
	}
}

// settle makes `as` the terminal state of c; the caller drains.
func (r *reader) settle(c, as uint8, i int8) {
	switch r.status[c] {
	case open:
		r.open = -1
	case queued:
		r.unqueue(r.first[c])
	}
	r.status[c], r.settled[c], r.since[c], r.ready[c] = as, i, r.tick, false
	r.permit[c] = as == permitted
	if as == permitted {
		r.unsound = r.unsound || violates(0, c, r.state) || violates(1, c, r.state)
	}
	if as == permitted || r.rule == refusedCallsLeaveTraces {
		r.adopt(r.first[c], didCall<<c)
	}
}

func (r *reader) unqueue(i int8) {
	for k := int8(0); k < r.waiting; k++ {
		if r.queue[k] == i {
			copy(r.queue[k:], r.queue[k+1:r.waiting])
			r.waiting--
			r.queue[r.waiting] = 0
			return
		}
	}
}
