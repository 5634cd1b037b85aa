package monpoly

import (
	"errors"
	"fmt"

	"github.com/aspis-rv/aspis/internal/lang/check"
	"github.com/aspis-rv/aspis/internal/mfotl"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// maxTuples is the number of window entries of one log. A run has the machine to
// itself, unlike the traces of a service: 16 million entries are some 2 GB.
const maxTuples = 1 << 24

// ErrOverflow is returned when a log needs more window entries than an evaluator holds.
var ErrOverflow = errors.New("the windows of the formula hold too many tuples; give them an upper bound, or a smaller one")

// past evaluates a formula about the past, whose verdict is known at the time point
// itself.
type past struct {
	state   *mfotl.State
	rows    mfotl.RowBuffer
	verdict Verdict
	next    uint64 // index of the next time point
}

// NewEvaluator makes an evaluator of a formula that was checked with the built-in
// relations. It fails if the formula is not about the past.
func NewEvaluator(f *check.Checked) (Evaluator, error) {
	plan, err := mfotl.Compile([]*check.Checked{f}, mfotl.WithBuiltIns(), mfotl.WithTuples(maxTuples), mfotl.WithMonPolyEmpty())
	if err != nil {
		return nil, fmt.Errorf("the formula cannot be evaluated: %w", err)
	}
	return &past{state: plan.New()}, nil
}

func (e *past) Step(ts int64, facts []schema.Fact, emit func(*Verdict)) error {
	e.state.Step(ts, e.next, facts)
	e.verdict = Verdict{Index: e.next, TS: ts, Rows: e.state.ReadRows(0, &e.rows)}
	if err := e.state.Fault(0); err != nil {
		return fmt.Errorf("time point %d: %w", e.next, err)
	}
	emit(&e.verdict)
	e.next++
	e.state.Commit()
	if e.state.Lossy(0) {
		return ErrOverflow
	}
	return nil
}

func (e *past) Flush(func(*Verdict)) error { return nil }
