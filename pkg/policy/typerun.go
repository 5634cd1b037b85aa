package policy

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"github.com/aspis-rv/aspis/internal/records"
	"github.com/aspis-rv/aspis/internal/world"
	"github.com/aspis-rv/aspis/pkg/policy/internal/expr"
	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// typer is one computation of facts.
type typer struct {
	b        *Bundle
	ev       *schema.Event
	observe  bool
	atResult bool
	caller   schema.ActorClass // of the call of a result, when known
	tool     string            // of the event, or of the call of a result
	entry    *toolEntry        // of the tool, if it has one
	bound    bool              // the event is the result of a call that is at hand
	in       *expr.Input
	out      Typing

	opened bool // the result was read: tree, or unread says why not
	tree   records.Value
	unread error

	wanted    uint64 // the cue lists that the entry's rules look for, as bits
	sight     *sight // nil while no rule has looked at a text
	explain   bool   // gather the evidence
	asking    bool   // gather questions; out is of no use then
	questions []Question
}

// event types the event; call is that of a result, when it is at hand.
func (r *typer) event(call *schema.Event) {
	r.out.Mapped = true
	switch r.ev.Kind {
	case schema.KindResult:
		r.result(call)
	case schema.KindMessage:
		r.messageProvenance(r.b.typing.messages)
		r.run(r.ev.Tool, r.ev.Args)
	case schema.KindCall, schema.KindGrant, schema.KindObservation:
		r.run(r.ev.Tool, r.ev.Args)
	case schema.KindResolution, schema.KindTick, schema.KindPolicy, schema.KindSession, schema.KindWithdrawn:
	}
	r.finish()
}

// result types the event as the result of a call, nil when that is not at hand.
func (r *typer) result(call *schema.Event) {
	r.out.Mapped, r.atResult = true, true
	if r.ev.Status == schema.ResultError && call != nil {
		if e := r.b.typing.entries[call.Tool]; e != nil {
			r.errorProvenance(e.provenance)
		}
	}
	if r.ev.Status != schema.ResultOK {
		return
	}
	tool, args := r.ev.Tool, r.ev.Args
	if call != nil {
		tool, args, r.caller, r.bound = call.Tool, call.Args, call.Actor.Class, true
	}
	r.run(tool, args)
}

func (r *typer) run(tool string, args schema.Payload) {
	if tool == "" {
		return
	}
	t := &r.b.typing
	hits := t.classes.match(tool)
	entry := t.entries[tool]
	r.tool, r.entry = tool, entry
	if r.ev.Kind == schema.KindCall {
		r.out.Mapped = hits != 0 || entry != nil
	}
	if hits == 0 && entry == nil {
		return
	}
	r.out.Classes = t.classNames(hits)
	if entry != nil && !r.prepare(entry, args) {
		return
	}
	if g := r.ev.Grant; g != nil && (g.Revokes != "" || g.NotBefore > r.now()) {
		return
	}
	for rest := hits; rest != 0; rest &= rest - 1 {
		class := bits.TrailingZeros64(rest)
		r.emitAll(t.emitters[class], args)
		r.emitAll(t.effects[class], args)
	}
	if entry != nil {
		r.out.Documents, r.wanted = entry.documents, entry.wanted
		r.emitAll(entry.emitters, args)
		r.emitAll(entry.effects, args)
		if r.bound {
			r.resultProvenance(entry.provenance)
		}
	}
}

// now is the event's log time, or its producer's where no fold has set one.
func (r *typer) now() int64 {
	if r.ev.Timestamp != 0 {
		return r.ev.Timestamp
	}
	return r.ev.ClaimedTS
}

func (r *typer) emitAll(es []emitter, args schema.Payload) {
	for i := range es {
		e := &es[i]
		if e.atResult != r.atResult || (e.authority && !r.authorised()) || (e.rule != nil && r.b.typing.untyped) || r.suppressed(e) {
			continue
		}
		if e.eventOnly() && r.in == nil {
			r.emit(e, &expr.Input{Event: r.ev})
			continue
		}
		r.emitEach(e, r.input(args))
	}
}

