package fleet

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/aspis-rv/aspis/pkg/client"
)

// httpDoor reaches a gate over HTTP.
type httpDoor struct {
	agent, user *client.Client
	tenant, id  string
}

// HTTPDoor returns the door of an agent to a gate over HTTP, with the clients of the
// agent and of its authority.
func HTTPDoor(agent, user *client.Client, tenant, id string) Door {
	return &httpDoor{agent: agent, user: user, tenant: tenant, id: id}
}

// Principal implements Door.
func (d *httpDoor) Principal() (tenant, id string) { return d.tenant, d.id }

// Open implements Door.
func (d *httpDoor) Open(ctx context.Context) (Session, error) {
	id, err := d.agent.OpenSession(ctx)
	if err != nil {
		return nil, err
	}
	return &httpSession{door: d, id: id}, nil
}

type httpSession struct {
	door *httpDoor
	id   string
}

// Call implements Session.
func (s *httpSession) Call(ctx context.Context, id, tool string, args []byte) (Answer, error) {
	d, err := s.door.agent.Propose(ctx, client.Call{Session: s.id, CallID: id, Tool: tool, Args: args})
	if err != nil {
		return Answer{}, err
	}
	out := Answer{
		Decision: d.Decision, Reason: d.Reason, Clause: d.Clause, Message: d.Message, Args: d.Args, Digest: d.Digest,
	}
	if d.Permit != nil {
		out.Permit = &Permit{}
		if err := json.Unmarshal(d.Permit, out.Permit); err != nil {
			return Answer{}, fmt.Errorf("fleet: the permit cannot be read: %w", err)
		}
	}
	return out, nil
}

// Result implements Session.
func (s *httpSession) Result(ctx context.Context, id string, result []byte) error {
	return s.door.agent.PostResult(ctx, client.Result{Session: s.id, CallID: id, Result: result})
}

// Grant implements Session.
func (s *httpSession) Grant(ctx context.Context, tool string, args []byte) error {
	return s.door.user.PostGrant(ctx, client.Grant{Session: s.id, Tool: tool, Args: args})
}

// End implements Session.
func (s *httpSession) End(ctx context.Context) error { return s.door.agent.EndSession(ctx, s.id) }
