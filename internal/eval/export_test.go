package eval

import (
	"testing"

	"github.com/aspis-rv/aspis/internal/corpus/agentdojo"
	"github.com/aspis-rv/aspis/pkg/policy"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// Provenance loads the shipped bundle that answers the parametric questions.
func Provenance(t *testing.T) *policy.Bundle {
	t.Helper()
	return provenance(t)
}

// Shared is the path of the recorded runs, or skips the test.
func Shared(t *testing.T) string {
	t.Helper()
	return shared(t, gpt4o)
}

// Replayed returns the facts of each step of a run, and by clause the steps on which it
// fires.
func Replayed(t *testing.T, b *policy.Bundle, run *agentdojo.Run) (facts [][]schema.Fact, fired map[string][]int) {
	t.Helper()
	r, err := newReplayer(b, monitors(t, b))
	if err != nil {
		t.Fatal(err)
	}
	h := history{calls: make(map[string]proposed)}
	for i, ev := range run.Events() {
		_, typing := r.input(&h, i, ev)
		facts = append(facts, typing.Facts)
		h.remember(i, ev, typing)
	}
	fired = map[string][]int{}
	r.replay(run, func(f firing) bool {
		id := b.Clauses[f.clause].ID
		fired[id] = append(fired[id], f.step)
		return true
	})
	return facts, fired
}
