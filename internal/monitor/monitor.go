package monitor

import (
	"math"
	"slices"

	"github.com/aspis-rv/aspis/internal/mfotl"
	"github.com/aspis-rv/aspis/internal/world"
	"github.com/aspis-rv/aspis/internal/world/spatial"
	"github.com/aspis-rv/aspis/pkg/aspects"
	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// Monitor is the state of one aspect for one trace. It is not safe for concurrent use.
type Monitor struct {
	engine *Engine
	state  *mfotl.State
	world  *world.World // nil: no formula reads it

	shadow shadow // of the input judged last; not part of the state
	watch  Watch  // nil: nobody

	locations  []*spatial.Formula // clones of those of the engine, made when needed
	remembered []*spatial.Cache   // of locations, made when needed; not part of the state
	purse      int64              // steps that location formulas may take now
	visits     int64              // that they may still take at this time point for its rows
	shown      int64              // and for the paths of these

	// Scratch memory of a time point.
	doubtful   novelty
	source     source
	touched    toucher
	candidates []int
	reasons    mfotl.ReasonBuffer
}

var (
	_ aspects.Monitor = (*Monitor)(nil)
	_ aspects.Settler = (*Monitor)(nil)
)

// World returns the world of the trace, nil if the engine folds none. It stays as it is
// whatever the monitor does.
func (m *Monitor) World() *world.World { return m.world }

// Watch is told of a change of a world. The worlds and the delta may be kept.
type Watch func(before, after *world.World, delta *world.Delta)

// Watch has every change of the world from here on told to watch, in order, when it is
// adopted or settled.
func (m *Monitor) Watch(watch Watch) { m.watch = watch }

// become makes the world after some steps that of the monitor.
func (m *Monitor) become(s *shadow) {
	m.moveOn(s)
	m.world = s.after
	if m.watch == nil {
		return
	}
	for _, step := range s.steps {
		m.watch(step.before, step.after, step.delta)
	}
}

// location is the monitor's own clone of a location formula.
func (m *Monitor) location(l *location) *spatial.Formula {
	f := &m.locations[l.number]
	if *f == nil {
		*f = l.formula.Clone()
		(*f).Within(&m.purse)
	}
	return *f
}

// Judge evaluates in as the next time point and leaves the state as it was. A part
// is given when its formula has rows, and also without rows when the formula could
// have been satisfied here but what it reads of the past is not sound.
func (m *Monitor) Judge(in aspects.Input) []schema.Part {
	s := m.step(&in, false)
	var parts []schema.Part
	m.candidates = m.appendCandidates(m.candidates[:0], &in)
	for _, i := range m.candidates {
		p := &m.engine.parts[i]
		rows := m.rows(i)
		completeness := m.completeness(i, &in)
		if len(rows) == 0 && (completeness == verdict.Sound || !p.triggered(&in, s, m.doubtful) && !p.drowned(s)) {
			continue
		}
		if s != nil {
			m.explain(i, rows, &in, s)
		}
		parts = append(parts, schema.Part{
			Clause:       p.clause,
			Role:         p.role,
			Name:         p.name,
			Columns:      p.columns,
			Rows:         rows,
			Completeness: completeness,
			Absence:      p.checked.Absence,
		})
	}
	m.state.Rollback()
	return parts
}

// rows evaluates formula i at the pending time point.
func (m *Monitor) rows(i int) []schema.Row {
	m.purse = m.visits
	rows := m.state.Rows(i)
	m.visits = m.purse
	if m.engine.parts[i].located && m.visits == 0 && m.state.Fault(i) != nil {
		return nil // which of them were found first is nobody's business
	}
	return rows
}

// Adopt makes in the next time point of the trace.
func (m *Monitor) Adopt(in aspects.Input) {
	if s := m.step(&in, true); s != nil {
		m.become(s)
		s.reset(nil)
	}
	m.state.Commit()
	m.source.before, m.source.after = doubts{}, doubts{}
}

// maxVisits bounds the steps (see package spatial) that the location formulas of all clauses
// take at one event; maxShown those that are taken for the paths of its rows. An agent may
// be able to make a world grow, and with it the number of places that an event concerns. Of a
// formula for which they do not suffice no row is given, and it is incomplete.
const (
	maxVisits = 1 << 24
	maxShown  = 1 << 20
)

// step makes the provisional time point of in, for windows alone if it is to be adopted, and
// returns the world after it; nil if there is none.
func (m *Monitor) step(in *aspects.Input, adopt bool) *shadow {
	if m.world == nil {
		m.state.Step(in.Timestamp, in.Offset, in.Facts)
		return nil
	}
	s := m.shadowOf(in)
	m.source.at(s)
	m.doubtful = m.source.after.novelty(s)
	m.purse, m.shown = maxVisits, maxShown
	m.state.StepIn(in.Timestamp, in.Offset, m.appendTouches(in.Facts, s, adopt), &m.source)
	m.visits = m.purse
	return s
}

// Settle tells the monitor how a call ended without a time point of its own.
func (m *Monitor) Settle(end aspects.Ended) {
	if m.world == nil {
		return
	}
	s := shadow{before: m.world, after: m.world}
	s.end(end, world.Origin{})
	m.become(&s)
}

// Advance gives back memory that no later time point can use. Log time by itself
// frees nothing: a time point may still come that is older than the clock, and its
// verdict must not depend on how often the clock was read.
func (m *Monitor) Advance(int64) { m.state.Trim() }

// appendCandidates appends the numbers of the parts that could be given, ascending: of a
// history that is sound throughout, those whose formulas may have rows.
func (m *Monitor) appendCandidates(dst []int, in *aspects.Input) []int {
	if in.Evidence == verdict.Sound && len(in.Uncertain) == 0 && !m.state.Overflowed() && !m.overflowed() && !m.doubtful.any() {
		return m.state.Active(dst)
	}
	for i := range m.engine.parts {
		dst = append(dst, i)
	}
	return dst
}

// overflowed tells whether the world of the pending time point is incomplete.
func (m *Monitor) overflowed() bool { return m.world != nil && m.source.after.all }

// triggered tells whether the facts and effects of the time point allow a formula to hold
// there at all.
func (p *part) triggered(in *aspects.Input, s *shadow, doubtful novelty) bool {
	return p.checked.TriggeredBy(in.Facts, p.news.in(doubtful) || s != nil && slices.ContainsFunc(s.steps, p.affected))
}

// affected tells whether a step changes what the formula must see changed.
func (p *part) affected(s worldStep) bool {
	return p.graph && len(s.delta.Vertices())+len(s.delta.Walked()) > 0 || slices.ContainsFunc(p.effects, s.delta.Touches)
}

// drowned tells whether a formula reads the world, and the event is what makes it overflow.
func (p *part) drowned(s *shadow) bool {
	return len(p.reads) > 0 && s.after.Overflowed() && !s.before.Overflowed()
}

// completeness is that of formula i given that of the trace's history. A formula with a
// term that has no value here, or that read something uncertain, is incomplete. A formula
// that reads the current time point alone is sound whatever came before, and one that
// reads back so far, whatever is missing further back; but the world of the current time
// point rests on the whole history.
func (m *Monitor) completeness(i int, in *aspects.Input) verdict.Completeness {
	c := m.historic(i, in)
	if p := &m.engine.parts[i]; len(p.reads) > 0 {
		c = verdict.Worse(c, in.Completeness(math.MaxInt64, p.reads))
		if m.overflowed() || p.news.in(m.doubtful) {
			c = verdict.Worse(c, verdict.Incomplete)
		}
	}
	if m.state.Fault(i) != nil {
		c = verdict.Worse(c, verdict.Incomplete)
	}
	return c
}

// historic is the completeness of what formula i reads of the past of the log.
func (m *Monitor) historic(i int, in *aspects.Input) verdict.Completeness {
	checked := m.engine.parts[i].checked
	if !checked.Historic {
		return verdict.Sound
	}
	past := in.Completeness(m.engine.parts[i].reach, checked.Relations)
	if m.state.Lossy(i) {
		return verdict.Worse(past, verdict.Incomplete)
	}
	return past
}
