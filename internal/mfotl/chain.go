package mfotl

import (
	"fmt"

	"github.com/aspis-rv/aspis/internal/lang/syntax"
)

// chainBuilder orders the conjuncts of a chain and compiles each for the variables
// that those before it bind: tests as soon as they can be made, facts of the
// moment before windows, look-ups by key before scans.
type chainBuilder struct {
	*compiler
	scope   *scope
	level   int
	bound   varSet
	atoms   []atom
	origins []conjunct // of the atoms behind the gates
	wit     int
	witness bool // somebody may ask for witnesses
	trigger trigger
}

func (b *chainBuilder) build(parts []conjunct) error {
	rest := b.weighAll(parts)
	for len(rest.parts) > 0 {
		next := rest.cheapest()
		if next < 0 {
			return fmt.Errorf("%w: nothing binds the variables of %s", ErrFormula, rest.parts[0].f)
		}
		p := rest.parts[next]
		rest.remove(next)
		before := len(b.atoms)
		if err := b.add(p.conjunct, rest.parts); err != nil {
			return err
		}
		for range len(b.atoms) - before {
			b.origins = append(b.origins, p.conjunct)
		}
		for _, v := range b.freeVars(p.f) {
			if !b.bound[v] {
				b.bound[v] = true
				for _, q := range rest.reading[v] {
					b.weigh(q)
				}
			}
		}
	}
	return nil
}

// partsOf says what the atoms of the chain stand for, the first of which are gates.
func (b *chainBuilder) partsOf(gates []atom) []part {
	parts := make([]part, len(gates), len(b.atoms))
	for i, g := range gates {
		if g, ok := g.(*gateAtom); ok {
			parts[i] = part{f: g.f, delay: g.delay}
		} else {
			parts[i] = part{f: &syntax.Bool{}}
		}
	}
	for _, o := range b.origins {
		names := b.freeVars(o.f)
		parts = append(parts, part{f: o.f, delay: o.delay, names: names, slots: b.scope.slotsOf(b.compiler, names)})
	}
	return parts
}

// known tells whether all variables of a term are bound.
func (b *chainBuilder) known(t syntax.Term) bool {
	known := true
	syntax.TermVars(t, func(v syntax.Var) { known = known && b.bound[v.Name] })
	return known
}

// binds tells whether `x = t` gives x a value.
func (b *chainBuilder) binds(x, t syntax.Term) bool {
	_, ok := x.(syntax.Var)
	return ok && b.known(t)
}

// add compiles a conjunct; rest are those that follow it.
func (b *chainBuilder) add(p conjunct, rest []*weighed) error {
	switch f := p.f.(type) {
	case *syntax.Pred:
		return b.pred(f, p.delay)
	case *syntax.Cmp:
		b.atoms = append(b.atoms, b.cmp(f))
		return nil
	case *syntax.Match:
		return b.match(f)
	case *syntax.Agg:
		return b.agg(f, p.delay, b.testsOf(f, rest))
	case *syntax.Historically:
		return b.held(f, p.delay, false)
	case *syntax.Not:
		if h, ok := f.F.(*syntax.Historically); ok {
			return b.held(h, p.delay, true)
		}
		fu, err := b.check(place{b.scope, b.level, b.bound}, f.F, p.delay, false)
		b.atoms = append(b.atoms, &notAtom{f: fu})
		return err
	case *syntax.Or, *syntax.Exists:
		return b.sub(f, p.delay)
	case *syntax.New:
		return b.rise(f, p.delay)
	case *syntax.Once, *syntax.Since:
		return b.window(f, p.delay)
	default:
		return fmt.Errorf("%w: %T in a place where it cannot be", ErrFormula, f)
	}
}

func (b *chainBuilder) pred(f *syntax.Pred, delay int) error {
	if rel, ok := b.externalOf(f); ok {
		return b.external(f, rel, delay)
	}
	rel, err := b.relation(f.Name, len(f.Args), delay)
	if err != nil {
		return err
	}
	a := &predAtom{rel: rel, delay: delay}
	b.plan.keySize = max(b.plan.keySize, len(f.Args))
	if a.args, a.keys, err = b.arguments(f); err != nil {
		return err
	}
	a.index = b.factIndex(rel, delay, a.keys)
	b.atoms = append(b.atoms, a)
	b.wit++
	b.trigger = b.trigger.and(trigger{on: []source{{rel, delay}}})
	return nil
}

