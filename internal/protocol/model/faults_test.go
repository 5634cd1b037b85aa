package model

// flight: the append of a process is written, refused, or times out.
func (w *steps) flight(p uint8) {
	rec := w.s.flight[p]
	if rec == 0 {
		return
	}
	if w.room() && !w.created(rec) {
		t := w.appended(rec)
		t.flight[p] = 0
		w.visit(action{"append written, of process", p, 0}, &t)
		if w.faulty() && w.s.stray == 0 {
			t.stray = rec
			t.faults++
			w.visit(action{"append written and doubled, of process", p, 0}, &t)
		}
	} else {
		t := *w.s
		t.flight[p] = 0
		w.setEntry(&t, rec, pending, issued) // answered "busy"
		w.visit(action{"append refused, of process", p, 0}, &t)
	}
	if w.faulty() && w.s.stray == 0 {
		t := *w.s
		t.flight[p], t.stray = 0, rec
		t.faults++
		w.setEntry(&t, rec, pending, gaveUp) // answered "unrecorded"
		if isResolve(rec) {
			t.proposed[p-composer0] = attemptOf(rec) // and may propose it again
		}
		w.visit(action{"append timed out, of process", p, 0}, &t)
	}
}

func (w *steps) faulty() bool { return w.s.faults < w.cfg.faults }

// setEntry changes the entry of the gate whose proposal rec is.
func (w *steps) setEntry(t *state, rec record, from, to entry) {
	if isResolve(rec) || kind(rec) != recCall {
		return
	}
	for e := range entries {
		if g, c := entryOf(e); c == callOf(rec) && g == writerOf(rec)>>1 && t.entries[e] == from {
			t.entries[e] = to
		}
	}
}

// strays are written late or never.
func (w *steps) strays() {
	rec := w.s.stray
	if rec == 0 {
		return
	}
	if w.room() && !w.created(rec) {
		t := w.appended(rec)
		t.stray = 0
		w.visit(action{"stray append written", 0, 0}, &t)
	}
	t := *w.s
	t.stray = 0
	w.visit(action{"stray append lost", 0, 0}, &t)
}

// crashes: a process loses what it remembers, and its append in flight is lost or
// becomes a stray.
func (w *steps) crashes() {
	if !w.faulty() {
		return
	}
	for g := range uint8(2) {
		if w.s.restarted[g] != 0 || !w.busy(g) {
			continue
		}
		t := *w.s
		t.restarted[g] = 1
		for e := range entries {
			if gate, _ := entryOf(e); gate == g {
				t.entries[e] = idle
			}
		}
		w.crash(t, g)
	}
	for k := range uint8(2) {
		if w.s.proposed[k] != 0 {
			t := *w.s
			t.proposed[k] = 0
			w.crash(t, composer0+k)
		}
	}
}

func (w *steps) busy(g uint8) bool {
	for e := range entries {
		if gate, _ := entryOf(e); gate == g && w.s.entries[e] != idle {
			return true
		}
	}
	return false
}

func (w *steps) crash(t state, p uint8) {
	rec := t.flight[p]
	t.flight[p] = 0
	t.faults++
	w.visit(action{"crash of process", p, 0}, &t)
	if rec != 0 && t.stray == 0 {
		t.stray = rec
		w.visit(action{"crash with an append under way of process", p, 0}, &t)
	}
}

// gate lets one entry of a gate go on.
func (w *steps) gate(e int) {
	g, c := entryOf(e)
	if c == callB && !w.cfg.callB || e == 1 && !w.cfg.repeat {
		return
	}
	switch w.s.entries[e] {
	case idle:
		if w.s.flight[g] == 0 {
			w.send(e, by(recCall, c, g, w.s.restarted[g]), pending, "call proposed, of entry")
		}
	case pending, expiring:
		w.answer(e)
	case gaveUp:
		mine := w.r.claim[c] == by(recCall, c, g, w.s.restarted[g]) || w.cfg.rule == anyGateWithdraws
		if mine && w.r.permit[c] && w.s.flight[g] == 0 {
			w.send(e, by(recWithdrawn, c, g, w.s.restarted[g]), retracted, "permit withdrawn, of entry")
		}
	case delivered, declined, issued, retracted:
	}
}

// send puts an append of the entry's gate in flight.
func (w *steps) send(e int, rec record, to entry, what string) {
	g, _ := entryOf(e)
	t := *w.s
	t.flight[g], t.entries[e] = rec, to
	w.visit(action{what, uint8(e), 0}, &t)
}

func (w *steps) become(e int, to entry, what string) {
	t := *w.s
	t.entries[e] = to
	if to == delivered {
		_, c := entryOf(e)
		t.answers[c]++
	}
	w.visit(action{what, uint8(e), 0}, &t)
}

// answer is rule 12.
func (w *steps) answer(e int) {
	g, c := entryOf(e)
	mine := by(recCall, c, g, w.s.restarted[g])
	at := w.indexOf(mine)
	if w.s.now > deadline(c) {
		w.become(e, gaveUp, "gave up at the deadline, entry")
	}
	if w.cfg.rule == noReadBack && w.underWay(c) {
		w.become(e, delivered, "permit delivered, of entry")
	}
	if at < 0 {
		return
	}
	if w.s.entries[e] == pending && w.s.now >= deadline(c) && w.s.flight[g] == 0 {
		w.send(e, by(recExpired, c, g, w.s.restarted[g]), expiring, "expired appended, of entry")
	}
	settled := w.r.settled[c]
	late := settled >= 0 && at > settled
	claimed := w.r.claim[c] == mine || w.cfg.rule == anyGateDelivers
	switch {
	case late && w.cfg.rule == repeatsAreJudgedAfresh && w.r.permit[c] && w.s.now <= deadline(c):
		w.become(e, delivered, "permit delivered again, of entry")
	case late, !claimed:
		w.become(e, issued, "already issued, entry")
	case settled < 0:
	case !w.r.permit[c]:
		w.become(e, declined, "refusal delivered, of entry")
	case w.s.now <= deadline(c) || w.cfg.rule == permitAfterDeadline:
		w.become(e, delivered, "permit delivered, of entry")
	}
}

func (w *steps) indexOf(rec record) int8 {
	for i, r := range w.s.log[:w.r.n] {
		if r == rec {
			return int8(i)
		}
	}
	return -1
}

// underWay reports whether a permit of the call is proposed and not yet written.
func (w *steps) underWay(c uint8) bool {
	for _, rec := range w.s.flight {
		if isResolve(rec) && outcomeOf(rec) == permit && w.r.attempts[attemptOf(rec)].call == c {
			return true
		}
	}
	return false
}
