// Package measure takes what a load test reports: latencies in HDR histograms, the
// processor time and memory of processes, pauses of the collector, and the machine.
package measure

import (
	"fmt"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// The range of latencies that are told apart, with three significant digits.
// Anything longer counts as the longest: no deadline comes near.
const (
	shortest = time.Microsecond
	longest  = 2 * time.Minute
	digits   = 3
)

// Latency is a histogram of times. The zero value is not usable; see NewLatency.
// Safe for concurrent use.
type Latency struct {
	mu struct {
		sync.Mutex
		hist *hdrhistogram.Histogram
	}
}

// NewLatency returns an empty histogram.
func NewLatency() *Latency {
	l := &Latency{}
	l.mu.hist = hdrhistogram.New(int64(shortest), int64(longest), digits)
	return l
}

// Record counts one time. Times out of range count as the nearest in it.
func (l *Latency) Record(d time.Duration) {
	d = min(max(d, 0), longest)
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.mu.hist.RecordValue(int64(d)); err != nil {
		panic(fmt.Sprintf("measure: %v is in the range of the histogram: %v", d, err))
	}
}

// Quantiles are the percentiles of a histogram, in µs.
type Quantiles struct {
	Count int64   `json:"count"`
	P50   float64 `json:"p50_us"`
	P90   float64 `json:"p90_us"`
	P99   float64 `json:"p99_us"`
	P999  float64 `json:"p99.9_us"`
	Max   float64 `json:"max_us"`
}

// Quantiles returns the percentiles of what was recorded so far.
func (l *Latency) Quantiles() Quantiles {
	l.mu.Lock()
	defer l.mu.Unlock()
	h := l.mu.hist
	at := func(q float64) float64 { return micros(time.Duration(h.ValueAtQuantile(q))) }
	return Quantiles{
		Count: h.TotalCount(), P50: at(50), P90: at(90), P99: at(99), P999: at(99.9), Max: micros(time.Duration(h.Max())),
	}
}

func micros(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e3 }
