package spatial

import (
	"testing"

	"github.com/aspis-rv/aspis/internal/lang/syntax"
	"github.com/aspis-rv/aspis/internal/world"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// TestLaws checks equivalences of STREL, and that wider intervals make more true.
func TestLaws(t *testing.T) {
	r := seeded(t)
	g := newGenerator(r)
	truth := &syntax.Bool{Value: true}
	held := 0
	for range 800 {
		m, d, p, q := newModel(r, 6), g.distance(), g.formula(1), g.formula(1)
		wider := d
		wider.Lo, wider.Hi = max(0, d.Lo-r.Int64N(2)), d.Hi+r.Int64N(3)
		from0 := d
		from0.Lo = 0
		for _, law := range []struct {
			name        string
			left, right syntax.Formula
			implied     bool // left implies right, else they are equivalent
		}{
			{"SOMEWHERE p = TRUE REACH p", &syntax.Somewhere{D: d, F: p}, &syntax.Reach{D: d, Left: truth, Right: p}, false},
			{
				"EVERYWHERE p = NOT SOMEWHERE NOT p", &syntax.Everywhere{D: d, F: p},
				&syntax.Not{F: &syntax.Somewhere{D: d, F: &syntax.Not{F: p}}}, false,
			},
			{"p REACH[0,b] q is no less than q", q, &syntax.Reach{D: from0, Left: p, Right: q}, true},
			{"ESCAPE[0,b] p = p", p, &syntax.Escape{D: from0, F: p}, false},
			{
				"restricted ESCAPE p = p AND p REACH p", &syntax.Escape{D: from0, F: p, Restricted: true},
				&syntax.And{Left: p, Right: &syntax.Reach{D: from0, Left: p, Right: p}}, false,
			},
			{"SOMEWHERE grows with the interval", &syntax.Somewhere{D: d, F: p}, &syntax.Somewhere{D: wider, F: p}, true},
			{"EVERYWHERE shrinks with it", &syntax.Everywhere{D: wider, F: p}, &syntax.Everywhere{D: d, F: p}, true},
			{"REACH grows with it", &syntax.Reach{D: d, Left: p, Right: q}, &syntax.Reach{D: wider, Left: p, Right: q}, true},
			{"ESCAPE grows with it", &syntax.Escape{D: d, F: p}, &syntax.Escape{D: wider, F: p}, true},
			{"SURROUND grows with it", &syntax.Surround{D: d, Left: p, Right: q}, &syntax.Surround{D: wider, Left: p, Right: q}, true},
			{"REACH reaches somewhere", &syntax.Reach{D: from0, Left: p, Right: q}, &syntax.Somewhere{D: from0, F: q}, true},
		} {
			left, right := mustCompile(t, law.left, modelSpec()), mustCompile(t, law.right, modelSpec())
			for _, name := range m.names {
				sense := world.Sense(r.IntN(2))
				a, b := left.Value(m, name, argsOf(left, "a"), sense), right.Value(m, name, argsOf(right, "a"), sense)
				if a > b || !law.implied && a != b {
					t.Fatalf("%s: at %s %v and %v\np = %s, q = %s, %+v\n%+v", law.name, name, a, b, p, q, d, m)
				}
				if a >= verdict.Fp {
					held++
				}
			}
		}
	}
	if held < 3_000 {
		t.Errorf("the left sides held %d times", held)
	}
}
