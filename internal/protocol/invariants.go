package protocol

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
)

// invariants reports the first invariant of Partition that does not hold. The cost
// is linear in the state; Restore and the tests call it.
func (p *Partition) invariants() error {
	var open, unresolved, permitted int
	for _, t := range p.sortedTraces() {
		for _, c := range t.calls {
			switch {
			case c.Status == CallPermitted:
				permitted++
			case c.Status.Unresolved():
				unresolved++
			default:
				continue
			}
			if c.Event == nil || c.Event.Tenant != t.id.Tenant || c.Event.Trace != t.id.Trace {
				return fmt.Errorf("%s call %q of trace %q has no event of that trace", c.Status, c.ID, t.id.Trace)
			}
			if c.Status == CallOpen {
				open++
			}
		}
		if err := t.waiting(); err != nil {
			return fmt.Errorf("trace %q: %w", t.id.Trace, err)
		}
		if t.open != nil {
			open--
		}
	}
	if open != 0 {
		return fmt.Errorf("%d more calls are open than there are open attempts", open)
	}
	if err := p.listed(p.unresolved, unresolved, CallStatus.Unresolved); err != nil {
		return fmt.Errorf("unresolved: %w", err)
	}
	if !slices.IsSortedFunc(p.unresolved, func(a, b *Call) int { return cmp.Compare(a.Offset, b.Offset) }) {
		return errors.New("the unresolved calls are not in log order")
	}
	if err := p.listed(p.unfinished, permitted, func(s CallStatus) bool { return s == CallPermitted }); err != nil {
		return fmt.Errorf("unfinished: %w", err)
	}
	if !slices.IsSortedFunc(p.unfinished, func(a, b *Call) int { return cmp.Compare(a.SettledAt, b.SettledAt) }) {
		return errors.New("the permitted calls are not in the order of their permits")
	}
	return nil
}

// listed checks that list holds each of the n calls of the partition with a status.
func (p *Partition) listed(list []*Call, n int, want func(CallStatus) bool) error {
	seen := map[*Call]bool{}
	for _, c := range list {
		if seen[c] || !want(c.Status) || c.Event == nil {
			return fmt.Errorf("call %q does not belong there", c.ID)
		}
		seen[c] = true
		t := p.traces[TraceID{c.Event.Tenant, c.Event.Trace}]
		if t == nil || t.calls[c.key()] != c {
			return fmt.Errorf("call %q is not one of its trace", c.ID)
		}
	}
	if len(list) != n {
		return fmt.Errorf("%d calls are listed, %d exist", len(list), n)
	}
	return nil
}

// waiting checks where the calls of a trace wait.
func (t *trace) waiting() error {
	in := func(c *Call, s CallStatus) bool { return c.Status == s && t.calls[c.key()] == c }
	if t.open != nil && !in(t.open, CallOpen) {
		return fmt.Errorf("call %q is %s at the head", t.open.ID, t.open.Status)
	}
	for i, c := range t.held {
		if !in(c, CallHeld) || i > 0 && t.held[i-1].Offset >= c.Offset {
			return fmt.Errorf("call %q is %s among the held ones, or out of order", c.ID, c.Status)
		}
		if c.ready && t.open == nil {
			return fmt.Errorf("held call %q is ready and nothing is open", c.ID)
		}
	}
	for i := range t.queue {
		q := &t.queue[i]
		if q.event == nil || q.call != nil && (!in(q.call, CallQueued) || q.call.Event == nil) || i > 0 && t.queue[i-1].offset >= q.offset {
			return fmt.Errorf("the record at %d does not belong into the queue", q.offset)
		}
	}
	if t.open == nil && len(t.queue) > 0 {
		return errors.New("records wait and nothing is open")
	}
	return t.placed()
}

// placed checks that every unresolved call waits somewhere.
func (t *trace) placed() error {
	waits := len(t.held)
	if t.open != nil {
		waits++
	}
	for i := range t.queue {
		if t.queue[i].call != nil {
			waits++
		}
	}
	for _, c := range t.calls {
		if c.Status.Unresolved() {
			waits--
		}
	}
	if waits != 0 {
		return fmt.Errorf("%d more calls wait than are unresolved", waits)
	}
	return nil
}
