package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/spf13/cobra"

	"github.com/aspis-rv/aspis/internal/bus"
	"github.com/aspis-rv/aspis/internal/bus/natsbus"
	"github.com/aspis-rv/aspis/internal/protocol"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// deployFlags are the flags that all long-running commands share.
type deployFlags struct {
	policy     string
	nats       string
	keys       string
	partitions uint32
	mode       string
	reason     string
	until      string
	logLevel   string
	metrics    string
	retain     time.Duration
	logBytes   int64
	blocking   string
}

func (f *deployFlags) register(cmd *cobra.Command) {
	fs := cmd.Flags()
	policyFlag(cmd, &f.policy)
	fs.StringVar(&f.logLevel, "log-level", "info", "debug, info, warn or error")
}

// registerMode registers how the policy is activated: of the roles, only the composer
// says so, and every other one reads it in the log.
func (f *deployFlags) registerMode(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.StringVar(&f.mode, "mode", "enforce", "enforce, or observe: decide and record, but refuse nothing")
	fs.StringVar(&f.reason, "reason", "", "why the deployment only observes (with --mode observe)")
	fs.StringVar(&f.until, "until", "", "when observing ends, RFC 3339, at most 24 h from now (with --mode observe)")
	fs.StringVar(&f.blocking, "blocking", "", "default, precautionary or a set of values; overrides the policy")
}

func (f *deployFlags) registerRole(cmd *cobra.Command) {
	f.register(cmd)
	fs := cmd.Flags()
	fs.StringVar(&f.nats, "nats", "nats://127.0.0.1:4222", "URL of the NATS server")
	fs.Uint32Var(&f.partitions, "partitions", 0, "partitions of a log that does not exist yet (0: 64)")
	f.registerRetention(cmd, 0)
	fs.StringVar(&f.metrics, "metrics-listen", "", "loopback address of /metrics and /healthz for this role")
}

// registerRetention registers how much of the log is kept.
func (f *deployFlags) registerRetention(cmd *cobra.Command, retain time.Duration) {
	fs := cmd.Flags()
	fs.DurationVar(&f.retain, "retain", retain, "how long records of the log are kept; 0: what an existing log has, else without end")
	fs.Int64Var(&f.logBytes, "log-bytes", 0, "capacity of the events in the log, bytes; a full log refuses calls; 0: what an existing log has, else 8 GiB")
}

// checkRetention refuses a retention that live sessions would not survive a restart
// with: it must exceed by far what a worker needs to read again.
func (f *deployFlags) checkRetention() error {
	if f.retain != 0 && f.retain < minRetain {
		return hint(fmt.Errorf("--retain %s is less than %s", f.retain, minRetain), "--retain %s", defaultRetain)
	}
	if f.logBytes < 0 {
		return fmt.Errorf("--log-bytes %d is negative", f.logBytes)
	}
	return nil
}

const (
	// minRetain is longer than any deadline, any permit without a result and the time
	// between two snapshots, so that what is in flight is never trimmed.
	minRetain = time.Hour
	// defaultRetain is twice the week after which an idle session is forgotten: a worker
	// that starts without a snapshot still finds the beginning of every session that
	// began and paused within it.
	defaultRetain = 14 * 24 * time.Hour
)

// registerKeys registers the key directory, for the roles that need one.
func (f *deployFlags) registerKeys(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.keys, "keys", "aspis-keys", "directory of the deployment's keys, shared by all roles; aspis keys DIR makes it")
}

// observing checks the conditions of observe mode and returns until when it lasts, the
// zero time when the policy is enforced.
func (f *deployFlags) observing(now time.Time) (time.Time, error) {
	switch f.mode {
	case "enforce":
		if f.reason != "" || f.until != "" {
			return time.Time{}, hint(errors.New("--reason and --until say why and how long a deployment only observes"), "--mode observe")
		}
		return time.Time{}, nil
	case "observe":
	default:
		return time.Time{}, fmt.Errorf("--mode %q is neither enforce nor observe", f.mode)
	}
	until, err := time.Parse(time.RFC3339, f.until)
	if f.reason == "" || err != nil || until.Sub(now) > 24*time.Hour || !until.After(now) {
		return time.Time{}, hint(errors.New("observe mode needs a reason and an end within 24 h"),
			"--mode observe --reason \"tuning clause O4\" --until %s", now.Add(8*time.Hour).UTC().Format(time.RFC3339))
	}
	return until, nil
}

