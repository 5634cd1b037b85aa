package policies_test

import (
	"encoding/json"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aspis-rv/aspis/internal/node"
	"github.com/aspis-rv/aspis/internal/offline"
	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// TestClausesOnRandomCalls judges random calls under the bundle medevac and compares each
// decision, and the clauses that fire, with the clauses as they are written down in
// clauses_test.go.
func TestClausesOnRandomCalls(t *testing.T) {
	b := load(t, "medevac")
	engines, err := node.Engines(b)
	if err != nil {
		t.Fatal(err)
	}
	const runs, calls = 150, 60
	seen := map[string]int{}
	for seed := range uint64(runs) {
		r := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // repeatable
		var actions []action
		var events []*schema.Event
		at := time.Duration(0)
		for range calls {
			at += pick(r, 0, time.Minute, 30*time.Minute, time.Hour, time.Hour, 6*time.Hour, 12*time.Hour, 24*time.Hour, time.Second)
			a := randomAction(r, at)
			actions = append(actions, a)
			events = append(events, a.event(t))
		}
		decisions, err := offline.Run(offline.Config{Bundle: b, Engines: engines}, events)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		compareDecisions(t, seed, actions, decisions, seen)
	}
	for _, what := range []string{"permit", "flag", "refuse", "S1", "S2", "S3", "S4", "T1", "T2", "T3", "T4", "Sigma2", "Sigma2-marked"} {
		if seen[what] < 20 {
			t.Errorf("%s came %d times: too seldom to say anything", what, seen[what])
		}
	}
	t.Log(seen)
}

func compareDecisions(t *testing.T, seed uint64, actions []action, decisions []*offline.Decision, seen map[string]int) {
	t.Helper()
	w := newEvacuation()
	for i := range actions {
		a := &actions[i]
		after := w.apply(a)
		want := w.judge(a, after)
		decided, fired := "permit", []string(nil)
		for _, c := range slices.Sorted(maps.Keys(want.clauses)) {
			fired = append(fired, c+" "+map[mark]string{suggested: "Fp", certain: "F"}[want.clauses[c]])
		}
		switch {
		case want.refuses:
			decided = "refuse"
		case len(fired) > 0:
			decided = "flag"
		}
		got, gotFired := word(decisions[i])
		if got != decided || !slices.Equal(gotFired, fired) {
			t.Fatalf("seed %d, call %d: %+v got %s by %v, want %s by %v\nbefore it: %+v", seed, i, *a, got, gotFired, decided, fired, *w)
		}
		seen[decided]++
		for _, c := range fired {
			seen[c]++
			seen[strings.Fields(c)[0]]++
		}
		if decided != "refuse" {
			w = after
		}
	}
}

func word(d *offline.Decision) (decision string, fired []string) {
	for i := range d.Clauses {
		if v := d.Clauses[i].Value; v >= verdict.Fp {
			fired = append(fired, d.Clauses[i].ID+" "+v.String())
		}
	}
	slices.Sort(fired)
	switch {
	case !d.Permitted():
		return "refuse", fired
	case d.Flagged:
		return "flag", fired
	}
	return "permit", fired
}

func pick[T any](r *rand.Rand, from ...T) T { return from[r.IntN(len(from))] }

// randomAction is a call that is valid; what is unknown in it are places.
func randomAction(r *rand.Rand, at time.Duration) action {
	a := action{
		at: at, actor: "agent", record: pick(r, "A", "B", "C"), mission: pick(r, "m1", "m2"),
		tool: pick(r, "create_9line", "create_9line", "create_9line", "summarise_record", "summarise_record", "summarise_record", "stage_record", "stage_record", "replicate_record",
			"release_record", "release_record", "purge_replicas", "purge_replicas", "open_feed", "open_feed", "close_feed", "grant_pii_release", "grant_pii_release",
			"retention_release", "downgrade_record", "casualty_report", "casualty_report", "aeromedical_clearance", "launch_authority", "lower_precedence",
			"designate_lz", "plan_route", "launch_mission", "launch_mission", "observe_position", "request_protected_marking",
			"amend_manifest", "cross_flot", "cross_flot"),
	}
	cells := []string{
		"alpha", "bravo", "charlie", "open_1", "open_2", "ridge", "sam", "wp_1", "wp_2", "wp_3", "fires_box", "nowhere", "med_rear",
	}
	switch a.tool {
	case "create_9line", "summarise_record":
		a.record = pick(r, "A", "B", "C", "D", "E", "F", "G", "H")
		a.source, a.marking = pick(r, "A", "B", "C", "D"), pick(r, "", "", "PHI")
		a.text = pick(r, "litter", "litter", "patient stable", "litter svc no 7", "a rank of two", "graphics frankly surround outpatients")
		a.dest = pick(r, "med_fwd", "med_fwd", "med_fwd", "med_fwd", "c2_cop", "partner_med", "coalition_cop", "nowhere")
	case "stage_record", "replicate_record":
		a.dest = pick(r, "med_rear", "c2_cop", "partner_med", "coalition_cop", "log_enclave", "nowhere")
	case "release_record":
		a.record = pick(r, "A", "B", "C", "D", "E")
		a.dest = pick(r, "partner_med", "partner_med", "coalition_cop")
	case "purge_replicas":
		a.label = pick(r, "home", "forward", "rear", "medical_enclave", "cop")
	case "open_feed", "close_feed":
		a.src = pick(r, "med_fwd", "med_fwd", "c2_cop", "med_rear", "partner_med", "coalition_cop", "log_enclave")
		a.dest = pick(r, "med_rear", "c2_cop", "partner_med", "partner_med", "partner_med", "coalition_cop", "log_enclave")
	case "grant_pii_release":
		a.actor, a.record = pick(r, "agent", "command", "user"), pick(r, "A", "B", "C", "D", "E")
		a.dest = pick(r, "partner_med", "partner_med", "coalition_cop")
	case "downgrade_record":
		a.actor, a.record = pick(r, "agent", "command", "command"), pick(r, "A", "B", "C", "D", "E")
	case "retention_release":
		a.actor, a.record = pick(r, "agent", "command", "env"), pick(r, "A", "B", "C", "*")
	case "aeromedical_clearance", "launch_authority", "lower_precedence":
		a.actor = pick(r, "agent", "command", "command", "user")
	case "observe_position":
		a.actor, a.cell = pick(r, "agent", "env"), pick(r, cells...)
	case "casualty_report":
		a.precedence = pick(r, "urgent", "routine", "priority")
	case "designate_lz":
		a.cell = pick(r, cells...)
	case "plan_route":
		for range r.IntN(4) {
			a.cells = append(a.cells, pick(r, cells...))
		}
	case "amend_manifest":
		a.cargo, a.text = pick(r, "", "", "non_medical"), pick(r, "pallets", "surrounds", "forty rounds of it")
	}
	return a
}

// event is the call as it is recorded.
func (a *action) event(t *testing.T) *schema.Event {
	t.Helper()
	args := map[string]any{}
	switch a.tool {
	case "create_9line":
		args = map[string]any{"record": a.record, "text": a.text, "marking": a.marking, "home": a.dest}
	case "summarise_record":
		args = map[string]any{"source": a.source, "output": a.record, "text": a.text, "marking": a.marking, "home": a.dest}
	case "stage_record", "replicate_record":
		args = map[string]any{"record": a.record, "dest": a.dest}
	case "release_record":
		args = map[string]any{"record": a.record, "partner": a.dest, "dest": a.dest}
	case "purge_replicas":
		args = map[string]any{"record": a.record, "label": a.label}
	case "open_feed", "close_feed":
		args = map[string]any{"src": a.src, "dst": a.dest}
	case "grant_pii_release":
		args = map[string]any{"record": a.record, "partner": a.dest}
	case "retention_release", "downgrade_record":
		args = map[string]any{"record": a.record}
	case "casualty_report":
		args = map[string]any{"mission": a.mission, "precedence": a.precedence}
	case "designate_lz", "observe_position":
		args = map[string]any{"mission": a.mission, "cell": a.cell}
	case "plan_route":
		args = map[string]any{"mission": a.mission, "cells": append([]string{}, a.cells...)}
	case "amend_manifest":
		args = map[string]any{"mission": a.mission, "text": a.text, "cargo": a.cargo}
	default:
		args["mission"] = a.mission
	}
	text, err := json.Marshal(map[string]any{
		"session": "s1", "actor": map[string]string{"id": a.actor, "class": a.actor}, "tool": a.tool, "args": args, "ts": int64(a.at),
	})
	if err != nil {
		t.Fatal(err)
	}
	ev, err := schema.ParseEventJSON(text)
	if err != nil {
		t.Fatalf("%s: %v", strings.TrimSpace(string(text)), err)
	}
	return ev
}
