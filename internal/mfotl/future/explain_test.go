package future_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/aspis-rv/aspis/internal/lang/check"
	"github.com/aspis-rv/aspis/internal/lang/syntax"
	"github.com/aspis-rv/aspis/internal/mfotl"
	"github.com/aspis-rv/aspis/internal/mfotl/future"
	"github.com/aspis-rv/aspis/internal/mfotl/naive"
	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// TestExplainAgainstDefinition checks that every row of random formulas is explained, in
// parts of the formula as it was written, and that by the executed definition what is said
// to hold does and what is said not to hold does not.
func TestExplainAgainstDefinition(t *testing.T) {
	c := explainCheck{nodes: map[string]int{}}
	for seed := *seedFlag; seed < *seedFlag+uint64(max(1, *casesFlag/10)); seed++ {
		g := &generator{Rand: rand.New(rand.NewPCG(seed, 3)), many: seed%4 == 0}
		f := g.checked(1 + g.IntN(3))
		c.kinds, c.trace = f.Kinds, withBuiltIns(g.trace(2+g.IntN(7)))
		if wrong := c.run(f); wrong != "" {
			t.Fatalf("seed %d (repeat: go test ./internal/mfotl/future -run '%s$' -args -seed %d -cases 1): %s\n%s\n%s",
				seed, t.Name(), seed, wrong, f.Core, show(c.trace))
		}
	}
	t.Log(c.nodes)
	for _, node := range []string{"Next holds", "Eventually holds", "Eventually fails", "Until holds"} {
		if *casesFlag > 1000 && c.nodes[node] < 20 {
			t.Errorf("only %d times %s: the generator does not exercise it", c.nodes[node], node)
		}
	}
}

// explainCheck checks explanations; wrong is the first thing that is.
type explainCheck struct {
	kinds map[string]schema.ValueKind
	trace []naive.TimePoint
	nodes map[string]int
	wrong string
}

func (c *explainCheck) run(f *check.Checked) string {
	c.wrong = ""
	plan, err := future.Compile(f, future.WithEngine(mfotl.WithBuiltIns()))
	if err != nil {
		return err.Error()
	}
	r := plan.New()
	emit := func(v future.Verdict) {
		for _, row := range v.Rows {
			reasons, ok := r.Explain(row.Values)
			if !ok {
				c.fail("%v is a row of time point %d and not explained", row.Values, v.Index)
			}
			c.reasons(reasons)
		}
	}
	for _, tp := range c.trace {
		if err := r.Step(tp.TS, tp.Facts, emit); err != nil {
			return err.Error()
		}
	}
	if err := r.Flush(emit); err != nil {
		return err.Error()
	}
	return c.wrong
}

func (c *explainCheck) fail(format string, args ...any) {
	if c.wrong == "" {
		c.wrong = fmt.Sprintf(format, args...)
	}
}

func (c *explainCheck) reasons(reasons []mfotl.Reason) {
	for i := range reasons {
		r := &reasons[i]
		if strings.Contains(r.Formula.String(), "future ") {
			c.fail("%s is no part of the formula", r.Formula)
			return
		}
		outcome := " holds"
		if r.Mark == verdict.T {
			outcome = " fails"
		}
		c.nodes[strings.TrimPrefix(fmt.Sprintf("%T", r.Formula), "*syntax.")+outcome]++
		values := map[string]schema.Value{}
		for _, b := range r.Binding {
			values[b.Name] = b.Value
		}
		if m, _ := naive.Judge(closed(r), values, c.kinds, c.trace, int(r.Point)); m != r.Mark {
			c.fail("%s at %d under %v: %v, by definition %v", r.Formula, r.Point, r.Binding, r.Mark, m)
		}
		c.reasons(r.Because)
	}
}

// closed quantifies the variables of the formula of r that have no value.
func closed(r *mfotl.Reason) syntax.Formula {
	var open []syntax.Var
	for _, name := range syntax.FreeVars(r.Formula) {
		if !slices.ContainsFunc(r.Binding, func(b mfotl.Bound) bool { return b.Name == name }) {
			open = append(open, syntax.Var{Name: name})
		}
	}
	if len(open) == 0 {
		return r.Formula
	}
	return &syntax.Exists{Vars: open, F: r.Formula}
}

// TestExplainOutsideOfEmit holds that an explanation that nothing waits for is an error of
// the program.
func TestExplainOutsideOfEmit(t *testing.T) {
	r := compile(t, core(t, "p(x)", "x")).New()
	if err := r.Step(1, []schema.Fact{fact("p", 1)}, func(future.Verdict) {}); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if recover() == nil {
			t.Error("it was explained")
		}
	}()
	r.Explain([]schema.Value{schema.IntValue(1)})
}
