package text

import (
	"strings"
	"testing"
)

// TestRun: every kind of text has the hits of the naive search.
func TestRun(t *testing.T) {
	for seed := range uint64(5) {
		rows, err := Run(Options{Cues: []int{1, 200}, Bytes: 20_000, Runs: 1, Seed: seed})
		if err != nil || len(rows) != 9 || rows[4].Hits == 0 {
			t.Fatalf("seed %d: %v, %+v", seed, err, rows)
		}
		var out strings.Builder
		if err := WriteText(&out, rows); err != nil || strings.Count(out.String(), "\n") != 10 {
			t.Errorf("%v\n%s", err, out.String())
		}
	}
}
