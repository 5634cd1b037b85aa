package cli

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/aspis-rv/aspis/internal/corpus/jsonl"
	"github.com/aspis-rv/aspis/internal/offline"
	"github.com/aspis-rv/aspis/internal/protocol"
	"github.com/aspis-rv/aspis/internal/replay"
	"github.com/aspis-rv/aspis/internal/world"
	"github.com/aspis-rv/aspis/internal/world/render"
	"github.com/aspis-rv/aspis/pkg/policy"
)

func newWorld(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use: "world show|reach|diff --policy DIR [--events FILE|- | --log DIR|URL]", Args: cobra.NoArgs,
		Short: "Show the world of a trace, what reaches what in it, and what changed",
		RunE: func(*cobra.Command, []string) error {
			return hint(errors.New("say what to show"), "aspis world show --policy DIR")
		},
	}
	cmd.AddCommand(newWorldShow(e), newWorldReach(e), newWorldDiff(e))
	return cmd
}

// worldFlags say which world is meant.
type worldFlags struct {
	policy, events, log string
	trace, tenant       string
}

// positions is how a place in the history is written, for help texts.
const positions = `A position is the number of an event of the file, from 0; with --log the offset of a record, or
PARTITION/OFFSET where the log has several partitions; or a time (RFC 3339): of a log that at which
records were appended, of a file that of the events. What happened at the position is part
of the world. A call takes effect when it is permitted: in a log at its resolution, a few records later.`

func (f *worldFlags) register(cmd *cobra.Command) {
	fs := cmd.Flags()
	policyFlag(cmd, &f.policy)
	fs.StringVar(&f.events, "events", "", "file of canonical events, one JSON document a line; - is standard input")
	fs.StringVar(&f.log, "log", "", "data directory of a stopped deployment, or URL of a NATS server")
	fs.StringVar(&f.trace, "trace", "", "the trace, where there are several")
	fs.StringVar(&f.tenant, "tenant", "", "the tenant of the trace, where there are several")
}

// history is an opened source of events.
type history struct {
	events     bool
	partitions uint32
	fold       func(replay.WorldConfig) ([]replay.Snapshot, error)
	close      func()
}

// history opens what the flags name, nil where they name none.
func (e *env) history(ctx context.Context, f *worldFlags, b *policy.Bundle) (*history, error) {
	switch {
	case f.events != "" && f.log != "":
		return nil, hint(errors.New("give --events or --log, not both"), "aspis world show --policy DIR --events FILE")
	case f.events != "":
		engines, err := e.engines(b)
		if err != nil {
			return nil, err
		}
		in, name, err := e.open(f.events)
		if err != nil {
			return nil, err
		}
		return &history{events: true, close: func() { _ = in.Close() }, fold: func(cfg replay.WorldConfig) ([]replay.Snapshot, error) {
			return replay.WorldsOfEvents(offline.Config{Engines: engines}, cfg, jsonl.Events(in, name))
		}}, nil
	case f.log != "":
		src, closeLog, err := openLog(ctx, f.log)
		if err != nil {
			return nil, err
		}
		return &history{partitions: src.Partitions(), close: closeLog, fold: func(cfg replay.WorldConfig) ([]replay.Snapshot, error) {
			return replay.WorldsOfLog(ctx, src, cfg)
		}}, nil
	}
	return nil, nil
}

// worldBundle loads a policy that has a world.
func (e *env) worldBundle(dir string) (*policy.Bundle, error) {
	b, err := e.loadBundle(dir)
	if err != nil {
		return nil, err
	}
	if b.World == nil {
		return nil, noWorld(b)
	}
	return b, nil
}

func noWorld(b *policy.Bundle) error {
	return hint(fmt.Errorf("policy %s: %w", b.Name, replay.ErrNoWorld), "declare one with `world: world.yaml` in policy.yaml")
}

// snapshots folds the history up to the stops.
func (h *history) snapshots(b *policy.Bundle, stops []replay.Stop, changed func(*replay.WorldChange)) ([]replay.Snapshot, error) {
	out, err := h.fold(replay.WorldConfig{Bundle: b, Rules: rules(), Stops: stops, Changed: changed})
	if foreign, ok := errors.AsType[*replay.ForeignError](err); ok {
		given := replay.RefOf(b)
		return nil, hint(err, "the policy given is %s; name with --policy %s as it was then", &given, &foreign.Active)
	}
	if errors.Is(err, replay.ErrBeyond) {
		what := "records"
		if h.events {
			what = "events"
		}
		return nil, hint(err, "%s are counted from 0; leave the position out for all of them", what)
	}
	return out, err
}

