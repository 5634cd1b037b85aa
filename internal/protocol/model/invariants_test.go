package model

import "fmt"

// checkState returns what is wrong with a state, or "". The numbers are those of
// docs/protocol.md, "What the model checks".
func checkState(s *state, r *reader, rule mutation) string {
	for c := range uint8(calls) {
		switch {
		case s.answers[c] > 1:
			return fmt.Sprintf("(7) the permit of call %c was delivered twice", 'a'+c)
		case s.answers[c] > 0 && !r.permit[c]:
			return fmt.Sprintf("(1) the permit of call %c was delivered, and none stands", 'a'+c)
		case s.answers[c] > 0 && r.status[c] == withdrawn:
			return fmt.Sprintf("(7) the permit of call %c was delivered and withdrawn", 'a'+c)
		case r.permit[c] != (r.state&(didCall<<c) != 0):
			return fmt.Sprintf("(2) call %c is adopted: %t, its permit stands: %t", 'a'+c, !r.permit[c], r.permit[c])
		case r.status[c] == held && r.open < 0 && r.status[1-c] != permitted:
			return fmt.Sprintf("(4) call %c is held for a call that has ended", 'a'+c)
		}
	}
	for e := range entries {
		if _, c := entryOf(e); s.entries[e] == declined && (r.settled[c] < 0 || r.permit[c]) {
			return fmt.Sprintf("(1) entry %d was answered by a refusal that does not stand", e)
		}
	}
	switch {
	case r.unsound:
		return "(5) a permit was adopted on a state on which it violates"
	case r.accused:
		return "(6) a result of a delivered permit was taken for an integrity violation"
	case r.open < 0 && r.waiting > 0:
		return "(4) records wait and nothing is open"
	}
	return checkVerdicts(s, r, rule)
}

// checkVerdicts: one value per key, and the open attempt judged again now, by a
// worker that was restored, has the value that it had at its opening.
func checkVerdicts(s *state, r *reader, rule mutation) string {
	for a := range uint8(2) {
		for o := range uint8(r.judged) {
			for p := range o {
				if s.isPublished(a, o) && s.isPublished(a, p) && sameKey(rule, r, o, p) && r.value(a, o) != r.value(a, p) {
					return fmt.Sprintf("(3) aspect %d has two values for one key: attempts %d and %d", a, p, o)
				}
			}
		}
	}
	if r.open >= 0 {
		at := &r.attempts[r.last[r.open]]
		if at.state != r.state || int8(at.timePoint) != r.points {
			return "(3) the open attempt is judged otherwise now than when it opened"
		}
	}
	return ""
}

func (r *reader) value(aspect, o uint8) bool {
	return violates(aspect, r.attempts[o].call, r.attempts[o].state)
}

// checkAppend compares a reader with the same one a record earlier.
func checkAppend(before, after *reader) string {
	for c := range uint8(calls) {
		if before.settled[c] >= 0 && (before.settled[c] != after.settled[c] || before.permit[c] != after.permit[c]) {
			return fmt.Sprintf("(4) call %c is settled twice", 'a'+c)
		}
	}
	for i := range before.points {
		if before.adopted[i] != after.adopted[i] {
			return "(2) what was adopted has changed"
		}
	}
	for o := range before.judged {
		if before.attempts[o] != after.attempts[o] {
			return "(3) an attempt has changed after it opened"
		}
	}
	return ""
}

// checkStep is for what a step may not do.
func checkStep(from, to *state) string {
	for c := range uint8(calls) {
		if to.answers[c] > from.answers[c] && from.now > deadline(c) {
			return fmt.Sprintf("(1) the permit of call %c was delivered after its deadline", 'a'+c)
		}
	}
	return ""
}

// checkEnd is for states without a step: nobody waits any more, and every call in
// the log is settled.
func checkEnd(s *state, r *reader) string {
	for c := range uint8(calls) {
		if r.first[c] >= 0 && r.settled[c] < 0 {
			return fmt.Sprintf("(4) call %c is never settled", 'a'+c)
		}
	}
	for e := range entries {
		if waits(s.entries[e]) {
			return fmt.Sprintf("(4) entry %d is never answered", e)
		}
	}
	return ""
}

// rank grows with every step, component by component from the left: so no path is
// infinite, and every maximal one ends in a state that checkEnd sees.
func rank(s *state, n int) [5]int {
	done, free := 0, 0
	for _, e := range s.entries {
		done += int(e)
	}
	for _, k := range s.proposed {
		done += int(k)
	}
	for _, rec := range s.flight {
		if rec == 0 {
			free++
		}
	}
	if s.stray == 0 {
		free++
	}
	bits := 0
	for _, aspect := range s.published {
		for _, b := range aspect {
			for ; b != 0; b &= b - 1 {
				bits++
			}
		}
	}
	return [5]int{int(s.faults), n + int(s.now), bits, done, free}
}

func less(a, b [5]int) bool {
	for i := range a {
		if a[i] != b[i] {
			return a[i] < b[i]
		}
	}
	return false
}
