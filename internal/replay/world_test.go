package replay_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/aspis-rv/aspis/internal/bus"
	"github.com/aspis-rv/aspis/internal/bus/membus"
	"github.com/aspis-rv/aspis/internal/node"
	"github.com/aspis-rv/aspis/internal/offline"
	"github.com/aspis-rv/aspis/internal/protocol"
	"github.com/aspis-rv/aspis/internal/replay"
	"github.com/aspis-rv/aspis/internal/world"
	"github.com/aspis-rv/aspis/internal/world/render"
	"github.com/aspis-rv/aspis/pkg/policy"
	"github.com/aspis-rv/aspis/pkg/schema"
)

func relay(t *testing.T) (*policy.Bundle, offline.Config) {
	t.Helper()
	b, diags := policy.Load("testdata/relay")
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	engines, err := node.Engines(b)
	if err != nil {
		t.Fatal(err)
	}
	return b, offline.Config{Bundle: b, Engines: engines}
}

// calls makes random calls, at least n events with the results of some. Now and then one is
// refused, fails, or is of a vertex that nobody declared.
func calls(t *testing.T, rng *rand.Rand, n int) []*schema.Event {
	t.Helper()
	tools := []string{"place", "place", "move", "remove", "destroy", "derive", "open", "open", "close", "close", "vanish", "declare", "alarm"}
	objects, vertices := []string{"x", "y", "z"}, []string{"a", "b", "c", "d", "e", "unknown"}
	var out []*schema.Event
	for len(out) < n {
		i := len(out)
		o, v := objects[rng.IntN(len(objects))], vertices[rng.IntN(len(vertices))]
		args := map[string]any{"o": o, "v": v}
		switch tool := tools[rng.IntN(len(tools))]; tool {
		case "open", "close":
			args["o"] = vertices[rng.IntN(len(vertices))]
			out = append(out, event(t, map[string]any{"tool": tool, "args": args, "ts": i * 1e9}))
		case "derive":
			args["v"] = objects[rng.IntN(len(objects))]
			out = append(out, event(t, map[string]any{"tool": tool, "args": args, "ts": i * 1e9}))
		case "vanish", "declare":
			out = append(out, event(t, map[string]any{"tool": tool, "args": map[string]any{"v": v}, "ts": i * 1e9}))
		case "destroy", "alarm":
			out = append(out, event(t, map[string]any{"tool": tool, "args": map[string]any{"o": o}, "ts": i * 1e9}))
		default:
			out = append(out, event(t, map[string]any{"tool": tool, "args": args, "ts": i * 1e9}))
		}
		if rng.IntN(3) == 0 { // an error takes the effects back
			result := event(t, map[string]any{"kind": "result", "call": fmt.Sprintf("c%d", i), "ok": rng.IntN(2) == 0, "ts": i*1e9 + 1})
			result.Actor.Class = schema.ClassTool
			out = append(out, result)
		}
	}
	return out
}

func event(t *testing.T, fields map[string]any) *schema.Event {
	t.Helper()
	fields["session"], fields["actor"] = "s", "agent"
	text, err := json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	ev, err := schema.ParseEventJSON(text)
	if err != nil {
		t.Fatal(err)
	}
	return ev
}

func sequence(events []*schema.Event) iter.Seq2[*schema.Event, error] {
	return func(yield func(*schema.Event, error) bool) {
		for _, ev := range events {
			again := *ev // the runner fills it in
			if !yield(&again, nil) {
				return
			}
		}
	}
}

// pairs is what reaches what in a world, by asking anew.
func pairs(w *world.World, from, to string) map[[3]string]bool {
	out := map[[3]string]bool{}
	add := func(kind render.From, start string) {
		if to != "" {
			if render.Reaches(w, kind, start, to) {
				out[[3]string{kind.String(), start, to}] = true
			}
			return
		}
		for _, d := range render.Targets(w, kind, start) {
			out[[3]string{kind.String(), start, d}] = true
		}
	}
	if from != "" {
		add(render.ByObject, from)
		add(render.ByVertex, from)
		return out
	}
	for _, o := range replay.Objects(w) {
		add(render.ByObject, o)
	}
	return out
}

