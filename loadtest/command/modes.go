package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/aspis-rv/aspis/internal/bus/natsbus"
	"github.com/aspis-rv/aspis/loadtest/deploy"
	"github.com/aspis-rv/aspis/loadtest/table"
)

func newInProcess(e *env) *cobra.Command {
	var f runFlags
	var p profiles
	cmd := &cobra.Command{
		Use: "inprocess", Short: "All roles in this process, by the gate's Go API", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.check(); err != nil {
				return err
			}
			s := surface{
				name: "Go API", setting: table.InProcess, begin: p.begin, end: p.end,
				start: func(ctx context.Context, o deploy.Options) (*deploy.Deployment, error) {
					return deploy.InProcess(ctx, o, nil)
				},
			}
			r := newReport("inprocess")
			err := f.measureAll(cmd.Context(), e, s, r)
			return errors.Join(err, p.write(), e.print(r))
		},
	}
	f.register(cmd)
	p.register(cmd)
	return cmd
}

func newProcesses(e *env) *cobra.Command {
	var f runFlags
	var surfaces []string
	cmd := &cobra.Command{
		Use: "processes", Short: "A NATS server, aspectd, composer and gate as separate processes", Args: cobra.NoArgs,
		Long: "Builds the daemons and starts each as a process, with one NATS server over TCP. Two surfaces are\n" +
			"measured: `gate`, where this process is the gate and is reached by its Go API, and `http`, where the\n" +
			"gate is a process of its own behind HTTP.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.check(); err != nil {
				return err
			}
			for _, s := range surfaces {
				if !has([]string{"gate", "http"}, s) {
					return fmt.Errorf("--surface %s: there are gate and http", s)
				}
			}
			return withPrograms(cmd.Context(), func(p *deploy.Programs) error {
				r := newReport("processes")
				var errs []error
				if has(surfaces, "gate") {
					s := surface{name: "Go API over NATS", setting: table.Separate, start: p.WithGate}
					errs = append(errs, f.measureAll(cmd.Context(), e, s, r))
				}
				if has(surfaces, "http") {
					s := surface{name: "HTTP over NATS", setting: table.Unbarred, start: p.WithHTTP}
					errs = append(errs, f.measureAll(cmd.Context(), e, s, r))
				}
				return errors.Join(append(errs, e.print(r))...)
			})
		},
	}
	f.register(cmd)
	cmd.Flags().StringSliceVar(&surfaces, "surface", []string{"gate", "http"}, "which surfaces to measure")
	return cmd
}

func newHTTP(e *env) *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use: "http", Short: "`aspis up`, one process behind HTTP", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.check(); err != nil {
				return err
			}
			return withPrograms(cmd.Context(), func(p *deploy.Programs) error {
				r := newReport("http")
				err := f.measureAll(cmd.Context(), e, surface{name: "HTTP", setting: table.OverHTTP, start: p.Up}, r)
				return errors.Join(err, e.print(r))
			})
		},
	}
	f.register(cmd)
	return cmd
}

// withPrograms builds the daemons and calls f.
func withPrograms(ctx context.Context, f func(p *deploy.Programs) error) error {
	path, err := self()
	if err != nil {
		return err
	}
	return inTemp(func(dir string) error {
		bin := filepath.Join(dir, "bin")
		if err := os.Mkdir(bin, 0o700); err != nil {
			return fmt.Errorf("temporary directory: %w", err)
		}
		p, err := deploy.Build(ctx, bin, []string{path, serveLog})
		if err != nil {
			return err
		}
		return f(p)
	})
}

const serveLog = "serve-log"

// newServeLog is this program as the NATS server of separate processes.
func newServeLog(e *env) *cobra.Command {
	return &cobra.Command{
		Use: serveLog + " DIR", Short: "Be a NATS server on 127.0.0.1 until standard input ends", Args: cobra.ExactArgs(1), Hidden: true,
		RunE: func(_ *cobra.Command, args []string) error {
			srv, err := natsbus.StartServer(natsbus.ServerConfig{Dir: args[0], Host: "127.0.0.1"})
			if err != nil {
				return err
			}
			defer srv.Shutdown()
			if _, err := fmt.Fprintln(e.out, srv.URL()); err != nil {
				return fmt.Errorf("telling the address: %w", err)
			}
			if _, err := io.Copy(io.Discard, e.in); err != nil {
				return fmt.Errorf("standard input: %w", err)
			}
			return nil
		},
	}
}
