package mfotl_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/aspis-rv/aspis/internal/lang/syntax"
	"github.com/aspis-rv/aspis/internal/mfotl"
	"github.com/aspis-rv/aspis/internal/mfotl/naive"
	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// TestExplainAgainstDefinition checks every node of the explanations of random formulas on
// random logs with the executed definition: that what is said to hold does, with the mark
// and witness given, and that what is said not to hold does not, whatever the values of its
// other variables; and that a state rolled back and restored explains alike.
func TestExplainAgainstDefinition(t *testing.T) {
	nodes := map[string]int{}
	for seed := *seedFlag; seed < *seedFlag+4000; seed++ {
		g := &generator{Rand: rand.New(rand.NewPCG(seed, 3)), asks: seed%2 == 0}
		formulas, plan := randomPlan(t, g, seed, 1, []int{1, 2, 2, 3})
		trace := g.trace(2+g.IntN(6), pick(g, []float64{0, 0.3}))
		st, other := plan.New(), plan.New()
		for i, tp := range trace {
			if g.IntN(3) == 0 {
				other, _ = plan.Restore(other.AppendState(nil))
			}
			st.StepIn(tp.TS, tp.Offset, tp.Facts, tableSource{tables: tp.Tables})
			other.StepIn(tp.TS, tp.Offset, tp.Facts, tableSource{tables: tp.Tables})
			for _, row := range st.Rows(0) {
				reasons, ok := st.Explain(0, row.Values)
				if !ok {
					t.Fatalf("seed %d, time point %d: %v is a row and not explained\n%s%s", seed, i, row, list(formulas), show(trace))
				}
				again, _ := other.Explain(0, row.Values)
				if !reflect.DeepEqual(reasons, again) {
					t.Fatalf("seed %d, time point %d: restored, the reasons are\n%v\nnot\n%v\n%s%s", seed, i, again, reasons, list(formulas), show(trace))
				}
				c := reasonCheck{trace: trace[:i+1], kinds: formulas[0].Kinds, nodes: nodes}
				c.row(row, reasons)
				c.complete(formulas[0].Core, reasons)
				if c.wrong != "" {
					t.Fatalf("seed %d, time point %d, row %v: %s\n%s%s", seed, i, row, c.wrong, list(formulas), show(trace))
				}
			}
			if _, ok := st.Explain(0, []schema.Value{schema.IntValue(99), schema.IntValue(99), schema.IntValue(99)}); ok {
				t.Fatalf("seed %d, time point %d: a row of a wrong width is explained", seed, i)
			}
			st.Commit()
			other.Commit()
		}
		if !bytes.Equal(st.AppendState(nil), other.AppendState(nil)) {
			t.Fatalf("seed %d: the states end differently", seed)
		}
	}
	t.Log(nodes)
	for _, op := range []string{"Once", "Since", "Historically", "Not", "Pred"} {
		for _, held := range []string{" holds", " fails"} {
			if nodes[op+held] < 50 {
				t.Errorf("only %d times %s%s: the generator does not exercise it", nodes[op+held], op, held)
			}
		}
	}
}

// reasonCheck checks a tree of reasons; wrong is the first thing that is.
type reasonCheck struct {
	trace []naive.TimePoint
	kinds map[string]schema.ValueKind
	nodes map[string]int
	wrong string
}

func (c *reasonCheck) fail(r *mfotl.Reason, format string, args ...any) {
	if c.wrong == "" {
		c.wrong = fmt.Sprintf("%s at %d under %v: %s", r.Formula, r.Point, r.Binding, fmt.Sprintf(format, args...))
	}
}

// row checks that the conjuncts together make the row.
func (c *reasonCheck) row(row schema.Row, reasons []mfotl.Reason) {
	m, w := verdict.F, []uint64{}
	for i := range reasons {
		m = verdict.Meet(m, reasons[i].Mark)
		w = append(w, reasons[i].Witness...)
		c.node(&reasons[i])
	}
	slices.Sort(w)
	if w = slices.Compact(w); m != row.Mark || !slices.Equal(w, row.Witness) {
		c.wrong = fmt.Sprintf("the conjuncts make %v@%v", m, w)
	}
}

