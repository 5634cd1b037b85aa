// Package offline runs recorded or hand-written events through the pipeline in one
// goroutine and without a bus: the same fold, the same monitors and the same
// composition as online, where a call takes effect if and only if it is permitted.
package offline

import (
	"fmt"
	"math"
	"strconv"

	"github.com/aspis-rv/aspis/internal/compose"
	"github.com/aspis-rv/aspis/internal/judge"
	"github.com/aspis-rv/aspis/internal/placement"
	"github.com/aspis-rv/aspis/internal/protocol"
	"github.com/aspis-rv/aspis/pkg/aspects"
	"github.com/aspis-rv/aspis/pkg/policy"
	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// Config says how to run.
type Config struct {
	Bundle  *policy.Bundle
	Engines []aspects.Engine
	compose.Options
	// Observe adopts every recorded call, refused or not, and accepts
	// self-authority where the bundle does.
	Observe bool
	// Records, when not nil, is called with every record of the run's log in order, before
	// any role takes it: the events given, and what the roles append.
	Records func(offset uint64, ev *schema.Event)
}

// Decision is the outcome of one call.
type Decision struct {
	compose.Decision
	// Index counts the events given, from 0; Event is the call.
	Index     int
	Event     *schema.Event
	Trace     protocol.TraceID
	TimePoint uint64
	Timestamp int64
	// Resolution is what the composer would have appended.
	Resolution *schema.Resolution
	Verdicts   []*schema.Verdict
}

// Runner is the state of a run. It is used by one goroutine.
type Runner struct {
	cfg    Config
	judges []*judge.Judge
	joiner *compose.Joiner
	fold   *protocol.Partition // for effects

	offset   uint64
	index    int
	owners   *placement.Owners
	verdicts uint64
	ticks    uint64
	refused  map[callKey]bool
	last     *Decision
}

type callKey struct{ tenant, session, call string }

// New returns a runner whose log starts with the activation of the bundle.
func New(cfg Config) *Runner {
	rules := protocol.DefaultRules()
	r := &Runner{
		cfg: cfg, fold: protocol.New(0, rules), refused: map[callKey]bool{}, owners: placement.NewOwners(),
		joiner: compose.NewJoiner(0, compose.Config{
			Bundle: cfg.Bundle, Rules: rules, Options: cfg.Options, Writer: "offline",
		}),
	}
	for _, e := range cfg.Engines {
		r.judges = append(r.judges, judge.New(0, judge.Config{Bundle: cfg.Bundle, Engine: e, Rules: rules, Recorded: true}))
	}
	a := &schema.Activation{
		Number: 1, Digest: cfg.Bundle.Digest[:], Name: cfg.Bundle.Name, Revision: cfg.Bundle.Revision,
	}
	if cfg.Observe {
		a.ObserveUntil = math.MaxInt64
	}
	_ = r.append(&schema.Event{Kind: schema.KindPolicy, Activation: a})
	return r
}

// Event takes the next recorded event. For a call it returns its decision; it
// returns nil for everything else. The event is given the fields that a gate would
// have set where they are absent, and belongs to the runner afterwards.
//
// The recorded result of a call that this run refused is skipped: the call did not
// happen.
func (r *Runner) Event(ev *schema.Event) (*Decision, error) {
	index := r.index
	r.index++
	if err := r.complete(ev, index); err != nil {
		return nil, fmt.Errorf("event %d: %w", index, err)
	}
	key := callKey{ev.Tenant, ev.SessionID, ev.CallID}
	if ev.Kind == schema.KindResult && r.refused[key] {
		return nil, nil
	}
	r.tickTo(ev.ClaimedTS)
	r.last = nil
	if err := r.append(ev); err != nil {
		return nil, fmt.Errorf("event %d: %w", index, err)
	}
	if ev.Kind != schema.KindCall {
		return nil, nil
	}
	if r.last == nil || r.last.Resolution == nil {
		return nil, fmt.Errorf("event %d: call %q of session %q was not judged: %s", index, ev.CallID, ev.SessionID,
			"its id is used twice or another call of its trace is still open")
	}
	d := r.last
	d.Index = index
	if d.Resolution.Outcome != schema.SettledPermit {
		r.refused[key] = true
	}
	return d, nil
}

// expect takes note of who owns the event's session before the events are given, so
// that what a user did before the agent's first record is of the agent's trace too.
func (r *Runner) expect(ev *schema.Event) error {
	named := *ev
	if named.Tenant == "" {
		named.Tenant = defaultTenant
	}
	_, err := r.owners.Of(&named)
	return err
}

// defaultTenant is the tenant of events that name none.
const defaultTenant = "default"

// complete fills in what short input leaves out.
func (r *Runner) complete(ev *schema.Event, index int) error {
	if ev.Tenant == "" {
		ev.Tenant = defaultTenant
	}
	if ev.ID == "" {
		ev.ID = "e" + strconv.Itoa(index)
	}
	if ev.Kind == schema.KindCall && ev.CallID == "" {
		ev.CallID = "c" + strconv.Itoa(index)
	}
	owner, err := r.owners.Of(ev)
	if err != nil {
		return err
	}
	if ev.Trace == "" {
		ev.Trace = placement.Trace(r.cfg.Bundle, ev.SessionID, placement.Owner(owner))
	}
	if ev.Kind == schema.KindGrant && ev.Grant == nil {
		ev.Grant = &schema.Grant{}
	}
	ev.Producer, ev.Seq = "", 0
	if len(ev.Digest) == 0 && ev.Kind == schema.KindCall {
		ev.Digest = schema.CallDigest(ev.Tenant, ev.Actor.ID, ev.Server, ev.Tool, nil, ev.Args.Canon)
	}
	return nil
}

// tickTo moves log time to ts, so that no recorded time is clamped.
func (r *Runner) tickTo(ts int64) {
	if ts <= r.fold.LastTick().Time {
		return
	}
	r.ticks++
	_ = r.append(&schema.Event{Kind: schema.KindTick, Tick: &schema.Tick{N: r.ticks, Time: ts}})
}

// append gives a record to every role and carries out what they answer.
func (r *Runner) append(ev *schema.Event) error {
	r.offset++
	ev.Position = schema.Position{Offset: r.offset}
	if r.cfg.Records != nil {
		r.cfg.Records(r.offset, ev)
	}
	if ev.Kind == schema.KindCall {
		r.last = &Decision{Event: ev, Trace: protocol.TraceID{Tenant: ev.Tenant, Trace: ev.Trace}}
	}
	for _, e := range r.fold.Step(r.offset, ev) {
		switch e.Kind {
		case protocol.Voided, protocol.Repeated:
			r.last = nil
		case protocol.Opened:
			if r.last != nil && r.last.Event == e.Event {
				r.last.TimePoint, r.last.Timestamp = e.TimePoint, e.Timestamp
			}
		case protocol.Violated:
			return fmt.Errorf("call %q: %s", ev.CallID, e.Detail)
		case protocol.Closed, protocol.Adopted, protocol.Dropped, protocol.Stepped, protocol.Settled, protocol.Interim,
			protocol.Finished, protocol.Advanced, protocol.Activated, protocol.Evicted:
		}
	}
	var verdicts []*schema.Verdict
	for _, j := range r.judges {
		verdicts = append(verdicts, j.Step(r.offset, ev)...)
	}
	proposals := append([]compose.Proposal(nil), r.joiner.Step(r.offset, ev)...)
	proposals = append(proposals, r.joiner.Verdicts(r.verdicts+1, verdicts)...)
	r.verdicts += uint64(len(verdicts))
	for i := range proposals {
		r.note(&proposals[i])
		if err := r.append(proposals[i].Event); err != nil {
			return err
		}
	}
	return nil
}

// note keeps the decision on the call given last.
func (r *Runner) note(p *compose.Proposal) {
	if r.last != nil && p.Attempt.CallID == r.last.Event.ID {
		r.last.Decision, r.last.Resolution, r.last.Verdicts = p.Decision, p.Event.Resolution, p.Verdicts
	}
}

// Run gives every event to a new runner and returns the decisions on its calls.
func Run(cfg Config, events []*schema.Event) ([]*Decision, error) {
	r := New(cfg)
	for _, ev := range events {
		if err := r.expect(ev); err != nil {
			return nil, err
		}
	}
	var out []*Decision
	for _, ev := range events {
		d, err := r.Event(ev)
		if err != nil {
			return out, err
		}
		if d != nil {
			out = append(out, d)
		}
	}
	return out, nil
}

// Permitted reports whether the call took effect.
func (d *Decision) Permitted() bool { return d.Resolution.Outcome == schema.SettledPermit }

// Refusal returns the reason class and the clause of a refusal, and false for a
// call that took effect.
func (d *Decision) Refusal() (verdict.Reason, string, bool) {
	return d.Resolution.Reason, d.Resolution.Clause, !d.Permitted()
}
