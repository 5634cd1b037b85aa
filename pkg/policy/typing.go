package policy

import (
	"fmt"
	"maps"
	"math/bits"
	"slices"

	"github.com/aspis-rv/aspis/internal/diag"
	"github.com/aspis-rv/aspis/pkg/policy/internal/source"
	"github.com/aspis-rv/aspis/pkg/schema"
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

// place writes where a node stands, for explanations.
func place(n *source.Node) string {
	return fmt.Sprintf("%s:%d:%d", n.File().Name, n.Span().Start.Line, n.Span().Start.Col)
}

// Sources returns the texts of the bundle's YAML files, for showing diagnostics and
// explanations with the lines they speak of.
func (b *Bundle) Sources() diag.Sources { return maps.Clone(b.sources) }
