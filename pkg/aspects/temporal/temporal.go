// Package temporal is the temporal aspect: it judges the time points of a trace by
// the clause formulas that speak of one trace's past, with the incremental engine
// of internal/mfotl.
package temporal

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/aspis-rv/aspis/internal/lang/check"
	"github.com/aspis-rv/aspis/internal/mfotl"
	"github.com/aspis-rv/aspis/pkg/aspects"
	"github.com/aspis-rv/aspis/pkg/policy"
	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// ErrState is an encoded monitor state that this engine cannot restore: of another
// version, policy or plan, or damaged.
var ErrState = errors.New("temporal: cannot restore state")

// Engine judges traces by the temporal formulas of one bundle. It is immutable and
// safe for concurrent use; its monitors are not.
type Engine struct {
	plan   *mfotl.Plan
	parts  []part // by formula of the plan
	digest [32]byte
}

var _ aspects.Engine = (*Engine)(nil)

// part is what of a formula's outcome is known before any event.
type part struct {
	clause  string
	role    schema.Role
	name    string
	columns []string
	checked *check.Checked
	reach   int64 // how far back it reads, ns
}

// New compiles the temporal formulas of a bundle, guards and forbid parts, of
// clauses in shadow mode too. It fails if one of them is outside the language of
// internal/mfotl, naming the clause and the place of the formula.
func New(b *policy.Bundle) (*Engine, error) {
	e := &Engine{digest: b.Digest}
	type place struct {
		part
		where string
	}
	var places []place
	for _, c := range b.Clauses {
		for _, f := range c.Formulas {
			if f.Aspect != aspects.Temporal {
				continue
			}
			p := part{clause: c.ID, role: f.Role, name: f.Name, checked: f.Checked, reach: f.Checked.Reach()}
			for _, col := range f.Checked.Free {
				p.columns = append(p.columns, col.Name)
			}
			places = append(places, place{p, fmt.Sprintf("%s:%d:%d: clause %s", f.File, f.Line, f.Col, c.ID)})
		}
	}
	slices.SortStableFunc(places, func(a, b place) int {
		return cmp.Or(strings.Compare(a.clause, b.clause), cmp.Compare(a.role, b.role), strings.Compare(a.name, b.name))
	})
	var formulas []*check.Checked
	for _, p := range places {
		e.parts = append(e.parts, p.part)
		formulas = append(formulas, p.checked)
	}
	var err error
	if e.plan, err = mfotl.Compile(formulas); err == nil {
		return e, nil
	}
	for _, p := range places {
		if _, one := mfotl.Compile([]*check.Checked{p.checked}); one != nil {
			return nil, fmt.Errorf("temporal: %s: %w", p.where, one)
		}
	}
	return nil, fmt.Errorf("temporal: %w", err)
}

// Kind returns aspects.Temporal.
func (e *Engine) Kind() aspects.Kind { return aspects.Temporal }

// New returns the monitor of a trace without history.
func (e *Engine) New() aspects.Monitor { return &Monitor{engine: e, state: e.plan.New()} }

// stateVersion is the version of the monitor's encoding: version byte, digest of
// the bundle, state of the plan.
const stateVersion = 1

// Restore returns the monitor that AppendState encoded. It fails with ErrState on
// bytes of another version or policy, and on damaged ones.
func (e *Engine) Restore(state []byte) (aspects.Monitor, error) {
	head := 1 + len(e.digest)
	switch {
	case len(state) < head:
		return nil, fmt.Errorf("%w: %d bytes are too short", ErrState, len(state))
	case state[0] != stateVersion:
		return nil, fmt.Errorf("%w: version %d; this program reads %d: replay the trace from its log", ErrState, state[0], stateVersion)
	case [32]byte(state[1:head]) != e.digest:
		return nil, fmt.Errorf("%w: it was made under policy %x, this is %x: replay the trace from its log", ErrState, state[1:head], e.digest)
	}
	st, err := e.plan.Restore(state[head:])
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrState, err)
	}
	return &Monitor{engine: e, state: st}, nil
}

// Monitor is the temporal state of one trace. It is not safe for concurrent use.
type Monitor struct {
	engine *Engine
	state  *mfotl.State

	candidates []int // scratch memory of Judge
}

var _ aspects.Monitor = (*Monitor)(nil)

// Judge evaluates in as the next time point and leaves the state as it was. A part
// is given when its formula has rows, and also without rows when the formula could
// have been satisfied here but what it reads of the past is not sound.
func (m *Monitor) Judge(in aspects.Input) []schema.Part {
	m.state.Step(in.Timestamp, in.Offset, in.Facts)
	var parts []schema.Part
	m.candidates = m.appendCandidates(m.candidates[:0], &in)
	for _, i := range m.candidates {
		p := &m.engine.parts[i]
		rows := m.state.Rows(i)
		completeness := m.completeness(i, &in)
		if len(rows) == 0 && (completeness == verdict.Sound || !p.checked.Triggered(in.Facts)) {
			continue
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

// appendCandidates appends the numbers of the parts that could be given, ascending: of a
// history that is sound throughout, those whose formulas may have rows.
func (m *Monitor) appendCandidates(dst []int, in *aspects.Input) []int {
	if in.Evidence == verdict.Sound && len(in.Uncertain) == 0 && !m.state.Overflowed() {
		return m.state.Active(dst)
	}
	for i := range m.engine.parts {
		dst = append(dst, i)
	}
	return dst
}

// completeness is that of formula i given that of the trace's history. A formula with a
// term that has no value here is incomplete. A formula
// that reads the current time point alone is sound whatever came before, and one that
// reads back so far, whatever is missing further back.
func (m *Monitor) completeness(i int, in *aspects.Input) verdict.Completeness {
	past := m.historic(i, in)
	if m.state.Fault(i) != nil {
		return verdict.Worse(past, verdict.Incomplete)
	}
	return past
}

// historic is the completeness of what formula i reads of the past.
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

// Adopt makes in the next time point of the trace.
func (m *Monitor) Adopt(in aspects.Input) {
	m.state.Step(in.Timestamp, in.Offset, in.Facts)
	m.state.Commit()
}

// Advance gives back memory that no later time point can use. Log time by itself
// frees nothing: a time point may still come that is older than the clock, and its
// verdict must not depend on how often the clock was read.
func (m *Monitor) Advance(int64) { m.state.Trim() }

// AppendState appends the committed state: equal traces give equal bytes.
func (m *Monitor) AppendState(dst []byte) []byte {
	dst = append(dst, stateVersion)
	dst = append(dst, m.engine.digest[:]...)
	return m.state.AppendState(dst)
}
