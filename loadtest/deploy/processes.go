package deploy

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/aspis-rv/aspis/internal/bus/natsbus"
	"github.com/aspis-rv/aspis/internal/protocol"
	"github.com/aspis-rv/aspis/internal/service/gate"
	"github.com/aspis-rv/aspis/loadtest/fleet"
	"github.com/aspis-rv/aspis/pkg/client"
)

// Programs are the binaries of a deployment and how this program is made to be the
// NATS server.
type Programs struct {
	dir    string
	server []string
}

// Build builds the daemons into dir. server is the command line of a NATS server that
// takes a data directory as its last argument, prints its address, and ends when its
// standard input does. The go command is used from the folder of the module.
func Build(ctx context.Context, dir string, server []string) (*Programs, error) {
	cmd := exec.CommandContext(ctx, "go", "build", "-o", dir+string(filepath.Separator),
		"./cmd/aspis", "./cmd/aspectd", "./cmd/composer", "./cmd/gate")
	root, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		return nil, fmt.Errorf("deploy: finding the module; run from a folder of it: %w", err)
	}
	cmd.Dir = strings.TrimSpace(string(root))
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("deploy: building the daemons: %w\n%s", err, out)
	}
	return &Programs{dir: dir, server: server}, nil
}

func (p *Programs) path(name string) string { return filepath.Join(p.dir, name) }

// WithHTTP starts a NATS server, an aspect worker, a composer and a gate as processes
// and reaches the gate over HTTP.
func (p *Programs) WithHTTP(ctx context.Context, o Options) (*Deployment, error) {
	return p.start(ctx, &o, func(ctx context.Context, d *Deployment, s *setup) error {
		c, err := d.spawn(ctx, "gate", p.path("gate"), append(s.keyedFlags(), "--tokens", s.tokens, "--listen", "127.0.0.1:0")...)
		if err != nil {
			return err
		}
		return d.serveHTTP(ctx, &o, c, s)
	})
}

// WithGate starts a NATS server, an aspect worker and a composer as processes. This
// process is the gate, reached by its Go API.
func (p *Programs) WithGate(ctx context.Context, o Options) (*Deployment, error) {
	return p.start(ctx, &o, func(ctx context.Context, d *Deployment, s *setup) error {
		b, err := natsbus.Connect(ctx, natsbus.Config{URL: s.url, Name: "loadtest-gate", Partitions: o.Partitions})
		if err != nil {
			return fmt.Errorf("deploy: %w", err)
		}
		d.onClose(b.Close)
		g, err := gate.New(gate.Config{
			Bus: b, Bundle: o.Workload.Bundle, Rules: protocol.DefaultRules(), Name: "loadtest-gate", Secret: s.keys.secret,
			Key: s.keys.gate, ComposerKeys: []ed25519.PublicKey{public(s.keys.composer)},
			Metrics: gate.NewMetrics(prometheus.NewRegistry()),
		})
		if err != nil {
			return fmt.Errorf("deploy: %w", err)
		}
		d.run(ctx, g.Run)
		ready, cancel := context.WithTimeout(ctx, startTimeout)
		defer cancel()
		if err := g.Ready(ready); err != nil {
			return fmt.Errorf("deploy: gate: %w", err)
		}
		d.process("gate and load generator", os.Getpid())
		d.serveGo(&o, g, s.keys)
		return nil
	})
}

