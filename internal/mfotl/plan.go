package mfotl

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/aspis-rv/aspis/internal/lang/check"
	"github.com/aspis-rv/aspis/internal/lang/syntax"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// The errors of this package, to be tested with errors.Is.
var (
	// ErrFormula is a formula outside the contract of check.Checked.
	ErrFormula = errors.New("mfotl: formula cannot be compiled")
	// ErrState is an encoded state that AppendState did not write.
	ErrState = errors.New("mfotl: state is corrupt")
	// ErrOther is an encoded state of another plan or version.
	ErrOther = errors.New("mfotl: state belongs to another plan or version")
)

// DefaultTuples is the number of window entries one trace may hold. An entry costs
// some 100 to 150 bytes, so a trace is bounded by about 20 MB; the largest window
// of the reference workloads (200 users by 200 resources, and 12,000 objects)
// needs 40,000.
const DefaultTuples = 1 << 17

// MaxDelay is the greatest number of PREVIOUS operators one above the other. A
// trace retains that many time points in full, so that 64 bound a trace to 64
// events; rules that look further back use ONCE.
const MaxDelay = 64

// Plan is a set of formulas compiled together. It is immutable and safe for
// concurrent use; what it computes with lies in the States made from it.
type Plan struct {
	print  [16]byte // fingerprint
	seed   uint64
	budget int
	depth  int // greatest delay

	emptyExtremes bool // MIN and MAX have a value without a tuple

	externals []External

	builtIn  bool  // supply tp, ts and tpts
	builtIns []int // their relations, -1 where no formula reads it

	relOf  map[string]int
	places []faultPlace // of terms that may have no value
	rels   []relSpec
	consts dict
	stores []*storeSpec // every store after those it reads
	roots  []root
	rootOf []int // by formula

	storeWakes   wakeups // stores that may change
	formulaWakes wakeups // formulas that may have rows
	keep         [][]int // by k: relations needed k+1 steps later, ascending

	// Sizes of scratch memory.
	envSize, keySize, levels, preds int
}

// relSpec is a relation that some formula reads.
type relSpec struct {
	name     string
	arity    int
	maxDelay int
}

// root is one distinct formula.
type root struct {
	f     *fused
	reads []int32
	reach int64 // see check.Checked.Reach
}

// Option changes how Compile makes a plan.
type Option func(*Plan)

// WithTuples sets the number of window entries one trace may hold; DefaultTuples
// unless given. It is part of the plan's fingerprint.
func WithTuples(n int) Option { return func(p *Plan) { p.budget = n } }

// WithBuiltIns makes the plan supply the relations of check.BuiltIn: tp(i), the index
// of the time point, ts(t), its time stamp, and tpts(i, t), both. Without it these
// are names like any other.
func WithBuiltIns() Option { return func(p *Plan) { p.builtIn = true } }

// WithMonPolyEmpty gives MIN and MAX without groups and without a tuple the values that
// MonPoly prints: 0, "", and infinity with the sign that leaves every other value the
// extreme. Without it they have none.
func WithMonPolyEmpty() Option { return func(p *Plan) { p.emptyExtremes = true } }

// Compile makes a plan of formulas; formula i of the plan is formulas[i]. Equal
// formulas, and temporal sub-formulas equal up to the names of their variables,
// are evaluated once. It fails with ErrFormula if a formula's Core does not obey
// the contract of check.Checked.
func Compile(formulas []*check.Checked, opts ...Option) (*Plan, error) {
	p := &Plan{budget: DefaultTuples, relOf: map[string]int{}}
	for _, o := range opts {
		o(p)
	}
	externals, err := p.externalNames()
	if err != nil {
		return nil, err
	}
	c := compiler{
		plan: p, stores: map[string]int32{}, facts: map[string]int{}, frees: map[syntax.Formula][]string{},
		externals: externals,
	}
	h := sha256.New()
	fmt.Fprintf(h, "aspis mfotl state %d\nbudget %d\nbuilt-ins %t\nempty extremes %t\n", stateVersion, p.budget, p.builtIn, p.emptyExtremes)
	for _, e := range p.externals {
		fmt.Fprintf(h, "external %q %d %t\n", e.Name, e.Arity, e.Test)
	}
	roots := map[string]int{}
	for i, f := range formulas {
		text, err := rootText(f)
		if err != nil {
			return nil, fmt.Errorf("formula %d: %w", i, err)
		}
		fmt.Fprintf(h, "%s\n", text)
		at, ok := roots[text]
		if !ok {
			at = len(p.roots)
			if err := c.root(f); err != nil {
				return nil, fmt.Errorf("formula %d: %w", i, err)
			}
			roots[text] = at
		}
		p.rootOf = append(p.rootOf, at)
	}
	sum := h.Sum(nil)
	copy(p.print[:], sum)
	p.seed = binary.LittleEndian.Uint64(sum[16:])
	c.finish()
	return p, nil
}

