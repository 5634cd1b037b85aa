// Package hops says where the time of one decision goes. It stands between the roles
// of a process and their bus, notes when which record passes, and afterwards puts the
// times of each call in order: from the gate's append to the aspect's cursor, to its
// verdict, to the composer, to the resolution, to the answer. The roles do not know.
package hops

import (
	"bytes"
	"context"
	"sync"
	"time"

	"github.com/aspis-rv/aspis/internal/bus"
	"github.com/aspis-rv/aspis/loadtest/fleet"
)

// point is a place that records pass.
type point uint8

const (
	made          point = iota // the agent made the call
	gateAppends                // the gate handed a record to the bus
	aspectReads                // the aspect's cursor returned an event
	aspectEmits                // the aspect handed a verdict to the bus
	composerHears              // the composer's cursor returned an event
	composerReads              // the composer's cursor returned a verdict
	composerMakes              // the composer asked for a record to be created
	composerKnows              // its creation was acknowledged
	gateReads                  // the gate's cursor returned an event
	answered                   // the agent had the answer
	points
)

// mark is one passing.
type mark struct {
	at    time.Duration // since the start of the trace
	point point
	data  []byte // the record
	told  string // the decision, with answered
}

// Trace collects the passings of one process in which one call is under way at a
// time. Safe for concurrent use.
type Trace struct {
	start time.Time
	apart bool
	mu    struct {
		sync.Mutex
		on    bool
		marks []mark
	}
}

// New returns a trace that collects nothing yet. apart says that the roles meet in
// the log alone.
func New(apart bool) *Trace { return &Trace{start: time.Now(), apart: apart} }

// Switch makes the trace collect, or stop.
func (t *Trace) Switch(on bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.mu.on = on
}

// note copies data: some roles use their buffers again.
func (t *Trace) note(p point, data []byte, told string) {
	at := time.Since(t.start)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.mu.on {
		t.mu.marks = append(t.mu.marks, mark{at: at, point: p, data: bytes.Clone(data), told: told})
	}
}

// Wrap returns the bus of a role with its passings noted. Roles are named as in a
// node: aspectd, composer, gate.
func (t *Trace) Wrap(role string, b bus.Bus) bus.Bus {
	return &tracedBus{Bus: b, tracedPublisher: tracedPublisher{pub: b, trace: t, role: role}}
}

type tracedBus struct {
	bus.Bus
	tracedPublisher
}

// Publish implements bus.Publisher.
func (b *tracedBus) Publish(ctx context.Context, m bus.Message) (uint64, error) {
	return b.tracedPublisher.Publish(ctx, m)
}

// Create implements bus.Publisher.
func (b *tracedBus) Create(ctx context.Context, key string, m bus.Message) (uint64, error) {
	return b.tracedPublisher.Create(ctx, key, m)
}

// Emit implements bus.Publisher.
func (b *tracedBus) Emit(m bus.Message) error { return b.tracedPublisher.Emit(m) }

// Sync implements bus.Publisher.
func (b *tracedBus) Sync(ctx context.Context) error { return b.tracedPublisher.Sync(ctx) }

// NewPublisher implements bus.Bus.
func (b *tracedBus) NewPublisher() bus.Publisher {
	return &tracedPublisher{pub: b.Bus.NewPublisher(), trace: b.trace, role: b.role}
}

// Read implements bus.Reader.
func (b *tracedBus) Read(ctx context.Context, topic bus.Topic, partition uint32, start bus.Start) (bus.Cursor, error) {
	c, err := b.Bus.Read(ctx, topic, partition, start)
	if err != nil {
		return nil, err
	}
	return &tracedCursor{Cursor: c, trace: b.trace, point: readPoint(b.role, topic)}, nil
}

func readPoint(role string, topic bus.Topic) point {
	switch {
	case role == "aspectd":
		return aspectReads
	case role == "composer" && topic == bus.Verdicts:
		return composerReads
	case role == "composer":
		return composerHears
	}
	return gateReads
}

type tracedPublisher struct {
	pub   bus.Publisher
	trace *Trace
	role  string
}

// Publish implements bus.Publisher.
func (p *tracedPublisher) Publish(ctx context.Context, m bus.Message) (uint64, error) {
	return p.pub.Publish(ctx, m)
}

// Create implements bus.Publisher.
func (p *tracedPublisher) Create(ctx context.Context, key string, m bus.Message) (uint64, error) {
	p.trace.note(composerMakes, m.Data, "")
	n, err := p.pub.Create(ctx, key, m)
	p.trace.note(composerKnows, m.Data, "")
	return n, err
}

// Emit implements bus.Publisher.
func (p *tracedPublisher) Emit(m bus.Message) error {
	if p.role == "aspectd" {
		p.trace.note(aspectEmits, m.Data, "")
	} else {
		p.trace.note(gateAppends, m.Data, "")
	}
	return p.pub.Emit(m)
}

// Sync implements bus.Publisher.
func (p *tracedPublisher) Sync(ctx context.Context) error {
	return p.pub.Sync(ctx)
}

type tracedCursor struct {
	bus.Cursor
	trace *Trace
	point point
}

// Next implements bus.Cursor.
func (c *tracedCursor) Next(ctx context.Context) (bus.Record, error) {
	r, err := c.Cursor.Next(ctx)
	if err == nil {
		c.trace.note(c.point, r.Data, "")
	}
	return r, err
}

// Door returns a door whose calls are noted.
func (t *Trace) Door(d fleet.Door) fleet.Door { return &tracedDoor{Door: d, trace: t} }

type tracedDoor struct {
	fleet.Door
	trace *Trace
}

// Open implements fleet.Door.
func (d *tracedDoor) Open(ctx context.Context) (fleet.Session, error) {
	s, err := d.Door.Open(ctx)
	if err != nil {
		return nil, err
	}
	return &tracedSession{Session: s, trace: d.trace}, nil
}

type tracedSession struct {
	fleet.Session
	trace *Trace
}

// Call implements fleet.Session.
func (s *tracedSession) Call(ctx context.Context, id, tool string, args []byte) (fleet.Answer, error) {
	s.trace.note(made, nil, "")
	a, err := s.Session.Call(ctx, id, tool, args)
	s.trace.note(answered, nil, a.Decision)
	return a, err
}