// complete checks that the conjuncts of f, or of one of its disjuncts, are the ones that
// have reasons.
func (c *reasonCheck) complete(f syntax.Formula, reasons []mfotl.Reason) {
	disjuncts := conjuncts(f)
	for _, parts := range disjuncts {
		if len(parts) != len(reasons) {
			continue
		}
		missing := slices.ContainsFunc(parts, func(p syntax.Formula) bool {
			return !slices.ContainsFunc(reasons, func(r mfotl.Reason) bool { return r.Formula == p })
		})
		if !missing {
			return
		}
	}
	c.wrong = fmt.Sprintf("the conjuncts explained are those of none of %d disjuncts", len(disjuncts))
}

// conjuncts takes a formula apart where a derivation of it does: the conjuncts of each of
// its disjuncts. A disjunction below a conjunction is one conjunct.
func conjuncts(f syntax.Formula) [][]syntax.Formula {
	if f, ok := f.(*syntax.Or); ok {
		return append(conjuncts(f.Left), conjuncts(f.Right)...)
	}
	if f, ok := f.(*syntax.Exists); ok {
		return conjuncts(f.F)
	}
	if f, ok := f.(*syntax.Prev); ok {
		return conjuncts(f.F)
	}
	return [][]syntax.Formula{flat(f)}
}

func flat(f syntax.Formula) []syntax.Formula {
	if f, ok := f.(*syntax.And); ok {
		return append(flat(f.Left), flat(f.Right)...)
	}
	if f, ok := f.(*syntax.Prev); ok {
		return flat(f.F)
	}
	if _, ok := f.(*syntax.Bool); ok {
		return nil
	}
	return []syntax.Formula{f}
}

func (c *reasonCheck) node(r *mfotl.Reason) {
	outcome := " holds"
	if r.Mark == verdict.T {
		outcome = " fails"
	}
	c.nodes[operator(r.Formula)+outcome]++
	if ts := c.trace[r.Point].TS; ts != r.TS {
		c.fail(r, "its time stamp is %d, not %d", ts, r.TS)
	}
	m, w := naive.Judge(c.closed(r), c.assignment(r), c.kinds, c.trace, int(r.Point))
	if m != r.Mark || !slices.Equal(w, r.Witness) {
		c.fail(r, "%v@%v, by definition %v@%v", r.Mark, r.Witness, m, w)
	}
	if in, operand, ok := temporal(r.Formula); ok != (r.Window != nil) {
		c.fail(r, "its window is %v", r.Window)
	} else if ok {
		c.window(r, in, operand)
	}
	not, ok := r.Formula.(*syntax.Not)
	if ok {
		_, ok = not.F.(*syntax.Bool) // a constant has no reason
		ok = !ok
	}
	if ok && len(r.Because) == 0 {
		c.fail(r, "without a reason")
	}
	for i := range r.Because {
		c.node(&r.Because[i])
	}
}

func (c *reasonCheck) assignment(r *mfotl.Reason) map[string]schema.Value {
	out := map[string]schema.Value{}
	for _, b := range r.Binding {
		out[b.Name] = b.Value
	}
	return out
}

// closed quantifies the variables of the formula of r that have no value, which are none
// if it holds.
func (c *reasonCheck) closed(r *mfotl.Reason) syntax.Formula {
	var open []syntax.Var
	for _, name := range syntax.FreeVars(r.Formula) {
		if !slices.ContainsFunc(r.Binding, func(b mfotl.Bound) bool { return b.Name == name }) {
			open = append(open, syntax.Var{Name: name})
		}
	}
	if len(open) == 0 {
		return r.Formula
	}
	if r.Mark != verdict.T {
		c.fail(r, "it holds and %v have no value", open)
	}
	return &syntax.Exists{Vars: open, F: r.Formula}
}

// window checks the window of a temporal operator.
func (c *reasonCheck) window(r *mfotl.Reason, in syntax.Interval, operand syntax.Formula) {
	whole := mfotl.Window{From: math.MinInt64, To: r.TS - in.Lo}
	if !in.Unbounded {
		whole.From = r.TS - in.Hi
	}
	_, historically := r.Formula.(*syntax.Historically)
	part := historically && r.Mark == verdict.T
	if w := r.Window; w.From < whole.From || w.To > whole.To || (!part && (w.From != whole.From || w.To != whole.To)) {
		c.fail(r, "its window is %v, not %v", *w, whole)
	}
	if _, ok := r.Formula.(*syntax.Prev); ok || (r.Mark == verdict.T) != historically {
		return // everywhere, which the mark says already
	}
	for j := int(r.Point); j >= 0; j-- {
		ts := c.trace[j].TS
		m, w := naive.Judge(operand, c.assignment(r), c.kinds, c.trace, j)
		switch {
		case part && ts >= r.Window.From && ts <= r.Window.To && m == verdict.T:
			return
		case !historically && ts == r.Window.At && m >= r.Mark && slices.Equal(w, r.Witness):
			return
		}
	}
	c.fail(r, "no time point is as its window %v says", *r.Window)
}