// authorised reports whether facts that need an authority count here.
func (r *typer) authorised() bool {
	if r.observe && r.b.SelfAuthority != "" {
		return true
	}
	reported := r.ev.Vantage == schema.Reported && (r.ev.Kind == schema.KindMessage || r.ev.Kind == schema.KindResult)
	allowed := r.b.typing.authorities
	return !reported && (allowed[r.ev.Actor.Class] || (r.caller != "" && allowed[r.caller]))
}

// emitEach adds what an emitter makes, for each element of its list if it has one. An effect
// that fails for one of them is not made at all: what it would have written is unknown.
func (r *typer) emitEach(e *emitter, in *expr.Input) {
	edits := len(r.out.Edits)
	if e.each == nil {
		r.emit(e, in)
		return
	}
	items, err := e.each.List(in, MaxEach)
	if err != nil {
		r.uncertain(e, err)
		return
	}
	inner := *in
	inner.Name = e.name
	for _, item := range items {
		inner.Element = item
		if !r.emit(e, &inner) && e.operation != nil {
			r.out.Edits = r.out.Edits[:edits]
			return
		}
	}
}

// emit adds one fact, mark or edit if its condition holds. It reports false when that cannot
// be told.
func (r *typer) emit(e *emitter, in *expr.Input) bool {
	strength, holds := verdict.Definite, true
	switch {
	case e.rule != nil:
		in = e.bind(in)
		strength, holds = r.suspect(e, in)
	case e.when != nil:
		var err error
		if holds, err = e.when.Truth(in); err != nil {
			r.uncertain(e, err)
			return false
		}
	}
	if !holds {
		return true
	}
	if e.operation != nil {
		edit, err := e.edit(in)
		if err != nil {
			r.uncertain(e, err)
			return false
		}
		r.out.Edits = append(r.out.Edits, edit)
		return true
	}
	f := schema.Fact{Name: e.rel, Strength: strength}
	if len(e.args) > 0 {
		f.Args = make([]schema.Value, len(e.args))
	}
	for i, p := range e.args {
		v, err := p.Scalar(in, e.kinds[i])
		if err != nil {
			r.uncertain(e, err)
			return false
		}
		f.Args[i] = v
	}
	if r.explain && e.rule != nil {
		r.because(e, f)
	}
	if e.state {
		r.out.Edits = append(r.out.Edits, world.Edit{Op: world.Mark, Name: f.Name, Values: f.Args, Strength: strength})
		return true
	}
	r.out.Facts = append(r.out.Facts, f)
	return true
}

func (r *typer) uncertain(e *emitter, err error) {
	r.out.Uncertain = append(r.out.Uncertain, e.relations()...)
	r.out.Why = append(r.out.Why, fmt.Sprintf("%s (%s): %v", e.what(), e.place, err))
}

// finish adds the glob relations and brings facts into one order, each once: of a fact that is
// there twice, the definite one stays.
func (r *typer) finish() {
	if r.sight != nil {
		r.b.typing.cues.give(r.sight)
		r.sight = nil
	}
	if len(r.b.typing.globs) > 0 {
		r.out.Facts = globFacts(r.out.Facts, r.b.typing.globs)
	}
	if len(r.out.Facts) > 1 {
		slices.SortFunc(r.out.Facts, func(a, b schema.Fact) int {
			return cmp.Or(compareFacts(a, b), cmp.Compare(a.Strength, b.Strength))
		})
		r.out.Facts = slices.CompactFunc(r.out.Facts, func(a, b schema.Fact) bool { return compareFacts(a, b) == 0 })
	}
	r.out.Uncertain = unique(r.out.Uncertain)
	r.out.Degraded = slices.DeleteFunc(unique(r.out.Degraded), func(rel string) bool {
		_, worse := slices.BinarySearch(r.out.Uncertain, rel)
		return worse
	})
}

// compareFacts orders facts by name and arguments, whatever their strength.
func compareFacts(a, b schema.Fact) int {
	if c := strings.Compare(a.Name, b.Name); c != 0 {
		return c
	}
	return slices.CompareFunc(a.Args, b.Args, schema.Compare)
}
