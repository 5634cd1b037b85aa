// Package aspects is the contract between a monitor and the services that drive
// it. A monitor judges proposed events on the committed state and commits only
// what was adopted; it knows no bus, no clock and no policy file format.
package aspects

import (
	"slices"

	"github.com/aspis-rv/aspis/internal/world"
	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// Kind names an aspect.
type Kind string

// The four aspects.
const (
	Spatial  Kind = "spatial"
	Temporal Kind = "temporal"
	Semantic Kind = "semantic"
	Contract Kind = "contract"
)

// Kinds lists the aspects in the order in which tables print them.
func Kinds() []Kind { return []Kind{Spatial, Temporal, Semantic, Contract} }

// Input is one time point of one trace.
type Input struct {
	TimePoint uint64        // index within the trace, from 0
	Timestamp int64         // log time, ns, not before that of any earlier input
	Offset    uint64        // log offset of the event, for witnesses
	Event     *schema.Event // read-only
	Facts     []schema.Fact // typed by the policy at this position; read-only
	// Uncertain lists, sorted by relation, those of which some earlier fact of the trace
	// is unknown: a formula that reads that far back in their history is incomplete, or
	// degraded where only the end of a text was not looked at.
	Uncertain []Uncertain
	// Evidence is the completeness of the trace's history up to here. Where it is below
	// sound, the records that may be missing are not of a later time than Weakened, ns:
	// what does not read that far back is sound.
	Evidence verdict.Completeness
	Weakened int64
	// Edits are the effects of the event on the world, typed by the policy; read-only. Those
	// of a call can be taken back, under the id Call of its record. Documents says that the
	// tool documents what there is: firings on an object that the event brings into being are
	// flagged, not refused.
	Edits     []world.Edit
	Call      string
	Documents bool
	// Ended says how the call ended to which the event is the result.
	Ended Ended
}

// Ended is the end of a call whose effects were adopted.
type Ended struct {
	Call    string // id of the call record; empty: no call ended
	Outcome Outcome
}

// Outcome says what becomes of the effects of a call.
type Outcome uint8

// The outcomes.
const (
	EffectsStay  Outcome = iota + 1 // an ok result
	EffectsGo                       // an error result, or a permit that was not delivered
	EffectsDoubt                    // nobody knows; they stay, and what they changed is in doubt
)

// Settler is a Monitor that keeps the effects of calls.
type Settler interface {
	Monitor
	// Settle tells the monitor how a call ended without a result of its own: it makes no
	// time point.
	Settle(end Ended)
}

// Completeness is that of what a formula says that reads the given relations at the time
// point and up to reach, ns, before it: incomplete or degraded where a fact of theirs within
// reach is unknown, and no better than the trace's history within reach. The cost is linear in
// the uncertain relations and in those given.
func (in *Input) Completeness(reach int64, relations []string) verdict.Completeness {
	evidence := in.Evidence
	if in.Timestamp-in.Weakened > reach {
		evidence = verdict.Sound
	}
	for _, u := range in.Uncertain {
		if in.Timestamp-u.At <= reach && slices.Contains(relations, u.Relation) {
			evidence = verdict.Worse(evidence, u.Completeness())
		}
	}
	return evidence
}

// Uncertain is a relation and the time of the latest of its facts that are unknown. A
// relation may be there twice, with an unknown fact and with a later degraded one.
type Uncertain struct {
	Relation string
	At       int64 // log time, ns
	// Degraded says that the fact is not quite unknown: nothing was found in the beginning of
	// a long text, and the rest was not looked at.
	Degraded bool
}

// Completeness is that of what rests on the fact.
func (u Uncertain) Completeness() verdict.Completeness {
	if u.Degraded {
		return verdict.Degraded
	}
	return verdict.Incomplete
}

// Monitor is the state of one aspect for one trace. It is a deterministic function
// of the inputs adopted so far and is not safe for concurrent use.
type Monitor interface {
	// Judge evaluates in as if it were the next time point and leaves the committed
	// state exactly as it was. The parts are sorted by (clause, role, name).
	Judge(in Input) []schema.Part
	// Adopt makes in the next time point of the trace.
	Adopt(in Input)
	// Advance tells the monitor that log time has reached ts; it may free what can
	// no longer matter. It makes no time point and changes no later verdict.
	Advance(ts int64)
	// AppendState appends the committed state in a deterministic encoding; equal
	// states have equal bytes, whatever the history of calls that led there.
	AppendState(dst []byte) []byte
}

// Engine makes monitors for the traces of one policy.
type Engine interface {
	Kind() Kind
	// New returns the monitor of a trace without history.
	New() Monitor
	// Restore returns the monitor whose AppendState gave state. It fails on bytes
	// of another version, policy or engine.
	Restore(state []byte) (Monitor, error)
}
