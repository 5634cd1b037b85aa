package e2e_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/aspis-rv/aspis/internal/corpus/agentdojo"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// gpt4o is the archive with all recorded runs.
const gpt4o = "agentdojo-gpt-4o-2024-05-13.tar.gz"

// recorded returns a sample of the recorded runs with calls, a tenth of them benign, or
// skips the test.
func recorded(t *testing.T, n int, seed uint64) []*agentdojo.Run {
	t.Helper()
	dir := os.Getenv("ASPIS_SHARED")
	if dir == "" {
		t.Skip("ASPIS_SHARED is not set: the recorded runs are not at hand")
	}
	paths := []string{filepath.Join(dir, "data", "traces", gpt4o)}
	benign, err := agentdojo.Sample(t.Context(), paths, n/10, seed, func(r *agentdojo.Run) bool { return r.HasChain() && r.Benign() })
	if err != nil {
		t.Fatal(err)
	}
	attacked, err := agentdojo.Sample(t.Context(), paths, n-n/10, seed, func(r *agentdojo.Run) bool { return r.HasChain() && r.Attacked() })
	if err != nil {
		t.Fatal(err)
	}
	suites := map[string]int{}
	runs := append(benign, attacked...)
	for _, r := range runs {
		suites[r.Suite]++
	}
	if len(suites) != 4 || len(runs) != n {
		t.Fatalf("the sample is one-sided: %d runs, suites %v", len(runs), suites)
	}
	newRand(seed).Shuffle(n, func(i, k int) { runs[i], runs[k] = runs[k], runs[i] })
	t.Logf("%d recorded runs, %v, %d attacked, %d benign", n, suites, len(attacked), len(benign))
	return runs
}

// seedOf returns the seed of a random test and prints how to repeat it.
func seedOf(t *testing.T) uint64 {
	t.Helper()
	seed := uint64(time.Now().UnixNano()) //nolint:gosec // positive until 2262
	if s := os.Getenv("ASPIS_E2E_SEED"); s != "" {
		var err error
		if seed, err = strconv.ParseUint(s, 10, 64); err != nil {
			t.Fatalf("ASPIS_E2E_SEED: %v", err)
		}
	}
	t.Logf("to repeat the random choices: ASPIS_E2E_SEED=%d go test ./internal/e2e -run '^%s$'", seed, t.Name())
	return seed
}

func newRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) } //nolint:gosec // chance is a seed

// generated returns runs made up of the tools that the history policy knows, in which
// about half of the calls are refused.
func generated(n int, rng *rand.Rand) []*agentdojo.Run {
	runs := make([]*agentdojo.Run, n)
	for i := range runs {
		g := generator{rng: rng, run: &agentdojo.Run{ID: fmt.Sprintf("generated/%d", i), Suite: "generated"}}
		g.message("user", fmt.Sprintf("task %d", i))
		for range 4 + rng.IntN(8) {
			g.turn()
		}
		runs[i] = g.run
	}
	return runs
}

type generator struct {
	rng *rand.Rand
	run *agentdojo.Run
}

func (g *generator) message(role, text string) {
	g.run.Steps = append(g.run.Steps, agentdojo.Step{Kind: agentdojo.StepMessage, Role: role, Text: text})
	g.run.Messages++
}

// turn adds one or two calls and then their results, as a model that calls in
// parallel does.
func (g *generator) turn() {
	if g.rng.IntN(6) == 0 {
		g.message("assistant", "next")
	}
	var results []agentdojo.Step
	for range 1 + g.rng.IntN(5)/4 {
		tool, args := g.call()
		id := "c" + strconv.Itoa(g.run.Calls)
		g.run.Calls++
		g.run.Steps = append(g.run.Steps, agentdojo.Step{
			Kind: agentdojo.StepCall, Role: "assistant", Tool: tool, CallID: id, Args: args, ArgsStatus: schema.PayloadOK,
		})
		res := agentdojo.Step{Kind: agentdojo.StepResult, Role: "tool", Tool: tool, CallID: id, Text: "done by " + id}
		if g.rng.IntN(8) == 0 {
			res.Text, res.Error = "", "it failed"
		}
		if g.rng.IntN(20) != 0 { // some calls never return
			results = append(results, res)
		}
	}
	g.run.Steps = append(g.run.Steps, results...)
}

func (g *generator) call() (tool string, args json.RawMessage) {
	pick := func(from ...string) string { return from[g.rng.IntN(len(from))] }
	switch g.rng.IntN(6) {
	case 0:
		return pick("read_file", "search_emails", "list_files"), json.RawMessage(`{}`)
	case 1:
		return "get_webpage", json.RawMessage(fmt.Sprintf(`{"url":"www.%d.example"}`, g.rng.IntN(3)))
	case 2:
		return pick("get_balance", "get_iban", "get_current_day"), json.RawMessage(`{}`)
	case 3:
		return pick("delete_file", "update_password", "create_file"), json.RawMessage(`{"id":"7"}`)
	}
	return pick("send_money", "send_direct_message"), json.RawMessage(fmt.Sprintf(`{"recipient":"X%d","amount":%d}`, g.rng.IntN(4), g.rng.IntN(100)))
}
