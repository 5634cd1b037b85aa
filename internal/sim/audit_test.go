package sim

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"github.com/aspis-rv/aspis/internal/bus"
	"github.com/aspis-rv/aspis/internal/judge"
	"github.com/aspis-rv/aspis/internal/protocol"
	"github.com/aspis-rv/aspis/internal/replay"
	"github.com/aspis-rv/aspis/pkg/aspects"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// entry is a record of the log with what the fold made of it.
type entry struct {
	partition uint32
	record    bus.Record
	event     *schema.Event
	effects   []effect
}

// effect is an effect whose call is a copy.
type effect struct {
	protocol.Effect
	call protocol.Call
}

// fate of a call as the log tells it.
type settled struct {
	entry      *entry
	resolution *schema.Resolution
	call       protocol.Call
	count      int
	permitted  bool
	withdrawn  bool
	unknown    bool
	claim      string // id of the record that claims the answer
}

type callName struct{ session, call string } // session id

// history is the whole log, folded.
type history struct {
	entries []*entry
	ids     map[string]*entry // by record id; the first one
	calls   map[callName]*settled
	open    []string // calls that are not settled
}

// readAll returns the records of a partition.
func readAll(b bus.Bus, t bus.Topic, p uint32) ([]bus.Record, error) {
	ctx := context.Background()
	first, next, err := b.Bounds(ctx, t, p)
	if err != nil || first == next {
		return nil, err
	}
	cur, err := b.Read(ctx, t, p, bus.Start{Kind: bus.Earliest})
	if err != nil {
		return nil, err
	}
	defer cur.Close() //nolint:errcheck // nothing is lost with a cursor
	var out []bus.Record
	for {
		rec, err := cur.Next(ctx)
		if err != nil {
			return nil, err
		}
		out = append(out, rec)
		if rec.Offset+1 >= next {
			return out, nil
		}
	}
}

// fold reads the whole log by a fresh fold of each partition, restarted from its own
// snapshot after every `restart` records (0: never).
func (w *world) fold(restart int) (*history, error) {
	h := &history{ids: map[string]*entry{}, calls: map[callName]*settled{}}
	for p := range w.log.Partitions() {
		recs, err := readAll(w.log, bus.Events, p)
		if err != nil {
			return nil, err
		}
		part := protocol.New(p, w.rules)
		for i, rec := range recs {
			ev, err := schema.DecodeEvent(rec.Data)
			if err != nil {
				return nil, fmt.Errorf("partition %d, record %d: %w", p, rec.Offset, err)
			}
			ev.Position = schema.Position{Partition: p, Offset: rec.Offset}
			if err := ev.Validate(); err != nil {
				return nil, fmt.Errorf("partition %d, record %d: %w", p, rec.Offset, err)
			}
			h.add(p, rec, ev, part)
			if restart > 0 && i%restart == restart-1 {
				if part, err = w.restarted(part); err != nil {
					return nil, err
				}
			}
		}
		part.Unresolved(func(_ protocol.TraceID, c *protocol.Call) bool {
			h.open = append(h.open, c.Session+"/"+c.CallID+" is "+c.Status.String())
			return true
		})
	}
	return h, nil
}

func (w *world) restarted(part *protocol.Partition) (*protocol.Partition, error) {
	state, err := part.AppendState(nil)
	if err != nil {
		return nil, err
	}
	again, err := protocol.Restore(state, w.rules)
	if err != nil {
		return nil, err
	}
	if both, err := again.AppendState(nil); err != nil || !bytes.Equal(both, state) {
		return nil, fmt.Errorf("the state of partition %d is not what was stored (%w)", part.ID(), err)
	}
	return again, nil
}

func (h *history) add(p uint32, rec bus.Record, ev *schema.Event, part *protocol.Partition) {
	e := &entry{partition: p, record: rec, event: ev}
	h.entries = append(h.entries, e)
	if _, known := h.ids[ev.ID]; !known {
		h.ids[ev.ID] = e
	}
	for _, x := range part.Step(rec.Offset, ev) {
		f := effect{Effect: x}
		if x.Call != nil {
			f.call = *x.Call
		}
		e.effects = append(e.effects, f)
		switch x.Kind {
		case protocol.Settled:
			s := h.call(x.Call)
			s.entry, s.resolution, s.call = e, x.Resolution, *x.Call
			s.count++
			s.permitted = x.Resolution.Outcome == schema.SettledPermit
			s.claim = x.Call.Claim
		case protocol.Finished:
			s := h.call(x.Call)
			s.withdrawn = x.Call.Status == protocol.CallWithdrawn
			s.unknown = x.Call.Status == protocol.CallUnknown
		case protocol.Opened, protocol.Closed, protocol.Adopted, protocol.Dropped, protocol.Stepped, protocol.Interim,
			protocol.Voided, protocol.Repeated, protocol.Advanced, protocol.Activated, protocol.Evicted, protocol.Violated:
		}
	}
}

