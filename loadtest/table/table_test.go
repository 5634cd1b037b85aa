package table_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/aspis-rv/aspis/loadtest/fleet"
	"github.com/aspis-rv/aspis/loadtest/measure"
	"github.com/aspis-rv/aspis/loadtest/table"
)

func row(loop string, sessions int) table.Row {
	return table.Row{
		Surface: "Go API", Workload: "ledger", Loop: loop, Sessions: sessions, Rate: 800, PerSecond: 799.6,
		Response: measure.Quantiles{P50: 150, P90: 300, P99: 700, P999: 900, Max: 1234.5},
		Service:  measure.Quantiles{P50: 140},
		Roles:    []table.Role{{Name: "gate", CPU: 100.4, RSS: 30}, {Name: "composer", CPU: 50.4, RSS: 20}},
		Counts:   fleet.Counts{Checked: 9, Permitted: 6, Refused: 3},
		Load:     [2]string{"0.10", "1.90"},
	}
}

func TestText(t *testing.T) {
	one, many := row("closed", 1), row("open", 256)
	one.Judge(table.InProcess)
	r := table.Report{Mode: "inprocess", Machine: "2 vCPU of some make", Go: "go1.26", Rows: []table.Row{one, many}}
	var s strings.Builder
	if err := r.WriteText(&s); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"loadtest inprocess on 2 vCPU of some make, go1.26",
		"calls/s  p50  p90  p99  p99.9   max  service p50  cpu/call  memory       load",
		"800  150  300  700    900  1234          140       151      50  0.10–1.90  ",
		"Go API, ledger, 1 session, closed loop",
		"Go API, ledger, 256 sessions, open loop, 800/s",
		"9 checked, 6 permits, 3 refusals, 0 wrong",
		"composer: 50 µs of processor time per call, 20 MiB",
		"bar: p50 150 µs, at most 200 µs: met",
		"bar: p99 700 µs, at most 600 µs: missed",
	} {
		if !strings.Contains(s.String(), want) {
			t.Errorf("the text lacks %q:\n%s", want, s.String())
		}
	}
}

func TestJSONHasWhatTheTextHas(t *testing.T) {
	one := row("closed", 64)
	one.Judge(table.InProcess)
	r := table.Report{Mode: "inprocess", Rows: []table.Row{one}}
	var s strings.Builder
	if err := r.WriteJSON(&s); err != nil {
		t.Fatal(err)
	}
	var back table.Report
	if err := json.Unmarshal([]byte(s.String()), &back); err != nil {
		t.Fatal(err)
	}
	got := back.Rows[0]
	if got.Response != one.Response || got.Counts.Checked != 9 || len(got.Roles) != 2 || got.Bars[0] != one.Bars[0] {
		t.Errorf("%+v came back from\n%s", got, s.String())
	}
}

func TestBars(t *testing.T) {
	for _, tc := range []struct {
		setting  table.Setting
		loop     string
		sessions int
		want     string
	}{
		{table.InProcess, "closed", 1, "p50 150 µs, at most 200 µs: met|p99 700 µs, at most 600 µs: missed"},
		{table.InProcess, "open", 1, "p50 150 µs, at most 200 µs: met|p99 700 µs, at most 600 µs: missed"},
		{table.InProcess, "closed", 64, "calls/s 800, to reach 8000: missed"},
		{table.InProcess, "open", 256, ""},
		{table.OverHTTP, "closed", 1, "p50 150 µs, at most 450 µs: met"},
		{table.OverHTTP, "closed", 64, "calls/s 800, to reach 3000: missed"},
		{table.Separate, "open", 1, "p50 150 µs, at most 1100 µs: met|p99 700 µs, at most 2500 µs: met"},
		{table.Separate, "open", 256, "p50 150 µs, at most 1700 µs: met|p99 700 µs, at most 6000 µs: met|p99.9 900 µs, at most 12000 µs: met"},
		{table.Separate, "closed", 64, "calls/s 800, to reach 6000: missed"},
		{table.Unbarred, "closed", 1, ""},
	} {
		r := row(tc.loop, tc.sessions)
		r.Judge(tc.setting)
		var got []string
		for _, b := range r.Bars {
			got = append(got, b.String())
		}
		if s := strings.Join(got, "|"); s != tc.want {
			t.Errorf("setting %d, %s loop, %d sessions: %q, want %q", tc.setting, tc.loop, tc.sessions, s, tc.want)
		}
	}
}

func TestAWrongAnswerSpoilsARow(t *testing.T) {
	r := row("open", 1)
	if err := r.Err(); err != nil {
		t.Error(err)
	}
	r.Counts.Wrong = 1
	if err := r.Err(); err == nil || !strings.Contains(err.Error(), "1 of 9 answers are wrong") {
		t.Errorf("got %v", err)
	}
}
