package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/aspis-rv/aspis/internal/compose"
	"github.com/aspis-rv/aspis/internal/corpus/jsonl"
	"github.com/aspis-rv/aspis/internal/offline"
	"github.com/aspis-rv/aspis/internal/replay"
	"github.com/aspis-rv/aspis/pkg/aspects"
	"github.com/aspis-rv/aspis/pkg/policy"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// replayFlags are the flags of `aspis replay`.
type replayFlags struct {
	policy, events, log            string
	since                          string
	from                           uint64
	aspects, blocking, guards      string
	observe, fromSnapshots, refuse bool
	workers, snapshotEvery         int
}

func newReplay(e *env) *cobra.Command {
	var f replayFlags
	cmd := &cobra.Command{
		Use: "replay --policy DIR (--events FILE|- | --log DIR|URL)", Args: policyOnly,
		Short: "Run recorded events, or a retained log, through the monitors again",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if (f.events == "") == (f.log == "") {
				return hint(errors.New("give either --events or --log"), "aspis replay --policy DIR --events FILE")
			}
			if err := f.checkLogOnly(cmd); err != nil {
				return err
			}
			b, err := e.loadBundle(f.policy)
			if err != nil {
				return err
			}
			opts, err := f.options()
			if err != nil {
				return err
			}
			if f.events != "" {
				return e.replayEvents(&f, b, opts)
			}
			return e.replayLog(cmd.Context(), &f, b, opts)
		},
	}
	fs := cmd.Flags()
	policyFlag(cmd, &f.policy)
	fs.StringVar(&f.events, "events", "", "file of canonical events, one JSON document a line; - is standard input")
	fs.StringVar(&f.log, "log", "", "data directory of a stopped deployment, or URL of a NATS server")
	fs.StringVar(&f.since, "since", "", "with --log: only calls appended at or after this time, RFC 3339")
	fs.Uint64Var(&f.from, "from", 0, "with --log: only calls at or after this offset")
	fs.StringVar(&f.aspects, "aspects", "", "aspects that are on, such as S,T,Sigma,C (default: all); over --events nothing is typed without Sigma")
	fs.StringVar(&f.blocking, "blocking", "", "default, precautionary or a set of values; overrides the policy")
	fs.StringVar(&f.guards, "guards", "unknown", "how guards of aspects that are off are read: loose, unknown or reference-strict")
	fs.BoolVar(&f.observe, "observe", false, "adopt every call, refused or not")
	fs.BoolVar(&f.refuse, "fail-on-refuse", false, "exit 1 when a call is refused")
	fs.IntVar(&f.workers, "workers", 1, "with --log: partitions replayed at a time")
	fs.BoolVar(&f.fromSnapshots, "from-snapshots", false, "with --log: start from the stored snapshots")
	fs.IntVar(&f.snapshotEvery, "snapshot-every", 0, "with --log: restart the monitors from a snapshot of their own after every so many records")
	return cmd
}

// logOnly are the flags that say something about a log, and nothing about a file.
func logOnly() []string {
	return []string{"since", "from", "workers", "from-snapshots", "snapshot-every"}
}

// checkLogOnly refuses flags that would be without effect on a file of events.
func (f *replayFlags) checkLogOnly(cmd *cobra.Command) error {
	if f.events == "" {
		return nil
	}
	for _, name := range logOnly() {
		if cmd.Flags().Changed(name) {
			return hint(fmt.Errorf("--%s has no effect on --events", name), "leave it out, or replay a log with --log")
		}
	}
	return nil
}

// options reads the composition flags.
func (f *replayFlags) options() (compose.Options, error) {
	var o compose.Options
	var err error
	if f.blocking != "" {
		if o.Blocking, err = verdict.ParseBlockingSet(f.blocking); err != nil {
			return o, err
		}
	}
	if o.Guards, err = verdict.ParseOffReading(f.guards); err != nil {
		return o, err
	}
	o.Off, err = aspectsOff(f.aspects)
	return o, err
}

