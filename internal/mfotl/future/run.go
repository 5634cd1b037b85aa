package future

import (
	"fmt"

	"github.com/aspis-rv/aspis/internal/mfotl"
	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// Verdict is the answer of a formula at one time point.
type Verdict struct {
	Index uint64 // of the time point, from 0
	TS    int64
	// Rows are the satisfying bindings, sorted; witnesses are indexes of time points.
	// They are valid until emit returns.
	Rows []schema.Row
	// Fault says why Rows may be incomplete or wrong; nil if they are exact.
	Fault error
}

// Run evaluates a Plan along one log. It is not safe for concurrent use.
type Run struct {
	plan    *Plan
	log     log
	virtual []*virtual
	stages  []stageRun
	tally   int           // tuples that wait
	last    int64         // time stamp of the last time point of a formula about the past
	facts   []schema.Fact // scratch
	tuples  []tuple       // scratch
	err     error         // what every later call fails with
}

// stageRun is a stage in a Run.
type stageRun struct {
	*stage
	state *mfotl.State
	buf   mfotl.RowBuffer
	next  uint64 // the time point it steps to next
	fault error  // something it has read may be wrong, and matters still
}

// New returns a run on an empty log.
func (p *Plan) New() *Run {
	r := &Run{plan: p}
	for _, spec := range p.relations {
		r.virtual = append(r.virtual, newVirtual(spec, &r.tally))
	}
	for _, s := range p.stages {
		r.stages = append(r.stages, stageRun{stage: s, state: s.plan.New()})
	}
	return r
}

// Step reads the next time point: its time stamp and its facts, which are a set. A time
// stamp before that of the last time point counts as that. It calls emit for every
// verdict that is known now and was not before, in the order of the time points. The
// run keeps neither facts nor anything in them. Of the methods of the run emit may call
// Explain only.
//
// It fails with ErrPresumptive, ErrPending or ErrEnded. A run that has failed once
// fails for ever, since what it has not read would be missing.
//
// Its cost grows with the facts that the formula reads, and with the tuples of its
// operators and their operands at the time points that are evaluated now.
func (r *Run) Step(ts int64, facts []schema.Fact, emit func(Verdict)) error {
	if r.err != nil {
		return r.err
	}
	if !r.plan.Delayed() {
		r.direct(ts, facts, emit)
		return nil
	}
	if r.err = definite(facts, r.log.end()); r.err != nil {
		return r.err
	}
	r.tally += r.log.add(ts, facts, r.plan.keep)
	r.advance(facts, emit)
	if waiting := r.tally + r.log.times.len(); waiting > r.plan.limit {
		r.err = fmt.Errorf("%w: %d tuples at time point %d, %d are allowed; narrow the intervals of the future operators, or raise the limit",
			ErrPending, waiting, r.log.end()-1, r.plan.limit)
	}
	return r.err
}

// direct is Step for a formula about the past: its verdict is known at once, and nothing
// waits.
func (r *Run) direct(ts int64, facts []schema.Fact, emit func(Verdict)) {
	s := &r.stages[0]
	if s.next > 0 {
		ts = max(ts, r.last)
	}
	r.last = ts
	s.state.Step(ts, s.next, facts)
	s.answer(ts, emit)
}

func definite(facts []schema.Fact, index uint64) error {
	for i := range facts {
		if facts[i].Strength != verdict.Definite {
			return fmt.Errorf("%w: %s at time point %d; a formula with future operators takes definite facts only",
				ErrPresumptive, facts[i].Name, index)
		}
	}
	return nil
}

// Flush ends the log and calls emit for every verdict not emitted yet, as nothing
// follows. Later calls of Step and Flush fail with ErrEnded.
func (r *Run) Flush(emit func(Verdict)) error {
	if r.err != nil {
		return r.err
	}
	r.log.ended = true
	r.advance(nil, emit)
	r.err = ErrEnded
	return nil
}

// Waiting is the number of tuples that wait, which WithPending bounds.
func (r *Run) Waiting() int { return r.tally + r.log.times.len() }

// advance steps every stage as far as it can go, each after those it depends on. facts
// are those of the newest time point.
func (r *Run) advance(facts []schema.Fact, emit func(Verdict)) {
	for i := range r.stages {
		s := &r.stages[i]
		for s.next < r.log.end() && r.known(s) {
			if len(s.reads) == 0 {
				r.step(s, facts, emit)
			} else {
				r.step(s, r.gather(s), emit)
			}
		}
	}
	r.trim()
}

// known reports whether what a stage reads is known at its next time point.
func (r *Run) known(s *stageRun) bool {
	for i := range s.reads {
		if !r.virtual[s.reads[i].relation].known(&r.log, s.next) {
			return false
		}
	}
	return true
}

// gather returns the facts of a stage that lags behind, valid until the next call.
func (r *Run) gather(s *stageRun) []schema.Fact {
	kept := *r.log.facts.at(s.next)
	facts := append(r.facts[:0], kept...)
	if !s.remembers {
		s.fault = nil
	}
	for i := range s.reads {
		in := &s.reads[i]
		var err error
		if facts, err = r.virtual[in.relation].at(facts, s.next, want{in.guards, kept}); err != nil {
			s.fault = err
		}
	}
	r.facts = facts
	return facts
}

// step steps a stage to its next time point and hands on what its formulas give. The
// formula of the verdict stands alone in its stage.
func (r *Run) step(s *stageRun, facts []schema.Fact, emit func(Verdict)) {
	i := s.next
	ts := *r.log.times.at(i)
	s.state.Step(ts, i, facts)
	if s.feeds[0].relation < 0 {
		s.answer(ts, emit)
		return
	}
	for k, to := range s.feeds {
		r.tuples = r.tuples[:0]
		for _, row := range s.state.ReadRows(k, &s.buf) {
			r.tuples = append(r.tuples, row.Values)
		}
		r.virtual[to.relation].read(&r.log, to.side, i, r.tuples, s.faultOf(k))
	}
	s.state.Commit()
	s.next++
}

// answer ends the pending step of the stage of the formula with its verdict.
func (s *stageRun) answer(ts int64, emit func(Verdict)) {
	v := Verdict{Index: s.next, TS: ts, Rows: s.state.ReadRows(0, &s.buf)}
	v.Fault = s.faultOf(0)
	emit(v) // with the step still pending, so that it can be explained
	s.state.Commit()
	s.next++
}

// faultOf says why the rows read of formula k may be wrong.
func (s *stageRun) faultOf(k int) error {
	if err := s.state.Fault(k); err != nil {
		return fmt.Errorf("time point %d: %w", s.next, err)
	}
	if s.state.Lossy(k) {
		return fmt.Errorf("%w: at time point %d; raise the number of tuples that windows may hold", ErrLossy, s.next)
	}
	return s.fault
}

// trim forgets the time points that every stage has passed.
func (r *Run) trim() {
	all, lagging := r.log.end(), r.log.end()
	for i := range r.stages {
		s := &r.stages[i]
		all = min(all, s.next)
		if len(s.reads) > 0 {
			lagging = min(lagging, s.next)
		}
	}
	r.log.times.dropBefore(all)
	for r.log.facts.len() > 0 && r.log.facts.first < lagging {
		r.tally -= len(*r.log.facts.at(r.log.facts.first))
		r.log.facts.drop()
	}
}
