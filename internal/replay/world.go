package replay

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"

	"github.com/aspis-rv/aspis/internal/bus"
	"github.com/aspis-rv/aspis/internal/judge"
	"github.com/aspis-rv/aspis/internal/offline"
	"github.com/aspis-rv/aspis/internal/protocol"
	"github.com/aspis-rv/aspis/internal/world"
	"github.com/aspis-rv/aspis/internal/world/render"
	"github.com/aspis-rv/aspis/pkg/policy"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// Errors of folding worlds.
var (
	// ErrNoWorld is returned for a policy that declares no world.
	ErrNoWorld = errors.New("the policy declares no world")
	// ErrBeyond is returned for a stop that the events or the log do not come to.
	ErrBeyond = errors.New("there is no such position")
)

// ForeignError is returned where another policy than the given one is active at a stop: what
// the given one makes of the events is not the world that was.
type ForeignError struct{ Active PolicyRef }

func (e *ForeignError) Error() string {
	return "another policy is active there: " + e.Active.String()
}

// Snapshot is the worlds of the traces at a stop, by tenant and trace.
type Snapshot []TraceWorld

// TraceWorld is the world of a trace.
type TraceWorld struct {
	Trace  protocol.TraceID
	World  *world.World
	At     render.At
	Events render.Events // those that changed a world of the partition so far
}

// WorldConfig says how to fold the worlds of traces.
type WorldConfig struct {
	Bundle *policy.Bundle
	Rules  protocol.Rules
	// Stops are where snapshots are taken; the fold ends with the last of them.
	Stops []Stop
	// Changed, when not nil, is called with every change of a world up to the last stop, in
	// order of the log within a partition.
	Changed func(*WorldChange)
}

// WorldsOfEvents folds recorded events and returns a snapshot for each stop. Whether a call
// takes effect is decided as by Events. It stops at the first event that cannot be
// read or folded.
func WorldsOfEvents(run offline.Config, cfg WorldConfig, events iter.Seq2[*schema.Event, error]) ([]Snapshot, error) {
	f, err := newWorldFold(&cfg)
	if err != nil {
		return nil, err
	}
	p := f.partition(0, true)
	var given *schema.Event
	run.Bundle = cfg.Bundle
	run.Records = func(offset uint64, ev *schema.Event) {
		if ev == given {
			p.numbers[offset] = p.number
		}
		when := p.now
		if ev.Kind == schema.KindTick {
			when = ev.Tick.Time
		}
		p.step(offset, when, ev)
	}
	runner := offline.New(run)
	for ev, err := range events {
		if err != nil {
			return nil, err
		}
		p.number = p.folded + 1
		if p.stop(func(s *Stop) bool { return s.Kind == StopEvent && p.number > s.Event }); p.done() {
			break
		}
		given = ev
		if _, err := runner.Event(ev); err != nil {
			return nil, fmt.Errorf("world: %w", err)
		}
		p.folded = p.number
	}
	p.stop(func(s *Stop) bool { return s.Kind != StopEvent || s.Event <= p.folded })
	return f.snapshots()
}

// WorldsOfLog folds the retained log and returns a snapshot for each stop. Whether a call
// takes effect is what the log says.
func WorldsOfLog(ctx context.Context, src Source, cfg WorldConfig) ([]Snapshot, error) {
	f, err := newWorldFold(&cfg)
	if err != nil {
		return nil, err
	}
	for i := range src.Partitions() {
		if !f.concerns(i) {
			continue
		}
		p := f.partition(i, false)
		first, next, err := src.Bounds(ctx, bus.Events, i)
		if err != nil {
			return nil, fmt.Errorf("world: %w", err)
		}
		err = each(ctx, src, bus.Events, i, func(rec bus.Record) error {
			ev, err := schema.DecodeEvent(rec.Data)
			if err != nil {
				return fmt.Errorf("record %d/%d: %w", i, rec.Offset, err)
			}
			ev.Position = schema.Position{Partition: i, Offset: rec.Offset}
			p.step(rec.Offset, rec.Time.UnixNano(), ev)
			if p.done() {
				return errStopped
			}
			return nil
		})
		if err != nil && !errors.Is(err, errStopped) {
			return nil, fmt.Errorf("world: %w", err)
		}
		p.stop(func(s *Stop) bool { return s.Kind != StopRecord || s.Offset < next })
		if err := f.retained(i, first); err != nil {
			return nil, err
		}
	}
	return f.snapshots()
}

// retained refuses stops before the first retained record of a partition.
func (f *worldFold) retained(partition uint32, first uint64) error {
	for i := range f.cfg.Stops {
		if s := &f.cfg.Stops[i]; s.Kind == StopRecord && s.Partition == partition && s.Offset < first {
			return fmt.Errorf("%s: %w: the first retained record is %s", s, ErrBeyond, position(partition, first))
		}
	}
	return nil
}

// errStopped ends the reading of a partition.
var errStopped = errors.New("stopped")

// worldFold is a fold under way.
type worldFold struct {
	cfg     *WorldConfig
	engine  *worldEngine
	taken   []Snapshot
	foreign []*PolicyRef // by stop
	reached []bool       // by stop
}

func newWorldFold(cfg *WorldConfig) (*worldFold, error) {
	if cfg.Bundle.World == nil {
		return nil, ErrNoWorld
	}
	n := len(cfg.Stops)
	f := &worldFold{cfg: cfg, taken: make([]Snapshot, n), foreign: make([]*PolicyRef, n), reached: make([]bool, n)}
	var err error
	f.engine, err = newWorldEngine(cfg.Bundle)
	return f, err
}

