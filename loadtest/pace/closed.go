package pace

import (
	"context"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
)

// Closed runs the closed loop: each worker makes its next call when it has settled
// the last one. It finds the throughput at saturation; its latencies say what one
// caller sees who waits for each answer, and nothing about callers who do not.
func Closed(ctx context.Context, cfg Config, workers []Worker) (Result, error) {
	if err := cfg.Validate(); err != nil {
		return Result{}, err
	}
	cfg.complete()
	begin := time.Now().Add(cfg.Warmup)
	end := begin.Add(cfg.Measure)
	runCtx, cancel := context.WithDeadline(ctx, end.Add(cfg.Drain))
	defer cancel()
	var answered atomic.Int64
	var g errgroup.Group
	for _, w := range workers {
		g.Go(func() error {
			answered.Add(closedWork(runCtx, &cfg, w, begin, end))
			return nil
		})
	}
	o := openRun{cfg: &cfg}
	o.sleepUntil(ctx, begin)
	cfg.Begin()
	o.sleepUntil(ctx, end)
	cfg.End()
	if ctx.Err() != nil {
		cancel()
	}
	_ = g.Wait()
	n := int(answered.Load())
	return Result{Due: n, Answered: n, Elapsed: cfg.Measure}, ctx.Err()
}

// closedWork works until end and returns the number of calls made and answered in
// the measured time.
func closedWork(ctx context.Context, cfg *Config, w Worker, begin, end time.Time) int64 {
	var n int64
	for ctx.Err() == nil {
		sent := time.Now()
		if !sent.Before(end) {
			break
		}
		w.Call(ctx)
		done := time.Now()
		if !sent.Before(begin) {
			took := done.Sub(sent)
			cfg.Record(Sample{Response: took, Service: took, Idle: true, Unserved: ctx.Err() != nil})
			if done.Before(end) {
				n++
			}
		}
		w.Settle(ctx)
	}
	return n
}
