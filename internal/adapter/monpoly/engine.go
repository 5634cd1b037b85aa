package monpoly

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/aspis-rv/aspis/internal/lang/check"
	"github.com/aspis-rv/aspis/pkg/aspects"
	"github.com/aspis-rv/aspis/pkg/policy"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// The defaults of Config.
const (
	// DefaultProcesses is the number of processes. One takes some 10 MB.
	DefaultProcesses = 64
	// DefaultKept is the number of time points and facts kept of a trace. A replay of
	// so many takes seconds: beyond it a deadline would pass anyway.
	DefaultKept = 100_000
)

// startTime is how long the binary may take for one question while an engine is made.
const startTime = 10 * time.Second

// Config says how to run the binary. The zero value is usable.
type Config struct {
	// Binary is a name in PATH or a path; empty: DefaultBinary.
	Binary string
	// Processes is how many may run at a time, at least one for each partition that is
	// judged at a time; 0: DefaultProcesses.
	Processes int
	// Kept is how many time points and facts are kept of a trace; 0: DefaultKept. When
	// older ones fall out of it, formulas that reach back to them are incomplete.
	Kept int
	// Deadline returns the context of one judging, with all its formulas, and of each
	// time point that is replayed for it, so that a judging takes twice as long at worst;
	// nil: a time-out after a quarter of the bundle's deadline.
	Deadline func() (context.Context, context.CancelFunc)
	// Failed is told why a part is unavailable, at any time and by any goroutine that
	// judges; nil: nobody is.
	Failed func(error)
}

// Engine judges traces by the temporal formulas of one bundle, with processes of the
// binary. It is safe for concurrent use; its monitors are not. Close ends it.
type Engine struct {
	cfg       Config
	digest    [32]byte
	parts     []part
	signature check.Signature // the relations that formulas read
	reach     int64           // the longest of the formulas', ns
	pool      *pool
	dir       string
}

var _ aspects.Engine = (*Engine)(nil)

// part is a formula of a clause.
type part struct {
	clause    string
	role      schema.Role
	name      string
	columns   []string
	checked   *check.Checked
	reach     int64 // how far back it reads, ns; -1: it reads the present alone
	questions [readings]*question
}

// New makes the engine of a bundle. It runs the binary on questions with known answers,
// and lets it check every formula. It fails with ErrBinary when the binary is missing or
// unsound, and with ErrFormula, naming the clause and the place, when a formula cannot
// be monitored with it.
func New(b *policy.Bundle, cfg Config) (*Engine, error) {
	path, err := Find(cfg.Binary)
	if err != nil {
		return nil, err
	}
	cfg.Binary, cfg.Processes, cfg.Kept = path, cmp.Or(cfg.Processes, DefaultProcesses), cmp.Or(cfg.Kept, DefaultKept)
	deadline := cfg.Deadline
	if deadline == nil {
		deadline = timeout(startTime)
		cfg.Deadline = timeout(b.Deadline / 4)
	}
	dir, err := os.MkdirTemp("", "aspis-monpoly-")
	if err != nil {
		return nil, fmt.Errorf("monpoly: %w", err)
	}
	e := &Engine{cfg: cfg, digest: b.Digest, signature: check.Signature{}, pool: &pool{limit: cfg.Processes}, dir: dir}
	if err := e.prepare(b, deadline); err != nil {
		return nil, errors.Join(err, e.Close())
	}
	return e, nil
}

func timeout(d time.Duration) func() (context.Context, context.CancelFunc) {
	return func() (context.Context, context.CancelFunc) { return context.WithTimeout(context.Background(), d) }
}

