package protocol

import (
	"testing"

	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// TestWeakenedUntil: what weakens a trace says up to which time records may be missing.
func TestWeakenedUntil(t *testing.T) {
	const now = 1000 * second
	rules := DefaultRules()
	message := func(seq uint64, claimed int64) *schema.Event {
		return &schema.Event{
			Kind: schema.KindMessage, Tenant: "acme", Trace: "s", SessionID: "s", ClaimedTS: claimed,
			Producer: "gate", Incarnation: 1, Seq: seq,
		}
	}
	for name, tc := range map[string]struct {
		records  []*schema.Event
		evidence verdict.Completeness
		until    int64
	}{
		"nothing": {[]*schema.Event{message(1, now)}, verdict.Sound, 0},
		"a gap":   {[]*schema.Event{message(1, now), message(3, now)}, verdict.Degraded, now + rules.MaxSkew},
		"another policy": {[]*schema.Event{
			message(1, now), {Kind: schema.KindPolicy, Activation: &schema.Activation{Number: 2, Digest: []byte("other")}},
		}, verdict.Incomplete, now},
		"a clock ahead": {[]*schema.Event{message(1, 2*now)}, verdict.Degraded, now + rules.MaxSkew},
		"a second gap": {[]*schema.Event{
			message(1, now), message(3, now), {Kind: schema.KindTick, Tick: &schema.Tick{N: 2, Time: 2 * now}}, message(5, 2*now),
		}, verdict.Degraded, 2*now + rules.MaxSkew},
	} {
		f := newFeed(rules)
		f.tick(1, now)
		for _, ev := range tc.records {
			f.step(ev)
		}
		f.restart(t)
		call := proposed("s", "s", "c")
		call.ClaimedTS = 3 * now
		f.tick(3, 3*now)
		e := f.step(call)[0]
		if e.Kind != Opened || e.Evidence != tc.evidence || e.Weakened != tc.until {
			t.Errorf("%s: %s, weakened up to %d, want %s and %d", name, effectText(&e), e.Weakened, tc.evidence, tc.until)
		}
		f.restart(t)
		f.part.Opened(func(again *Effect) {
			if again.Weakened != e.Weakened {
				t.Errorf("%s: after a restart weakened up to %d", name, again.Weakened)
			}
		})
	}
}
