package gate

import (
	"time"

	"github.com/aspis-rv/aspis/internal/bus"
	"github.com/aspis-rv/aspis/internal/protocol"
	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// Limits of what one principal may write beside calls. Agents' records must not fill
// the room that resolutions and ticks need, nor the memory of those who fold the log.
const (
	// maxRecords bounds one principal's records in flight that are no calls. A harness
	// posts them one after another; hundreds at once are a fleet under one token.
	maxRecords = 256
	// sessionBurst and sessionEvery bound the sessions that one principal opens: a
	// fleet's start at once, and 100 a second in the long run. A session costs the fold
	// about 1 KB until it is evicted.
	sessionBurst = 10_000
	sessionEvery = 10 * time.Millisecond
	// maxQueued and maxQueuedBytes bound what waits behind an open attempt of a trace.
	// An agent says a few things while a call is judged; a thousand are a flood, and
	// every role holds them in memory.
	maxQueued      = 1024
	maxQueuedBytes = 4 << 20
	// queueReserve is by how much results of permitted calls may exceed both: there is
	// one for each permitted call, and without it the call ends with an unknown outcome.
	queueReserve = 2
)

// tooMany is a Problem that asks to try again later.
func tooMany(what string) *Problem { return &Problem{Reason: verdict.Busy, Message: what} }

// classOf decides which part of the log's capacity a record may use, and refuses it
// when too much waits in its trace already. Authority records do not wait. Only the
// result of a call that is known as permitted is sure to be no flood.
func (l *lane) classOf(ev *schema.Event) (bus.Class, *Problem) {
	l.mu.Lock()
	defer l.mu.Unlock()
	class, room := bus.Ordinary, 1
	switch ev.Kind {
	case schema.KindGrant:
		return bus.Reserved, nil
	case schema.KindResult:
		c := l.mu.fold.Lookup(traceID(ev), ev.SessionID, ev.CallID)
		if c != nil && (c.Status == protocol.CallPermitted || c.Status == protocol.CallUnknown) {
			class, room = bus.Reserved, queueReserve
		}
	case schema.KindSession:
		if !ev.Session.End {
			return bus.Ordinary, nil
		}
		if l.mu.fold.Ended(traceID(ev), ev.SessionID) {
			return class, invalid("the session has ended already")
		}
		return bus.Reserved, nil
	case schema.KindMessage, schema.KindObservation, schema.KindCall, schema.KindResolution, schema.KindTick,
		schema.KindPolicy, schema.KindWithdrawn:
	}
	if records, bytes := l.mu.fold.Queued(traceID(ev)); records >= room*maxQueued || bytes >= room*maxQueuedBytes {
		return class, tooMany("too much waits for the decision on an earlier call; try again when it has come")
	}
	return class, nil
}
