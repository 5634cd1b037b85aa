package monpoly

import "testing"

// The benchmarks run against the fake, whose evaluation is our own engine's: what they
// measure is the way to a process and back.

// BenchmarkAdopted judges events that are then adopted: one exchange each.
func BenchmarkAdopted(b *testing.B) { benchmark(b, true) }

// BenchmarkRefused judges events that are not: a process and a replay each, of a
// history of ten time points.
func BenchmarkRefused(b *testing.B) { benchmark(b, false) }

func benchmark(b *testing.B, adopt bool) {
	b.Helper()
	binary, _ := fake(b, "ok")
	e := newEngine(b, load(b, smallText), Config{Binary: binary})
	m := e.New()
	for n := range 10 {
		m.Adopt(at(n, text("grant", "y")))
	}
	n := 10
	for b.Loop() {
		n++
		in := at(n, text("send", "x"))
		if parts := m.Judge(in); len(parts) != 1 || len(parts[0].Rows) != 1 {
			b.Fatal(show(parts))
		}
		if adopt {
			m.Adopt(in)
		}
	}
}

// BenchmarkReplay sends a history to a process that has read nothing; an operation is
// one time point.
func BenchmarkReplay(b *testing.B) {
	binary, _ := fake(b, "ok")
	e := newEngine(b, load(b, smallText), Config{Binary: binary, Kept: 1 << 30})
	m := e.New()
	for n := range b.N {
		m.Adopt(at(n/1000, text("grant", "y"))) // all within reach for a while
	}
	b.ResetTimer()
	m.Judge(at(b.N/1000, text("send", "x")))
}
