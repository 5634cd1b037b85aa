// Package naive executes the definition of past-time metric first-order temporal
// logic: it tries every assignment of values to variables and evaluates the formula
// by recursion. It is slow, shares nothing with package mfotl, and is its oracle;
// nothing but tests imports it.
//
// A formula is evaluated three ways, as the design defines evidence: with all facts
// as they are; with presumptive facts counted only where they stand under a
// negation; and with presumptive facts counted only where they do not. A binding in
// the first two is marked F, in the first alone Fp, in the third alone Tp.
package naive

import (
	"maps"
	"slices"

	"github.com/aspis-rv/aspis/internal/lang/check"
	"github.com/aspis-rv/aspis/internal/lang/syntax"
	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// TimePoint is one time point of a finite trace.
type TimePoint struct {
	TS     int64
	Offset uint64
	Facts  []schema.Fact
	// Tables are the external relations by name, at every time point the same names.
	Tables map[string][]Tuple
}

// Rows returns the satisfying assignments of the free variables of f, which are
// vars, at time point i of the trace, with marks and witnesses, sorted by value.
func Rows(f syntax.Formula, vars []check.Column, trace []TimePoint, i int) []schema.Row {
	return TypedRows(f, vars, nil, trace, i)
}

// TypedRows is Rows with the types of the other variables of f, where they are known. They
// narrow the search, and an aggregation needs that of what it aggregates.
func TypedRows(f syntax.Formula, vars []check.Column, kinds map[string]schema.ValueKind, trace []TimePoint, i int) []schema.Row {
	return rows(f, vars, kinds, trace[:i+1], i)
}

func rows(f syntax.Formula, vars []check.Column, kinds map[string]schema.ValueKind, trace []TimePoint, i int) []schema.Row {
	types := map[string]schema.ValueKind{}
	maps.Copy(types, kinds)
	free := make([]string, len(vars))
	for k, v := range vars {
		free[k] = v.Name
		types[v.Name] = v.Kind
	}
	e := newEval(f, types, trace)
	var rows []schema.Row
	e.assign(free, func() {
		m := e.mark(f, i)
		if m == verdict.T {
			return
		}
		row := schema.Row{Values: []schema.Value{}, Mark: m, Witness: e.witness(f, i)}
		for _, v := range free {
			row.Values = append(row.Values, e.env[v])
		}
		rows = append(rows, row)
	})
	slices.SortFunc(rows, func(a, b schema.Row) int {
		return slices.CompareFunc(a.Values, b.Values, schema.Compare)
	})
	return rows
}

// eval is one evaluation: the trace, the active domain and the current assignment.
type eval struct {
	trace  []TimePoint
	domain []schema.Value
	env    map[string]schema.Value
	kinds  map[string]schema.ValueKind // of the variables whose type is known
	extra  map[string][]schema.Value   // values of a variable beyond the domain: computed ones
	groups map[group]*aggregated       // aggregations done
}

// newEval is the evaluation of f over a trace, with the types of some of its variables.
func newEval(f syntax.Formula, kinds map[string]schema.ValueKind, trace []TimePoint) *eval {
	e := &eval{trace: trace, env: map[string]schema.Value{}, kinds: kinds, groups: map[group]*aggregated{}}
	e.domain = domain(f, e.trace)
	e.widen(f)
	return e
}

// assign calls do under every assignment of domain values to vars, of their type
// where that is known.
func (e *eval) assign(vars []string, do func()) {
	if len(vars) == 0 {
		do()
		return
	}
	for _, v := range slices.Concat(e.domain, e.extra[vars[0]]) {
		if k, ok := e.kinds[vars[0]]; ok && k != v.Kind {
			continue
		}
		e.env[vars[0]] = v
		e.assign(vars[1:], do)
	}
	delete(e.env, vars[0])
}

// way says which presumptive facts count: those under an even number of negations,
// and those under an odd number.
type way struct {
	even, odd bool
}

func (w way) negated() way { return way{even: w.odd, odd: w.even} }

// mark derives the mark of f under the assignment from its three evaluations.
func (e *eval) mark(f syntax.Formula, i int) verdict.Value {
	asIs := e.holds(f, i, way{even: true, odd: true})
	low := e.holds(f, i, way{even: false, odd: true})
	high := e.holds(f, i, way{even: true, odd: false})
	switch {
	case asIs && low:
		return verdict.F
	case asIs:
		return verdict.Fp
	case high:
		return verdict.Tp
	}
	return verdict.T
}

// holds is the definition.
func (e *eval) holds(f syntax.Formula, i int, w way) bool {
	switch f := f.(type) {
	case *syntax.Bool:
		return f.Value
	case *syntax.Pred:
		return e.pred(f, i, w)
	case *syntax.Cmp:
		return e.compare(f)
	case *syntax.Match:
		return e.match(f)
	case *syntax.Agg:
		a := e.aggregate(f, i)
		return a.defined && e.env[f.Result.Name] == a.value && w.counts(a.mark)
	case *syntax.Not:
		return !e.holds(f.F, i, w.negated())
	case *syntax.New:
		return w.counts(e.difference(f, i))
	case *syntax.And:
		return e.holds(f.Left, i, w) && e.holds(f.Right, i, w)
	case *syntax.Or:
		return e.holds(f.Left, i, w) || e.holds(f.Right, i, w)
	case *syntax.Implies:
		return !e.holds(f.Left, i, w.negated()) || e.holds(f.Right, i, w)
	case *syntax.Equiv:
		return (!e.holds(f.Left, i, w.negated()) || e.holds(f.Right, i, w)) &&
			(!e.holds(f.Right, i, w.negated()) || e.holds(f.Left, i, w))
	case *syntax.Exists:
		some := false
		e.assign(names(f.Vars), func() { some = some || e.holds(f.F, i, w) })
		return some
	case *syntax.Forall:
		all := true
		e.assign(names(f.Vars), func() { all = all && e.holds(f.F, i, w) })
		return all
	case *syntax.Prev, *syntax.Once, *syntax.Historically, *syntax.Since:
		return e.held(f, i, w)
	case *syntax.Next, *syntax.Eventually, *syntax.Always, *syntax.Until:
		return e.ahead(f, i, w)
	default:
		return false
	}
}

// difference is the mark of NEW (now AND NOT before).
func (e *eval) difference(f *syntax.New, i int) verdict.Value {
	and := f.F.(*syntax.And)                       //nolint:forcetypeassert // the only form there is
	before := e.mark(and.Right.(*syntax.Not).F, i) //nolint:forcetypeassert // the only form there is
	if now := e.mark(and.Left, i); now > before {
		return e.mark(and, i)
	}
	return verdict.T
}

// held is the definition of the temporal operators.
func (e *eval) held(f syntax.Formula, i int, w way) bool {
	switch f := f.(type) {
	case *syntax.Prev:
		return i > 0 && e.within(f.I, i, i-1) && e.holds(f.F, i-1, w)
	case *syntax.Once:
		for j := i; j >= 0; j-- {
			if e.within(f.I, i, j) && e.holds(f.F, j, w) {
				return true
			}
		}
		return false
	case *syntax.Historically:
		for j := i; j >= 0; j-- {
			if e.within(f.I, i, j) && !e.holds(f.F, j, w) {
				return false
			}
		}
		return true
	case *syntax.Since:
		for j := i; j >= 0; j-- {
			if e.within(f.I, i, j) && e.holds(f.Right, j, w) {
				return true
			}
			if !e.holds(f.Left, j, w) {
				return false
			}
		}
		return false
	default:
		return false
	}
}

// within reports whether time point j lies within the interval seen from i.
func (e *eval) within(in syntax.Interval, i, j int) bool {
	d := e.trace[i].TS - e.trace[j].TS
	return d >= in.Lo && (in.Unbounded || d <= in.Hi)
}

// pred reports whether a fact, or a tuple of an external relation, makes the predicate hold.
func (e *eval) pred(p *syntax.Pred, i int, w way) bool {
	if table, ok := e.trace[i].Tables[p.Name]; ok {
		t, found := e.tuple(p, table)
		return found && w.counts(t.Mark)
	}
	return e.fact(p, i, w.even)
}

// fact reports whether the predicate is among the facts that count.
func (e *eval) fact(p *syntax.Pred, i int, presumptive bool) bool {
	return slices.ContainsFunc(e.trace[i].Facts, func(f schema.Fact) bool {
		if f.Name != p.Name || len(f.Args) != len(p.Args) {
			return false
		}
		for k, t := range p.Args {
			if v, ok := e.term(t); !ok || f.Args[k] != v {
				return false
			}
		}
		return presumptive || f.Strength == verdict.Definite
	})
}

// compare is false if one of the terms has no value.
func (e *eval) compare(f *syntax.Cmp) bool {
	l, okLeft := e.term(f.Left)
	r, okRight := e.term(f.Right)
	if !okLeft || !okRight || l.Kind != r.Kind {
		return false
	}
	c := schema.Compare(l, r)
	switch f.Op {
	case syntax.Eq:
		return c == 0
	case syntax.Less:
		return c < 0
	case syntax.LessEq:
		return c <= 0
	case syntax.Greater:
		return c > 0
	case syntax.GreaterEq:
		return c >= 0
	}
	return false
}

func names(vs []syntax.Var) []string {
	out := make([]string, len(vs))
	for i, v := range vs {
		out[i] = v.Name
	}
	return out
}

// domain is the active domain: the values in the trace and in the formula, and one
// more when there are none, since a domain is never empty.
func domain(f syntax.Formula, trace []TimePoint) []schema.Value {
	set := map[schema.Value]bool{}
	for _, tp := range trace {
		for _, fact := range tp.Facts {
			for _, v := range fact.Args {
				set[v] = true
			}
		}
		for _, table := range tp.Tables {
			for _, t := range table {
				for _, v := range t.Args {
					set[v] = true
				}
			}
		}
	}
	constants(f, set)
	if len(set) == 0 {
		set[schema.IntValue(0)] = true
	}
	var out []schema.Value
	for v := range set {
		out = append(out, v)
	}
	slices.SortFunc(out, schema.Compare)
	return out
}
