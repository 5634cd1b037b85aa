package mfotl

import (
	"math"
	"slices"

	"github.com/aspis-rv/aspis/internal/lang/syntax"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// negated gives the reasons of a sub-formula under a NOT that holds: why it does not hold,
// or if it does on weak evidence only, why it does. Its free variables have values.
func (x explainer) negated(f *fused, names []string) []Reason {
	if f.determined {
		c := &f.chains[0]
		reasons, at := x.tested(c)
		if at >= 0 {
			x.lacks(&reasons[0], c.atoms[at], &c.parts[at], everyName)
		}
		return reasons
	}
	env := slices.Clone(x.st.env)
	reasons, ok := x.holds(f)
	if ok {
		return reasons
	}
	copy(x.st.env, env)
	return x.fails(f, names)
}

// fails gives a reason for each disjunct of a sub-formula that has no derivation: the
// conjunct beyond which no attempt came, under the values of the attempt that came there;
// of several the one of the least values. known are the variables that have values.
func (x explainer) fails(f *fused, known []string) []Reason {
	env := slices.Clone(x.st.env)
	var out []Reason
	for i := range f.chains {
		copy(x.st.env, env)
		c := &f.chains[i]
		at := x.deepest(c)
		bound := slices.Clone(known)
		for _, p := range c.parts[:at] {
			bound = append(bound, p.names...)
		}
		out = append(out, x.missing(c.atoms[at], &c.parts[at], func(name string) bool { return slices.Contains(bound, name) }))
	}
	return out
}

// deepest finds the conjunct of a chain without derivation beyond which no attempt comes,
// and leaves the attempt in the environment.
func (x explainer) deepest(c *chain) (at int) {
	env := slices.Clone(x.st.env)
	var probed []atom
	for k, a := range c.atoms {
		reach := func(verdict.Value) {
			if k > at || (k == at && k > 0 && x.less(c.parts[:k], env)) {
				at, env = k, slices.Clone(x.st.env)
			}
		}
		probed = append(probed, &probeAtom{reach: reach, open: true}, untested(a))
	}
	end := &probeAtom{reach: func(verdict.Value) {}}
	inner := chain{atoms: append(probed, end)}
	inner.next(x.st, 0, verdict.F)
	copy(x.st.env, env)
	return at
}

// untested is an atom without the tests of the conjuncts that follow it.
func untested(a atom) atom {
	switch a := a.(type) {
	case *aggAtom:
		plain := *a
		plain.tests = nil
		return &plain
	case *ledgerAtom:
		plain := *a
		plain.tests, plain.all = nil, true
		return &plain
	}
	return a
}

// missing is the reason of an atom that cannot be satisfied under the values of the bound
// variables.
func (x explainer) missing(a atom, p *part, bound func(name string) bool) (r Reason) {
	x.begin(&r, p, bound)
	x.lacks(&r, a, p, bound)
	return r
}

// lacks adds to the reason of an atom that fails what only some operators have.
func (x explainer) lacks(r *Reason, a atom, p *part, bound func(name string) bool) {
	switch a := a.(type) {
	case *notAtom:
		r.Because, _ = x.holds(a.f)
	case *checkAtom:
		r.Because = x.fails(a.f, known(p, bound))
	case *tuplesAtom:
		r.Because = x.fails(a.f, known(p, bound))
	case *riseAtom:
		r.Because = x.standing(a, known(p, bound))
	case *storeAtom:
		r.Window = x.window(r.TS, a.spec.lo, a.spec.hi)
	case *gateAtom:
		r.Window = x.window(r.TS, a.lo, a.hi)
	case *heldAtom:
		if a.negated {
			r.Because = x.one(x.historically(a, p))
		} else {
			*r = x.historically(a, p)
		}
	}
}

// standing gives the reasons why a difference fails: why the left operand does, or if that
// holds, and its variables have values, why the right one holds.
func (x explainer) standing(a *riseAtom, known []string) []Reason {
	env := slices.Clone(x.st.env)
	if a.binds {
		if a.now.collect(x.st).len() > 0 {
			return nil
		}
		copy(x.st.env, env)
		return x.fails(a.now, known)
	}
	if a.now.check(x.st) == verdict.T {
		copy(x.st.env, env)
		return x.fails(a.now, known)
	}
	copy(x.st.env, env)
	out, _ := x.holds(a.before)
	return out
}

// known lists the variables of a part that are bound.
func known(p *part, bound func(name string) bool) []string {
	var out []string
	for _, name := range p.names {
		if bound(name) {
			out = append(out, name)
		}
	}
	return out
}

// historically is the reason of the HISTORICALLY of an atom, without the NOT that the atom
// may be: why it holds, or why it does not.
func (x explainer) historically(a *heldAtom, p *part) Reason {
	plain, operator := &heldAtom{spec: a.spec, cols: a.cols}, *p
	if not, ok := p.f.(*syntax.Not); ok {
		operator.f = not.F
	}
	if m, _ := plain.held(x.st); m != verdict.T {
		return x.conjunct(plain, &operator)
	}
	r := x.reason(&operator, everyName)
	r.Window = x.window(r.TS, a.spec.lo, a.spec.hi)
	x.failure(a, r.Window)
	return r
}

// failure narrows the window of a HISTORICALLY that does not hold to where its operand
// failed last, as far as that is known whatever the store has cleared away: without an
// upper bound it is not.
func (x explainer) failure(a *heldAtom, w *Window) {
	if !a.spec.bounded {
		return
	}
	now := x.st.moment(a.spec.delay)
	var e []uint64
	if s := x.st.stores[a.spec.id]; s != nil {
		if slot := s.find(x.values(a.cols)); slot >= 0 {
			e = s.ents[slot]
		}
	}
	stride := a.spec.stride()
	last := len(e) - stride
	if a.spec.lo == 0 && (last < 0 || e[last+heldTo] != now.index) {
		w.From = w.To // it fails now
		return
	}
	for at := last; at >= 0; at -= stride {
		if entryMark(e, at) != verdict.T {
			continue
		}
		from, to := firstOf(e, at), lastOf(e, at)
		if at == last {
			to = math.MaxInt64 // it is still going on
		}
		if from <= w.To && to >= w.From {
			w.From, w.To = max(w.From, from), min(w.To, to)
			return
		}
	}
}
