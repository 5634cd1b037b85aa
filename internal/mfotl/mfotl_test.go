package mfotl_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/aspis-rv/aspis/internal/lang/check"
	"github.com/aspis-rv/aspis/internal/lang/syntax"
	"github.com/aspis-rv/aspis/internal/mfotl"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// TestOperators shows the semantics of each operator, marks and witnesses included.
func TestOperators(t *testing.T) {
	for _, c := range []struct {
		name, formula string
		columns       []string
		trace         []point
		want          []string
	}{
		{
			name:    "SINCE kills tuples that wait to enter the interval",
			formula: "p(x) SINCE[2,5] r(x,y)", columns: []string{"x", "y"},
			trace: []point{
				at(0, fact("r", 1, 1), fact("r", 2, 2)), at(1, fact("p", 1)),
				at(2, fact("p", 1), fact("p", 2)), at(3, fact("p", 1)),
			},
			want: []string{"", "", "(1,1)F@[0]", "(1,1)F@[0]"},
		},
		{
			name:    "ONCE[0,0] sees earlier time points of the same time stamp",
			formula: "ONCE[0,0] p(x)", columns: []string{"x"},
			trace: []point{at(5, fact("p", 1)), at(5, fact("p", 2)), at(6)},
			want:  []string{"(1)F@[0]", "(1)F@[0] (2)F@[1]", ""},
		},
		{
			name:    "ONCE with an open left bound excludes the current time stamp",
			formula: "ONCE(0,2] p(x)", columns: []string{"x"},
			trace: []point{at(5, fact("p", 1)), at(5), at(6), at(7), at(8)},
			want:  []string{"", "", "(1)F@[0]", "(1)F@[0]", ""},
		},
		{
			name:    "PREVIOUS goes by index, checks the gap and is false at the start",
			formula: "PREVIOUS[1,2] p(x)", columns: []string{"x"},
			trace: []point{at(0, fact("p", 1)), at(0, fact("p", 2)), at(2, fact("p", 3)), at(5), at(6)},
			want:  []string{"", "", "(2)F@[1]", "", ""},
		},
		{
			name:    "NOT PREVIOUS is true at the start",
			formula: "p(x) AND NOT (PREVIOUS (ONCE p(x)))", columns: []string{"x"},
			trace: []point{at(0, fact("p", 1)), at(0, fact("p", 1)), at(0, fact("p", 2))},
			want:  []string{"(1)F@[0]", "", "(2)F@[2]"},
		},
		{
			name:    "a presumptive approval leaves a presumption of violation, a definite one none",
			formula: "p(x) AND NOT (ONCE q(x))", columns: []string{"x"},
			trace: []point{
				at(0, fact("p", 1), presumptive(fact("q", 1))), at(1, presumptive(fact("p", 2))),
				at(2, fact("q", 1)), at(3, fact("p", 1)),
			},
			want: []string{"(1)Tp@[0]", "(2)Fp@[1]", "", ""},
		},
		{
			name:    "the strongest derivation counts, then the most recent",
			formula: "ONCE[0,5] p(x)", columns: []string{"x"},
			trace: []point{
				at(0, fact("p", 1)), at(1, presumptive(fact("p", 1))), at(2, fact("p", 1)),
				at(4, presumptive(fact("p", 1))), at(8),
			},
			want: []string{"(1)F@[0]", "(1)F@[0]", "(1)F@[2]", "(1)F@[2]", "(1)Fp@[3]"},
		},
		{
			name:    "a presumptive interruption weakens what lasted until then",
			formula: "(NOT q(x)) SINCE p(x)", columns: []string{"x"},
			trace: []point{
				at(0, fact("p", 1)), at(1, presumptive(fact("q", 1))), at(2, presumptive(fact("p", 1))),
				at(3, fact("q", 1)),
			},
			want: []string{"(1)F@[0]", "(1)Tp@[0]", "(1)Fp@[2]", ""},
		},
		{
			name:    "witnesses are one for each predicate of the derivation",
			formula: "p(x) AND (ONCE (q(x) AND PREVIOUS e())) AND NOT f()", columns: []string{"x"},
			trace: []point{at(0, fact("e")), at(1, fact("q", 1)), at(1), at(2, fact("p", 1)), at(3, fact("p", 1), fact("f"))},
			want:  []string{"", "", "", "(1)F@[0 1 3]", ""},
		},
		{
			name:    "HISTORICALLY needs its operand at every time point of the window; the run it lasts is the witness",
			formula: "p(x) AND HISTORICALLY[0,2] q(x)", columns: []string{"x"},
			trace: []point{
				at(1, fact("p", 1), fact("q", 1)), at(2, fact("p", 1), fact("p", 2), fact("q", 1), fact("q", 2)),
				at(3, fact("p", 1), fact("p", 2), fact("q", 2)), at(4, fact("p", 2), fact("q", 2)),
				at(9, fact("p", 1), fact("p", 2), fact("q", 1), fact("q", 2)),
			},
			want: []string{"(1)F@[0]", "(1)F@[0 1]", "", "(2)F@[1 3]", "(1)F@[4] (2)F@[1 4]"},
		},
		{
			name:    "HISTORICALLY holds for everything if no time point lies in the window, and without a witness",
			formula: "p(x) AND HISTORICALLY[2,3] q(x)", columns: []string{"x"},
			trace: []point{
				at(0, fact("p", 7)), at(1, fact("p", 7)), at(2, fact("p", 7), fact("q", 1)), at(4, fact("p", 1), fact("p", 7)),
				at(8, fact("p", 1), fact("p", 7)),
			},
			want: []string{"(7)F@[0]", "(7)F@[1]", "", "", "(1)F@[4] (7)F@[4]"},
		},
		{
			name:    "HISTORICALLY with a left bound does not see the present, and takes a run that has ended",
			formula: "p(x) AND HISTORICALLY[1,2] q(x)", columns: []string{"x"},
			trace: []point{at(0, fact("q", 1)), at(1, fact("q", 1)), at(1, fact("q", 1)), at(2, fact("p", 1)), at(3, fact("p", 1))},
			want:  []string{"", "", "", "(1)F@[0 2 3]", ""},
		},
		{
			name:    "HISTORICALLY without an upper bound begins with the trace, equal time stamps or not",
			formula: "p(x) AND HISTORICALLY q(x)", columns: []string{"x"},
			trace: []point{
				at(0, fact("q", 1), fact("q", 2)), at(0, fact("q", 1), fact("q", 2), fact("q", 3)), at(5, fact("q", 1), fact("q", 3)),
				at(6, fact("q", 1), fact("q", 2), fact("q", 3), fact("p", 1), fact("p", 2), fact("p", 3)),
			},
			want: []string{"", "", "", "(1)F@[0 3]"},
		},
		{
			name:    "the weakest evidence within the window of a HISTORICALLY counts",
			formula: "p(x) AND HISTORICALLY[0,2] q(x)", columns: []string{"x"},
			trace: []point{
				at(0, fact("q", 1)), at(1, presumptive(fact("q", 1))), at(3, fact("p", 1), fact("q", 1)), at(4, fact("p", 1), fact("q", 1)),
			},
			want: []string{"", "", "(1)Fp@[0 2]", "(1)F@[0 3]"},
		},
		{
			name:    "NOT HISTORICALLY has the complement of the mark and no witness",
			formula: "p(x) AND NOT (HISTORICALLY[0,2] q(x))", columns: []string{"x"},
			trace: []point{
				at(0, fact("q", 1)), at(1, presumptive(fact("q", 1))), at(3, fact("p", 1), fact("p", 2), fact("q", 1)),
				at(4, fact("p", 1), fact("q", 1)),
			},
			want: []string{"", "", "(1)Tp@[2] (2)F@[2]", ""},
		},
		{
			name:    "HISTORICALLY at both ends of the range of time stamps",
			formula: "p(x) AND HISTORICALLY[3,*] q(x)", columns: []string{"x"},
			trace: []point{
				at(-1<<63, fact("p", 1), fact("q", 2)), at(-1<<63+2, fact("p", 1)), at(1<<63-1, fact("p", 1), fact("p", 2)),
			},
			want: []string{"(1)F@[0]", "(1)F@[1]", ""},
		},
		{
			name:    "equal facts are one, and facts of other shapes are none",
			formula: "p(x)", columns: []string{"x"},
			trace: []point{at(0, presumptive(fact("p", 1)), fact("p", 1), fact("p"), fact("p", 1, 2), fact("z", 3))},
			want:  []string{"(1)F@[0]"},
		},
		{
			name:    "a time stamp that goes back counts as the last one",
			formula: "ONCE[0,1] p(x)", columns: []string{"x"},
			trace: []point{at(5, fact("p", 1)), at(2), at(7)},
			want:  []string{"(1)F@[0]", "(1)F@[0]", ""},
		},
		{
			name:    "time stamps at both ends of their range",
			formula: "ONCE[3,*] p(x)", columns: []string{"x"},
			trace: []point{at(-1<<63, fact("p", 1)), at(1<<63 - 1)},
			want:  []string{"", "(1)F@[0]"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := run(compile(t, core(t, c.formula, c.columns...)), c.trace)
			if !slices.Equal(got, c.want) {
				t.Errorf("%s\n got %q\nwant %q", c.formula, got, c.want)
			}
		})
	}
}

