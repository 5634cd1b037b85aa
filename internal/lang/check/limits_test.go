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

// doubled is a nest of definitions that each use the one before twice.
func doubled(n int) string {
	src := "LET u0(x) = p(x) IN "
	for i := range n {
		src += fmt.Sprintf("(LET u%d(x) = u%d(x) AND u%d(x) IN ", i+1, i, i)
	}
	return src + fmt.Sprintf("u%d(x)", n) + strings.Repeat(")", n)
}

// Definitions are counted before they are put in place.
func TestMaxCoreOfDefinitions(t *testing.T) {
	if c, diags := Check(parse(t, doubled(14), syntax.Bundle), testSignature(), Options{}); c == nil {
		t.Errorf("2^14 uses: %v", diags)
	}
	for _, n := range []int{17, 60} {
		c, diags := Check(parse(t, doubled(n), syntax.Bundle), testSignature(), Options{})
		if c != nil || diags[0].Code != CodeTooComplex {
			t.Errorf("2^%d uses: %v", n, diags)
		}
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
		{"EVENTUALLY", "p(x) AND ", "(EVENTUALLY[0,1s] (NOT q(x) OR ", "NOT r(x, y)", "))", CodeNegation},
		{"EVENTUALLY that is fine", "p(x) AND ", "(EVENTUALLY[0,1s] (NOT q(x) OR ", "x > 3", "))", ""},
		{"ALWAYS", "p(x) AND ", "(ALWAYS[0,1s] (q(x) AND ", "q(x)", "))", ""},
		{"UNTIL to the right", "p(x) AND ", "((x > 3 OR q(x)) UNTIL[0,1s] (q(x) OR ", "x > y", "))", CodeComparison},
		{"UNTIL to the left", "", "((x > 3 OR NOT ", "q(x)", ") UNTIL[0,1s] p(x))", ""},
		{"aggregation", "p(x) AND ", "(z <- CNT y; x (r(y, y) AND NOT ", "q(x)", "))", CodeNegation},
		{"terms", "p(x) AND x = ", "-(1 + ", "x", ")", ""},
		{"FORALL", "", "FORALL x. (p(x) IMPLIES (q(x) AND ", "q(x)", "))", ""},
	} {
		for _, n := range []int{3, 60} {
			src := c.head + strings.Repeat(c.repeat, n) + c.middle + strings.Repeat(c.end, n)
			_, diags := Check(parse(t, src, syntax.Bundle), testSignature(), everything())
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

// Spatial operators nest and stand side by side as others do, and what is too complex below
// AT is refused.
func TestLargeLocationFormulas(t *testing.T) {
	deep := strings.Repeat("SOMEWHERE[0,1] (a AND ", 120) + "b" + strings.Repeat(")", 120)
	wide := "a" + strings.Repeat(" AND (SOMEWHERE holds(@l, o))", 2_000)
	for _, c := range []struct {
		name, src string
		want      diag.Code // none when empty
	}{
		{"deep", "vertex(v) AND AT v (" + deep + ")", ""},
		{"wide", "holds(v, o) AND AT v (" + wide + ")", ""},
		{"explosion", "vertex(v) AND AT v (SOMEWHERE " + nestedAt(24) + ")", CodeTooComplex},
		{"steps", "vertex(v) AND AT v (EXISTS x0. " + reversedAt(1_000) + ")", CodeTooComplex},
	} {
		got, diags := Check(parse(t, c.src, syntax.Bundle), testSignature(), Options{World: testWorld(true)})
		switch {
		case c.want == "" && got == nil:
			t.Errorf("%s: %v", c.name, diags)
		case c.want != "" && (len(diags) == 0 || diags[0].Code != c.want):
			t.Errorf("%s: want %s, got %v", c.name, c.want, diags)
		}
	}
}

// nestedAt is a location formula whose core has about 2^n nodes.
func nestedAt(n int) string {
	f := "a"
	for range n {
		f = "(" + f + " EQUIV b)"
	}
	return f
}

// reversedAt is a conjunction over n variables, each of which gets its value from the next
// conjunct.
func reversedAt(n int) string {
	var vars, parts []string
	for i := n; i > 0; i-- {
		vars = append(vars, fmt.Sprintf("x%d", i))
		parts = append(parts, fmt.Sprintf("x%d = x%d", i, i-1))
	}
	return "(EXISTS " + strings.Join(vars, ", ") + ". (" + strings.Join(parts, " AND ") + " AND holds(@l, x0)))"
}
