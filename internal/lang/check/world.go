package check

import (
	"slices"

	"github.com/aspis-rv/aspis/internal/diag"
	"github.com/aspis-rv/aspis/internal/lang/syntax"
)

// checkWorld reports what cannot stand inside of NEW, which compares two states of the
// world, inside of AT, which speaks of a vertex, and below PREVIOUS. Definitions are in
// place, so that what they say counts where they are used.
func (w *work) checkWorld() {
	if w.opts.World == nil {
		return
	}
	w.placed = map[misplaced]bool{}
	w.worldIn(w.inlined, below{})
}

// below says what a sub-formula stands below: the innermost one of each, or nil.
type below struct {
	change *syntax.New
	vertex *syntax.At
	step   *syntax.Prev // with no NEW between
}

// misplaced is what is reported once, however often a definition is used.
type misplaced struct {
	code diag.Code
	at   diag.Span
}

func (w *work) worldIn(f syntax.Formula, in below) {
	if d, ok := w.outOfPlace(f, in); ok {
		if key := (misplaced{d.Code, d.Span}); !w.placed[key] {
			w.placed[key] = true
			w.add(d)
		}
		return // what is inside has the same repair
	}
	switch f := f.(type) {
	case *syntax.New:
		in.change, in.step = f, nil
	case *syntax.At:
		in.vertex = f
	case *syntax.Prev:
		in.step = f
	case *syntax.Bool, *syntax.Pred, *syntax.Cmp, *syntax.Match, *syntax.Not, *syntax.And, *syntax.Or, *syntax.Implies,
		*syntax.Equiv, *syntax.Exists, *syntax.Forall, *syntax.Agg, *syntax.Let, *syntax.Once, *syntax.Historically,
		*syntax.Since, *syntax.Next, *syntax.Eventually, *syntax.Always, *syntax.Until,
		*syntax.Label, *syntax.Somewhere, *syntax.Everywhere, *syntax.Escape, *syntax.Reach, *syntax.Surround:
	}
	for _, c := range syntax.Children(f) {
		w.worldIn(c, in)
	}
}

// outOfPlace says what is wrong with the outermost operator of f where it stands.
func (w *work) outOfPlace(f syntax.Formula, in below) (diag.Diagnostic, bool) {
	within := in.change != nil || in.vertex != nil
	switch f := f.(type) {
	case *syntax.Pred:
		switch {
		case within && !w.opts.World[f.Name]:
			return factInWorld(w.asWritten(f), in), true
		case in.step != nil && w.opts.World[f.Name]:
			return pastWorld(w.asWritten(f)), true
		}
	case *syntax.At:
		switch {
		case in.vertex != nil:
			return atInAt(w.asWritten(f)), true
		case in.step != nil:
			return pastWorld(w.asWritten(f)), true
		}
	case *syntax.New:
		if within {
			return newInside(w.asWritten(f), in), true
		}
	case *syntax.Agg:
		if within {
			return aggregationInside(w.asWritten(f), in), true
		}
	case *syntax.Prev, *syntax.Once, *syntax.Historically, *syntax.Since, *syntax.Next, *syntax.Eventually,
		*syntax.Always, *syntax.Until:
		if within {
			return temporalInside(w.asWritten(f), in), true
		}
	case *syntax.Bool, *syntax.Cmp, *syntax.Match, *syntax.Not, *syntax.And, *syntax.Or, *syntax.Implies, *syntax.Equiv,
		*syntax.Exists, *syntax.Forall, *syntax.Let,
		*syntax.Label, *syntax.Somewhere, *syntax.Everywhere, *syntax.Escape, *syntax.Reach, *syntax.Surround:
	}
	return diag.Diagnostic{}, false
}

