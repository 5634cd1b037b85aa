package mfotl_test

import (
	"runtime"
	"strings"
	"testing"
	"time"
)

// TestCompileLongConjunction compiles a formula of as many conjuncts as one may have.
// Looking at every pair of them anew takes minutes.
func TestCompileLongConjunction(t *testing.T) {
	text := "p(x)" + strings.Repeat(" AND p(x)", 12_000)
	began := time.Now()
	compile(t, core(t, text, "x"))
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("it took %v", took)
	}
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
