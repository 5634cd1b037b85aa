package monpoly

import (
	"errors"
	"fmt"
	"io"

	"github.com/aspis-rv/aspis/pkg/schema"
)

// Evaluator evaluates one formula over the time points of one log. Verdicts come in the
// order of the time points, none twice, and each at its own time point or at a later one.
// A verdict and its rows are valid until emit returns.
type Evaluator interface {
	// Step reads the next time point; time stamps do not fall. The facts are the
	// caller's again when it returns. After an error the evaluator is of no more use.
	Step(ts int64, facts []schema.Fact, emit func(*Verdict)) error
	// Flush gives the verdicts that are pending at the end of the log.
	Flush(emit func(*Verdict)) error
}

// ErrOrder is wrapped by the error of a time point that is older than the one before.
var ErrOrder = errors.New("time stamps go back")

// Monitor runs an evaluator over a log.
type Monitor struct {
	Evaluator Evaluator
	// Emit is called with each verdict.
	Emit func(*Verdict)
	// Begin is called before each time point is evaluated, with its index; nil does
	// nothing.
	Begin func(index uint64)
	// Skip is called with a time point that is older than the one before, which had
	// the time stamp last, and leaves the point out of the log. If it is nil, such a
	// point is an error.
	Skip func(p *Point, last int64)
}

// Run reads the log to its end. It returns the reader's error, the evaluator's, or one
// that wraps ErrOrder. After an error of the reader the pending verdicts are not given,
// because what follows is not known.
func (m *Monitor) Run(r *Reader) error {
	last := int64(-1) // as MonPoly: a log does not start earlier
	var p Point
	for index := uint64(0); ; {
		err := r.Next(&p)
		if errors.Is(err, io.EOF) {
			return m.Evaluator.Flush(m.Emit)
		}
		if err != nil {
			return err
		}
		if p.TS < last {
			if m.Skip == nil {
				return fmt.Errorf("%s:%d: %w: %d after %d", r.scan.file, p.Line, ErrOrder, p.TS, last)
			}
			m.Skip(&p, last)
			continue
		}
		last = p.TS
		if m.Begin != nil {
			m.Begin(index)
		}
		if err := m.Evaluator.Step(p.TS, p.Facts, m.Emit); err != nil {
			return fmt.Errorf("%s:%d: %w", r.scan.file, p.Line, err)
		}
		index++
	}
}