// TestReachSince: since when a pair holds is what looking at the world after every event says.
func TestReachSince(t *testing.T) {
	b, run := relay(t)
	questions := []replay.ReachSince{{}, {From: "x"}, {To: "FAR"}, {From: "z", To: "d"}, {From: "a"}, {To: "c"}, {From: "unknown", To: "HOME"}}
	held := 0
	for seed := range uint64(150) {
		rng := rand.New(rand.NewPCG(seed, 7))
		events := calls(t, rng, 1+rng.IntN(25))
		cfg := replay.WorldConfig{Bundle: b, Rules: protocol.DefaultRules()}
		for i := range len(events) {
			cfg.Stops = append(cfg.Stops, replay.Stop{Kind: replay.StopEvent, Event: i})
		}
		r := questions[rng.IntN(len(questions))]
		cfg.Changed = r.Changed
		snapshots, err := replay.WorldsOfEvents(run, cfg, sequence(events))
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		base, err := world.New(b.World)
		if err != nil {
			t.Fatal(err)
		}
		before, since := pairs(base, r.From, r.To), map[[3]string]string{}
		for i, s := range snapshots {
			w := base // until a call is permitted, there is no trace
			if len(s) > 0 {
				w = s[0].World
			}
			now := pairs(w, r.From, r.To)
			for p := range now {
				if !before[p] {
					since[p] = fmt.Sprint(i)
				}
			}
			for p := range before {
				if !now[p] {
					delete(since, p)
				}
			}
			before = now
		}
		last := replay.TraceWorld{World: base}
		if s := snapshots[len(snapshots)-1]; len(s) > 0 {
			last = s[0]
		}
		rows := r.Rows(&last)
		if len(rows) != len(before) {
			t.Fatalf("seed %d: %+v: %d rows, want %d", seed, r, len(rows), len(before))
		}
		for _, row := range rows {
			p, got := [3]string{row.Kind.String(), row.From, row.To}, ""
			if row.Since != nil {
				got = row.Since.Event
				held++
			}
			if !before[p] || got != since[p] {
				t.Fatalf("seed %d: %+v: %v since %q, want %q", seed, r, p, got, since[p])
			}
			if len(row.Path) == 0 {
				t.Fatalf("seed %d: %v has no path", seed, p)
			}
		}
	}
	if held < 100 {
		t.Errorf("only %d pairs were reached by an event", held)
	}
}

// TestWorldsOfLog: the log of a run and its events give the same worlds, at every position.
func TestWorldsOfLog(t *testing.T) {
	b, run := relay(t)
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 8))
		events := calls(t, rng, 1+rng.IntN(20))
		log := membus.New(membus.Config{Partitions: 1})
		log1 := run
		log1.Records = func(offset uint64, ev *schema.Event) {
			publish(t, log, fmt.Sprint(offset), ev)
		}
		var ends []uint64
		runner := offline.New(log1)
		for ev, err := range sequence(events) {
			if err != nil {
				t.Fatal(err)
			}
			if _, err := runner.Event(ev); err != nil {
				t.Fatal(err)
			}
			_, next, err := log.Bounds(context.Background(), bus.Events, 0)
			if err != nil {
				t.Fatal(err)
			}
			ends = append(ends, next-1)
		}
		of, in := replay.WorldConfig{Bundle: b, Rules: protocol.DefaultRules()}, replay.WorldConfig{Bundle: b, Rules: protocol.DefaultRules()}
		for i := range events {
			of.Stops = append(of.Stops, replay.Stop{Kind: replay.StopEvent, Event: i})
			in.Stops = append(in.Stops, replay.Stop{Kind: replay.StopRecord, Offset: ends[i]})
		}
		want, err := replay.WorldsOfEvents(run, of, sequence(events))
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		got, err := replay.WorldsOfLog(context.Background(), log, in)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		for i := range want {
			if a, b := bare(want[i]), bare(got[i]); !reflect.DeepEqual(a, b) {
				t.Fatalf("seed %d, event %d: %+v, from the log %+v", seed, i, a, b)
			}
		}
	}
}

// bare is what a snapshot shows without saying where it is.
func bare(s replay.Snapshot) []*render.Graph {
	var out []*render.Graph
	for i := range s {
		out = append(out, render.View(s[i].World, render.At{Tenant: s[i].Trace.Tenant, Trace: s[i].Trace.Trace}, nil))
	}
	return out
}

