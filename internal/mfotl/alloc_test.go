package mfotl_test

import (
	"os"
	"runtime"
	"strconv"
	"testing"

	"github.com/aspis-rv/aspis/internal/mfotl"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// TestStepAllocates holds the ceilings of allocations of a step.
func TestStepAllocates(t *testing.T) {
	plan := clauses(t)
	events := script()
	st := plan.New()
	i := 0
	step := func(facts []schema.Fact, commit bool) {
		st.Step(int64(i), uint64(i), facts)
		judge(st, plan.Formulas())
		if commit {
			st.Commit()
		} else {
			st.Rollback()
		}
		i++
	}
	for range 20 * len(events) {
		step(events[i%len(events)], true)
	}
	untouched := []schema.Fact{text("call", "ls"), text("tool", "sh")}
	silent := []schema.Fact{text("use", "ann", "vault"), text("approval", "drop users"), text("grant", "ann", "vault")}
	for _, c := range []struct {
		name  string
		facts []schema.Fact
		max   float64
	}{
		{"an event without facts", nil, 0},
		{"an event that no formula reads", untouched, 0},
		{"an event that changes windows and fires nothing", silent, 0},
		{"an event that fires", []schema.Fact{text("destructive", "drop all")}, 4},
	} {
		for _, commit := range []bool{true, false} {
			step(c.facts, true)
			if got := testing.AllocsPerRun(500, func() { step(c.facts, commit) }); got > c.max {
				t.Errorf("%s, commit %v: %v allocations, the ceiling is %v", c.name, commit, got, c.max)
			}
		}
	}
}

// TestHistoryStepAllocates holds the same ceilings for HISTORICALLY.
func TestHistoryStepAllocates(t *testing.T) {
	plan := compile(t,
		core(t, "p(x) AND HISTORICALLY[0,5] q(x)", "x"),
		core(t, "p(x) AND NOT (HISTORICALLY[2,9] q(x))", "x"),
		core(t, "p(x) AND HISTORICALLY[40,41] q(x)", "x"),
		core(t, "p(x) AND HISTORICALLY q(x)", "x"),
	)
	st := plan.New()
	i := 0
	step := func(facts []schema.Fact, commit bool) {
		st.Step(int64(i), uint64(i), facts)
		judge(st, plan.Formulas())
		if commit {
			st.Commit()
		} else {
			st.Rollback()
		}
		i++
	}
	for _, c := range []struct {
		name  string
		facts []schema.Fact
		max   float64
	}{
		{"an event without facts", nil, 0},
		{"an event that no formula reads", []schema.Fact{fact("z", 1)}, 0},
		{"an event that goes on with runs", []schema.Fact{fact("q", 1), fact("q", 2), presumptive(fact("q", 3))}, 0},
		{"an event that fires", []schema.Fact{fact("q", 1), fact("p", 2)}, 4},
	} {
		for _, commit := range []bool{true, false} {
			for range 100 {
				step(c.facts, true)
			}
			if got := testing.AllocsPerRun(500, func() { step(c.facts, commit) }); got > c.max {
				t.Errorf("%s, commit %v: %v allocations, the ceiling is %v", c.name, commit, got, c.max)
			}
		}
	}
}

// TestWorkloadAllocates holds that a step of any workload allocates nothing, adopted or
// not, if it opens nothing new: the events are those of the last time unit once more, so
// all that they enter into windows is there. Rows are read into a buffer.
func TestWorkloadAllocates(t *testing.T) {
	for _, w := range workloads() {
		plan := w.compile(t)
		st := plan.New()
		events := stream{log: w.log()}
		var buf mfotl.RowBuffer
		var ts int64
		var offset uint64
		step := func(facts []schema.Fact, commit bool) {
			offset++
			st.Step(ts, offset, facts)
			st.ReadRows(0, &buf)
			if commit {
				st.Commit()
			} else {
				st.Rollback()
			}
		}
		var last [64][]schema.Fact
		for i := range warmUp {
			ts, _, last[i%len(last)] = events.next()
			step(last[i%len(last)], true)
		}
		for _, commit := range []bool{true, false} {
			i := 0
			got := testing.AllocsPerRun(1000, func() {
				for range 8 {
					step(last[i%len(last)], commit)
					i++
				}
			})
			if got > 0 {
				t.Errorf("%s, commit %v: %v allocations in 8 events, want none", w.name, commit, got)
			}
		}
	}
}

// TestFlatMemory runs a million events through a window, of objects that all are new, and
// finds as much memory in use at the end as after the first tenth. With ASPIS_LONG set it
// is ten million.
func TestFlatMemory(t *testing.T) {
	events := 1_000_000
	switch {
	case testing.Short():
		events /= 10
	case os.Getenv("ASPIS_LONG") != "":
		events *= 10
	}
	for name, object := range map[string]func(i int) schema.Value{
		"numbers that return": func(i int) schema.Value { return schema.IntValue(int64(hash(i+7) % 10_000)) },
		"new numbers":         func(i int) schema.Value { return schema.IntValue(int64(i / 2)) },
		"new wide numbers":    func(i int) schema.Value { return schema.IntValue(1<<62 + int64(i/2)) },
		"new strings":         func(i int) schema.Value { return schema.StringValue("obj-" + strconv.Itoa(i/2)) },
	} {
		t.Run(name, func(t *testing.T) { flatMemory(t, events, object) })
	}
}

// flatMemory runs exports and consents at 10 a time unit. Every object is met twice.
func flatMemory(t *testing.T, events int, object func(i int) schema.Value) {
	t.Helper()
	plan := compile(t, core(t, "export(o) AND NOT (ONCE[0,24] consent(o))", "o"))
	st := plan.New()
	facts := make([]schema.Fact, 1)
	args := make([]schema.Value, 1)
	var buf mfotl.RowBuffer
	fired := 0
	var early uint64
	for i := range events {
		name := "export"
		if hash(i)%2 == 0 {
			name = "consent"
		}
		args[0] = object(i)
		facts[0] = schema.Fact{Name: name, Args: args}
		st.Step(int64(i/10), uint64(i), facts)
		fired += len(st.ReadRows(0, &buf))
		st.Commit()
		if i == events/10 {
			early = heap()
		}
	}
	late := heap()
	t.Logf("%d bytes in use after a tenth of %d events, %d after all", early, events, late)
	if late > early+early/20+16<<10 {
		t.Errorf("%d bytes in use after %d events, %d after a tenth of them", late, events, early)
	}
	if fired < events/5 || fired > events/2 {
		t.Errorf("%d of %d events fired: the workload is not the one intended", fired, events)
	}
	runtime.KeepAlive(st)
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
