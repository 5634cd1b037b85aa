package e2e_test

import (
	"testing"
	"time"

	"github.com/aspis-rv/aspis/internal/corpus/agentdojo"
)

// players is the number of sessions played at a time.
const players = 8

// TestLiveMatchesReplay plays 500 recorded runs against one process under the
// shipped policy: what is refused is what a replay of the same runs refuses.
func TestLiveMatchesReplay(t *testing.T) {
	if testing.Short() {
		t.Skip("plays 500 runs")
	}
	live(t, startUp, baseline, recorded(t, 500, 1))
}

// TestLiveHistory is the same under a policy whose decisions depend on history.
func TestLiveHistory(t *testing.T) {
	if testing.Short() {
		t.Skip("plays 500 runs")
	}
	live(t, startUp, history, recorded(t, 500, 2))
}

// TestLiveGenerated is the same with generated runs, for want of a corpus.
func TestLiveGenerated(t *testing.T) {
	live(t, startUp, history, generated(40, newRand(seedOf(t))))
}

// live plays runs against a deployment that is stopped and started again half-way, in
// an orderly manner, and killed at the end.
func live(t *testing.T, start func(testing.TB, string) *deployment, policy string, runs []*agentdojo.Run) {
	t.Helper()
	want := reference(t, policy, runs)
	d := start(t, policy)
	var count tally
	began := time.Now()
	half := len(runs) / 2
	first, err := playAll(t, d, runs[:half], players, &count)
	if err != nil {
		t.Fatal(err)
	}
	d.stopAll()
	d.startAll()
	second, err := playAll(t, d, runs[half:], players, &count)
	t.Logf("live: %s, %s", &count, time.Since(began).Round(time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	same(t, runs, append(first, second...), want)
	d.killAll()
	replayed(t, d)
}
