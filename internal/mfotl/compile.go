package mfotl

import (
	"fmt"
	"maps"
	"slices"

	"github.com/aspis-rv/aspis/internal/lang/check"
	"github.com/aspis-rv/aspis/internal/lang/syntax"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// compiler builds a Plan. A formula is taken apart into chains of conjuncts; every
// ONCE, SINCE and HISTORICALLY becomes a store, shared by its canonical text; PREVIOUS becomes a
// gate, and what stands under it reads the facts one time point later.
type compiler struct {
	plan   *Plan
	stores map[string]int32            // by canonical text and delay
	reads  map[int32]bool              // stores read by the formula being compiled
	kinds  map[string]schema.ValueKind // of the variables of the formula being compiled
	facts  map[string]int              // indexes over facts, by relation, delay and known arguments
	frees  map[syntax.Formula][]string // free variables, in the order of canonical
	// externals numbers the external relations.
	externals map[string]int
	depth     int // greatest delay met
}

// factIndex gives a number to the index over the facts of a relation at a delay by the
// arguments at some positions.
func (c *compiler) factIndex(rel, delay int, keys []int) int {
	key := fmt.Sprint(rel, delay, keys)
	id, ok := c.facts[key]
	if !ok {
		id = c.plan.preds
		c.facts[key] = id
		c.plan.preds++
	}
	return id
}

// scope is the set of variables evaluated in one environment: those of a whole
// formula outside its temporal operands, or of one such operand.
type scope struct {
	slots map[string]int
}

func newScope() *scope { return &scope{slots: map[string]int{}} }

func (sc *scope) slot(c *compiler, name string) int {
	s, ok := sc.slots[name]
	if !ok {
		s = len(sc.slots)
		sc.slots[name] = s
		c.plan.envSize = max(c.plan.envSize, len(sc.slots))
	}
	return s
}

func (sc *scope) slotsOf(c *compiler, names []string) []int {
	out := make([]int, len(names))
	for i, n := range names {
		out[i] = sc.slot(c, n)
	}
	c.plan.keySize = max(c.plan.keySize, len(names))
	return out
}

// varSet is a set of variables that have a value.
type varSet map[string]bool

func (v varSet) all(names []string) bool {
	for _, n := range names {
		if !v[n] {
			return false
		}
	}
	return true
}

// with is the set with one more variable.
func (v varSet) with(name string) varSet {
	out := maps.Clone(v)
	out[name] = true
	return out
}

func (v varSet) any(names []string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return v[n] })
}

// place is where a sub-formula stands.
type place struct {
	scope *scope
	level int    // scratch level
	bound varSet // variables that have a value when it is reached
}

// conjunct is a part of a chain with the delay at which it is evaluated.
type conjunct struct {
	f     syntax.Formula
	delay int
}

// alternative is one disjunct: its gates and its conjuncts.
type alternative struct {
	gates []atom
	parts []conjunct
}

func (c *compiler) root(f *check.Checked) error {
	c.reads = map[int32]bool{}
	c.kinds = f.Kinds
	var names []string
	for _, col := range f.Free {
		names = append(names, col.Name)
	}
	fu, err := c.tuples(place{scope: newScope(), bound: varSet{}}, f.Core, 0, names)
	if err != nil {
		return err
	}
	c.plan.roots = append(c.plan.roots, root{f: fu, reads: sorted(c.reads), reach: f.Reach()})
	return nil
}

func sorted(set map[int32]bool) []int32 { return slices.Sorted(maps.Keys(set)) }

// tuples compiles a sub-formula whose tuples over names are collected.
func (c *compiler) tuples(at place, f syntax.Formula, delay int, names []string) (*fused, error) {
	fu := &fused{level: at.level, out: at.scope.slotsOf(c, names)}
	return fu, c.fuse(fu, at, f, delay, names, true)
}

