package eval

import (
	"encoding/json"
	"errors"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/aspis-rv/aspis/internal/corpus"
	"github.com/aspis-rv/aspis/internal/corpus/agentdojo"
	"github.com/aspis-rv/aspis/internal/eval/stats"
	"github.com/aspis-rv/aspis/pkg/aspects"
	"github.com/aspis-rv/aspis/pkg/aspects/temporal"
	"github.com/aspis-rv/aspis/pkg/policy"
	"github.com/aspis-rv/aspis/policies"
)

// shared is the path of a recorded corpus, or skips the test.
func shared(t *testing.T, name string) string {
	t.Helper()
	dir := os.Getenv("ASPIS_SHARED")
	if dir == "" {
		t.Skip("ASPIS_SHARED is not set: the recorded corpora are not at hand")
	}
	return filepath.Join(dir, "data", "traces", name)
}

// gpt4o is the archive with all runs behind the published figures.
const gpt4o = "agentdojo-gpt-4o-2024-05-13.tar.gz"

// baseline loads the shipped bundle of the published obligations.
func baseline(t *testing.T) *policy.Bundle {
	t.Helper()
	files, err := policies.FS(publishedPolicy)
	if err != nil {
		t.Fatal(err)
	}
	bundle, found := policy.LoadFS(files)
	if bundle == nil {
		t.Fatalf("the bundle %s has errors: %v", publishedPolicy, found)
	}
	return bundle
}

// monitors makes the engines of a bundle.
func monitors(t *testing.T, bundle *policy.Bundle) []aspects.Engine {
	t.Helper()
	engine, err := temporal.New(bundle)
	if err != nil {
		t.Fatal(err)
	}
	return []aspects.Engine{engine}
}

// TestFiguresOfGPT4o replays the published runs and compares every figure with the
// published one, and the whole output with the recorded one.
func TestFiguresOfGPT4o(t *testing.T) {
	bundle := baseline(t)
	got, err := AgentDojo(t.Context(), []string{shared(t, gpt4o)}, bundle, Options{Engines: monitors(t, bundle)})
	if err != nil {
		t.Fatal(err)
	}
	checkPublished(t, got)
	if got.paper() == nil {
		t.Error("the published figures are not printed beside the measured ones")
	}
	golden(t, "gpt-4o.json", asJSON(t, got))
}

// TestMonitorsAgreeWithTheRule compares, run by run, where each obligation first
// fires with what the published rule says on its own.
func TestMonitorsAgreeWithTheRule(t *testing.T) {
	paths := []string{shared(t, gpt4o), shared(t, "agentdojo.tar.gz")}
	if n := compareWithOracle(t, paths); n < 7000 {
		t.Errorf("compared %d runs, want those of both archives", n)
	}
}

// compareWithOracle returns the number of runs compared.
func compareWithOracle(t *testing.T, paths []string) int {
	t.Helper()
	bundle := baseline(t)
	r, err := newReplayer(bundle, monitors(t, bundle))
	if err != nil {
		t.Fatal(err)
	}
	type pair struct{ got, want outcome }
	compared := 0
	for p, err := range agentdojo.Map(t.Context(), paths, agentdojo.Options{}, func(run *agentdojo.Run) (pair, error) {
		return pair{r.run(run), oracle(run)}, nil
	}) {
		if err != nil {
			t.Fatal(err)
		}
		compared++
		if !slices.Equal(p.got.first, p.want.first) {
			t.Errorf("%s: first firings %v, the rule says %v", p.want.id, p.got.first, p.want.first)
		}
	}
	return compared
}

