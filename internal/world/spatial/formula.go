package spatial

import (
	"slices"

	"github.com/aspis-rv/aspis/internal/world"
	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// Formula is a compiled location formula with the memory that its evaluation uses. It
// belongs to one goroutine; Clone makes another one. Evaluations allocate nothing once the
// memory has grown to the size of the graph, some 20 bytes for each vertex and level of
// nested operators.
type Formula struct {
	code      *code
	run       run
	exhausted bool
}

// code is what a formula was compiled to. It is immutable.
type code struct {
	root   node
	vars   []string
	slots  int // of the environment
	rels   []world.Rel
	labels []string
	preds  []*pred
	memos  int
}

func newFormula(c *code) *Formula {
	f := &Formula{code: c}
	f.run.init(c)
	return f
}

// Clone returns the same formula with memory of its own.
func (f *Formula) Clone() *Formula { return newFormula(f.code) }

// Within has evaluations visit no more vertices together than purse says, and take what they
// visit from it. Several formulas may share a purse; nil is none.
func (f *Formula) Within(purse *int64) { f.run.purse = purse }

// Vars lists the free variables of the formula in the order of their first occurrence. The
// location is not among them, unless the formula names its variable.
func (f *Formula) Vars() []string { return slices.Clone(f.code.vars) }

// Relations lists the relations that the formula reads, labels included, sorted by kind and
// name.
func (f *Formula) Relations() []world.Rel { return slices.Clone(f.code.rels) }

// Value is the value of the formula at a location: F if it holds by definite tuples, Fp if
// presumptive ones are needed, Tp if it holds only when presumptive tuples under a negation
// are disregarded, T if it does not hold. args are the values of Vars. At an unknown
// location, and if the evaluation takes too many steps, it is F in the unsafe sense and T in
// the safe one.
func (f *Formula) Value(g Graph, loc string, args []schema.Value, sense world.Sense) verdict.Value {
	defer f.run.leave()
	f.exhausted = false
	v, known := f.run.enter(g, f.code, loc, args, sense)
	if !known {
		return unknown(sense)
	}
	value, _ := f.value(v)
	f.run.pay(1)
	if f.exhausted = f.run.budget == 0; f.exhausted {
		return unknown(sense)
	}
	return value
}

// Exhausted tells whether the last Value was not found because its evaluation took too many
// steps: the answer is incomplete.
func (f *Formula) Exhausted() bool { return f.exhausted }

// value evaluates the formula three ways, as far as need be. It also returns the evaluation
// by which the formula holds in the way that the value says.
func (f *Formula) value(v world.V) (verdict.Value, evaluation) {
	r := &f.run
	holds := r.holds(f.code.root, v, allTuples)
	switch {
	case !r.presumptive && holds:
		return verdict.F, allTuples
	case !r.presumptive: // the other evaluations would read the same
		return verdict.T, allTuples
	case holds && r.holds(f.code.root, v, negatedTuples):
		return verdict.F, negatedTuples
	case holds:
		return verdict.Fp, allTuples
	case r.holds(f.code.root, v, plainTuples):
		return verdict.Tp, plainTuples
	}
	return verdict.T, allTuples
}

// unknown is the value at a location of which nothing is known.
func unknown(sense world.Sense) verdict.Value {
	if sense == world.Unsafe {
		return verdict.F
	}
	return verdict.T
}
