package check

import (
	"slices"

	"github.com/aspis-rv/aspis/internal/lang/syntax"
)

// collectFacts fills in the result.
func (w *work) collectFacts() {
	c := &Checked{Source: w.source, Core: w.apart, Kinds: w.coreKinds}
	m := newMeasure()
	bound := m.free(w.apart)
	for _, name := range syntax.FreeVars(w.source) {
		if wildcard(name) {
			continue
		}
		c.Free = append(c.Free, Column{Name: name, Kind: w.kinds[name]})
		if !bound.has(m.number(name)) {
			w.add(vanished(w.source, name))
		}
	}
	relations := map[string]bool{}
	syntax.Walk(w.source, func(f syntax.Formula) bool {
		switch f := f.(type) {
		case *syntax.Pred:
			relations[f.Name] = true
		case *syntax.Prev, *syntax.Once, *syntax.Historically, *syntax.Since:
			c.Historic = true
		case *syntax.Bool, *syntax.Cmp, *syntax.Not, *syntax.And, *syntax.Or, *syntax.Implies, *syntax.Equiv,
			*syntax.Exists, *syntax.Forall:
		}
		return true
	})
	for name := range relations {
		c.Relations = append(c.Relations, name)
	}
	slices.Sort(c.Relations)
	a := analysis{w: w, anchorSets: map[syntax.Formula][]string{}, absences: map[syntax.Formula]bool{}, reads: map[syntax.Formula]bool{}}
	c.Anchors = slices.Clone(a.anchors(w.apart))
	c.Absence = a.absence(w.plain)
	w.result = c
}

// checkClause applies the rules of forbid formulas.
func (w *work) checkClause() {
	if neverHolds(w.apart) {
		w.add(neverFires(w.source))
	}
	if w.opts.Forbid && len(w.result.Anchors) == 0 {
		w.add(noAnchor(w.source))
	}
}

// analysis computes properties once for each node of a graph.
type analysis struct {
	w          *work
	anchorSets map[syntax.Formula][]string
	absences   map[syntax.Formula]bool
	reads      map[syntax.Formula]bool
}

// anchors returns relations, sorted, of which one must have a fact now for f to hold
// now, or none. Of a conjunction's operands it takes the one with fewer, and the left
// one on a tie.
func (a *analysis) anchors(f syntax.Formula) []string {
	if s, ok := a.anchorSets[f]; ok {
		return s
	}
	var s []string
	switch f := f.(type) {
	case *syntax.Pred:
		if !a.w.isBuiltIn(f.Name) { // those hold at every time point
			s = []string{f.Name}
		}
	case *syntax.And:
		s = a.anchors(f.Left)
		if r := a.anchors(f.Right); len(s) == 0 || len(r) > 0 && len(r) < len(s) {
			s = r
		}
	case *syntax.Or:
		s = either(a.anchors(f.Left), a.anchors(f.Right))
	case *syntax.Exists:
		s = a.anchors(f.F)
	case *syntax.Historically:
		if f.I.Lo == 0 { // the present is one of the time points
			s = a.anchors(f.F)
		}
	case *syntax.Since:
		s = a.anchors(f.Left) // holds now unless the right operand does
		if f.I.Lo == 0 {
			s = either(s, a.anchors(f.Right))
		}
	case *syntax.Bool, *syntax.Cmp, *syntax.Not, *syntax.Prev, *syntax.Once,
		*syntax.Implies, *syntax.Equiv, *syntax.Forall:
	}
	a.anchorSets[f] = s
	return s
}

// either is the union of two sets of anchors, none when one of them is none.
func either(s, t []string) []string {
	if len(s) == 0 || len(t) == 0 {
		return nil
	}
	u := slices.Concat(s, t)
	slices.Sort(u)
	return slices.Compact(u)
}

// absence tells whether a desugared formula can hold because something is not in
// the log: a fact below a negation, a time point at which the left operand of SINCE
// fails, a time point between this one and the previous one.
func (a *analysis) absence(f syntax.Formula) bool {
	if b, ok := a.absences[f]; ok {
		return b
	}
	b := false
	switch f := f.(type) {
	case *syntax.Not:
		b = a.readsLog(f.F)
	case *syntax.Prev:
		b = true
	case *syntax.Since:
		b = a.readsLog(f.Left) || a.absence(f.Right)
	case *syntax.Bool, *syntax.Pred, *syntax.Cmp, *syntax.And, *syntax.Or, *syntax.Implies, *syntax.Equiv,
		*syntax.Exists, *syntax.Forall, *syntax.Once, *syntax.Historically:
		b = slices.ContainsFunc(syntax.Children(f), a.absence)
	}
	a.absences[f] = b
	return b
}

// readsLog tells whether f depends on the log at all.
func (a *analysis) readsLog(f syntax.Formula) bool {
	if b, ok := a.reads[f]; ok {
		return b
	}
	b := false
	switch f.(type) {
	case *syntax.Pred, *syntax.Prev, *syntax.Once, *syntax.Historically, *syntax.Since:
		b = true
	case *syntax.Bool, *syntax.Cmp, *syntax.Not, *syntax.And, *syntax.Or, *syntax.Implies, *syntax.Equiv,
		*syntax.Exists, *syntax.Forall:
		b = slices.ContainsFunc(syntax.Children(f), a.readsLog)
	}
	a.reads[f] = b
	return b
}

// neverHolds tells whether a core formula is false by its constants alone.
func neverHolds(f syntax.Formula) bool {
	switch f := f.(type) {
	case *syntax.Bool:
		return !f.Value
	case *syntax.And:
		return neverHolds(f.Left) || neverHolds(f.Right)
	case *syntax.Or:
		return neverHolds(f.Left) && neverHolds(f.Right)
	case *syntax.Exists:
		return neverHolds(f.F)
	case *syntax.Prev:
		return neverHolds(f.F)
	case *syntax.Once:
		return neverHolds(f.F)
	case *syntax.Since:
		return neverHolds(f.Right)
	case *syntax.Pred, *syntax.Cmp, *syntax.Not, *syntax.Implies, *syntax.Equiv, *syntax.Forall, *syntax.Historically:
	}
	return false
}
