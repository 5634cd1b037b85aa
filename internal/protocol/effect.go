package protocol

import (
	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// EffectKind says what a record did.
type EffectKind uint8

// The kinds of effect.
const (
	// Opened: the attempt is to be judged on the committed state.
	Opened EffectKind = iota
	// Closed: the attempt ended without settling its call (reopened, held, escalated,
	// or its policy was replaced).
	Closed
	// Adopted: the call was permitted; it is the next time point of its trace.
	Adopted
	// Dropped: the open attempt's call was refused or expired; it leaves no trace.
	Dropped
	// Stepped: a record other than a call is the next time point of its trace.
	Stepped
	// Settled: a terminal resolution stands for the call.
	Settled
	// Interim: a hold or an escalation stands for the attempt.
	Interim
	// Voided: the record is void; Detail says why. It changed nothing.
	Voided
	// Repeated: a call whose id is known in its session; Call is the first one.
	Repeated
	// Finished: a permitted call has ended: result, withdrawal or unknown outcome.
	Finished
	// Advanced: log time of the partition moved to Timestamp.
	Advanced
	// Activated: the policy of Activation is active from here on.
	Activated
	// Evicted: the state of the trace is to be forgotten.
	Evicted
	// Violated: an integrity violation by Event's principal; Detail says which.
	Violated
)

// String returns the kind's name in lower case.
func (k EffectKind) String() string {
	switch k {
	case Opened:
		return "opened"
	case Closed:
		return "closed"
	case Adopted:
		return "adopted"
	case Dropped:
		return "dropped"
	case Stepped:
		return "stepped"
	case Settled:
		return "settled"
	case Interim:
		return "interim"
	case Voided:
		return "voided"
	case Repeated:
		return "repeated"
	case Finished:
		return "finished"
	case Advanced:
		return "advanced"
	case Activated:
		return "activated"
	case Evicted:
		return "evicted"
	case Violated:
		return "violated"
	}
	return "?"
}

// TraceID names a trace of a partition.
type TraceID struct {
	Tenant, Trace string
}

// Effect is one thing that a record did. Which fields are set depends on Kind.
type Effect struct {
	Kind  EffectKind
	Trace TraceID
	// Call is what is known of the call concerned after the whole step; nil where none
	// is. It must not be modified or kept beyond the next Step.
	Call *Call
	// Attempt is the attempt that opened, closed, was adopted or dropped.
	Attempt schema.Attempt
	// Event is the record to be judged or adopted, or the record itself. Read-only.
	Event *schema.Event
	// Proposed is the call record that a result belongs to (Stepped), nil where it is no
	// longer kept, or that of the call that ended (Finished).
	Proposed *schema.Event
	// Outcome is how the call ended (Finished); Call may already have gone on from there.
	Outcome CallStatus
	// Offset is the log offset of Event.
	Offset uint64
	// TimePoint and Timestamp place Event in its trace (Opened: provisionally). With
	// Finished, Timestamp is the log time of the end.
	TimePoint uint64
	Timestamp int64
	// Evidence is the completeness of the trace's history.
	Evidence verdict.Completeness
	// Weakened is the time up to which records of that history may be missing or
	// misplaced, in ns; it has a meaning where Evidence is below sound.
	Weakened int64
	// Distrusted is set when the principal committed an integrity violation, so that
	// it gets no further permit.
	Distrusted bool
	// Policy is the digest of the policy active at the opening.
	Policy []byte
	// Observe is set when the deployment only observed: at the opening of an attempt,
	// or where the record became a time point.
	Observe bool
	// Resolution is the one that stands (Settled, Interim). It is synthesised, with an
	// empty Writer, where the log itself settles a call (rules 5 and 15).
	Resolution *schema.Resolution
	Activation *schema.Activation
	Detail     string
}