// TestMonitorsAgreeWithTheRuleAtRandom does so on chains in which every class and
// approvals occur, which the recorded runs lack.
func TestMonitorsAgreeWithTheRuleAtRandom(t *testing.T) {
	const seed = 20250101
	random := rand.New(rand.NewPCG(seed, 0))
	bundle := baseline(t)
	r, err := newReplayer(bundle, monitors(t, bundle))
	if err != nil {
		t.Fatal(err)
	}
	words := slices.Concat(append(oracleClasses(), oracleApproval(), oracleReading(), []string{"", "x", "Mail", "room"})...)
	word := func() string { return words[random.IntN(len(words))] }
	fired := 0
	for n := range 3000 {
		run := &agentdojo.Run{ID: "random"}
		for range random.IntN(6) {
			tool := strings.ToUpper(word()) + word() + "_t"
			if random.IntN(2) == 0 {
				tool = strings.ToLower(tool)
			}
			id := strconv.Itoa(run.Calls)
			run.Calls++
			run.Steps = append(run.Steps,
				agentdojo.Step{Kind: agentdojo.StepCall, Role: "assistant", Tool: tool, CallID: id},
				agentdojo.Step{Kind: agentdojo.StepResult, Role: "tool", Tool: tool, CallID: id})
		}
		got := r.run(run)
		want := oracle(run)
		if want.fired() {
			fired++
		}
		if !slices.Equal(got.first, want.first) {
			t.Fatalf("seed %d, run %d: first firings %v, the rule says %v, on %+v;\nrepeat with go test ./internal/eval -run AtRandom", seed, n, got.first, want.first, run.Steps)
		}
	}
	if fired < 500 {
		t.Errorf("an obligation fired in %d of 3000 runs only", fired)
	}
}

// TestSyntheticCorpus replays the corpus that shows every variant of the format.
func TestSyntheticCorpus(t *testing.T) {
	const runs = "../corpus/agentdojo/testdata/runs"
	if n := compareWithOracle(t, []string{runs}); n != 9 {
		t.Errorf("compared %d runs, want 9", n)
	}
	bundle := baseline(t)
	var outputs []string
	for _, workers := range []int{1, 4} {
		got, err := AgentDojo(t.Context(), []string{runs}, bundle, Options{Engines: monitors(t, bundle), Workers: workers, Convention: Published})
		if err != nil {
			t.Fatal(err)
		}
		outputs = append(outputs, asJSON(t, got))
	}
	if outputs[0] != outputs[1] {
		t.Errorf("one worker and four differ:\n%s\n%s", outputs[0], outputs[1])
	}
	golden(t, "synthetic.json", outputs[0])
}

func TestAgentDojoNeedsRuns(t *testing.T) {
	bundle := baseline(t)
	_, err := AgentDojo(t.Context(), []string{t.TempDir()}, bundle, Options{Engines: monitors(t, bundle)})
	if !errors.Is(err, corpus.ErrNoFiles) {
		t.Errorf("an empty folder: %v, want ErrNoFiles", err)
	}
}

func asJSON(t *testing.T, table *Table) string {
	t.Helper()
	out, err := json.MarshalIndent(table, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return string(out) + "\n"
}

// checkPublished compares a table with the figures published for GPT-4o.
func checkPublished(t *testing.T, got *Table) {
	t.Helper()
	want := published()
	if len(got.Rows) != len(want.Rows) {
		t.Fatalf("%d rows, want %d", len(got.Rows), len(want.Rows))
	}
	for i, row := range got.Rows {
		if want.Rows[i].UserBenign == notGiven {
			row.UserBenign, row.UserBenignFired = notGiven, notGiven
		}
		if row != want.Rows[i] {
			t.Errorf("row %s:\n got %+v\nwant %+v", row.Name, row, want.Rows[i])
		}
	}
	if !maps.Equal(got.Obligations, want.Obligations) {
		t.Errorf("obligations:\n got %+v\nwant %+v", got.Obligations, want.Obligations)
	}
	earliest := got.Earliest
	earliest.LeadMean = math.Round(100*earliest.LeadMean) / 100
	if earliest != want.Earliest {
		t.Errorf("earliest:\n got %+v\nwant %+v", earliest, want.Earliest)
	}
	all := got.Rows[0]
	if lr := stats.LRPlus(all.Detection(), all.FalseAlarms()); math.Round(100*lr) != 240 {
		t.Errorf("union LR+ = %.4f, want 2.40", lr)
	}
}
