package mfotl_test

import (
	"runtime"
	"testing"

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

// TestFlatMemory runs a million events through a window and finds as much memory in
// use at the end as after the first tenth.
func TestFlatMemory(t *testing.T) {
	events := 1_000_000
	if testing.Short() {
		events /= 10
	}
	plan := compile(t, core(t, "export(o) AND NOT (ONCE[0,24] consent(o))", "o"))
	st := plan.New()
	facts := make([]schema.Fact, 1)
	args := make([]schema.Value, 1)
	fired := 0
	var early uint64
	for i := range events {
		name := "export"
		if hash(i)%2 == 0 {
			name = "consent"
		}
		args[0] = schema.IntValue(int64(hash(i+7) % 10_000))
		facts[0] = schema.Fact{Name: name, Args: args}
		st.Step(int64(i/10), uint64(i), facts)
		fired += len(st.Rows(0))
		st.Commit()
		if i == events/10 {
			early = heap()
		}
	}
	late := heap()
	if late > early+256<<10 {
		t.Errorf("%d bytes in use after %d events, %d after a tenth of them", late, events, early)
	}
	if fired < events/4 || fired > events/2 {
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
