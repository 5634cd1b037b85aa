package future

import (
	"errors"
	"fmt"

	"github.com/aspis-rv/aspis/internal/lang/check"
	"github.com/aspis-rv/aspis/internal/lang/syntax"
	"github.com/aspis-rv/aspis/internal/mfotl"
)

// The errors of this package, to be tested with errors.Is. Compile also fails with
// mfotl.ErrFormula.
var (
	// ErrPending is a log on which more waits for its verdict than is allowed.
	ErrPending = errors.New("future: too much waits for a verdict")
	// ErrPresumptive is a presumptive fact for a formula with future operators.
	ErrPresumptive = errors.New("future: a presumptive fact")
	// ErrEnded is a time point after the end of the log.
	ErrEnded = errors.New("future: the log has ended")
	// ErrLossy is the fault of a verdict that rests on an incomplete history: a window
	// of package mfotl has lost part of it.
	ErrLossy = errors.New("future: a window has lost part of the history")
)

// DefaultPending is the number of tuples that may wait: facts kept for later stages,
// tuples of operands, and time points, that is, all that grows with the horizon of the
// formula. One takes 50 to 160 bytes and its strings, so a run is bounded by some
// 170 MB: it evaluates one formula over one log, not a trace among thousands.
const DefaultPending = 1 << 20

// Plan is a formula compiled. It is immutable and safe for concurrent use; what it
// computes with lies in the Runs made from it.
type Plan struct {
	relations []*relation // virtual ones, each after those it depends on
	stages    []*stage    // each after those it depends on
	keep      map[string]string
	uncut     map[syntax.Formula]syntax.Formula // what a node of the formulas stands for
	limit     int
	engine    []mfotl.Option
}

// stage is a set of past-time formulas that read the same virtual relations.
type stage struct {
	plan   *mfotl.Plan
	reads  []input
	feeds  []feed // by formula of the plan
	source []*check.Checked
	// remembers is set if some formula reads earlier time points, so that what was
	// wrong once may be wrong later.
	remembers bool
}

// input is a virtual relation that a stage reads, and which tuples of it.
type input struct {
	relation int
	guards   []guard // nil: all tuples
}

// feed says what a formula is for: the operand of a relation, or, if that is -1, the
// verdict.
type feed struct {
	relation int
	side     side
}

// Option changes how Compile makes a plan.
type Option func(*Plan)

// WithPending sets the number of tuples that may wait; DefaultPending unless given.
func WithPending(n int) Option { return func(p *Plan) { p.limit = n } }

// WithEngine passes options on to the plans of package mfotl.
func WithEngine(opts ...mfotl.Option) Option {
	return func(p *Plan) { p.engine = append(p.engine, opts...) }
}

// Compile makes a plan of a formula, which may have future operators. It fails with
// mfotl.ErrFormula if the formula's Core does not obey the contract of check.Checked.
func Compile(f *check.Checked, opts ...Option) (*Plan, error) {
	p := &Plan{limit: DefaultPending, uncut: map[syntax.Formula]syntax.Formula{}}
	for _, o := range opts {
		o(p)
	}
	c := cutter{plan: p, kinds: f.Kinds, names: map[string]int{}}
	if err := c.root(f); err != nil {
		return nil, err
	}
	for _, s := range p.stages {
		var err error
		if s.plan, err = mfotl.Compile(s.source, p.engine...); err != nil {
			return nil, fmt.Errorf("future: an operand: %w", err)
		}
	}
	return p, nil
}

// Delayed reports whether the formula has future operators, so that a verdict may come
// later than its time point.
func (p *Plan) Delayed() bool { return len(p.relations) > 0 }
