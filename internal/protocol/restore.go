package protocol

import (
	"fmt"

	"github.com/vmihailenco/msgpack/v5"

	"github.com/aspis-rv/aspis/pkg/schema"
)

// Restore returns the partition whose AppendState gave b, under the same rules. It
// fails with ErrState on anything else.
func Restore(b []byte, rules Rules) (*Partition, error) {
	var rec stateRecord
	if err := msgpack.Unmarshal(b, &rec); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrState, err)
	}
	if rec.Version != stateVersion {
		return nil, fmt.Errorf("%w: version %d, want %d", ErrState, rec.Version, stateVersion)
	}
	p := New(rec.ID, rules)
	p.next, p.genesis, p.lost, p.evicted, p.evictedAt = rec.Next, rec.Genesis, rec.Lost, rec.Evicted, rec.EvictedAt
	p.tick = schema.Tick{N: rec.TickN, Time: rec.TickTime}
	p.policy = schema.Activation{
		Number: rec.Policy.Number, Digest: rec.Policy.Digest, Name: rec.Policy.Name, Revision: rec.Policy.Revision,
		Blocking: rec.Policy.Blocking, ObserveUntil: rec.Policy.Until, Reason: rec.Policy.Reason,
	}
	p.policyAt = rec.Policy.At
	for _, r := range rec.Producers {
		p.producers[r.Name] = append(p.producers[r.Name], incarnation{number: r.Number, last: r.Last, missing: r.Missing, heard: r.Heard})
	}
	for _, r := range rec.Distrusted {
		p.distrusted[principal{r.Tenant, r.ID}] = r.Why
	}
	for _, tenant := range rec.Crowded {
		p.crowded[tenant] = true
	}
	d := stateDecoder{}
	d.load(rec.Calls)
	for i := range rec.Traces {
		t := d.trace(&rec.Traces[i])
		p.traces[t.id] = t
	}
	p.unresolved, p.unfinished = d.calls(rec.Unresolved), d.calls(rec.Unfinished)
	d.own(p)
	if d.err == nil {
		if err := p.invariants(); err != nil {
			d.fail(err)
		}
	}
	if d.err != nil {
		return nil, d.err
	}
	return p, nil
}

type stateDecoder struct {
	list []*Call
	err  error
}

func (d *stateDecoder) fail(err error) {
	if d.err == nil {
		d.err = fmt.Errorf("%w: %w", ErrState, err)
	}
}

func (d *stateDecoder) event(b []byte, offset uint64) *schema.Event {
	if len(b) == 0 {
		return nil
	}
	ev, err := schema.DecodeEvent(b)
	if err != nil {
		d.fail(err)
		return nil
	}
	ev.Position.Offset = offset
	return ev
}

func (d *stateDecoder) load(records []callRecord) {
	for i := range records {
		r := &records[i]
		d.list = append(d.list, &Call{
			Event: d.event(r.Event, r.Offset), Offset: r.Offset, ID: r.ID, Session: r.Session, CallID: r.CallID,
			Digest: r.Digest, Status: r.Status,
			Attempt:  schema.Attempt{Partition: r.Partition, Opening: r.Opening, CallID: r.ID},
			Deadline: r.Deadline, SettledAt: r.SettledAt, SettledTime: r.SettledTime, Claim: r.Claim,
			principal: r.Principal, timePoint: r.TimePoint, timestamp: r.Timestamp, evidence: r.Evidence, weakened: r.Weakened, distrusted: r.Distrusted, observe: r.Observe,
			awaits: r.Awaits, escalated: r.Escalated, ready: r.Ready,
		})
	}
}

func (d *stateDecoder) call(i int) *Call {
	if i == -1 {
		return nil
	}
	if i < 0 || i >= len(d.list) {
		d.fail(fmt.Errorf("call index %d of %d", i, len(d.list)))
		return nil
	}
	return d.list[i]
}

func (d *stateDecoder) calls(indices []int) []*Call {
	var out []*Call
	for _, i := range indices {
		if c := d.call(i); c != nil {
			out = append(out, c)
		}
	}
	return out
}

func (d *stateDecoder) trace(r *traceRecord) *trace {
	t := &trace{
		id: TraceID{r.Tenant, r.Trace}, next: r.Next, last: r.Last, evidence: r.Evidence, weakened: r.Weakened, writers: r.Writers,
		active: r.Active, session: r.Session, ended: r.Ended, partial: r.Partial, open: d.call(r.Open), held: d.calls(r.Held),
		ends: r.Ends, lapsed: r.Lapsed, calls: map[callKey]*Call{},
	}
	for _, q := range r.Queue {
		entry := queued{offset: q.Offset, call: d.call(q.Call), event: d.event(q.Event, q.Offset)}
		if entry.call != nil {
			entry.event = entry.call.Event
		}
		if entry.event == nil {
			d.fail(fmt.Errorf("a queued record of trace %q has no event", t.id.Trace))
		}
		t.queue = append(t.queue, entry)
	}
	for _, c := range d.calls(r.Known) {
		t.known = append(t.known, c.key())
		t.calls[c.key()] = c
	}
	return t
}

// own files unresolved and unfinished calls under their traces.
func (d *stateDecoder) own(p *Partition) {
	for _, list := range [][]*Call{p.unresolved, p.unfinished} {
		for _, c := range list {
			if c.Event == nil {
				d.fail(fmt.Errorf("call %q has no event", c.ID))
				return
			}
			t := p.traces[TraceID{c.Event.Tenant, c.Event.Trace}]
			if t == nil {
				d.fail(fmt.Errorf("call %q has no trace", c.ID))
				return
			}
			t.calls[c.key()] = c
		}
	}
}
