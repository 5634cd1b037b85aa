package model

// The processes are modelled by what they remember that the log does not say.
//
// Aspect owners and composers read the log. A reader that lags, is paused, crashed
// and reads again, or shares its partition with another owner, is at some prefix of
// the log; so every verdict may be published, and every resolution proposed, for
// every attempt that any prefix opens, at any time. A composer remembers which
// attempt it proposed last, and loses that in a crash.
//
// A gate remembers which calls it has pending. Each process has at most one append
// in flight; appends that timed out, whose writer crashed, or that are doubled, are
// strays: they may be written at any later time, or never.

// Processes that have appends in flight.
const (
	gate0 = iota
	gate1
	composer0
	composer1
	writers
)

// entry is a call as a gate has it pending.
type entry = uint8

const (
	idle      entry = iota
	pending         // proposed
	expiring        // and its `expired` record appended
	delivered       // answered permit
	declined        // answered by a refusal that stands
	issued          // answered "already issued", or "busy": no statement about the call
	gaveUp          // answered refusal on the gate's own account
	retracted       // and withdrew the permit that stood
)

// waits reports whether the harness has no answer yet.
func waits(e entry) bool { return e == pending || e == expiring }

// entries: gate 0 has call a; gate 1 has call a, repeated by its harness, and call b.
const entries = 3

func entryOf(e int) (gate, call uint8) {
	switch e {
	case 0:
		return gate0, callA
	case 1:
		return gate1, callA
	}
	return gate1, callB
}

// state is one state of the world. It has no padding and no pointer, so it is its
// own key.
type state struct {
	log       [maxLog]record
	flight    [writers]record // 0: none
	stray     record
	proposed  [2]uint8   // per composer: the attempt proposed last, plus one
	published [2][2]byte // per aspect: a bit per attempt, low byte first
	entries   [entries]entry
	restarted [2]uint8 // per gate: 1 after a crash
	now       uint8    // wall clock, in units of log time
	answers   [calls]uint8
	faults    uint8
	once      uint8 // 1: resolutions are created once per attempt (NATS); 0: plain appends (Kafka)
}

func (s *state) len() int {
	for i, r := range s.log {
		if r == 0 {
			return i
		}
	}
	return maxLog
}

func (s *state) isPublished(aspect, attempt uint8) bool {
	return s.published[aspect][attempt>>3]&(1<<(attempt&7)) != 0
}

func (s *state) publish(aspect, attempt uint8) {
	s.published[aspect][attempt>>3] |= 1 << (attempt & 7)
}

// canonical orders the two composers, which are alike, so that states that differ
// by their names alone are one.
func (s *state) canonical() {
	if s.proposed[0] < s.proposed[1] || s.proposed[0] == s.proposed[1] && s.flight[composer0] < s.flight[composer1] {
		s.proposed[0], s.proposed[1] = s.proposed[1], s.proposed[0]
		s.flight[composer0], s.flight[composer1] = s.flight[composer1], s.flight[composer0]
	}
}

// config bounds an exploration.
type config struct {
	name    string
	log     int   // records, at most maxLog; room for the ticks is reserved
	faults  uint8 // crashes, time-outs and doubled records together
	grant   bool  // an authority appends one
	repeat  bool  // the harness of call a repeats it at gate 1
	second  bool  // a second composer
	callB   bool
	plain   bool // also with plain appends instead of create-once
	rule    mutation
	atLeast int // states; fewer mean that the exploration has lost its subject
}

// action names a step, for the report of a violation.
type action struct {
	what string
	a, b uint8
}

// steps calls visit with each successor of s. r has read the log of s.
type steps struct {
	cfg   *config
	s     *state
	r     *reader
	visit func(action, *state)
}

func (w *steps) all() {
	w.environment()
	w.aspects()
	w.composers()
	for p := range uint8(writers) {
		w.flight(p)
	}
	w.strays()
	for e := range entries {
		w.gate(e)
	}
	w.crashes()
}

// room reports whether an ordinary record can be appended: the ticks always can
// (rule 18).
func (w *steps) room() bool { return int(w.r.n)+lastTick-int(w.r.tick) < w.cfg.log }

