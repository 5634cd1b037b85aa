package protocol

import (
	"slices"
	"sort"

	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// trace is the folded state of one trace.
type trace struct {
	id       TraceID
	next     uint64 // index of the next time point
	last     int64  // timestamp of the last time point, ns
	evidence verdict.Completeness
	weakened int64    // records up to this time may be missing, where evidence is not sound
	writers  []string // producers that wrote to it, sorted, up to maxWriters
	active   int64    // log time of its last record
	session  bool     // the trace is one session, not a coarser one
	ended    bool
	ends     []string // sessions ended within a coarser trace, oldest first
	lapsed   bool     // a session that was forgotten, or never seen, when it came back
	partial  bool     // some call of the trace may be settled and not in calls

	open  *Call
	held  []*Call  // in log order
	queue []queued // records behind the open attempt, in log order

	calls map[callKey]*Call
	known []callKey // finished calls, oldest first, for forgetting
}

// queued is a record that waits. Call is set for call records.
type queued struct {
	event  *schema.Event
	offset uint64
	call   *Call
}

// stamp is rule 4: the time of a time point made now by a record that claims the
// given time, how complete the trace is with it, and up to when it is not.
func (p *Partition) stamp(t *trace, claimed int64) (ts int64, evidence verdict.Completeness, weakened int64) {
	if limit := p.tick.Time + p.rules.MaxSkew; p.tick.N != 0 && claimed > limit {
		ts = max(limit, t.last)
		return ts, verdict.Worse(t.evidence, verdict.Degraded), ts
	}
	return max(claimed, t.last), t.evidence, t.weakened
}

// weaken notes that records of the trace up to the given time may be missing. What
// reads no further back than to there is not concerned any more when that is past.
func (t *trace) weaken(to verdict.Completeness, until int64) {
	t.evidence = verdict.Worse(t.evidence, to)
	t.weakened = max(t.weakened, until)
}

// horizon is a time that no record written before ev can claim: where there is a
// clock, none is accepted further ahead of it than the skew (rule 4).
func (p *Partition) horizon(ev *schema.Event) int64 {
	if p.tick.N == 0 {
		return ev.ClaimedTS
	}
	return p.tick.Time + p.rules.MaxSkew
}

func (p *Partition) stepCall(offset uint64, ev *schema.Event) {
	t := p.trace(ev)
	c := &Call{
		Event: ev, Offset: offset, ID: ev.ID, Session: ev.SessionID, CallID: ev.CallID,
		Digest: ev.Digest, Deadline: ev.Deadline, Claim: ev.ID, principal: ev.Actor.ID,
		Attempt: schema.Attempt{Partition: p.id, CallID: ev.ID},
	}
	if first := t.calls[c.key()]; first != nil {
		p.repeated(t, first, offset, ev)
		return
	}
	t.calls[c.key()] = c
	p.unresolved = append(p.unresolved, c)
	switch {
	case t.lapsed: // its id may be that of a call that was permitted (rule 17)
		p.settle(t, c, offset, synthesised(c, schema.SettledRefuse, verdict.Invalid, lapsedDetail))
	case t.open == nil:
		p.open(t, c, offset)
		p.drain(t, offset)
	case queuedCalls(t) >= p.rules.QueueLimit:
		p.settle(t, c, offset, synthesised(c, schema.SettledRefuse, verdict.Busy, "too many calls wait in this trace"))
	default:
		t.queue = append(t.queue, queued{ev, offset, c})
	}
}

const lapsedDetail = "the session ended or was idle for too long; open a new one"

func (p *Partition) repeated(t *trace, first *Call, offset uint64, ev *schema.Event) {
	if !slices.Equal(first.Digest, ev.Digest) {
		p.void(offset, ev, "call id was used for another call")
		return
	}
	if first.Status.Unresolved() {
		first.Claim = ev.ID
	}
	p.emit(Effect{Kind: Repeated, Trace: t.id, Call: first, Event: ev, Offset: offset})
}

func queuedCalls(t *trace) int {
	n := 0
	for i := range t.queue {
		if t.queue[i].call != nil {
			n++
		}
	}
	return n
}

// open opens an attempt of c at the record at offset, or settles it at once when
// it is born expired (rule 5).
func (p *Partition) open(t *trace, c *Call, offset uint64) {
	if c.Deadline != 0 && p.tick.N != 0 && c.Deadline < p.tick.Time {
		p.settle(t, c, offset, synthesised(c, schema.SettledExpired, verdict.Late, "the deadline had passed when its turn came"))
		return
	}
	c.Status, c.ready = CallOpen, false
	c.Attempt.Opening = offset
	c.timePoint = t.next
	c.timestamp, c.evidence, c.weakened = p.stamp(t, c.Event.ClaimedTS)
	c.observe = p.Observing()
	c.distrusted = p.distrusts(principal{t.id.Tenant, c.Event.Actor.ID})
	t.open = c
	p.emit(p.openedEffect(t, c))
}

// closeAttempt ends the open attempt of t without settling its call.
func (p *Partition) closeAttempt(t *trace) *Call {
	c := t.open
	t.open = nil
	p.emit(Effect{Kind: Closed, Trace: t.id, Call: c, Attempt: c.Attempt})
	return c
}

// drain lets what waited go on, in log order, until an attempt is open again:
// held calls whose condition has come first, then the queue (rules 13 and 14).
func (p *Partition) drain(t *trace, offset uint64) {
	for t.open == nil {
		if c := takeReady(t); c != nil {
			p.open(t, c, offset)
			continue
		}
		if len(t.queue) == 0 {
			return
		}
		q := t.queue[0]
		t.queue[0] = queued{}
		t.queue = t.queue[1:]
		if q.call != nil {
			p.open(t, q.call, offset)
			continue
		}
		p.point(t, q.event, q.offset)
	}
}

func takeReady(t *trace) *Call {
	for i, c := range t.held {
		if c.ready {
			t.held = slices.Delete(t.held, i, i+1)
			return c
		}
	}
	return nil
}

// stepOther folds results, messages and observations, which wait behind an open
// attempt of their trace.
func (p *Partition) stepOther(offset uint64, ev *schema.Event) {
	t := p.trace(ev)
	if t.open != nil {
		t.queue = append(t.queue, queued{event: ev, offset: offset})
		return
	}
	p.point(t, ev, offset)
	p.drain(t, offset)
}

// point makes ev the next time point of its trace. A result first has to belong to
// a permitted call (rule 17).
func (p *Partition) point(t *trace, ev *schema.Event, offset uint64) {
	var call *Call
	if ev.Kind == schema.KindResult {
		call = t.calls[callKey{ev.SessionID, ev.CallID}]
		if !p.acceptResult(t, call, ev, offset) {
			return
		}
	}
	ts, evidence, weakened := p.stamp(t, ev.ClaimedTS)
	t.evidence, t.weakened = evidence, max(t.weakened, weakened)
	step := Effect{
		Kind: Stepped, Trace: t.id, Call: call, Event: ev, Offset: offset,
		TimePoint: t.next, Timestamp: ts, Evidence: t.evidence, Weakened: t.weakened, Observe: p.Observing(),
	}
	if call != nil {
		step.Proposed = call.Event
	}
	p.emit(step)
	t.next++
	t.last = ts
	switch {
	case call == nil:
	case call.Status == CallPermitted && ev.Status == schema.ResultUnknown:
		p.finish(t, call, CallUnknown)
	case call.Status == CallPermitted:
		p.finish(t, call, CallDone)
	case call.Status == CallUnknown:
		call.Status, call.Event = CallDone, nil // late, and the last one that is accepted
	}
}

func (p *Partition) acceptResult(t *trace, c *Call, ev *schema.Event, offset uint64) bool {
	var why string
	switch {
	case c == nil && t.partial:
		p.void(offset, ev, "a result for a call that is not remembered")
		return false
	case c == nil:
		why = "a result for a call that was never proposed"
	case c.Status == CallPermitted, c.Status == CallUnknown:
		return true
	case c.Status == CallRefused, c.Status == CallExpired:
		why = "a result for a call that was refused"
	case c.Status == CallDone:
		why = "a second result for one call"
	case c.Status == CallWithdrawn:
		why = "a result for a call whose permit was withdrawn"
	default:
		why = "a result for a call that is not settled"
	}
	p.distrust(principal{ev.Tenant, ev.Actor.ID}, why)
	for _, who := range t.callers(ev.SessionID, c) {
		p.distrust(principal{ev.Tenant, who}, why)
	}
	p.emit(Effect{Kind: Violated, Trace: t.id, Call: c, Event: ev, Offset: offset, Detail: why})
	return false
}

// callers lists, sorted, whose call it is, or, of one that was never proposed, whose the other
// calls of its session are. A result may be posted by somebody else than who ran the call.
func (t *trace) callers(session string, c *Call) []string {
	if c != nil {
		return []string{c.principal}
	}
	var out []string
	for key, other := range t.calls {
		if key.session == session {
			out = append(out, other.principal)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func (p *Partition) distrust(key principal, why string) {
	switch _, known := p.distrusted[key]; {
	case known:
	case len(p.distrusted) < maxDistrusted:
		p.distrusted[key] = why
	default:
		p.crowded[key.tenant] = true
	}
}

// distrusts reports whether a principal committed an integrity violation, or may have:
// a tenant one of whose violations found no room is distrusted as a whole.
func (p *Partition) distrusts(who principal) bool {
	_, known := p.distrusted[who]
	return known || p.crowded[who.tenant]
}

// maxDistrusted bounds the principals remembered for integrity violations in one
// partition; each is one agent credential that broke the protocol, so thousands
// already mean that the deployment is under attack from within. The tenant of one more
// gets no further permit.
const maxDistrusted = 10_000

// stepGrant folds an authority record: it passes the queue and reopens the open
// attempt at its position (rule 6). One that is bound to a call counts only while that call
// is proposed and not settled: nobody approves what was not yet proposed.
func (p *Partition) stepGrant(offset uint64, ev *schema.Event) {
	t := p.trace(ev)
	if len(ev.Grant.CallDigest) > 0 && !t.proposes(ev.Grant.CallDigest) {
		p.void(offset, ev, "an approval of a call that is not proposed, or settled already")
		return
	}
	var reopened *Call
	if t.open != nil {
		reopened = p.closeAttempt(t)
	}
	p.point(t, ev, offset)
	for _, c := range t.held {
		if c.escalated && slices.Equal(c.Digest, ev.Grant.CallDigest) {
			c.ready = true
		}
	}
	if reopened != nil {
		p.open(t, reopened, offset)
	}
	p.drain(t, offset)
}

// proposes reports whether a call with the digest is proposed in the trace and not settled.
func (t *trace) proposes(digest []byte) bool {
	for _, c := range t.calls {
		if c.Status.Unresolved() && slices.Equal(c.Digest, digest) {
			return true
		}
	}
	return false
}

// stepSession folds session start and end, which are no time points.
func (p *Partition) stepSession(_ uint64, ev *schema.Event) {
	t := p.trace(ev)
	switch {
	case !ev.Session.End:
	case t.session:
		t.ended = true
	case !slices.Contains(t.ends, ev.SessionID):
		t.ends = append(t.ends, ev.SessionID)
		if over := len(t.ends) - p.rules.CallMemory; over > 0 {
			t.ends = slices.Delete(t.ends, 0, over)
		}
	}
}

// remember keeps the id of a finished call and forgets the oldest beyond the limit.
func (p *Partition) remember(t *trace, c *Call) {
	t.known = append(t.known, c.key())
	if over := len(t.known) - p.rules.CallMemory; over > 0 {
		t.partial = true
		for _, k := range t.known[:over] {
			delete(t.calls, k)
		}
		t.known = slices.Delete(t.known, 0, over)
	}
}

func insertByOffset(list []*Call, c *Call) []*Call {
	i := sort.Search(len(list), func(i int) bool { return list[i].Offset > c.Offset })
	return slices.Insert(list, i, c)
}