func TestCompileRefuses(t *testing.T) {
	free := []check.Column{{Name: "x"}}
	variable := syntax.Var{Name: "x"}
	p := &syntax.Pred{Name: "p", Args: []syntax.Term{variable}}
	deep := syntax.Formula(p)
	for range mfotl.MaxDelay {
		deep = &syntax.Prev{I: syntax.AnyTime(), F: deep}
	}
	if _, err := mfotl.Compile([]*check.Checked{{Core: deep, Free: free}}); err != nil {
		t.Errorf("%d PREVIOUS: %v", mfotl.MaxDelay, err)
	}
	for _, c := range []struct {
		name string
		f    syntax.Formula
		want string
	}{
		{"an operator outside the core", &syntax.Implies{Left: p, Right: p}, "not an operator of the core"},
		{"an unbound HISTORICALLY", &syntax.Historically{I: syntax.AnyTime(), F: p}, "nothing binds"},
		{"an unbound NOT HISTORICALLY", &syntax.Not{F: &syntax.Historically{I: syntax.AnyTime(), F: p}}, "nothing binds"},
		{"an unbound negation", &syntax.Not{F: p}, "nothing binds"},
		{"an unbound comparison", &syntax.Cmp{Op: syntax.Less, Left: variable, Right: syntax.Const{}}, "nothing binds"},
		{"a disjunction of different variables", &syntax.Or{Left: p, Right: &syntax.Pred{Name: "e"}}, "does not determine"},
		{"another column", &syntax.Pred{Name: "p", Args: []syntax.Term{syntax.Var{Name: "y"}}}, "column x is not"},
		{"a column too many", &syntax.Pred{Name: "e"}, "free variables"},
		{"a left operand with more variables", &syntax.Since{
			I: syntax.AnyTime(), Right: p,
			Left: &syntax.Pred{Name: "r", Args: []syntax.Term{variable, syntax.Var{Name: "y"}}},
		}, "free variables"},
		{"an empty interval", &syntax.Once{I: syntax.Interval{Lo: 3, Hi: 2}, F: p}, "empty"},
		{"a variable both free and bound", &syntax.And{Left: p, Right: &syntax.Exists{Vars: []syntax.Var{variable}, F: p}}, "both free and bound"},
		{"two arities", &syntax.And{Left: p, Right: &syntax.Pred{Name: "p"}}, "arguments here"},
		{"too many PREVIOUS", &syntax.Prev{I: syntax.AnyTime(), F: deep}, "more than 64 PREVIOUS"},
	} {
		_, err := mfotl.Compile([]*check.Checked{{Core: c.f, Free: free}})
		if !errors.Is(err, mfotl.ErrFormula) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want ErrFormula with %q", c.name, err, c.want)
		}
	}
}

