package naive

import (
	"fmt"
	"math/big"
	"slices"

	"github.com/aspis-rv/aspis/internal/lang/syntax"
	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// group is one group of an aggregation at one time point.
type group struct {
	f      *syntax.Agg
	i      int
	values string
}

// aggregated is the value of a group.
type aggregated struct {
	value   schema.Value
	defined bool
	mark    verdict.Value
	marks   []verdict.Value // of the rows that count; the others do not
}

// aggregate computes the group that the assignment names. The rows that count are those of marks F and Fp;
// if there are none, and no value without rows either, those of mark Tp.
func (e *eval) aggregate(f *syntax.Agg, i int) *aggregated {
	key := group{f: f, i: i}
	for _, v := range f.Groups {
		key.values += fmt.Sprintf("%#v ", e.env[v.Name])
	}
	if a, ok := e.groups[key]; ok {
		return a
	}
	values := map[verdict.Value][]schema.Value{}
	e.assign(locals(f), func() {
		m := e.mark(f.F, i)
		values[m] = append(values[m], e.env[f.Over.Name])
	})
	a := &aggregated{}
	certain := slices.Concat(values[verdict.F], values[verdict.Fp])
	doubtful := len(values[verdict.Fp])+len(values[verdict.Tp]) > 0
	empty, hasEmpty := e.ofNothing(f)
	switch {
	case len(certain) > 0:
		a.marks = []verdict.Value{verdict.F, verdict.Fp}
		a.value, a.defined = aggregation(f.Op, certain)
	case len(f.Groups) == 0 && hasEmpty:
		a.value, a.defined = empty, true
	case doubtful:
		a.marks = []verdict.Value{verdict.Tp}
		a.value, a.defined = aggregation(f.Op, values[verdict.Tp])
		a.mark = verdict.Tp
	}
	switch {
	case a.mark == verdict.Tp:
	case doubtful:
		a.mark = verdict.Fp
	default:
		a.mark = verdict.F
	}
	e.groups[key] = a
	return a
}

// counts tells whether a formula of the mark holds, seen this way.
func (w way) counts(m verdict.Value) bool {
	switch {
	case w.even && w.odd:
		return m >= verdict.Fp
	case w.odd:
		return m == verdict.F
	}
	return m >= verdict.Tp
}

// locals are the variables of the formula that are no groups.
func locals(f *syntax.Agg) []string {
	return slices.DeleteFunc(syntax.FreeVars(f.F), func(n string) bool { return slices.Contains(names(f.Groups), n) })
}

func (e *eval) ofNothing(f *syntax.Agg) (schema.Value, bool) {
	switch f.Op {
	case syntax.Count:
		return schema.IntValue(0), true
	case syntax.Sum:
		k, known := e.kinds[f.Over.Name]
		if !known { // a sum is of the type of its values
			k = e.kinds[f.Result.Name]
		}
		return schema.Value{Kind: k}, true
	case syntax.Average, syntax.Median:
		return schema.FloatValue(0), true
	case syntax.Min, syntax.Max:
	}
	return schema.Value{}, false
}

// aggregation of one value or more.
func aggregation(op syntax.AggOp, values []schema.Value) (schema.Value, bool) {
	slices.SortFunc(values, schema.Compare)
	n := len(values)
	switch op {
	case syntax.Count:
		return schema.IntValue(int64(n)), true
	case syntax.Min:
		return values[0], true
	case syntax.Max:
		return values[n-1], true
	case syntax.Median:
		if values[0].Kind == schema.KindString {
			return schema.Value{}, false
		}
		low, high := asFloat(values[(n-1)/2]), asFloat(values[n/2])
		if n%2 == 1 {
			return float(high)
		}
		return float((low + high) / 2)
	case syntax.Sum, syntax.Average:
	}
	switch values[0].Kind {
	case schema.KindFloat:
		sum := 0.0
		for _, v := range values {
			sum += v.Float
		}
		if op == syntax.Average {
			sum /= float64(n)
		}
		return float(sum)
	case schema.KindInt:
		sum := new(big.Int)
		for _, v := range values {
			sum.Add(sum, big.NewInt(v.Int))
		}
		if op == syntax.Average {
			nearest, _ := new(big.Float).SetInt(sum).Float64()
			return float(nearest / float64(n))
		}
		return schema.IntValue(sum.Int64()), sum.IsInt64()
	case schema.KindString:
	}
	return schema.Value{}, false
}

func asFloat(v schema.Value) float64 {
	if v.Kind == schema.KindInt {
		return float64(v.Int)
	}
	return v.Float
}

// newestOfRows is the witness of an aggregation: the eight newest offsets in the witnesses of the
// rows that count.
func (e *eval) newestOfRows(f *syntax.Agg, i int) []uint64 {
	marks := e.aggregate(f, i).marks
	all := []uint64{}
	e.assign(locals(f), func() {
		if m := e.mark(f.F, i); slices.Contains(marks, m) {
			all = union(all, e.witness(f.F, i))
		}
	})
	return all[max(0, len(all)-8):]
}

// widen finds the values that variables of f can have beyond the domain, operands first.
func (e *eval) widen(f syntax.Formula) {
	if e.extra == nil {
		e.extra = map[string][]schema.Value{}
	}
	for _, g := range syntax.Children(f) {
		e.widen(g)
	}
	switch f := f.(type) {
	case *syntax.Cmp:
		if f.Op == syntax.Eq {
			e.widenBy(f.Left, f.Right)
			e.widenBy(f.Right, f.Left)
		}
	case *syntax.Match:
		for k, t := range f.Groups {
			e.widenBy(t, syntax.Const{Value: schema.StringValue("")})
			e.assign(variables(f.Left), func() {
				if text, ok := e.term(f.Left); ok && text.Kind == schema.KindString {
					if found := pattern(f).FindStringSubmatch(text.Str); found != nil {
						e.widenBy(t, syntax.Const{Value: schema.StringValue(found[k+1])})
					}
				}
			})
		}
	case *syntax.Agg:
		for i := range e.trace {
			e.assign(names(f.Groups), func() {
				if a := e.aggregate(f, i); a.defined {
					e.widenBy(f.Result, syntax.Const{Value: a.value})
				}
			})
		}
	default:
	}
}

// widenBy adds the values of t to those of x, if x is a variable.
func (e *eval) widenBy(x, t syntax.Term) {
	v, ok := x.(syntax.Var)
	if !ok {
		return
	}
	e.assign(variables(t), func() {
		if c, ok := e.term(t); ok && !slices.Contains(e.domain, c) && !slices.Contains(e.extra[v.Name], c) {
			e.extra[v.Name] = append(e.extra[v.Name], c)
		}
	})
}

func variables(t syntax.Term) []string {
	var out []string
	syntax.TermVars(t, func(v syntax.Var) {
		if !slices.Contains(out, v.Name) {
			out = append(out, v.Name)
		}
	})
	return out
}
