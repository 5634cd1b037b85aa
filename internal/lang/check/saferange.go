package check

import (
	"slices"

	"github.com/aspis-rv/aspis/internal/lang/syntax"
)

// makeCore finds an order in which the formula can be evaluated, or says where and
// why there is none.
//
// There are two ways to evaluate a formula. A *generated* formula yields its tuples
// by itself; generate makes it. Any other formula must be *guarded*: conjoined with
// a generated formula, the guard, that gives values to the variables it does not
// bind itself; guard makes the conjunction. Conjunctions are where guards come from
// (conjoin), alternatives, quantifiers and negations hand them down (guard), and
// temporal operators, which look at other time points than the guard's, are moved
// out of the way by laws that hold in every trace (shift.go).
func (w *work) makeCore() {
	r := &ranger{
		w: w, measure: newMeasure(), rewriter: newRewriter(),
		done: map[syntax.Formula]outcome{}, failed: map[attempt][]refusal{},
	}
	for _, name := range syntax.FreeVars(w.plain) {
		r.number(name) // in order of occurrence, for messages
	}
	core, why := r.generate(w.plain)
	switch {
	case r.exhausted:
		w.add(tooComplex(w.source))
	case why != nil:
		w.refuse(why)
	default:
		w.core = core
	}
}

// refusal says why a formula cannot be evaluated.
type refusal struct {
	at      syntax.Formula // in the desugared formula
	kind    refusalKind
	missing []string // variables without values; for orVariables those of one side only
	// across is the temporal operator that separates the formula from what binds the
	// missing variables; nil when there is none.
	across syntax.Formula
}

// refusalKind is the rule that is broken.
type refusalKind uint8

const (
	openNegation   refusalKind = iota // NOT f with variables that nothing binds
	openComparison                    // a comparison likewise
	orVariables                       // f OR g with different variables
	sinceVariables                    // f SINCE g with variables in f alone
)

// outcome is the result of generating a formula.
type outcome struct {
	core syntax.Formula
	why  []refusal
}

// attempt is a formula with the variables that a guard binds for it; whether it can
// be evaluated depends on nothing else about the guard.
type attempt struct {
	f     syntax.Formula
	bound string
}

type ranger struct {
	*measure
	*rewriter
	w         *work
	done      map[syntax.Formula]outcome
	failed    map[attempt][]refusal
	steps     int
	exhausted bool
}

// step counts work and tells whether there is too much of it.
func (r *ranger) step() bool {
	r.steps++
	r.exhausted = r.exhausted || r.steps > maxSteps
	return !r.exhausted
}

// built checks the size of a formula that was made.
func (r *ranger) built(f syntax.Formula) (syntax.Formula, []refusal) {
	if r.size(f) > MaxCore {
		r.exhausted = true
	}
	return f, nil
}

// refused is a refusal at f; the variables of f that are not in bound are missing.
func (r *ranger) refused(kind refusalKind, f syntax.Formula, bound vset) []refusal {
	return []refusal{{at: f, kind: kind, missing: r.list(r.free(f).minus(bound))}}
}

// generate returns the core of a formula that can be evaluated by itself.
func (r *ranger) generate(f syntax.Formula) (syntax.Formula, []refusal) {
	if o, ok := r.done[f]; ok {
		return o.core, o.why
	}
	if !r.step() {
		return nil, r.refused(openNegation, f, nil)
	}
	core, why := r.generateNew(f)
	if why != nil {
		core = nil
	}
	r.done[f] = outcome{core, why}
	return core, why
}