func TestBudget(t *testing.T) {
	const budget = 10
	plan, err := mfotl.Compile([]*check.Checked{
		core(t, "p(x) AND NOT (ONCE[0,100] q(x))", "x"),
		core(t, "e() AND ONCE f()"),
		core(t, "p(x)", "x"),
	}, mfotl.WithTuples(budget))
	if err != nil {
		t.Fatal(err)
	}
	st := plan.New()
	adopt := func(ts int64, facts ...schema.Fact) {
		st.Step(ts, 0, facts)
		st.Commit()
	}
	adopt(0, fact("f"))
	for i := range int64(budget - 1) {
		adopt(i, fact("q", i))
	}
	if st.Overflowed() {
		t.Fatalf("overflow at %d tuples, the budget", budget)
	}
	// What has expired does not count.
	for i := range int64(budget - 1) {
		adopt(200+i, fact("q", 20+i))
	}
	if st.Overflowed() {
		t.Fatal("expired tuples count against the budget")
	}
	st.Step(210, 0, []schema.Fact{fact("q", 99)})
	st.Rollback()
	if st.Overflowed() {
		t.Fatal("a step rolled back counts against the budget")
	}
	adopt(210, fact("q", 99))
	if !st.Overflowed() || !st.Lossy(0) || st.Lossy(1) || st.Lossy(2) {
		t.Fatalf("at %d tuples: overflowed %v, lossy %v %v %v; want true, true false false",
			budget+1, st.Overflowed(), st.Lossy(0), st.Lossy(1), st.Lossy(2))
	}
	st, err = plan.Restore(st.AppendState(nil))
	if err != nil {
		t.Fatal(err)
	}
	if !st.Lossy(0) || st.Lossy(1) {
		t.Error("restoring forgot what was lost")
	}
	st.Step(211, 1, []schema.Fact{fact("e")})
	if got := rows(st.Rows(1)); got != "()F@[0 1]" {
		t.Errorf("the window that did not overflow says %q", got)
	}
}

