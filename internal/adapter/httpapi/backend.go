package httpapi

import (
	"context"
	"net/http"

	"github.com/aspis-rv/aspis/internal/service/gate"
)

// Caller judges calls and takes their outcomes.
type Caller interface {
	// Call returns the answer to give, never nil.
	Call(ctx context.Context, who gate.Principal, req gate.CallRequest) *gate.Answer
	Result(ctx context.Context, who gate.Principal, req gate.ResultRequest) (gate.Receipt, error)
}

// Sessions opens, shows and ends sessions.
type Sessions interface {
	OpenSession(ctx context.Context, who gate.Principal, labels map[string]string) (gate.Receipt, error)
	EndSession(ctx context.Context, who gate.Principal, session string) (gate.Receipt, error)
	Session(ctx context.Context, who gate.Principal, session string) (*gate.SessionView, error)
}

// Recorder takes what belongs to a session and is no call.
type Recorder interface {
	Message(ctx context.Context, who gate.Principal, req gate.MessageRequest) (gate.Receipt, error)
	Grant(ctx context.Context, who gate.Principal, req gate.GrantRequest) (gate.Receipt, error)
}

// Journal reads decisions back.
type Journal interface {
	Decisions(ctx context.Context, who gate.Principal, f gate.DecisionFilter) ([]gate.DecisionRecord, error)
}

// Health says whether calls could be decided now.
type Health interface {
	// Ready waits until the gate knows the log; with an ended ctx it tells whether it
	// does.
	Ready(ctx context.Context) error
	// Check says what would make every call be refused now; nil when nothing would.
	Check() error
}

// Backend is what stands behind the surface. Every method must be safe for
// concurrent use. Errors are a *gate.Problem when they are meant for the client;
// any other error is answered as unavailable and logged.
type Backend struct {
	Caller   Caller
	Sessions Sessions
	Recorder Recorder
	Journal  Journal
	Health   Health
}

// FromGate is the backend of a running gate.
func FromGate(s *gate.Service) Backend {
	return Backend{Caller: s, Sessions: s, Recorder: s, Journal: s, Health: s}
}

var (
	_ Caller   = (*gate.Service)(nil)
	_ Sessions = (*gate.Service)(nil)
	_ Recorder = (*gate.Service)(nil)
	_ Journal  = (*gate.Service)(nil)
	_ Health   = (*gate.Service)(nil)
)

// Authenticator derives the principal from a request's credential, and from nothing
// else of it. ok is false when there is no valid credential; why is nobody's business.
type Authenticator interface {
	Authenticate(r *http.Request) (who gate.Principal, ok bool)
}

var _ Authenticator = (*Tokens)(nil)
