package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/cobra"

	"github.com/aspis-rv/aspis/internal/bus"
	"github.com/aspis-rv/aspis/internal/bus/natsbus"
	"github.com/aspis-rv/aspis/internal/node"
	"github.com/aspis-rv/aspis/pkg/policy"
)

// now is the wall clock of commands; engines get theirs from the log.
func now() time.Time { return time.Now() }

// upFlags are the flags of `aspis up`.
type upFlags struct {
	deployFlags
	http       httpFlags
	classify   classifyFlags
	data       string
	durability string
	natsListen string
	quiet      bool // no logs: the demo
}

func newUp(e *env) *cobra.Command {
	var f upFlags
	cmd := &cobra.Command{
		Use: "up --policy DIR", Short: "Run every role in one process over an embedded NATS server", Args: policyOnly,
		RunE: func(cmd *cobra.Command, _ []string) error {
			b, err := e.loadBundle(f.policy)
			if err != nil {
				return err
			}
			return e.up(cmd.Context(), &f, b, nil)
		},
	}
	f.register(cmd)
	f.registerMode(cmd)
	f.registerRetention(cmd, defaultRetain)
	f.http.register(cmd)
	f.classify.register(cmd)
	fs := cmd.Flags()
	fs.StringVar(&f.data, "data", "aspis-data", "directory of log, keys and tokens")
	fs.StringVar(&f.durability, "durability", "process", "what a crash may lose: process (nothing, unless the power fails), interval (1 s) or power (nothing)")
	fs.Uint32Var(&f.partitions, "partitions", defaultPartitions, "partitions of a log that does not exist yet")
	fs.StringVar(&f.natsListen, "nats-listen", "", "loopback address on which the embedded NATS server listens (default: it does not)")
	return cmd
}

// defaultPartitions is enough for one process: a partition is a unit of ownership
// and order, not of sessions.
const defaultPartitions = 8

// up runs a deployment until ctx ends. started, when not nil, is called with the
// gate's base URL once calls can be decided; the deployment ends when it returns.
func (e *env) up(ctx context.Context, f *upFlags, b *policy.Bundle, started func(ctx context.Context, baseURL, tokens string) error) error {
	until, err := f.observing(now())
	if err != nil {
		return err
	}
	log := slog.New(slog.DiscardHandler)
	if !until.IsZero() {
		fmt.Fprintf(e.err, "aspis: OBSERVING until %s: nothing is refused\n", until.Format(time.RFC3339))
	}
	if !f.quiet {
		if log, err = f.logger(e); err != nil {
			return err
		}
	}
	set, err := f.blockingSet()
	if err != nil {
		return err
	}
	if err := f.checkRetention(); err != nil {
		return err
	}
	reg := newRegistry()
	asker, err := f.classify.asker(e, b, log, reg)
	if err != nil {
		return err
	}
	unlock, err := lockData(f.data)
	if err != nil {
		return err
	}
	defer unlock()
	keys, err := makeKeys(keyDir(f.data))
	if err != nil {
		return err
	}
	if len(keys.created) > 0 {
		log.LogAttrs(ctx, slog.LevelInfo, "keys created", slog.String("directory", keyDir(f.data)), slog.Any("files", keys.created))
	}
	srv, err := startServer(f)
	if err != nil {
		return err
	}
	defer srv.Shutdown()
	// The roles share one connection, and so one consumer in the server.
	conn, err := natsbus.Connect(ctx, natsbus.Config{
		InProcess: srv, Partitions: f.partitions, MaxAge: f.retain, EventsBytes: f.logBytes, Logger: log,
	})
	if err != nil {
		return err
	}
	defer conn.Close() //nolint:errcheck // everything was synced
	n, err := node.New(node.Config{
		Bus: func(string) (bus.Bus, error) { return conn, nil }, Bundle: b, Rules: rules(), Asker: gateAsker(asker), Blocking: set, Secret: keys.secret,
		GateKey: keys.gate, ComposerKey: keys.composer, ObserveUntil: until, ObserveReason: f.reason, Logger: log, Registry: reg,
		Alternatives: e.alternatives(logFailure(ctx, log)),
	})
	if err != nil {
		return err
	}
	return e.runNode(ctx, n, f, reg, log, started)
}

func startServer(f *upFlags) (*natsbus.Server, error) {
	d, err := natsbus.ParseDurability(f.durability)
	if err != nil {
		return nil, err
	}
	cfg := natsbus.ServerConfig{Dir: storeDir(f.data), Durability: d, DontListen: f.natsListen == ""}
	if f.natsListen != "" {
		if err := checkLoopback(f.natsListen); err != nil {
			return nil, err
		}
		host, port, _ := net.SplitHostPort(f.natsListen)
		cfg.Host = host
		if cfg.Port, err = strconv.Atoi(port); err != nil {
			return nil, fmt.Errorf("--nats-listen: %w", err)
		}
	}
	return natsbus.StartServer(cfg)
}

func (e *env) runNode(ctx context.Context, n *node.Node, f *upFlags, reg *prometheus.Registry, log *slog.Logger,
	started func(ctx context.Context, baseURL, tokens string) error,
) error {
	tokens, err := f.http.tokensFile(f.data)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	listening := make(chan string, 1)
	runs := servedBy(ctx, n.Run, func(ctx context.Context) error {
		return f.http.serve(ctx, n.Gate, reg, log, listening)
	})
	runs = append(runs, func(ctx context.Context) error {
		var base string
		select {
		case base = <-listening:
		case <-ctx.Done():
			return nil
		}
		if err := n.Ready(ctx); err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return err
		}
		if started == nil {
			fmt.Fprintf(e.err, "aspis: deciding calls at %s (tokens: %s)\n", base, tokens)
			return nil
		}
		defer stop()
		return started(ctx, base, tokens)
	})
	if err := together(ctx, runs...); err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}
