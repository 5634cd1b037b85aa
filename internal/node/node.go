// Package node runs all roles of a deployment in one process over a given bus: the
// same services and the same messages as separate processes. It chooses no driver
// and no adapter.
package node

import (
	"context"
	"crypto/ed25519"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"github.com/aspis-rv/aspis/internal/bus"
	"github.com/aspis-rv/aspis/internal/compose"
	"github.com/aspis-rv/aspis/internal/protocol"
	"github.com/aspis-rv/aspis/internal/service/aspectd"
	"github.com/aspis-rv/aspis/internal/service/composer"
	"github.com/aspis-rv/aspis/internal/service/gate"
	"github.com/aspis-rv/aspis/pkg/aspects"
	"github.com/aspis-rv/aspis/pkg/aspects/semantic"
	"github.com/aspis-rv/aspis/pkg/aspects/spatial"
	"github.com/aspis-rv/aspis/pkg/aspects/temporal"
	"github.com/aspis-rv/aspis/pkg/policy"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// Alternative is an engine for the temporal formulas beside the one that is part of
// this program. Only a bundle that names it gets it.
type Alternative struct {
	Name policy.EngineName
	New  func(*policy.Bundle) (aspects.Engine, error)
}

// Engines makes the engines of every aspect that owns some formula of the bundle. It
// fails when the bundle names an engine that is not among the alternatives.
func Engines(b *policy.Bundle, others ...Alternative) ([]aspects.Engine, error) {
	var out []aspects.Engine
	for _, k := range compose.Aspects(b, compose.Options{}) {
		e, err := Engine(b, k, others...)
		if err != nil {
			return nil, err
		}
		out = append(out, e)
	}
	return out, nil
}

// Engine makes the engine of one aspect, as Engines does.
func Engine(b *policy.Bundle, k aspects.Kind, others ...Alternative) (aspects.Engine, error) {
	switch k {
	case aspects.Temporal:
		return temporalEngine(b, others)
	case aspects.Spatial:
		return spatial.New(b)
	case aspects.Semantic:
		return semantic.New(b)
	case aspects.Contract:
		return nil, fmt.Errorf("the %s aspect is not part of this version; take its clauses out of the policy", k)
	}
	return nil, fmt.Errorf("%q is not an aspect; want spatial, temporal, semantic or contract", k)
}

func temporalEngine(b *policy.Bundle, others []Alternative) (aspects.Engine, error) {
	if b.Engine == "" || b.Engine == policy.EngineAspis {
		return temporal.New(b)
	}
	for _, o := range others {
		if o.Name == b.Engine {
			return o.New(b)
		}
	}
	return nil, fmt.Errorf("the policy asks for the engine %s, which this command does not have; write `engine: %s`", b.Engine, policy.EngineAspis)
}

// Config says what to run.
type Config struct {
	// Bus returns the connection of a role: "aspectd", "composer" or "gate". Roles may
	// be given the same one. The node closes none of them.
	Bus    func(role string) (bus.Bus, error)
	Bundle *policy.Bundle
	Rules  protocol.Rules
	// Alternatives are the engines that the bundle may name besides the built-in one.
	Alternatives []Alternative
	compose.Options
	// Asker is asked by the gate; see gate.Config.
	Asker       gate.Asker
	Name        string // prefix of the names of its roles
	Secret      []byte // see gate.Config
	GateKey     ed25519.PrivateKey
	ComposerKey ed25519.PrivateKey // nil: resolutions stay unsigned
	// Blocking, ObserveUntil and ObserveReason are passed to the composer.
	Blocking      verdict.BlockingSet
	ObserveUntil  time.Time
	ObserveReason string
	// SnapshotAfter is passed to the roles that store snapshots; 0 is their default.
	SnapshotAfter time.Duration
	// Roles to run; nil means all.
	Roles    []string
	Logger   *slog.Logger
	Registry prometheus.Registerer // nil: no metrics
}

// The roles a node can run.
const (
	RoleAspect   = "aspectd"
	RoleComposer = "composer"
	RoleGate     = "gate"
)

// Node is a set of roles ready to run.
type Node struct {
	// Gate is nil when the node does not run one.
	Gate    *gate.Service
	aspects []*aspectd.Service
	comp    *composer.Service
}

// New wires the roles. Run starts them.
func New(cfg Config) (*Node, error) {
	n := &Node{}
	// The gate first: the composer vouches to it, and aspects offer to the composer.
	for _, role := range []struct {
		name string
		add  func(*Config) error
	}{{RoleGate, n.addGate}, {RoleComposer, n.addComposer}, {RoleAspect, n.addAspects}} {
		if !cfg.runs(role.name) {
			continue
		}
		if err := role.add(&cfg); err != nil {
			return nil, err
		}
	}
	return n, nil
}

func (c *Config) runs(role string) bool { return c.Roles == nil || slices.Contains(c.Roles, role) }

func (n *Node) addAspects(cfg *Config) error {
	engines, err := Engines(cfg.Bundle, cfg.Alternatives...)
	if err != nil {
		return err
	}
	b, err := cfg.Bus(RoleAspect)
	if err != nil {
		return err
	}
	for _, e := range engines {
		ac := aspectd.Config{
			Bus: b, Bundle: cfg.Bundle, Engine: e, Rules: cfg.Rules,
			SnapshotAfter: cfg.SnapshotAfter, Logger: cfg.Logger,
		}
		if n.comp != nil {
			ac.Tap = n.comp.Offer
		}
		if cfg.Registry != nil {
			ac.Metrics = aspectd.NewMetrics(cfg.Registry, string(e.Kind()))
		}
		n.aspects = append(n.aspects, aspectd.New(ac))
	}
	return nil
}

func (n *Node) addComposer(cfg *Config) error {
	b, err := cfg.Bus(RoleComposer)
	if err != nil {
		return err
	}
	cc := composer.Config{
		Bus: b, Bundle: cfg.Bundle, Rules: cfg.Rules, Options: cfg.Options, Name: cfg.Name + "composer",
		Key: cfg.ComposerKey, Blocking: cfg.Blocking, ObserveUntil: cfg.ObserveUntil, ObserveReason: cfg.ObserveReason,
		SnapshotAfter: cfg.SnapshotAfter, Logger: cfg.Logger,
	}
	if n.Gate != nil {
		cc.Vouch = n.Gate.Vouch
	}
	if cfg.Registry != nil {
		cc.Metrics = composer.NewMetrics(cfg.Registry)
	}
	n.comp = composer.New(cc)
	return nil
}

func (n *Node) addGate(cfg *Config) error {
	b, err := cfg.Bus(RoleGate)
	if err != nil {
		return err
	}
	gc := gate.Config{
		Bus: b, Bundle: cfg.Bundle, Rules: cfg.Rules, Name: cfg.Name + "gate", Secret: cfg.Secret, Key: cfg.GateKey,
		Logger: cfg.Logger, Asker: cfg.Asker,
	}
	if len(cfg.ComposerKey) == ed25519.PrivateKeySize {
		pub, _ := cfg.ComposerKey.Public().(ed25519.PublicKey)
		gc.ComposerKeys = []ed25519.PublicKey{pub}
	}
	if cfg.Registry != nil {
		gc.Metrics = gate.NewMetrics(cfg.Registry)
	}
	n.Gate, err = gate.New(gc)
	return err
}

// Run works until ctx ends or a role fails, and returns after all roles have.
func (n *Node) Run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	for _, a := range n.aspects {
		g.Go(func() error { return a.Run(ctx) })
	}
	if n.comp != nil {
		g.Go(func() error { return n.comp.Run(ctx) })
	}
	if n.Gate != nil {
		g.Go(func() error { return n.Gate.Run(ctx) })
	}
	return g.Wait()
}

// Ready blocks until every role has folded what was in the log when it started.
func (n *Node) Ready(ctx context.Context) error {
	for _, a := range n.aspects {
		if err := a.Ready(ctx); err != nil {
			return fmt.Errorf("aspect worker not ready: %w", err)
		}
	}
	if n.comp != nil {
		if err := n.comp.Ready(ctx); err != nil {
			return fmt.Errorf("composer not ready: %w", err)
		}
	}
	if n.Gate != nil {
		if err := n.Gate.Ready(ctx); err != nil {
			return fmt.Errorf("gate not ready: %w", err)
		}
	}
	return nil
}