func publish(t *testing.T, log *membus.Bus, id string, ev *schema.Event) {
	t.Helper()
	data, err := ev.AppendBinary(nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := log.Publish(context.Background(), bus.Message{Topic: bus.Events, ID: id, Data: data}); err != nil {
		t.Fatal(err)
	}
}

// TestWorldStops: times, positions that are not there, policies without a world.
func TestWorldStops(t *testing.T) {
	b, run := relay(t)
	events := []*schema.Event{
		event(t, map[string]any{"tool": "place", "args": map[string]any{"o": "x", "v": "a"}, "ts": 1_000_000_000}),
		event(t, map[string]any{"tool": "place", "args": map[string]any{"o": "x", "v": "b"}, "ts": 2_000_000_000}),
		event(t, map[string]any{"tool": "alarm", "args": map[string]any{"o": "x"}, "ts": 3_000_000_000}),
	}
	at := func(stops ...replay.Stop) ([]replay.Snapshot, error) {
		return replay.WorldsOfEvents(run, replay.WorldConfig{Bundle: b, Rules: protocol.DefaultRules(), Stops: stops}, sequence(events))
	}
	s, err := at(
		replay.Stop{Kind: replay.StopTime, Time: 0}, replay.Stop{Kind: replay.StopTime, Time: 1_999_999_999},
		replay.Stop{Kind: replay.StopTime, Time: 2_000_000_000}, replay.Stop{Kind: replay.StopNewest},
	)
	if err != nil || len(s[0]) != 0 {
		t.Fatalf("%v, %v", s, err)
	}
	for i, want := range [][]string{1: {"a"}, 2: {"a", "b"}, 3: {"a", "b"}} {
		if i == 0 {
			continue
		}
		if got := replicasOf(render.View(s[i][0].World, s[i][0].At, s[i][0].Events), "x"); !slices.Equal(got, want) {
			t.Errorf("stop %d: x is at %v, want %v", i, got, want)
		}
	}
	if n := s[1][0].At.Event; n == nil || *n != 0 {
		t.Errorf("the world before the second event is at %+v", s[1][0].At)
	}
	if _, err := at(replay.Stop{Kind: replay.StopEvent, Event: 3}); !errors.Is(err, replay.ErrBeyond) {
		t.Errorf("got %v", err)
	}
	_, err = replay.WorldsOfEvents(run, replay.WorldConfig{Bundle: consent(t), Rules: protocol.DefaultRules()}, sequence(events))
	if !errors.Is(err, replay.ErrNoWorld) {
		t.Errorf("got %v", err)
	}
}

func replicasOf(g *render.Graph, object string) []string {
	var out []string
	for i := range g.Objects {
		if g.Objects[i].Name == object {
			for _, r := range g.Objects[i].Replicas {
				out = append(out, r.Vertex)
			}
		}
	}
	return out
}

// TestWorldOfAnotherPolicy: what another policy decided is not shown with the given one.
func TestWorldOfAnotherPolicy(t *testing.T) {
	b, _ := relay(t)
	w := activated(t, make([]byte, 32), "other")
	_, err := replay.WorldsOfLog(context.Background(), w.log, replay.WorldConfig{
		Bundle: b, Rules: protocol.DefaultRules(), Stops: []replay.Stop{{Kind: replay.StopNewest}},
	})
	foreign, ok := errors.AsType[*replay.ForeignError](err)
	if !ok || foreign.Active.Name != "other" {
		t.Errorf("got %v", err)
	}
	_, err = replay.WorldsOfLog(context.Background(), w.log, replay.WorldConfig{
		Bundle: b, Rules: protocol.DefaultRules(), Stops: []replay.Stop{{Kind: replay.StopRecord, Offset: 1000}},
	})
	if !errors.Is(err, replay.ErrBeyond) {
		t.Errorf("got %v", err)
	}
}

// TestEndsWithoutResults: a permit that was not delivered takes the effects of its call back,
// and one of which nobody knows what became leaves them in doubt.
func TestEndsWithoutResults(t *testing.T) {
	b, _ := relay(t)
	w := activated(t, b.Digest[:], b.Name)
	for _, s := range []string{"kept", "withdrawn", "unknown"} {
		call := record(schema.KindCall, s+"/call", s)
		call.Digest, call.Tool = []byte("digest of "+s), "place"
		call.Args = event(t, map[string]any{"tool": "place", "args": map[string]any{"o": "x", "v": "b"}}).Args
		at := w.append(call)
		r := record(schema.KindResolution, s+"/decision", s)
		r.Actor.Class = schema.ClassMonitor
		r.Resolution = &schema.Resolution{
			CallID: call.CallID, Attempt: schema.Attempt{Opening: at, CallID: call.ID}, Outcome: schema.SettledPermit,
			Policy: b.Digest[:], CallDigest: call.Digest, Writer: "composer",
		}
		w.append(r)
	}
	w.append(record(schema.KindResult, "r1", "kept"))
	w.append(record(schema.KindWithdrawn, "r2", "withdrawn"))
	ttl := protocol.DefaultRules().ResultTTL
	w.append(&schema.Event{ID: "tick/1", Kind: schema.KindTick, Tick: &schema.Tick{N: 1, Time: 1}})
	w.append(&schema.Event{ID: "tick/2", Kind: schema.KindTick, Tick: &schema.Tick{N: 2, Time: 2 * ttl}})
	s, err := replay.WorldsOfLog(context.Background(), w.log, replay.WorldConfig{
		Bundle: b, Rules: protocol.DefaultRules(), Stops: []replay.Stop{{Kind: replay.StopNewest}},
	})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for i := range s[0] {
		g := render.View(s[0][i].World, s[0][i].At, s[0][i].Events)
		got[s[0][i].Trace.Trace] = fmt.Sprint(replicasOf(g, "x"), s[0][i].World.Doubtful("x"), s[0][i].At.Truncated)
	}
	want := map[string]string{"kept": "[b] false false", "withdrawn": "[] false false", "unknown": "[b] true false"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