// arguments compiles the arguments of a predicate. keys are the positions of those whose
// value is known before.
func (b *chainBuilder) arguments(f *syntax.Pred) (args []predArg, keys []int, err error) {
	fresh := map[string]bool{}
	for i, t := range f.Args {
		switch t := t.(type) {
		case syntax.Arith, syntax.Neg, syntax.Conv, syntax.Here:
			return nil, nil, fmt.Errorf("%w: %s: an argument is a variable or a constant, not %s", ErrFormula, f, t)
		case syntax.Const:
			args = append(args, predArg{kind: argConst, word: b.constant(t.Value)})
			keys = append(keys, i)
		case syntax.Var:
			arg := predArg{kind: argBind, slot: b.scope.slot(b.compiler, t.Name)}
			switch {
			case b.bound[t.Name]:
				arg.kind = argBound
				keys = append(keys, i)
			case fresh[t.Name]:
				arg.kind = argBound
			}
			fresh[t.Name] = true
			args = append(args, arg)
		}
	}
	return args, keys, nil
}

func (b *chainBuilder) operand(t syntax.Term) operand {
	switch t := t.(type) {
	case syntax.Var:
		return operand{slot: b.scope.slot(b.compiler, t.Name)}
	case syntax.Const:
		return operand{slot: -1, word: b.constant(t.Value)}
	case syntax.Arith, syntax.Neg, syntax.Conv, syntax.Here:
	}
	return operand{slot: -1}
}

// computed tells whether a term is neither a variable nor a constant.
func computed(t syntax.Term) bool {
	switch t.(type) {
	case syntax.Var, syntax.Const:
		return false
	case syntax.Arith, syntax.Neg, syntax.Conv, syntax.Here:
	}
	return true
}

func (b *chainBuilder) cmp(f *syntax.Cmp) atom {
	switch {
	case !b.known(f.Left):
		return b.bind(f.Left, f.Right)
	case !b.known(f.Right):
		return b.bind(f.Right, f.Left)
	}
	return b.compare(f)
}

// compare compiles a comparison of known terms.
func (b *chainBuilder) compare(f *syntax.Cmp) test {
	if computed(f.Left) || computed(f.Right) {
		return &exprCmpAtom{op: f.Op, left: b.expr(f.Left), right: b.expr(f.Right)}
	}
	return &cmpAtom{op: f.Op, left: b.operand(f.Left), right: b.operand(f.Right)}
}

func (b *chainBuilder) bind(x, t syntax.Term) atom {
	slot := b.operand(x).slot
	if computed(t) {
		return &exprBindAtom{slot: slot, from: b.expr(t)}
	}
	return &bindAtom{slot: slot, from: b.operand(t)}
}

// sub adds a quantifier or disjunction.
func (b *chainBuilder) sub(f syntax.Formula, delay int) error {
	var names []string
	for _, v := range b.freeVars(f) {
		if !b.bound[v] {
			names = append(names, v)
		}
	}
	at := place{b.scope, b.level, b.bound}
	var fu *fused
	var err error
	if len(names) == 0 {
		fu, err = b.check(at, f, delay, true)
		b.atoms = append(b.atoms, &checkAtom{f: fu})
	} else {
		fu, err = b.tuples(at, f, delay, names)
		b.atoms = append(b.atoms, &tuplesAtom{f: fu})
		b.level++ // its tuples are read while the rest of the chain runs
	}
	if err != nil {
		return err
	}
	b.wit += fu.wit
	b.trigger = b.trigger.and(fu.trigger)
	return nil
}

func (b *chainBuilder) window(f syntax.Formula, delay int) error {
	spec, names, err := b.store(f, delay)
	if err != nil {
		return err
	}
	a := &storeAtom{spec: spec, cols: b.scope.slotsOf(b.compiler, names)}
	for i, n := range names {
		if b.bound[n] {
			a.known = append(a.known, i)
		} else {
			a.binds = append(a.binds, i)
		}
	}
	if len(a.known) > 0 && len(a.binds) > 0 {
		a.index = spec.indexOn(a.known)
	}
	b.atoms = append(b.atoms, a)
	b.wit += spec.wit
	return nil
}

// held adds a HISTORICALLY, or the negation of one, whose variables are bound.
func (b *chainBuilder) held(f *syntax.Historically, delay int, negated bool) error {
	spec, names, err := b.store(f, delay)
	if err != nil {
		return err
	}
	b.atoms = append(b.atoms, &heldAtom{spec: spec, cols: b.scope.slotsOf(b.compiler, names), negated: negated})
	if negated {
		return nil
	}
	b.wit += spec.wit
	if spec.lo == 0 { // it holds now as well
		b.trigger = b.trigger.and(spec.operand.trigger)
	}
	return nil
}