// check compiles a sub-formula all of whose free variables are bound.
func (c *compiler) check(at place, f syntax.Formula, delay int, witness bool) (*fused, error) {
	fu := &fused{level: at.level}
	return fu, c.fuse(fu, at, f, delay, nil, witness)
}

func (c *compiler) fuse(fu *fused, at place, f syntax.Formula, delay int, names []string, witness bool) error {
	alts, err := c.split(f, delay, nil)
	if err != nil {
		return err
	}
	c.plan.levels = max(c.plan.levels, at.level+1)
	places := len(c.plan.places)
	for _, alt := range alts {
		b := chainBuilder{compiler: c, scope: at.scope, level: at.level + 1, bound: maps.Clone(at.bound), witness: witness}
		b.trigger.always = true
		b.atoms = append(b.atoms, alt.gates...)
		if err := b.build(alt.parts); err != nil {
			return err
		}
		if !b.bound.all(names) {
			return fmt.Errorf("%w: %s does not determine all of its variables", ErrFormula, f)
		}
		fu.chains = append(fu.chains, chain{atoms: b.atoms, sink: fu, parts: b.partsOf(alt.gates)})
		fu.trigger = fu.trigger.or(b.trigger)
		if witness {
			fu.wit = max(fu.wit, b.wit)
		}
	}
	fu.faulty = len(c.plan.places) > places
	fu.determined = len(fu.chains) == 1 && determined(fu.chains[0].parts, func(name string) bool {
		return at.bound[name] || slices.Contains(names, name)
	})
	return nil
}

// determined tells whether parts have no variables but the known ones.
func determined(parts []part, known func(name string) bool) bool {
	return !slices.ContainsFunc(parts, func(p part) bool {
		return slices.ContainsFunc(p.names, func(name string) bool { return !known(name) })
	})
}

// split takes a sub-formula apart at a boundary where derivations are fused:
// quantifiers there are but projections, disjuncts are alternatives.
func (c *compiler) split(f syntax.Formula, delay int, gates []atom) ([]alternative, error) {
	switch f := f.(type) {
	case *syntax.Exists:
		return c.split(f.F, delay, gates)
	case *syntax.Or:
		left, err := c.split(f.Left, delay, gates)
		if err != nil {
			return nil, err
		}
		right, err := c.split(f.Right, delay, gates)
		return append(left, right...), err
	case *syntax.Prev:
		gate, err := c.gate(f, delay)
		if err != nil {
			return nil, err
		}
		return c.split(f.F, delay+1, append(slices.Clip(gates), gate))
	default: // one alternative
	}
	alt := alternative{gates: slices.Clip(gates)}
	err := c.flatten(f, delay, &alt)
	return []alternative{alt}, err
}

// flatten adds the conjuncts of f to alt.
func (c *compiler) flatten(f syntax.Formula, delay int, alt *alternative) error {
	switch f := f.(type) {
	case *syntax.And:
		if err := c.flatten(f.Left, delay, alt); err != nil {
			return err
		}
		return c.flatten(f.Right, delay, alt)
	case *syntax.Prev:
		gate, err := c.gate(f, delay)
		if err != nil {
			return err
		}
		alt.gates = append(alt.gates, gate)
		return c.flatten(f.F, delay+1, alt)
	case *syntax.Bool:
		if !f.Value {
			alt.gates = append(alt.gates, falseAtom{})
		}
		return nil
	default: // one conjunct
	}
	alt.parts = append(alt.parts, conjunct{f, delay})
	return nil
}

func (c *compiler) gate(f *syntax.Prev, delay int) (atom, error) {
	if delay+1 > MaxDelay {
		return nil, fmt.Errorf("%w: more than %d PREVIOUS above each other; use ONCE with an interval", ErrFormula, MaxDelay)
	}
	c.depth = max(c.depth, delay+1)
	lo, hi, err := bounds(f.I)
	return &gateAtom{f: f, delay: delay, lo: lo, hi: hi}, err
}

