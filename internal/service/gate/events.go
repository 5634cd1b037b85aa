package gate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/aspis-rv/aspis/internal/placement"
	"github.com/aspis-rv/aspis/internal/protocol"
	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// Problem is a refusal of anything but a call.
type Problem struct { //nolint:errname // the field has this name for it (RFC 9457)
	Reason  verdict.Reason
	Message string
}

// Error returns the reason class and the message.
func (p *Problem) Error() string { return string(p.Reason) + ": " + p.Message }

func invalid(format string, args ...any) *Problem {
	return &Problem{Reason: verdict.Invalid, Message: fmt.Sprintf(format, args...)}
}

// Receipt says where a record was put.
type Receipt struct {
	ID      string `json:"id"`
	Session string `json:"session,omitempty"`
}

// OpenSession issues a session id bound to the principal and records its start.
func (s *Service) OpenSession(ctx context.Context, who Principal, labels map[string]string) (Receipt, error) {
	if !s.opened.take(who, time.Now()) {
		return Receipt{}, tooMany("this principal opens too many sessions; go on with an open one")
	}
	part := s.sessions.place.Of(who.Tenant, placement.Key(s.cfg.Bundle, who.ID))
	ev := s.newEvent(who, schema.KindSession, s.sessions.issue(who, part))
	ev.Session = &schema.SessionMark{}
	ev.Labels = labels
	return s.record(ctx, s.lanes[part], ev)
}

// EndSession records the end of a session of the principal's own.
func (s *Service) EndSession(ctx context.Context, who Principal, session string) (Receipt, error) {
	l, err := s.lane(who, session)
	if err != nil {
		return Receipt{}, invalid("%s", err)
	}
	ev := s.newEvent(who, schema.KindSession, session)
	ev.Session = &schema.SessionMark{End: true}
	return s.record(ctx, l, ev)
}

// ResultRequest is the outcome of a permitted call.
type ResultRequest struct {
	Session, CallID string
	Status          schema.ResultStatus
	Result          []byte // JSON text, or nil
}

// Result records the outcome of a permitted call, posted by the session's own principal or by
// one that attests it; see poster. A result of a call that was not
// permitted, or a second one, is refused `violation`: it is on record, and the
// principal gets no further permit.
func (s *Service) Result(ctx context.Context, who Principal, req ResultRequest) (Receipt, error) {
	l, vantage, err := s.poster(who, req.Session, schema.KindResult)
	if err != nil {
		return Receipt{}, invalid("%s", err)
	}
	if req.CallID == "" {
		return Receipt{}, invalid("call_id is missing: name the call whose result this is")
	}
	ev := s.newEvent(who, schema.KindResult, req.Session)
	ev.CallID, ev.Status, ev.Vantage = req.CallID, req.Status, vantage
	call := l.callOf(ev)
	if call != nil {
		ev.Tool = call.Tool
	}
	if req.Result != nil {
		canon, err := schema.Canonical(req.Result)
		if err != nil {
			return Receipt{}, invalid("result: %s", err)
		}
		ev.Result = schema.Payload{Status: schema.PayloadOK, Canon: canon}
	}
	return s.recordResult(ctx, l, call, ev)
}

// MessageRequest is a message or an observation that belongs to a session.
type MessageRequest struct {
	Session string
	Kind    schema.Kind // KindMessage or KindObservation
	Role    string      // whose words these are, as the poster says: user, model, …
	Text    string
	Labels  map[string]string
}

// Message records a message or an observation, posted by the session's own principal or by one
// that attests it; see poster.
func (s *Service) Message(ctx context.Context, who Principal, req MessageRequest) (Receipt, error) {
	l, vantage, err := s.poster(who, req.Session, req.Kind)
	if err != nil {
		return Receipt{}, invalid("%s", err)
	}
	ev := s.newEvent(who, req.Kind, req.Session)
	ev.Vantage, ev.Text, ev.Source, ev.Labels = vantage, req.Text, req.Role, req.Labels
	return s.record(ctx, l, ev)
}

// GrantRequest is an authority's act, named by a tool of the bundle.
type GrantRequest struct {
	Session string
	Tool    string
	Args    []byte // JSON text
	// Revokes is not supported: a request that sets it is refused.
	Revokes string
}

