package policy

import (
	"cmp"
	"fmt"
	"maps"
	"math/bits"
	"slices"
	"strings"

	"github.com/aspis-rv/aspis/internal/diag"
	"github.com/aspis-rv/aspis/internal/records"
	"github.com/aspis-rv/aspis/internal/world"
	"github.com/aspis-rv/aspis/pkg/policy/internal/expr"
	"github.com/aspis-rv/aspis/pkg/policy/internal/source"
	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// typing is the compiled part of a bundle that turns events into facts.
type typing struct {
	entries     map[string]*toolEntry
	classes     *matcher
	emitters    [][]emitter // per class
	effects     [][]emitter // per class
	untyped     bool        // typing rules make nothing
	globs       []globRelation
	authorities map[schema.ActorClass]bool
	fromResult  map[string][]string // relation → tools
	cues        *cues
	classifiers []Classifier
	messages    []provenance // what messages contribute
	textLimit   int          // how many bytes of a text typing rules look at
}

// seal completes the typing once everything is read.
func (t *typing) seal(b *Bundle, classes []class) {
	t.classes = newMatcher(classes)
	t.emitters = make([][]emitter, 0, len(classes))
	t.authorities = map[schema.ActorClass]bool{}
	for _, c := range b.Authorities {
		t.authorities[c] = true
	}
	t.fromResult = map[string][]string{}
	for _, c := range classes {
		t.emitters = append(t.emitters, c.emitters)
		t.effects = append(t.effects, c.effects)
	}
	t.noteDischarging(b)
	for _, name := range slices.Sorted(maps.Keys(t.entries)) {
		for _, e := range t.entries[name].emitters {
			if e.atResult && !slices.Contains(t.fromResult[e.rel], name) {
				t.fromResult[e.rel] = append(t.fromResult[e.rel], name)
			}
		}
		for _, p := range t.entries[name].provenance {
			t.fromResult[p.rel] = append(t.fromResult[p.rel], name)
		}
	}
}

// DischargesFromResult lists, sorted, the tools whose ok result can supply a fact
// of the relation: a call that lacks such a fact may wait for a call of one of
// them that is in flight. Classes whose facts come with the result are not listed
// by tool; see ResultSupplies.
func (b *Bundle) DischargesFromResult(rel string) []string {
	return slices.Clone(b.typing.fromResult[rel])
}

// ResultSupplies reports whether the ok result of a call of the tool can supply a
// fact of the relation.
func (b *Bundle) ResultSupplies(tool, rel string) bool {
	gives := func(es []emitter) bool {
		return slices.ContainsFunc(es, func(e emitter) bool { return e.atResult && e.rel == rel })
	}
	if e := b.typing.entries[tool]; e != nil && (gives(e.emitters) || slices.ContainsFunc(e.provenance, func(p provenance) bool { return p.rel == rel })) {
		return true
	}
	for hits := b.typing.classes.match(tool); hits != 0; hits &= hits - 1 {
		if gives(b.typing.emitters[bits.TrailingZeros64(hits)]) {
			return true
		}
	}
	return false
}

// ResultRelations lists, sorted, the relations of which the ok result of a call of the
// tool can supply a fact, or of which it can change tuples by an effect on the world. Other
// results supply none.
func (b *Bundle) ResultRelations(tool string) []string {
	var out []string
	add := func(es []emitter) {
		for _, e := range es {
			if e.atResult {
				out = append(out, e.relations()...)
			}
		}
	}
	if e := b.typing.entries[tool]; e != nil {
		add(e.emitters)
		add(e.effects)
		for _, p := range e.provenance {
			out = append(out, p.rel)
		}
	}
	for hits := b.typing.classes.match(tool); hits != 0; hits &= hits - 1 {
		add(b.typing.emitters[bits.TrailingZeros64(hits)])
		add(b.typing.effects[bits.TrailingZeros64(hits)])
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Classes lists the classes of a tool name in the order of the bundle.
func (b *Bundle) Classes(tool string) []string {
	return b.typing.classNames(b.typing.classes.match(tool))
}

// Type computes the facts of an event at its time point. It is a pure function of
// the bundle and the event. With observe set, facts that need an authority count
// whoever caused them if the bundle accepts self-authority.
//
// A fact that needs an authority counts when the actor's class is one of the
// bundle's authorities; in a message or a result it must moreover have been seen by
// someone else than the agent (vantage above reported).
//
// A result is typed by the entry of its Tool, with its own Args as the arguments of
// the call; see TypeResult where the call is at hand. A grant that revokes another,
// or that is valid only from a later time on, makes no facts.
func (b *Bundle) Type(ev *schema.Event, observe bool) Typing {
	run := typer{b: b, ev: ev, observe: observe}
	run.event(nil)
	return run.out
}

// TypeResult is Type for a result whose call is at hand: tool and arguments are the
// call's, and an authority that made the call is an authority for its facts too.
func (b *Bundle) TypeResult(call, result *schema.Event, observe bool) Typing {
	run := typer{b: b, ev: result, observe: observe}
	run.result(call)
	run.finish()
	return run.out
}

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

// classNames turns bits into names.
func (t *typing) classNames(hits uint64) []string {
	if hits == 0 {
		return nil
	}
	if i := bits.TrailingZeros64(hits); hits == 1<<i {
		return t.classes.names[i : i+1 : i+1]
	}
	var out []string
	for ; hits != 0; hits &= hits - 1 {
		out = append(out, t.classes.names[bits.TrailingZeros64(hits)])
	}
	return out
}

// prepare checks the arguments of a call against the entry. It reports false when
// the event is invalid.
func (r *typer) prepare(e *toolEntry, args schema.Payload) bool {
	if !e.declares && e.refuse == nil {
		return true
	}
	in := r.input(args)
	if e.declares && in.Args != nil {
		checked, problem := e.check(in.Args)
		if problem != "" && !r.atResult {
			r.out.Invalid = problem
			return false
		}
		in.Args = checked
	} else if e.declares && args.Status != schema.PayloadWithheld && !r.atResult {
		r.out.Invalid = "the arguments are not a readable object"
		return false
	}
	if e.refuse == nil || r.atResult {
		return true
	}
	contradicts, err := e.refuse.Truth(in)
	switch {
	case err != nil && args.Status == schema.PayloadWithheld:
		return true // nothing is known of the arguments; their facts are uncertain
	case err != nil:
		r.out.Invalid = fmt.Sprintf("whether the call contradicts itself (%s) cannot be told: %v", e.why, err)
	case contradicts:
		r.out.Invalid = "the call contradicts itself: " + e.why
	}
	return r.out.Invalid == ""
}

// check coerces arguments to their declared types and fills in defaults. The text
// names every problem, sorted by argument.
func (e *toolEntry) check(args *expr.Object) (*expr.Object, string) {
	var problems []string
	out := args
	for _, p := range e.params {
		v, given := args.Lookup(p.name)
		if given && expr.IsNull(v) && p.fallback != nil {
			given = false // null for an argument with a default says the default
		}
		switch {
		case !given && p.fallback == nil:
			problems = append(problems, fmt.Sprintf("argument %q is missing", p.name))
			continue
		case !given:
			out = out.With(p.name, p.fallback)
			continue
		}
		coerced, problem := p.typ.Coerce(v)
		if problem != "" {
			problems = append(problems, fmt.Sprintf("argument %q %s", p.name, problem))
			continue
		}
		out = out.With(p.name, coerced)
	}
	for _, key := range args.Keys() {
		if !slices.ContainsFunc(e.params, func(p param) bool { return p.name == key }) {
			problems = append(problems, fmt.Sprintf("argument %q is not declared", key))
		}
	}
	return out, strings.Join(problems, "; ")
}

// input decodes what expressions read, once.
func (r *typer) input(args schema.Payload) *expr.Input {
	if r.in != nil {
		return r.in
	}
	r.in = &expr.Input{Event: r.ev}
	switch args.Status {
	case schema.PayloadOK:
		if v, err := expr.Decode(args.Canon); err == nil {
			r.in.Args, _ = v.(*expr.Object)
		}
	case schema.PayloadAbsent:
		if !r.atResult {
			r.in.Args = &expr.Object{}
		}
	case schema.PayloadWithheld, schema.PayloadMalformed:
	}
	if r.atResult {
		r.in.Result = r.resultValue()
	}
	return r.in
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

// place writes where a node stands, for explanations.
func place(n *source.Node) string {
	return fmt.Sprintf("%s:%d:%d", n.File().Name, n.Span().Start.Line, n.Span().Start.Col)
}

// Sources returns the texts of the bundle's YAML files, for showing diagnostics and
// explanations with the lines they speak of.
func (b *Bundle) Sources() diag.Sources { return maps.Clone(b.sources) }