func (r *ranger) generateNew(f syntax.Formula) (syntax.Formula, []refusal) {
	switch f := f.(type) {
	case *syntax.Bool, *syntax.Pred:
		return f, nil
	case *syntax.Cmp:
		if r.binds(f, nil) {
			return f, nil
		}
		return nil, r.refused(openComparison, f, nil)
	case *syntax.Not:
		return r.generateNot(f)
	case *syntax.And:
		return r.conjoin(nil, f)
	case *syntax.Or:
		return r.generateOr(f)
	case *syntax.Exists:
		g, why := r.generate(f.F)
		if why != nil {
			return nil, why
		}
		return r.built(&syntax.Exists{Node: f.Node, Vars: f.Vars, F: g})
	case *syntax.Prev:
		g, why := r.generate(f.F)
		if why != nil {
			return nil, why
		}
		return r.built(&syntax.Prev{Node: f.Node, I: f.I, F: g})
	case *syntax.Once:
		g, why := r.generate(f.F)
		if why != nil {
			return nil, why
		}
		return r.built(&syntax.Once{Node: f.Node, I: f.I, F: g})
	case *syntax.Since:
		return r.generateSince(f)
	case *syntax.Implies, *syntax.Equiv, *syntax.Forall, *syntax.Historically:
	}
	panic("not desugared: " + f.String())
}

// generateNot makes a closed negation, or an open one whose negation can be pushed
// inwards.
func (r *ranger) generateNot(f *syntax.Not) (syntax.Formula, []refusal) {
	why := r.refused(openNegation, f, nil)
	if r.free(f).empty() {
		g, inner := r.generate(f.F)
		if inner == nil {
			return r.built(&syntax.Not{Node: f.Node, F: g})
		}
		why = inner
	}
	if and, ok := f.F.(*syntax.And); ok {
		if g, inner := r.generate(r.pushed(and)); inner == nil {
			return g, nil
		}
	}
	return nil, why
}

func (r *ranger) generateOr(f *syntax.Or) (syntax.Formula, []refusal) {
	left, whyLeft := r.generate(f.Left)
	right, whyRight := r.generate(f.Right)
	if whyLeft != nil || whyRight != nil {
		return nil, slices.Concat(whyLeft, whyRight)
	}
	return r.or(f, left, right)
}

// or joins two generated alternatives.
func (r *ranger) or(f *syntax.Or, left, right syntax.Formula) (syntax.Formula, []refusal) {
	fl, fr := r.free(left), r.free(right)
	if !fl.equal(fr) {
		odd := fl.minus(fr).union(fr.minus(fl))
		return nil, []refusal{{at: f, kind: orVariables, missing: r.list(odd)}}
	}
	return r.built(&syntax.Or{Node: f.Node, Left: left, Right: right})
}

// generateSince makes f SINCE g. The left operand needs no tuples of its own: at
// every time point where it is looked at, what the right operand has yielded within
// the interval guards it, since
//
//	f SINCE[a,b] g  =  (NOT ((ONCE[0,b] g) AND NOT f)) SINCE[a,b] g
func (r *ranger) generateSince(f *syntax.Since) (syntax.Formula, []refusal) {
	right, why := r.generate(f.Right)
	if odd := r.free(f.Left).minus(r.free(f.Right)); !odd.empty() {
		why = append(slices.Clone(why), refusal{at: f, kind: sinceVariables, missing: r.list(odd)})
	}
	if why != nil {
		return nil, why
	}
	left, why := r.generate(f.Left)
	if not, ok := f.Left.(*syntax.Not); ok && why != nil {
		var g syntax.Formula
		if g, why = r.generate(not.F); why == nil {
			left = &syntax.Not{Node: not.Node, F: g}
		}
	}
	if why != nil {
		i := syntax.Interval{Hi: f.I.Hi, Unbounded: f.I.Unbounded}
		seen := &syntax.Once{Node: syntax.Node{Pos: f.Right.Span()}, I: i, F: right}
		g, inner := r.conjoin(seen, r.negation(f.Left))
		if inner != nil {
			return nil, inner
		}
		left = &syntax.Not{Node: syntax.Node{Pos: f.Left.Span()}, F: g}
	}
	return r.built(&syntax.Since{Node: f.Node, I: f.I, Left: left, Right: right})
}

// binds tells whether a comparison is `x = t` where t has a value, so that it gives
// x one.
func (r *ranger) binds(f *syntax.Cmp, bound vset) bool {
	if f.Op != syntax.Eq {
		return false
	}
	return r.terms(f.Left).within(bound) || r.terms(f.Right).within(bound)
}

