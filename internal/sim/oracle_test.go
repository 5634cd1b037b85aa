package sim

import (
	"errors"
	"fmt"
	"slices"

	"github.com/aspis-rv/aspis/internal/offline"
	"github.com/aspis-rv/aspis/internal/protocol"
	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// oracle gives what each trace adopted, in log order, to an offline runner of its
// own: every call that a composer decided must come out the same there, with the
// same clause, value and time point. A call that took no effect because nobody
// decided it (expired, busy, an aspect that was missing) is left out, exactly as the
// log says. A call that rested on a history with gaps may only have been decided
// more cautiously.
func (w *world) oracle(h *history, n *counts) {
	runs := map[protocol.TraceID]*oracleRun{}
	offsets := map[callName]uint64{}
	for k, c := range h.calls {
		offsets[k] = c.call.Offset
	}
	for _, e := range h.entries {
		for i := range e.effects {
			x := &e.effects[i]
			r := runs[x.Trace]
			if r == nil {
				r = &oracleRun{world: w, counts: n, attempts: map[schema.Attempt]*effect{}, offsets: offsets, unknown: map[string]bool{}}
				r.runner = r.fresh()
				runs[x.Trace] = r
			}
			if err := r.effect(e, x); err != nil {
				w.problem("oracle: %s: %v", w.line(e), err)
				return
			}
		}
	}
}

// oracleRun is one trace.
type oracleRun struct {
	*world
	*counts
	runner   *offline.Runner
	attempts map[schema.Attempt]*effect
	offsets  map[callName]uint64 // of the calls in the log
	unknown  map[string]bool     // calls whose outcome is unknown
	open     bool                // an attempt is: it was judged before what comes now
	later    []*schema.Event     // withdrawals that came while one was
	apart    bool                // the runner's history is another one from here on
}

func (r *oracleRun) fresh() *offline.Runner {
	return offline.New(offline.Config{Bundle: r.bundle, Engines: r.engines, Observe: r.setup.observe})
}

func (r *oracleRun) effect(e *entry, x *effect) error {
	if r.apart && x.Kind != protocol.Evicted {
		return nil
	}
	switch x.Kind {
	case protocol.Opened:
		r.attempts[x.Attempt], r.open = x, true
	case protocol.Stepped:
		return r.give(x.Event, x.Timestamp)
	case protocol.Finished:
		switch x.call.Status { //nolint:exhaustive // how a permitted call can end
		case protocol.CallWithdrawn:
			r.later = append(r.later, e.event)
			return r.withdraw()
		case protocol.CallUnknown:
			r.unknown[x.call.CallID] = true // the runner still waits for its result
		}
	case protocol.Settled:
		if by := x.Resolution; by.Writer != "" && by.Outcome != schema.SettledExpired {
			if err := r.decided(x, r.attempts[x.Attempt]); err != nil {
				return err
			}
		}
		return r.withdraw()
	case protocol.Evicted:
		r.runner, r.apart, r.later = r.fresh(), false, nil
	case protocol.Closed, protocol.Adopted, protocol.Dropped:
		r.open = false
	case protocol.Interim, protocol.Voided, protocol.Repeated,
		protocol.Advanced, protocol.Activated, protocol.Violated:
	}
	return nil
}

// withdraw gives the runner the withdrawals that wait, unless an attempt is open.
func (r *oracleRun) withdraw() error {
	for len(r.later) > 0 && !r.open {
		ev := r.later[0]
		r.later = r.later[1:]
		if err := r.give(ev, ev.ClaimedTS); err != nil {
			return err
		}
	}
	return nil
}

// waits tells whether the withdrawal of a call waits: the pipeline knows of it, and the
// runner does not yet.
func (r *oracleRun) waits(call string) bool {
	return slices.ContainsFunc(r.later, func(ev *schema.Event) bool { return ev.CallID == call })
}

// give lets the runner take a record at its log time.
func (r *oracleRun) give(ev *schema.Event, at int64) error {
	again := *ev
	again.ClaimedTS = at
	_, err := r.runner.Event(&again)
	return err
}

func (r *oracleRun) decided(x, opened *effect) error {
	got := x.Resolution
	refused := got.Outcome != schema.SettledPermit
	switch {
	case opened == nil:
		return errors.New("the attempt never opened")
	case opened.Distrusted && !refused && !r.setup.observe:
		return errors.New("a principal that broke the protocol got a permit")
	case opened.Distrusted && refused:
		return nil // the runner knows nothing of integrity
	case len(got.Missing) > 0 && refused:
		return nil // decided without an aspect: it took no effect
	}
	// The runner knows nothing of outcomes that stay unknown: with one in the trace it
	// may permit, and calls a violation, what the pipeline cannot know.
	weak := opened.Evidence != verdict.Sound || len(got.Missing) > 0 || opened.Distrusted || len(r.unknown) > 0
	if weak && refused && got.Reason == verdict.Unknown {
		r.weakened++
		return nil
	}
	again := *opened.Event
	again.ClaimedTS, again.Deadline = opened.Timestamp, 0
	d, err := r.runner.Event(&again)
	if err != nil {
		return err
	}
	want := d.Resolution
	if want.Outcome == schema.SettledHold && refused {
		if err := r.release(x, want); err != nil {
			return err
		}
	}
	if d.TimePoint != opened.TimePoint || d.Timestamp != opened.Timestamp {
		return fmt.Errorf("time point %d at %d, offline %d at %d", opened.TimePoint, opened.Timestamp, d.TimePoint, d.Timestamp)
	}
	if weak {
		r.weakened++
		if !refused && want.Outcome == schema.SettledRefuse && slices.Contains(got.Flags, want.Clause) {
			r.apart = true // the clause only flags what gaps have weakened; the runner has not adopted the call
			return nil
		}
		if got.Outcome != want.Outcome || got.Reason != want.Reason && !r.setup.observe {
			return fmt.Errorf("with gaps in the history: %s; offline: %s", resolution(got), resolution(want))
		}
		return nil
	}
	r.compared++
	if a, b := resolution(got), resolution(want); a != b || got.Value != want.Value || got.Completeness != want.Completeness {
		return fmt.Errorf("online: %s (%v, %v); offline: %s (%v, %v)", a, got.Value, got.Completeness, b, want.Value, want.Completeness)
	}
	return nil
}

// release ends the wait of a call that the runner holds for calls which, in the log,
// were proposed after it: the pipeline waits for earlier ones only, and the runner
// has seen this one late.
func (r *oracleRun) release(x *effect, want *schema.Resolution) error {
	for _, id := range want.Awaits {
		if c := r.offsets[callName{x.Event.SessionID, id}]; c < x.call.Offset && !r.unknown[id] && !r.waits(id) {
			return fmt.Errorf("refused, although it could have waited for %s", id)
		}
	}
	want.Outcome, want.Awaits = schema.SettledRefuse, nil
	expired := &schema.Event{
		ID: x.Event.ID + "/released", Tenant: x.Event.Tenant, Trace: x.Event.Trace, Kind: schema.KindResolution,
		CallID: x.Event.CallID, SessionID: x.Event.SessionID,
		Resolution: &schema.Resolution{
			CallID: x.Event.CallID, Attempt: schema.Attempt{CallID: x.Event.ID}, Outcome: schema.SettledExpired, Reason: verdict.Late,
		},
	}
	return r.give(expired, 0)
}
