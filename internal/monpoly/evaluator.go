package monpoly

import (
	"errors"
	"fmt"

	"github.com/aspis-rv/aspis/internal/lang/check"
	"github.com/aspis-rv/aspis/internal/mfotl"
	"github.com/aspis-rv/aspis/internal/mfotl/future"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// The bounds of one run, which has the machine to itself, unlike the traces of a service.
const (
	// maxTuples is the number of window entries: 16 million are some 2 GB.
	maxTuples = 1 << 24
	// maxPending is the number of tuples that wait for what follows: of 50 to 160 bytes
	// each, some 2 GB too.
	maxPending = 1 << 24
)

// evaluator is a run of package future.
type evaluator struct {
	run     *future.Run
	take    func(future.Verdict) // e.pass
	emit    func(*Verdict)       // of the call at hand
	verdict Verdict
	fault   error // of the first verdict that was not exact
}

// NewEvaluator makes an evaluator of a formula that was checked with the built-in
// relations. Its first verdict that is not exact, because a term has no value or a window
// overflowed, is an error in its place.
func NewEvaluator(f *check.Checked) (Evaluator, error) {
	plan, err := future.Compile(f, future.WithPending(maxPending),
		future.WithEngine(mfotl.WithBuiltIns(), mfotl.WithTuples(maxTuples), mfotl.WithMonPolyEmpty()))
	if err != nil {
		return nil, fmt.Errorf("the formula cannot be evaluated: %w", err)
	}
	e := &evaluator{run: plan.New()}
	e.take = e.pass
	return e, nil
}

func (e *evaluator) Step(ts int64, facts []schema.Fact, emit func(*Verdict)) error {
	e.emit = emit
	return errors.Join(e.run.Step(ts, facts, e.take), e.fault)
}

func (e *evaluator) Flush(emit func(*Verdict)) error {
	e.emit = emit
	return errors.Join(e.run.Flush(e.take), e.fault)
}

// pass hands verdicts on up to the first that is not exact.
func (e *evaluator) pass(v future.Verdict) {
	if e.fault == nil && v.Fault != nil {
		e.fault = v.Fault
	}
	if e.fault == nil {
		e.verdict = Verdict{Index: v.Index, TS: v.TS, Rows: v.Rows}
		e.emit(&e.verdict)
	}
}
