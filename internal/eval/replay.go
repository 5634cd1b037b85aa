package eval

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

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
	// Provenance is the bundle that answers the parametric questions (see Asks), and
	// ProvenanceEngines are its engines. Without it they are not asked.
	Provenance        *policy.Bundle
	ProvenanceEngines []aspects.Engine
	// Convention says how lists of recipients are read, and is echoed in the table; empty means Both.
	Convention Convention
	// Workers is the number of runs replayed at a time, 0 for one per core. It never
	// shows in the output.
	Workers int
}

// AgentDojo replays every AgentDojo run below the paths (folders or archives, see
// package agentdojo) under the bundle and returns the table. Time is linear in the
// number of events; memory does not grow with the corpus, but for the runs' names.
func AgentDojo(ctx context.Context, paths []string, bundle *policy.Bundle, o Options) (*Table, error) {
	if o.Convention == "" {
		o.Convention = Both
	}
	e, err := newEvaluation(bundle, o)
	if err != nil {
		return nil, err
	}
	var report corpus.Report
	for out, err := range agentdojo.Map(ctx, paths, agentdojo.Options{Workers: o.Workers, Report: &report}, e.run) {
		if err != nil {
			return nil, fmt.Errorf("eval: %w", err)
		}
		e.add(out)
	}
	table := e.table()
	table.Convention = o.Convention
	table.Policy, table.Revision = bundle.Name, bundle.Revision
	table.Quirks = report.Findings()
	return table, nil
}

// evaluation is everything that is asked of a corpus. Its method run is safe for
// concurrent use, the others are not.
type evaluation struct {
	generic *replayer
	tally   *tally
	asking  *interrogator // nil: nothing parametric is asked
	survey  *survey
	docket  *docket // of the bundle that is asked
}

func newEvaluation(bundle *policy.Bundle, o Options) (*evaluation, error) {
	generic, err := newReplayer(bundle, o.Engines)
	if err != nil {
		return nil, err
	}
	e := &evaluation{generic: generic, tally: newTally(clauseIDs(bundle))}
	if o.Provenance == nil {
		return e, nil
	}
	r, err := newReplayer(o.Provenance, o.ProvenanceEngines)
	if err != nil {
		return nil, err
	}
	e.asking = newInterrogator(r, o.Convention)
	e.survey, e.docket = newSurvey(e.asking), newDocket()
	return e, nil
}

// findings is what was found out about one run.
type findings struct {
	outcome outcome
	answers *answers
	judged  *judgement
}

func (e *evaluation) run(run *agentdojo.Run) (findings, error) {
	out := e.generic.run(run)
	if e.asking == nil {
		return findings{outcome: out}, nil
	}
	a, err := e.asking.ask(run)
	return findings{outcome: out, answers: a, judged: e.asking.judgement(run)}, err
}

func (e *evaluation) add(f findings) {
	e.tally.add(f.outcome)
	if e.survey != nil {
		e.survey.add(&f.outcome, f.answers)
		e.docket.add(f.judged)
	}
}

