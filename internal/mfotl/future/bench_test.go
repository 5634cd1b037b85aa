package future_test

import (
	"strconv"
	"testing"

	"github.com/aspis-rv/aspis/internal/mfotl/future"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// BenchmarkStep steps through a log of requests and answers among n clients, each
// answered some time later; the window holds about as many time points.
func BenchmarkStep(b *testing.B) {
	formulas := []struct{ name, text string }{
		{"past", "q(x) AND NOT ONCE[0,50] p(x)"},
		{"eventually", "q(x) AND NOT EVENTUALLY[0,50] p(x)"},
		{"unguarded", "EVENTUALLY[0,50] (p(x) AND ONCE[0,2] q(x))"},
		{"until", "q(x) AND NOT ((NOT r(x)) UNTIL[0,50] p(x))"},
		{"next", "q(x) AND NEXT[0,1] r(y)"},
		{"nested", "q(x) AND NOT EVENTUALLY[0,50] (p(x) AND NEXT (EVENTUALLY[0,9] r(x)))"},
	}
	for _, f := range formulas {
		for _, rate := range []int64{10, 200} { // time points per unit of time
			b.Run(f.name+"/rate="+strconv.FormatInt(rate, 10), func(b *testing.B) {
				columns := []string{"x"}
				if f.name == "next" {
					columns = append(columns, "y")
				}
				r := compile(b, core(b, f.text, columns...)).New()
				step(b, r, rate)
			})
		}
	}
}

func step(b *testing.B, r *future.Run, rate int64) {
	b.Helper()
	facts := []schema.Fact{fact("q", 0)}
	rows := 0
	emit := func(v future.Verdict) { rows += len(v.Rows) }
	names := []string{"q", "q", "p", "p", "r"}
	b.ReportAllocs()
	i := int64(0)
	for b.Loop() {
		facts[0].Name = names[i%5]
		facts[0].Args[0] = schema.IntValue(i * i % 10_007)
		if err := r.Step(i/rate, facts, emit); err != nil {
			b.Fatal(err)
		}
		i++
	}
	if err := r.Flush(emit); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(rows)/float64(i), "rows/op")
}
