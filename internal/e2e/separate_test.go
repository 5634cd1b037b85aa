package e2e_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/aspis-rv/aspis/internal/replay"
)

// TestSeparateProcesses is TestLiveHistory with every role and the broker in a process
// of its own.
func TestSeparateProcesses(t *testing.T) {
	if testing.Short() {
		t.Skip("plays 500 runs")
	}
	live(t, startSeparate, history, recorded(t, 500, 3))
}

// TestSeparateGenerated is the same with generated runs.
func TestSeparateGenerated(t *testing.T) {
	live(t, startSeparate, history, generated(40, newRand(seedOf(t))))
}

// ingested is a recorded session as `aspis ingest` takes it. It comes into the log at
// once, so that its calls wait for each other there.
const ingested = `{"session":"old","actor":"user","kind":"message","text":"pay the bill"}
{"session":"old","actor":"agent","tool":"read_file","call":"a","args":{"file_path":"bill.txt"}}
{"session":"old","actor":"tool","kind":"result","call":"a","result":"pay X1"}
{"session":"old","actor":"agent","tool":"send_money","call":"b","args":{"recipient":"X1"}}
{"session":"old","actor":"agent","tool":"get_iban","call":"c","args":{}}
{"session":"old","actor":"tool","kind":"result","call":"c","result":"DE1"}
{"session":"old","actor":"agent","tool":"send_money","call":"d","args":{"recipient":"X1"}}
`

// TestIngest appends a recorded session to the log of a running deployment, which
// judges it as if it were live.
func TestIngest(t *testing.T) {
	d := startSeparate(t, history)
	file := filepath.Join(d.dir, "old.jsonl")
	if err := os.WriteFile(file, []byte(ingested), 0o600); err != nil {
		t.Fatal(err)
	}
	out := d.run("ingest", "--json", "--policy", d.policy, "--nats", d.nats, "--keys", d.keyDir(), file)
	var counts struct{ Accepted, Rejected int }
	if err := json.Unmarshal(out, &counts); err != nil || counts.Accepted != 7 || counts.Rejected != 0 {
		t.Fatalf("ingest said %s, %v", out, err)
	}
	want := []outcome{{"read_file", "permit", "", ""}, {"send_money", "refuse", "violation", "H1"}, {"get_iban", "permit", "", ""}, {"send_money", "permit", "", ""}}
	var got []outcome
	for range 50 { // it is judged after ingest has ended
		if got = decided(t, replayLog(t, d).lines, "old"); len(got) == len(want) {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	if !slices.Equal(got, want) {
		t.Errorf("the ingested calls were decided %v, want %v", got, want)
	}
}

// decided returns what a replay printed about the calls of a session.
func decided(t *testing.T, lines []byte, session string) []outcome {
	t.Helper()
	var out []outcome
	for line := range bytes.Lines(lines) {
		var l replay.Line
		if err := json.Unmarshal(line, &l); err != nil {
			t.Fatal(err)
		}
		if l.Session == session {
			out = append(out, outcome{l.Tool, l.Decision, string(l.Reason), l.Clause})
		}
	}
	return out
}
