package e2e_test

import (
	"testing"

	"github.com/aspis-rv/aspis/internal/corpus/agentdojo"
	"github.com/aspis-rv/aspis/internal/node"
	"github.com/aspis-rv/aspis/internal/offline"
	"github.com/aspis-rv/aspis/pkg/policy"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// outcome is what was decided about one call.
type outcome struct {
	Tool, Decision, Reason, Clause string
}

func (o outcome) refused() bool { return o.Decision != verdict.Permit.String() }

// reference decides the calls of runs offline, where a call takes effect if and only
// if it is permitted: by run and call, in recorded order.
func reference(t *testing.T, dir string, runs []*agentdojo.Run) [][]outcome {
	t.Helper()
	b, found := policy.Load(dir)
	if b == nil || found.HasErrors() {
		t.Fatal(found)
	}
	engines, err := node.Engines(b)
	if err != nil {
		t.Fatal(err)
	}
	out := make([][]outcome, len(runs))
	calls, refused := 0, 0
	for i, r := range runs {
		decisions, err := offline.Run(offline.Config{Bundle: b, Engines: engines}, r.Events())
		if err != nil {
			t.Fatalf("%s: %v", r.ID, err)
		}
		for _, d := range decisions {
			o := outcome{Tool: d.Event.Tool, Decision: verdict.Permit.String()}
			if reason, clause, no := d.Refusal(); no {
				o.Decision, o.Reason, o.Clause = verdict.Refuse.String(), string(reason), clause
				refused++
			}
			out[i] = append(out[i], o)
		}
		calls += len(decisions)
	}
	t.Logf("offline: %d calls, %d refused", calls, refused)
	// A comparison in which hardly anything is refused, or permitted, says little.
	if refused*20 < calls || (calls-refused)*20 < calls {
		t.Fatalf("%d of %d calls are refused: less than a twentieth of one kind", refused, calls)
	}
	return out
}

// same compares what was decided live with the reference, call by call.
func same(t *testing.T, runs []*agentdojo.Run, live, want [][]outcome) {
	t.Helper()
	differ := 0
	for i, r := range runs {
		if len(live[i]) != len(want[i]) {
			t.Errorf("%s: %d calls were decided live, %d offline", r.ID, len(live[i]), len(want[i]))
			continue
		}
		for k := range want[i] {
			if live[i][k] == want[i][k] {
				continue
			}
			if differ++; differ <= 10 {
				t.Errorf("%s, call %d: live %v, offline %v", r.ID, k, live[i][k], want[i][k])
			}
		}
	}
	if differ > 0 {
		t.Errorf("%d calls were decided otherwise than offline", differ)
	}
}
