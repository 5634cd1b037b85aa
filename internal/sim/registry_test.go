package sim

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// TestTextsAreJudged plays workloads about texts until every clause of the policy registry has
// refused something: what the other tests find in order is then not the order of an empty room.
func TestTextsAreJudged(t *testing.T) {
	const rounds = 24
	refused, permits := map[string]int{}, 0
	for seed := uint64(1); seed <= rounds; seed++ {
		r := rand.New(rand.NewPCG(seed, 7))
		s := setup{policy: "registry", seed: seed, snapshotEvery: 3}
		o := play(t, s, workload(r, s.policy, 3, 14, false), none, seed)
		report(t, "texts", s, o)
		permits += o.counts.permits
		for _, d := range o.decisions {
			for _, clause := range []string{"Sigma2", "Sigma3", "T1", "S1"} {
				if strings.HasPrefix(d, "refuse violation "+clause) {
					refused[clause]++
				}
			}
		}
	}
	for _, clause := range []string{"Sigma2", "Sigma3", "T1", "S1"} {
		if refused[clause] == 0 {
			t.Errorf("%s never refused a call: %v, %d permits", clause, refused, permits)
		}
	}
	t.Log(refused, permits)
}