// concerns tells whether some stop is in a partition.
func (f *worldFold) concerns(partition uint32) bool {
	for i := range f.cfg.Stops {
		if f.cfg.Stops[i].Kind != StopRecord || f.cfg.Stops[i].Partition == partition {
			return true
		}
	}
	return false
}

func (f *worldFold) snapshots() ([]Snapshot, error) {
	for i := range f.cfg.Stops {
		if !f.reached[i] {
			return nil, fmt.Errorf("%s: %w", &f.cfg.Stops[i], ErrBeyond)
		}
		if f.foreign[i] != nil {
			return nil, fmt.Errorf("%s: %w", &f.cfg.Stops[i], &ForeignError{*f.foreign[i]})
		}
	}
	for _, s := range f.taken { // the partitions came one after the other
		slices.SortFunc(s, func(a, b TraceWorld) int {
			return cmp.Or(cmp.Compare(a.Trace.Tenant, b.Trace.Tenant), cmp.Compare(a.Trace.Trace, b.Trace.Trace))
		})
	}
	return f.taken, nil
}

// worldPart is the fold of one partition.
type worldPart struct {
	fold     *worldFold
	id       uint32
	judge    *judge.Judge
	known    map[uint64]*render.Event // that changed a world, by offset
	policies map[string]PolicyRef     // that were activated, by digest
	open     []int                    // stops that were not come to
	now      int64                    // ns: of the record folded last, of a file log time
	last     uint64                   // offset folded last
	whole    bool                     // the first activation of the log is retained

	number, folded int            // of the events of a file that are under way and done, from 0
	numbers        map[uint64]int // of events of the file, by offset; nil for a log
}

// partition begins the fold of a partition, of a file if its events were recorded there.
func (f *worldFold) partition(id uint32, recorded bool) *worldPart {
	p := &worldPart{fold: f, id: id, known: map[uint64]*render.Event{}, policies: map[string]PolicyRef{}, folded: -1}
	if recorded {
		p.numbers = map[uint64]int{}
	}
	p.judge = judge.New(id, judge.Config{Bundle: f.cfg.Bundle, Engine: f.engine, Rules: f.cfg.Rules, Recorded: recorded})
	f.engine.changed = func(c *WorldChange) {
		if p.known[c.Offset] == nil {
			p.known[c.Offset] = p.describe(c)
		}
		c.Cause = p.known[c.Offset]
		if f.cfg.Changed != nil {
			f.cfg.Changed(c)
		}
	}
	for i := range f.cfg.Stops {
		if s := &f.cfg.Stops[i]; s.Kind != StopRecord || s.Partition == id {
			p.open = append(p.open, i)
		}
	}
	return p
}

// step folds a record of a time, after the stops that lie before it.
func (p *worldPart) step(offset uint64, when int64, ev *schema.Event) {
	p.stop(func(s *Stop) bool {
		switch s.Kind {
		case StopRecord:
			return offset > s.Offset
		case StopTime:
			return when > s.Time
		case StopNewest, StopEvent:
		}
		return false
	})
	if p.done() {
		return
	}
	p.now = max(p.now, when)
	if a := ev.Activation; ev.Kind == schema.KindPolicy && a != nil {
		p.whole = p.whole || a.Number == 1
		p.policies[string(a.Digest)] = PolicyRef{Digest: hex.EncodeToString(a.Digest), Name: a.Name, Revision: a.Revision}
	}
	p.fold.engine.now = ev
	p.judge.Step(offset, ev)
	p.last = offset
}

// stop takes the snapshots of the stops that were passed.
func (p *worldPart) stop(passed func(*Stop) bool) {
	kept := p.open[:0]
	for _, i := range p.open {
		if passed(&p.fold.cfg.Stops[i]) {
			p.take(i)
		} else {
			kept = append(kept, i)
		}
	}
	p.open = kept
}

func (p *worldPart) done() bool { return len(p.open) == 0 }

func (p *worldPart) take(stop int) {
	f := p.fold
	f.reached[stop] = true
	if digest, foreign := p.judge.Foreign(); foreign && !bytes.Equal(digest, f.cfg.Bundle.Digest[:]) {
		ref := p.policies[string(digest)]
		f.foreign[stop] = &ref
		return
	}
	events := func(offset uint64) *render.Event { return p.known[offset] }
	for id, m := range p.judge.Monitors {
		if m, ok := m.(*worldMonitor); ok {
			f.taken[stop] = append(f.taken[stop], TraceWorld{Trace: id, World: m.World(), At: p.at(id), Events: events})
		}
	}
}

func (p *worldPart) at(id protocol.TraceID) render.At {
	b := p.fold.cfg.Bundle
	at := render.At{Policy: b.Name, Revision: b.Revision, Tenant: id.Tenant, Trace: id.Trace, TS: p.now}
	if p.numbers == nil {
		at.Position, at.Truncated = position(p.id, p.last), !p.whole
	} else if p.folded >= 0 {
		n := p.folded
		at.Event = &n
	}
	return at
}

func position(partition uint32, offset uint64) string { return fmt.Sprintf("%d/%d", partition, offset) }

// describe names the event behind a change.
func (p *worldPart) describe(c *WorldChange) *render.Event {
	ev := c.Event
	out := &render.Event{Event: ev.ID, TS: c.Timestamp, Call: ev.CallID, Tool: ev.Tool, Actor: ev.Actor.ID}
	if p.numbers == nil {
		out.Position = position(p.id, c.Offset)
	} else {
		out.Event = strconv.Itoa(p.numbers[c.Offset])
	}
	return out
}
