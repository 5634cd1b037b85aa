// Package composer is the role that joins part verdicts, appends the resolutions
// that are the decisions, keeps the logical clock, and sees to it that the loaded
// policy is active in every partition it is given. Each partition has a joiner, at
// which the goroutines of its worker take turns; appends are made by others, so that
// consuming never waits.
package composer

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/aspis-rv/aspis/internal/bus"
	"github.com/aspis-rv/aspis/internal/compose"
	"github.com/aspis-rv/aspis/internal/latch"
	"github.com/aspis-rv/aspis/internal/obs"
	"github.com/aspis-rv/aspis/internal/protocol"
	"github.com/aspis-rv/aspis/pkg/policy"
	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// Config is what a composer needs.
type Config struct {
	Bus    bus.Bus
	Bundle *policy.Bundle
	Rules  protocol.Rules
	compose.Options
	// Partitions to work on; nil means all.
	Partitions []uint32
	// Name identifies the composer in the resolutions it writes.
	Name string
	// Vouch, when not nil, is told of every signature that is made and what it covers:
	// a gate in the same process then need not verify it.
	Vouch func(signature, signed []byte)
	// Key signs resolutions; nil leaves them unsigned.
	Key ed25519.PrivateKey
	// Blocking, when not 0, overrides the bundle's blocking set. It is part of the
	// activation, so that every reader of the log knows it.
	Blocking verdict.BlockingSet
	// ObserveUntil, when not zero, activates the policy in observe mode up to that time:
	// nothing is refused, and what would have been is marked. ObserveReason says why.
	ObserveUntil  time.Time
	ObserveReason string
	// Tick is the interval of the logical clock; 0 means 1 s.
	Tick time.Duration
	// Margin is the time before a deadline at which a call is decided with the parts
	// that are there; 0 means 400 ms, more than what a gate keeps for itself. A call never loses more than a quarter of its
	// time to it.
	Margin time.Duration
	// SnapshotAfter is the longest time between snapshots while records arrive; 0
	// means 10 s.
	SnapshotAfter time.Duration
	Logger        *slog.Logger
	Metrics       *Metrics
}

func (c *Config) complete() {
	if c.Tick == 0 {
		c.Tick = time.Second
	}
	if c.Margin == 0 {
		c.Margin = 400 * time.Millisecond
	}
	if c.SnapshotAfter == 0 {
		c.SnapshotAfter = 10 * time.Second
	}
	if c.Partitions == nil {
		for p := range c.Bus.Partitions() {
			c.Partitions = append(c.Partitions, p)
		}
	}
}

// Service is a running composer.
type Service struct {
	cfg   Config
	log   *slog.Logger
	ready *latch.Latch
	parts []*worker
}

// New returns the service; Run starts it.
func New(cfg Config) *Service {
	cfg.complete()
	s := &Service{cfg: cfg, log: obs.Logger(cfg.Logger)}
	for _, p := range cfg.Partitions {
		s.parts = append(s.parts, newWorker(s, p))
	}
	s.ready = latch.New(len(s.parts))
	return s
}

// Run works until ctx ends and returns after all its goroutines have. It returns
// early only with an error that no retry of the bus could mend.
func (s *Service) Run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	for _, w := range s.parts {
		g.Go(func() error { return ended(ctx, w.run(ctx)) })
	}
	return g.Wait()
}

// Offer gives a part verdict to the composer ahead of its durable copy, which the
// composer reads from the log all the same. It never waits: a verdict that finds no
// room is taken from the log.
func (s *Service) Offer(partition uint32, v *schema.Verdict) {
	for _, w := range s.parts {
		if w.partition == partition {
			w.offer(v)
			return
		}
	}
}

// Ready blocks until every partition has folded what was in the log when it started
// and found the policy active, or ctx ends.
func (s *Service) Ready(ctx context.Context) error {
	return s.ready.Wait(ctx)
}

func ended(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil //nolint:nilerr // a stop is no failure
	}
	return err
}

// load reads the snapshot of a partition; a partition without a usable one starts
// from nothing.
func load(ctx context.Context, b bus.Snapshots, p uint32, rules protocol.Rules) (protocol.Snapshot, uint64, error) {
	fresh := protocol.Snapshot{Partition: protocol.New(p, rules)}
	data, rev, err := b.GetSnapshot(ctx, protocol.SnapshotKey(p))
	if errors.Is(err, bus.ErrNoSnapshot) {
		return fresh, 0, nil
	}
	if err != nil {
		return fresh, 0, fmt.Errorf("composer: reading the snapshot of partition %d: %w", p, err)
	}
	snap, err := protocol.DecodeSnapshot(data, rules)
	if err != nil {
		return fresh, rev, nil //nolint:nilerr // the log has everything
	}
	return snap, rev, nil
}