// prepare translates the formulas and has them checked.
func (e *Engine) prepare(b *policy.Bundle, deadline func() (context.Context, context.CancelFunc)) error {
	wide := false
	for _, c := range b.Clauses {
		for _, f := range c.Formulas {
			if f.Aspect != aspects.Temporal {
				continue
			}
			p, err := e.part(b, &c, &f, len(e.parts))
			if err != nil {
				return fmt.Errorf("%s:%d:%d: clause %s: %w", f.File, f.Line, f.Col, c.ID, err)
			}
			e.add(p)
			wide = wide || p.questions[plain].wide
		}
	}
	for _, p := range probes() {
		if p.wide && !wide {
			continue
		}
		if err := within(deadline, func(ctx context.Context) error { return p.run(ctx, e.cfg.Binary, e.dir) }); err != nil {
			return err
		}
	}
	slices.SortStableFunc(e.parts, func(a, b part) int {
		return cmp.Or(strings.Compare(a.clause, b.clause), cmp.Compare(a.role, b.role), strings.Compare(a.name, b.name))
	})
	for i := range e.parts {
		if err := e.check(&e.parts[i], deadline); err != nil {
			return err
		}
	}
	return nil
}

// within runs f with a deadline of its own.
func within(deadline func() (context.Context, context.CancelFunc), f func(context.Context) error) error {
	ctx, cancel := deadline()
	defer cancel()
	return f(ctx)
}

// part translates one formula, in the readings in which it differs.
func (e *Engine) part(b *policy.Bundle, c *policy.Clause, f *policy.Formula, number int) (part, error) {
	p := part{clause: c.ID, role: f.Role, name: f.Name, checked: f.Checked, reach: f.Checked.Reach()}
	if !f.Checked.Historic {
		p.reach = -1
	}
	for _, col := range f.Checked.Free {
		p.columns = append(p.columns, col.Name)
	}
	for as := range readings {
		q, err := translate(fmt.Sprintf("formula-%d-%d", number, as), f.Checked, b.Signature, as)
		if err != nil {
			return p, err
		}
		p.questions[as] = q
	}
	if p.questions[lenient].formula == p.questions[plain].formula {
		p.questions[lenient] = p.questions[plain]
	}
	return p, nil
}

// add takes a part in, and what has to be kept for it.
func (e *Engine) add(p part) {
	e.parts = append(e.parts, p)
	for name, r := range p.questions[plain].relations {
		e.signature[name] = r.kinds
	}
	e.reach = max(e.reach, p.reach)
}

// check has the binary check the questions of a part.
func (e *Engine) check(p *part, deadline func() (context.Context, context.CancelFunc)) error {
	for i, q := range p.questions {
		if i > 0 && q == p.questions[i-1] {
			continue
		}
		if err := q.write(e.dir); err != nil {
			return fmt.Errorf("monpoly: %w", err)
		}
		if err := within(deadline, func(ctx context.Context) error { return q.check(ctx, e.cfg.Binary) }); err != nil {
			return fmt.Errorf("clause %s, formula %q: %w", p.clause, p.name, err)
		}
	}
	return nil
}

// Kind returns aspects.Temporal.
func (e *Engine) Kind() aspects.Kind { return aspects.Temporal }

// New returns the monitor of a trace without history. It starts no process.
func (e *Engine) New() aspects.Monitor { return e.monitor() }

func (e *Engine) monitor() *Monitor {
	return &Monitor{engine: e, record: newRecord(e.signature, e.reach, e.cfg.Kept)}
}

// Restore returns the monitor that AppendState encoded. It fails with ErrState on
// bytes of another version, engine or policy, and on damaged ones.
func (e *Engine) Restore(state []byte) (aspects.Monitor, error) {
	head := len(stateVersion) + len(e.digest)
	switch {
	case len(state) < head || string(state[:len(stateVersion)]) != stateVersion:
		return nil, fmt.Errorf("%w: it is of another version or engine: replay the trace from its log", ErrState)
	case [32]byte(state[len(stateVersion):head]) != e.digest:
		return nil, fmt.Errorf("%w: it was made under another policy: replay the trace from its log", ErrState)
	}
	m := e.monitor()
	if err := m.record.restore(state[head:]); err != nil {
		return nil, err
	}
	return m, nil
}

// Close stops the processes. Monitors of a closed engine are unavailable.
func (e *Engine) Close() error {
	e.pool.close()
	if err := os.RemoveAll(e.dir); err != nil {
		return fmt.Errorf("monpoly: %w", err)
	}
	return nil
}
