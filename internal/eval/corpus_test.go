package eval

import (
	"maps"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/aspis-rv/aspis/internal/corpus/agentdojo"
	"github.com/aspis-rv/aspis/internal/eval/stats"
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

func TestOracleGivesThePublishedFigures(t *testing.T) {
	tally := newTally([]string{"O1", "O2", "O3", "O4", "O5"})
	runs := agentdojo.Map(t.Context(), []string{shared(t, gpt4o)}, agentdojo.Options{},
		func(r *agentdojo.Run) (outcome, error) { return oracle(r), nil })
	for o, err := range runs {
		if err != nil {
			t.Fatal(err)
		}
		tally.add(o)
	}
	checkPublished(t, tally.table())
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
