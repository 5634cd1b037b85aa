package monitor_test

import (
	"bytes"
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/aspis-rv/aspis/internal/monitor"
	"github.com/aspis-rv/aspis/pkg/aspects"
	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// The flags of the random comparisons.
var (
	seedFlag   = flag.Uint64("seed", 1, "first seed of the random comparison")   //nolint:gochecknoglobals // flags of a test binary are global
	eventsFlag = flag.Int("events", 12_000, "events that the comparison judges") //nolint:gochecknoglobals // flags of a test binary are global
)

// TestAgainstDefinition compares monitors with the executed definition, at every event of
// random traces: values and marks. Calls are refused, taken back and left in doubt;
// monitors are restored in between, and judging leaves no trace.
func TestAgainstDefinition(t *testing.T) {
	events := 0
	fired := map[string]int{}
	marks := map[verdict.Value]int{}
	for seed := *seedFlag; events < *eventsFlag; seed++ {
		g := newGenerator(seed)
		texts := []string{g.formula(), g.formula(), g.formula()}
		b, formulas := bundle(t, g.spec, texts...)
		engine, err := monitor.New(b, aspects.Spatial)
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, strings.Join(texts, "\n"))
		}
		r := run{g: g, engine: engine, m: engine.New(), straight: engine.New(), o: newOracle(g.spec, formulas)}
		for range 12 {
			r.event()
			events++
			for i, rows := range r.rows {
				for _, row := range rows {
					fired[texts[i]]++
					marks[row.Mark]++
				}
			}
			if r.wrong != "" {
				t.Fatalf("seed %d (repeat: go test ./internal/monitor -run TestAgainstDefinition -args -seed %d -events 1): %s\nworld %+v\n%s\n%s",
					seed, seed, r.wrong, *g.spec, strings.Join(texts, "\n"), r.log.String())
			}
		}
	}
	t.Logf("%d events judged, rows by mark %v", events, marks)
	for _, text := range templates {
		if *eventsFlag >= 10_000 && fired[text] == 0 {
			t.Errorf("never fired: %s", text)
		}
	}
}

// run is a trace with two monitors, one of which is restored again and again, and an oracle.
type run struct {
	g           *generator
	engine      *monitor.Engine
	m, straight aspects.Monitor
	o           *oracle
	rows        [][]schema.Row // of the last event
	log         strings.Builder
	wrong       string
}

// event judges an event, and most often adopts it.
func (r *run) event() {
	g := r.g
	if g.IntN(6) == 0 {
		end := g.end()
		fmt.Fprintf(&r.log, "settle %v\n", end)
		r.m.(aspects.Settler).Settle(end)
		r.straight.(aspects.Settler).Settle(end)
		r.o.settle(end)
	}
	in := g.event()
	fmt.Fprintf(&r.log, "@%d #%d facts %v edits %+v call %q ended %v\n", in.Timestamp/1e9, in.Offset, in.Facts, in.Edits, in.Call, in.Ended)
	before := r.m.AppendState(nil)
	parts := r.m.Judge(in)
	if !bytes.Equal(before, r.m.AppendState(nil)) {
		r.wrong = "judging changed the state"
	}
	r.rows = r.o.judge(&in)
	for i, want := range r.rows {
		var got []schema.Row
		if at := slices.IndexFunc(parts, func(p schema.Part) bool { return p.Clause == fmt.Sprintf("%02d", i) }); at >= 0 {
			got = parts[at].Rows
		}
		if !slices.EqualFunc(got, want, func(a, b schema.Row) bool { return a.Mark == b.Mark && slices.Equal(a.Values, b.Values) }) {
			r.wrong = fmt.Sprintf("formula %d:\n got %v\nwant %v", i, got, want)
		}
	}
	if g.IntN(4) == 0 {
		fmt.Fprintf(&r.log, "  refused\n")
		return
	}
	if g.IntN(3) == 0 {
		r.m.Judge(g.event())
	}
	r.m.Adopt(in)
	r.straight.Adopt(in)
	r.o.adopt()
	if in.Call != "" {
		g.calls = append(g.calls, in.Call)
	}
	if !bytes.Equal(r.m.AppendState(nil), r.straight.AppendState(nil)) {
		r.wrong = "equal traces, unequal states"
	}
	if g.IntN(4) == 0 {
		saved := r.m.AppendState(nil)
		restored, err := r.engine.Restore(saved)
		if err != nil {
			r.wrong = err.Error()
			return
		}
		if r.m = restored; !bytes.Equal(saved, r.m.AppendState(nil)) {
			r.wrong = "restoring changed the state"
		}
	}
}