func (e *evaluation) table() *Table {
	table := e.tally.table()
	if e.survey != nil {
		table.Provenance = e.asking.bundle.Name
		table.Parametric, table.Planting = e.survey.parametric, e.survey.planting
		table.Combined = e.docket.combined(e.asking.bundle.Name)
	}
	return table
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

// firing is what a clause says of one call.
type firing struct {
	clause int              // index in the bundle
	step   int              // of the call, among the run's steps
	call   int              // of the call, in the tool chain
	rows   []compose.Firing // the bindings; sorted as the monitors give them
}

// run replays one run. A clause fires on a call when its value is a violation, definite
// or presumptive.
func (r *replayer) run(run *agentdojo.Run) outcome {
	out := outcomeOf(run, len(r.bundle.Clauses))
	for i := range r.bundle.Clauses {
		out.shadow[i] = r.bundle.Clauses[i].Shadow
	}
	r.replay(run, func(f firing) bool {
		out.fire(f.clause, f.call)
		return true
	})
	return out
}

// replay visits the firings of a run in the order of the calls and, on one call, of the
// bundle's clauses, until visit returns false.
func (r *replayer) replay(run *agentdojo.Run, visit func(firing) bool) {
	call := 0
	r.calls(run, func(step int, in *compose.Input) bool {
		d := compose.Decide(in)
		for c := range d.Clauses {
			if d.Clauses[c].Value < verdict.Fp {
				continue
			}
			if !visit(firing{clause: indexOf(r.bundle, d.Clauses[c].ID), step: step, call: call, rows: d.Clauses[c].Firings}) {
				return false
			}
		}
		call++
		return true
	})
}

// calls gives each event to the monitors: it is typed, a result with its call at hand;
// judged when it is a call; and adopted whatever the verdict. What is to be decided on each
// call is visited, with the index of its step, until visit returns false.
func (r *replayer) calls(run *agentdojo.Run, visit func(step int, in *compose.Input) bool) {
	monitors := make([]aspects.Monitor, len(r.engines))
	for i, e := range r.engines {
		monitors[i] = e.New()
	}
	h := history{calls: make(map[string]proposed)}
	for i, ev := range run.Events() {
		in, typing := r.input(&h, i, ev)
		if ev.Kind == schema.KindCall && !visit(i, r.judge(monitors, in, typing)) {
			return
		}
		for _, m := range monitors {
			m.Adopt(in)
		}
		h.remember(i, ev, typing)
	}
}

// history is what typing and judging need of the events before.
type history struct {
	calls     map[string]proposed
	uncertain []aspects.Uncertain // sorted by relation
}

// proposed is a call and the name under which monitors keep its effects.
type proposed struct {
	event *schema.Event
	name  string
}

// remember takes an adopted event in.
func (h *history) remember(i int, ev *schema.Event, typing policy.Typing) {
	if ev.Kind == schema.KindCall {
		h.calls[ev.CallID] = proposed{event: ev, name: strconv.Itoa(i)}
	}
	for _, relation := range typing.Uncertain {
		h.doubt(aspects.Uncertain{Relation: relation, At: int64(i)})
	}
	for _, relation := range typing.Degraded {
		h.doubt(aspects.Uncertain{Relation: relation, At: int64(i), Degraded: true})
	}
}

// doubt keeps the latest unknown and the latest degraded fact of each relation. The slice
// may be a monitor's: it is replaced, not changed.
func (h *history) doubt(u aspects.Uncertain) {
	next := slices.Clone(h.uncertain)
	same := func(have aspects.Uncertain) bool { return have.Relation == u.Relation && have.Degraded == u.Degraded }
	if at := slices.IndexFunc(next, same); at >= 0 {
		next[at].At = u.At
	} else {
		next = append(next, u)
		slices.SortStableFunc(next, func(a, b aspects.Uncertain) int { return strings.Compare(a.Relation, b.Relation) })
	}
	h.uncertain = next
}

// input types one event. The corpus has no times: the time points stand one nanosecond
// apart.
func (r *replayer) input(h *history, i int, ev *schema.Event) (aspects.Input, policy.Typing) {
	call, bound := h.calls[ev.CallID]
	var typing policy.Typing
	if ev.Kind == schema.KindResult && bound {
		typing = r.bundle.TypeResult(call.event, ev, true)
	} else {
		typing = r.bundle.Type(ev, true)
	}
	in := aspects.Input{
		TimePoint: uint64(i), Timestamp: int64(i), Offset: uint64(i),
		Event: ev, Facts: typing.Facts, Evidence: verdict.Sound, Uncertain: h.uncertain,
		Edits: typing.Edits, Documents: typing.Documents,
	}
	if r.bundle.World == nil {
		return in, typing
	}
	if ev.Kind == schema.KindCall {
		in.Call = strconv.Itoa(i)
	}
	if ev.Kind == schema.KindResult && bound {
		in.Ended = aspects.Ended{Call: call.name, Outcome: ended(ev.Status)}
	}
	return in, typing
}

// ended says what becomes of the effects of a call with that result.
func ended(s schema.ResultStatus) aspects.Outcome {
	switch s {
	case schema.ResultOK:
		return aspects.EffectsStay
	case schema.ResultError:
		return aspects.EffectsGo
	case schema.ResultUnknown:
		return aspects.EffectsDoubt
	}
	return 0
}

// judge collects what the decision on one call is composed of.
func (r *replayer) judge(monitors []aspects.Monitor, in aspects.Input, typing policy.Typing) *compose.Input {
	verdicts := make([]*schema.Verdict, len(monitors))
	for i, m := range monitors {
		verdicts[i] = &schema.Verdict{Aspect: string(r.engines[i].Kind()), Parts: m.Judge(in)}
	}
	return &compose.Input{Bundle: r.bundle, Typing: typing, Verdicts: verdicts}
}
