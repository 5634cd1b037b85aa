// Package ingest is the role that takes foreign traces and feeds, makes canonical
// events of them, and appends those that are sound. What it rejects goes to a dead
// letter with a diagnostic; nothing is dropped in silence.
package ingest

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"sync"
	"time"

	"github.com/oklog/ulid/v2"
	"golang.org/x/sync/errgroup"

	"github.com/aspis-rv/aspis/internal/appender"
	"github.com/aspis-rv/aspis/internal/bus"
	"github.com/aspis-rv/aspis/internal/obs"
	"github.com/aspis-rv/aspis/internal/placement"
	"github.com/aspis-rv/aspis/pkg/policy"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// Config is what an ingest needs.
type Config struct {
	Bus    bus.Bus
	Bundle *policy.Bundle // for the trace key and the deadline
	Name   string         // unique in the deployment
	Secret []byte         // the deployment's; see gate.Config
	Tenant string         // of everything that is ingested
	// Vantage says how the events came to be seen; the default is Reported.
	Vantage schema.Vantage
	// Grants accepts authority records too. A feed states the class of its actors
	// itself, so this trusts whoever wrote it as much as an authority.
	Grants bool
	// AppendTimeout bounds the wait for the log's acknowledgement; 0 means 5 s.
	AppendTimeout time.Duration
	// Asker is asked what the bundle wants to know of an event before it is appended; it may be
	// nil when the bundle names no classifier.
	Asker  Asker
	Logger *slog.Logger
}

// Service is an ingest. Its methods are safe for concurrent use while Run runs.
type Service struct {
	cfg   Config
	log   *slog.Logger
	place *placement.Placement
	lanes []*appender.Appender

	owned struct {
		sync.Mutex
		by *placement.Owners
	}
	calls calls
}

// New returns the service; Run starts it.
func New(cfg Config) (*Service, error) {
	if cfg.Bus == nil || cfg.Bundle == nil || cfg.Name == "" || cfg.Tenant == "" || len(cfg.Secret) < 32 {
		return nil, errors.New("ingest: a bus, a policy, a name, a tenant and the deployment's secret are needed")
	}
	if cfg.Asker == nil && len(cfg.Bundle.Classifiers()) > 0 {
		return nil, errors.New("ingest: the policy names classifiers, and there is nobody to ask them")
	}
	if cfg.AppendTimeout == 0 {
		cfg.AppendTimeout = 5 * time.Second
	}
	s := &Service{cfg: cfg, log: obs.Logger(cfg.Logger), place: placement.New(cfg.Secret, cfg.Bus.Partitions())}
	s.owned.by = placement.NewOwners()
	incarnation := uint64(time.Now().UnixNano()) //nolint:gosec // positive until 2262
	for p := range cfg.Bus.Partitions() {
		s.lanes = append(s.lanes, appender.New(cfg.Bus, p, cfg.Name, incarnation, cfg.AppendTimeout))
	}
	return s, nil
}

// Run works until ctx ends and returns after all its goroutines have.
func (s *Service) Run(ctx context.Context) error {
	var g errgroup.Group
	for _, l := range s.lanes {
		g.Go(func() error { l.Run(ctx); return nil })
	}
	return g.Wait()
}

// Reject is an input that was not appended.
type Reject struct {
	Index int    `json:"index"` // among the inputs, from 0
	ID    string `json:"id,omitempty"`
	Error string `json:"error"`
}

// Counts says what became of a feed.
type Counts struct {
	Accepted int `json:"accepted"`
	Rejected int `json:"rejected"`
}

// Feed appends every event of a sequence, in order, and gives what it rejects to
// deadLetter. It returns when everything accepted is durable. An error means that the
// log could not be written; what was accepted before is in Counts.
func (s *Service) Feed(ctx context.Context, events iter.Seq2[*schema.Event, error], deadLetter func(Reject) error) (Counts, error) {
	var n Counts
	var last []*appender.Ticket
	index := -1
	for ev, err := range events {
		index++
		if err == nil {
			var t *appender.Ticket
			if t, err = s.append(ctx, ev); err == nil {
				n.Accepted++
				last = append(last, t)
				if len(last) >= window {
					if err := last[0].Wait(ctx); err != nil {
						return n, err
					}
					last = last[1:]
				}
				continue
			}
			if errors.Is(err, appender.ErrUnrecorded) {
				return n, err
			}
		}
		n.Rejected++
		r := Reject{Index: index, Error: err.Error()}
		if ev != nil {
			r.ID = ev.ID
		}
		if err := deadLetter(r); err != nil {
			return n, fmt.Errorf("ingest: dead letter: %w", err)
		}
	}
	for _, t := range last {
		if err := t.Wait(ctx); err != nil {
			return n, err
		}
	}
	return n, nil
}

