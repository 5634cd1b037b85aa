// Package aspectd is the role that runs one aspect's monitors over the partitions it
// is given and publishes part verdicts. Each partition has one goroutine, which owns
// a judge; the log is the only thing partitions share.
package aspectd

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/aspis-rv/aspis/internal/bus"
	"github.com/aspis-rv/aspis/internal/judge"
	"github.com/aspis-rv/aspis/internal/latch"
	"github.com/aspis-rv/aspis/internal/obs"
	"github.com/aspis-rv/aspis/internal/protocol"
	"github.com/aspis-rv/aspis/pkg/aspects"
	"github.com/aspis-rv/aspis/pkg/policy"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// Config is what an aspect worker needs.
type Config struct {
	Bus    bus.Bus
	Bundle *policy.Bundle
	Engine aspects.Engine
	Rules  protocol.Rules
	// Partitions to work on; nil means all.
	Partitions []uint32
	// Tap, when not nil, is given every part verdict at once, before it is durable: the
	// short way to a composer in the same process. It must not wait.
	Tap func(partition uint32, v *schema.Verdict)
	// SnapshotEvery is the number of records between snapshots; 0 means 8192.
	SnapshotEvery int
	// SnapshotAfter is the longest time between snapshots while records arrive; 0
	// means 10 s.
	SnapshotAfter time.Duration
	Logger        *slog.Logger
	Metrics       *Metrics
}

// Service is a running aspect worker.
type Service struct {
	cfg   Config
	log   *slog.Logger
	ready *latch.Latch
	parts []*worker
}

// New returns the service; Run starts it.
func New(cfg Config) *Service {
	if cfg.SnapshotEvery == 0 {
		cfg.SnapshotEvery = 8192
	}
	if cfg.SnapshotAfter == 0 {
		cfg.SnapshotAfter = 10 * time.Second
	}
	if cfg.Partitions == nil {
		for p := range cfg.Bus.Partitions() {
			cfg.Partitions = append(cfg.Partitions, p)
		}
	}
	s := &Service{cfg: cfg, log: obs.Logger(cfg.Logger).With(obs.Aspect(string(cfg.Engine.Kind())))}
	for _, p := range cfg.Partitions {
		s.parts = append(s.parts, &worker{Service: s, partition: p, out: newOutbox(cfg.Bus.NewPublisher(), p)})
	}
	s.ready = latch.New(len(s.parts))
	return s
}

// Run works until ctx ends, then writes snapshots and returns. It returns early only
// with an error that no retry of the bus could mend.
func (s *Service) Run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	for _, w := range s.parts {
		g.Go(func() error { return w.run(ctx) })
	}
	return g.Wait()
}

// Ready blocks until every partition has folded what was in the log when it
// started, or ctx ends.
func (s *Service) Ready(ctx context.Context) error {
	return s.ready.Wait(ctx)
}

// worker owns one partition.
type worker struct {
	*Service
	partition uint32
	out       *outbox
	judge     *judge.Judge // after Ready read and stepped under folded.mu
	folded    folded
	revision  uint64
	since     int // records since the last snapshot
	saved     time.Time
	caughtUp  bool
	foreign   bool
}

// run folds the partition until ctx ends, and leaves a last snapshot.
func (w *worker) run(ctx context.Context) error {
	published, stop := context.WithCancel(context.WithoutCancel(ctx))
	var g errgroup.Group
	g.Go(func() error {
		w.out.run(published, func(err error) {
			w.cfg.Metrics.lost()
			w.log.LogAttrs(published, slog.LevelWarn, "part verdicts are published again", obs.Partition(w.partition), obs.Err(err))
		})
		return nil
	})
	err := w.follow(ctx)
	stop()
	_ = g.Wait() // it returns no error
	return err
}

func (w *worker) follow(ctx context.Context) error {
	if err := w.restore(ctx); err != nil || w.judge == nil {
		return err // without either the start was called off
	}
	cur, next, err := w.open(ctx)
	if err != nil {
		return ended(ctx, err)
	}
	defer cur.Close() //nolint:errcheck // nothing is lost with a cursor
	w.checkCaughtUp(next)
	for {
		rec, err := cur.Next(ctx)
		if err != nil {
			w.leave()
			return ended(ctx, fmt.Errorf("aspectd: partition %d: %w", w.partition, err))
		}
		w.step(ctx, rec)
		w.checkCaughtUp(next)
		w.maybeSnapshot(ctx)
	}
}

// ended turns the errors of a stop into nil.
func ended(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil //nolint:nilerr // a stop is no failure
	}
	return err
}

// restore loads the snapshot, or starts from nothing when there is none that fits:
// the log has everything.
func (w *worker) restore(ctx context.Context) error {
	jc := judge.Config{Bundle: w.cfg.Bundle, Engine: w.cfg.Engine, Rules: w.cfg.Rules}
	data, rev, err := w.cfg.Bus.GetSnapshot(ctx, w.snapshotKey())
	w.revision, w.saved = rev, time.Now()
	switch {
	case errors.Is(err, bus.ErrNoSnapshot):
		w.judge = judge.New(w.partition, jc)
		return nil
	case err != nil:
		return ended(ctx, fmt.Errorf("aspectd: reading the snapshot of partition %d: %w", w.partition, err))
	}
	w.judge, err = judge.Restore(data, jc)
	if err != nil {
		w.log.LogAttrs(ctx, slog.LevelWarn, "snapshot does not fit; folding the retained log", obs.Partition(w.partition), obs.Err(err))
		w.judge = judge.New(w.partition, jc)
		return nil
	}
	for _, v := range w.judge.Pending() {
		w.publish(ctx, v)
	}
	return nil
}

