package gate

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/aspis-rv/aspis/internal/bus"
	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// CallRequest is an intended tool call.
type CallRequest struct {
	Session string
	Tool    string
	Server  string
	// Args is JSON text as it came; nil means that there are no arguments.
	Args []byte
	// CallID is the harness's id, unique within the session; one is made when empty.
	CallID   string
	Deadline time.Duration // 0: the bundle's
	Labels   map[string]string
}

// Call proposes a call and returns the answer to give, which is never nil: every
// failure is a refusal with a reason class. It returns at the call's deadline at the
// latest, or when ctx ends, with an answer that refuses; the call then stays pending
// and the same request asks for the same answer.
func (s *Service) Call(ctx context.Context, who Principal, req CallRequest) *Answer {
	a := s.call(ctx, who, &req)
	if a.CallID == "" {
		a.CallID = req.CallID
	}
	if !s.operator(who) {
		s.disclose(a)
	}
	s.cfg.Metrics.answered(a)
	return a
}

func (s *Service) call(ctx context.Context, who Principal, req *CallRequest) *Answer {
	l, err := s.lane(who, req.Session)
	if err != nil {
		return refusal(verdict.Invalid, err.Error())
	}
	now := time.Now()
	ev, err := s.callEvent(who, req, now)
	if err != nil {
		return refusal(verdict.Invalid, err.Error())
	}
	if no := l.unfit(ctx, now, time.Until(time.Unix(0, ev.Deadline))); no != nil {
		return no
	}
	if l.ended(ev) {
		return refusal(verdict.Invalid, "the session has ended; open a new one with POST /v1/sessions")
	}
	if !s.quota.take(who) {
		return refusal(verdict.Busy, "too many calls of this principal are in flight")
	}
	defer s.quota.give(who)
	p, how := l.pending.add(ev, now)
	switch how {
	case joinOther:
		return refusal(verdict.Invalid, "this call_id is in use for another call; use a new one")
	case joinIssued:
		return refusal(verdict.Invalid, issuedMessage)
	case joinFull:
		return refusal(verdict.Busy, "too many calls are in flight")
	case joinSame:
		return l.await(ctx, p, nil)
	case joinNew:
		// Half of what the call has is for the decision.
		s.ask(ctx, nil, ev, time.Unix(0, ev.Deadline).Sub(now)/2)
	}
	ticket, err := l.appender.Append(ev, bus.Ordinary)
	if err != nil {
		a := l.pending.giveUp(p, appendRefusal(err)) // retries wait for it
		l.pending.drop(p)
		return a
	}
	return l.await(ctx, p, ticket)
}

// lane finds the partition of a session of the principal's own.
func (s *Service) lane(who Principal, session string) (*lane, error) {
	part, own, err := s.sessions.open(who, session)
	if err != nil {
		return nil, err
	}
	if !own {
		return nil, errSession
	}
	return s.lanes[part], nil
}

// callEvent builds the canonical record of a proposed call.
func (s *Service) callEvent(who Principal, req *CallRequest, now time.Time) (*schema.Event, error) {
	if req.CallID == "" {
		req.CallID = "c-" + ulid.Make().String()
	}
	deadline := req.Deadline
	switch {
	case deadline == 0:
		deadline = s.cfg.Bundle.Deadline
	case deadline < 0 || deadline > s.cfg.MaxDeadline:
		return nil, errors.New("deadline_ms is out of range; leave it out for the policy's own deadline")
	}
	ev := &schema.Event{
		ID: ulid.Make().String(), Tenant: who.Tenant, Kind: schema.KindCall, CallID: req.CallID,
		Vantage: schema.Reported, ClaimedTS: now.UnixNano(), Actor: schema.Actor{ID: who.ID, Class: who.Class},
		Tool: req.Tool, Server: req.Server, SessionID: req.Session, Labels: req.Labels,
		Issuer: schema.IssuerModel, Deadline: now.Add(deadline).UnixNano(),
	}
	ev.Trace = s.traceOf(ev)
	if req.Args != nil {
		canon, err := schema.Canonical(req.Args)
		if err != nil {
			return nil, fmt.Errorf("args: %w", err)
		}
		ev.Args = schema.Payload{Status: schema.PayloadOK, Canon: canon}
	}
	ev.Digest = schema.CallDigest(ev.Tenant, ev.Actor.ID, ev.Server, ev.Tool, nil, ev.Args.Canon)
	return ev, ev.Validate()
}

func appendRefusal(err error) *Answer {
	switch {
	case errors.Is(err, bus.ErrFull):
		return refusal(verdict.Busy, "the log takes no more calls for now; try again later")
	case errors.Is(err, bus.ErrTooLarge):
		return refusal(verdict.Invalid, "the call is too large for the log")
	}
	return refusal(verdict.Unrecorded, "the call could not be written to the log")
}

