package replay

import (
	"errors"

	"github.com/aspis-rv/aspis/internal/protocol"
	"github.com/aspis-rv/aspis/internal/world"
	"github.com/aspis-rv/aspis/internal/world/render"
	"github.com/aspis-rv/aspis/pkg/aspects"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// worldEngine makes monitors that fold the world of a trace and judge nothing.
type worldEngine struct {
	base    *world.World // as the policy declares it
	changed func(*WorldChange)
	// now is the record that is being folded: what changes without a time point of its own
	// belongs to it.
	now *schema.Event
}

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

func newWorldEngine(spec *world.Spec, changed func(*WorldChange)) (*worldEngine, error) {
	base, err := world.New(spec)
	return &worldEngine{base: base, changed: changed}, err
}

func (e *worldEngine) Kind() aspects.Kind { return aspects.Spatial }

func (e *worldEngine) New() aspects.Monitor { return &worldMonitor{engine: e, world: e.base} }

// Restore is not used: a fold for people starts from the first record.
func (e *worldEngine) Restore([]byte) (aspects.Monitor, error) {
	return nil, errors.New("a fold of worlds has no snapshots")
}

// worldMonitor is the world of a trace.
type worldMonitor struct {
	engine *worldEngine
	world  *world.World
	trace  protocol.TraceID // known from the first time point on
	time   int64
}

func (m *worldMonitor) Judge(aspects.Input) []schema.Part { return nil }

func (m *worldMonitor) Adopt(in aspects.Input) {
	m.trace, m.time = protocol.TraceID{Tenant: in.Event.Tenant, Trace: in.Event.Trace}, in.Timestamp
	from := world.Origin{Offset: in.Offset + 1, Call: in.Call}
	m.end(in.Ended, from, in.Event)
	w, d := m.world.Apply(in.Edits, from)
	m.become(w, d, in.Event, in.Offset)
}

// Settle takes in how a call ended without a result.
func (m *worldMonitor) Settle(end aspects.Ended) {
	at := m.engine.now.Position.Offset
	m.end(end, world.Origin{Offset: at + 1}, m.engine.now)
}

func (m *worldMonitor) end(end aspects.Ended, from world.Origin, ev *schema.Event) {
	switch {
	case end.Call == "":
	case end.Outcome == aspects.EffectsStay:
		m.world = m.world.Keep(end.Call)
	case end.Outcome == aspects.EffectsGo:
		w, d := m.world.Revert(end.Call, from)
		m.become(w, d, ev, from.Offset-1)
	case end.Outcome == aspects.EffectsDoubt:
		m.world = m.world.Doubt(end.Call)
	}
}

func (m *worldMonitor) become(w *world.World, d *world.Delta, ev *schema.Event, offset uint64) {
	before := m.world
	m.world = w
	if !d.Empty() {
		m.engine.changed(&WorldChange{
			Trace: m.trace, Before: before, After: w, Delta: d, Event: ev, Offset: offset, Timestamp: m.time,
		})
	}
}

func (m *worldMonitor) Advance(int64) {}

func (m *worldMonitor) AppendState(dst []byte) []byte { return m.world.AppendState(dst) }
