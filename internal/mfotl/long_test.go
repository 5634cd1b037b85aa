package mfotl_test

import (
	"runtime"
	"strings"
	"testing"

	"github.com/aspis-rv/aspis/pkg/schema"
)

// TestCompileLongConjunction compiles a formula of as many conjuncts as one may have.
// Looking at every pair of them anew would take longer than a test may.
func TestCompileLongConjunction(t *testing.T) {
	st := compile(t, core(t, "p(x)"+strings.Repeat(" AND p(x)", 12_000), "x")).New()
	st.Step(0, 7, []schema.Fact{fact("p", 1)})
	if got := rows(st.Rows(0)); got != "(1)F@[7]" {
		t.Errorf("it says %s", got)
	}
	st.Rollback()
}

// TestCompileLongTerm compiles a sum of as many operands as one may have.
func TestCompileLongTerm(t *testing.T) {
	text := "p(x) AND x" + strings.Repeat(" + x", 20_000) + " > 0"
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	compile(t, core(t, text, "x"))
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 200<<20 {
		t.Errorf("it takes %d bytes", n)
	}
}