// Grant records an authority's act. Only principals of a class that the bundle
// names as an authority may; the agent's own never does. An act that would change
// nothing under the bundle is refused `unmapped`.
func (s *Service) Grant(ctx context.Context, who Principal, req GrantRequest) (Receipt, error) {
	if who.Class == schema.ClassAgent || !slices.Contains(s.cfg.Bundle.Authorities, who.Class) {
		return Receipt{}, &Problem{Reason: verdict.Violation, Message: "this principal is not an authority under the active policy"}
	}
	part, _, err := s.sessions.open(who, req.Session)
	switch {
	case err != nil:
		return Receipt{}, invalid("%s", err)
	case req.Revokes != "":
		return Receipt{}, invalid("revokes is not supported; grant the policy's own revoking act")
	case !s.cfg.Bundle.Grantable(req.Tool):
		return Receipt{}, &Problem{Reason: verdict.Unmapped, Message: "no fact of the active policy comes of this act, so that it would change nothing; name one of the policy's acts"}
	}
	ev := s.newEvent(who, schema.KindGrant, req.Session)
	ev.Tool, ev.Grant, ev.Vantage = req.Tool, &schema.Grant{}, schema.Attested
	if req.Args != nil {
		canon, err := schema.Canonical(req.Args)
		if err != nil {
			return Receipt{}, invalid("args: %s", err)
		}
		ev.Args = schema.Payload{Status: schema.PayloadOK, Canon: canon}
	}
	if t := s.cfg.Bundle.Type(ev, false); t.Invalid != "" {
		return Receipt{}, invalid("%s", t.Invalid)
	}
	return s.record(ctx, s.lanes[part], ev)
}

func (s *Service) newEvent(who Principal, kind schema.Kind, session string) *schema.Event {
	ev := &schema.Event{
		ID: ulid.Make().String(), Tenant: who.Tenant, Kind: kind, SessionID: session,
		ClaimedTS: time.Now().UnixNano(), Actor: schema.Actor{ID: who.ID, Class: who.Class},
	}
	ev.Trace = s.traceOf(ev)
	return ev
}

// record appends ev and returns once it is durable and was folded.
func (s *Service) record(ctx context.Context, l *lane, ev *schema.Event) (Receipt, error) {
	return s.recordResult(ctx, l, nil, ev)
}

// recordResult is record for the result of a call, if that is known.
func (s *Service) recordResult(ctx context.Context, l *lane, call, ev *schema.Event) (Receipt, error) {
	if err := ev.Validate(); err != nil {
		return Receipt{}, invalid("%s", err)
	}
	who := Principal{ID: ev.Actor.ID, Class: ev.Actor.Class, Tenant: ev.Tenant}
	if !s.records.take(who) {
		return Receipt{}, tooMany("too many records of this principal are in flight")
	}
	defer s.records.give(who)
	s.ask(ctx, call, ev, s.cfg.Bundle.Deadline)
	ctx, cancel := context.WithTimeout(ctx, s.cfg.AppendTimeout)
	defer cancel()
	if no := l.unfit(ctx, time.Now(), s.cfg.AppendTimeout); no != nil {
		return Receipt{}, &Problem{Reason: no.Reason, Message: no.Message}
	}
	class, full := l.classOf(ev)
	if full != nil {
		return Receipt{}, full
	}
	folded := l.watches.add(ev.ID)
	defer l.watches.take(ev.ID)
	t, err := l.appender.Append(ev, class)
	if err == nil {
		err = t.Wait(ctx)
	}
	if err != nil {
		a := appendRefusal(err)
		return Receipt{}, &Problem{Reason: a.Reason, Message: "the record could not be written to the log"}
	}
	select {
	case what := <-folded:
		if what.violated != "" {
			return Receipt{}, &Problem{Reason: verdict.Violation, Message: what.violated}
		}
	case <-ctx.Done():
		// It is durable; that it was not folded yet changes nothing about that.
	}
	return Receipt{ID: ev.ID, Session: ev.SessionID}, nil
}

func traceID(ev *schema.Event) protocol.TraceID {
	return protocol.TraceID{Tenant: ev.Tenant, Trace: ev.Trace}
}

// callOf finds the proposed call that a result is about; nil when it is not known.
func (l *lane) callOf(ev *schema.Event) *schema.Event {
	l.mu.Lock()
	defer l.mu.Unlock()
	if c := l.mu.fold.Lookup(traceID(ev), ev.SessionID, ev.CallID); c != nil {
		return c.Event
	}
	return nil
}

// IsProblem returns the Problem in err's chain, or nil.
func IsProblem(err error) *Problem {
	p, _ := errors.AsType[*Problem](err)
	return p
}
