package check

import "github.com/aspis-rv/aspis/internal/lang/syntax"

// looks tells whether f is AT or a spatial operator: a test that is carried out at a vertex,
// or at others than that of evaluation, when all its variables have values.
func looks(f syntax.Formula) bool {
	_, at := f.(*syntax.At)
	return at || spatial(f)
}

// spatial tells whether the outermost operator of f is a spatial one.
func spatial(f syntax.Formula) bool {
	switch f.(type) {
	case *syntax.Somewhere, *syntax.Everywhere, *syntax.Escape, *syntax.Reach, *syntax.Surround:
		return true
	case *syntax.Bool, *syntax.Pred, *syntax.Cmp, *syntax.Match, *syntax.Not, *syntax.And, *syntax.Or, *syntax.Implies,
		*syntax.Equiv, *syntax.Exists, *syntax.Forall, *syntax.Agg, *syntax.Let, *syntax.New, *syntax.Prev, *syntax.Once,
		*syntax.Historically, *syntax.Since, *syntax.Next, *syntax.Eventually, *syntax.Always, *syntax.Until, *syntax.At,
		*syntax.Label:
	}
	return false
}

// look adds AT or a spatial operator, whose variables the guard must bind. AT without
// variables stands beside TRUE, as other tests do.
func (r *ranger) look(guard, f syntax.Formula) (syntax.Formula, []refusal) {
	if odd := r.free(f).minus(r.bound(guard)); !odd.empty() {
		return nil, []refusal{{at: f, kind: openLocation, missing: r.list(odd)}}
	}
	g, why := r.located(f)
	if why != nil {
		return nil, why
	}
	return r.and(r.withTruth(guard, f), g)
}

// lookNot adds the negation of AT or of a spatial operator whose variables the guard binds.
func (r *ranger) lookNot(guard syntax.Formula, f *syntax.Not) (syntax.Formula, []refusal) {
	g, why := r.located(f.F)
	if why != nil {
		return nil, why
	}
	return r.and(r.withTruth(guard, f.F), &syntax.Not{Node: f.Node, F: g})
}

// withTruth is what a test stands beside: the guard, or TRUE where AT needs something.
func (r *ranger) withTruth(guard, f syntax.Formula) syntax.Formula {
	if _, at := f.(*syntax.At); at && guard == nil {
		return truth(f)
	}
	return guard
}

// located is AT or a spatial operator with operands that can be evaluated where all its
// variables have values, which are like constants in there. It is made once.
func (r *ranger) located(f syntax.Formula) (syntax.Formula, []refusal) {
	if o, ok := r.w.located[f]; ok {
		return o.core, o.why
	}
	m := newMeasure()
	m.constants = map[string]bool{}
	for _, g := range syntax.Children(f) {
		for _, name := range syntax.FreeVars(g) {
			m.constants[name] = true
		}
	}
	inner := &ranger{
		w: r.w, measure: m, rewriter: r.rewriter, done: map[syntax.Formula]outcome{}, failed: map[attempt][]refusal{},
		steps: r.steps, exhausted: r.exhausted,
	}
	var why []refusal
	core := rebuilt(f, func(g syntax.Formula) syntax.Formula {
		h, refusals := inner.generate(g)
		why = append(why, refusals...)
		return h
	})
	r.steps, r.exhausted = inner.steps, inner.exhausted
	if why != nil {
		core = nil
	}
	r.w.located[f] = outcome{core, why}
	return core, why
}
