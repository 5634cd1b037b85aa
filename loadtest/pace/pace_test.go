package pace_test

import (
	"context"
	"math"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aspis-rv/aspis/loadtest/pace"
)

// server answers in its service time, but for one stall during which nothing is
// answered.
type server struct {
	service          time.Duration
	stallAt, stallTo time.Duration
	start            time.Time
	settle           time.Duration
	calls            int
}

func (s *server) Call(ctx context.Context) {
	s.calls++
	d := s.service
	if now := time.Since(s.start); now >= s.stallAt && now < s.stallTo {
		d += s.stallTo - now
	}
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

func (s *server) Settle(context.Context) { time.Sleep(s.settle) }

type samples struct {
	mu   sync.Mutex
	list []pace.Sample
}

func (s *samples) record(x pace.Sample) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = append(s.list, x)
}

// above counts the responses of at least d.
func (s *samples) above(d time.Duration) int {
	n := 0
	for _, x := range s.list {
		if x.Response >= d {
			n++
		}
	}
	return n
}

const ms = time.Millisecond

// TestStallIsChargedToEveryCall is the test against coordinated omission: one session
// makes 100 calls a second, each answered in 1 ms, and the server stalls for a
// second. The closed loop sees one slow call. The open loop must see the hundred that
// were due meanwhile, and their latencies must fall evenly from a second to nothing.
func TestStallIsChargedToEveryCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{service: ms, stallAt: 4 * time.Second, stallTo: 5 * time.Second, start: time.Now()}
		var got samples
		res, err := pace.Open(t.Context(), pace.Config{
			Rate: 100, Warmup: time.Second, Measure: 9 * time.Second, Record: got.record,
		}, []pace.Worker{s})
		if err != nil {
			t.Fatal(err)
		}
		if len(got.list) != res.Due || res.Due < 899 || res.Due > 901 {
			t.Errorf("%d samples of %d due calls, want about 900", len(got.list), res.Due)
		}
		// Due at 4.00, 4.01, …, each waits for 5.00 and then for its turn.
		for _, tc := range []struct {
			above    time.Duration
			min, max int
		}{{990 * ms, 1, 4}, {500 * ms, 50, 60}, {100 * ms, 90, 105}, {5 * ms, 100, 115}} {
			if n := got.above(tc.above); n < tc.min || n > tc.max {
				t.Errorf("%d calls took %v and more, want %d to %d", n, tc.above, tc.min, tc.max)
			}
		}
		slow := 0
		for _, x := range got.list {
			if x.Service > 5*ms {
				slow++
			}
		}
		if slow != 1 {
			t.Errorf("%d calls had a service time above 5 ms, want the one that met the stall", slow)
		}
	})
}

func TestClosedLoopSeesOneSlowCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{service: ms, stallAt: 4 * time.Second, stallTo: 5 * time.Second, start: time.Now()}
		var got samples
		res, err := pace.Closed(t.Context(), pace.Config{Warmup: time.Second, Measure: 9 * time.Second, Record: got.record}, []pace.Worker{s})
		if err != nil {
			t.Fatal(err)
		}
		if n := got.above(5 * ms); n != 1 {
			t.Errorf("%d slow calls, want 1", n)
		}
		if want := 8000; math.Abs(float64(res.Answered-want)) > 5 {
			t.Errorf("%d answers in 9 s with a stall of 1 s, want about %d", res.Answered, want)
		}
	})
}

// TestOverloadShows gives a server of 100 calls a second 200: the backlog grows, and
// what is left at the end is recorded as unserved with the time it had been due.
func TestOverloadShows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{service: 10 * ms, start: time.Now()}
		var got samples
		began := time.Now()
		res, err := pace.Open(t.Context(), pace.Config{
			Rate: 200, Measure: 10 * time.Second, Drain: time.Second, Record: got.record,
		}, []pace.Worker{s})
		if err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took > 11*time.Second+20*ms {
			t.Errorf("the run took %v, want the measured time and the drain", took)
		}
		unserved := 0
		for _, x := range got.list {
			if x.Unserved {
				unserved++
			}
		}
		if len(got.list) != res.Due || unserved < 890 || unserved > 910 {
			t.Errorf("%d samples of %d due calls, %d unserved; want about 900 unserved", len(got.list), res.Due, unserved)
		}
		if math.Abs(float64(res.Answered)-1000) > 5 {
			t.Errorf("%d answers in the measured time, want 1000", res.Answered)
		}
		// A call due at t is served at 2t, or has been due for 11 s − t at the end.
		if n := got.above(time.Second); n < 1780 || n > 1810 {
			t.Errorf("%d calls took a second and more, want the 1800 due after the first second", n)
		}
	})
}

