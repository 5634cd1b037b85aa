package cli

import (
	"context"
	"crypto/ed25519"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/aspis-rv/aspis/internal/adapter/classify"
	"github.com/aspis-rv/aspis/internal/node"
	"github.com/aspis-rv/aspis/internal/service/aspectd"
	"github.com/aspis-rv/aspis/internal/service/composer"
	"github.com/aspis-rv/aspis/internal/service/gate"
	"github.com/aspis-rv/aspis/pkg/aspects"
)

// roleName is a name that no other process of the deployment has.
func roleName(given, role string) string {
	if given != "" {
		return given
	}
	host, err := os.Hostname()
	if err != nil {
		host = "host"
	}
	return fmt.Sprintf("%s-%s-%d", role, host, os.Getpid())
}

func newAspectd(e *env) *cobra.Command {
	var f deployFlags
	var aspect, own string
	cmd := &cobra.Command{
		Use: "aspectd --aspect ASPECT --policy DIR", Short: "Run the monitors of one aspect", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx := cmd.Context()
			b, err := e.loadBundle(f.policy)
			if err != nil {
				return err
			}
			log, err := f.logger(e)
			if err != nil {
				return err
			}
			engine, err := node.Engine(b, aspects.Kind(aspect), e.alternatives(logFailure(ctx, log))...)
			if err != nil {
				return err
			}
			parts, err := parsePartitions(own)
			if err != nil {
				return err
			}
			conn, err := f.connect(ctx, "aspectd-"+aspect, log)
			if err != nil {
				return err
			}
			defer conn.Close() //nolint:errcheck // everything was synced
			reg := newRegistry()
			s := aspectd.New(aspectd.Config{
				Bus: conn, Bundle: b, Engine: engine, Rules: rules(), Partitions: parts,
				Logger: log, Metrics: aspectd.NewMetrics(reg, aspect),
			})
			return together(ctx, s.Run, func(ctx context.Context) error {
				return serveMetrics(ctx, f.metrics, reg, func() error { return nil })
			})
		},
	}
	f.registerRole(cmd)
	cmd.Flags().StringVar(&aspect, "aspect", "temporal", "spatial, temporal, semantic or contract")
	cmd.Flags().StringVar(&own, "own", "", "partitions to work on, such as 0,1,4-7 (default: all)")
	return cmd
}

func newComposer(e *env) *cobra.Command {
	var f deployFlags
	var own, name string
	cmd := &cobra.Command{
		Use: "composer --policy DIR", Short: "Join part verdicts into decisions and keep the clock", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx := cmd.Context()
			b, err := e.loadBundle(f.policy)
			if err != nil {
				return err
			}
			until, err := f.observing(now())
			if err != nil {
				return err
			}
			log, err := f.logger(e)
			if err != nil {
				return err
			}
			parts, err := parsePartitions(own)
			if err != nil {
				return err
			}
			set, err := f.blockingSet()
			if err != nil {
				return err
			}
			key, err := loadKey(f.keys, composerKeyFile)
			if err != nil {
				return err
			}
			conn, err := f.connect(ctx, "composer", log)
			if err != nil {
				return err
			}
			defer conn.Close() //nolint:errcheck // everything was synced
			reg := newRegistry()
			s := composer.New(composer.Config{
				Bus: conn, Bundle: b, Rules: rules(), Partitions: parts, Blocking: set,
				ObserveUntil: until, ObserveReason: f.reason,
				Name: roleName(name, "composer"), Key: key, Logger: log, Metrics: composer.NewMetrics(reg),
			})
			return together(ctx, s.Run, func(ctx context.Context) error {
				return serveMetrics(ctx, f.metrics, reg, func() error { return nil })
			})
		},
	}
	f.registerRole(cmd)
	f.registerKeys(cmd)
	f.registerMode(cmd)
	cmd.Flags().StringVar(&own, "own", "", "partitions to work on, such as 0,1,4-7 (default: all)")
	cmd.Flags().StringVar(&name, "name", "", "name of this composer (default: from host and process)")
	return cmd
}

func newGate(e *env) *cobra.Command {
	var f deployFlags
	var h httpFlags
	var c classifyFlags
	var name string
	cmd := &cobra.Command{
		Use: "gate --policy DIR --tokens FILE", Short: "Answer agents' calls over HTTP", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx := cmd.Context()
			b, err := e.loadBundle(f.policy)
			if err != nil {
				return err
			}
			log, err := f.logger(e)
			if err != nil {
				return err
			}
			reg := newRegistry()
			asker, err := c.asker(e, b, log, reg)
			if err != nil {
				return err
			}
			keys, err := loadGateKeys(f.keys)
			if err != nil {
				return err
			}
			conn, err := f.connect(ctx, "gate", log)
			if err != nil {
				return err
			}
			defer conn.Close() //nolint:errcheck // everything was synced
			s, err := gate.New(gate.Config{
				Asker: gateAsker(asker),
				Bus:   conn, Bundle: b, Rules: rules(), Name: roleName(name, "gate"), Secret: keys.secret, Key: keys.gate,
				ComposerKeys: []ed25519.PublicKey{keys.composer}, Logger: log, Metrics: gate.NewMetrics(reg),
			})
			if err != nil {
				return err
			}
			return together(ctx, servedBy(ctx, s.Run, func(ctx context.Context) error {
				return h.serve(ctx, s, reg, log, nil)
			})...)
		},
	}
	f.registerRole(cmd)
	f.registerKeys(cmd)
	h.register(cmd)
	c.register(cmd)
	cmd.Flags().StringVar(&name, "name", "", "name of this gate (default: from host and process)")
	return cmd
}

// servedBy returns the two functions of a service and its surface such that an
// orderly stop ends the surface first: it lets pending calls finish, and for that the
// service has to go on.
func servedBy(ctx context.Context, service, surface func(context.Context) error) []func(context.Context) error {
	inner, stop := context.WithCancel(context.WithoutCancel(ctx))
	return []func(context.Context) error{
		func(context.Context) error {
			defer stop()
			return service(inner)
		},
		func(ctx context.Context) error {
			defer stop()
			return surface(ctx)
		},
	}
}

// together runs all functions until ctx ends or one of them returns an error.
func together(ctx context.Context, runs ...func(context.Context) error) error {
	g, ctx := errgroup.WithContext(ctx)
	for _, run := range runs {
		g.Go(func() error { return run(ctx) })
	}
	return g.Wait()
}

// gateAsker keeps a nil asker a nil interface.
func gateAsker(a *classify.Asker) gate.Asker {
	if a == nil {
		return nil
	}
	return a
}
