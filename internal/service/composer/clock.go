package composer

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/aspis-rv/aspis/internal/bus"
	"github.com/aspis-rv/aspis/internal/obs"
	"github.com/aspis-rv/aspis/internal/protocol"
	"github.com/aspis-rv/aspis/pkg/schema"
)

func signResolution(key ed25519.PrivateKey, r *schema.Resolution) []byte {
	return ed25519.Sign(key, r.SigningBytes())
}

// clock does what time alone makes due: ticks, deadlines, activation, snapshots.
func (w *worker) clock(ctx context.Context) {
	now := time.Now()
	if w.current() && !now.Before(w.notBefore) {
		w.activate(now)
		w.tick(now)
		if w.again {
			w.again = false
			w.propose(w.joiner.Again())
		}
		w.propose(w.joiner.Due(now.UnixNano()))
	}
	if w.since > 0 && now.Sub(w.saved) >= w.cfg.SnapshotAfter {
		w.snapshot(ctx)
	}
}

// untilClock is the time until the clock is next needed: a deadline, a tick, or a
// twentieth of the tick interval while something is under way.
func (w *worker) untilClock() time.Duration {
	now := time.Now()
	wait := w.cfg.Tick
	if last := w.joiner.Partition().LastTick(); last.N > 0 {
		wait = time.Unix(0, last.Time).Add(w.cfg.Tick).Sub(now)
	}
	if len(w.proposed) > 0 || w.again || !w.caughtUp {
		wait = min(wait, w.cfg.Tick/20)
	}
	if at, ok := w.joiner.NextDue(); ok {
		wait = min(wait, time.Unix(0, at).Sub(now))
	}
	return wait
}

// activate proposes the loaded policy where another one, or none, is active.
// Composers that were started with different policies would take turns; each
// proposes once, so the one started last wins.
func (w *worker) activate(now time.Time) {
	cur := w.joiner.Partition().Policy()
	if w.active {
		return
	}
	if bytes.Equal(cur.Digest, w.cfg.Bundle.Digest[:]) {
		w.active = true
		return
	}
	key := policyKey(cur.Number + 1)
	if !w.due(key, now) {
		return
	}
	w.log.LogAttrs(context.Background(), slog.LevelInfo, "activating the policy", obs.Partition(w.partition), obs.Policy(w.cfg.Bundle.Name))
	w.enqueue(pending{key: key, event: &schema.Event{
		ID: key, Kind: schema.KindPolicy, Actor: schema.Actor{ID: w.cfg.Name, Class: schema.ClassSystem},
		Activation: &schema.Activation{
			Number: cur.Number + 1, Digest: w.cfg.Bundle.Digest[:], Name: w.cfg.Bundle.Name, Revision: w.cfg.Bundle.Revision,
		},
	}})
}

func policyKey(n uint64) string { return fmt.Sprintf("policy/%d", n) }

func tickKey(n uint64) string { return fmt.Sprintf("tick/%d", n) }

// tick proposes the next tick once the last one is an interval old. Several
// composers may; each number exists once.
func (w *worker) tick(now time.Time) {
	last := w.joiner.Partition().LastTick()
	if last.N > 0 && now.Sub(time.Unix(0, last.Time)) < w.cfg.Tick {
		return
	}
	key := tickKey(last.N + 1)
	if !w.due(key, now) {
		return
	}
	w.enqueue(pending{key: key, event: &schema.Event{
		ID: key, Kind: schema.KindTick, Actor: schema.Actor{ID: w.cfg.Name, Class: schema.ClassSystem},
		Tick: &schema.Tick{N: last.N + 1, Time: now.UnixNano(), Marks: w.joiner.Partition().Marks()},
	}})
}

// due reports whether a create-once record may be proposed now: not while the last
// proposal of it is younger than a tick.
func (w *worker) due(key string, now time.Time) bool {
	if at, under := w.proposed[key]; under && now.Sub(at) < w.cfg.Tick {
		return false
	}
	w.proposed[key] = now
	return true
}

// snapshot stores the protocol state and the verdicts offset.
func (w *worker) snapshot(ctx context.Context) {
	w.since, w.saved = 0, time.Now()
	data, err := protocol.EncodeSnapshot(protocol.Snapshot{
		Partition: w.joiner.Partition(), Verdicts: w.joiner.VerdictOffset(w.nextVerd),
	})
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
