package composer

import (
	"bytes"
	"context"
	"log/slog"
	"time"

	"github.com/aspis-rv/aspis/internal/bus"
	"github.com/aspis-rv/aspis/internal/compose"
	"github.com/aspis-rv/aspis/internal/obs"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// readEvents folds the events topic until ctx ends.
func (w *worker) readEvents(ctx context.Context, cur bus.Cursor) error {
	for {
		rec, err := cur.Next(ctx)
		if err != nil {
			return ended(ctx, err)
		}
		w.event(rec)
		signal(w.room)
	}
}

// readVerdicts joins the verdicts topic until ctx ends. It pauses while the joiner has
// too many verdicts on attempts that it has not seen open.
func (w *worker) readVerdicts(ctx context.Context, cur bus.Cursor) error {
	for {
		rec, err := cur.Next(ctx)
		if err != nil {
			return ended(ctx, err)
		}
		for !w.verdict(rec) {
			select {
			case <-w.room:
			case <-ctx.Done():
				return nil
			}
		}
	}
}

// signal makes a channel of capacity 1 ready.
func signal(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

func (w *worker) event(rec bus.Record) {
	ev, err := schema.DecodeEvent(rec.Data)
	if err != nil {
		w.cfg.Metrics.undecodable()
		w.log.LogAttrs(context.Background(), slog.LevelError, "record cannot be decoded", obs.Partition(w.partition), obs.Offset(rec.Offset), obs.Err(err))
		return
	}
	ev.Position = schema.Position{Partition: rec.Partition, Offset: rec.Offset}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.mu.since++
	if ev.Tick != nil {
		delete(w.mu.proposed, tickKey(ev.Tick.N))
	}
	if ev.Activation != nil {
		delete(w.mu.proposed, policyKey(ev.Activation.Number))
	}
	w.proposeLocked(w.mu.joiner.Step(rec.Offset, ev))
	w.wakeLocked()
	w.checkCaughtUpLocked()
}

// verdict joins a record of the verdicts topic. It returns false when the joiner takes
// none now.
func (w *worker) verdict(rec bus.Record) bool {
	v, err := schema.DecodeVerdict(rec.Data)
	w.mu.Lock()
	defer w.mu.Unlock()
	if err == nil && !w.mu.joiner.WantsVerdicts() {
		return false
	}
	w.mu.nextVerd = rec.Offset + 1
	if err != nil {
		w.cfg.Metrics.undecodable()
		w.log.LogAttrs(context.Background(), slog.LevelError, "verdict cannot be decoded", obs.Partition(w.partition), obs.Offset(rec.Offset), obs.Err(err))
		return true
	}
	w.takeLocked(rec.Offset, v)
	return true
}

// offer joins a verdict ahead of its durable copy. That copy is not read yet, so it is
// not before nextVerd.
func (w *worker) offer(v *schema.Verdict) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.mu.joiner != nil && w.mu.joiner.WantsVerdicts() {
		w.takeLocked(w.mu.nextVerd, v)
	}
}

// takeLocked joins a part verdict.
func (w *worker) takeLocked(offset uint64, v *schema.Verdict) {
	w.proposeLocked(w.mu.joiner.Verdict(offset, v))
	w.wakeLocked()
	for _, f := range w.mu.joiner.Faults() {
		w.cfg.Metrics.fault()
		w.log.LogAttrs(context.Background(), slog.LevelError, "verdicts contradict each other", obs.Partition(w.partition), obs.Detail(f))
	}
}

// proposeLocked has resolutions appended. While the worker folds what was in the log
// when it started, it keeps them back: most are there already.
func (w *worker) proposeLocked(list []compose.Proposal) {
	current := w.currentLocked()
	for i := range list {
		p := &list[i]
		if !current {
			w.mu.joiner.Retry(p.Attempt)
			w.mu.again = true
			continue
		}
		w.cfg.Metrics.decided(p.Event.Resolution)
		w.enqueueLocked(pending{key: p.Event.ID, event: p.Event, attempt: p.Attempt, notAfter: p.NotAfter})
	}
}

// wakeLocked has the clock look earlier than it planned, where a record made something
// due. The clock itself must not ask for it: it would not sleep again before then.
func (w *worker) wakeLocked() {
	if at, ok := w.mu.joiner.NextDue(); ok && at < w.mu.wake.UnixNano() {
		signal(w.poke)
	}
}

// currentLocked reports whether what was in the log when the worker started is folded.
func (w *worker) currentLocked() bool { return w.mu.joiner.Partition().Next() >= w.head }

func (w *worker) checkCaughtUpLocked() {
	if w.mu.caughtUp || !w.currentLocked() {
		return
	}
	if bytes.Equal(w.mu.joiner.Partition().Policy().Digest, w.cfg.Bundle.Digest[:]) {
		w.mu.caughtUp = true
		w.ready.Done()
	}
}

// retryLocked has the clock propose again, a little later, what could not be appended:
// a log that cannot be written is not asked without pause.
func (w *worker) retryLocked(p pending) {
	now := time.Now()
	w.mu.notBefore = now.Add(w.cfg.Tick / 20)
	w.cfg.Metrics.unwritten()
	if now.Sub(w.mu.told) >= time.Second {
		w.mu.told = now
		w.log.LogAttrs(context.Background(), slog.LevelError, "records could not be appended", obs.Partition(w.partition), obs.Err(p.err))
	}
	delete(w.mu.proposed, p.key)
	if p.attempt != (schema.Attempt{}) {
		w.mu.joiner.Retry(p.attempt)
		w.mu.again = true
	}
	signal(w.poke)
}
