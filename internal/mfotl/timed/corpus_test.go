package timed_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/aspis-rv/aspis/internal/mfotl"
	"github.com/aspis-rv/aspis/internal/mfotl/naive"
	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

var seedFlag = flag.Uint64("seed", 1, "seed of the generated traces") //nolint:gochecknoglobals // flags of a test binary are global

// tracesEach is the number of generated traces of each policy.
const tracesEach = 200

// Time points and traces are those of the executed definition.
type (
	timePoint = naive.TimePoint
	trace     = []naive.TimePoint
)

// trial is one generated trace with its right answer.
type trial struct {
	chance  // for what a test does with the trace, not for the trace
	policy  *rule
	n       int // of the policy's traces, from 0
	trace   trace
	demands []demand
	answer  [][]tuple      // the oracle's
	rows    [][]schema.Row // the engine's
}

// trials generates the traces of a policy; which is the policy's number. Trace n
// depends on seed, policy and n alone.
func (p *rule) trials(which int, plan *mfotl.Plan) []*trial {
	var out []*trial
	for n := range tracesEach {
		stream := uint64(which*tracesEach + n)
		s := &story{chance: newChance(*seedFlag, 2*stream)}
		p.tell(s, n)
		c := &trial{chance: newChance(*seedFlag, 2*stream+1), policy: p, n: n, trace: numbered(s.points), demands: s.demands}
		c.answer = p.answer(c.trace)
		c.rows = run(plan, c.trace)
		out = append(out, c)
	}
	return out
}

// tell makes trace n: a scenario among other objects' facts, or a random trace.
func (p *rule) tell(s *story, n int) {
	s.now = s.Int64N(1_000_000)
	if n%families == atRandom {
		for range 6 + s.IntN(19) {
			s.add(pick(s.chance, p.gaps), s.facts(p, p.relations, s.IntN(4))...)
		}
		return
	}
	x := 1000 + 2*int64(n)
	p.scenarios[n%families](s, x, x+1)
	var others []relation // global facts would interfere
	for _, r := range p.relations {
		if r.objects() {
			others = append(others, r)
		}
	}
	for range s.IntN(7) {
		s.aside(s.facts(p, others, 1)[0])
	}
}

// facts are random facts about a few objects, which no scenario is about.
func (c chance) facts(p *rule, of []relation, n int) []schema.Fact {
	var out []schema.Fact
	for range n {
		r := pick(c, of)
		if !r.objects() && c.IntN(4) > 0 { // what matters to all objects comes less often
			r = of[len(of)-1]
		}
		var args []int64
		for _, a := range r.args {
			if a == object {
				args = append(args, 1+c.Int64N(5))
			} else {
				args = append(args, pick(c, p.numbers))
			}
		}
		out = append(out, fact(r.name, args...))
	}
	return out
}

// aside puts a fact into the story, at a time point of its own or not.
func (s *story) aside(f schema.Fact) {
	i := s.IntN(len(s.points))
	if s.IntN(2) == 0 {
		s.points[i].Facts = append(s.points[i].Facts, f)
		return
	}
	s.points = slices.Insert(s.points, i+1, timePoint{TS: s.between(s.points, i), Facts: []schema.Fact{f}})
}

// between is a time stamp from that of time point i to that of the next one, or a
// little after the last one.
func (c chance) between(tr trace, i int) int64 {
	from, to := tr[i].TS, tr[i].TS
	if i+1 < len(tr) {
		to = tr[i+1].TS
	}
	return from + c.Int64N(to-from+1)
}

// numbered gives each time point its index as offset.
func numbered(tr trace) trace {
	for i := range tr {
		tr[i].Offset = uint64(i)
	}
	return tr
}

// chance is a source of random choices.
type chance struct{ *rand.Rand }

func newChance(seed, stream uint64) chance { return chance{rand.New(rand.NewPCG(seed, stream))} }

func pick[T any](c chance, xs []T) T { return xs[c.IntN(len(xs))] }

// run gives the rows of the plan's formula at each time point.
func run(plan *mfotl.Plan, tr trace) [][]schema.Row {
	rows, _ := runOn(plan.New(), tr)
	return rows
}

// runOn continues a state; it returns the encoding of the last state too.
func runOn(st *mfotl.State, tr trace) (rows [][]schema.Row, state []byte) {
	for _, tp := range tr {
		st.Step(tp.TS, tp.Offset, tp.Facts)
		rows = append(rows, st.Rows(0))
		st.Commit()
	}
	return rows, st.AppendState(nil)
}

// withoutEvidence makes rows of an oracle's answer, of definite facts.
func withoutEvidence(answer [][]tuple) [][]schema.Row {
	out := make([][]schema.Row, len(answer))
	for i, ts := range answer {
		for _, values := range ts {
			out[i] = append(out[i], schema.Row{Values: values, Mark: verdict.F})
		}
	}
	return out
}

// everyTrace runs a test on all traces of all policies, until it fails for a policy.
// The test says what is wrong, and whether it had something to do: for a policy that
// must be so for atLeast traces.
func everyTrace(t *testing.T, atLeast func(*rule) int, test func(t *testing.T, c *trial, plan *mfotl.Plan) (applied bool, wrong string)) {
	t.Helper()
	for which, p := range policies() {
		t.Run(p.name, func(t *testing.T) {
			plan := p.compile(t, p.formula, schema.KindInt)
			applied := 0
			for _, c := range p.trials(which, plan) {
				did, wrong := test(t, c, plan)
				if wrong != "" {
					t.Fatalf("trace %d, seed %d (repeat: go test ./internal/mfotl/timed -run '%s' -args -seed %d): %s\n%s\n%s",
						c.n, *seedFlag, t.Name(), *seedFlag, wrong, p.formula, showTrace(c.trace, c.rows))
				}
				if did {
					applied++
				}
			}
			if least := atLeast(p); applied < least {
				t.Errorf("seed %d: applied to %d traces only, want %d", *seedFlag, applied, least)
			}
		})
	}
}

// everyRun is everyTrace for a test that applies to every trace.
func everyRun(t *testing.T, test func(t *testing.T, c *trial, plan *mfotl.Plan) (wrong string)) {
	t.Helper()
	everyTrace(t, func(*rule) int { return tracesEach }, func(t *testing.T, c *trial, plan *mfotl.Plan) (bool, string) {
		t.Helper()
		return true, test(t, c, plan)
	})
}

// showTrace prints a trace with the rows at each time point.
func showTrace(tr trace, rows [][]schema.Row) string {
	var b strings.Builder
	for i, tp := range tr {
		fmt.Fprintf(&b, "@%d", tp.TS)
		for _, f := range tp.Facts {
			fmt.Fprintf(&b, " %s%s", f.Name, showTuple(f.Args))
		}
		if len(rows[i]) > 0 {
			fmt.Fprintf(&b, "   → %s", showRows(rows[i]))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func showTuple(vs []schema.Value) string {
	var out []string
	for _, v := range vs {
		out = append(out, v.String())
	}
	return "(" + strings.Join(out, ",") + ")"
}

func showRows(rs []schema.Row) string {
	var out []string
	for _, r := range rs {
		out = append(out, fmt.Sprintf("%s%v@%v", showTuple(r.Values), r.Mark, r.Witness))
	}
	return strings.Join(out, " ")
}
