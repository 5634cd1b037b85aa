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
			c.World = c.World || w.opts.World[p.Name]
		}
		if _, ok := f.(*syntax.At); ok {
			c.World, relations[Graph] = true, true
		}
		c.Historic = c.Historic || past(f)
		return true
	})
	for name := range relations {
		c.Relations = append(c.Relations, name)
	}
	slices.Sort(c.Relations)
	a := analysis{w: w, anchorSets: map[syntax.Formula][]string{}, absences: map[syntax.Formula]bool{}, reads: map[syntax.Formula]bool{}}
	for _, name := range a.anchors(w.apart) {
		if w.opts.World[name] || name == Graph {
			c.Effects = append(c.Effects, name)
		} else {
			c.Anchors = append(c.Anchors, name)
		}
	}
	c.Absence = a.absence(w.plain)
	w.everyPoint(&a)
	w.result = c
}

// checkClause applies the rules of forbid formulas.
func (w *work) checkClause() {
	if neverHolds(w.apart) {
		w.add(neverFires(w.source))
	}
	if !w.opts.Forbid || len(w.result.Anchors) > 0 || len(w.result.Effects) > 0 {
		return
	}
	if w.result.World && w.stateIn(w.inlined) != nil {
		w.add(stateViolation(w.source, w.changed()))
		return
	}
	w.add(noAnchor(w.source))
}

// analysis computes properties once for each node of a graph.
type analysis struct {
	w          *work
	anchorSets map[syntax.Formula][]string
	absences   map[syntax.Formula]bool
	reads      map[syntax.Formula]bool
}

// anchors returns relations, sorted, of which one must have a fact now for f to hold
// now, or none; one of the world, and Graph, must have changed. Of a conjunction's operands
// it takes one without relations of the world, then the one with fewer, and the left one on
// a tie.
func (a *analysis) anchors(f syntax.Formula) []string {
	if s, ok := a.anchorSets[f]; ok {
		return s
	}
	var s []string
	switch f := f.(type) {
	case *syntax.Pred:
		if !a.w.isBuiltIn(f.Name) && !a.w.opts.World[f.Name] { // those hold without an event
			s = []string{f.Name}
		}
	case *syntax.New:
		s = a.w.effects(f.F)
	case *syntax.And:
		s = a.narrower(a.anchors(f.Left), a.anchors(f.Right))
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
		*syntax.Always, *syntax.Implies, *syntax.Equiv, *syntax.Forall, *syntax.Let,
		*syntax.At, *syntax.Label, *syntax.Somewhere, *syntax.Everywhere, *syntax.Escape, *syntax.Reach, *syntax.Surround:
	}
	a.anchorSets[f] = s
	return s
}

// narrower is the better of the anchors of two conjuncts.
func (a *analysis) narrower(s, t []string) []string {
	switch {
	case len(s) == 0:
		return t
	case len(t) == 0:
		return s
	}
	facts := func(s []string) bool {
		return !slices.ContainsFunc(s, func(name string) bool { return name == Graph || a.w.opts.World[name] })
	}
	if facts(s) != facts(t) {
		if facts(t) {
			return t
		}
		return s
	}
	if len(t) < len(s) {
		return t
	}
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
// this one and the previous or next one, a vertex or a way to it.
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
	case *syntax.Prev, *syntax.Next, *syntax.New, *syntax.Everywhere, *syntax.Surround:
		b = true
	case *syntax.Somewhere:
		b = f.D.Lo > 0 || a.absence(f.F) // it is that far because there is no shorter way
	case *syntax.Escape:
		b = f.D.Lo > 0 || a.absence(f.F)
	case *syntax.Reach:
		b = f.D.Lo > 0 || a.absence(f.Left) || a.absence(f.Right)
	case *syntax.Since:
		b = a.readsLog(f.Left) || a.absence(f.Right)
	case *syntax.Until:
		b = a.readsLog(f.Left) || a.absence(f.Right)
	case *syntax.Bool, *syntax.Pred, *syntax.Cmp, *syntax.Match, *syntax.And, *syntax.Or, *syntax.Implies, *syntax.Equiv,
		*syntax.Exists, *syntax.Forall, *syntax.Let, *syntax.Once, *syntax.Historically, *syntax.Eventually, *syntax.Always,
		*syntax.At, *syntax.Label:
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
	_, at := f.(*syntax.At)
	_, label := f.(*syntax.Label)
	b = b || pred || at || label || spatial(f) || slices.ContainsFunc(syntax.Children(f), a.readsLog)
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
	case *syntax.Agg:
		return len(f.Groups) > 0 && neverHolds(f.F)
	case *syntax.Since:
		return neverHolds(f.Right)
	case *syntax.Until:
		return neverHolds(f.Right)
	case *syntax.Reach:
		return neverHolds(f.Right)
	case *syntax.Surround:
		return neverHolds(f.Left)
	case *syntax.Exists, *syntax.New, *syntax.Prev, *syntax.Once, *syntax.Next, *syntax.Eventually, *syntax.At,
		*syntax.Somewhere, *syntax.Escape:
		return neverHolds(syntax.Children(f)[0])
	case *syntax.Pred, *syntax.Cmp, *syntax.Match, *syntax.Not, *syntax.Implies, *syntax.Equiv, *syntax.Forall, *syntax.Let,
		*syntax.Historically, *syntax.Always, *syntax.Label, *syntax.Everywhere:
	}
	return false
}
