package world

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strconv"
	"testing/fstest"
	"time"

	"github.com/aspis-rv/aspis/internal/node"
	"github.com/aspis-rv/aspis/internal/world"
	"github.com/aspis-rv/aspis/loadtest/measure"
	"github.com/aspis-rv/aspis/pkg/aspects"
	"github.com/aspis-rv/aspis/pkg/policy"
	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// ErrWrong is an answer other than that of the plain graph.
var ErrWrong = errors.New("a wrong answer")

// bundle has a temporal and a spatial clause over what an event makes reachable, and one at
// a location. Its world is replaced.
const bundle = `policy: big
revision: 1
trace: tenant
world:
  attributes: [desk]
  vertices: {v000000: {sort: informational, domain: D00}}
sets: {own: [D00]}
facts: {leave: [record, domain]}
state: {marked: [record, class]}
tools:
  place: {args: {record: string, at: string}, world: ['place(record, at)', 'set(desk, record, at)'], facts: ['marked(record, "PHI")']}
  allow: {authority: true, args: {record: string, domain: string}, facts: ['leave(record, domain)']}
authorities: [user]
clauses:
  T:
    text: A marked record newly reaches a foreign domain under a leave of the last twelve hours.
    forbid: {temporal: 'NEW (reaches(r, d) AND marked(r, "PHI")) AND NOT own(d) AND NOT (ONCE[0,12h] leave(r, d))'}
  S:
    text: A marked record does not newly reach a foreign domain.
    forbid: {spatial: 'NEW (reaches(r, d) AND marked(r, "PHI")) AND NOT own(d)'}
  L:
    text: No desk is within two releases of an own place.
    forbid: {spatial: 'NEW (desk(r, v) AND AT v (SOMEWHERE[0,2] (domain(@l, "D00"))))'}
`

// session is the two monitors of one trace, and the plain graph beside them.
type session struct {
	graph    *graph
	monitors map[aspects.Kind]aspects.Monitor
	offset   uint64
}

func newSession(g *graph) (*session, error) {
	b, found := policy.LoadFS(fstest.MapFS{"policy.yaml": {Data: []byte(bundle)}})
	if b == nil {
		return nil, fmt.Errorf("the policy of the load test: %w", found)
	}
	b.World = g.declare(*b.World)
	s := &session{graph: g, monitors: map[aspects.Kind]aspects.Monitor{}}
	engines, err := node.Engines(b)
	if err != nil {
		return nil, err
	}
	for _, e := range engines {
		s.monitors[e.Kind()] = e.New()
	}
	for r, marked := range g.marked {
		if marked {
			s.take(s.input(world.Edit{
				Op: world.Mark, Name: "marked", Values: []schema.Value{schema.StringValue(recordName(r)), schema.StringValue("PHI")},
				Strength: verdict.Definite,
			}), nil)
		}
	}
	return s, nil
}

func (s *session) input(edits ...world.Edit) aspects.Input {
	s.offset++
	in := aspects.Input{
		TimePoint: s.offset, Timestamp: int64(s.offset) * int64(time.Second), Offset: s.offset, Evidence: verdict.Sound, Edits: edits,
		Event: &schema.Event{Kind: schema.KindCall},
	}
	if len(edits) > 0 {
		in.Call = strconv.FormatUint(s.offset, 10)
	}
	return in
}

// take judges and adopts an event in both monitors, and records the time of both together.
func (s *session) take(in aspects.Input, took *measure.Latency) map[aspects.Kind][]schema.Part {
	parts := map[aspects.Kind][]schema.Part{}
	start := time.Now()
	for _, k := range []aspects.Kind{aspects.Spatial, aspects.Temporal} {
		m := s.monitors[k]
		parts[k] = m.Judge(in)
		m.Adopt(in)
	}
	if took != nil {
		took.Record(time.Since(start))
	}
	for _, m := range s.monitors {
		if settler, ok := m.(aspects.Settler); ok && in.Call != "" {
			settler.Settle(aspects.Ended{Call: in.Call, Outcome: aspects.EffectsStay})
		}
	}
	return parts
}

// Row is one measurement.
type Row struct {
	Name   string            `json:"name"`
	Times  measure.Quantiles `json:"times"`
	Events int               `json:"events"`
	Check  int               `json:"checked"` // answers compared with the plain graph
	// Bar is the greatest time that is good enough, in µs, of the median or of p99.
	Bar   float64 `json:"bar_us"`
	AtP99 bool    `json:"bar_at_p99,omitempty"`
}