// TestSettlingDelaysTheNextCall checks that what a session does between two calls is
// charged to the call that became due meanwhile, and to no other.
func TestSettlingDelaysTheNextCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{service: ms, settle: 14 * ms, start: time.Now()}
		var got samples
		if _, err := pace.Open(t.Context(), pace.Config{Rate: 50, Measure: time.Second, Record: got.record}, []pace.Worker{s}); err != nil {
			t.Fatal(err)
		}
		for _, x := range got.list {
			if x.Response != ms || !x.Idle {
				t.Fatalf("%+v: calls every 20 ms that take 15 ms in all must not wait", x)
			}
		}
		s.settle, got.list = 24*ms, nil
		if _, err := pace.Open(t.Context(), pace.Config{Rate: 50, Measure: time.Second, Record: got.record}, []pace.Worker{s}); err != nil {
			t.Fatal(err)
		}
		if n := got.above(100 * ms); n < 20 {
			t.Errorf("%d calls took 100 ms and more; calls every 20 ms that take 25 ms in all must queue up", n)
		}
	})
}

func TestWarmupIsNotMeasured(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{service: ms, stallAt: 0, stallTo: 500 * ms, start: time.Now()}
		var got samples
		var begun, ended time.Duration
		start := time.Now()
		_, err := pace.Open(t.Context(), pace.Config{
			Rate: 1000, Poisson: true, Seed: 3, Warmup: 2 * time.Second, Measure: time.Second, Record: got.record,
			Begin: func() { begun = time.Since(start) }, End: func() { ended = time.Since(start) },
		}, []pace.Worker{s, &server{service: ms, start: time.Now()}})
		if err != nil {
			t.Fatal(err)
		}
		if n := got.above(200 * ms); n != 0 {
			t.Errorf("%d calls of the warm-up were measured", n)
		}
		if len(got.list) < 850 || len(got.list) > 1150 {
			t.Errorf("%d samples in a second of 1000 calls a second", len(got.list))
		}
		if begun != 2*time.Second || ended != 3*time.Second {
			t.Errorf("measured from %v to %v, want 2s to 3s", begun, ended)
		}
	})
}

func TestCancelEndsARun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		var got samples
		began := time.Now()
		for _, run := range []func(context.Context, pace.Config, []pace.Worker) (pace.Result, error){pace.Open, pace.Closed} {
			_, err := run(ctx, pace.Config{Rate: 10, Measure: time.Hour, Record: got.record}, []pace.Worker{&server{service: ms}})
			if err == nil {
				t.Error("an ended context gave no error")
			}
		}
		if took := time.Since(began); took > 2*time.Second {
			t.Errorf("the runs went on for %v", took)
		}
	})
}

func TestConfigIsChecked(t *testing.T) {
	record := func(pace.Sample) {}
	for name, cfg := range map[string]pace.Config{
		"no rate":        {Measure: time.Second, Record: record},
		"rate NaN":       {Rate: math.NaN(), Measure: time.Second, Record: record},
		"too many calls": {Rate: 10_000_001, Measure: time.Second, Record: record},
		"no time":        {Rate: 1, Record: record},
		"no record":      {Rate: 1, Measure: time.Second},
	} {
		if _, err := pace.Open(t.Context(), cfg, []pace.Worker{&server{}}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestSleeperIsNotEarly(t *testing.T) {
	s, err := pace.NewSleeper()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close() //nolint:errcheck // nothing to lose
	for _, d := range []time.Duration{-1, 0, 50 * time.Microsecond, 3 * ms} {
		began := time.Now()
		s.Sleep(d)
		if took := time.Since(began); took < d {
			t.Errorf("slept %v, want at least %v", took, d)
		}
	}
}
