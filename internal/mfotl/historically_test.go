package mfotl_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/aspis-rv/aspis/internal/lang/check"
	"github.com/aspis-rv/aspis/internal/lang/syntax"
	"github.com/aspis-rv/aspis/internal/mfotl/naive"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// TestHistoricallyAgainstDefinition compares on traces in which few values come and
// go for many time points, so that windows fill, slide, lie between time points and
// are full of ends and weaker marks.
func TestHistoricallyAgainstDefinition(t *testing.T) {
	marks := map[verdict.Value]int{}
	twoEnds := 0
	for seed := *seedFlag; seed < *seedFlag+3000; seed++ {
		g := &generator{Rand: rand.New(rand.NewPCG(seed, 3))}
		var formulas []*check.Checked
		for range 3 {
			formulas = append(formulas, g.guarded())
		}
		plan := compile(t, formulas...)
		trace := g.comings(8 + g.IntN(18))
		want := expect(formulas, trace)
		for _, r := range slices.Concat(slices.Concat(want...)...) {
			marks[r.Mark]++
			if len(r.Witness) > 2 {
				twoEnds++
			}
		}
		if msg := compare(plan, trace, want, seed); msg != "" {
			trace, msg = shrink(plan, formulas, trace, seed, msg)
			t.Fatalf("seed %d (repeat: go test ./internal/mfotl -run TestHistoricallyAgainstDefinition -args -seed %d): %s\n%s%s",
				seed, seed, msg, list(formulas), show(trace))
		}
	}
	t.Logf("rows by mark %v, %d with a run of several time points as witness", marks, twoEnds)
	for _, m := range []verdict.Value{verdict.Tp, verdict.Fp, verdict.F} {
		if marks[m] < 1000 {
			t.Errorf("only %d rows are marked %v: the traces do not exercise it", marks[m], m)
		}
	}
	if twoEnds < 1000 {
		t.Errorf("only %d rows rest on a run of several time points", twoEnds)
	}
}

// guarded makes p(x) AND [NOT] HISTORICALLY[…] f for an f that can fail and return.
func (g *generator) guarded() *check.Checked {
	x := syntax.Var{Name: "x"}
	pred := func(name string) syntax.Formula { return &syntax.Pred{Name: name, Args: []syntax.Term{x}} }
	f := pick(g, []syntax.Formula{
		pred("q"), pred("q"), pred("q"),
		&syntax.Or{Left: pred("q"), Right: pred("r")},
		&syntax.And{Left: pred("q"), Right: &syntax.Not{F: pred("r")}},
		&syntax.Once{I: syntax.Interval{Hi: 1}, F: pred("q")},
		&syntax.Prev{I: syntax.AnyTime(), F: pred("q")},
		&syntax.Since{I: syntax.AnyTime(), Left: &syntax.Not{F: pred("r")}, Right: pred("q")},
	})
	lo := pick(g, []int64{0, 0, 1, 2, 4, 9})
	in := syntax.Interval{Lo: lo, Hi: lo + pick(g, []int64{0, 1, 2, 5, 11})}
	if g.IntN(4) == 0 {
		in = syntax.Interval{Lo: lo, Unbounded: true}
	}
	var h syntax.Formula = &syntax.Historically{I: in, F: f}
	if g.IntN(3) == 0 {
		h = &syntax.Not{F: h}
	}
	var core syntax.Formula = &syntax.And{Left: pred("p"), Right: h}
	switch g.IntN(4) {
	case 0:
		core = &syntax.Prev{I: syntax.AnyTime(), F: core}
	case 1:
		core = &syntax.And{Left: pred("p"), Right: &syntax.Once{I: syntax.Interval{Hi: 3}, F: core}}
	}
	return &check.Checked{Core: core, Free: []check.Column{{Name: "x", Kind: intKind}}}
}

// comings makes a trace in which p(0) to p(2) always hold, and q and r of each begin
// and end, definitely and presumptively.
func (g *generator) comings(length int) []naive.TimePoint {
	var tps []naive.TimePoint
	mark := map[string]verdict.Value{}
	turn, weak := 0.05+0.3*g.Float64(), pick(g, []float64{0, 0.2, 0.6})
	steps := pick(g, [][]int64{{1}, {0, 1}, {0, 0, 0, 1}, {1, 2, 5}, {0, 1, 7, 13}})
	ts, offset := g.Int64N(3), uint64(0)
	for range length {
		tp := naive.TimePoint{TS: ts, Offset: offset}
		for x := range int64(3) {
			tp.Facts = append(tp.Facts, fact("p", x))
			for _, name := range []string{"q", "r"} {
				key := fmt.Sprint(name, x)
				if len(tps) == 0 || g.Float64() < turn {
					mark[key] = verdict.F - mark[key]
				}
				f := fact(name, x)
				if g.Float64() < weak {
					f = presumptive(f)
				}
				if mark[key] == verdict.F {
					tp.Facts = append(tp.Facts, f)
				}
			}
		}
		tps = append(tps, tp)
		ts += pick(g, steps)
		offset += 1 + g.Uint64N(2)
	}
	return tps
}
