package check

import (
	"fmt"
	"runtime/debug"
	"slices"

	"github.com/aspis-rv/aspis/internal/diag"
	"github.com/aspis-rv/aspis/internal/lang/syntax"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// Options says how to check a formula. The zero value checks a formula of a bundle
// that need not be judged on an event, such as a guard.
type Options struct {
	// Mode is the dialect in which hints are written.
	Mode syntax.Mode
	// File is the name diagnostics carry.
	File string
	// Forbid says that the formula is a violation to be found at an event: it must
	// have an anchor.
	Forbid bool
	// BuiltIn adds the relations of BuiltIn to the signature, where it does not
	// declare them itself.
	BuiltIn bool
	// Future admits the operators that look at later time points: NEXT, and EVENTUALLY,
	// ALWAYS and UNTIL with an upper bound. The verdict then comes Checked.Horizon late.
	Future bool
	// Names are names of other things than relations that a misspelt relation may have
	// meant, such as formulas that were already written out.
	Names []string
	// World is the set of those relations of the signature that are state of the world and
	// no facts. With it NEW and AT may be used: the formula goes to an aspect that keeps a
	// model of the world. Where it is nil there is none.
	World map[string]bool
}

// Check checks a formula against a signature. The result is nil exactly when the
// list has errors; warnings may come with a result. The list is sorted by position.
// Check never panics and changes neither argument.
func Check(f syntax.Formula, sig Signature, opts Options) (*Checked, diag.List) {
	return check(f, sig, opts, true)
}

// check is Check; with repair unset it searches for no repairs, which are
// themselves checked by it.
func check(f syntax.Formula, sig Signature, opts Options, repair bool) (c *Checked, diags diag.List) {
	w := &work{source: f, sig: sig, opts: opts, repair: repair}
	defer func() {
		if fault := recover(); fault != nil {
			w.internal(fault, debug.Stack())
			c, diags = nil, w.diags.Sorted()
		}
	}()
	for _, s := range stages() {
		if s.needsClean && w.diags.HasErrors() {
			return nil, w.diags.Sorted()
		}
		s.run(w)
	}
	if w.diags.HasErrors() {
		return nil, w.diags.Sorted()
	}
	return w.result, w.diags.Sorted()
}

// work is what the stages hand on. Each field is written by one stage, or by those
// that are said.
type work struct {
	source syntax.Formula
	sig    Signature
	opts   Options
	repair bool
	diags  diag.List

	futures int // operators: how many future ones were reported

	scoped syntax.Formula               // variables
	lets   map[*syntax.Pred]*syntax.Let // variables: what a predicate in scoped stands for
	// written and kinds: a name in scoped → as written, and its type. Definitions adds
	// the names in inlined.
	written map[string]string
	kinds   map[string]schema.ValueKind
	inlined syntax.Formula             // definitions
	placed  map[misplaced]bool         // world: what was reported
	plain   syntax.Formula             // desugar
	core    syntax.Formula             // safe-range
	located map[syntax.Formula]outcome // safe-range: location formulas and what they became
	// apart and coreKinds: the core with names apart, and the types of all names in it.
	apart     syntax.Formula
	coreKinds map[string]schema.ValueKind
	result    *Checked // facts
}

// stage is one step of the check.
type stage struct {
	name string
	run  func(*work)
	// needsClean stops the check before the stage when there are errors.
	needsClean bool
}

// stages lists the steps in their order.
func stages() []stage {
	return []stage{
		{"relations", (*work).checkRelations, false}, // first, so that later stages may skip what is undeclared
		{"operators", (*work).checkOperators, false},
		{"variables", (*work).scopeVariables, false}, // before types: one name is then one variable
		{"types", (*work).inferTypes, false},         // the last of those that report side by side
		{"definitions", (*work).inlineLets, true},    // after types: a definition has one type everywhere
		{"world", (*work).checkWorld, false},         // what stands inside of NEW and AT, definitions included
		{"desugar", (*work).desugar, true},           // folds comparisons of constants, so after types
		{"safe-range", (*work).makeCore, true},       // on few operators, so after desugar
		{"names", (*work).renameApart, true},         // quantifiers the core has more than once
		{"facts", (*work).collectFacts, true},        // reads the core
		{"clause", (*work).checkClause, true},        // reads the facts
	}
}

func (w *work) add(d diag.Diagnostic) {
	d.File = w.opts.File
	w.diags = append(w.diags, d)
}

func (w *work) internal(fault any, stack []byte) {
	d := diag.Diagnostic{
		Code: CodeInternal, Message: fmt.Sprintf("internal error: %v", fault),
		Hint: "this is a fault in the checker, please report it with the formula\n" + string(stack),
	}
	if w.source != nil {
		d.Span = w.source.Span()
	}
	w.add(d)
}

// checkRelations reports relations that are not declared or have another arity.
func (w *work) checkRelations() { w.relationsIn(w.source, nil, false) }

// letRelations lists the relations that LETs declare, innermost first.
type letRelations struct {
	let   *syntax.Let
	outer *letRelations
}

func (w *work) relationsIn(f syntax.Formula, lets *letRelations, inAt bool) {
	switch f := f.(type) {
	case *syntax.Pred:
		w.checkRelation(f, lets, inAt)
	case *syntax.Let:
		w.relationsIn(f.Def, lets, inAt)
		w.relationsIn(f.Body, &letRelations{f, lets}, inAt)
	case *syntax.At:
		w.relationsIn(f.F, lets, true)
	case *syntax.Bool, *syntax.Cmp, *syntax.Match, *syntax.Not, *syntax.And, *syntax.Or, *syntax.Implies, *syntax.Equiv,
		*syntax.Exists, *syntax.Forall, *syntax.Agg, *syntax.New, *syntax.Prev, *syntax.Once, *syntax.Historically,
		*syntax.Since, *syntax.Next, *syntax.Eventually, *syntax.Always, *syntax.Until,
		*syntax.Label, *syntax.Somewhere, *syntax.Everywhere, *syntax.Escape, *syntax.Reach, *syntax.Surround:
		for _, c := range syntax.Children(f) {
			w.relationsIn(c, lets, inAt)
		}
	}
}

func (w *work) checkRelation(p *syntax.Pred, lets *letRelations, inAt bool) {
	for l := lets; l != nil; l = l.outer {
		if l.let.Name == p.Name {
			if len(l.let.Params) != len(p.Args) {
				w.add(wrongArity(p, len(l.let.Params), definitionOf(l.let)))
			}
			return
		}
	}
	kinds, ok := w.relation(p.Name)
	switch {
	case !ok:
		w.add(unknownRelation(p, w.relationNames(lets), inAt, w.opts))
	case len(kinds) != len(p.Args):
		w.add(wrongArity(p, len(kinds), signatureOf(p.Name, kinds)))
	}
}

// relation returns a relation's argument types.
func (w *work) relation(name string) ([]schema.ValueKind, bool) {
	if kinds, ok := w.sig[name]; ok {
		return kinds, true
	}
	if w.opts.BuiltIn {
		kinds, ok := BuiltIn()[name]
		return kinds, ok
	}
	return nil, false
}

// isBuiltIn tells whether the name stands for a built-in relation.
func (w *work) isBuiltIn(name string) bool {
	_, declared := w.sig[name]
	_, builtIn := BuiltIn()[name]
	return w.opts.BuiltIn && builtIn && !declared
}

// relationNames lists what there is besides the relation that is not.
func (w *work) relationNames(lets *letRelations) []string {
	names := slices.Clone(w.opts.Names)
	for l := lets; l != nil; l = l.outer {
		names = append(names, l.let.Name)
	}
	for name := range w.sig {
		names = append(names, name)
	}
	if w.opts.BuiltIn {
		for name := range BuiltIn() {
			names = append(names, name)
		}
	}
	return names
}
