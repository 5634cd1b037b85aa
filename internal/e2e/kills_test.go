package e2e_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/aspis-rv/aspis/internal/corpus/agentdojo"
)

// TestKills plays recorded runs while each process is killed and started again. What
// is refused stays what the replay refuses, call by call: no history is lost, and none
// counts twice.
func TestKills(t *testing.T) {
	if testing.Short() {
		t.Skip("plays 500 runs")
	}
	rng := newRand(seedOf(t))
	kills(t, startSeparate, recorded(t, 500, 4), rng, roleAspect, roleComposer, roleGate, roleBroker)
}

// TestKillsGenerated is the same with generated runs.
func TestKillsGenerated(t *testing.T) {
	rng := newRand(seedOf(t))
	kills(t, startSeparate, generated(80, rng), rng, roleAspect, roleComposer, roleGate, roleBroker)
}

// TestKillsUp kills the one process with all roles in it, twice.
func TestKillsUp(t *testing.T) {
	rng := newRand(seedOf(t))
	kills(t, startUp, generated(80, rng), rng, roleUp, roleUp)
}

// kills plays runs and, while they are played, kills the given roles in random order.
// Half-way everything but the broker is stopped in an orderly manner, which leaves
// snapshots.
func kills(t *testing.T, start func(testing.TB, string) *deployment, runs []*agentdojo.Run, rng *rand.Rand, roles ...string) {
	t.Helper()
	want := reference(t, history, runs)
	total := 0
	for _, w := range want {
		total += len(w)
	}
	d := start(t, history)
	var count tally
	var got [][]outcome
	var err error
	began := time.Now()
	played := make(chan struct{})
	go func() {
		defer close(played)
		got, err = playAll(t, d, runs, players, &count)
	}()
	rng.Shuffle(len(roles), func(i, k int) { roles[i], roles[k] = roles[k], roles[i] })
	roles = slices.Insert(roles, len(roles)/2, "")
	for i, role := range roles {
		// Somewhere in the i-th of as many parts as there are roles, and one more.
		at := (float64(i) + 0.3 + 0.7*rng.Float64()) / float64(len(roles)+1)
		awaitCalls(played, &count, int(at*float64(total)))
		if role == "" {
			t.Logf("%s: everything is stopped after %d of %d calls, and started again", time.Since(began).Round(time.Millisecond), count.decided(), total)
			d.stopAll()
			d.startAll()
			continue
		}
		pause := time.Duration(rng.Int64N(int64(500 * time.Millisecond)))
		t.Logf("%s: %s is killed after %d of %d calls, and started again after %s",
			time.Since(began).Round(time.Millisecond), role, count.decided(), total, pause.Round(time.Millisecond))
		d.restart(role, pause)
	}
	<-played
	t.Logf("live: %s, %s", &count, time.Since(began).Round(time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	same(t, runs, got, want)
	d.killAll()
	replayed(t, d)
}

// awaitCalls returns when n calls were decided, or everything is played.
func awaitCalls(played <-chan struct{}, count *tally, n int) {
	for count.decided() < n {
		select {
		case <-played:
			return
		case <-time.After(2 * time.Millisecond):
		}
	}
}
