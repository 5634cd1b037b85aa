package mfotl

import (
	"fmt"
	"math"
	"slices"

	"github.com/aspis-rv/aspis/internal/lang/syntax"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// match adds MATCHES or SUBSTRING, whose texts are known.
func (b *chainBuilder) match(f *syntax.Match) error {
	if f.Op == syntax.Substring {
		b.atoms = append(b.atoms, &substringAtom{part: b.expr(f.Left), whole: b.expr(f.Right)})
		return nil
	}
	what, err := b.newSearch(f)
	if err != nil {
		return fmt.Errorf("%w: %s: %w", ErrFormula, f, err)
	}
	of := b.expr(f.Left)
	if len(f.Groups) == 0 {
		b.atoms = append(b.atoms, &matchAtom{of, what})
		return nil
	}
	if len(f.Groups) != what.pattern.NumSubexp() {
		return fmt.Errorf("%w: %s: %d terms for %d groups", ErrFormula, f, len(f.Groups), what.pattern.NumSubexp())
	}
	a := &groupsAtom{of: of, search: what}
	fresh := map[string]bool{}
	for _, t := range f.Groups {
		arg, err := b.groupArg(f, t, fresh)
		if err != nil {
			return err
		}
		a.groups = append(a.groups, arg)
	}
	b.atoms = append(b.atoms, a)
	return nil
}

// groupArg compiles the term of a group. fresh are the variables that groups before it
// bind.
func (b *chainBuilder) groupArg(f *syntax.Match, t syntax.Term, fresh map[string]bool) (groupArg, error) {
	switch t := t.(type) {
	case syntax.Const:
		if t.Value.Kind == schema.KindString {
			return groupArg{kind: argConst, text: t.Value.Str}, nil
		}
	case syntax.Var:
		arg := groupArg{kind: argBind, slot: b.scope.slot(b.compiler, t.Name)}
		if b.bound[t.Name] || fresh[t.Name] {
			arg.kind = argBound
		}
		fresh[t.Name] = true
		return arg, nil
	case syntax.Arith, syntax.Neg, syntax.Conv, syntax.Here:
	}
	return groupArg{}, fmt.Errorf("%w: %s: a group is a variable or a text, not %s", ErrFormula, f, t)
}

// aggCost is the cost of an aggregation: of a group of a window, or as a sub-formula.
func (b *chainBuilder) aggCost(f *syntax.Agg) int {
	known := true
	for _, v := range f.Groups {
		known = known && b.bound[v.Name]
	}
	switch {
	case known && ledgered(f) != nil:
		return costLookup
	case known:
		return costCheck
	case ledgered(f) != nil:
		return costScan
	}
	return costTuples
}

// ledgered is the operand of an aggregation if it is a window up to the present, which
// can keep a ledger; else nil.
func ledgered(f *syntax.Agg) syntax.Formula {
	switch w := f.F.(type) {
	case *syntax.Once:
		if w.I.Lo == 0 {
			return w
		}
	case *syntax.Since:
		if w.I.Lo == 0 {
			return w
		}
	default:
	}
	return nil
}

// testsOf finds the comparisons of the result of an aggregation with what is bound. They
// stay conjuncts of their own.
func (b *chainBuilder) testsOf(agg *syntax.Agg, rest []*weighed) (tests []*syntax.Cmp) {
	for _, p := range rest {
		cmp, ok := p.f.(*syntax.Cmp)
		if ok && !p.partial && !b.bound.all(b.freeVars(cmp)) && b.bound.with(agg.Result.Name).all(b.freeVars(cmp)) {
			tests = append(tests, cmp)
		}
	}
	return tests
}

// agg adds an aggregation, with tests of its result.
func (b *chainBuilder) agg(f *syntax.Agg, delay int, tests []*syntax.Cmp) error {
	head := aggHead{
		aggregate: b.aggregate(f),
		result:    b.scope.slot(b.compiler, f.Result.Name),
		known:     b.bound[f.Result.Name],
		groups:    b.scope.slotsOf(b.compiler, varNames(f.Groups)),
	}
	var known []string // the operand sees no other variable
	for _, v := range f.Groups {
		if b.bound[v.Name] {
			known = append(known, v.Name)
		}
	}
	var err error
	if ledgered(f) != nil {
		err = b.aggWindow(f, delay, head, tests, known)
	} else {
		err = b.aggTuples(f, delay, head, tests, known)
	}
	return err
}

// compareAll compiles the tests of a result.
func (b *chainBuilder) compareAll(result string, cmps []*syntax.Cmp) []test {
	inner := *b
	inner.bound = b.bound.with(result)
	var out []test
	for _, f := range cmps {
		out = append(out, inner.compare(f))
	}
	return out
}

func (b *chainBuilder) aggTuples(f *syntax.Agg, delay int, head aggHead, tests []*syntax.Cmp, known []string) error {
	names := varNames(f.Groups)
	for _, n := range b.freeVars(f.F) {
		if !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	bound := varSet{}
	for _, n := range known {
		bound[n] = true
	}
	fu := &fused{level: b.level, out: b.scope.slotsOf(b.compiler, names)}
	if err := b.fuse(fu, place{b.scope, b.level, bound}, f.F, delay, names, true); err != nil {
		return err
	}
	b.level++ // its tuples are read while the rest of the chain runs
	head.tests = b.compareAll(f.Result.Name, tests)
	b.atoms = append(b.atoms, &aggAtom{aggHead: head, f: fu, over: slices.Index(names, f.Over.Name)})
	if fu.wit > 0 {
		b.wit += aggWitness // explanations ask for it even below a NOT
	}
	if head.grouped {
		b.trigger = b.trigger.and(fu.trigger)
	}
	return nil
}

func (b *chainBuilder) aggWindow(f *syntax.Agg, delay int, head aggHead, tests []*syntax.Cmp, known []string) error {
	spec, names, err := b.store(f.F, delay)
	if err != nil {
		return err
	}
	a := &ledgerAtom{aggHead: head, spec: spec, wit: b.witness}
	a.groups = nil // in the order of the columns
	for col, n := range names {
		if !slices.ContainsFunc(f.Groups, func(v syntax.Var) bool { return v.Name == n }) {
			continue
		}
		if slices.Contains(known, n) {
			a.bound = append(a.bound, len(a.groups))
		}
		a.groups = append(a.groups, b.scope.slot(b.compiler, n))
		a.cols = append(a.cols, col)
	}
	l := ledgerSpec{op: f.Op, index: spec.indexOn(a.cols), over: slices.Index(names, f.Over.Name), least: 1}
	if f.Op == syntax.Count {
		l.over = 0 // whatever it is
		if len(known) < len(f.Groups) {
			l.least = leastOf(f.Result.Name, tests)
		}
	}
	a.ledger = spec.ledgerOf(l)
	a.tests = b.compareAll(f.Result.Name, tests)
	b.atoms = append(b.atoms, a)
	if spec.wit > 0 {
		b.wit += aggWitness
	}
	return nil
}

// leastOf is the least count, but 1 at least, that may pass the tests.
func leastOf(result string, tests []*syntax.Cmp) int32 {
	least := int64(1)
	for _, t := range tests {
		x, left := t.Left.(syntax.Var)
		c, right := t.Right.(syntax.Const)
		op := t.Op
		if !left {
			x, left = t.Right.(syntax.Var)
			c, right = t.Left.(syntax.Const)
			op = op.Mirrored()
		}
		if !left || !right || x.Name != result || c.Value.Kind != schema.KindInt {
			continue
		}
		switch n := min(c.Value.Int, math.MaxInt32-1); op {
		case syntax.Greater:
			least = max(least, n+1)
		case syntax.GreaterEq, syntax.Eq:
			least = max(least, n)
		case syntax.Less, syntax.LessEq:
		}
	}
	return int32(least)
}

// ledgerOf returns the number of a ledger.
func (p *storeSpec) ledgerOf(spec ledgerSpec) int {
	for i, l := range p.ledgers {
		if *l == spec {
			return i
		}
	}
	p.ledgers = append(p.ledgers, &spec)
	return len(p.ledgers) - 1
}

// aggregate compiles what is done with a group.
func (b *chainBuilder) aggregate(f *syntax.Agg) aggregate {
	a := aggregate{op: f.Op, grouped: len(f.Groups) > 0}
	if f.Op == syntax.Sum || f.Op == syntax.Average || f.Op == syntax.Median {
		a.at = b.faultAt(aggTerm{f.Op, f.Over.Name}, f.Pos)
	}
	if !a.grouped {
		a.empty, a.hasEmpty = emptyValue(f.Op, b.kinds[f.Over.Name], b.plan.emptyExtremes)
	}
	return a
}

// aggTerm names an aggregation in an error.
type aggTerm struct {
	op   syntax.AggOp
	over string
}

func (t aggTerm) String() string { return t.op.String() + " over " + t.over }

// emptyValue is what an aggregation gives without a tuple; extremes says that MIN and
// MAX have such a value.
func emptyValue(op syntax.AggOp, kind schema.ValueKind, extremes bool) (schema.Value, bool) {
	v := schema.Value{Kind: kind}
	switch op {
	case syntax.Count:
		return schema.IntValue(0), true
	case syntax.Sum:
		return v, true
	case syntax.Average, syntax.Median:
		return schema.FloatValue(0), true
	case syntax.Min, syntax.Max:
		if kind == schema.KindFloat {
			sign := 1
			if op == syntax.Max {
				sign = -1
			}
			v.Float = math.Inf(sign)
		}
		return v, extremes
	}
	return v, false
}

func varNames(vs []syntax.Var) []string {
	out := make([]string, len(vs))
	for i, v := range vs {
		out[i] = v.Name
	}
	return out
}
