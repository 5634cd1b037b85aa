// Package fleet is the agents of a load test: each plays scripted sessions against a
// gate and holds every answer against the right one.
package fleet

import (
	"context"
	"encoding/json"
)

// Answer is what a gate said to a call.
type Answer struct {
	Decision, Reason, Clause string

	Message string
	Args    []byte // canonical arguments, on a permit
	Digest  string // hex, of the call
	Permit  *Permit
}

// Permit is the signed statement of a permit.
type Permit struct {
	Statement json.RawMessage `json:"statement"`
	Signature []byte          `json:"signature"`
}

// Door is how one agent reaches a gate: with its own credential and its authority's.
type Door interface {
	// Principal names the agent for the digest of its calls.
	Principal() (tenant, id string)
	// Open opens a session.
	Open(ctx context.Context) (Session, error)
}

// Session is an open session. Used by one goroutine.
type Session interface {
	// Call proposes a call. An error says that there was no answer.
	Call(ctx context.Context, id, tool string, args []byte) (Answer, error)
	// Result records the outcome of a permitted call.
	Result(ctx context.Context, id string, result []byte) error
	// Grant records an act of the authority.
	Grant(ctx context.Context, tool string, args []byte) error
	// End ends the session.
	End(ctx context.Context) error
}