// conjuncts takes a conjunction apart, in source order.
func conjuncts(f syntax.Formula) []syntax.Formula {
	var out []syntax.Formula
	for {
		and, ok := f.(*syntax.And)
		if !ok {
			out = append(out, f)
			slices.Reverse(out)
			return out
		}
		right := conjuncts(and.Right)
		slices.Reverse(right)
		out = append(out, right...)
		f = and.Left
	}
}

// conjoin returns the core of guard AND fs, for a guard that is generated, or nil
// for none. It takes the first conjunct that can be evaluated, again and again; those
// that need the guard copied wait until nothing else is left.
func (r *ranger) conjoin(guard syntax.Formula, fs ...syntax.Formula) (syntax.Formula, []refusal) {
	var rest []syntax.Formula
	for _, f := range fs {
		rest = append(rest, conjuncts(f)...)
	}
	for len(rest) > 0 {
		next, i, why := r.first(guard, rest, r.direct)
		if next == nil {
			next, i, why = r.first(guard, rest, r.guard)
		}
		if next == nil {
			return nil, why
		}
		guard = next
		rest = slices.Delete(rest, i, i+1)
	}
	return guard, nil
}

// first finds the first conjunct that can be added to the guard in the given way.
// If there is none, it gives the first reason for each set of missing variables.
func (r *ranger) first(guard syntax.Formula, rest []syntax.Formula, add func(g, f syntax.Formula) (syntax.Formula, []refusal)) (next syntax.Formula, i int, why []refusal) {
	for i, f := range rest {
		if !r.step() {
			return nil, 0, r.refused(openNegation, f, nil)
		}
		next, refusals := add(guard, f)
		if refusals == nil {
			return next, i, nil
		}
		for _, ref := range refusals {
			known := slices.ContainsFunc(why, func(o refusal) bool { return slices.Equal(o.missing, ref.missing) })
			if !known {
				why = append(why, ref)
			}
		}
	}
	return nil, 0, why
}

// bound is the set of variables the guard gives values to.
func (r *ranger) bound(guard syntax.Formula) vset {
	if guard == nil {
		return nil
	}
	return r.free(guard)
}

// and adds a conjunct to the guard, which may be nil for a generated one.
func (r *ranger) and(guard, f syntax.Formula) (syntax.Formula, []refusal) {
	if guard == nil {
		return f, nil
	}
	at := syntax.Node{}
	if g, s := guard.Span(), f.Span(); g.Start.IsValid() && s.Start.IsValid() {
		at.Pos = g
		if s.Start.Offset < g.Start.Offset {
			at.Pos.Start = s.Start
		}
		if s.End.Offset > g.End.Offset {
			at.Pos.End = s.End
		}
	}
	return r.built(&syntax.And{Node: at, Left: guard, Right: f})
}

// direct adds a conjunct that is generated, or that only looks at variables the
// guard binds.
func (r *ranger) direct(guard, f syntax.Formula) (syntax.Formula, []refusal) {
	bound := r.bound(guard)
	switch f := f.(type) {
	case *syntax.Cmp:
		if r.free(f).within(bound) || r.binds(f, bound) {
			return r.and(guard, f)
		}
		return nil, r.refused(openComparison, f, bound)
	case *syntax.Not:
		if !r.free(f).within(bound) {
			return nil, r.refused(openNegation, f, bound)
		}
		if _, ok := f.F.(*syntax.Cmp); ok {
			return r.and(guard, f)
		}
		g, why := r.generate(f.F)
		if why != nil {
			return nil, why
		}
		return r.and(guard, &syntax.Not{Node: f.Node, F: g})
	case *syntax.Bool, *syntax.Pred, *syntax.And, *syntax.Or, *syntax.Implies, *syntax.Equiv, *syntax.Exists,
		*syntax.Forall, *syntax.Prev, *syntax.Once, *syntax.Historically, *syntax.Since:
	}
	g, why := r.generate(f)
	if why != nil {
		return nil, why
	}
	return r.and(guard, g)
}
