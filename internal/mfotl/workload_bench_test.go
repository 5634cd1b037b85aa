package mfotl_test

import (
	"fmt"
	"testing"

	"github.com/aspis-rv/aspis/internal/lang/check"
	"github.com/aspis-rv/aspis/internal/lang/syntax"
	"github.com/aspis-rv/aspis/internal/mfotl"
	"github.com/aspis-rv/aspis/internal/monpoly/reference"
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
	for dir, c := range reference.Cases(b, reference.Workloads) {
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

// benchmarkClauses adopts events that the first formula reads and no other does, and reads
// the rows of the formulas that may have some.
func benchmarkClauses(b *testing.B, formulas []*check.Checked) {
	b.Helper()
	plan := compile(b, formulas...)
	st := plan.New()
	events := stream{log: make([]point, cycle)}
	for i := range events.log {
		name := []string{"a0", "b0"}[hash(i+1)%2]
		events.log[i] = at(int64(i/10), fact(name, int64(hash(i)%10_000)))
	}
	var buf mfotl.RowBuffer
	var active []int
	step := func() {
		st.Step(events.next())
		active = st.Active(active[:0])
		for _, f := range active {
			st.ReadRows(f, &buf)
		}
		st.Commit()
	}
	for range warmUp {
		step()
	}
	b.ReportAllocs()
	for b.Loop() {
		step()
	}
}

// BenchmarkClauses is an event that concerns one formula of a plan of 1 or 300: the others
// cost nothing to speak of.
func BenchmarkClauses(b *testing.B) {
	for _, n := range []int{1, 300} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			var formulas []*check.Checked
			for i := range n {
				formulas = append(formulas, core(b, fmt.Sprintf("a%d(x) AND NOT (ONCE[0,24] b%d(x))", i, i), "x"))
			}
			benchmarkClauses(b, formulas)
		})
	}
}

// BenchmarkSharedWindow is 1 or 100 formulas that read one window, updated once; and for
// comparison 100 that read windows of different lengths.
func BenchmarkSharedWindow(b *testing.B) {
	for _, c := range []struct {
		name    string
		n, step int
	}{{"1", 1, 0}, {"100", 100, 0}, {"100-apart", 100, 1}} {
		b.Run(c.name, func(b *testing.B) {
			var formulas []*check.Checked
			for i := range c.n {
				formulas = append(formulas, core(b, fmt.Sprintf("a%d(x) AND NOT (ONCE[0,%d] b0(x))", i, 24+i*c.step), "x"))
			}
			benchmarkClauses(b, formulas)
		})
	}
}
