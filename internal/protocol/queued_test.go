package protocol

import (
	"strings"
	"testing"

	"github.com/aspis-rv/aspis/pkg/schema"
)

// TestQueued counts what waits behind an open attempt, and nothing once it is settled.
func TestQueued(t *testing.T) {
	f := newFeed(DefaultRules())
	id := TraceID{"acme", "s"}
	opened := f.step(&schema.Event{Kind: schema.KindCall, Tenant: "acme", Trace: "s", SessionID: "s", CallID: "a", Digest: []byte{1}})
	for range 3 {
		f.step(&schema.Event{Kind: schema.KindMessage, Tenant: "acme", Trace: "s", SessionID: "s", Text: strings.Repeat("x", 10_000)})
	}
	if n, b := f.part.Queued(id); n != 3 || b < 30_000 || b > 36_000 {
		t.Errorf("%d records of %d bytes wait, want 3 of a little over 30000", n, b)
	}
	f.step(&schema.Event{Kind: schema.KindResolution, Tenant: "acme", Trace: "s", SessionID: "s", Resolution: &schema.Resolution{
		Attempt: opened[0].Attempt, Outcome: schema.SettledPermit, CallDigest: []byte{1},
	}})
	if n, b := f.part.Queued(id); n != 0 || b != 0 {
		t.Errorf("%d records of %d bytes wait after the call was settled", n, b)
	}
	if n, b := f.part.Queued(TraceID{"acme", "none"}); n != 0 || b != 0 {
		t.Errorf("%d records of %d bytes wait in a trace that does not exist", n, b)
	}
}
