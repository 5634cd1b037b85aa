package e2e_test

import (
	"context"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/aspis-rv/aspis/internal/bus"
	"github.com/aspis-rv/aspis/internal/protocol"
	"github.com/aspis-rv/aspis/pkg/client"
	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// rounds is how often TestKillingUnderLoad kills or pauses a process by default.
const rounds = 10

// loaders is the number of clients that keep making calls meanwhile.
const loaders = 6

// TestKillingUnderLoad kills and pauses random processes while clients make calls and
// repeat proposals. Then the log is audited: no permit was given that does not stand,
// nothing that stood is gone or otherwise, nothing is settled twice or left open, and
// no call was permitted twice.
func TestKillingUnderLoad(t *testing.T) {
	killingUnderLoad(t, startSeparate, rounds)
}

// TestTwoOfEach is the same where every role is there twice and clients propose their
// calls to either gate, or to both at a time.
func TestTwoOfEach(t *testing.T) {
	killingUnderLoad(t, startDouble, rounds/2)
}

func killingUnderLoad(t *testing.T, start func(testing.TB, string) *deployment, n int) {
	t.Helper()
	if testing.Short() {
		n = 2
	}
	if s := os.Getenv("ASPIS_E2E_ROUNDS"); s != "" {
		var err error
		if n, err = strconv.Atoi(s); err != nil {
			t.Fatalf("ASPIS_E2E_ROUNDS: %v", err)
		}
	}
	seed := seedOf(t)
	d := start(t, history)
	b := d.connect()
	watch, stopWatching := follow(t, b)
	got := newReceipts()
	stopLoad := load(t, d, seed, got)
	rng := newRand(seed)
	seen := map[place]settlement{}
	for i := range n {
		time.Sleep(time.Duration(100+rng.IntN(400)) * time.Millisecond)
		for at, s := range watch.seen() {
			if had, ok := seen[at]; ok && had != s {
				t.Errorf("what stood at %s changed from %+v to %+v", at, had, s)
			}
			seen[at] = s
		}
		disturb(t, d, rng, i)
	}
	time.Sleep(time.Second)
	stopLoad()
	final := settled(t, b)
	stopWatching()
	checkLedger(t, final, seen, got)
	if len(seen) == 0 || len(got.mu.permits) == 0 || len(got.mu.refused) == 0 {
		t.Errorf("nothing was tested: %d settlements seen, %d permits, %d refusals", len(seen), len(got.mu.permits), len(got.mu.refused))
	}
	t.Logf("%d records, %d calls settled, %d permits delivered; answers: %v", final.mu.records, len(final.mu.calls), len(got.mu.permits), got.mu.answers)
	d.stopAll()
	replayed(t, d)
}

// load starts clients and returns a function that stops them.
func load(t *testing.T, d *deployment, seed uint64, got *receipts) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var clients sync.WaitGroup
	for i := range loaders {
		c := loader{gates: []*client.Client{d.client(i)}, rng: newRand(seed + uint64(i) + 1), got: got}
		if d.twin != "" {
			c.gates = append(c.gates, client.New(d.twin, d.tokens[i], nil))
		}
		clients.Go(func() { c.run(ctx) })
	}
	return func() { cancel(); clients.Wait() }
}

// disturb kills a process and starts it again, or pauses it.
func disturb(t *testing.T, d *deployment, rng *rand.Rand, round int) {
	t.Helper()
	roles := slices.Sorted(maps.Keys(d.procs))
	role := roles[rng.IntN(len(roles))]
	pause := time.Duration(rng.IntN(700)) * time.Millisecond
	if rng.IntN(3) > 0 {
		t.Logf("round %d: %s is killed, and started again after %s", round, role, pause)
		d.restart(role, pause)
		return
	}
	pause *= 4 // beyond deadlines
	t.Logf("round %d: %s is paused for %s", round, role, pause)
	d.procs[role].pause()
	time.Sleep(pause)
	d.procs[role].resume()
}

// settled audits the log until every call in it is settled: the clock goes on, so their
// deadlines come.
func settled(t *testing.T, b bus.Bus) *ledger {
	t.Helper()
	for range 15 {
		l := audit(t, b)
		if l.unresolved() == 0 {
			return l
		}
		time.Sleep(time.Second)
	}
	return audit(t, b) // what is left open is reported
}

func checkLedger(t *testing.T, final *ledger, seen map[place]settlement, got *receipts) {
	t.Helper()
	for at, s := range seen {
		if now, ok := final.mu.settled[at]; !ok || now != s {
			t.Errorf("what stood at %s, %+v, is now %+v", at, s, now)
		}
	}
	for name, at := range final.mu.calls {
		if len(at) != 1 {
			t.Errorf("call %v is settled at %v", name, at)
		}
	}
	if n := got.mu.answers[string(verdict.Unknown)]; n > 0 {
		t.Errorf("%d calls were refused for want of evidence: some trace counts as incomplete or degraded", n)
	}
	for _, f := range final.mu.odd {
		t.Error(f)
	}
	if n := final.unresolved(); n > 0 {
		t.Errorf("%d calls are not settled", n)
	}
	standing := map[string]settlement{}
	for at, s := range final.mu.settled {
		standing[at.String()] = s
	}
	for name, permits := range got.mu.permits {
		if len(permits) != 1 {
			t.Errorf("call %v was permitted %d times: %s", name, len(permits), permits)
		}
		for _, p := range permits {
			s, ok := standing[p.position]
			if !ok || s.call != name || s.outcome != schema.SettledPermit || s.digest != p.digest {
				t.Errorf("the permit of %v says it stands at %s with digest %s; there stands %+v", name, p.position, p.digest, s)
			}
		}
		if final.mu.status[name] == protocol.CallWithdrawn {
			t.Errorf("the permit of %v was delivered and withdrawn", name)
		}
		if got.mu.refused[name] {
			t.Errorf("call %v was permitted and refused", name)
		}
	}
}
