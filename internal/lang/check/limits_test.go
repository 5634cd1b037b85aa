package check

import (
	"fmt"
	"strings"
	"testing"

	"github.com/aspis-rv/aspis/internal/diag"
	"github.com/aspis-rv/aspis/internal/lang/syntax"
)

func TestLongFormulasAreChecked(t *testing.T) {
	src := "p(x)" + strings.Repeat(" AND p(x)", syntax.MaxNodes/4)
	if c, diags := Check(parse(t, src, syntax.Bundle), testSignature(), Options{}); c == nil {
		t.Error(diags)
	}
}

// Each EQUIV uses its left operand twice: the size doubles from level to level.
func TestMaxCore(t *testing.T) {
	sizes := func(levels int) (int, diag.List) {
		c, diags := Check(parse(t, nestedEquiv(levels), syntax.Bundle), testSignature(), Options{})
		if c == nil {
			return 0, diags
		}
		return newMeasure().size(c.Core), nil
	}
	n := 1
	size := 0
	for next, _ := sizes(n); next > 0; next, _ = sizes(n) {
		size = next
		n++
	}
	if _, diags := sizes(n); diags[0].Code != CodeTooComplex {
		t.Errorf("%d levels: %v", n, diags)
	}
	if size > MaxCore || 3*size < MaxCore {
		t.Errorf("%d levels give %d nodes; the limit is %d", n-1, size, MaxCore)
	}
}

// reversed is a conjunction that can only be evaluated from its end.
func reversed(n int) string {
	src := "p(x0)"
	for i := range n {
		src = fmt.Sprintf("x%d = x%d AND %s", i, i+1, src)
	}
	return src
}

// The search for an order takes n²/2 steps for n conjuncts in the worst order.
func TestMaxSteps(t *testing.T) {
	if c, diags := Check(parse(t, reversed(600), syntax.Bundle), testSignature(), Options{}); c == nil {
		t.Errorf("600 conjuncts: %v", diags)
	}
	c, diags := Check(parse(t, reversed(700), syntax.Bundle), testSignature(), Options{})
	if c != nil || diags[0].Code != CodeTooComplex {
		t.Errorf("700 conjuncts: %v", diags)
	}
}

// Nesting neither hides what is wrong with a formula nor makes the search explode,
// whichever rule the nesting exercises.
func TestDeepNesting(t *testing.T) {
	for _, c := range []struct {
		name, head, repeat, middle, end string
		want                            diag.Code
	}{
		{"negated conjunctions", "p(x) AND ", "NOT (x > y AND ", "q(y)", ")", CodeNegation},
		{"negated negations", "p(x) AND ", "NOT (NOT q(y) AND ", "x = 1", ")", CodeNegation},
		{"alternatives", "p(x) AND ", "(x > 1 OR ", "NOT q(y)", ")", CodeNegation},
		{"alternatives that are fine", "p(x) AND ", "(x > 1 OR ", "NOT q(x)", ")", ""},
		{"one after the other", "p(x)", " AND (x > 1 OR x < 2)", "", "", ""},
		{"ONCE", "p(x) AND ", "(ONCE (NOT q(x) OR ", "r(x, y)", "))", CodeNegation},
		{"negated ONCE", "p(x) AND ", "NOT (ONCE (x > 3 AND ", "q(y)", "))", CodeNegation},
		{"PREVIOUS", "p(x) AND ", "(PREVIOUS (NOT q(x) OR ", "x < y", "))", CodeComparison},
		{"SINCE to the right", "p(x) AND ", "((x > 3 OR q(x)) SINCE (q(x) OR ", "x > y", "))", CodeComparison},
		{"SINCE to the left", "", "((x > 3 OR NOT ", "q(x)", ") SINCE p(x))", ""},
		{"FORALL", "", "FORALL x. (p(x) IMPLIES (q(x) AND ", "q(x)", "))", ""},
	} {
		for _, n := range []int{3, 60} {
			src := c.head + strings.Repeat(c.repeat, n) + c.middle + strings.Repeat(c.end, n)
			_, diags := Check(parse(t, src, syntax.Bundle), testSignature(), Options{})
			found := c.want == "" && len(diags) == 0
			for _, d := range diags {
				found = found || d.Code == c.want
			}
			if !found {
				t.Errorf("%s, %d deep: want %q, got %v", c.name, n, c.want, diags)
			}
		}
	}
}