// TestHistoryBudget fills the window of a HISTORICALLY to its budget and over it.
func TestHistoryBudget(t *testing.T) {
	const budget = 10
	plan, err := mfotl.Compile([]*check.Checked{
		core(t, "p(x) AND HISTORICALLY[0,100] q(x)", "x"),
		core(t, "p(x) AND NOT (HISTORICALLY[0,100] q(x))", "x"),
		core(t, "p(x) AND HISTORICALLY[1,100] p(x)", "x"),
	}, mfotl.WithTuples(budget))
	if err != nil {
		t.Fatal(err)
	}
	// What holds from the first time point on needs one entry, what begins later two.
	for _, c := range []struct {
		early, late int
		overflow    bool
	}{
		{budget - 1, 0, false}, {budget, 0, true}, {1, 4, false}, {2, 4, true},
	} {
		var facts []schema.Fact
		for x := range int64(c.early) {
			facts = append(facts, fact("q", x))
		}
		st := plan.New()
		st.Step(0, 0, facts) // one entry more is that no time point was before
		st.Commit()
		for x := range int64(c.late) {
			facts = append(facts, fact("q", 100+x))
		}
		for i := range uint64(3) {
			st.Step(0, 1+i, facts)
			st.Commit()
			if i == 0 {
				if st, err = plan.Restore(st.AppendState(nil)); err != nil {
					t.Fatal(err)
				}
			}
		}
		lossy := []bool{st.Lossy(0), st.Lossy(1), st.Lossy(2)}
		if want := []bool{c.overflow, c.overflow, false}; st.Overflowed() != c.overflow || !slices.Equal(lossy, want) {
			t.Errorf("%d tuples and %d later, budget %d: overflowed %v, lossy %v, want %v",
				c.early, c.late, budget, st.Overflowed(), lossy, want)
		}
	}
}

// TestOverflowIsDeterministic drives two states along one trace around the budget,
// one with restores in between; a window that is full of what has expired must not
// overflow in the one and not in the other.
func TestOverflowIsDeterministic(t *testing.T) {
	plan, err := mfotl.Compile([]*check.Checked{
		core(t, "p(x) AND NOT (ONCE[2,7] q(x))", "x"),
		core(t, "p(x) AND NOT (ONCE[0,3] r(x,x))", "x"),
		core(t, "p(x) AND PREVIOUS (ONCE[0,3] q(x))", "x"),
		core(t, "p(x) AND HISTORICALLY[2,4] q(x)", "x"),
		core(t, "p(x) AND PREVIOUS (p(x) AND NOT (HISTORICALLY[0,3] q(x)))", "x"),
	}, mfotl.WithTuples(36))
	if err != nil {
		t.Fatal(err)
	}
	overflowed := 0
	for seed := range uint64(200) {
		g := newGenerator(seed)
		a, b := plan.New(), plan.New()
		ts := int64(0)
		for range 40 {
			var facts []schema.Fact
			for range g.IntN(5) {
				n := g.Int64N(40)
				f := pick(g, []schema.Fact{fact("q", n), fact("r", n, n), fact("q", n)})
				if g.IntN(3) == 0 {
					f = presumptive(f)
				}
				facts = append(facts, f)
			}
			ts += g.Int64N(3)
			for _, st := range []*mfotl.State{a, b} {
				st.Step(ts, 0, facts)
				st.Commit()
			}
			if b, err = plan.Restore(b.AppendState(nil)); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
		}
		if string(a.AppendState(nil)) != string(b.AppendState(nil)) {
			t.Fatalf("seed %d: states differ", seed)
		}
		if a.Overflowed() {
			overflowed++
		}
	}
	if overflowed == 0 || overflowed == 200 {
		t.Errorf("%d of 200 traces overflowed: the test does not reach the edge", overflowed)
	}
}

