package replay

import (
	"github.com/aspis-rv/aspis/internal/monitor"
	"github.com/aspis-rv/aspis/internal/protocol"
	"github.com/aspis-rv/aspis/internal/world"
	"github.com/aspis-rv/aspis/internal/world/render"
	"github.com/aspis-rv/aspis/pkg/aspects"
	"github.com/aspis-rv/aspis/pkg/policy"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// WorldChange is one change of the world of a trace.
type WorldChange struct {
	Trace         protocol.TraceID
	Before, After *world.World
	Delta         *world.Delta
	Event         *schema.Event // whose effect it is
	Offset        uint64        // of that event
	Timestamp     int64         // log time, ns
	Cause         *render.Event // the event, as people are told
	Base          *world.World  // as the policy declares it: Before is Base when a trace begins
}

// worldEngine makes monitors that fold the world of a trace, judge nothing, and say what
// changed.
type worldEngine struct {
	*monitor.Engine
	changed func(*WorldChange)
	// now is the record that is being folded: what changes without a time point of its own
	// belongs to it.
	now *schema.Event
}

func newWorldEngine(b *policy.Bundle) (*worldEngine, error) {
	e, err := monitor.NewWorld(b)
	return &worldEngine{Engine: e, changed: func(*WorldChange) {}}, err
}

// New returns the monitor of a trace without history.
func (e *worldEngine) New() aspects.Monitor {
	inner, ok := e.Engine.New().(*monitor.Monitor)
	if !ok {
		panic("replay: an engine of monitors made something else")
	}
	m := &worldMonitor{Monitor: inner, engine: e, base: inner.World()}
	inner.Watch(m.became)
	return m
}

// worldMonitor is the world of a trace.
type worldMonitor struct {
	*monitor.Monitor
	engine *worldEngine
	base   *world.World

	trace protocol.TraceID // known from the first time point on
	event *schema.Event    // that is being adopted, or that ends a call
	at    uint64           // its offset
	time  int64            // of the last time point
}

// Adopt makes in the next time point of the trace.
func (m *worldMonitor) Adopt(in aspects.Input) {
	m.trace, m.time = protocol.TraceID{Tenant: in.Event.Tenant, Trace: in.Event.Trace}, in.Timestamp
	m.event, m.at = in.Event, in.Offset
	m.Monitor.Adopt(in)
}

// Settle takes in how a call ended without a result.
func (m *worldMonitor) Settle(end aspects.Ended) {
	m.event, m.at = m.engine.now, m.engine.now.Position.Offset
	m.Monitor.Settle(end)
}

func (m *worldMonitor) became(before, after *world.World, delta *world.Delta) {
	m.engine.changed(&WorldChange{
		Trace: m.trace, Before: before, After: after, Delta: delta, Base: m.base,
		Event: m.event, Offset: m.at, Timestamp: m.time,
	})
}
