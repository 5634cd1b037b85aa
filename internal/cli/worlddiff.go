package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/aspis-rv/aspis/internal/protocol"
	"github.com/aspis-rv/aspis/internal/replay"
	"github.com/aspis-rv/aspis/internal/world/render"
	"github.com/aspis-rv/aspis/pkg/policy"
)

func newWorldDiff(e *env) *cobra.Command {
	var f worldFlags
	var from, to, event string
	cmd := &cobra.Command{
		Use: "diff --policy DIR (--events FILE|- | --log DIR|URL) (--at POSITION [--to POSITION] | --event POSITION)", Args: policyOnly,
		Short: "Say what changed in the world between two positions, or by one event",
		Long:  "Say what changed in the world of a trace between two positions, or by the effects of one event.\n\n" + positions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if (from == "") == (event == "") || event != "" && to != "" {
				return hint(errors.New("give --at and --to, or --event"), "aspis world diff --policy DIR --events FILE --at 3 --to 5")
			}
			b, err := e.worldBundle(f.policy)
			if err != nil {
				return err
			}
			h, err := e.history(cmd.Context(), &f, b)
			if err != nil {
				return err
			}
			if h == nil {
				return hint(errors.New("give either --events or --log"), "aspis world diff --policy DIR --events FILE --event 3")
			}
			defer h.close()
			c, err := f.changes(h, b, from, to, event)
			if err != nil {
				return err
			}
			if e.json {
				return json.NewEncoder(e.out).Encode(c)
			}
			text := c.Text()
			if event != "" && c.Empty() {
				text += "A call that is refused has no effects; aspis explain CALL_ID says why it was.\n"
			}
			_, err = io.WriteString(e.out, text)
			return err
		},
	}
	f.register(cmd)
	fs := cmd.Flags()
	fs.StringVar(&from, "at", "", "the earlier position")
	fs.StringVar(&to, "to", "", "the later position (default: the newest)")
	fs.StringVar(&event, "event", "", "one event: its number in the file, or the position of its record in the log")
	return cmd
}

func (f *worldFlags) changes(h *history, b *policy.Bundle, from, to, event string) (*render.Changes, error) {
	if event != "" {
		return f.ofEvent(h, b, event)
	}
	a, err := h.stop("--at", from)
	if err != nil {
		return nil, err
	}
	z, err := h.stop("--to", to)
	if err != nil {
		return nil, err
	}
	var since replay.ReachSince
	s, err := h.snapshots(b, []replay.Stop{a, z}, since.Changed)
	if err != nil {
		return nil, err
	}
	after, err := f.choose(b, s[1])
	if err != nil {
		return nil, err
	}
	before, err := earlier(b, s[0], after)
	if err != nil {
		return nil, err
	}
	if later(&before.At, &after.At) {
		return nil, hint(fmt.Errorf("--at %s lies after --to %s", from, to), "swap them")
	}
	c := render.Diff(render.View(before.World, before.At, before.Events), render.View(after.World, after.At, after.Events))
	for _, r := range c.Reached {
		r.Since = since.Since(after.Trace, r.Kind, r.From, r.To)
	}
	c.Explain(after.World, after.Events)
	return c, nil
}

// earlier is the world of a trace at an earlier position: as declared where the trace had not
// begun.
func earlier(b *policy.Bundle, s replay.Snapshot, of *replay.TraceWorld) (*replay.TraceWorld, error) {
	for i := range s {
		if s[i].Trace == of.Trace {
			return &s[i], nil
		}
	}
	t, err := declared(b)
	if err == nil {
		t.At.Tenant, t.At.Trace = of.At.Tenant, of.At.Trace
	}
	return t, err
}

// later tells whether a place is later than another of the same trace.
func later(a, b *render.At) bool {
	switch {
	case a.Event != nil && b.Event != nil:
		return *a.Event > *b.Event
	case a.Event != nil || a.Position != "" && b.Position == "":
		return true
	}
	return a.TS > b.TS
}

// ofEvent is what one event changed. Its effects come with it in a file, and with its
// resolution in a log.
func (f *worldFlags) ofEvent(h *history, b *policy.Bundle, event string) (*render.Changes, error) {
	stop, err := h.stop("--event", event)
	if err != nil {
		return nil, err
	}
	if stop.Kind == replay.StopTime {
		return nil, hint(fmt.Errorf("--event: %s is a time", event), "give the number of an event, or the position of a record")
	}
	stops, is := []replay.Stop{stop}, strconv.Itoa(stop.Event)
	if !h.events {
		stops, is = append(stops, replay.Stop{Kind: replay.StopNewest}), fmt.Sprintf("%d/%d", stop.Partition, stop.Offset)
	}
	spans := map[protocol.TraceID]*span{}
	s, err := h.snapshots(b, stops, func(c *replay.WorldChange) {
		if h.events && c.Cause.Event == is || !h.events && c.Cause.Position == is {
			note(spans, c)
		}
	})
	if err != nil {
		return nil, err
	}
	return f.ofSpan(b, stop, spans, s[len(s)-1])
}

// span is from the first change by an event to the last one.
type span struct{ first, last *replay.WorldChange }

func note(spans map[protocol.TraceID]*span, c *replay.WorldChange) {
	if s := spans[c.Trace]; s != nil {
		s.last = c
		return
	}
	spans[c.Trace] = &span{c, c}
}

func (f *worldFlags) ofSpan(b *policy.Bundle, stop replay.Stop, spans map[protocol.TraceID]*span, s replay.Snapshot) (*render.Changes, error) {
	at := render.At{Policy: b.Name, Revision: b.Revision}
	var changed replay.Snapshot
	for i := range s {
		if spans[s[i].Trace] != nil {
			changed = append(changed, s[i])
		}
	}
	if len(changed) == 0 {
		place(&at, stop, 0)
		if t, err := f.choose(b, s); err == nil && stop.Kind == replay.StopEvent {
			at = t.At
		}
		return &render.Changes{From: at, To: at}, nil
	}
	t, err := f.choose(b, changed)
	if err != nil {
		return nil, err
	}
	x := spans[t.Trace]
	at.Tenant, at.Trace = t.At.Tenant, t.At.Trace
	place(&at, stop, x.last.Timestamp)
	earlier := at
	earlier.Before = true
	c := render.Diff(render.View(x.first.Before, earlier, t.Events), render.View(x.last.After, at, t.Events))
	for _, r := range c.Reached {
		r.Since = x.last.Cause
	}
	c.Explain(x.last.After, t.Events)
	return c, nil
}

// place says where an event is.
func place(at *render.At, stop replay.Stop, ts int64) {
	at.TS = ts
	if stop.Kind == replay.StopEvent {
		at.Event = &stop.Event
		return
	}
	at.Position = fmt.Sprintf("%d/%d", stop.Partition, stop.Offset)
}