// appended is s with one more record.
func (w *steps) appended(rec record) state {
	t := *w.s
	t.log[w.r.n] = rec
	return t
}

func (w *steps) count(rec record) int {
	n := 0
	for _, r := range w.s.log[:w.r.n] {
		if r == rec {
			n++
		}
	}
	return n
}

// environment: time passes, composers tick, an authority speaks, tools answer.
func (w *steps) environment() {
	if w.s.now < lastTick {
		t := *w.s
		t.now++
		w.visit(action{"time passes", t.now, 0}, &t)
	}
	if w.r.tick < w.s.now {
		t := w.appended(recTick + w.r.tick + 1)
		w.visit(action{"tick", w.r.tick + 1, 0}, &t)
	}
	if !w.room() {
		return
	}
	if w.cfg.grant && w.count(recGrant) == 0 {
		t := w.appended(recGrant)
		w.visit(action{"grant", 0, 0}, &t)
	}
	for c := range uint8(calls) {
		if w.s.answers[c] == 0 {
			continue
		}
		t := w.appended(recResult + c)
		switch w.count(recResult + c) {
		case 0:
			w.visit(action{"result of call", c, 0}, &t)
		case 1:
			if w.s.faults < w.cfg.faults {
				t.faults++
				w.visit(action{"doubled result of call", c, 0}, &t)
			}
		}
	}
}

// aspects publish verdicts on any attempt that a prefix of the log opens.
func (w *steps) aspects() {
	for o := range uint8(w.r.judged) {
		for a := range uint8(2) {
			if !w.s.isPublished(a, o) {
				t := *w.s
				t.publish(a, o)
				w.visit(action{"verdict of aspect, on attempt", a, o}, &t)
			}
		}
	}
}

// sees reports whether a composer can have the verdict of an aspect on attempt o,
// and what it says.
func (w *steps) sees(aspect, o uint8) (known, bad bool) {
	for p := range uint8(w.r.judged) {
		if w.s.isPublished(aspect, p) && sameKey(w.cfg.rule, w.r, o, p) {
			at := &w.r.attempts[p]
			return true, violates(aspect, at.call, at.state)
		}
	}
	return false, false
}

// sameKey reports whether the verdicts on two attempts have one key (rule 2).
func sameKey(rule mutation, r *reader, o, p uint8) bool {
	if rule == keyByTimePoint {
		return r.attempts[o].timePoint == r.attempts[p].timePoint
	}
	return o == p
}

// composers propose a resolution of any attempt after the one proposed last.
func (w *steps) composers() {
	for k := range uint8(2) {
		if w.s.flight[composer0+k] != 0 || !w.cfg.second && k == 1 {
			continue
		}
		for o := w.s.proposed[k]; o < uint8(w.r.judged); o++ {
			for outcome := permit; outcome <= hold; outcome++ {
				if w.decides(o, outcome) {
					t := *w.s
					t.flight[composer0+k], t.proposed[k] = resolve(o, outcome), o+1
					w.visit(action{[...]string{"permit proposed by composer, attempt", "refusal proposed by composer, attempt", "hold proposed by composer, attempt"}[outcome], k, o}, &t)
				}
			}
		}
	}
}

// decides is rule 8: permit and hold need both parts, a refusal one that violates,
// or the deadline.
func (w *steps) decides(o, outcome uint8) bool {
	have0, bad0 := w.sees(0, o)
	have1, bad1 := w.sees(1, o)
	at := &w.r.attempts[o]
	switch outcome {
	case permit:
		return have0 && !bad0 && (have1 && !bad1 || w.cfg.rule == decideOnOnePart)
	case refuse:
		return bad0 && (!at.holdable || have1 && bad1) || bad1 || w.s.now >= deadline(at.call)
	case hold:
		return bad0 && have1 && !bad1 && at.holdable
	}
	return false
}

// created reports whether a create-once append finds its key taken.
func (w *steps) created(rec record) bool {
	if w.s.once == 0 || !isResolve(rec) {
		return false
	}
	for _, r := range w.s.log[:w.r.n] {
		if isResolve(r) && attemptOf(r) == attemptOf(rec) {
			return true
		}
	}
	return false
}
