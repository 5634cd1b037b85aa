package placement

import (
	"crypto/sha256"
	"encoding/base32"
	"errors"
	"strings"

	"github.com/aspis-rv/aspis/pkg/policy"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// Trace is the trace of a record under a bundle: what its Trace field holds. The owner
// is that of the record's session, as Owner names it, whoever wrote the record: a grant
// by a user and a result by a tool belong to the agent they are for. A record without
// a session belongs to its own actor.
func Trace(b *policy.Bundle, session, owner string) string {
	switch b.Trace {
	case policy.TraceTenant:
		return "tenant"
	case policy.TraceSession:
		if session != "" {
			return session
		}
	case policy.TraceAgent:
	}
	return "agent:" + owner
}

// Owner is the name of a principal in traces and session ids: 80 bits of its SHA-256,
// lower case, so that no text of a principal's choice is part of either.
func Owner(principal string) string {
	sum := sha256.Sum256([]byte(principal))
	return strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(sum[:10]))
}

// MaxSessions is the number of sessions whose owners are remembered. A million take
// about 200 MB, and no recording that fits a file has more.
const MaxSessions = 1 << 20

// ErrTooManySessions is returned for a session beyond MaxSessions.
var ErrTooManySessions = errors.New("too many sessions; split the feed")

// Owners finds the owners of recorded sessions, whose ids do not name them as those of
// a gate do: the first actor of class agent that is seen in the session, and the first
// actor until there is one. It is used by one goroutine.
type Owners struct {
	max   int
	known map[session]owner
}

type session struct{ tenant, id string }

type owner struct {
	id    string
	agent bool
}

// NewOwners returns an Owners that has seen nothing.
func NewOwners() *Owners { return &Owners{max: MaxSessions, known: map[session]owner{}} }

// Of takes note of an event and returns the id of its session's owner as far as it is
// known by now.
func (o *Owners) Of(ev *schema.Event) (string, error) {
	if ev.SessionID == "" {
		return ev.Actor.ID, nil
	}
	key := session{ev.Tenant, ev.SessionID}
	was, seen := o.known[key]
	is := owner{ev.Actor.ID, ev.Actor.Class == schema.ClassAgent}
	if seen && (was.agent || !is.agent) {
		return was.id, nil
	}
	if !seen && len(o.known) >= o.max {
		return "", ErrTooManySessions
	}
	o.known[key] = is
	return is.id, nil
}