func bounds(i syntax.Interval) (lo, hi uint64, err error) {
	switch {
	case i.Lo < 0 || (!i.Unbounded && i.Hi < i.Lo):
		return 0, 0, fmt.Errorf("%w: interval [%d,%d] is negative or empty", ErrFormula, i.Lo, i.Hi)
	case i.Unbounded:
		return uint64(i.Lo), 1<<64 - 1, nil
	}
	return uint64(i.Lo), uint64(i.Hi), nil
}

// store compiles a ONCE, SINCE or HISTORICALLY at a delay, or finds it compiled. names are the
// names its columns have in f.
func (c *compiler) store(f syntax.Formula, delay int) (spec *storeSpec, names []string, err error) {
	text, names, err := canonical(f)
	if err != nil {
		return nil, nil, err
	}
	key := fmt.Sprintf("%d %s", delay, text)
	if id, ok := c.stores[key]; ok {
		spec = c.plan.stores[id]
	} else if spec, err = c.newStore(f, delay, key, names); err != nil {
		return nil, nil, err
	}
	for _, r := range spec.reads {
		c.reads[r] = true
	}
	return spec, names, nil
}

func (c *compiler) newStore(f syntax.Formula, delay int, key string, names []string) (*storeSpec, error) {
	outer := c.reads
	defer func() { c.reads = outer }()
	c.reads = map[int32]bool{}
	spec := &storeSpec{key: key, delay: delay, arity: len(names)}
	var err error
	switch f := f.(type) {
	case *syntax.Once:
		err = c.window(spec, f.I, f.F, names)
	case *syntax.Since:
		if err = c.window(spec, f.I, f.Right, names); err == nil {
			err = c.left(spec, f.Left, names)
		}
	case *syntax.Historically:
		spec.universal = true
		err = c.window(spec, f.I, f.F, names)
		spec.wit++ // where the run began
	default:
		err = fmt.Errorf("%w: %T has no window", ErrFormula, f)
	}
	if err != nil {
		return nil, err
	}
	spec.id = int32(len(c.plan.stores))
	c.reads[spec.id] = true
	spec.reads = sorted(c.reads)
	c.plan.stores = append(c.plan.stores, spec)
	c.stores[key] = spec.id
	return spec, nil
}

func (c *compiler) window(spec *storeSpec, i syntax.Interval, f syntax.Formula, names []string) (err error) {
	if spec.lo, spec.hi, err = bounds(i); err != nil {
		return err
	}
	spec.bounded = !i.Unbounded
	spec.operand, err = c.tuples(place{scope: newScope(), bound: varSet{}}, f, spec.delay, names)
	if err == nil {
		spec.wit = spec.operand.wit
	}
	return err
}

func (c *compiler) left(spec *storeSpec, f syntax.Formula, names []string) error {
	l := &leftOp{}
	spec.left = l
	if not, ok := f.(*syntax.Not); ok {
		l.negated = true
		f = not.F
	}
	var cols []int
	var own []string
	for i, n := range names {
		if slices.Contains(c.freeVars(f), n) {
			cols = append(cols, i)
			own = append(own, n)
		}
	}
	if len(own) != len(c.freeVars(f)) {
		return fmt.Errorf("%w: the left operand of SINCE has a variable that the right one has not: %s", ErrFormula, f)
	}
	l.index = spec.indexOn(cols)
	// What only facts of the moment can satisfy is collected; what may hold at any
	// time, such as another window, is looked up for each tuple.
	var err error
	l.f, err = c.tuples(place{scope: newScope(), bound: varSet{}}, f, spec.delay, own)
	if err != nil {
		return err
	}
	if !l.f.trigger.always {
		l.f.wit = 0 // a left operand has no part in witnesses
		return nil
	}
	l.checks = true
	at := place{scope: newScope(), bound: varSet{}}
	l.cols = at.scope.slotsOf(c, own)
	for _, n := range own {
		at.bound[n] = true
	}
	l.f, err = c.check(at, f, spec.delay, false)
	return err
}
