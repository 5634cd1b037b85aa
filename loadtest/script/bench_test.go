package script

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// BenchmarkOffline answers one session after another without log and bus: what the
// fold, the monitors and the composition of a call cost alone.
func BenchmarkOffline(b *testing.B) {
	for _, name := range Names() {
		w, err := Load(name, 1)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprintf("workload=%s", name), func(b *testing.B) {
			rng := rand.New(rand.NewPCG(1, 2))
			calls := 0
			for b.Loop() {
				s := w.Scripts[rng.IntN(len(w.Scripts))]
				if err := answer(w.Bundle, append(Script(nil), s...)); err != nil {
					b.Fatal(err)
				}
				calls += s.Calls()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(calls), "ns/call")
		})
	}
}