// Met tells whether the bar is met.
func (r *Row) Met() bool {
	if r.AtP99 {
		return r.Times.P99 <= r.Bar
	}
	return r.Times.P50 <= r.Bar
}

// Report is a run.
type Report struct {
	Size           Size    `json:"size"`
	Rows           []Row   `json:"rows"`
	Build          float64 `json:"build_s"`
	BytesPerVertex float64 `json:"bytes_per_vertex"`
	BytesPerShadow float64 `json:"bytes_per_shadow"`
}

// Options say what to measure.
type Options struct {
	Size
	Events int // of each row
	Checks int // how many answers of each row are compared with the plain graph
}

// Run measures one world.
func Run(o Options) (*Report, error) {
	rep := &Report{Size: o.Size}
	g := newGraph(o.Size)
	if err := rep.memory(g); err != nil {
		return nil, err
	}
	s, err := newSession(g)
	if err != nil {
		return nil, err
	}
	rep.Rows = append(rep.Rows, s.idle())
	r := rand.New(rand.NewPCG(o.Seed, 2))
	for _, row := range []struct {
		Row
		event func(*rand.Rand) (world.Edit, func())
		want  func(world.Edit) map[pair]bool
	}{
		{Row{Name: "placement", Bar: 100}, s.placement, s.placed},
		{Row{Name: "opening a channel", Bar: 5_000, AtP99: true}, s.opening, s.opened},
		{Row{Name: "closing a channel", Bar: 50_000, AtP99: true}, s.closing, nothing},
	} {
		took := measure.NewLatency()
		for i := range o.Events {
			edit, done := row.event(r)
			var want map[pair]bool
			check := i%max(o.Events/max(o.Checks, 1), 1) == 0
			if check {
				want = row.want(edit)
			}
			parts := s.take(s.input(edit), took)
			if check {
				row.Check++
				if err := compare(parts, want); err != nil {
					return nil, fmt.Errorf("%s %d (%s %s, %s), seed %d: %w", row.Name, i, edit.Op, edit.A, edit.B, o.Seed, err)
				}
			}
			done()
		}
		row.Times, row.Events = took.Quantiles(), o.Events
		rep.Rows = append(rep.Rows, row.Row)
	}
	return rep, nil
}

// idleEvents is how many events without effect are timed together.
const idleEvents = 1 << 17

// idle is the event that concerns no clause; its time is a mean, for the clock is too coarse.
func (s *session) idle() Row {
	in := s.input()
	start := time.Now()
	for range idleEvents {
		in.Timestamp++
		in.Offset++
		for _, m := range s.monitors {
			m.Judge(in)
			m.Adopt(in)
		}
	}
	s.offset += idleEvents
	mean := float64(time.Since(start).Nanoseconds()) / idleEvents / 1e3
	return Row{Name: "event without effect (mean)", Events: idleEvents, Bar: 1, Times: measure.Quantiles{P50: mean}}
}

// memory measures the world alone.
func (rep *Report) memory(g *graph) error {
	b, found := policy.LoadFS(fstest.MapFS{"policy.yaml": {Data: []byte(bundle)}})
	if b == nil {
		return fmt.Errorf("the policy of the load test: %w", found)
	}
	spec := g.declare(*b.World)
	before := heap()
	start := time.Now()
	w, err := world.New(spec)
	if err != nil {
		return err
	}
	rep.Build = time.Since(start).Seconds()
	after := heap()
	rep.BytesPerVertex = float64(after-before) / float64(g.size.Vertices)
	const shadows = 2000
	r := rand.New(rand.NewPCG(g.size.Seed, 3))
	kept := make([]*world.World, 0, shadows)
	before = heap()
	for i := range shadows {
		next, _ := w.Apply([]world.Edit{{Op: world.Place, A: recordName(i % g.size.Records), B: vertexName(r.IntN(g.size.Vertices))}}, world.Origin{Offset: 1})
		kept = append(kept, next)
	}
	rep.BytesPerShadow = float64(heap()-before) / shadows
	runtime.KeepAlive(kept)
	runtime.KeepAlive(w)
	return nil
}

func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc) //nolint:gosec // far below
}
