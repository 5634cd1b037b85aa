package sim

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aspis-rv/aspis/pkg/verdict"
)

//nolint:gochecknoglobals // flags of a test binary are global
var (
	oneSeed  = flag.Uint64("seed", 0, "run the metamorphic tests with this seed only, and print the log")
	numSeeds = flag.Int("seeds", 240, "number of seeds of the metamorphic tests")
)

// seeds runs a test for each seed, of which it takes one in share, and prints how to
// repeat it.
func seeds(t *testing.T, share int, do func(t *testing.T, seed uint64)) {
	t.Helper()
	if *oneSeed != 0 {
		do(t, *oneSeed)
		return
	}
	n := *numSeeds / share
	if testing.Short() {
		n /= 10
	}
	for seed := uint64(1); seed <= uint64(max(n, 1)); seed++ { //nolint:gosec // a count
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			defer func() {
				if t.Failed() {
					t.Logf("repeat with: go test ./internal/sim -run '^%s$' -seed=%d", strings.Split(t.Name(), "/")[0], seed)
				}
			}()
			do(t, seed)
		})
	}
}

// deployment draws the deployment of a run; which does not matter to any decision.
func deployment(r *rand.Rand, policy string, seed uint64) setup {
	return setup{
		policy: policy, seed: seed, partitions: 1 + r.IntN(4), gates: 1 + r.IntN(3), composers: 1 + r.IntN(2),
		aspects: 1 + r.IntN(2), zeroBased: r.IntN(4) == 0, snapshotEvery: pick(r, 0, 1, 3, 17, 50),
		snapshotAfter: pick(r, 0, 200*time.Millisecond, 2*time.Second), direct: r.IntN(3) == 0,
	}
}

// outcome is what a run came to.
type outcome struct {
	counts    counts
	problems  []string
	decisions map[string]string // by session and call
	log       string
}

// play runs a workload in a deployment under some trouble and audits it.
func play(t *testing.T, s setup, plans []plan, k trouble, seed uint64) outcome {
	t.Helper()
	var out outcome
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, s)
		w.startAll()
		time.Sleep(time.Until(w.began.Add(1100 * time.Millisecond)))
		chance := rand.New(rand.NewPCG(seed, 2))
		for _, line := range rulesFor(chance, k) {
			rule, err := parseRule(strings.Fields(line))
			if err != nil {
				t.Fatal(err)
			}
			w.weather.add(rule)
		}
		stop := make(chan struct{})
		var mishaps, agents sync.WaitGroup
		mishaps.Go(func() { w.disturb(chance, k, stop) })
		for i := range plans {
			a := &actor{plan: &plans[i], w: w}
			agents.Go(a.run)
		}
		agents.Wait()
		close(stop)
		mishaps.Wait()
		w.settleAll()
		w.probe()
		out.counts = w.audit()
		out.problems = w.problems
		if h, err := w.fold(0); err == nil {
			out.decisions = w.decisions(h)
			if *oneSeed != 0 {
				out.log = h.String(w)
			}
		}
		w.close()
	})
	return out
}

// probe checks that a settled world works again: each gate permits a newcomer what
// every policy allows.
func (w *world) probe() {
	tool := map[string]string{"relay": "look", "consent": "get_time", "baseline": "read_file", "courier": "note", "registry": "note"}[w.setup.policy]
	for i := range w.setup.gates {
		at, name := fmt.Sprintf("gate%d", i+1), fmt.Sprintf("probe%d", i+1)
		if err := w.open(name, "newcomer", at); err != nil {
			w.problem("%s opens no session after the faults: %v", at, err)
			continue
		}
		if s := w.ask(asking{session: w.ledger.session(name), call: "p", tool: tool, gate: at}); !s.permit() {
			w.problem("%s refuses a newcomer after the faults: %s %s", at, s.answer.Reason, s.answer.Message)
		}
	}
	synctest.Wait()
}

// decisions lists what the log says became of each call.
func (w *world) decisions(h *history) map[string]string {
	out := map[string]string{}
	for k, c := range h.calls {
		if c.resolution != nil {
			out[w.sessionName(k.session)+"/"+k.call] = resolution(c.resolution)
		}
	}
	return out
}

// tally sums the counts of all seeds, so that no check passes because it had nothing
// to look at.
type tally struct {
	mu    sync.Mutex
	total counts
}

func (y *tally) add(n counts) {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.total.add(n)
}

