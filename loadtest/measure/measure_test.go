package measure

import (
	"os"
	"runtime"
	"runtime/metrics"
	"sync"
	"testing"
	"time"
)

func TestQuantilesOfALatency(t *testing.T) {
	l := NewLatency()
	var wg sync.WaitGroup
	for worker := range 4 {
		wg.Go(func() {
			for i := worker; i < 1000; i += 4 {
				l.Record(time.Duration(i+1) * time.Millisecond) // 1 ms … 1 s, each once
			}
		})
	}
	wg.Wait()
	q := l.Quantiles()
	for name, tc := range map[string]struct{ got, want float64 }{
		"p50": {q.P50, 500e3}, "p90": {q.P90, 900e3}, "p99": {q.P99, 990e3}, "p99.9": {q.P999, 999e3}, "max": {q.Max, 1000e3},
	} {
		if tc.got < tc.want || tc.got > tc.want*1.002 {
			t.Errorf("%s is %v µs, want %v within three digits", name, tc.got, tc.want)
		}
	}
	if q.Count != 1000 {
		t.Errorf("%d times were counted", q.Count)
	}
}

func TestLatencyOutOfRange(t *testing.T) {
	l := NewLatency()
	l.Record(-time.Second)
	l.Record(time.Hour)
	if q := l.Quantiles(); q.Count != 2 || q.Max < 119e6 || q.P50 > 1 {
		t.Errorf("%+v: want both counted, as the nearest in range", q)
	}
}

func TestParseStat(t *testing.T) {
	const stat = "42 (a name) of ) sorts) S 1 42 42 0 -1 4194560 100 0 0 0 250 50 0 0 20 0 9 0 100 1000000 300 184467 1 1 0"
	u, err := parseStat(stat, 4096)
	if err != nil || u.CPU != 3*time.Second || u.RSS != 300*4096 {
		t.Errorf("got %+v, %v; want 3 s and 300 pages", u, err)
	}
	for _, bad := range []string{"", "42 (x) S 1 2", "42 (x) S 1 42 42 0 -1 0 1 0 0 0 x 50 0 0 20 0 9 0 100 1 300 1"} {
		if _, err := parseStat(bad, 4096); err == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
}

func TestSelfIsThisProcess(t *testing.T) {
	self, err := Self()
	if err != nil {
		t.Fatal(err)
	}
	other, err := Process(os.Getpid())
	if err != nil || self.RSS <= 0 || self.CPU <= 0 || other.RSS <= 0 {
		t.Errorf("%+v and %+v, %v", self, other, err)
	}
	if _, err := Process(-1); err == nil {
		t.Error("a process that does not exist was measured")
	}
}

func TestModelNamesAClassOnly(t *testing.T) {
	for cpuinfo, want := range map[string]string{
		"processor : 0\nmodel name\t: AMD EPYC 7763 64-Core Processor\n":                     "AMD EPYC 7763",
		"model name : Intel(R) Xeon(R) Platinum 8370C CPU @ 2.80GHz\nmodel name : another\n": "Intel Xeon Platinum 8370C",
		"":                runtime.GOARCH,
		"model name : \n": runtime.GOARCH,
	} {
		if got := model(cpuinfo); got != want {
			t.Errorf("%q is %q, want %q", cpuinfo, got, want)
		}
	}
}

func TestNoiseSeesACollection(t *testing.T) {
	before := ReadNoise()
	runtime.GC()
	got := ReadNoise().Since(before)
	if got.GC == 0 || got.GCMax <= 0 || got.GCP50 > got.GCMax {
		t.Errorf("%+v: a collection has pauses", got)
	}
}

func TestQuantileOfBuckets(t *testing.T) {
	h := &metrics.Float64Histogram{Counts: []uint64{5, 4, 1}, Buckets: []float64{0, 1e-6, 2e-6, 3e-6}}
	for q, want := range map[float64]float64{0.1: 1, 0.5: 1, 0.6: 2, 0.9: 2, 1: 3} {
		if got := quantile(h, q); got < want*0.999 || got > want*1.001 {
			t.Errorf("quantile %v is %v µs, want %v", q, got, want)
		}
	}
	if got := quantile(&metrics.Float64Histogram{}, 0.5); got != 0 {
		t.Errorf("an empty histogram has the quantile %v", got)
	}
}
