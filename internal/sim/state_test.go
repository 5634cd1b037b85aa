package sim

import (
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aspis-rv/aspis/internal/bus"
)

// TestRefusedCallsLeaveTheMonitors looks at the running workers after every call: a
// refused one, for whatever reason, leaves the committed state of every monitor as it
// was, to the bit; a permitted one does not (invariant 2).
func TestRefusedCallsLeaveTheMonitors(t *testing.T) {
	refused, permitted := 0, 0
	for seed := uint64(1); seed <= 16; seed++ {
		synctest.Test(t, func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 5))
			policy := pick(r, "relay", "consent", "baseline", "courier", "registry", "registry")
			w := newWorld(t, setup{policy: policy, aspects: 2, partitions: 2, seed: seed})
			w.startAll()
			time.Sleep(time.Until(w.began.Add(1100 * time.Millisecond)))
			if err := w.open("s", "agent-1", "gate1"); err != nil {
				t.Fatal(err)
			}
			before := w.states(t)
			for i := range 40 {
				p := tools(r, policy, fmt.Sprint("c", i))
				said := w.ask(asking{session: w.ledger.session("s"), call: p.id, tool: p.tool, args: p.args})
				synctest.Wait()
				after := w.states(t)
				switch {
				case after[0] != after[1]:
					t.Errorf("seed %d: two owners disagree after %s %s", seed, p.tool, p.args)
				case said.permit() && after[0] == before[0]:
					t.Errorf("seed %d: permitting %s %s changed nothing", seed, p.tool, p.args)
				case !said.permit() && after[0] != before[0]:
					t.Errorf("seed %d: refusing %s %s (%s) changed the monitors", seed, p.tool, p.args, said.answer.Reason)
				}
				if said.permit() {
					permitted++
				} else {
					refused++
				}
				if said.permit() && !p.silent {
					_ = w.result(w.ledger.session("s"), "gate1", p.id, p.status, p.result)
				}
				if tool, args := grants(r, policy); r.IntN(4) == 0 {
					_ = w.grant(w.ledger.session("s"), "gate1", "user-1", tool, args)
				}
				time.Sleep(time.Duration(r.IntN(100)) * unit)
				before = w.states(t)
			}
			w.close()
		})
	}
	if refused < 50 || permitted < 50 {
		t.Errorf("only %d refused and %d permitted calls were looked at", refused, permitted)
	}
}

// states are the state hashes of the two workers, over all of their aspects.
func (w *world) states(t *testing.T) [2][sha256.Size]byte {
	t.Helper()
	var out [2][sha256.Size]byte
	for i, role := range []string{"aspect1", "aspect2"} {
		all := sha256.New()
		for _, a := range w.get(role).aspects {
			sum, err := a.StateHash(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			all.Write(sum[:])
		}
		out[i] = [sha256.Size]byte(all.Sum(nil))
	}
	return out
}

// TestOwnersPublishTheSameBytes compares the verdict records of two owners of one
// partition, one of which is restarted on the way.
func TestOwnersPublishTheSameBytes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, setup{policy: "relay", aspects: 2, snapshotEvery: 3})
		w.startAll()
		time.Sleep(time.Until(w.began.Add(1100 * time.Millisecond)))
		if err := w.open("s", "agent-1", "gate1"); err != nil {
			t.Fatal(err)
		}
		const calls = 20
		for i := range calls {
			w.ask(asking{session: w.ledger.session("s"), call: fmt.Sprint("c", i), tool: "deploy", args: `{"host":"h1"}`})
			if i == calls/2 {
				w.stop("aspect2")
				w.start("aspect2")
				if err := w.ready("aspect2", time.Minute); err != nil {
					t.Fatal(err)
				}
			}
		}
		synctest.Wait()
		recs, err := readAll(w.log, bus.Verdicts, 0)
		if err != nil {
			t.Fatal(err)
		}
		distinct := map[string]bool{}
		for _, rec := range recs {
			distinct[string(rec.Data)] = true
		}
		// An owner that starts from the snapshot of the other leaves out what that one
		// has published, so that not every verdict is there twice.
		if len(distinct) != calls || len(recs) < 2*calls-3 {
			t.Errorf("%d records, %d of them distinct, on %d calls", len(recs), len(distinct), calls)
		}
		w.close()
	})
}