// everyPoint warns of states of the world that an operator looks at, at every time point,
// because nothing beside them ties them to an event. It reads the desugared formula.
func (w *work) everyPoint(a *analysis) {
	if w.opts.World == nil {
		return
	}
	warned := map[diag.Span]bool{}
	seen := map[syntax.Formula]bool{}
	warn := func(op, operand syntax.Formula) {
		if state := w.stateIn(operand); state != nil && !warned[state.Span()] {
			warned[state.Span()] = true
			w.add(stateAtEveryPoint(w.asWritten(state), operatorOf(op)))
		}
	}
	var visit func(f syntax.Formula)
	visit = func(f syntax.Formula) {
		if seen[f] {
			return
		}
		seen[f] = true
		switch f := f.(type) {
		case *syntax.Once:
			if len(a.anchors(f.F)) == 0 {
				warn(f, f.F)
			}
		case *syntax.Since:
			if len(a.anchors(f.Right)) == 0 {
				warn(f, f.Right)
			}
			if not, ok := f.Left.(*syntax.Not); len(a.anchors(f.Left)) == 0 && (!ok || len(a.anchors(not.F)) == 0) {
				warn(f, f.Left)
			}
		case *syntax.Bool, *syntax.Pred, *syntax.Cmp, *syntax.Match, *syntax.Not, *syntax.And, *syntax.Or, *syntax.Implies,
			*syntax.Equiv, *syntax.Exists, *syntax.Forall, *syntax.Agg, *syntax.Let, *syntax.New, *syntax.Prev,
			*syntax.Historically, *syntax.Next, *syntax.Eventually, *syntax.Always, *syntax.Until,
			*syntax.At, *syntax.Label, *syntax.Somewhere, *syntax.Everywhere, *syntax.Escape, *syntax.Reach, *syntax.Surround:
		}
		for _, c := range syntax.Children(f) {
			visit(c)
		}
	}
	visit(w.plain)
}

// stateIn returns the first state of the world that f reads at its own time point, and not
// inside of NEW, or nil.
func (w *work) stateIn(f syntax.Formula) syntax.Formula {
	var found syntax.Formula
	syntax.Walk(f, func(g syntax.Formula) bool {
		_, temporal := intervalOf(g)
		_, change := g.(*syntax.New)
		if found != nil || temporal || change {
			return false
		}
		p, pred := g.(*syntax.Pred)
		if _, at := g.(*syntax.At); at || pred && w.opts.World[p.Name] {
			found = g
		}
		return found == nil
	})
	return found
}

// changed proposes a violation that is a change of the world, in the place of the formula,
// which is a state of it. It returns nil if there is none that passes the check.
func (w *work) changed() syntax.Formula {
	if !w.repair || newMeasure().size(w.source) > maxRepairSize {
		return nil
	}
	var states, others []syntax.Formula
	for _, c := range conjuncts(w.source) {
		if w.isState(c) {
			states = append(states, c)
		} else {
			others = append(others, c)
		}
	}
	if len(states) == 0 {
		return nil
	}
	f := joined(syntax.Node{}, append([]syntax.Formula{&syntax.New{F: joined(syntax.Node{}, states)}}, others...))
	if _, diags := check(f, w.sig, w.opts, false); diags.HasErrors() {
		return nil
	}
	return f
}

// isState tells whether f, as written, reads the world and nothing else.
func (w *work) isState(f syntax.Formula) bool {
	reads, only := false, true
	syntax.Walk(f, func(g syntax.Formula) bool {
		_, temporal := intervalOf(g)
		switch g := g.(type) {
		case *syntax.Pred:
			reads = reads || w.opts.World[g.Name]
			only = only && w.opts.World[g.Name]
		case *syntax.At:
			reads = true
		case *syntax.New, *syntax.Agg, *syntax.Let:
			only = false
		case *syntax.Bool, *syntax.Cmp, *syntax.Match, *syntax.Not, *syntax.And, *syntax.Or, *syntax.Implies, *syntax.Equiv,
			*syntax.Exists, *syntax.Forall, *syntax.Prev, *syntax.Once, *syntax.Historically, *syntax.Since, *syntax.Next,
			*syntax.Eventually, *syntax.Always, *syntax.Until,
			*syntax.Label, *syntax.Somewhere, *syntax.Everywhere, *syntax.Escape, *syntax.Reach, *syntax.Surround:
			only = only && !temporal
		}
		return only
	})
	return reads && only
}

// effects lists the relations of the world, and Graph, that f reads, sorted.
func (w *work) effects(f syntax.Formula) []string {
	var names []string
	syntax.Walk(f, func(g syntax.Formula) bool {
		if p, ok := g.(*syntax.Pred); ok && w.opts.World[p.Name] {
			names = append(names, p.Name)
		}
		if _, ok := g.(*syntax.At); ok {
			names = append(names, Graph)
		}
		return true
	})
	slices.Sort(names)
	return slices.Compact(names)
}
