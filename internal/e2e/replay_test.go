package e2e_test

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"github.com/aspis-rv/aspis/internal/replay"
)

// replayed replays the retained log of a deployment whose processes have ended, in
// every way that must not matter, and fails where something differs from what the
// log holds.
func replayed(t *testing.T, d *deployment) {
	t.Helper()
	began := time.Now()
	once := replayLog(t, d, "--workers", "1")
	for name, flags := range map[string][]string{
		"4 workers":               {"--workers", "4"},
		"snapshots of its own":    {"--workers", "1", "--snapshot-every", "97"},
		"4 workers and snapshots": {"--workers", "4", "--snapshot-every", "31"},
	} {
		if again := replayLog(t, d, flags...); !bytes.Equal(once.lines, again.lines) {
			t.Errorf("replay with %s prints other lines", name)
		}
	}
	stored := replayLog(t, d, "--workers", "1", "--from-snapshots")
	for name, flags := range map[string][]string{
		"4 workers":   {"--workers", "4", "--from-snapshots"},
		"and its own": {"--workers", "4", "--from-snapshots", "--snapshot-every", "53"},
	} {
		if again := replayLog(t, d, flags...); !bytes.Equal(stored.lines, again.lines) {
			t.Errorf("replay from stored snapshots with %s prints other lines", name)
		}
	}
	c := &once.log
	if c.Verdicts == 0 || c.Decisions == 0 || once.summary.Calls == 0 {
		t.Errorf("the replay compared nothing: %+v", c)
	}
	if c.VerdictsEqual != c.Verdicts || c.DecisionsEqual != c.Decisions {
		t.Errorf("%d of %d part verdicts are equal to retained ones (%d are not retained), %d of %d decisions",
			c.VerdictsEqual, c.Verdicts, c.VerdictsAbsent, c.DecisionsEqual, c.Decisions)
	}
	if stored.log.Verdicts >= c.Verdicts {
		t.Errorf("the replay from stored snapshots computed %d part verdicts, that from the start %d: no snapshot was used", stored.log.Verdicts, c.Verdicts)
	}
	t.Logf("replays: %d records, %d part verdicts and %d decisions byte-equal; from stored snapshots %d part verdicts; %s", c.Records, c.VerdictsEqual,
		c.DecisionsEqual, stored.log.VerdictsEqual, time.Since(began).Round(time.Millisecond))
}

// replayOutput is what one `aspis replay --log` printed.
type replayOutput struct {
	lines   []byte // all but the last line
	summary replay.Summary
	log     replay.Comparison
}

func replayLog(t *testing.T, d *deployment, flags ...string) *replayOutput {
	t.Helper()
	out := d.run(append([]string{"aspis", "replay", "--json", "--policy", d.policy, "--log", d.log()}, flags...)...)
	at := bytes.LastIndexByte(bytes.TrimRight(out, "\n"), '\n') + 1
	var last struct {
		Summary replay.Summary    `json:"summary"`
		Log     replay.Comparison `json:"log"`
	}
	if err := json.Unmarshal(out[at:], &last); err != nil {
		t.Fatalf("%v: %.200s", err, out[at:])
	}
	if !last.Log.Equal() {
		t.Errorf("replay %v: %q", flags, last.Log.Mismatches)
	}
	return &replayOutput{lines: out[:at], summary: last.Summary, log: last.Log}
}
