package protocol

import (
	"slices"
	"sort"

	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// stepTick moves log time. A tick past the deadline of an unresolved call is its
// expiry, and a permitted call without a result by its time-to-live becomes
// unknown (rule 15). The first tick of each number counts.
func (p *Partition) stepTick(offset uint64, ev *schema.Event) {
	k := ev.Tick
	if k.N <= p.tick.N {
		p.void(offset, ev, "a tick of this number was already folded")
		return
	}
	first := p.tick.N == 0
	p.tick = schema.Tick{N: k.N, Time: max(k.Time, p.tick.Time)}
	if first {
		p.startClock()
	}
	p.emit(Effect{Kind: Advanced, Event: ev, Offset: offset, Timestamp: p.tick.Time})
	p.expireCalls(offset)
	p.forgetOutcomes(offset)
	p.evict(offset)
}

// startClock makes what was seen before the first tick as old as that tick.
func (p *Partition) startClock() {
	for _, t := range p.traces {
		t.active = p.tick.Time
	}
	for _, list := range p.producers {
		for i := range list {
			list[i].heard = p.tick.Time
		}
	}
}

func (p *Partition) expireCalls(offset uint64) {
	for _, c := range slices.Clone(p.unresolved) {
		if c.Status.Unresolved() && c.Deadline != 0 && c.Deadline < p.tick.Time {
			t := p.traces[TraceID{c.Event.Tenant, c.Event.Trace}]
			p.settle(t, c, offset, synthesised(c, schema.SettledExpired, verdict.Late, c.WaitedFor()))
			p.drain(t, offset)
		}
	}
}

// WaitedFor says what an unresolved call was waiting for when its deadline passed
// (rule 14).
func (c *Call) WaitedFor() string {
	switch {
	case c.Status == CallHeld && c.escalated:
		return "the deadline passed while it waited for an approval"
	case c.Status == CallHeld:
		return "the deadline passed while it waited for an earlier call to end"
	case c.Status == CallQueued:
		return "the deadline passed while it waited behind an earlier call"
	}
	return "the deadline passed without a decision"
}

func (p *Partition) forgetOutcomes(offset uint64) {
	for _, c := range slices.Clone(p.unfinished) {
		if p.tick.Time-c.SettledTime > p.rules.ResultTTL {
			t := p.traces[TraceID{c.Event.Tenant, c.Event.Trace}]
			p.finish(t, c, CallUnknown)
			p.drain(t, offset)
		}
	}
}

// evict forgets sessions that ended or idled long ago (rule 21); coarser traces,
// of which there is one per agent or tenant, only when there are too many. It looks at most
// once per eviction period, a hundredth of the shorter time-to-live.
func (p *Partition) evict(offset uint64) {
	period := min(p.rules.EndedTTL, p.rules.IdleTTL) / 100
	if period > 0 && p.tick.Time/period == p.evictedAt/period && len(p.traces) <= p.rules.MaxTraces &&
		len(p.producers) <= maxProducers {
		return
	}
	p.evictedAt = p.tick.Time
	p.forgetProducers()
	busy := p.busyTraces()
	var idle []*trace
	for _, t := range p.sortedTraces() {
		if busy[t] {
			continue
		}
		if age := p.tick.Time - t.active; t.session && (age > p.rules.IdleTTL || t.ended && age > p.rules.EndedTTL) {
			p.forget(t, offset)
			continue
		}
		idle = append(idle, t)
	}
	over := len(p.traces) - p.rules.MaxTraces
	if over <= 0 {
		return
	}
	sort.SliceStable(idle, func(i, j int) bool { return idle[i].active < idle[j].active })
	for _, t := range idle[:min(over, len(idle))] {
		p.forget(t, offset)
	}
}

func (p *Partition) busyTraces() map[*trace]bool {
	busy := map[*trace]bool{}
	for _, list := range [][]*Call{p.unresolved, p.unfinished} {
		for _, c := range list {
			busy[p.traces[TraceID{c.Event.Tenant, c.Event.Trace}]] = true
		}
	}
	return busy
}

func (p *Partition) forget(t *trace, offset uint64) {
	delete(p.traces, t.id)
	if t.session {
		p.lost = true
	} else {
		p.evicted = true
	}
	p.emit(Effect{Kind: Evicted, Trace: t.id, Offset: offset})
}
