package model

import (
	"flag"
	"testing"
	"time"
)

var deep = flag.Bool("deep", false, "explore the model within larger bounds: some ten million states, some minutes, 1.5 GB") //nolint:gochecknoglobals // flags of a test binary are global

// What the default exploration must reach.
const (
	minStates = 1_000_000
	minLogs   = 20_000 // of TestReadersAgree
)

// bounds are the explorations. Each is exhaustive: it ends because there is no
// state left within its bounds.
func bounds() []config {
	return []config{
		{name: "two calls, an authority", log: 5, grant: true, callB: true, atLeast: 700_000},
		{name: "two calls, a longer log", log: 7, callB: true, atLeast: 900_000},
		{name: "two calls, a fault", log: 4, faults: 1, callB: true, atLeast: 500_000},
		{name: "one call, two composers, two faults", log: 6, faults: 2, second: true, plain: true, atLeast: 1_000_000},
		{name: "one call, two composers, an authority", log: 9, grant: true, second: true, plain: true, atLeast: 150_000},
		{name: "one call at two gates, a fault", log: 5, faults: 1, repeat: true, atLeast: 1_000_000},
	}
}

// deepBounds are for a machine with time.
func deepBounds() []config {
	return []config{
		{name: "two calls, an authority", log: 6, grant: true, callB: true},
		{name: "two calls, two composers, an authority", log: 5, grant: true, callB: true, second: true},
		{name: "two calls, two composers", log: 6, callB: true, second: true},
		{name: "two calls at two gates", log: 5, callB: true, repeat: true},
		{name: "two calls, a fault", log: 5, faults: 1, callB: true},
		{name: "one call at two gates, an authority", log: 7, grant: true, repeat: true},
		{name: "one call, two composers, an authority, a fault", log: 7, grant: true, second: true, faults: 1},
	}
}

// TestModel explores the protocol as written and finds no violation.
func TestModel(t *testing.T) {
	list := bounds()
	if *deep {
		list = append(list, deepBounds()...)
	}
	if raced {
		list = list[4:5]
	}
	states, logs := 0, 0
	for i := range list {
		cfg := &list[i]
		start := time.Now()
		sample := &tie{nth: 1, seen: map[[maxLog]record]struct{}{}}
		e := explore(cfg, 0, sample.log)
		t.Logf("%-46s %8d states, %9d steps, depth %d, %6d ends, %6d logs, %5d of them by the real fold, %v", cfg.name,
			len(e.nodes), e.steps, e.depth, e.ends, len(sample.seen), sample.folded, time.Since(start).Round(time.Millisecond))
		states += len(e.nodes)
		logs += sample.folded
		if e.violation != "" {
			t.Errorf("%s: %s\n%s", cfg.name, e.violation, e.path())
		}
		if sample.err != nil {
			t.Errorf("%s: %v", cfg.name, sample.err)
		}
		if len(e.nodes) < cfg.atLeast || e.ends == 0 {
			t.Errorf("%s: %d states and %d ends: the exploration has lost its subject", cfg.name, len(e.nodes), e.ends)
		}
	}
	t.Logf("%d distinct states; %d logs were folded by the real code", states, logs)
	if !raced && states < minStates {
		t.Errorf("explored %d states, want %d", states, minStates)
	}
}

// TestLoosenedRules makes one rule at a time looser. The model has to notice, or it
// proves nothing about the rule.
func TestLoosenedRules(t *testing.T) {
	one := config{log: 6, grant: true, plain: true}
	two := config{log: 7, grant: true, callB: true}
	brief := config{log: 3}
	short := config{log: 6, callB: true}
	gates := config{log: 6, repeat: true}
	fault := config{log: 6, faults: 1}
	within := map[mutation]config{
		lastWins: one, matchByCall: one, noReadBack: one, expiredIsNotTerminal: one, grantsDoNotReopen: one,
		refusedCallsLeaveTraces: one, decideOnOnePart: one, permitAfterDeadline: one,
		ticksDoNotExpire: brief, neverBornExpired: brief,
		keyByTimePoint: two, resultsPass: two, holdsLookForwardOnly: short,
		duplicatesCount: fault,
		anyGateDelivers: gates, anyGateWithdraws: gates, repeatsAreJudgedAfresh: gates,
	}
	for m := asWritten + 1; m < mutations; m++ {
		rule, what := m.loosened()
		cfg, ok := within[m]
		if !ok {
			t.Fatalf("no bounds for %q", what)
		}
		if raced && (cfg.callB || cfg.repeat) {
			continue // many states; see raced
		}
		cfg.rule = m
		start := time.Now()
		e := explore(&cfg, 1_000_000, nil)
		if e.violation == "" {
			t.Errorf("rule %s: %s, and the model finds nothing in %d states", rule, what, len(e.nodes))
			continue
		}
		t.Logf("rule %s: %s\n%s, after %d states (%v):\n%s", rule, what, e.violation, len(e.nodes), time.Since(start).Round(time.Millisecond), e.path())
	}
}

// TestReadersAgree folds logs of any records, also such as no process would write,
// by the model's reader and by the real one.
func TestReadersAgree(t *testing.T) {
	records := []record{
		recGrant, recTick + 1, recTick + 2, recResult + callA, recResult + callB,
		by(recCall, callA, 0, 0), by(recCall, callA, 1, 0), by(recCall, callB, 1, 0),
		by(recExpired, callA, 0, 0), by(recExpired, callB, 1, 0), by(recWithdrawn, callA, 0, 0), by(recWithdrawn, callB, 1, 0),
	}
	for o := range uint8(3) {
		records = append(records, resolve(o, permit), resolve(o, refuse), resolve(o, hold))
	}
	start := time.Now()
	count, folded, nth := 0, 0, 87
	if raced {
		nth *= 10
	}
	var extend func(r reader, depth int)
	extend = func(r reader, depth int) {
		if count++; count%nth == 0 && r.n > 0 {
			folded++
			if err := compare(&r); err != nil {
				t.Fatalf("%v\n%s", err, listing(&r))
			}
		}
		if depth == 0 {
			return
		}
		for _, rec := range records {
			next := r
			next.step(rec)
			extend(next, depth-1)
		}
	}
	extend(read(asWritten, []record{by(recCall, callA, 0, 0)}), 4)
	extend(read(asWritten, []record{by(recCall, callA, 0, 0), resolve(0, permit), by(recCall, callB, 1, 0)}), 4)
	extend(read(asWritten, []record{by(recCall, callA, 0, 0), by(recCall, callB, 1, 0), resolve(0, permit)}), 5)
	t.Logf("%d logs, %d of them by the real fold, %v", count, folded, time.Since(start).Round(time.Millisecond))
	if !raced && folded < minLogs {
		t.Errorf("%d logs were folded by the real code, want %d", folded, minLogs)
	}
}