func (w *worker) snapshotKey() string {
	return judge.SnapshotKey(w.cfg.Engine.Kind(), w.partition)
}

// open opens the cursor at the record after the snapshot; where retention removed
// it, at the first one retained, from a fresh state.
func (w *worker) open(ctx context.Context) (bus.Cursor, uint64, error) {
	first, next, err := w.cfg.Bus.Bounds(ctx, bus.Events, w.partition)
	if err != nil {
		return nil, 0, fmt.Errorf("aspectd: partition %d: %w", w.partition, err)
	}
	if first == next {
		next = 0 // nothing to catch up with
	}
	start := bus.Start{Kind: bus.Earliest}
	if w.judge.Next() > 0 {
		start = bus.Start{Kind: bus.AtOffset, Offset: w.judge.Next()}
	}
	cur, err := w.cfg.Bus.Read(ctx, bus.Events, w.partition, start)
	if errors.Is(err, bus.ErrTrimmed) {
		w.log.LogAttrs(ctx, slog.LevelWarn, "the log after the snapshot is gone; starting incomplete", obs.Partition(w.partition))
		w.judge = judge.New(w.partition, judge.Config{
			Bundle: w.cfg.Bundle, Engine: w.cfg.Engine, Rules: w.cfg.Rules,
		})
		cur, err = w.cfg.Bus.Read(ctx, bus.Events, w.partition, bus.Start{Kind: bus.Earliest})
	}
	if err != nil {
		return nil, 0, fmt.Errorf("aspectd: partition %d: %w", w.partition, err)
	}
	return cur, next, nil
}

func (w *worker) checkCaughtUp(next uint64) {
	if !w.caughtUp && (next == 0 || w.judge.Next() >= next) {
		w.caughtUp = true
		w.ready.Done()
	}
}

func (w *worker) step(ctx context.Context, rec bus.Record) {
	ev, err := schema.DecodeEvent(rec.Data)
	if err != nil {
		// Every role skips what none can read, so they go on agreeing.
		w.cfg.Metrics.undecodable()
		w.log.LogAttrs(context.Background(), slog.LevelError, "record cannot be decoded", obs.Partition(w.partition), obs.Offset(rec.Offset), obs.Err(err))
		return
	}
	ev.Position = schema.Position{Partition: rec.Partition, Offset: rec.Offset}
	w.folded.mu.Lock()
	verdicts := w.judge.Step(rec.Offset, ev)
	w.folded.mu.marks.Reach(w.judge.Next())
	w.folded.mu.Unlock()
	w.since++
	w.cfg.Metrics.record(len(verdicts))
	for _, v := range verdicts {
		w.publish(ctx, v)
	}
	w.watchPolicy()
}

// recordSize is room for an ordinary part verdict, so that encoding one allocates once.
const recordSize = 512

func (w *worker) watchPolicy() {
	digest, foreign := w.judge.Foreign()
	if foreign && !w.foreign {
		w.log.LogAttrs(context.Background(), slog.LevelError, "the active policy is not the loaded one; judging nothing",
			obs.Partition(w.partition), obs.Digest(fmt.Sprintf("%x", digest)))
	}
	w.foreign = foreign
}

func (w *worker) publish(ctx context.Context, v *schema.Verdict) {
	if w.cfg.Tap != nil {
		w.cfg.Tap(w.partition, v)
		runtime.Gosched() // the resolution goes before the durable copy of the verdict (`loadtest hops` shows it)
	}
	data, err := v.AppendBinary(make([]byte, 0, recordSize))
	if err == nil {
		err = w.out.put(ctx, data)
	}
	if err != nil && ctx.Err() == nil {
		// The call ends as unavailable at its deadline; nothing is decided without it.
		w.cfg.Metrics.lost()
		w.log.LogAttrs(ctx, slog.LevelError, "verdict could not be published", obs.Partition(w.partition), obs.Err(err))
	}
}

func (w *worker) maybeSnapshot(ctx context.Context) {
	if w.since == 0 || w.since < w.cfg.SnapshotEvery && time.Since(w.saved) < w.cfg.SnapshotAfter {
		return
	}
	w.snapshot(ctx)
}

// snapshot stores the state once every verdict up to it is durable. A stale
// revision means that another owner is ahead, which does no harm.
func (w *worker) snapshot(ctx context.Context) {
	w.since, w.saved = 0, time.Now()
	bounded, cancel := context.WithTimeout(ctx, flushTime)
	err := w.out.flush(bounded)
	cancel()
	if err == nil {
		var data []byte
		w.folded.mu.Lock()
		data, err = w.judge.AppendState(nil)
		w.folded.mu.Unlock()
		if err == nil {
			var rev uint64
			if rev, err = w.cfg.Bus.PutSnapshot(ctx, w.snapshotKey(), w.revision, data); err == nil {
				w.revision = rev
				return
			}
		}
	}
	if errors.Is(err, bus.ErrStale) {
		if _, rev, err := w.cfg.Bus.GetSnapshot(ctx, w.snapshotKey()); err == nil {
			w.revision = rev
		}
		return
	}
	w.log.LogAttrs(ctx, slog.LevelWarn, "snapshot could not be stored", obs.Partition(w.partition), obs.Err(err))
}

// flushTime bounds the wait before a snapshot. Without the snapshot the next start only
// folds a little more.
const flushTime = 5 * time.Second

// leave writes a last snapshot on an orderly stop.
func (w *worker) leave() {
	if w.since == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), leaveTimeout)
	defer cancel()
	w.snapshot(ctx)
}

// leaveTimeout bounds an orderly stop; without the last snapshot the next start
// only folds a little more.
const leaveTimeout = 3 * time.Second
