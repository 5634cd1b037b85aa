package spatial

import (
	"flag"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/aspis-rv/aspis/internal/lang/syntax"
	"github.com/aspis-rv/aspis/internal/world"
	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

var seedFlag = flag.Uint64("seed", 1, "run the random tests with this seed; 0: one of the time") //nolint:gochecknoglobals // flags of a test binary are global

// seeded returns chance for a test, and prints its seed if the test fails.
func seeded(t *testing.T) *rand.Rand {
	t.Helper()
	seed := *seedFlag
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("repeat with: go test ./internal/world/spatial -run '^%s$' -seed %d", t.Name(), seed)
		}
	})
	return rand.New(rand.NewPCG(seed, 0))
}

func mustCompile(t *testing.T, f syntax.Formula, spec *world.Spec) *Formula {
	t.Helper()
	c, err := Compile(at(f), spec)
	if err != nil {
		t.Fatalf("%s: %v", f, err)
	}
	return c
}

func argsOf(f *Formula, x string) []schema.Value {
	if len(f.Vars()) == 0 {
		return nil
	}
	return []schema.Value{schema.StringValue(x)}
}

// TestAgainstPaths compares values with the definitions, evaluated over all simple paths.
func TestAgainstPaths(t *testing.T) {
	r := seeded(t)
	g := newGenerator(r)
	spec := modelSpec()
	counts := map[verdict.Value]int{}
	kinds := map[string][2]int{} // of the outermost operator: did not hold, did
	for range 10_000 {
		m := newModel(r, 1+r.IntN(6))
		f := g.formula(3)
		c := mustCompile(t, f, spec)
		sense, x := world.Sense(r.IntN(2)), [...]string{"a", "b"}[r.IntN(2)]
		o := newOracle(m)
		o.env["x"] = x
		for v, want := range o.values(f, sense) {
			name := m.names[v]
			got := c.Value(m, name, argsOf(c, x), sense)
			if got != want {
				t.Fatalf("%s at %s, x = %s, %v: %v, want %v\n%+v", f, name, x, sense, got, want, m)
			}
			counts[got]++
			if m.sorts[v] != world.Unknown {
				k := kinds[kindOf(f)]
				k[verdictBit(got)]++
				kinds[kindOf(f)] = k
			}
		}
	}
	for _, v := range verdict.Values() {
		if counts[v] < 100 {
			t.Errorf("%v came %d times only", v, counts[v])
		}
	}
	for _, k := range []string{"SOMEWHERE", "EVERYWHERE", "ESCAPE", "ESCAPE restricted", "REACH", "SURROUND"} {
		if n := kinds[k]; n[0] < 100 || n[1] < 100 {
			t.Errorf("%s held %d times and %d times not", k, n[1], n[0])
		}
	}
	t.Logf("values %v, outermost operators %v, operators %v", counts, kinds, g.kinds)
}

func verdictBit(v verdict.Value) int {
	if v >= verdict.Fp {
		return 1
	}
	return 0
}

func kindOf(f syntax.Formula) string {
	switch f := f.(type) {
	case *syntax.Somewhere:
		return "SOMEWHERE"
	case *syntax.Everywhere:
		return "EVERYWHERE"
	case *syntax.Escape:
		if f.Restricted {
			return "ESCAPE restricted"
		}
		return "ESCAPE"
	case *syntax.Reach:
		return "REACH"
	case *syntax.Surround:
		return "SURROUND"
	default:
		return "other"
	}
}
