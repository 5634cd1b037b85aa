package composer

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/aspis-rv/aspis/internal/bus"
	"github.com/aspis-rv/aspis/internal/compose"
	"github.com/aspis-rv/aspis/internal/obs"
	"github.com/aspis-rv/aspis/internal/protocol"
)

// worker is the composer of one partition. Records, offered verdicts, failed appends
// and the clock all come from goroutines of their own and take turns at the state,
// which is guarded: a decision is made by whoever brings the last part of it, without
// waking anybody else first. Appends are made by writers, so that nobody waits for one
// while holding the lock.
type worker struct {
	*Service
	partition uint32
	appends   chan pending
	poke      chan struct{} // the clock has to look earlier than it planned
	room      chan struct{} // the joiner may take verdicts again
	head      uint64        // of the events topic when the worker started
	revision  uint64        // of the stored snapshot; the clock's

	mu struct {
		sync.Mutex
		state
	}
}

// state is what the goroutines of a worker share.
type state struct {
	joiner   *compose.Joiner // nil until the snapshot is loaded
	nextVerd uint64          // offset after the last verdict read
	caughtUp bool
	active   bool // the loaded policy was found or proposed
	since    int  // records since the last snapshot
	saved    time.Time
	proposed map[string]time.Time // create-once records under way, by key
	again    bool                 // some resolution has to be proposed once more
	wake     time.Time            // when the clock is next looked at
	// After a failed append nothing is proposed before notBefore; the log is told of it
	// once a second.
	notBefore, told time.Time
}

func newWorker(s *Service, p uint32) *worker {
	w := &worker{
		Service: s, partition: p,
		appends: make(chan pending, 4096), poke: make(chan struct{}, 1), room: make(chan struct{}, 1),
	}
	w.mu.proposed = map[string]time.Time{}
	return w
}

func (w *worker) run(ctx context.Context) error {
	snap, rev, err := load(ctx, w.cfg.Bus, w.partition, w.cfg.Rules)
	if err != nil {
		return err
	}
	events, verdicts, err := w.open(ctx, &snap)
	if err != nil {
		return fmt.Errorf("composer: partition %d: %w", w.partition, err)
	}
	defer events.Close()   //nolint:errcheck // nothing is lost with a cursor
	defer verdicts.Close() //nolint:errcheck // nothing is lost with a cursor
	w.begin(&snap, rev)
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return w.readEvents(ctx, events) })
	g.Go(func() error { return w.readVerdicts(ctx, verdicts) })
	g.Go(func() error { w.keepTime(ctx); return nil })
	for range writers {
		g.Go(func() error { w.write(ctx); return nil })
	}
	return g.Wait()
}

func (w *worker) begin(snap *protocol.Snapshot, revision uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.revision = revision
	w.mu.saved, w.mu.nextVerd = time.Now(), snap.Verdicts
	w.mu.joiner = compose.RestoreJoiner(snap.Partition, compose.Config{
		Bundle: w.cfg.Bundle, Rules: w.cfg.Rules, Options: w.cfg.Options,
		Writer: w.cfg.Name, Margin: int64(w.cfg.Margin),
	})
}

// open opens both cursors; where retention removed what follows the snapshot, the
// partition starts again from what is retained.
func (w *worker) open(ctx context.Context, snap *protocol.Snapshot) (events, verdicts bus.Cursor, err error) {
	first, next, err := w.cfg.Bus.Bounds(ctx, bus.Events, w.partition)
	if err != nil {
		return nil, nil, err
	}
	if first < next {
		w.head = next
	}
	start := bus.Start{Kind: bus.Earliest}
	if n := snap.Partition.Next(); n > 0 {
		start = bus.Start{Kind: bus.AtOffset, Offset: n}
	}
	events, err = w.cfg.Bus.Read(ctx, bus.Events, w.partition, start)
	if errors.Is(err, bus.ErrTrimmed) {
		w.log.LogAttrs(ctx, slog.LevelWarn, "the log after the snapshot is gone; starting incomplete", obs.Partition(w.partition))
		snap.Partition = protocol.New(w.partition, w.cfg.Rules)
		events, err = w.cfg.Bus.Read(ctx, bus.Events, w.partition, bus.Start{Kind: bus.Earliest})
	}
	if err != nil {
		return nil, nil, err
	}
	start = bus.Start{Kind: bus.Earliest}
	if snap.Verdicts > 0 {
		start = bus.Start{Kind: bus.AtOffset, Offset: snap.Verdicts}
	}
	verdicts, err = w.cfg.Bus.Read(ctx, bus.Verdicts, w.partition, start)
	if errors.Is(err, bus.ErrTrimmed) {
		verdicts, err = w.cfg.Bus.Read(ctx, bus.Verdicts, w.partition, bus.Start{Kind: bus.Earliest})
	}
	if err != nil {
		_ = events.Close()
		return nil, nil, err
	}
	return events, verdicts, nil
}