// temporal takes a temporal formula apart.
func temporal(f syntax.Formula) (in syntax.Interval, operand syntax.Formula, ok bool) {
	if f, ok := f.(*syntax.Prev); ok {
		return f.I, f.F, true
	}
	if f, ok := f.(*syntax.Once); ok {
		return f.I, f.F, true
	}
	if f, ok := f.(*syntax.Historically); ok {
		return f.I, f.F, true
	}
	if f, ok := f.(*syntax.Since); ok {
		return f.I, f.Right, true
	}
	return in, nil, false
}

// operator is the name of the node that f is.
func operator(f syntax.Formula) string { return strings.TrimPrefix(fmt.Sprintf("%T", f), "*syntax.") }

// TestExplain shows what an explanation of a refusal says: of the login, which event it is;
// of the grant, in which window there is none that was not revoked.
func TestExplain(t *testing.T) {
	plan := compile(t, core(t, "use(u,r) AND (ONCE[0,10] login(u)) AND NOT ((NOT revoke(u,r)) SINCE[5,500] grant(u,r))", "u", "r"))
	st := plan.New()
	for i, p := range []point{
		at(600, fact("grant", 1, 2)),
		at(700, fact("revoke", 1, 2), fact("grant", 1, 3)),
		at(998, fact("login", 1)),
	} {
		st.Step(p.ts, uint64(i+10), p.facts)
		st.Commit()
	}
	st.Step(1000, 13, []schema.Fact{fact("use", 1, 2), fact("use", 1, 3)})
	reasons, ok := st.Explain(0, []schema.Value{schema.IntValue(1), schema.IntValue(2)})
	var got []string
	for _, r := range reasons {
		got = append(got, fmt.Sprintf("%s %v", operator(r.Formula), r.Witness))
		if r.Window != nil {
			got = append(got, fmt.Sprintf("at %d of [%d,%d]", r.Window.At, r.Window.From, r.Window.To))
		}
		for _, b := range r.Because {
			got = append(got, fmt.Sprintf("%s %v in [%d,%d]", operator(b.Formula), b.Mark, b.Window.From, b.Window.To))
		}
	}
	want := []string{"Pred [13]", "Once [12]", "at 998 of [990,1000]", "Not []", "Since T in [500,995]"}
	if !ok || !slices.Equal(got, want) {
		t.Errorf("%v %q, want %q", ok, got, want)
	}
	if reasons, ok := st.Explain(0, []schema.Value{schema.IntValue(1), schema.IntValue(3)}); ok {
		t.Errorf("a binding that does not satisfy the formula is explained: %v", reasons)
	}
	st.Rollback()
}

// BenchmarkExplain is the explanation of one firing of the first workload.
func BenchmarkExplain(b *testing.B) {
	w := workloads()[0]
	st := w.compile(b).New()
	events := stream{log: w.log()}
	for range warmUp {
		st.Step(events.next())
		st.Commit()
	}
	ts, offset, _ := events.next()
	st.Step(ts, offset, []schema.Fact{fact("export", -1)})
	values := []schema.Value{schema.IntValue(-1)}
	b.ReportAllocs()
	for b.Loop() {
		if _, ok := st.Explain(0, values); !ok {
			b.Fatal("nothing to explain")
		}
	}
}

// BenchmarkReasons is the first workload, of whose events half fire, without and with the
// explanation of every firing.
func BenchmarkReasons(b *testing.B) {
	for _, explained := range []bool{false, true} {
		b.Run(fmt.Sprintf("explained=%t", explained), func(b *testing.B) {
			w := workloads()[0]
			st := w.compile(b).New()
			events := stream{log: w.log()}
			var rows mfotl.RowBuffer
			var reasons mfotl.ReasonBuffer
			fired := 0
			step := func() {
				st.Step(events.next())
				for _, row := range st.ReadRows(0, &rows) {
					fired++
					if !explained {
						continue
					}
					if _, ok := st.ReadReasons(0, row.Values, &reasons); !ok {
						b.Fatal("nothing to explain")
					}
				}
				st.Commit()
			}
			for range warmUp {
				step()
			}
			fired = 0
			b.ReportAllocs()
			for b.Loop() {
				step()
			}
			b.ReportMetric(float64(fired)/float64(b.N), "firings/event")
		})
	}
}
