package fleet

import (
	"context"

	"github.com/aspis-rv/aspis/internal/service/gate"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// goDoor reaches a gate of this process.
type goDoor struct {
	gate  *gate.Service
	agent gate.Principal
	user  gate.Principal
}

// GoDoor returns the door of an agent to a gate of this process, by its Go API.
func GoDoor(s *gate.Service, tenant, agent, user string) Door {
	return &goDoor{
		gate:  s,
		agent: gate.Principal{ID: agent, Class: schema.ClassAgent, Tenant: tenant},
		user:  gate.Principal{ID: user, Class: schema.ClassUser, Tenant: tenant},
	}
}

// Principal implements Door.
func (d *goDoor) Principal() (tenant, id string) { return d.agent.Tenant, d.agent.ID }

// Open implements Door.
func (d *goDoor) Open(ctx context.Context) (Session, error) {
	r, err := d.gate.OpenSession(ctx, d.agent, nil)
	if err != nil {
		return nil, err
	}
	return &goSession{door: d, id: r.Session}, nil
}

type goSession struct {
	door *goDoor
	id   string
}

// Call implements Session.
func (s *goSession) Call(ctx context.Context, id, tool string, args []byte) (Answer, error) {
	a := s.door.gate.Call(ctx, s.door.agent, gate.CallRequest{Session: s.id, CallID: id, Tool: tool, Args: args})
	out := Answer{
		Decision: a.Decision, Reason: string(a.Reason), Clause: a.Clause, Message: a.Message, Args: a.Args, Digest: a.Digest,
	}
	if a.Permit != nil {
		out.Permit = &Permit{Statement: a.Permit.Statement, Signature: a.Permit.Signature}
	}
	return out, nil
}

// Result implements Session.
func (s *goSession) Result(ctx context.Context, id string, result []byte) error {
	_, err := s.door.gate.Result(ctx, s.door.agent, gate.ResultRequest{Session: s.id, CallID: id, Result: result})
	return err
}

// Grant implements Session.
func (s *goSession) Grant(ctx context.Context, tool string, args []byte) error {
	_, err := s.door.gate.Grant(ctx, s.door.user, gate.GrantRequest{Session: s.id, Tool: tool, Args: args})
	return err
}

// End implements Session.
func (s *goSession) End(ctx context.Context) error {
	_, err := s.door.gate.EndSession(ctx, s.door.agent, s.id)
	return err
}
