package protocol

import (
	"bytes"
	"slices"
	"sort"

	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// Partition is the folded state of one partition. It is owned by one goroutine.
//
// Invariants, checked by Restore and by the tests after every step:
//  1. a trace has at most one call in state CallOpen;
//  2. unresolved holds exactly the unresolved calls, in log order;
//  3. unfinished holds exactly the calls in state CallPermitted, in the order in
//     which they were settled;
//  4. a trace with an empty `open` has an empty queue and no ready held call.
type Partition struct {
	id    uint32
	rules Rules

	next      uint64 // offset after the last folded record
	genesis   bool   // the first activation of the generation was folded
	lost      bool   // some trace of one session was evicted since
	evicted   bool   // some coarser trace was evicted since
	evictedAt int64  // log time of the last look for traces to evict
	tick      schema.Tick
	policy    schema.Activation
	policyAt  uint64

	producers  map[string][]incarnation
	traces     map[TraceID]*trace
	unresolved []*Call
	unfinished []*Call
	distrusted map[principal]string
	crowded    map[string]bool // tenants of which a principal found no room in distrusted

	effects []Effect
}

type principal struct{ tenant, id string }

// New returns the state of a partition before its first record.
func New(id uint32, rules Rules) *Partition {
	return &Partition{
		id: id, rules: rules,
		producers:  map[string][]incarnation{},
		traces:     map[TraceID]*trace{},
		distrusted: map[principal]string{}, crowded: map[string]bool{},
	}
}

// ID returns the partition's number.
func (p *Partition) ID() uint32 { return p.id }

// Next returns the offset after the last folded record; 0 before the first.
func (p *Partition) Next() uint64 { return p.next }

// LastTick returns the last tick folded; its N is 0 before the first.
func (p *Partition) LastTick() schema.Tick { return p.tick }

// Policy returns the last activation folded; its Number is 0 before the first.
func (p *Partition) Policy() schema.Activation { return p.policy }

// Unresolved calls visit for each unresolved call in log order, until it returns
// false. The calls must not be modified or kept.
func (p *Partition) Unresolved(visit func(TraceID, *Call) bool) {
	for _, c := range p.unresolved {
		if !visit(TraceID{c.Event.Tenant, c.Event.Trace}, c) {
			return
		}
	}
}

// Step folds the record at offset and returns what it did, in order. The slice and
// the calls it points to are valid until the next Step; events and resolutions stay
// valid. A record at or before an offset already folded is ignored. The cost is
// constant but for these: a tick visits the unresolved and unfinished calls and, in
// each eviction period, every trace; a gap and a new policy visit every trace; a call
// that is settled or finished is looked for among the unresolved or unfinished ones,
// and what waited behind it is folded with it.
func (p *Partition) Step(offset uint64, ev *schema.Event) []Effect {
	p.effects = p.effects[:0]
	if p.next != 0 && offset < p.next {
		return p.effects
	}
	p.next = offset + 1
	if !p.admit(offset, ev) {
		return p.effects
	}
	switch ev.Kind {
	case schema.KindTick:
		p.stepTick(offset, ev)
	case schema.KindPolicy:
		p.stepPolicy(offset, ev)
	case schema.KindResolution:
		p.stepResolution(offset, ev)
	case schema.KindWithdrawn:
		p.stepWithdrawn(offset, ev)
	case schema.KindCall:
		p.stepCall(offset, ev)
	case schema.KindGrant:
		p.stepGrant(offset, ev)
	case schema.KindSession:
		p.stepSession(offset, ev)
	case schema.KindResult, schema.KindMessage, schema.KindObservation:
		p.stepOther(offset, ev)
	}
	return p.effects
}

func (p *Partition) emit(e Effect) { p.effects = append(p.effects, e) }

func (p *Partition) void(offset uint64, ev *schema.Event, why string) {
	p.emit(Effect{Kind: Voided, Trace: TraceID{ev.Tenant, ev.Trace}, Event: ev, Offset: offset, Detail: why})
}

// trace returns the trace of ev, creating it. A trace whose history may have begun
// before what is folded is incomplete (rule 21).
func (p *Partition) trace(ev *schema.Event) *trace {
	id := TraceID{ev.Tenant, ev.Trace}
	t := p.traces[id]
	if t == nil {
		t = &trace{id: id, session: ev.Trace == ev.SessionID, calls: map[callKey]*Call{}}
		// The start of a session begins the trace that is this session, and says nothing
		// about the history of a coarser one. It is written once, by the gate that made
		// the id, and a copy of it is dropped by rule 3: a start cannot revive a session
		// that was forgotten.
		starts := t.session && ev.Kind == schema.KindSession && !ev.Session.End
		gone := p.evicted
		if t.session {
			gone = p.lost
			t.lapsed = gone && !starts
			t.ended = t.lapsed
		}
		switch {
		case starts:
		case !p.genesis || gone:
			t.partial = true
			t.weaken(verdict.Incomplete, p.horizon(ev))
		case p.misses(ev):
			t.weaken(verdict.Degraded, p.horizon(ev))
		}
		p.traces[id] = t
	}
	t.active = p.tick.Time
	t.wrote(ev.Producer)
	return t
}

func (p *Partition) stepPolicy(offset uint64, ev *schema.Event) {
	a := ev.Activation
	if a.Number != p.policy.Number+1 && p.policy.Number != 0 || a.Number == 0 {
		p.void(offset, ev, "activation number is not the next one")
		return
	}
	if a.Number == 1 {
		p.genesis = true
	}
	if p.policy.Number != 0 && !bytes.Equal(a.Digest, p.policy.Digest) {
		p.weakenAll()
	}
	p.policy, p.policyAt = *a, offset
	p.emit(Effect{Kind: Activated, Event: ev, Offset: offset, Activation: a})
	p.reopenAll(offset)
}

// Observing reports whether the deployment only observes at this point of the log:
// the active policy says so, and log time has not passed the end.
func (p *Partition) Observing() bool {
	return p.policy.ObserveUntil != 0 && p.tick.Time < p.policy.ObserveUntil
}

// weakenAll marks every trace incomplete: the monitors of a new policy start
// without the history that was folded under the old one (rule 19).
func (p *Partition) weakenAll() {
	for _, t := range p.traces {
		t.weaken(verdict.Incomplete, t.last)
	}
}

func (p *Partition) reopenAll(offset uint64) {
	for _, c := range p.openCalls() {
		t := p.traces[TraceID{c.Event.Tenant, c.Event.Trace}]
		p.closeAttempt(t)
		p.open(t, c, offset)
	}
}

func (p *Partition) openCalls() []*Call {
	var out []*Call
	for _, c := range p.unresolved {
		if c.Status == CallOpen {
			out = append(out, c)
		}
	}
	return out
}

func (p *Partition) sortedTraces() []*trace {
	out := make([]*trace, 0, len(p.traces))
	for _, t := range p.traces {
		out = append(out, t)
	}
	sort.Slice(out, func(i, j int) bool { return lessTrace(out[i].id, out[j].id) })
	return out
}

func lessTrace(a, b TraceID) bool {
	if a.Tenant != b.Tenant {
		return a.Tenant < b.Tenant
	}
	return a.Trace < b.Trace
}

// Opened visits the open attempts in log order, as the effects that opened them.
func (p *Partition) Opened(visit func(*Effect)) {
	for _, c := range p.openCalls() {
		t := p.traces[TraceID{c.Event.Tenant, c.Event.Trace}]
		e := p.openedEffect(t, c)
		visit(&e)
	}
}

func (p *Partition) openedEffect(t *trace, c *Call) Effect {
	return Effect{
		Kind: Opened, Trace: t.id, Call: c, Attempt: c.Attempt, Event: c.Event, Offset: c.Offset,
		TimePoint: c.timePoint, Timestamp: c.timestamp, Evidence: c.evidence, Weakened: c.weakened,
		Distrusted: c.distrusted, Policy: p.policy.Digest, Observe: c.observe,
	}
}

// Lookup returns what is known of a call by its session and call id, or nil. The
// call must not be modified or kept beyond the next Step.
func (p *Partition) Lookup(id TraceID, session, call string) *Call {
	if t := p.traces[id]; t != nil {
		return t.calls[callKey{session, call}]
	}
	return nil
}

// Ended reports whether the session of the trace was ended, or forgotten. Of a trace
// coarser than a session the last Rules.CallMemory ends are remembered.
func (p *Partition) Ended(id TraceID, session string) bool {
	t := p.traces[id]
	return t != nil && (t.session && t.ended || slices.Contains(t.ends, session))
}

// Outstanding visits the permitted calls of a trace that have no outcome yet, in the
// order in which they were permitted, until it returns false. The calls must not be
// modified or kept.
func (p *Partition) Outstanding(id TraceID, visit func(*Call) bool) {
	for _, c := range p.unfinished {
		if c.Event.Tenant == id.Tenant && c.Event.Trace == id.Trace && !visit(c) {
			return
		}
	}
}

// Calls visits the calls of a trace that are remembered, in no particular order. The
// calls must not be modified or kept.
func (p *Partition) Calls(id TraceID, visit func(*Call)) {
	if t := p.traces[id]; t != nil {
		for _, c := range t.calls {
			visit(c)
		}
	}
}
