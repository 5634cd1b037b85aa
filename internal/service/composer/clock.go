package composer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/aspis-rv/aspis/internal/bus"
	"github.com/aspis-rv/aspis/internal/obs"
	"github.com/aspis-rv/aspis/internal/protocol"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// keepTime does what time alone makes due until ctx ends, and stores a last snapshot
// on the way out.
func (w *worker) keepTime(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			w.leave()
			return
		case <-w.poke:
		case <-timer.C:
		}
		timer.Reset(w.clock())
		w.maybeSnapshot(ctx)
	}
}

// clock makes ticks, meets deadlines, activates the policy. It returns the time until
// it is next needed.
func (w *worker) clock() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Now()
	if w.currentLocked() && !now.Before(w.mu.notBefore) {
		w.activateLocked(now)
		w.tickLocked(now)
		if w.mu.again {
			w.mu.again = false
			w.proposeLocked(w.mu.joiner.Again())
		}
		w.proposeLocked(w.mu.joiner.Due(now.UnixNano()))
	}
	wait := max(w.untilLocked(now), time.Millisecond, w.mu.notBefore.Sub(now))
	w.mu.wake = now.Add(wait)
	return wait
}

// untilLocked is the time until the clock is next needed: a deadline, a tick, or a
// twentieth of the tick interval while something is under way.
func (w *worker) untilLocked(now time.Time) time.Duration {
	wait := w.cfg.Tick
	if last := w.mu.joiner.Partition().LastTick(); last.N > 0 {
		wait = time.Unix(0, last.Time).Add(w.cfg.Tick).Sub(now)
	}
	if len(w.mu.proposed) > 0 || w.mu.again || !w.mu.caughtUp {
		wait = min(wait, w.cfg.Tick/20)
	}
	if at, ok := w.mu.joiner.NextDue(); ok {
		wait = min(wait, time.Unix(0, at).Sub(now))
	}
	return wait
}

// activateLocked proposes the loaded policy where another one, or none, is active.
// Composers that were started with different policies would take turns; each proposes
// once, so the one started last wins.
func (w *worker) activateLocked(now time.Time) {
	cur := w.mu.joiner.Partition().Policy()
	if w.mu.active {
		return
	}
	want := w.cfg.activation()
	if same(&cur, want) {
		w.mu.active = true
		return
	}
	key := policyKey(cur.Number + 1)
	if !w.dueLocked(key, now) {
		return
	}
	w.log.LogAttrs(context.Background(), slog.LevelInfo, "activating the policy", obs.Partition(w.partition), obs.Policy(w.cfg.Bundle.Name))
	want.Number = cur.Number + 1
	w.enqueueLocked(pending{key: key, event: &schema.Event{
		ID: key, Kind: schema.KindPolicy, Actor: schema.Actor{ID: w.cfg.Name, Class: schema.ClassSystem}, Activation: want,
	}})
}

// activation is the one that this composer was started to bring about.
func (c *Config) activation() *schema.Activation {
	a := &schema.Activation{
		Digest: c.Bundle.Digest[:], Name: c.Bundle.Name, Revision: c.Bundle.Revision, Blocking: c.Blocking,
	}
	if !c.ObserveUntil.IsZero() {
		a.ObserveUntil, a.Reason = c.ObserveUntil.UnixNano(), c.ObserveReason
	}
	return a
}

// same reports whether two activations have the same effect.
func same(a, b *schema.Activation) bool {
	return bytes.Equal(a.Digest, b.Digest) && a.Blocking == b.Blocking && a.ObserveUntil == b.ObserveUntil
}

func policyKey(n uint64) string { return fmt.Sprintf("policy/%d", n) }

func tickKey(n uint64) string { return fmt.Sprintf("tick/%d", n) }

// tickLocked proposes the next tick once the last one is an interval old. Several
// composers may; each number exists once.
func (w *worker) tickLocked(now time.Time) {
	last := w.mu.joiner.Partition().LastTick()
	if last.N > 0 && now.Sub(time.Unix(0, last.Time)) < w.cfg.Tick {
		return
	}
	key := tickKey(last.N + 1)
	if !w.dueLocked(key, now) {
		return
	}
	w.enqueueLocked(pending{key: key, event: &schema.Event{
		ID: key, Kind: schema.KindTick, Actor: schema.Actor{ID: w.cfg.Name, Class: schema.ClassSystem},
		Tick: &schema.Tick{N: last.N + 1, Time: now.UnixNano(), Marks: w.mu.joiner.Partition().Marks()},
	}})
}

// dueLocked reports whether a create-once record may be proposed now: not while the
// last proposal of it is younger than a tick.
func (w *worker) dueLocked(key string, now time.Time) bool {
	if at, under := w.mu.proposed[key]; under && now.Sub(at) < w.cfg.Tick {
		return false
	}
	w.mu.proposed[key] = now
	return true
}

func (w *worker) maybeSnapshot(ctx context.Context) {
	w.mu.Lock()
	due := w.mu.since > 0 && time.Since(w.mu.saved) >= w.cfg.SnapshotAfter
	w.mu.Unlock()
	if due {
		w.snapshot(ctx)
	}
}

// encodeSnapshot encodes the protocol state and the verdicts offset.
func (w *worker) encodeSnapshot() ([]byte, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.mu.since, w.mu.saved = 0, time.Now()
	return protocol.EncodeSnapshot(protocol.Snapshot{
		Partition: w.mu.joiner.Partition(), Verdicts: w.mu.joiner.VerdictOffset(w.mu.nextVerd),
	})
}

// snapshot stores the state. Nobody waits for it but the clock.
func (w *worker) snapshot(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, w.cfg.Tick)
	defer cancel()
	data, err := w.encodeSnapshot()
	if err == nil {
		var rev uint64
		rev, err = w.cfg.Bus.PutSnapshot(ctx, protocol.SnapshotKey(w.partition), w.revision, data)
		if err == nil {
			w.revision = rev
			return
		}
	}
	if errors.Is(err, bus.ErrStale) {
		if _, rev, err := w.cfg.Bus.GetSnapshot(ctx, protocol.SnapshotKey(w.partition)); err == nil {
			w.revision = rev
		}
		return
	}
	w.log.LogAttrs(ctx, slog.LevelWarn, "snapshot could not be stored", obs.Partition(w.partition), obs.Err(err))
}

// leave writes a last snapshot on an orderly stop.
func (w *worker) leave() {
	w.mu.Lock()
	changed := w.mu.since > 0
	w.mu.Unlock()
	if !changed {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), leaveTimeout)
	defer cancel()
	w.snapshot(ctx)
}

// leaveTimeout bounds an orderly stop; without the last snapshot the next start
// only folds a little more.
const leaveTimeout = 3 * time.Second