// window is the number of appends under way; enough to fill the pipe of a broker on
// the same host many times over.
const window = 1024

// append completes an event and appends it. A full log is waited for: a feed has
// no caller that could try again.
func (s *Service) append(ctx context.Context, ev *schema.Event) (*appender.Ticket, error) {
	now := time.Now()
	if err := s.admit(ev); err != nil {
		return nil, err
	}
	root, err := s.complete(ev, now)
	if err != nil {
		return nil, err
	}
	if err := s.ask(ctx, ev); err != nil {
		return nil, err
	}
	if err := ev.Validate(); err != nil {
		return nil, err
	}
	lane := s.lanes[s.place.Of(ev.Tenant, placement.Key(s.cfg.Bundle, root))]
	for {
		t, err := lane.Append(ev, bus.Ordinary)
		if !errors.Is(err, bus.ErrFull) {
			return t, err
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("%w: %w", appender.ErrUnrecorded, ctx.Err())
		case <-time.After(fullWait):
		}
	}
}

// fullWait is the pause before a full log is tried again: its level is measured about
// once a second.
const fullWait = 250 * time.Millisecond

// The reasons why a sound event is not taken from a feed.
var (
	// ErrForeign is returned for a kind of record that only a role of the deployment
	// writes.
	ErrForeign = errors.New("a feed has no such record: ticks, activations, resolutions and withdrawals are written by the deployment itself; leave it out")
	// ErrGrant is returned for an authority record where Config.Grants is unset.
	ErrGrant = errors.New("authority records are not taken from this feed: it states the class of its actors itself; allow them (--grants) when you trust its writer as an authority")
)

// admit refuses what a feed may not say.
func (s *Service) admit(ev *schema.Event) error {
	switch ev.Kind {
	case schema.KindCall, schema.KindResult, schema.KindMessage, schema.KindObservation, schema.KindSession:
		return nil
	case schema.KindGrant:
		if s.cfg.Grants {
			return nil
		}
		return ErrGrant
	case schema.KindTick, schema.KindPolicy, schema.KindResolution, schema.KindWithdrawn:
	}
	return fmt.Errorf("kind %s: %w", ev.Kind, ErrForeign)
}

// complete fills in what a gate would have, and returns the root by which the event
// is placed: the session, or its owner where an agent's sessions are one trace.
func (s *Service) complete(ev *schema.Event, now time.Time) (root string, err error) {
	ev.Tenant, ev.Vantage = s.cfg.Tenant, s.cfg.Vantage
	if ev.ID == "" {
		ev.ID = ulid.Make().String()
	}
	if ev.Kind == schema.KindCall {
		if ev.CallID == "" {
			ev.CallID = ev.ID
		}
		ev.Deadline = now.Add(s.cfg.Bundle.Deadline).UnixNano()
		ev.Digest = schema.CallDigest(ev.Tenant, ev.Actor.ID, ev.Server, ev.Tool, nil, ev.Args.Canon)
	}
	if ev.Kind == schema.KindGrant && ev.Grant == nil {
		ev.Grant = &schema.Grant{}
	}
	if ev.ClaimedTS == 0 {
		ev.ClaimedTS = now.UnixNano()
	}
	owner := ev.Actor.ID
	if s.cfg.Bundle.Trace == policy.TraceAgent {
		s.owned.Lock()
		owner, err = s.owned.by.Of(ev)
		s.owned.Unlock()
		if err != nil {
			return "", err
		}
	}
	ev.Trace = placement.Trace(s.cfg.Bundle, ev.SessionID, placement.Owner(owner))
	if s.cfg.Bundle.Trace == policy.TraceAgent || ev.SessionID == "" {
		return owner, nil
	}
	return ev.SessionID, nil
}
