package eval

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/aspis-rv/aspis/internal/compose"
	"github.com/aspis-rv/aspis/internal/corpus"
	"github.com/aspis-rv/aspis/internal/corpus/agentdojo"
	"github.com/aspis-rv/aspis/pkg/aspects"
	"github.com/aspis-rv/aspis/pkg/policy"
	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// The errors of setting an evaluation up: it would tabulate zeros.
var (
	// ErrNoClauses is returned for a bundle without a clause.
	ErrNoClauses = errors.New("the policy has no clauses")
	// ErrNoEngine is returned when no engine was given for an aspect that owns a
	// formula of the bundle.
	ErrNoEngine = errors.New("no engine for an aspect of the policy")
)

// Options say how a corpus is evaluated.
type Options struct {
	// Engines are the monitors' engines, made for the bundle: one for each aspect that
	// owns a formula of it. They are used from several goroutines.
	Engines []aspects.Engine
	// Convention is echoed in the table; empty means Both.
	Convention Convention
	// Workers is the number of runs replayed at a time, 0 for one per core. It never
	// shows in the output.
	Workers int
}

// AgentDojo replays every AgentDojo run below the paths (folders or archives, see
// package agentdojo) under the bundle and returns the table. Time is linear in the
// number of events; memory does not grow with the corpus, but for the runs' names.
func AgentDojo(ctx context.Context, paths []string, bundle *policy.Bundle, o Options) (*Table, error) {
	r, err := newReplayer(bundle, o.Engines)
	if err != nil {
		return nil, err
	}
	var report corpus.Report
	tally := newTally(clauseIDs(bundle))
	for out, err := range agentdojo.Map(ctx, paths, agentdojo.Options{Workers: o.Workers, Report: &report}, r.run) {
		if err != nil {
			return nil, fmt.Errorf("eval: %w", err)
		}
		tally.add(out)
	}
	table := tally.table()
	table.Convention = o.Convention
	if o.Convention == "" {
		table.Convention = Both
	}
	table.Policy, table.Revision = bundle.Name, bundle.Revision
	table.Quirks = report.Findings()
	return table, nil
}

func clauseIDs(b *policy.Bundle) []string {
	ids := make([]string, len(b.Clauses))
	for i := range b.Clauses {
		ids[i] = b.Clauses[i].ID
	}
	return ids
}

// replayer runs recorded traces through the monitors. It is immutable and safe for
// concurrent use; each run has monitors of its own.
type replayer struct {
	bundle  *policy.Bundle
	engines []aspects.Engine
}

func newReplayer(bundle *policy.Bundle, engines []aspects.Engine) (*replayer, error) {
	if len(bundle.Clauses) == 0 {
		return nil, fmt.Errorf("eval: %w: %q; choose another", ErrNoClauses, bundle.Name)
	}
	for _, kind := range compose.Aspects(bundle, compose.Options{}) {
		if !slices.ContainsFunc(engines, func(e aspects.Engine) bool { return e.Kind() == kind }) {
			return nil, fmt.Errorf("eval: %w: %s, of %q; take its clauses out", ErrNoEngine, kind, bundle.Name)
		}
	}
	return &replayer{bundle: bundle, engines: engines}, nil
}

// run replays one run: each event is typed, judged when it is a call, and adopted
// whatever the verdict. A clause fires on a call when its value is a violation,
// definite or presumptive.
func (r *replayer) run(run *agentdojo.Run) (outcome, error) {
	out, call := outcomeOf(run, len(r.bundle.Clauses)), 0
	monitors := make([]aspects.Monitor, len(r.engines))
	for i, e := range r.engines {
		monitors[i] = e.New()
	}
	for i, ev := range run.Events() {
		typing := r.bundle.Type(ev, true)
		// The corpus has no times: the time points stand one nanosecond apart.
		in := aspects.Input{
			TimePoint: uint64(i), Timestamp: int64(i), Offset: uint64(i),
			Event: ev, Facts: typing.Facts, Evidence: verdict.Sound,
		}
		if ev.Kind == schema.KindCall {
			r.judge(monitors, in, typing, func(clause int) { out.fire(clause, call) })
			call++
		}
		for _, m := range monitors {
			m.Adopt(in)
		}
	}
	return out, nil
}

// judge composes the verdict on one call and reports the clauses that fire.
func (r *replayer) judge(monitors []aspects.Monitor, in aspects.Input, typing policy.Typing, fire func(clause int)) {
	verdicts := make([]*schema.Verdict, len(monitors))
	for i, m := range monitors {
		verdicts[i] = &schema.Verdict{Aspect: string(r.engines[i].Kind()), Parts: m.Judge(in)}
	}
	d := compose.Decide(&compose.Input{Bundle: r.bundle, Typing: typing, Verdicts: verdicts})
	for i := range d.Clauses {
		if d.Clauses[i].Value < verdict.Fp {
			continue
		}
		fire(slices.IndexFunc(r.bundle.Clauses, func(c policy.Clause) bool { return c.ID == d.Clauses[i].ID }))
	}
}