func (h *history) call(c *protocol.Call) *settled {
	k := callName{c.Session, c.CallID}
	if h.calls[k] == nil {
		h.calls[k] = &settled{}
	}
	return h.calls[k]
}

// counts says how much an audit has looked at, so that none is vacuous.
type counts struct {
	records, calls, permits, refusals, verdicts, decisions, compared, weakened, holds, withdrawn, worked int
}

func (c *counts) add(o counts) {
	c.records += o.records
	c.calls += o.calls
	c.permits += o.permits
	c.refusals += o.refusals
	c.verdicts += o.verdicts
	c.decisions += o.decisions
	c.compared += o.compared
	c.weakened += o.weakened
	c.holds += o.holds
	c.withdrawn += o.withdrawn
	c.worked += o.worked
}

// audit holds a settled world against the invariants: everything wrong is a problem.
func (w *world) audit() counts {
	var n counts
	h, err := w.fold(0)
	if err != nil {
		w.problem("the log cannot be folded: %v", err)
		return n
	}
	n.records = len(h.entries)
	if again, err := w.fold(2 + int(w.setup.seed%7)); err != nil { //nolint:gosec // below 9
		w.problem("folding with restarts: %v", err)
	} else if a, b := h.String(w), again.String(w); a != b {
		w.problem("a fold that restarts reads the log differently:\n%s", firstDifference(a, b))
	}
	for _, c := range h.open {
		w.problem("call %s, long after its deadline", c)
	}
	w.auditAnswers(h)
	w.auditCalls(h, &n)
	w.auditReceipts(h)
	w.auditVerdicts(&n)
	w.auditStates()
	w.oracle(h, &n)
	if w.setup.policy == "relay" && !w.setup.observe {
		w.relayOracle(h, &n)
	}
	return n
}

// auditAnswers checks what agents were told against the log: invariant 1, and that a
// permit is given once, in time, for a call that the log permits.
func (w *world) auditAnswers(h *history) {
	permitted := map[callName]string{}
	for _, s := range w.ledger.mu.answers {
		id := w.ledger.session(s.session).id
		c := h.calls[callName{id, s.call}]
		if !s.lost && !s.skewed && !s.paused && s.at.After(s.deadline.Add(time.Millisecond)) {
			w.problem("%s/%s was answered %v after its deadline", s.session, s.call, s.at.Sub(s.deadline))
		}
		if !s.permit() {
			if !s.lost && s.answer.Decision == "refuse" && s.answer.Reason == "" {
				w.problem("%s/%s was refused without a reason", s.session, s.call)
			}
			continue
		}
		if s.answer.Permit == nil {
			w.problem("%s/%s was permitted without a permit", s.session, s.call)
			continue
		}
		statement := string(s.answer.Permit.Statement)
		earlier, twice := permitted[callName{id, s.call}]
		permitted[callName{id, s.call}] = statement
		switch {
		case c == nil || !c.permitted:
			w.problem("%s/%s got a permit that the log does not hold", s.session, s.call)
			continue
		case c.entry.record.Time.After(s.at):
			w.problem("%s/%s got its permit before it was in the log", s.session, s.call)
		case c.withdrawn:
			w.problem("%s/%s got a permit that was withdrawn", s.session, s.call)
		case s.answer.Digest != fmt.Sprintf("%x", c.call.Digest):
			w.problem("%s/%s got a permit for other bytes", s.session, s.call)
		case twice && earlier != statement:
			w.problem("%s/%s got two permits", s.session, s.call)
		}
		if !s.skewed && s.at.After(s.deadline) {
			w.problem("%s/%s got its permit %v after the deadline", s.session, s.call, s.at.Sub(s.deadline))
		}
	}
}

// delivered reports whether some agent holds a permit for the call, and whether the
// gate that owed the answer is gone.
func (w *world) delivered(h *history, k callName, c *settled) (permit, excused bool) {
	for _, s := range w.ledger.mu.answers {
		if s.call != k.call || w.ledger.session(s.session).id != k.session {
			continue
		}
		if s.permit() {
			permit = true
		}
		if s.lost {
			excused = true // an answer may have been under way
		}
	}
	claim := h.ids[c.claim]
	if claim == nil {
		return permit, excused
	}
	in := w.get(claim.event.Producer)
	if in == nil || in.link.skew() != 0 || claim.event.Incarnation < uint64(in.born.UnixNano()) { //nolint:gosec // a time in this century
		excused = true // it was proposed by an earlier life of the gate
	}
	return permit, excused
}

