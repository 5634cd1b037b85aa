package future_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/aspis-rv/aspis/internal/lang/check"
	"github.com/aspis-rv/aspis/internal/lang/syntax"
	"github.com/aspis-rv/aspis/internal/mfotl"
	"github.com/aspis-rv/aspis/internal/mfotl/future"
)

// TestCheckedAgainstDefinition takes formulas the whole way: printed, parsed, checked,
// compiled and run. They have ALWAYS too, and their verdicts are those of the definition
// of the formula as written.
func TestCheckedAgainstDefinition(t *testing.T) {
	sig := check.Signature{}
	for _, r := range relations() {
		sig[r.name] = r.kinds
	}
	c := counts{used: map[string]int{}}
	for seed := *seedFlag; c.pairs < max(1, *casesFlag/4); seed++ {
		g := &generator{Rand: rand.New(rand.NewPCG(seed, 3)), universal: true}
		made := g.checked(1 + g.IntN(3))
		f, diags := syntax.Parse(made.Core.String(), syntax.Options{Mode: syntax.MonPoly})
		if f == nil {
			t.Fatalf("seed %d: %s: %v", seed, made.Core, diags)
		}
		checked, diags := check.Check(f, sig, check.Options{Mode: syntax.MonPoly, BuiltIn: true, Future: true})
		if checked == nil {
			t.Fatalf("seed %d: %s: %v", seed, made.Core, diags)
		}
		plan, err := future.Compile(checked, future.WithEngine(mfotl.WithBuiltIns()))
		if err != nil {
			t.Fatalf("seed %d: %v\n%s\nas core %s", seed, err, f, checked.Core)
		}
		trace := g.trace(2 + g.IntN(6))
		got, err := run(plan, trace)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		want := expect(&check.Checked{Core: f, Free: checked.Free, Kinds: made.Kinds}, trace)
		for i, v := range got {
			if !slices.EqualFunc(v.Rows, want[i], sameValues) || v.Fault != nil {
				t.Fatalf("seed %d (repeat: go test ./internal/mfotl/future -run '%s$' -args -seed %d -cases 1): time point %d, fault %v:\n got %v\nwant %v\n%s\nas core %s\n%s",
					seed, t.Name(), seed, i, v.Fault, v.Rows, want[i], f, checked.Core, show(trace))
			}
			c.rows += len(v.Rows)
		}
		c.pairs++
		c.points += len(trace)
		for op, n := range g.used {
			c.used[op] += n
		}
	}
	t.Log(c)
	if *casesFlag > 1000 && (c.rows < c.pairs/2 || c.used["ALWAYS"] < c.pairs/10) {
		t.Error("the generator does not exercise the operators")
	}
}