// blockingSet returns the set that overrides the policy's, 0 for none.
func (f *deployFlags) blockingSet() (verdict.BlockingSet, error) {
	if f.blocking == "" {
		return 0, nil
	}
	set, err := verdict.ParseBlockingSet(f.blocking)
	if err == nil && !set.Enforces() {
		err = errors.New("a blocking set without F refuses nothing; use --mode observe for that")
	}
	return set, err
}

func (f *deployFlags) logger(e *env) (*slog.Logger, error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(f.logLevel)); err != nil {
		return nil, fmt.Errorf("--log-level: %w", err)
	}
	return slog.New(slog.NewJSONHandler(e.err, &slog.HandlerOptions{Level: level})), nil
}

// connect opens a connection of its own for a role.
func (f *deployFlags) connect(ctx context.Context, role string, log *slog.Logger) (bus.Bus, error) {
	if err := f.checkRetention(); err != nil {
		return nil, err
	}
	b, err := natsbus.Connect(ctx, natsbus.Config{
		URL: f.nats, Name: "aspis-" + role, Partitions: f.partitions, MaxAge: f.retain, EventsBytes: f.logBytes, Logger: log,
	})
	if err != nil {
		return nil, hint(err, "is a NATS server with JetStream running at %s?", f.nats)
	}
	return b, nil
}

func rules() protocol.Rules { return protocol.DefaultRules() }

func newRegistry() *prometheus.Registry {
	r := prometheus.NewRegistry()
	for _, c := range []prometheus.Collector{
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	} {
		_ = r.Register(c)
	}
	return r
}

// serveMetrics serves /metrics and /healthz of a role without a surface of its own.
func serveMetrics(ctx context.Context, addr string, reg *prometheus.Registry, healthy func() error) error {
	if addr == "" {
		<-ctx.Done()
		return nil
	}
	if err := checkLoopback(addr); err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(reg, promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		if err := healthy(); err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
		}
	})
	srv := &http.Server{Addr: addr, Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	stop := context.AfterFunc(ctx, func() { _ = srv.Close() })
	defer stop()
	if err := srv.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("metrics: %w", err)
	}
	return nil
}

func checkLoopback(addr string) error {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return fmt.Errorf("address %q: %w", addr, err)
	}
	if ip := net.ParseIP(host); host == "localhost" || ip != nil && ip.IsLoopback() {
		return nil
	}
	return hint(fmt.Errorf("%s is not a loopback address", addr), "listen on 127.0.0.1 and put a TLS proxy in front")
}

// parsePartitions reads "0,1,4-7"; empty means all.
func parsePartitions(s string) ([]uint32, error) {
	if s == "" {
		return nil, nil
	}
	var out []uint32
	for part := range strings.SplitSeq(s, ",") {
		var lo, hi uint32
		if n, err := fmt.Sscanf(part, "%d-%d", &lo, &hi); n != 2 || err != nil {
			if _, err := fmt.Sscanf(part, "%d", &lo); err != nil {
				return nil, fmt.Errorf("--own %q: want numbers and ranges such as 0,1,4-7", s)
			}
			hi = lo
		}
		if hi < lo || hi-lo > natsbus.MaxPartitions {
			return nil, fmt.Errorf("--own %q: %d-%d is not a range of partitions", s, lo, hi)
		}
		for p := lo; p <= hi; p++ {
			out = append(out, p)
		}
	}
	return out, nil
}

func keyDir(data string) string { return filepath.Join(data, "keys") }