func TestFingerprint(t *testing.T) {
	a := compile(t, core(t, "ONCE[0,5] p(x)", "x"))
	renamed := compile(t, core(t, "ONCE[0,5] p(y)", "y"))
	other := compile(t, core(t, "ONCE[0,6] p(x)", "x"))
	if a.Fingerprint() != renamed.Fingerprint() {
		t.Error("the name of a variable changes the fingerprint")
	}
	if a.Fingerprint() == other.Fingerprint() {
		t.Error("the interval does not change the fingerprint")
	}
	if _, err := other.Restore(a.New().AppendState(nil)); !errors.Is(err, mfotl.ErrOther) {
		t.Errorf("a state of another plan: %v, want ErrOther", err)
	}
}

// TestBuiltIns shows that tp, ts and tpts hold without facts, if asked for, and are
// names like any other if not.
func TestBuiltIns(t *testing.T) {
	f := core(t, "e() AND ONCE (f() AND (PREVIOUS tpts(i,t)) AND tp(j) AND ts(t2))", "i", "t", "j", "t2")
	trace := []point{at(5, fact("f")), at(7), at(7, fact("f")), at(9, fact("e"), fact("tp", 40))}
	with, err := mfotl.Compile([]*check.Checked{f}, mfotl.WithBuiltIns())
	if err != nil {
		t.Fatal(err)
	}
	if got := run(with, trace)[3]; got != "(1,7,2,7)F@[1 2 3]" {
		t.Errorf("with built-ins: %q", got)
	}
	if got := run(compile(t, f), trace)[3]; got != "" {
		t.Errorf("without built-ins: %q", got)
	}
	if got := run(compile(t, core(t, "e() AND tp(i)", "i")), trace)[3]; got != "(40)F@[3]" {
		t.Errorf("a fact named tp without built-ins: %q", got)
	}
}

// TestCopies compiles a formula in which one node occurs twice, bound names and
// all, as the checker makes them.
func TestCopies(t *testing.T) {
	guard := core(t, "EXISTS y. (r(x,y) AND ONCE q(y))", "x").Core
	p := &syntax.Pred{Name: "p", Args: []syntax.Term{syntax.Var{Name: "x"}}}
	f := &syntax.Or{
		Left:  &syntax.And{Left: guard, Right: &syntax.And{Left: p, Right: guard}},
		Right: &syntax.And{Left: guard, Right: &syntax.Not{F: &syntax.Or{Left: p, Right: &syntax.Not{F: guard}}}},
	}
	plan := compile(t, &check.Checked{Core: f, Free: []check.Column{{Name: "x"}}})
	got := run(plan, []point{at(0, fact("q", 5)), at(1, fact("r", 1, 5), fact("r", 2, 6), fact("r", 3, 5), fact("p", 3))})
	if want := []string{"", "(1)F@[0 1] (3)F@[0 1]"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestMisuse shows that calls out of order are caught rather than corrupting a
// state.
func TestMisuse(t *testing.T) {
	plan := compile(t, core(t, "p(x)", "x"))
	for name, misuse := range map[string]func(st *mfotl.State){
		"commit without step":   func(st *mfotl.State) { st.Commit() },
		"rollback without step": func(st *mfotl.State) { st.Rollback() },
		"rows without step":     func(st *mfotl.State) { st.Rows(0) },
		"step twice":            func(st *mfotl.State) { st.Step(0, 0, nil); st.Step(0, 0, nil) },
		"encode within a step":  func(st *mfotl.State) { st.Step(0, 0, nil); st.AppendState(nil) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			misuse(plan.New())
		}()
	}
}