// auditCalls checks that every call is settled once, and that a permit that stands
// was delivered or withdrawn.
func (w *world) auditCalls(h *history, n *counts) {
	for k, c := range h.calls {
		n.calls++
		if c.count != 1 {
			w.problem("call %s is settled %d times", k.call, c.count)
		}
		if !c.permitted {
			n.refusals++
			continue
		}
		n.permits++
		if c.withdrawn {
			n.withdrawn++
			continue
		}
		if c.unknown && w.setup.ttl != 0 {
			continue // a time-to-live shorter than a gate's patience may come before the withdrawal
		}
		if permit, excused := w.delivered(h, k, c); !permit && !excused {
			w.problem("the permit of %s stands, was given to nobody and is not withdrawn", k.call)
		}
	}
	for _, e := range h.entries {
		for i := range e.effects {
			if e.effects[i].Kind == protocol.Interim {
				n.holds++
			}
		}
	}
}

// auditReceipts checks invariant 8: what was accepted is in the log.
func (w *world) auditReceipts(h *history) {
	for id, what := range w.ledger.mu.receipts {
		if h.ids[id] == nil {
			w.problem("%s was accepted and is not in the log", what)
		}
	}
}

// auditVerdicts replays the log: every verdict and every decision is computed again,
// with restarts on the way, and compared to the byte (invariant 3).
func (w *world) auditVerdicts(n *counts) {
	_, cmp, err := replay.Log(context.Background(), replay.LogConfig{
		Source: w.log, Bundle: w.bundle, Engines: w.engines, Rules: w.rules,
		SnapshotEvery: int(w.setup.seed % 9), //nolint:gosec // below 9
	}, func(*replay.Line) error { return nil })
	if err != nil {
		w.problem("replay: %v", err)
		return
	}
	for _, m := range cmp.Mismatches {
		w.problem("replay: %s", m)
	}
	n.verdicts, n.decisions = cmp.VerdictsEqual, cmp.DecisionsEqual
}

// auditStates compares the monitor states of the running workers with those of a
// judge that folds the log once (invariants 3 and 5), and checks that a record after
// which nothing was adopted left them as they were (invariant 2).
func (w *world) auditStates() {
	for i, engine := range w.engines {
		all := sha256.New()
		for p := range w.log.Partitions() {
			hash, err := w.stateOf(engine, p)
			if err != nil {
				w.problem("%v", err)
				return
			}
			all.Write(binary.BigEndian.AppendUint32(nil, p))
			all.Write(hash[:])
		}
		for _, role := range w.order {
			in := w.get(role)
			if len(in.aspects) == 0 || in.ended {
				continue
			}
			ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
			got, err := in.aspects[i].StateHash(ctx)
			cancel()
			if err != nil {
				w.problem("%s: %v", role, err)
			} else if got != [sha256.Size]byte(all.Sum(nil)) {
				w.problem("the monitors of %s are not what the log says", role)
			}
		}
	}
}

func (w *world) stateOf(engine aspects.Engine, p uint32) ([sha256.Size]byte, error) {
	j := judge.New(p, judge.Config{Bundle: w.bundle, Engine: engine, Rules: w.rules})
	part := protocol.New(p, w.rules)
	before, owed := j.StateHash(), false
	recs, err := readAll(w.log, bus.Events, p)
	for _, rec := range recs {
		ev, err := schema.DecodeEvent(rec.Data)
		if err != nil {
			return before, err
		}
		ev.Position = schema.Position{Partition: p, Offset: rec.Offset}
		j.Step(rec.Offset, ev)
		changes := slices.ContainsFunc(part.Step(rec.Offset, ev), func(e protocol.Effect) bool {
			switch e.Kind {
			case protocol.Adopted, protocol.Stepped, protocol.Evicted, protocol.Activated:
				return true
			case protocol.Finished: // effects are taken back or in doubt, at once or when the open attempt is over
				owed = owed || e.Outcome == protocol.CallWithdrawn && w.bundle.World != nil || e.Outcome == protocol.CallUnknown
				return owed
			case protocol.Closed, protocol.Dropped:
				return owed
			case protocol.Opened, protocol.Settled, protocol.Interim, protocol.Voided, protocol.Repeated, protocol.Advanced, protocol.Violated:
			}
			return false
		})
		after := j.StateHash()
		if after != before && !changes {
			w.problem("record %d (%s %s) changed the monitors although nothing was adopted", rec.Offset, ev.Kind, ev.CallID)
		}
		before = after
	}
	return before, err
}
