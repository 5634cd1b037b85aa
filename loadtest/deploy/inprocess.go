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
	return embedded(ctx, &o, wrap, [][]string{nil})
}

// Apart is InProcess with roles that meet in the log alone, over TCP, as separate
// processes do.
func Apart(ctx context.Context, o Options, wrap func(role string, b bus.Bus) bus.Bus) (*Deployment, error) {
	return embedded(ctx, &o, wrap, [][]string{{node.RoleAspect}, {node.RoleComposer}, {node.RoleGate}})
}

// embedded runs one node for each list of roles.
func embedded(ctx context.Context, o *Options, wrap func(role string, b bus.Bus) bus.Bus, nodes [][]string) (*Deployment, error) {
	d := &Deployment{}
	if err := d.startEmbedded(ctx, o, wrap, nodes); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

func (d *Deployment) startEmbedded(ctx context.Context, o *Options, wrap func(role string, b bus.Bus) bus.Bus, nodes [][]string) error {
	if err := o.Validate(); err != nil {
		return err
	}
	k, err := makeKeys(filepath.Join(o.Dir, "keys"))
	if err != nil {
		return err
	}
	apart := len(nodes) > 1
	srv, err := natsbus.StartServer(natsbus.ServerConfig{Dir: filepath.Join(o.Dir, "log"), Host: "127.0.0.1", DontListen: !apart})
	if err != nil {
		return fmt.Errorf("deploy: %w", err)
	}
	d.onClose(func() error { srv.Shutdown(); return nil })
	connect := d.connector(ctx, o, srv, apart)
	if wrap != nil {
		plain := connect
		connect = func(role string) (bus.Bus, error) {
			b, err := plain(role)
			if err != nil {
				return nil, err
			}
			return wrap(role, b), nil
		}
	}
	for _, roles := range nodes {
		n, err := node.New(node.Config{
			Bus: connect, Bundle: o.Workload.Bundle, Rules: protocol.DefaultRules(), Secret: k.secret,
			GateKey: k.gate, ComposerKey: k.composer, Roles: roles, Registry: prometheus.NewRegistry(),
		})
		if err != nil {
			return fmt.Errorf("deploy: %w", err)
		}
		if err := d.runNode(ctx, n); err != nil {
			return err
		}
		if n.Gate != nil {
			d.serveGo(o, n.Gate, k)
		}
	}
	d.process("all roles and load generator", os.Getpid())
	return nil
}

// connector opens the connections of roles: one for all of them when they are one
// process, as in `aspis up`, else one each over TCP.
func (d *Deployment) connector(ctx context.Context, o *Options, srv *natsbus.Server, apart bool) func(string) (bus.Bus, error) {
	var shared bus.Bus
	return func(role string) (bus.Bus, error) {
		if shared != nil {
			return shared, nil
		}
		cfg := natsbus.Config{InProcess: srv, Name: role, Partitions: o.Partitions}
		if apart {
			cfg.InProcess, cfg.URL = nil, srv.URL()
		}
		b, err := natsbus.Connect(ctx, cfg)
		if err != nil {
			return nil, err
		}
		d.onClose(b.Close)
		if !apart {
			shared = b
		}
		return b, nil
	}
}

// runNode starts a node and returns when it is ready.
func (d *Deployment) runNode(ctx context.Context, n *node.Node) error {
	d.run(ctx, n.Run)
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	if err := n.Ready(ctx); err != nil {
		return fmt.Errorf("deploy: %w", err)
	}
	return nil
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
