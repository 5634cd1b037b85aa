package gate

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/aspis-rv/aspis/internal/appender"
	"github.com/aspis-rv/aspis/internal/bus"
	"github.com/aspis-rv/aspis/internal/obs"
	"github.com/aspis-rv/aspis/internal/protocol"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// owedTable holds the calls whose withdrawal this gate owes the log and has not seen
// there yet. Safe for concurrent use.
type owedTable struct {
	mu struct {
		sync.Mutex
		calls map[string]owed
	}
}

// owed is one such call and the append of its withdrawal; nil when it was not accepted.
type owed struct {
	call   *schema.Event
	append *appender.Ticket
}

// failed reports whether it is known that the record may not be in the log.
func (o owed) failed() bool {
	if o.append == nil {
		return true
	}
	select {
	case <-o.append.Done():
		return o.append.Err() != nil
	default:
		return false
	}
}

func newOwedTable() *owedTable {
	t := &owedTable{}
	t.mu.calls = map[string]owed{}
	return t
}

func (t *owedTable) add(call *schema.Event, under *appender.Ticket) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.mu.calls[call.ID] = owed{call, under}
}

// due forgets the calls that are settled and returns those whose withdrawal failed.
func (t *owedTable) due(settled func(*schema.Event) bool) []*schema.Event {
	t.mu.Lock()
	defer t.mu.Unlock()
	var out []*schema.Event
	for id, o := range t.mu.calls {
		switch {
		case settled(o.call):
			delete(t.mu.calls, id)
		case o.failed():
			out = append(out, o.call)
		}
	}
	return out
}

// withdraw records that a standing permit was not delivered (rule 12). The gate owes
// the record until it is in the log.
func (l *lane) withdraw(call *schema.Event) {
	l.cfg.Metrics.withdrew()
	l.appendWithdrawn(call)
}

func (l *lane) appendWithdrawn(call *schema.Event) {
	ticket, err := l.appender.Append(&schema.Event{
		ID: call.ID + "/withdrawn", Tenant: call.Tenant, Trace: call.Trace, Kind: schema.KindWithdrawn,
		CallID: call.CallID, SessionID: call.SessionID, ClaimedTS: time.Now().UnixNano(),
		Actor: schema.Actor{ID: l.cfg.Name, Class: schema.ClassMonitor}, Tool: call.Tool,
	}, bus.Reserved)
	l.owed.add(call, ticket)
	if err != nil {
		l.log.LogAttrs(context.Background(), slog.LevelError, "withdrawal could not be recorded; it is tried again",
			obs.Partition(l.partition), obs.Err(err))
	}
}

// payOwed appends again what did not get into the log. It is called with the fold
// locked.
func (l *lane) payOwed() {
	again := l.owed.due(func(call *schema.Event) bool {
		c := l.mu.fold.Lookup(traceID(call), call.SessionID, call.CallID)
		return c == nil || c.Status != protocol.CallPermitted
	})
	for _, call := range again {
		l.appendWithdrawn(call)
	}
}
