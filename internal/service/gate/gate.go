// Package gate is the role that agents' harnesses talk to. It turns an intended
// tool call into a proposed event, follows the log until a resolution of it stands,
// and answers. It holds no policy logic and no authority of its own: what it answers
// is read from the log, and everything it knows can be read there again.
package gate

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/aspis-rv/aspis/internal/bus"
	"github.com/aspis-rv/aspis/internal/latch"
	"github.com/aspis-rv/aspis/internal/obs"
	"github.com/aspis-rv/aspis/internal/protocol"
	"github.com/aspis-rv/aspis/pkg/policy"
)

// Config is what a gate needs.
type Config struct {
	Bus    bus.Bus
	Bundle *policy.Bundle // for the trace key, the deadline and the authorities
	Rules  protocol.Rules
	// Name identifies the gate as a producer and in permits; unique in a deployment.
	Name string
	// Secret is shared by the gates of a deployment: it keys partition numbers and
	// session ids. At least 32 bytes.
	Secret []byte
	// Key signs permits.
	Key ed25519.PrivateKey
	// ComposerKeys are the keys of which one must have signed a resolution before a
	// permit counts; empty accepts unsigned ones, for a single process.
	ComposerKeys []ed25519.PublicKey
	// NotAfter is how long a permit is valid; 0 means 5 s.
	NotAfter time.Duration
	// MaxDeadline bounds what a call may ask for; 0 means 2 min.
	MaxDeadline time.Duration
	// AppendTimeout bounds the wait for the log's acknowledgement; 0 means 2 s.
	AppendTimeout time.Duration
	// MaxPending bounds the calls in flight per partition; beyond it calls are
	// refused `busy`; 0 means 4096.
	MaxPending int
	// MaxPendingPrincipal bounds the calls in flight of one principal; 0 means 256.
	MaxPendingPrincipal int
	// Asker is asked what the bundle wants to know of an event before it is appended; it may be
	// nil when the bundle names no classifier.
	Asker   Asker
	Logger  *slog.Logger
	Metrics *Metrics
}

// Validate returns every problem of the configuration at once.
func (c *Config) Validate() error {
	var errs []error
	if c.Bus == nil || c.Bundle == nil {
		errs = append(errs, errors.New("gate: a bus and a policy are needed"))
	}
	if c.Name == "" {
		errs = append(errs, errors.New("gate: Name is empty; give each gate of the deployment a name of its own"))
	}
	if len(c.Secret) < 32 {
		errs = append(errs, fmt.Errorf("gate: Secret has %d bytes; at least 32 are needed", len(c.Secret)))
	}
	if len(c.Key) != ed25519.PrivateKeySize {
		errs = append(errs, errors.New("gate: Key is not an Ed25519 private key"))
	}
	if c.Bundle != nil && c.Asker == nil && len(c.Bundle.Classifiers()) > 0 {
		errs = append(errs, errors.New("gate: the policy names classifiers, and there is nobody to ask them"))
	}
	return errors.Join(errs...)
}

func (c *Config) complete() {
	setDefault(&c.NotAfter, 5*time.Second)
	setDefault(&c.MaxDeadline, 2*time.Minute)
	setDefault(&c.AppendTimeout, 2*time.Second)
	setDefault(&c.MaxPending, 4096)
	setDefault(&c.MaxPendingPrincipal, 256)
}

func setDefault[T int | time.Duration](v *T, to T) {
	if *v == 0 {
		*v = to
	}
}

// Service is a running gate. Its methods are safe for concurrent use once Ready.
type Service struct {
	cfg      Config
	log      *slog.Logger
	sessions *sessionKeys
	lanes    []*lane
	quota    *quota // calls
	records  *quota // everything else
	opened   *rate  // sessions
	scans    *quota // of the log
	vouched  *vouchers
	ready    *latch.Latch
}

// New returns the service; Run starts it.
func New(cfg Config) (*Service, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	cfg.complete()
	s := &Service{
		cfg: cfg, log: obs.Logger(cfg.Logger), sessions: newSessionKeys(cfg.Secret, cfg.Bus.Partitions()),
		quota: newQuota(cfg.MaxPendingPrincipal), vouched: newVouchers(),
		records: newQuota(maxRecords), opened: newRate(sessionBurst, sessionEvery), scans: newQuota(1),
	}
	incarnation := uint64(time.Now().UnixNano()) //nolint:gosec // positive until 2262
	for p := range cfg.Bus.Partitions() {
		s.lanes = append(s.lanes, newLane(s, p, incarnation))
	}
	s.ready = latch.New(len(s.lanes))
	return s, nil
}

// Run works until ctx ends and returns after all its goroutines have; calls that are
// still pending are then answered as unavailable by their own deadlines.
func (s *Service) Run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	for _, l := range s.lanes {
		g.Go(func() error { l.appender.Run(ctx); return nil })
		g.Go(func() error {
			err := l.run(ctx)
			if ctx.Err() != nil {
				return nil //nolint:nilerr // a stop is no failure
			}
			return err
		})
	}
	return g.Wait()
}

// Ready blocks until every partition has been folded up to what was in the log when
// the gate started, or ctx ends.
func (s *Service) Ready(ctx context.Context) error {
	return s.ready.Wait(ctx)
}

// Observing reports whether the log says of some partition that the deployment only
// observes.
func (s *Service) Observing() bool {
	for _, l := range s.lanes {
		l.mu.Lock()
		observing := l.mu.fold.Observing()
		l.mu.Unlock()
		if observing {
			return true
		}
	}
	return false
}

// Check reports whether the gate could decide a call now: every partition has a
// clock that runs. The error says which has not.
func (s *Service) Check() error {
	for _, l := range s.lanes {
		if err := l.clockError(time.Now()); err != nil {
			return err
		}
	}
	return nil
}
