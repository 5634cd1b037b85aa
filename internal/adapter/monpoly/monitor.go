package monpoly

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/aspis-rv/aspis/pkg/aspects"
	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// Monitor is the temporal state of one trace: the adopted time points to which the
// formulas reach back. It is not safe for concurrent use. Its verdicts are functions of
// that state where processes answer, and unavailable where they do not.
type Monitor struct {
	engine *Engine
	record record
}

var _ aspects.Monitor = (*Monitor)(nil)

// Judge evaluates in as the next time point; what was adopted stays as it was. A part is
// given when its formula has rows; without rows when the formula could have been
// satisfied and what it reads of the past is not sound, or no process answered. Rows
// name the time point itself as their only witness.
func (m *Monitor) Judge(in aspects.Input) []schema.Part {
	ctx, cancel := m.engine.cfg.Deadline()
	defer cancel()
	now, err := m.record.next(in.Timestamp, in.Facts)
	var parts []schema.Part
	for i := range m.engine.parts {
		p := &m.engine.parts[i]
		if !p.checked.Triggered(in.Facts) {
			continue
		}
		out := schema.Part{
			Clause: p.clause, Role: p.role, Name: p.name, Columns: p.columns,
			Completeness: m.completeness(p, &in), Absence: p.checked.Absence,
		}
		if failed := m.fill(ctx, &out, p, &now, in.Offset, err); failed != nil {
			out.Rows, out.Completeness = nil, verdict.Unavailable
			m.engine.report(fmt.Errorf("clause %s, formula %q, time point %d at offset %d: %w", p.clause, p.name, in.TimePoint, in.Offset, failed))
		}
		if len(out.Rows) > 0 || out.Completeness != verdict.Sound {
			parts = append(parts, out)
		}
	}
	return parts
}

func (e *Engine) report(err error) {
	if e.cfg.Failed != nil {
		e.cfg.Failed(err)
	}
}

// fill adds the rows to a part. A formula that reaches back to what was lost is not
// evaluated: what it would give depended on how long a process has lived. Neither is
// an aggregation over presumptive facts, which has a value for each reading; it is
// incomplete.
func (m *Monitor) fill(ctx context.Context, out *schema.Part, p *part, now *moment, offset uint64, err error) error {
	if err != nil || p.checked.Historic && m.record.gap(now.ts, p.reach) {
		return err
	}
	marks := []verdict.Value{verdict.F}
	questions := p.questions[plain : plain+1]
	if m.record.doubtful(p.questions[plain], now, p.reach) {
		if p.questions[plain].aggregate {
			out.Completeness = verdict.Worse(out.Completeness, verdict.Incomplete)
			return nil
		}
		marks, questions = []verdict.Value{verdict.F, verdict.Fp, verdict.Tp}, p.questions[:]
	}
	var known [][]schema.Value // rows of the stricter readings
	for i, q := range questions {
		if i > 0 && q == questions[i-1] {
			continue
		}
		rows, err := m.ask(ctx, q, p.checked.Historic, now)
		if err != nil {
			return err
		}
		rows = slices.Clone(rows)
		slices.SortFunc(rows, compareRows)
		had := 0
		for _, values := range rows {
			if _, is := slices.BinarySearchFunc(known, values, compareRows); is {
				had++
				continue
			}
			out.Rows = append(out.Rows, schema.Row{Values: values, Mark: marks[i], Witness: []uint64{offset}})
		}
		if had != len(known) {
			return fmt.Errorf("%w: a row that holds for sure does not hold with more facts", ErrAnswer)
		}
		known = rows
	}
	slices.SortFunc(out.Rows, func(a, b schema.Row) int { return compareRows(a.Values, b.Values) })
	return nil
}

// ask gives the rows of a question at the time point now, from a process that has read
// what was adopted before, or has read now as well.
func (m *Monitor) ask(ctx context.Context, q *question, historic bool, now *moment) ([][]schema.Value, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, fmt.Errorf("%w: no time was left: %w", ErrProcess, err)
	}
	c, err := m.process(q, historic, now)
	if err != nil {
		return nil, err
	}
	if c.next == 0 || c.chain != now.chain {
		if historic {
			if err := m.replay(ctx, c); err != nil {
				return nil, err
			}
		}
		if err := m.tell(ctx, c, now); err != nil {
			return nil, err
		}
	}
	rows := c.rows // from here on the process may be another monitor's
	m.engine.pool.put(c)
	return rows, nil
}

// tell sends a process a time point. It has left the pool for good when that fails.
func (m *Monitor) tell(ctx context.Context, c *process, at *moment) error {
	if err := c.step(ctx, at); err != nil {
		m.engine.pool.gone()
		return err
	}
	c.chain = at.chain
	return nil
}

// process takes the idle process that has read the most of the trace and nothing else,
// or starts one.
func (m *Monitor) process(q *question, historic bool, now *moment) (*process, error) {
	rank := func(c *process) (int, bool) {
		at, ok := m.record.at[c.chain]
		switch {
		case c.asked != q:
			return 0, false
		case c.chain == now.chain:
			return math.MaxInt, true
		case !historic: // what else it has read makes no difference
			return 0, c.ts <= now.ts
		}
		return at, ok
	}
	if c := m.engine.pool.take(rank); c != nil {
		return c, nil
	}
	if err := m.engine.pool.admit(); err != nil {
		return nil, err
	}
	c, err := start(m.engine.cfg.Binary, q)
	if err != nil {
		m.engine.pool.gone()
		return nil, err
	}
	c.chain = m.record.start
	return c, nil
}

// replay tells a process what was adopted since it was last used. What has gone out of
// reach meanwhile it need not know. When ctx ends between two time points, the process
// goes back to the pool as far as it got, and the next judging goes on from there.
func (m *Monitor) replay(ctx context.Context, c *process) error {
	r := &m.record
	for i := r.at[c.chain] - r.first; i < len(r.moments); i++ {
		if late := context.Cause(ctx); late != nil {
			m.engine.pool.put(c)
			return fmt.Errorf("%w: %d time points are still to be replayed: %w", ErrProcess, len(r.moments)-i, late)
		}
		err := within(m.engine.cfg.Deadline, func(ctx context.Context) error { return m.tell(ctx, c, &r.moments[i]) })
		if err != nil {
			return err
		}
	}
	return nil
}

// completeness is that of a part given that of the trace's history. A formula that
// reads the current time point alone is sound whatever came before, and one that reads
// back so far, whatever is missing further back.
func (m *Monitor) completeness(p *part, in *aspects.Input) verdict.Completeness {
	if !p.checked.Historic {
		return verdict.Sound
	}
	past := in.Completeness(p.reach, p.checked.Relations)
	if m.record.gap(in.Timestamp, p.reach) {
		return verdict.Worse(past, verdict.Incomplete)
	}
	return past
}

// Adopt makes in the next time point of the trace. Processes learn of it when they are
// next asked.
func (m *Monitor) Adopt(in aspects.Input) { m.record.adopt(in.Timestamp, in.Facts) }

// Advance does nothing: only an adopted time point puts others out of reach.
func (m *Monitor) Advance(int64) {}

// AppendState appends the committed state: equal traces give equal bytes.
func (m *Monitor) AppendState(dst []byte) []byte {
	dst = append(dst, stateVersion...)
	dst = append(dst, m.engine.digest[:]...)
	return m.record.appendState(dst)
}
