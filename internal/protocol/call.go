package protocol

import (
	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// CallStatus is where a call stands.
type CallStatus uint8

// The states of a call.
const (
	CallQueued    CallStatus = iota // waits behind the open attempt of its trace
	CallOpen                        // its attempt is being judged
	CallHeld                        // held or escalated: waits for its condition
	CallPermitted                   // permitted, no outcome yet
	CallDone                        // permitted, result seen
	CallUnknown                     // permitted, no result within the time-to-live
	CallWithdrawn                   // permitted, never delivered
	CallRefused                     // refused, redirected or answered busy
	CallExpired                     // its deadline passed unresolved
)

// Unresolved reports whether no terminal resolution stands for the call.
func (s CallStatus) Unresolved() bool { return s <= CallHeld }

// String returns the state's name in lower case.
func (s CallStatus) String() string {
	switch s {
	case CallQueued:
		return "queued"
	case CallOpen:
		return "open"
	case CallHeld:
		return "held"
	case CallPermitted:
		return "permitted"
	case CallDone:
		return "done"
	case CallUnknown:
		return "unknown"
	case CallWithdrawn:
		return "withdrawn"
	case CallRefused:
		return "refused"
	case CallExpired:
		return "expired"
	}
	return "?"
}

// Call is what the fold knows of one proposed call.
type Call struct {
	// Event is the call record; nil once the call is finished.
	Event  *schema.Event
	Offset uint64 // of the call record
	// ID, Session and CallID are those of the record: ID is unique in the log, CallID
	// only within its session.
	ID, Session, CallID string
	Digest              []byte
	Status              CallStatus
	// Attempt is the latest attempt; its Opening is 0 before the first.
	Attempt schema.Attempt
	// Deadline is in ns of log time; 0: none.
	Deadline int64
	// SettledAt is the offset of the resolution that stands, and SettledTime the last
	// tick before it.
	SettledAt   uint64
	SettledTime int64
	// Claim is the ID of the last record that proposed the call before it was settled.
	// The gate that wrote that record, and no other, delivers a permit or withdraws it
	// (rule 17).
	Claim string

	principal  string // whose call it is
	timePoint  uint64
	timestamp  int64
	evidence   verdict.Completeness // of the trace when the attempt opened
	weakened   int64                // and up to when it was not sound
	distrusted bool                 // the principal was, when the attempt opened
	observe    bool                 // the deployment only observed when the attempt opened
	awaits     []string             // call ids within the session; held
	escalated  bool
	ready      bool // held, and its condition has come
}

// key is the namespace of call ids: a session is bound to one principal.
func (c *Call) key() callKey { return callKey{c.Session, c.CallID} }

type callKey struct{ session, call string }
