package monitor_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/aspis-rv/aspis/internal/monitor"
	"github.com/aspis-rv/aspis/internal/world"
	"github.com/aspis-rv/aspis/pkg/aspects"
	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// TestHeuristicsAreNeverDefinite: what fires definitely on a trace with presumptive facts and
// marks fires definitely without them too, at every event of random traces. So nothing that was
// only guessed makes a definite firing, alone or beside what is known.
func TestHeuristicsAreNeverDefinite(t *testing.T) {
	events, definite, presumptive := 0, 0, 0
	for seed := *seedFlag; events < *eventsFlag/4; seed++ {
		g := newGenerator(seed)
		texts := []string{g.formula(), g.formula(), g.formula()}
		b, _ := bundle(t, g.spec, texts...)
		engine, err := monitor.New(b, aspects.Spatial)
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, strings.Join(texts, "\n"))
		}
		guessed, known := engine.New(), engine.New()
		for range 12 {
			in := g.event()
			sure := withoutGuesses(in)
			events++
			want := definiteRows(known.Judge(sure))
			for _, row := range definiteRows(guessed.Judge(in)) {
				definite++
				if !slices.Contains(want, row) {
					t.Fatalf("seed %d (repeat: go test ./internal/monitor -run TestHeuristicsAreNeverDefinite -args -seed %d -events 1): %s fires definitely, without guesses only %v do\n%s\n%+v",
						seed, seed, row, want, strings.Join(texts, "\n"), in)
				}
			}
			presumptive += len(in.Facts) + len(in.Edits) - len(sure.Facts) - len(sure.Edits)
			guessed.Adopt(in)
			known.Adopt(sure)
			if in.Call != "" {
				g.calls = append(g.calls, in.Call)
			}
		}
	}
	if *eventsFlag >= 10_000 && (definite < 100 || presumptive < 100) {
		t.Errorf("%d definite rows beside %d guesses", definite, presumptive)
	}
}

// withoutGuesses is the input without its presumptive facts and marks.
func withoutGuesses(in aspects.Input) aspects.Input {
	in.Facts = slices.DeleteFunc(slices.Clone(in.Facts), func(f schema.Fact) bool { return f.Strength == verdict.Presumptive })
	in.Edits = slices.DeleteFunc(slices.Clone(in.Edits), func(e world.Edit) bool { return e.Op == world.Mark && e.Strength == verdict.Presumptive })
	return in
}

// definiteRows prints the rows that are F.
func definiteRows(parts []schema.Part) []string {
	var out []string
	for _, p := range parts {
		for _, r := range p.Rows {
			if r.Mark == verdict.F {
				out = append(out, fmt.Sprint(p.Clause, r.Values))
			}
		}
	}
	return out
}
