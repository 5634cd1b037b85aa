package hops

import (
	"strings"
	"testing"
	"time"

	"github.com/aspis-rv/aspis/pkg/schema"
)

func record(t *testing.T, kind schema.Kind) []byte {
	t.Helper()
	ev := &schema.Event{ID: "e", Tenant: "t", Trace: "s", Kind: kind, CallID: "c", SessionID: "s", Tool: "x", Actor: schema.Actor{ID: "a", Class: schema.ClassAgent}}
	if kind == schema.KindTick {
		ev.Tick = &schema.Tick{N: 1, Time: 1}
	}
	if kind == schema.KindResolution {
		ev.Resolution = &schema.Resolution{CallID: "c"}
	}
	data, err := ev.AppendBinary(nil)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestPathsFollowsACall gives one call's passings with ticks and a result between
// them, in disorder, and one call of which a passing is missing.
func TestPathsFollowsACall(t *testing.T) {
	verdict, err := (&schema.Verdict{Tenant: "t", Aspect: "temporal"}).AppendBinary(nil)
	if err != nil {
		t.Fatal(err)
	}
	call, tick, res, result := record(t, schema.KindCall), record(t, schema.KindTick), record(t, schema.KindResolution), record(t, schema.KindResult)
	tr := New(true)
	us := time.Microsecond
	tr.mu.marks = []mark{
		{at: 5 * us, point: gateReads, data: res}, // before any call
		{at: 10 * us, point: made},
		{at: 12 * us, point: aspectReads, data: tick},
		{at: 20 * us, point: gateAppends, data: call},
		{at: 60 * us, point: aspectEmits, data: verdict},
		{at: 40 * us, point: aspectReads, data: call},
		{at: 41 * us, point: composerHears, data: call},
		{at: 42 * us, point: gateReads, data: call},
		{at: 80 * us, point: composerReads, data: verdict},
		{at: 120 * us, point: composerMakes, data: res},
		{at: 150 * us, point: gateReads, data: res},
		{at: 190 * us, point: answered, told: "permit"},
		{at: 195 * us, point: composerKnows, data: res},
		{at: 196 * us, point: gateAppends, data: result},
		{at: 300 * us, point: made},
		{at: 320 * us, point: gateAppends, data: call},
		{at: 390 * us, point: answered, told: "refuse"},
	}
	r, err := tr.Report()
	if err != nil {
		t.Fatal(err)
	}
	if r.Calls != 1 || r.Partial != 1 {
		t.Errorf("%d calls followed, %d in part; want one of each", r.Calls, r.Partial)
	}
	want := []float64{10, 20, 20, 20, 40, 30, 40, 21, 75}
	for i, h := range r.Hops {
		if got := h.Permit.P50; got < want[i]-1 || got > want[i]+1 {
			t.Errorf("%s: %v µs, want %v", h.Name, got, want[i])
		}
	}
	if got := r.Whole.Permit.P50; got < 179 || got > 181 {
		t.Errorf("the whole is %v µs, want 180", got)
	}
	tr.apart = false
	together, err := tr.Report()
	if err != nil {
		t.Fatal(err)
	}
	if got := together.Hops[2].Permit.P50; got < 79 || got > 81 {
		t.Errorf("from the aspect to the resolution %v µs, want 80", got)
	}
	var s strings.Builder
	if err := r.WriteText(&s); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"22 %", "beside", "call to answer", "1 calls"} {
		if !strings.Contains(s.String(), want) {
			t.Errorf("the text lacks %q:\n%s", want, s.String())
		}
	}
}

func TestNothingFollowedIsAnError(t *testing.T) {
	if r, err := New(false).Report(); err == nil {
		t.Errorf("got %+v", r)
	}
}
