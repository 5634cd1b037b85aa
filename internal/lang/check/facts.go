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
	syntax.Walk(w.inlined, func(f syntax.Formula) bool {
		if p, ok := f.(*syntax.Pred); ok {
			relations[p.Name] = true
		}
		c.Historic = c.Historic || past(f)
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
	if w.opts.Forbid && len(w.result.Anchors) == 0 && !needsNew(w.apart) {
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
	case *syntax.Agg:
		if len(f.Groups) > 0 { // else there is a result in any case
			s = a.anchors(f.F)
		}
	case *syntax.Historically:
		if f.I.Lo == 0 { // the present is one of the time points
			s = a.anchors(f.F)
		}
	case *syntax.Since:
		s = a.lastAnchors(f.I, f.Left, f.Right)
	case *syntax.Until:
		s = a.lastAnchors(f.I, f.Left, f.Right)
	case *syntax.Bool, *syntax.Cmp, *syntax.Match, *syntax.Not, *syntax.Prev, *syntax.Once, *syntax.Next, *syntax.Eventually,
		*syntax.Always, *syntax.Implies, *syntax.Equiv, *syntax.Forall, *syntax.Let, *syntax.New:
	}
	a.anchorSets[f] = s
	return s
}

// lastAnchors are the anchors of SINCE or UNTIL: the left operand holds now unless the
// right one does.
func (a *analysis) lastAnchors(i syntax.Interval, left, right syntax.Formula) []string {
	s := a.anchors(left)
	if i.Lo == 0 {
		s = either(s, a.anchors(right))
	}
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
// the log or the world: a fact below a negation or NEW, a tuple of an aggregation, a
// time point at which the left operand of SINCE or UNTIL fails, a time point between
// this one and the previous or next one.
func (a *analysis) absence(f syntax.Formula) bool {
	if b, ok := a.absences[f]; ok {
		return b
	}
	b := false
	switch f := f.(type) {
	case *syntax.Not:
		b = a.readsLog(f.F)
	case *syntax.Agg:
		b = a.readsLog(f.F)
	case *syntax.Prev, *syntax.Next, *syntax.New:
		b = true
	case *syntax.Since:
		b = a.readsLog(f.Left) || a.absence(f.Right)
	case *syntax.Until:
		b = a.readsLog(f.Left) || a.absence(f.Right)
	case *syntax.Bool, *syntax.Pred, *syntax.Cmp, *syntax.Match, *syntax.And, *syntax.Or, *syntax.Implies, *syntax.Equiv,
		*syntax.Exists, *syntax.Forall, *syntax.Let, *syntax.Once, *syntax.Historically, *syntax.Eventually, *syntax.Always:
		b = slices.ContainsFunc(syntax.Children(f), a.absence)
	}
	a.absences[f] = b
	return b
}

// readsLog tells whether f depends on the log, or the world, at all.
func (a *analysis) readsLog(f syntax.Formula) bool {
	if b, ok := a.reads[f]; ok {
		return b
	}
	_, b := intervalOf(f)
	_, pred := f.(*syntax.Pred)
	b = b || pred || slices.ContainsFunc(syntax.Children(f), a.readsLog)
	a.reads[f] = b
	return b
}

// needsNew tells whether a NEW must hold now for a core formula to hold now: then the
// event is one that changes the world.
func needsNew(f syntax.Formula) bool {
	switch f := f.(type) {
	case *syntax.New:
		return true
	case *syntax.And:
		return needsNew(f.Left) || needsNew(f.Right)
	case *syntax.Or:
		return needsNew(f.Left) && needsNew(f.Right)
	case *syntax.Exists:
		return needsNew(f.F)
	case *syntax.Agg:
		return len(f.Groups) > 0 && needsNew(f.F)
	case *syntax.Bool, *syntax.Pred, *syntax.Cmp, *syntax.Match, *syntax.Not, *syntax.Implies, *syntax.Equiv, *syntax.Forall,
		*syntax.Let, *syntax.Prev, *syntax.Once, *syntax.Historically, *syntax.Since, *syntax.Next, *syntax.Eventually,
		*syntax.Always, *syntax.Until:
	}
	return false
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
	case *syntax.Agg:
		return len(f.Groups) > 0 && neverHolds(f.F)
	case *syntax.Since:
		return neverHolds(f.Right)
	case *syntax.Until:
		return neverHolds(f.Right)
	case *syntax.Exists, *syntax.New, *syntax.Prev, *syntax.Once, *syntax.Next, *syntax.Eventually:
		return neverHolds(syntax.Children(f)[0])
	case *syntax.Pred, *syntax.Cmp, *syntax.Match, *syntax.Not, *syntax.Implies, *syntax.Equiv, *syntax.Forall, *syntax.Let,
		*syntax.Historically, *syntax.Always:
	}
	return false
}
