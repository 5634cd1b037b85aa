package deploy

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/aspis-rv/aspis/internal/bus"
	"github.com/aspis-rv/aspis/internal/bus/natsbus"
	"github.com/aspis-rv/aspis/internal/node"
	"github.com/aspis-rv/aspis/internal/protocol"
	"github.com/aspis-rv/aspis/internal/service/gate"
	"github.com/aspis-rv/aspis/loadtest/fleet"
)

// InProcess starts all roles in this process over an embedded NATS server with its
// log on disk, as `aspis up` does, and reaches the gate by its Go API. wrap, when not
// nil, is put around the connection of each role.
func InProcess(ctx context.Context, o Options, wrap func(role string, b bus.Bus) bus.Bus) (*Deployment, error) {
	d, err := inProcess(ctx, &o, wrap)
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

func inProcess(ctx context.Context, o *Options, wrap func(role string, b bus.Bus) bus.Bus) (*Deployment, error) {
	d := &Deployment{}
	if err := o.Validate(); err != nil {
		return d, err
	}
	k, err := makeKeys(filepath.Join(o.Dir, "keys"))
	if err != nil {
		return d, err
	}
	srv, err := natsbus.StartServer(natsbus.ServerConfig{Dir: filepath.Join(o.Dir, "log"), DontListen: true})
	if err != nil {
		return d, fmt.Errorf("deploy: %w", err)
	}
	d.onClose(func() error { srv.Shutdown(); return nil })
	n, err := node.New(node.Config{
		Bus: func(role string) (bus.Bus, error) {
			b, err := natsbus.Connect(ctx, natsbus.Config{InProcess: srv, Name: role, Partitions: o.Partitions})
			if err != nil {
				return nil, err //nolint:wrapcheck // says where
			}
			d.onClose(b.Close)
			if wrap == nil {
				return b, nil
			}
			return wrap(role, b), nil
		},
		Bundle: o.Workload.Bundle, Rules: protocol.DefaultRules(), Secret: k.secret,
		GateKey: k.gate, ComposerKey: k.composer, Registry: prometheus.NewRegistry(),
	})
	if err != nil {
		return d, fmt.Errorf("deploy: %w", err)
	}
	d.run(ctx, n.Run)
	ready, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	if err := n.Ready(ready); err != nil {
		return d, fmt.Errorf("deploy: %w", err)
	}
	d.process("all roles and load generator", os.Getpid())
	d.serveGo(o, n.Gate, k)
	return d, nil
}

// run runs a role of this process until the deployment is closed.
func (d *Deployment) run(ctx context.Context, run func(context.Context) error) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- run(ctx) }()
	d.onClose(func() error { cancel(); return <-done })
}

// serveGo makes the doors to a gate of this process.
func (d *Deployment) serveGo(o *Options, s *gate.Service, k *keys) {
	d.GateKey = public(k.gate)
	for i := range o.Agents {
		d.Doors = append(d.Doors, fleet.GoDoor(s, o.tenant(i), o.agent(i), o.user(i)))
	}
}
