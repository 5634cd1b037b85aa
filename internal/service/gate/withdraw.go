package gate

import (
	"context"
	"log/slog"
	"sync"
	"time"

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

// owed is one such call and when its withdrawal was appended last.
type owed struct {
	call *schema.Event
	at   time.Time
}

func newOwedTable() *owedTable {
	t := &owedTable{}
	t.mu.calls = map[string]owed{}
	return t
}

func (t *owedTable) add(call *schema.Event, now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.mu.calls[call.ID] = owed{call, now}
}

// due forgets the calls that are settled and returns those whose withdrawal was
// appended before limit and is not in the log.
func (t *owedTable) due(now time.Time, limit time.Duration, settled func(*schema.Event) bool) []*schema.Event {
	t.mu.Lock()
	defer t.mu.Unlock()
	var out []*schema.Event
	for id, o := range t.mu.calls {
		switch {
		case settled(o.call):
			delete(t.mu.calls, id)
		case now.Sub(o.at) >= limit:
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
	now := time.Now()
	l.owed.add(call, now)
	_, err := l.appender.Append(&schema.Event{
		ID: call.ID + "/withdrawn", Tenant: call.Tenant, Trace: call.Trace, Kind: schema.KindWithdrawn,
		CallID: call.CallID, SessionID: call.SessionID, ClaimedTS: now.UnixNano(),
		Actor: schema.Actor{ID: l.cfg.Name, Class: schema.ClassMonitor}, Tool: call.Tool,
	}, bus.Reserved)
	if err != nil {
		l.log.LogAttrs(context.Background(), slog.LevelError, "withdrawal could not be recorded; it is tried again",
			obs.Partition(l.partition), obs.Err(err))
	}
}

// payOwed appends again what did not get into the log. It is called with the fold
// locked.
func (l *lane) payOwed() {
	again := l.owed.due(time.Now(), l.cfg.AppendTimeout, func(call *schema.Event) bool {
		c := l.mu.fold.Lookup(traceID(call), call.SessionID, call.CallID)
		return c == nil || c.Status != protocol.CallPermitted
	})
	for _, call := range again {
		l.appendWithdrawn(call)
	}
}