// declared is the world before the first event.
func declared(b *policy.Bundle) (*replay.TraceWorld, error) {
	w, err := world.New(b.World)
	if err != nil {
		return nil, err
	}
	return &replay.TraceWorld{World: w, At: render.At{Policy: b.Name, Revision: b.Revision}}, nil
}

// stop reads a position; the empty one is the newest.
func (h *history) stop(flag, text string) (replay.Stop, error) {
	if text == "" {
		return replay.Stop{Kind: replay.StopNewest}, nil
	}
	if t, err := time.Parse(time.RFC3339, text); err == nil {
		return replay.Stop{Kind: replay.StopTime, Time: t.UnixNano()}, nil
	}
	if h.events {
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 {
			return replay.Stop{}, hint(fmt.Errorf("%s: %q is no position in a file of events", flag, text), "give the number of an event, from 0, which is that of its line less 1, or a time (RFC 3339)")
		}
		return replay.Stop{Kind: replay.StopEvent, Event: n}, nil
	}
	return h.record(flag, text)
}

// record reads the position of a record of a log.
func (h *history) record(flag, text string) (replay.Stop, error) {
	part, offset, both := strings.Cut(strings.Replace(text, ":", "/", 1), "/")
	if !both {
		part, offset = "0", text
	}
	p, err := strconv.ParseUint(part, 10, 32)
	o, also := strconv.ParseUint(offset, 10, 64)
	switch {
	case err != nil || also != nil || o == math.MaxUint64:
		return replay.Stop{}, hint(fmt.Errorf("%s: %q is no position in a log", flag, text), "give an offset, PARTITION/OFFSET or a time (RFC 3339)")
	case !both && h.partitions > 1:
		return replay.Stop{}, hint(fmt.Errorf("%s: the log has %d partitions, and %q names none", flag, h.partitions, text), "give PARTITION/OFFSET, as `aspis replay --json` prints it")
	case uint32(p) >= h.partitions:
		return replay.Stop{}, fmt.Errorf("%s: the log has %d partitions, and no partition %d", flag, h.partitions, p)
	}
	return replay.Stop{Kind: replay.StopRecord, Partition: uint32(p), Offset: o}, nil
}

// choose picks the world of the trace that the flags name, the only one where they name
// none, and the declared one where there is no trace yet.
func (f *worldFlags) choose(b *policy.Bundle, s replay.Snapshot) (*replay.TraceWorld, error) {
	var fit []*replay.TraceWorld
	for i := range s {
		if f.fits(s[i].Trace) {
			fit = append(fit, &s[i])
		}
	}
	switch {
	case len(fit) == 1:
		return fit[0], nil
	case len(fit) == 0 && f.trace == "" && f.tenant == "":
		return declared(b)
	case len(fit) == 0:
		return nil, hint(errors.New("there is no such trace at that position"), "%s", traceList(s))
	}
	return nil, hint(fmt.Errorf("there are %d traces: name one with --trace or --tenant", len(fit)), "%s", traceList(s))
}

func (f *worldFlags) fits(id protocol.TraceID) bool {
	return (f.trace == "" || f.trace == id.Trace) && (f.tenant == "" || f.tenant == id.Tenant)
}

// shownTraces is how many traces a hint lists.
const shownTraces = 10

// traceList names the traces of a snapshot as flags.
func traceList(s replay.Snapshot) string {
	if len(s) == 0 {
		return "there are no traces yet"
	}
	var names []string
	for i := range s[:min(len(s), shownTraces)] {
		names = append(names, fmt.Sprintf("--tenant %s --trace %s", render.Name(s[i].Trace.Tenant), render.Name(s[i].Trace.Trace)))
	}
	if len(s) > shownTraces {
		names = append(names, fmt.Sprintf("and %d more", len(s)-shownTraces))
	}
	return strings.Join(names, "; ")
}
