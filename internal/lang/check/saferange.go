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
// out of the way by laws that hold in every trace (shift.go). Below a future operator
// the guard held earlier; below an aggregation it says what groups there are.
func (w *work) makeCore() {
	r := &ranger{
		w: w, measure: newMeasure(), rewriter: newRewriter(),
		done: map[syntax.Formula]outcome{}, failed: map[attempt][]refusal{},
	}
	w.located = map[syntax.Formula]outcome{}
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
	// across is the temporal operator or NEW that separates the formula from what binds
	// the missing variables; nil when there is none.
	across syntax.Formula
}

// refusalKind is the rule that is broken.
type refusalKind uint8

const (
	openNegation   refusalKind = iota // NOT f with variables that nothing binds
	openComparison                    // a comparison likewise
	orVariables                       // f OR g with different variables
	sinceVariables                    // f SINCE g or f UNTIL g with variables in f alone
	openLocation                      // AT or a spatial operator, or its negation, likewise
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

// refused is a refusal of the negation f; its variables that are not in bound are
// missing.
func (r *ranger) refused(f syntax.Formula, bound vset) []refusal {
	kind := openNegation
	if not, ok := f.(*syntax.Not); ok && looks(not.F) {
		kind = openLocation
	}
	return []refusal{{at: f, kind: kind, missing: r.list(r.free(f).minus(bound))}}
}

// generate returns the core of a formula that can be evaluated by itself.
func (r *ranger) generate(f syntax.Formula) (syntax.Formula, []refusal) {
	if o, ok := r.done[f]; ok {
		return o.core, o.why
	}
	if !r.step() {
		return nil, r.refused(f, nil)
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
	case *syntax.Bool, *syntax.Pred, *syntax.Label:
		return f, nil
	case *syntax.Cmp, *syntax.Match,
		*syntax.At, *syntax.Somewhere, *syntax.Everywhere, *syntax.Escape, *syntax.Reach, *syntax.Surround:
		return r.direct(nil, f)
	case *syntax.Not:
		return r.generateNot(f)
	case *syntax.And:
		return r.conjoin(nil, f)
	case *syntax.Or:
		return r.generateOr(f)
	case *syntax.Since:
		return r.generateSince(f)
	case *syntax.Until:
		return r.generateUntil(f)
	case *syntax.Exists, *syntax.Agg, *syntax.New, *syntax.Prev, *syntax.Once, *syntax.Next, *syntax.Eventually:
		g, why := r.generate(syntax.Children(f)[0])
		if why != nil {
			return nil, why
		}
		return r.built(at(f, g))
	case *syntax.Implies, *syntax.Equiv, *syntax.Forall, *syntax.Let, *syntax.Historically, *syntax.Always:
	}
	panic("not desugared: " + f.String())
}

// generateNot makes a closed negation, or an open one whose negation can be pushed
// inwards.
func (r *ranger) generateNot(f *syntax.Not) (syntax.Formula, []refusal) {
	why := r.refused(f, nil)
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
	right, why := r.rightOperand(f, f.Left, f.Right)
	if why != nil {
		return nil, why
	}
	left, why := r.leftOperand(f.Left, &syntax.Once{Node: syntax.Node{Pos: f.Right.Span()}, I: upTo(f.I), F: right})
	if why != nil {
		return nil, why
	}
	return r.built(&syntax.Since{Node: f.Node, I: f.I, Left: left, Right: right})
}

// generateUntil makes f UNTIL g as the mirror image.
func (r *ranger) generateUntil(f *syntax.Until) (syntax.Formula, []refusal) {
	right, why := r.rightOperand(f, f.Left, f.Right)
	if why != nil {
		return nil, why
	}
	return r.until(f, right)
}

// until is f with a right operand that was generated: what that will yield guards the
// left one.
func (r *ranger) until(f *syntax.Until, right syntax.Formula) (syntax.Formula, []refusal) {
	left, why := r.leftOperand(f.Left, &syntax.Eventually{Node: syntax.Node{Pos: f.Right.Span()}, I: upTo(f.I), F: right})
	if why != nil {
		return nil, why
	}
	return r.built(&syntax.Until{Node: f.Node, I: f.I, Left: left, Right: right})
}

func upTo(i syntax.Interval) syntax.Interval {
	return syntax.Interval{Hi: i.Hi, Unbounded: i.Unbounded}
}

// rightOperand generates the right operand of f, SINCE or UNTIL; the left one may have
// no other variables.
func (r *ranger) rightOperand(f, left, right syntax.Formula) (syntax.Formula, []refusal) {
	g, why := r.generate(right)
	if odd := r.free(left).minus(r.free(right)); !odd.empty() {
		why = append(slices.Clone(why), refusal{at: f, kind: sinceVariables, missing: r.list(odd)})
	}
	return g, why
}

// leftOperand makes the left operand of SINCE or UNTIL, by itself or guarded by what
// has been, or will be, wherever it is looked at.
func (r *ranger) leftOperand(left, guard syntax.Formula) (syntax.Formula, []refusal) {
	g, why := r.generate(left)
	if not, ok := left.(*syntax.Not); ok && why != nil {
		if g, why = r.generate(not.F); why == nil {
			return &syntax.Not{Node: not.Node, F: g}, nil
		}
	}
	if why == nil {
		return g, nil
	}
	failing, why := r.conjoin(guard, r.negation(left))
	if why != nil {
		return nil, why
	}
	return &syntax.Not{Node: syntax.Node{Pos: left.Span()}, F: failing}, nil
}

// binds tells whether a comparison is `x = t` where t has a value, so that it gives
// x one.
func (r *ranger) binds(f *syntax.Cmp, bound vset) bool {
	if f.Op != syntax.Eq {
		return false
	}
	_, left := f.Left.(syntax.Var)
	_, right := f.Right.(syntax.Var)
	return left && r.terms(f.Right).within(bound) || right && r.terms(f.Left).within(bound)
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
			return nil, 0, r.refused(f, nil)
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
	switch f := f.(type) {
	case *syntax.Cmp, *syntax.Match:
		return r.test(guard, f)
	case *syntax.At, *syntax.Somewhere, *syntax.Everywhere, *syntax.Escape, *syntax.Reach, *syntax.Surround:
		return r.look(guard, f)
	case *syntax.Not:
		return r.directNot(guard, f)
	case *syntax.Bool, *syntax.Pred, *syntax.And, *syntax.Or, *syntax.Implies, *syntax.Equiv, *syntax.Exists,
		*syntax.Forall, *syntax.Agg, *syntax.Let, *syntax.New, *syntax.Prev, *syntax.Once, *syntax.Historically,
		*syntax.Since, *syntax.Next, *syntax.Eventually, *syntax.Always, *syntax.Until, *syntax.Label:
	}
	g, why := r.generate(f)
	if why != nil {
		return nil, why
	}
	return r.and(guard, g)
}

// test adds a comparison or a match. Without a guard, one that is not generated itself
// stands beside TRUE.
func (r *ranger) test(guard, f syntax.Formula) (syntax.Formula, []refusal) {
	bound := r.bound(guard)
	needed := r.free(f)
	if m, ok := f.(*syntax.Match); ok {
		needed = r.terms(m.Left, m.Right) // the groups give values
	}
	c, cmp := f.(*syntax.Cmp)
	binds := cmp && !needed.within(bound) && r.binds(c, bound)
	switch {
	case !needed.within(bound) && !binds:
		return nil, []refusal{{at: f, kind: openComparison, missing: r.list(needed.minus(bound))}}
	case guard == nil && !binds:
		guard = truth(f)
	}
	return r.and(guard, f)
}

// truth is TRUE at the place of f.
func truth(f syntax.Formula) syntax.Formula {
	return &syntax.Bool{Node: syntax.Node{Pos: f.Span()}, Value: true}
}

func (r *ranger) directNot(guard syntax.Formula, f *syntax.Not) (syntax.Formula, []refusal) {
	bound := r.bound(guard)
	if !r.free(f).within(bound) {
		return nil, r.refused(f, bound)
	}
	if looks(f.F) {
		return r.lookNot(guard, f)
	}
	if isTest(f.F) {
		if guard == nil {
			guard = truth(f)
		}
		return r.and(guard, f)
	}
	g, why := r.generate(f.F)
	if why != nil {
		return nil, why
	}
	return r.and(guard, &syntax.Not{Node: f.Node, F: g})
}

// isTest tells whether f may be negated beside what binds its variables.
func isTest(f syntax.Formula) bool {
	_, cmp := f.(*syntax.Cmp)
	_, match := f.(*syntax.Match)
	return cmp || match
}
