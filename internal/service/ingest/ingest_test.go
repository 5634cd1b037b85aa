package ingest

import (
	"context"
	"errors"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aspis-rv/aspis/internal/bus"
	"github.com/aspis-rv/aspis/internal/bus/membus"
	"github.com/aspis-rv/aspis/internal/placement"
	"github.com/aspis-rv/aspis/pkg/policy"
	"github.com/aspis-rv/aspis/pkg/schema"
)

const partitions = 8

// feed runs an ingest over a log in memory and returns what it wrote, by partition,
// and what it rejected.
func feed(t *testing.T, trace string, grants bool, events ...*schema.Event) (map[uint32][]*schema.Event, []Reject) {
	t.Helper()
	text := "policy: p\nrevision: 1\nauthorities: [user]\ntrace: " + trace + "\nfacts: {a: [o]}\ntools: {t: {args: {o: string}, facts: [a(o)]}}\nclauses: {C: {text: none, forbid: {temporal: 'a(o)'}}}\n"
	return feedTo(t, Config{Bundle: load(t, text), Grants: grants}, events...)
}

func load(t *testing.T, text string) *policy.Bundle {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "policy.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	b, diags := policy.Load(dir)
	if diags.HasErrors() {
		t.Fatalf("%+v", diags)
	}
	return b
}

// feedTo is feed for an ingest with a configuration of its own.
func feedTo(t *testing.T, cfg Config, events ...*schema.Event) (map[uint32][]*schema.Event, []Reject) {
	t.Helper()
	m := membus.New(membus.Config{Partitions: partitions})
	cfg.Bus, cfg.Name, cfg.Secret, cfg.Tenant = m, "ingest", make([]byte, 32), "acme"
	s, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	defer func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}()
	var rejects []Reject
	n, err := s.Feed(ctx, sequence(events), func(r Reject) error { rejects = append(rejects, r); return nil })
	if err != nil || n.Accepted != len(events)-len(rejects) || n.Rejected != len(rejects) {
		t.Fatalf("counted %+v with %d rejects, %v", n, len(rejects), err)
	}
	return written(ctx, t, m), rejects
}

func sequence(events []*schema.Event) iter.Seq2[*schema.Event, error] {
	return func(yield func(*schema.Event, error) bool) {
		for _, ev := range events {
			if !yield(ev, nil) {
				return
			}
		}
	}
}

func written(ctx context.Context, t *testing.T, b bus.Bus) map[uint32][]*schema.Event {
	t.Helper()
	out := map[uint32][]*schema.Event{}
	for p := range b.Partitions() {
		first, next, err := b.Bounds(ctx, bus.Events, p)
		if err != nil {
			t.Fatal(err)
		}
		if first == next {
			continue
		}
		cur, err := b.Read(ctx, bus.Events, p, bus.Start{})
		if err != nil {
			t.Fatal(err)
		}
		for at := first; at < next; at++ {
			rec, err := cur.Next(ctx)
			if err != nil {
				t.Fatal(err)
			}
			ev, err := schema.DecodeEvent(rec.Data)
			if err != nil {
				t.Fatal(err)
			}
			out[p] = append(out[p], ev)
		}
		if err := cur.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

func by(id string, class schema.ActorClass, ev schema.Event) *schema.Event {
	ev.Actor, ev.SessionID = schema.Actor{ID: id, Class: class}, "s1"
	return &ev
}

// TestFeedSaysOnlyWhatFeedsMay offers one record of each kind. None of those is in
// the log with which a file would speak for the deployment.
func TestFeedSaysOnlyWhatFeedsMay(t *testing.T) {
	all := func() []*schema.Event {
		return []*schema.Event{
			by("ann", schema.ClassUser, schema.Event{Kind: schema.KindSession, Session: &schema.SessionMark{}}),
			by("ann", schema.ClassUser, schema.Event{Kind: schema.KindMessage, Text: "pay"}),
			by("env", schema.ClassEnv, schema.Event{Kind: schema.KindObservation}),
			by("bot", schema.ClassAgent, schema.Event{Kind: schema.KindCall, CallID: "c1", Tool: "t"}),
			by("bot", schema.ClassAgent, schema.Event{Kind: schema.KindResult, CallID: "c1"}),
			by("ann", schema.ClassUser, schema.Event{Kind: schema.KindGrant, Tool: "t"}),
			by("x", schema.ClassMonitor, schema.Event{Kind: schema.KindTick, Tick: &schema.Tick{N: 1, Time: 1}}),
			by("x", schema.ClassMonitor, schema.Event{Kind: schema.KindPolicy, Activation: &schema.Activation{Number: 1, Digest: make([]byte, 32)}}),
			by("x", schema.ClassMonitor, schema.Event{Kind: schema.KindResolution, CallID: "c1", Resolution: &schema.Resolution{CallID: "c1"}}),
			by("x", schema.ClassMonitor, schema.Event{Kind: schema.KindWithdrawn, CallID: "c1"}),
		}
	}
	for _, grants := range []bool{false, true} {
		log, rejects := feed(t, "session", grants, all()...)
		var kinds []string
		for _, list := range log {
			for _, ev := range list {
				kinds = append(kinds, ev.Kind.String())
			}
		}
		slices.Sort(kinds)
		want := "call message observation result session"
		if grants {
			want = "call grant message observation result session"
		}
		if got := strings.Join(kinds, " "); got != want {
			t.Errorf("grants %v: in the log %q, want %q", grants, got, want)
		}
		for _, r := range rejects {
			if reason := []string{ErrForeign.Error(), ErrGrant.Error()}; !strings.Contains(r.Error, reason[0]) && r.Error != reason[1] {
				t.Errorf("grants %v: item %d is rejected for %q", grants, r.Index, r.Error)
			}
		}
	}
}

// TestAgentTraceIsPlacedByOwner feeds two sessions of one agent, with a user's and a
// tool's records: all are one trace, in one partition, which is the one of a gate.
func TestAgentTraceIsPlacedByOwner(t *testing.T) {
	first := by("bot", schema.ClassAgent, schema.Event{Kind: schema.KindCall, CallID: "c1", Tool: "t"})
	result := by("mailer", schema.ClassTool, schema.Event{Kind: schema.KindResult, CallID: "c1"})
	grant := by("ann", schema.ClassUser, schema.Event{Kind: schema.KindGrant, Tool: "t"})
	second := by("bot", schema.ClassAgent, schema.Event{Kind: schema.KindCall, CallID: "c1", Tool: "t"})
	second.SessionID = "s2"
	log, rejects := feed(t, "agent", true, first, result, grant, second)
	at := placement.New(make([]byte, 32), partitions).Of("acme", "bot")
	if len(rejects) != 0 || len(log[at]) != 4 {
		t.Fatalf("partition %d has %d of 4 records, %d are rejected", at, len(log[at]), len(rejects))
	}
	for _, ev := range log[at] {
		if want := "agent:" + placement.Owner("bot"); ev.Trace != want {
			t.Errorf("%s is of trace %q, want %q", ev.Kind, ev.Trace, want)
		}
	}
}

func TestNewNeedsItsConfig(t *testing.T) {
	if _, err := New(Config{}); err == nil || errors.Is(err, ErrForeign) {
		t.Errorf("an empty configuration: %v", err)
	}
}
