// Package pace gives workers their calls, in an open loop or a closed one.
//
// In the open loop calls are due at times that are fixed beforehand and know nothing
// of the answers. A worker that is still busy when its next call is due makes it late,
// and the latency counts from when it was due: a server that stalls is charged for
// every call that it kept from being made, not for one (no coordinated omission).
package pace

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
)

// Worker makes calls, one after another. Its methods are called by one goroutine.
type Worker interface {
	// Call makes one call and returns when its answer is there.
	Call(ctx context.Context)
	// Settle does what has to be done between two calls: it is not measured, and a
	// call that becomes due meanwhile waits for it.
	Settle(ctx context.Context)
}

// Sample is one call that was due in the measured time.
type Sample struct {
	// Response is the time from when the call was due to its answer; in the closed
	// loop a call is due when it is made.
	Response time.Duration
	// Service is the time from when the call was made to its answer.
	Service time.Duration
	// Idle reports that the worker was waiting when the call became due: Response −
	// Service is then the lateness of the load generator itself.
	Idle bool
	// Unserved reports that the call had no answer when the run ended; Response is
	// then how long it had been due, a lower bound.
	Unserved bool
}

// Config is a schedule.
type Config struct {
	// Rate is the number of calls per second of all workers together; open loop only.
	Rate float64
	// Poisson makes the gaps between calls exponentially distributed rather than
	// equal.
	Poisson bool
	Seed    uint64 // of the gaps
	Warmup  time.Duration
	Measure time.Duration
	// Drain is how long after the last due time answers are waited for; 0 means 3 s.
	Drain time.Duration
	// Begin and End, when not nil, are called when the measured time begins and ends.
	Begin, End func()
	// Sleep waits for the given time; nil means time.Sleep.
	Sleep func(time.Duration)
	// Record receives every sample. It is called by many goroutines.
	Record func(Sample)
}

// Result is what a run did.
type Result struct {
	Due      int           // calls due in the measured time, or made in it in the closed loop
	Answered int           // calls whose answer came in the measured time
	Elapsed  time.Duration // of the measured time
}

// defaultDrain is longer than the deadline of any call of the shipped bundles, so
// that only a gate that is stuck leaves calls unserved.
const defaultDrain = 3 * time.Second

// Validate reports every mistake at once.
func (c *Config) Validate() error {
	var errs []error
	if c.Measure <= 0 || c.Warmup < 0 || c.Drain < 0 {
		errs = append(errs, fmt.Errorf("pace: measuring for %v after %v, draining for %v: times must be positive", c.Measure, c.Warmup, c.Drain))
	}
	if c.Record == nil {
		errs = append(errs, errors.New("pace: Record is missing"))
	}
	return errors.Join(errs...)
}

func (c *Config) complete() {
	if c.Drain == 0 {
		c.Drain = defaultDrain
	}
	if c.Sleep == nil {
		c.Sleep = time.Sleep
	}
	if c.Begin == nil {
		c.Begin = func() {}
	}
	if c.End == nil {
		c.End = func() {}
	}
}

// maxPlanned bounds a schedule: a minute at a rate far beyond any deployment's.
const maxPlanned = 10_000_000

// plan lists when calls are due, counted from the start of the run.
func (c *Config) plan() ([]time.Duration, error) {
	total := c.Warmup + c.Measure
	if n := c.Rate * total.Seconds(); !(c.Rate > 0) || n > maxPlanned {
		return nil, fmt.Errorf("pace: %v calls per second for %v: want a positive rate and at most %d calls", c.Rate, total, maxPlanned)
	}
	rng := rand.New(rand.NewPCG(c.Seed, 1)) //nolint:gosec // a schedule is no secret
	var due []time.Duration
	at := 0.0
	for {
		gap := 1 / c.Rate
		if c.Poisson {
			gap *= rng.ExpFloat64()
		}
		at += gap
		d := time.Duration(at * float64(time.Second))
		if d >= total {
			return due, nil
		}
		due = append(due, d)
	}
}

// Open runs the open loop. Calls are given to the workers in turn. It returns when
// every call has its answer or the drain time is over, or with the error of ctx.
func Open(ctx context.Context, cfg Config, workers []Worker) (Result, error) {
	if err := cfg.Validate(); err != nil {
		return Result{}, err
	}
	cfg.complete()
	plan, err := cfg.plan()
	if err != nil {
		return Result{}, err
	}
	o := &openRun{cfg: &cfg, start: time.Now()}
	o.begin = o.start.Add(cfg.Warmup)
	o.end = o.begin.Add(cfg.Measure)
	runCtx, cancel := context.WithDeadline(ctx, o.end.Add(cfg.Drain))
	defer cancel()
	var g errgroup.Group
	queues := make([]chan time.Time, len(workers))
	for i, w := range workers {
		// A queue takes the whole plan: the schedule never waits for a worker.
		queues[i] = make(chan time.Time, len(plan)/len(workers)+1)
		g.Go(func() error { o.work(runCtx, w, queues[i]); return nil })
	}
	o.pace(ctx, plan, queues)
	_ = g.Wait()
	return Result{Due: o.due, Answered: int(o.answered.Load()), Elapsed: cfg.Measure}, ctx.Err()
}

type openRun struct {
	cfg               *Config
	start, begin, end time.Time
	due               int
	answered          atomic.Int64
}

// pace hands out the plan and closes the queues at its end.
func (o *openRun) pace(ctx context.Context, plan []time.Duration, queues []chan time.Time) {
	begun := false
	for i, d := range plan {
		at := o.start.Add(d)
		if !begun && !at.Before(o.begin) {
			o.sleepUntil(ctx, o.begin)
			o.cfg.Begin()
			begun = true
		}
		o.sleepUntil(ctx, at)
		if ctx.Err() != nil {
			break
		}
		if begun {
			o.due++
		}
		queues[i%len(queues)] <- at
	}
	if !begun {
		o.sleepUntil(ctx, o.begin)
		o.cfg.Begin()
	}
	o.sleepUntil(ctx, o.end)
	o.cfg.End()
	for _, q := range queues {
		close(q)
	}
}

// slice is how long the pacer sleeps at most before it looks whether it is to stop.
const slice = 50 * time.Millisecond

func (o *openRun) sleepUntil(ctx context.Context, at time.Time) {
	for ctx.Err() == nil {
		d := time.Until(at)
		if d <= 0 {
			return
		}
		o.cfg.Sleep(min(d, slice))
	}
}

// work makes the calls of one worker until its queue is closed and empty. Calls that
// the end of the run leaves over are recorded as unserved.
func (o *openRun) work(ctx context.Context, w Worker, queue <-chan time.Time) {
	free := time.Now()
	for at := range queue {
		measured := !at.Before(o.begin)
		sent := time.Now()
		if ctx.Err() == nil {
			w.Call(ctx)
		}
		done := time.Now()
		if ctx.Err() != nil {
			if measured {
				o.cfg.Record(Sample{Response: done.Sub(at), Service: done.Sub(sent), Unserved: true})
			}
			continue
		}
		if measured {
			o.cfg.Record(Sample{Response: done.Sub(at), Service: done.Sub(sent), Idle: !free.After(at)})
		}
		if !done.Before(o.begin) && done.Before(o.end) {
			o.answered.Add(1)
		}
		w.Settle(ctx)
		free = time.Now()
	}
}