// aspectsOff turns a list of aspects that are on into one of those that are off.
func aspectsOff(on string) ([]aspects.Kind, error) {
	if on == "" {
		return nil, nil
	}
	names := map[string]aspects.Kind{
		"s": aspects.Spatial, "t": aspects.Temporal, "sigma": aspects.Semantic, "c": aspects.Contract,
	}
	for _, k := range aspects.Kinds() {
		names[string(k)] = k
	}
	is := map[aspects.Kind]bool{}
	for s := range strings.SplitSeq(on, ",") {
		k, ok := names[strings.ToLower(strings.TrimSpace(s))]
		if !ok {
			return nil, fmt.Errorf("--aspects: %q is not an aspect; want S, T, Sigma or C", s)
		}
		is[k] = true
	}
	var off []aspects.Kind
	for _, k := range aspects.Kinds() {
		if !is[k] {
			off = append(off, k)
		}
	}
	return off, nil
}

func (e *env) replayEvents(f *replayFlags, b *policy.Bundle, o compose.Options) error {
	if slices.Contains(o.Off, aspects.Semantic) {
		b = b.WithoutTyping() // what typing makes is that aspect's
	}
	engines, err := e.engines(b)
	if err != nil {
		return err
	}
	in, name, err := e.open(f.events)
	if err != nil {
		return err
	}
	defer in.Close() //nolint:errcheck // read only
	cfg := offline.Config{Bundle: b, Engines: engines, Options: o, Observe: f.observe}
	sum, err := replay.Events(cfg, jsonl.Events(in, name), e.printLine)
	if err != nil {
		return err
	}
	return e.finishReplay(f, sum, nil)
}

func (e *env) replayLog(ctx context.Context, f *replayFlags, b *policy.Bundle, o compose.Options) error {
	engines, err := e.engines(b)
	if err != nil {
		return err
	}
	var since int64
	if f.since != "" {
		t, err := time.Parse(time.RFC3339, f.since)
		if err != nil {
			return fmt.Errorf("--since: %w", err)
		}
		since = t.UnixNano()
	}
	src, closeLog, err := openLog(ctx, f.log)
	if err != nil {
		return err
	}
	defer closeLog()
	sum, cmp, err := replay.Log(ctx, replay.LogConfig{
		Source: src, Bundle: b, Engines: engines, Rules: rules(), Options: o, Workers: f.workers,
		FromSnapshots: f.fromSnapshots, SnapshotEvery: f.snapshotEvery, From: f.from, Since: since,
		Begin: func(cmp *replay.Comparison) error { return e.warnOthers(b, cmp) },
	}, e.printLine)
	if err != nil {
		return err
	}
	return e.finishReplay(f, sum, &cmp)
}

// finishReplay prints the summary and turns it into the command's answer.
func (e *env) finishReplay(f *replayFlags, sum replay.Summary, cmp *replay.Comparison) error {
	if e.json {
		last := struct {
			Summary replay.Summary     `json:"summary"`
			Log     *replay.Comparison `json:"log,omitempty"`
		}{sum, cmp}
		if err := json.NewEncoder(e.out).Encode(last); err != nil {
			return err
		}
	} else if _, err := fmt.Fprint(e.out, summaryText(&sum, cmp)); err != nil {
		return err
	}
	if cmp != nil && !cmp.Equal() || f.refuse && sum.Refused+sum.Escalated > 0 {
		return errNo
	}
	return nil
}

// open opens a file of events; "-" is standard input.
func (e *env) open(path string) (io.ReadCloser, string, error) {
	if path == "-" {
		return io.NopCloser(e.in), "standard input", nil
	}
	f, err := os.Open(path) //nolint:gosec // the path is the user's
	if err != nil {
		return nil, "", fmt.Errorf("events: %w", err)
	}
	return f, path, nil
}