// ticket is an append under way, or nil for a call appended by another request.
type ticket interface {
	Done() <-chan struct{}
	Err() error
}

// await waits for the answer to a pending call: until a resolution stands, the
// append fails, or the deadline comes.
func (l *lane) await(ctx context.Context, p *pendingCall, t ticket) *Answer {
	deadline := time.Unix(0, p.event.Deadline)
	expire := time.NewTimer(time.Until(deadline.Add(-expireMargin(p))))
	defer expire.Stop()
	var ready prepared
	var appended <-chan struct{}
	if t != nil {
		appended = t.Done()
	}
	written := appended // of the last record that this call needs to have in the log
	for {
		select {
		case <-p.done:
			if ctx.Err() != nil {
				return goneAnswer() // the answer is kept for whoever asks again
			}
			return l.finish(p, l.pending.take(p), ready)
		case g := <-p.opened:
			runtime.Gosched() // the composer, woken by the same record, goes first (`loadtest hops` shows it)
			ready = l.prepare(p.event, g)
		case <-appended:
			appended = nil
			if err := t.Err(); err != nil {
				return l.finish(p, l.pending.giveUp(p, appendRefusal(err)), ready)
			}
		case <-expire.C:
			if time.Until(deadline) <= 0 {
				return l.finish(p, l.pending.giveUp(p, l.lateAnswer(appended != nil, written)), ready)
			}
			if e := l.expire(p); e != nil {
				written = e.Done()
			}
			expire.Reset(time.Until(deadline))
		case <-ctx.Done():
			return goneAnswer()
		}
	}
}

// expireMargin is the time before the deadline at which the gate records that it
// will not wait longer, so that the log says so before the answer does.
func expireMargin(p *pendingCall) time.Duration {
	return min(150*time.Millisecond, time.Duration(p.event.Deadline-p.event.ClaimedTS)/8)
}

func goneAnswer() *Answer {
	return refusal(verdict.Late, "the request ended before the decision; ask again under the same call_id")
}

// lateAnswer refuses a call whose deadline has come. unproposed says that the log has
// not acknowledged its record yet; written is closed when it has acknowledged the last
// one about it.
func (l *lane) lateAnswer(unproposed bool, written <-chan struct{}) *Answer {
	if unproposed {
		return refusal(verdict.Unrecorded, "the log did not take the call before the deadline")
	}
	if !l.silent(time.Now()) {
		return refusal(verdict.Late, "the deadline passed before a decision")
	}
	select {
	case <-written:
	default:
		if written != nil {
			return refusal(verdict.Unrecorded, "the log took nothing more before the deadline")
		}
	}
	return refusal(verdict.NoAnswer, fmt.Sprintf("%s of partition %d", errClock, l.partition))
}

// expire appends the gate's own `expired` record, once, and returns its ticket.
func (l *lane) expire(p *pendingCall) ticket {
	if !l.pending.markExpiring(p) {
		return nil
	}
	reason := verdict.Late
	if l.silent(time.Now()) {
		reason = verdict.NoAnswer
	}
	call, first := p.event, l.pending.record(p)
	message := l.lateMessage(call)
	t, err := l.appender.Append(&schema.Event{
		ID: call.ID + "/expired", Tenant: call.Tenant, Trace: call.Trace, Kind: schema.KindResolution,
		CallID: call.CallID, SessionID: call.SessionID, ClaimedTS: time.Now().UnixNano(),
		Actor: schema.Actor{ID: l.cfg.Name, Class: schema.ClassMonitor}, Tool: call.Tool,
		Resolution: &schema.Resolution{
			CallID: call.CallID, Attempt: schema.Attempt{Partition: l.partition, CallID: first},
			Outcome: schema.SettledExpired, Reason: reason, Message: message,
			CallDigest: call.Digest, Writer: l.cfg.Name,
		},
	}, bus.Reserved)
	if err != nil {
		l.cfg.Metrics.unrecorded()
		return never{}
	}
	return t
}

// never is the ticket of a record that was not taken.
type never struct{}

// Done returns a channel that stays open.
func (never) Done() <-chan struct{} { return make(chan struct{}) }

// Err returns nil, as nothing is done.
func (never) Err() error { return nil }

// lateMessage says what a call has waited for (rule 14).
func (l *lane) lateMessage(call *schema.Event) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if c := l.mu.fold.Lookup(traceID(call), call.SessionID, call.CallID); c != nil && c.Status.Unresolved() {
		return c.WaitedFor()
	}
	return "the deadline passed before a decision"
}

func (l *lane) ended(ev *schema.Event) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.mu.fold.Ended(traceID(ev), ev.SessionID)
}
