package mfotl

import (
	"fmt"

	"github.com/aspis-rv/aspis/internal/lang/syntax"
	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// External declares a relation that is asked for rather than logged: its tuples at the
// pending time point come from a Source. Facts of its name are passed over.
type External struct {
	Name  string
	Arity int // 64 at most
	// Test says that the relation can only be asked whether it has a tuple: all of its
	// arguments must be bound by other conjuncts.
	Test bool
}

// ExternalTuple is a tuple of an external relation.
type ExternalTuple struct {
	Args []schema.Value // valid until the next tuple
	Mark verdict.Value  // Tp, Fp or F
	// Offset is the log offset of the event that the tuple rests on, plus one; 0: none. It
	// is the witness of the tuple.
	Offset uint64
}

// Source answers for the external relations at one time point. Its answers do not change
// while a step is pending.
type Source interface {
	// Scan yields, in any order, every tuple of external relation rel that agrees with
	// known: an argument whose bit in bound is set equals known there. No tuple comes
	// twice. It stops when yield returns false. The answer is complete if the tuples are
	// certain; if not, every formula that read it is incomplete (see State.Fault).
	//
	// Scan is called anew while it yields, with another known.
	Scan(rel int, known []schema.Value, bound uint64, yield func(ExternalTuple) bool) (complete bool)
}

// maxArity is the number of arguments that the bits of a Source are good for.
const maxArity = 64

// WithExternals declares external relations, which a Source knows by their place in the
// list. It is part of the plan's fingerprint. An external relation has no past: Compile
// refuses one below PREVIOUS. It wakes nothing either. A formula that facts can wake
// is evaluated when they do, whatever external relations it reads; one with external
// relations alone, and such an operand of a window, is evaluated at every step.
func WithExternals(list ...External) Option {
	return func(p *Plan) { p.externals = append(p.externals, list...) }
}

// externalNames numbers the external relations.
func (p *Plan) externalNames() (map[string]int, error) {
	out := map[string]int{}
	for i, e := range p.externals {
		if _, twice := out[e.Name]; twice {
			return nil, fmt.Errorf("%w: external relation %s is declared twice", ErrFormula, e.Name)
		}
		if e.Arity < 0 || e.Arity > maxArity {
			return nil, fmt.Errorf("%w: external relation %s has %d arguments; %d are the most", ErrFormula, e.Name, e.Arity, maxArity)
		}
		out[e.Name] = i
	}
	return out, nil
}

// externalOf is the number of the external relation of a formula, if it is one.
func (c *compiler) externalOf(f syntax.Formula) (rel int, ok bool) {
	p, ok := f.(*syntax.Pred)
	if !ok {
		return 0, false
	}
	rel, ok = c.externals[p.Name]
	return rel, ok
}

// external adds a predicate of an external relation.
func (b *chainBuilder) external(f *syntax.Pred, rel, delay int) error {
	e := &b.plan.externals[rel]
	switch {
	case len(f.Args) != e.Arity:
		return fmt.Errorf("%w: external relation %s has %d arguments, not %d", ErrFormula, e.Name, e.Arity, len(f.Args))
	case delay > 0:
		return fmt.Errorf("%w: %s is known at the present time point only, and stands below PREVIOUS; put it outside", ErrFormula, f)
	}
	args, keys, err := b.arguments(f)
	if err != nil {
		return err
	}
	a := &externalAtom{rel: rel, args: args, at: b.faultAt(f, f.Pos)}
	for _, i := range keys {
		a.bound |= 1 << i
	}
	b.atoms = append(b.atoms, a)
	b.wit++
	return nil
}

// testsOutside tells whether there is an external test in f.
func (b *chainBuilder) testsOutside(f syntax.Formula) bool {
	found := false
	syntax.Walk(f, func(g syntax.Formula) bool {
		if p, ok := g.(*syntax.Pred); ok {
			rel, external := b.externalOf(p)
			found = found || external && b.plan.externals[rel].Test
		}
		return !found
	})
	return found
}

// externalCost is the cost of an external relation.
func (b *chainBuilder) externalCost(f *syntax.Pred, rel int, known bool) int {
	switch {
	case known && b.plan.externals[rel].Test:
		return costOutside
	case known:
		return costLookup
	case b.plan.externals[rel].Test:
		return inadmissible
	case b.bound.any(b.freeVars(f)):
		return costSeek
	case b.knownArgs(f) > 0:
		return costSelect
	}
	return costScan
}
