package mfotl_test

import (
	"testing"

	"github.com/aspis-rv/aspis/internal/lang/check"
	"github.com/aspis-rv/aspis/internal/lang/syntax"
	"github.com/aspis-rv/aspis/internal/mfotl"
)

// warmUp is the number of events after which every window of a workload is as full as
// it will be.
const warmUp = 100_000

// benchmarkLog adopts the events of a log over and over, reading the rows of formula 0.
func benchmarkLog(b *testing.B, plan *mfotl.Plan, log []point) {
	b.Helper()
	st := plan.New()
	events := stream{log: log}
	var buf mfotl.RowBuffer
	step := func() {
		st.Step(events.next())
		st.ReadRows(0, &buf)
		st.Commit()
	}
	for range warmUp {
		step()
	}
	b.ReportAllocs()
	for b.Loop() {
		step()
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
}

// BenchmarkWorkload is the engine alone on the workloads of the design's table of speeds.
func BenchmarkWorkload(b *testing.B) {
	for _, w := range workloads() {
		b.Run(w.name, func(b *testing.B) { benchmarkLog(b, w.compile(b), w.log()) })
	}
}

// BenchmarkReferenceWorkload is the same on the reference logs, read beforehand. It skips
// the workloads whose formulas are outside of what the engine evaluates.
func BenchmarkReferenceWorkload(b *testing.B) {
	for dir, c := range referenceFiles(b, "bench.tar.gz") {
		b.Run(dir, func(b *testing.B) {
			sig := readSignature(b, c["sig"])
			f, _ := syntax.Parse(c["formula.mfotl"], syntax.Options{Mode: syntax.MonPoly})
			if f == nil {
				b.Skip("its formula is not evaluated yet")
			}
			checked, diags := check.Check(f, sig, check.Options{Mode: syntax.MonPoly})
			if checked == nil {
				b.Skip(diags)
			}
			plan, err := mfotl.Compile([]*check.Checked{checked})
			if err != nil {
				b.Skip(err)
			}
			benchmarkLog(b, plan, readLog(b, sig, c["log.gz"]))
		})
	}
}
