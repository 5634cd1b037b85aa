package sim

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/aspis-rv/aspis/internal/service/gate"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// said is one answer that an agent got, or did not get.
type said struct {
	session, call string // session is its name
	gate          *instance
	asked, at     time.Time
	deadline      time.Time
	skewed        bool // the gate's clock was wrong
	paused        bool // the gate was paused meanwhile
	answer        *gate.Answer
	lost          bool // the gate died first: the agent saw an error
}

func (s *said) permit() bool { return !s.lost && s.answer.Decision == "permit" }

// ledger is what the agents know. Safe for concurrent use.
type ledger struct {
	mu struct {
		sync.Mutex
		sessions map[string]*session
		answers  []*said
		receipts map[string]string // record id to what it is
		ran      map[string]bool   // calls that were run
	}
}

// session is an open session with its owner and the gate that it usually talks to.
type session struct {
	name, id string
	who      gate.Principal
	gate     string
	tools    map[string]string // of its calls, by call id
}

func (l *ledger) session(name string) *session {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.mu.sessions[name]
}

func (l *ledger) answered(s *said) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.mu.answers = append(l.mu.answers, s)
}

func (l *ledger) received(id, what string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.mu.receipts == nil {
		l.mu.receipts = map[string]string{}
	}
	l.mu.receipts[id] = what
}

func principal(id string) gate.Principal {
	class := schema.ClassAgent
	switch {
	case strings.HasPrefix(id, "user"):
		class = schema.ClassUser
	case strings.HasPrefix(id, "command"):
		class = schema.ClassCommand
	}
	return gate.Principal{ID: id, Class: class, Tenant: tenant}
}

// use waits for a gate to be awake and returns it.
func (w *world) use(name string) (*instance, error) {
	in := w.get(name)
	if in == nil || in.gate == nil {
		return nil, fmt.Errorf("%s is no gate", name)
	}
	if err := in.link.awake(in.ctx); err != nil {
		return nil, fmt.Errorf("%s is down", name)
	}
	return in, nil
}

// open opens a session under a name.
func (w *world) open(name, who, at string) error {
	in, err := w.use(at)
	if err != nil {
		return err
	}
	p := principal(who)
	r, err := in.gate.OpenSession(in.ctx, p, nil)
	if err != nil {
		return err
	}
	w.ledger.received(r.ID, "the start of session "+name)
	w.ledger.mu.Lock()
	defer w.ledger.mu.Unlock()
	if w.ledger.mu.sessions == nil {
		w.ledger.mu.sessions = map[string]*session{}
	}
	w.ledger.mu.sessions[name] = &session{name: name, id: r.Session, who: p, gate: at, tools: map[string]string{}}
	return nil
}

// asking is a call to be proposed.
type asking struct {
	session  *session
	call     string
	tool     string
	args     string
	gate     string
	deadline time.Duration
	patience time.Duration // after which the agent hangs up; 0: never
}

// ask proposes a call and returns the answer. It returns when the gate has answered,
// died, or the agent hung up.
func (w *world) ask(q asking) *said {
	s := &said{session: q.session.name, call: q.call, asked: time.Now()}
	defer func() {
		s.at = time.Now()
		w.ledger.answered(s)
	}()
	at := q.gate
	if at == "" {
		at = q.session.gate
	}
	in, err := w.use(at)
	s.gate = in
	s.asked = time.Now()
	if err != nil {
		s.lost = true
		return s
	}
	w.ledger.mu.Lock()
	if _, known := q.session.tools[q.call]; !known {
		q.session.tools[q.call] = q.tool
	}
	w.ledger.mu.Unlock()
	s.skewed = in.link.skew() != 0
	span := q.deadline
	if span == 0 {
		span = w.setup.deadline
	}
	limit := span
	if limit == 0 {
		limit = w.bundle.Deadline
	}
	s.deadline = s.asked.Add(limit)
	ctx, cancel := in.ctx, context.CancelFunc(func() {})
	if q.patience > 0 {
		ctx, cancel = context.WithTimeout(ctx, q.patience)
	}
	defer cancel()
	var args []byte
	if q.args != "" {
		args = []byte(q.args)
	}
	s.answer = in.gate.Call(ctx, q.session.who, gate.CallRequest{
		Session: q.session.id, Tool: q.tool, Args: args, CallID: q.call, Deadline: span,
	})
	if in.link.pausing() != nil {
		s.paused = true
	}
	s.skewed = s.skewed || in.link.skew() != 0
	if in.link.awake(in.ctx) != nil {
		s.lost = true // what a dead gate said reached nobody
	}
	return s
}

// post sends anything but a call and keeps the receipt.
func (w *world) post(at, what string, send func(context.Context, *gate.Service) (gate.Receipt, error)) error {
	in, err := w.use(at)
	if err != nil {
		return err
	}
	r, err := send(in.ctx, in.gate)
	if in.link.awake(in.ctx) != nil {
		return fmt.Errorf("%s is down", at)
	}
	if err == nil {
		w.ledger.received(r.ID, what)
	}
	return err
}

func (w *world) result(s *session, at, call string, status schema.ResultStatus, result string) error {
	var body []byte
	if result != "" {
		body = []byte(result)
	}
	return w.post(at, "the result of "+s.name+"/"+call, func(ctx context.Context, g *gate.Service) (gate.Receipt, error) {
		return g.Result(ctx, s.who, gate.ResultRequest{Session: s.id, CallID: call, Status: status, Result: body})
	})
}

func (w *world) message(s *session, at, role, text string) error {
	return w.post(at, "a message in "+s.name, func(ctx context.Context, g *gate.Service) (gate.Receipt, error) {
		return g.Message(ctx, s.who, gate.MessageRequest{Session: s.id, Kind: schema.KindMessage, Role: role, Text: text})
	})
}

func (w *world) grant(s *session, at, who, tool, args string) error {
	var body []byte
	if args != "" {
		body = []byte(args)
	}
	return w.post(at, tool+" in "+s.name, func(ctx context.Context, g *gate.Service) (gate.Receipt, error) {
		return g.Grant(ctx, principal(who), gate.GrantRequest{Session: s.id, Tool: tool, Args: body})
	})
}

func (w *world) endSession(s *session, at string) error {
	return w.post(at, "the end of "+s.name, func(ctx context.Context, g *gate.Service) (gate.Receipt, error) {
		return g.EndSession(ctx, s.who, s.id)
	})
}