func report(t *testing.T, what string, s setup, o outcome) {
	t.Helper()
	if len(o.problems) == 0 {
		return
	}
	t.Errorf("%s: %+v", what, s)
	for _, p := range o.problems[:min(len(o.problems), 10)] {
		t.Error(p)
	}
	if o.log != "" {
		t.Log(o.log)
	}
}

// TestFaults runs random workloads in random deployments under random faults. Every
// run is audited: the invariants hold on its log, and every call that was decided was
// decided as the offline runner decides it.
func TestFaults(t *testing.T) {
	var sum tally
	t.Run("seeds", func(t *testing.T) {
		seeds(t, 1, func(t *testing.T, seed uint64) { //nolint:thelper // it is the test
			r := rand.New(rand.NewPCG(seed, 1))
			policy := pick(r, "relay", "relay", "consent", "baseline", "courier", "courier", "registry", "registry")
			s := deployment(r, policy, seed)
			s.observe = r.IntN(10) == 0
			if r.IntN(3) == 0 {
				s.ttl = time.Duration(2+r.IntN(10)) * time.Second
			}
			if r.IntN(3) == 0 {
				s.evict = time.Duration(2+r.IntN(10)) * time.Second
			}
			k := trouble(seed % uint64(everything+1)) //nolint:gosec // small
			plans := workload(r, policy, 2+r.IntN(3), 6+r.IntN(8), true)
			o := play(t, s, plans, k, seed)
			report(t, k.String(), s, o)
			sum.add(o.counts)
		})
	})
	if n := sum.total; *oneSeed == 0 && !t.Failed() && (n.compared == 0 || n.weakened == 0 || n.holds == 0 || n.withdrawn == 0) {
		t.Errorf("the runs show too little: %+v", n)
	}
	t.Logf("%+v", sum.total)
}

// TestDeploymentDoesNotMatter runs the same workload in two deployments: partitions,
// gates, composers, owners, snapshots, offsets, doubled and repeated records differ;
// the decisions do not.
func TestDeploymentDoesNotMatter(t *testing.T) {
	var sum tally
	t.Run("seeds", func(t *testing.T) {
		seeds(t, 3, func(t *testing.T, seed uint64) { //nolint:thelper // it is the test
			r := rand.New(rand.NewPCG(seed, 3))
			policy := pick(r, "relay", "relay", "baseline", "courier", "registry")
			plans := workload(r, policy, 2+r.IntN(3), 6+r.IntN(6), false)
			plain := setup{policy: policy, seed: seed}
			first := play(t, plain, plans, none, seed)
			report(t, "plain", plain, first)
			other := deployment(r, policy, seed)
			second := play(t, other, plans, twice, seed)
			report(t, "other", other, second)
			sum.add(first.counts)
			healthy(t, first)
			healthy(t, second)
			if policy == "courier" || policy == "registry" { // which of several aspects is first to refuse, and so is named, is a matter of time
				for _, o := range []outcome{first, second} {
					for call, d := range o.decisions {
						o.decisions[call] = strings.Join(strings.Fields(d)[:min(2, len(strings.Fields(d)))], " ")
					}
				}
			}
			if maps.Equal(first.decisions, second.decisions) {
				return
			}
			for _, call := range slices.Sorted(maps.Keys(first.decisions)) {
				if a, b := first.decisions[call], second.decisions[call]; a != b {
					t.Errorf("%s: %s, but in %+v: %s", call, a, other, b)
				}
			}
			if *oneSeed != 0 {
				t.Log(first.log + "\n" + second.log)
			}
		})
	})
	if n := sum.total; *oneSeed == 0 && !t.Failed() && (n.compared == 0 || n.holds == 0 || n.refusals == 0) {
		t.Errorf("the runs show too little: %+v", n)
	}
	t.Logf("%+v", sum.total)
}

// healthy checks that nothing is refused for want of anything where nothing fails.
func healthy(t *testing.T, o outcome) {
	t.Helper()
	for call, d := range o.decisions {
		for _, reason := range verdict.Reasons() {
			switch reason {
			case verdict.Violation, verdict.Invalid, verdict.Unmapped, verdict.Late: // late: held until its deadline
				continue
			case verdict.Unknown, verdict.NoAnswer, verdict.Unrecorded, verdict.Busy, verdict.NotAdmitted:
			}
			if strings.Contains(d, string(reason)) {
				t.Errorf("nothing fails, but %s: %s", call, d)
			}
		}
	}
}
