package protocol

import (
	"slices"

	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// synthesised is a resolution that the log itself implies, without a writer.
func synthesised(c *Call, as schema.SettledAs, reason verdict.Reason, detail string) *schema.Resolution {
	return &schema.Resolution{
		CallID: c.CallID, Attempt: c.Attempt,
		Outcome: as, Reason: reason, Detail: detail, CallDigest: c.Digest,
	}
}

// stepResolution applies rules 6, 10 and 11: the first matching resolution in log
// order stands, every other one is void.
func (p *Partition) stepResolution(offset uint64, ev *schema.Event) {
	r := ev.Resolution
	t := p.traces[TraceID{ev.Tenant, ev.Trace}]
	if t == nil {
		p.void(offset, ev, "no such trace")
		return
	}
	if r.Outcome == schema.SettledExpired {
		p.stepExpired(t, offset, ev)
		return
	}
	c := t.open
	if c == nil || c.Attempt != r.Attempt {
		p.void(offset, ev, "its attempt is not open")
		return
	}
	if !slices.Equal(r.CallDigest, c.Digest) {
		p.void(offset, ev, "its digest is not that of the call")
		return
	}
	if r.Outcome.Terminal() {
		p.settle(t, c, offset, r)
	} else {
		p.hold(t, c, offset, r)
	}
	p.drain(t, offset)
}

// stepExpired applies a gate's `expired` record, which names its call and works in
// whatever unresolved state the call is.
func (p *Partition) stepExpired(t *trace, offset uint64, ev *schema.Event) {
	for _, c := range p.unresolved {
		if c.ID == ev.Resolution.Attempt.CallID && c.Event.Trace == t.id.Trace && c.Event.Tenant == t.id.Tenant {
			p.settle(t, c, offset, ev.Resolution)
			p.drain(t, offset)
			return
		}
	}
	p.void(offset, ev, "its call is already settled")
}

// settle makes r the terminal resolution of c. The caller drains the trace.
func (p *Partition) settle(t *trace, c *Call, offset uint64, r *schema.Resolution) {
	p.detach(t, c, r)
	c.SettledAt, c.SettledTime = offset, p.tick.Time
	p.unresolved = remove(p.unresolved, c)
	switch r.Outcome {
	case schema.SettledPermit:
		c.Status = CallPermitted
		p.unfinished = append(p.unfinished, c)
	case schema.SettledExpired:
		c.Status = CallExpired
	case schema.SettledRefuse, schema.SettledRedirect, schema.SettledHold, schema.SettledEscalate:
		c.Status = CallRefused
	}
	p.emit(Effect{Kind: Settled, Trace: t.id, Call: c, Attempt: c.Attempt, Event: c.Event, Offset: offset, Resolution: r})
	if c.Status != CallPermitted {
		p.remember(t, c)
		c.Event = nil
	}
}

// detach takes c out of wherever it waits and adopts or drops its open attempt.
func (p *Partition) detach(t *trace, c *Call, r *schema.Resolution) {
	switch c.Status {
	case CallOpen:
		t.open = nil
		e := Effect{Kind: Dropped, Trace: t.id, Call: c, Attempt: c.Attempt, Event: c.Event, Offset: c.Offset}
		if r.Outcome == schema.SettledPermit {
			e.Kind = Adopted
			e.TimePoint, e.Timestamp, e.Evidence, e.Observe = c.timePoint, c.timestamp, c.evidence, c.observe
			t.next++
			t.last = c.timestamp
			e.Weakened = c.weakened
			t.weaken(c.evidence, c.weakened)
		}
		p.emit(e)
	case CallHeld:
		t.held = remove(t.held, c)
	case CallQueued:
		t.queue = slices.DeleteFunc(t.queue, func(q queued) bool { return q.call == c })
	case CallPermitted, CallDone, CallUnknown, CallWithdrawn, CallRefused, CallExpired:
	}
}

// hold parks c with its condition (rule 14); what it waits for may already be there.
func (p *Partition) hold(t *trace, c *Call, offset uint64, r *schema.Resolution) {
	p.closeAttempt(t)
	c.Status = CallHeld
	c.awaits = r.Awaits
	c.escalated = r.Outcome == schema.SettledEscalate
	c.ready = !c.escalated && p.conditionCame(t, c)
	t.held = insertByOffset(t.held, c)
	p.emit(Effect{Kind: Interim, Trace: t.id, Call: c, Attempt: c.Attempt, Event: c.Event, Offset: offset, Resolution: r})
}

func (p *Partition) conditionCame(t *trace, c *Call) bool {
	for _, id := range c.awaits {
		awaited := t.calls[callKey{c.Session, id}]
		if awaited == nil || awaited.Status != CallPermitted {
			return true
		}
	}
	return len(c.awaits) == 0
}

// finish ends a permitted call; calls that were held for it become ready.
func (p *Partition) finish(t *trace, c *Call, as CallStatus) {
	c.Status = as
	p.unfinished = remove(p.unfinished, c)
	p.emit(Effect{
		Kind: Finished, Trace: t.id, Call: c, Event: c.Event, Offset: c.Offset, Proposed: c.Event,
		Outcome: as, Timestamp: max(t.last, p.tick.Time),
	})
	for _, h := range t.held {
		if !h.escalated && h.Session == c.Session && slices.Contains(h.awaits, c.CallID) {
			h.ready = true
		}
	}
	p.remember(t, c)
	if as != CallUnknown { // a late result is still typed with its call
		c.Event = nil
	}
}

// stepWithdrawn folds a gate's record that a standing permit was never delivered.
func (p *Partition) stepWithdrawn(offset uint64, ev *schema.Event) {
	t := p.traces[TraceID{ev.Tenant, ev.Trace}]
	if t == nil {
		p.void(offset, ev, "no such trace")
		return
	}
	c := t.calls[callKey{ev.SessionID, ev.CallID}]
	if c == nil || c.Status != CallPermitted {
		p.void(offset, ev, "no permit of this call is outstanding")
		return
	}
	p.finish(t, c, CallWithdrawn)
	p.drain(t, offset)
}

func remove(list []*Call, c *Call) []*Call {
	if i := slices.Index(list, c); i >= 0 {
		return slices.Delete(list, i, i+1)
	}
	return list
}