// rootText is the canonical text of a formula together with the order of its
// columns.
func rootText(f *check.Checked) (string, error) {
	text, free, err := canonical(f.Core)
	if err != nil {
		return "", err
	}
	if len(free) != len(f.Free) {
		return "", fmt.Errorf("%w: it has %d free variables, its columns are %d", ErrFormula, len(free), len(f.Free))
	}
	num := map[string]int{}
	for i, name := range free {
		num[name] = i
	}
	for _, col := range f.Free {
		n, ok := num[col.Name]
		if !ok {
			return "", fmt.Errorf("%w: column %s is not a free variable of it", ErrFormula, col.Name)
		}
		delete(num, col.Name)
		text += fmt.Sprintf(" %d", n)
	}
	return text, nil
}

// Formulas is the number of formulas the plan was compiled from.
func (p *Plan) Formulas() int { return len(p.rootOf) }

// Fingerprint identifies the plan: states move only between plans that have the
// same one. Equal formulas in equal order, with equal options, have equal ones.
func (p *Plan) Fingerprint() [16]byte { return p.print }

// finish computes what depends on the whole plan.
func (c *compiler) finish() {
	p := c.plan
	for _, r := range p.rels {
		p.depth = max(p.depth, r.maxDelay)
	}
	p.depth = max(p.depth, c.depth)
	if p.builtIn {
		p.builtIns = []int{p.numberOf("tp", 1), p.numberOf("ts", 1), p.numberOf("tpts", 2)}
	}
	p.storeWakes = newWakeups(len(p.stores), p.depth, len(p.rels))
	for _, s := range p.stores {
		p.storeWakes.add(int(s.id), s.trigger())
	}
	p.formulaWakes = newWakeups(len(p.rootOf), p.depth, len(p.rels))
	for i, at := range p.rootOf {
		p.formulaWakes.add(i, p.roots[at].f.trigger)
	}
	p.keep = make([][]int, p.depth)
	for k := range p.keep {
		for rel, r := range p.rels {
			if r.maxDelay > k {
				p.keep[k] = append(p.keep[k], rel)
			}
		}
	}
}

// numberOf returns the number of a relation, -1 if no formula reads it.
func (p *Plan) numberOf(name string, arity int) int {
	rel, ok := p.relOf[name]
	if !ok || p.rels[rel].arity != arity {
		return -1
	}
	return rel
}

// trigger says when the store can change other than by the passing of time.
func (p *storeSpec) trigger() trigger {
	switch {
	case p.gapped():
		return trigger{always: true} // time points without facts count as well
	case p.left == nil:
		return p.operand.trigger
	case p.left.negated && !p.left.checks:
		return p.operand.trigger.or(p.left.f.trigger)
	}
	return trigger{always: true}
}

// relation gives a relation its number.
func (c *compiler) relation(name string, arity, delay int) (int, error) {
	p := c.plan
	rel, ok := p.relOf[name]
	if !ok {
		rel = len(p.rels)
		p.relOf[name] = rel
		p.rels = append(p.rels, relSpec{name: name, arity: arity})
	}
	r := &p.rels[rel]
	if r.arity != arity {
		return 0, fmt.Errorf("%w: relation %s has %d arguments here and %d elsewhere", ErrFormula, name, arity, r.arity)
	}
	r.maxDelay = max(r.maxDelay, delay)
	return rel, nil
}

// constant gives a constant its word.
func (c *compiler) constant(v schema.Value) word {
	if w, ok := inline(v); ok {
		return w
	}
	if w, ok := c.plan.consts.find(v); ok {
		return w
	}
	return c.plan.consts.add(v)
}
