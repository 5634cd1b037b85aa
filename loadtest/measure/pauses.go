package measure

import (
	"math"
	"runtime/metrics"
	"slices"
)

// Pauses is what the runtime of this process added to latencies, since Go started or
// between two readings.
type Pauses struct {
	GC      uint64  `json:"gc_pauses"`
	GCP50   float64 `json:"gc_pause_p50_us"`
	GCMax   float64 `json:"gc_pause_max_us"`
	SchedP9 float64 `json:"sched_wait_p99_us"` // how long runnable goroutines waited
}

// Noise reads the runtime's own histograms.
type Noise struct{ gc, sched *metrics.Float64Histogram }

// The histograms that a Noise reads.
const (
	gcPauses  = "/sched/pauses/total/gc:seconds"
	schedWait = "/sched/latencies:seconds"
)

// ReadNoise reads the histograms now.
func ReadNoise() Noise {
	s := []metrics.Sample{{Name: gcPauses}, {Name: schedWait}}
	metrics.Read(s)
	return Noise{gc: histogram(s[0]), sched: histogram(s[1])}
}

func histogram(s metrics.Sample) *metrics.Float64Histogram {
	if s.Value.Kind() != metrics.KindFloat64Histogram {
		return &metrics.Float64Histogram{}
	}
	h := s.Value.Float64Histogram()
	return &metrics.Float64Histogram{Counts: slices.Clone(h.Counts), Buckets: slices.Clone(h.Buckets)}
}

// Since returns what happened between an earlier reading and n.
func (n Noise) Since(earlier Noise) Pauses {
	gc, sched := minus(n.gc, earlier.gc), minus(n.sched, earlier.sched)
	return Pauses{
		GC: count(gc), GCP50: quantile(gc, 0.5), GCMax: quantile(gc, 1), SchedP9: quantile(sched, 0.99),
	}
}

func minus(a, b *metrics.Float64Histogram) *metrics.Float64Histogram {
	if len(a.Counts) != len(b.Counts) {
		return a
	}
	d := &metrics.Float64Histogram{Counts: slices.Clone(a.Counts), Buckets: a.Buckets}
	for i := range d.Counts {
		d.Counts[i] -= b.Counts[i]
	}
	return d
}

func count(h *metrics.Float64Histogram) uint64 {
	var n uint64
	for _, c := range h.Counts {
		n += c
	}
	return n
}

// quantile is the upper end of the bucket that holds the quantile, in µs; of the last
// bucket, which has none, the lower end.
func quantile(h *metrics.Float64Histogram, q float64) float64 {
	total := count(h)
	if total == 0 {
		return 0
	}
	want := uint64(math.Ceil(q * float64(total)))
	var n uint64
	for i, c := range h.Counts {
		if n += c; n >= want {
			upper := h.Buckets[i+1]
			if math.IsInf(upper, 1) {
				upper = h.Buckets[i]
			}
			return upper * 1e6
		}
	}
	return 0
}