// Up starts `aspis up` and reaches it over HTTP.
func (p *Programs) Up(ctx context.Context, o Options) (*Deployment, error) {
	d := &Deployment{}
	err := func() error {
		s, err := newSetup(&o)
		if err != nil {
			return err
		}
		c, err := d.spawn(ctx, "aspis up", p.path("aspis"), "up", "--policy", s.bundle, "--data", o.Dir, "--tokens", s.tokens,
			"--listen", "127.0.0.1:0", "--partitions", fmt.Sprint(o.Partitions))
		if err != nil {
			return err
		}
		return d.serveHTTP(ctx, &o, c, s)
	}()
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

func (p *Programs) start(ctx context.Context, o *Options, gate func(context.Context, *Deployment, *setup) error) (*Deployment, error) {
	d := &Deployment{}
	err := func() error {
		s, err := newSetup(o)
		if err != nil {
			return err
		}
		if err := p.startLog(ctx, d, o, s); err != nil {
			return err
		}
		if _, err := d.spawn(ctx, "aspectd temporal", p.path("aspectd"), append(s.roleFlags(), "--aspect", "temporal")...); err != nil {
			return err
		}
		if _, err := d.spawn(ctx, "composer", p.path("composer"), s.keyedFlags()...); err != nil {
			return err
		}
		return gate(ctx, d, s)
	}()
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// startLog starts the NATS server and creates the log with its partitions, so that
// no role has to wait for another to do so.
func (p *Programs) startLog(ctx context.Context, d *Deployment, o *Options, s *setup) error {
	args := append(append([]string{}, p.server[1:]...), filepath.Join(o.Dir, "log"))
	c, err := d.spawn(ctx, "NATS server", p.server[0], args...)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	s.url, err = c.await(ctx, func(line string) string {
		if strings.HasPrefix(line, "nats://") {
			return line
		}
		return ""
	})
	if err != nil {
		return err
	}
	b, err := natsbus.Connect(ctx, natsbus.Config{URL: s.url, Name: "loadtest", Partitions: o.Partitions})
	if err != nil {
		return fmt.Errorf("deploy: %w", err)
	}
	return b.Close()
}

// setup is what the processes of a deployment are given.
type setup struct {
	url, bundle, tokens, keyDir string
	keys                        *keys
	partitions                  uint32
	agents, users               []string // tokens, by agent
}

// newSetup writes bundle, keys and tokens to the directory of the deployment.
func newSetup(o *Options) (*setup, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	s := &setup{
		bundle: filepath.Join(o.Dir, "bundle"), keyDir: filepath.Join(o.Dir, "keys"), tokens: filepath.Join(o.Dir, "tokens"),
		partitions: o.Partitions,
	}
	if err := os.CopyFS(s.bundle, o.Workload.Files); err != nil {
		return nil, fmt.Errorf("deploy: bundle: %w", err)
	}
	var err error
	if s.keys, err = makeKeys(s.keyDir); err != nil {
		return nil, err
	}
	var text strings.Builder
	users := map[string]string{}
	for i := range o.Agents {
		token := newToken()
		s.agents = append(s.agents, token)
		fmt.Fprintf(&text, "%s %s agent %s\n", token, o.agent(i), o.tenant(i))
		user := o.user(i)
		if users[user] == "" {
			users[user] = newToken()
			fmt.Fprintf(&text, "%s %s user %s\n", users[user], user, o.tenant(i))
		}
		s.users = append(s.users, users[user])
	}
	if err := os.WriteFile(s.tokens, []byte(text.String()), 0o600); err != nil {
		return nil, fmt.Errorf("deploy: tokens: %w", err)
	}
	return s, nil
}

func newToken() string {
	b := make([]byte, 16)
	_, _ = rand.Read(b) // never fails
	return hex.EncodeToString(b)
}

func (s *setup) roleFlags() []string {
	return []string{"--nats", s.url, "--policy", s.bundle, "--partitions", fmt.Sprint(s.partitions)}
}

// keyedFlags are the flags of roles that have keys.
func (s *setup) keyedFlags() []string { return append(s.roleFlags(), "--keys", s.keyDir) }

// serveHTTP waits until the gate of a process can decide calls and makes the doors
// to it.
func (d *Deployment) serveHTTP(ctx context.Context, o *Options, c *child, s *setup) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	base, err := c.await(ctx, listeningAt)
	if err != nil {
		return err
	}
	transport := &http.Transport{MaxIdleConns: 0, MaxIdleConnsPerHost: 2 * o.Agents, IdleConnTimeout: time.Minute}
	d.onClose(func() error { transport.CloseIdleConnections(); return nil })
	hc := &http.Client{Transport: transport}
	for i := range o.Agents {
		agent, user := client.New(base, s.agents[i], hc), client.New(base, s.users[i], hc)
		d.Doors = append(d.Doors, fleet.HTTPDoor(agent, user, o.tenant(i), o.agent(i)))
		if i == 0 {
			if err := ready(ctx, agent, c); err != nil {
				return err
			}
		}
	}
	d.GateKey = public(s.keys.gate)
	d.process("load generator", os.Getpid())
	return nil
}

// ready polls the gate until it can decide calls.
func ready(ctx context.Context, c *client.Client, gate *child) error {
	poll := time.NewTicker(20 * time.Millisecond)
	defer poll.Stop()
	for {
		err := c.Ready(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-poll.C:
		case <-gate.done:
			return gate.failure()
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", gate.failure(), err)
		}
	}
}
