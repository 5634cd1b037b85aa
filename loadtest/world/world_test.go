package world

import (
	"errors"
	"strings"
	"testing"

	"github.com/aspis-rv/aspis/internal/world"
	"github.com/aspis-rv/aspis/pkg/aspects"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// TestRun measures a small world: every answer is compared with the plain graph.
func TestRun(t *testing.T) {
	for _, open := range []float64{0.1, 0.3, 0.6} {
		o := Options{Size: Size{Vertices: 300, Channels: 900, Records: 60, Domains: 8, Open: open, Seed: 7}, Events: 150, Checks: 150}
		rep, err := Run(o)
		if err != nil {
			t.Fatal(err)
		}
		var text strings.Builder
		if err := rep.WriteText(&text); err != nil || strings.Count(text.String(), "\n") != 7 {
			t.Errorf("%v\n%s", err, text.String())
		}
		for _, r := range rep.Rows[1:] {
			if r.Check != 150 || r.Times.Count != 150 || r.Times.P50 <= 0 {
				t.Errorf("open %v: %+v", open, r)
			}
		}
	}
}

// TestWrongAnswersAreFound: a pair that is not seen, and one too many.
func TestWrongAnswersAreFound(t *testing.T) {
	row := schema.Row{Values: []schema.Value{schema.StringValue("r00000"), schema.StringValue("D01")}}
	parts := map[aspects.Kind][]schema.Part{
		aspects.Spatial:  {{Clause: "S", Rows: []schema.Row{row}}},
		aspects.Temporal: {{Clause: "T", Rows: []schema.Row{row}}},
	}
	right := map[pair]bool{{"r00000", "D01"}: true}
	if err := compare(parts, right); err != nil {
		t.Error(err)
	}
	for _, want := range []map[pair]bool{nothing(world.Edit{}), {{"r00000", "D02"}: true}, {{"r00000", "D01"}: true, {"r00001", "D01"}: true}} {
		if err := compare(parts, want); !errors.Is(err, ErrWrong) {
			t.Errorf("%v: %v", want, err)
		}
	}
}
