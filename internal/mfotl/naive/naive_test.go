package naive_test

import (
	"fmt"
	"testing"

	"github.com/aspis-rv/aspis/internal/lang/check"
	"github.com/aspis-rv/aspis/internal/lang/syntax"
	"github.com/aspis-rv/aspis/internal/mfotl/naive"
	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

func fact(s verdict.Strength, name string, args ...int64) schema.Fact {
	f := schema.Fact{Name: name, Strength: s}
	for _, a := range args {
		f.Args = append(f.Args, schema.IntValue(a))
	}
	return f
}

// TestRows works small cases out by hand, so that the oracle itself has one.
func TestRows(t *testing.T) {
	const def, pre = verdict.Definite, verdict.Presumptive
	since := []naive.TimePoint{
		{TS: 0, Offset: 10, Facts: []schema.Fact{fact(def, "r", 1, 1), fact(def, "r", 2, 2)}},
		{TS: 1, Offset: 11, Facts: []schema.Fact{fact(def, "p", 1)}},
		{TS: 2, Offset: 12, Facts: []schema.Fact{fact(def, "p", 1), fact(def, "p", 2)}},
	}
	marks := []naive.TimePoint{
		{TS: 0, Offset: 1, Facts: []schema.Fact{fact(pre, "q", 1), fact(def, "q", 2)}},
		{TS: 3, Offset: 2, Facts: []schema.Fact{fact(def, "p", 1), fact(pre, "p", 2), fact(pre, "p", 3), fact(def, "p", 4), fact(pre, "p", 4)}},
	}
	for _, c := range []struct {
		formula string
		columns []string
		trace   []naive.TimePoint
		want    string
	}{
		{"p(x) SINCE[2,5] r(x,y)", []string{"x", "y"}, since, "[1 1]F[10]"},
		{"p(x) AND NOT (ONCE q(x))", []string{"x"}, marks, "[1]Tp[2] [3]Fp[2] [4]F[2]"},
		{"p(x) AND ONCE q(x)", []string{"x"}, marks, "[1]Fp[1 2] [2]Fp[1 2]"},
		{"p(x) AND ONCE[0,2] q(x)", []string{"x"}, marks, ""},
		{"p(x) AND PREVIOUS[3,3] NOT (NOT (EXISTS y. q(y)))", []string{"x"}, marks, "[1]F[2] [2]Fp[2] [3]Fp[2] [4]F[2]"},
		{"EXISTS x. (p(x) AND ONCE[1,4] q(x))", nil, marks, "[]Fp[1 2]"},
		{"(FORALL x. (q(x) IMPLIES p(x))) AND NOT HISTORICALLY (EXISTS x. q(x))", nil, marks, "[]F[]"},
	} {
		f, diags := syntax.Parse(c.formula, syntax.Options{Mode: syntax.MonPoly})
		if f == nil {
			t.Fatalf("%s: %v", c.formula, diags)
		}
		var columns []check.Column
		for _, n := range c.columns {
			columns = append(columns, check.Column{Name: n})
		}
		got := ""
		for i, r := range naive.Rows(f, columns, c.trace, len(c.trace)-1) {
			if i > 0 {
				got += " "
			}
			got += fmt.Sprintf("%v%v%v", r.Values, r.Mark, r.Witness)
		}
		if got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.formula, got, c.want)
		}
	}
}
