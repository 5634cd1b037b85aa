package temporal_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/aspis-rv/aspis/internal/lang/check"
	"github.com/aspis-rv/aspis/internal/lang/syntax"
	"github.com/aspis-rv/aspis/internal/mfotl"
	"github.com/aspis-rv/aspis/pkg/aspects"
	"github.com/aspis-rv/aspis/pkg/aspects/temporal"
	"github.com/aspis-rv/aspis/pkg/policy"
	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

func pred(name string, vars ...string) syntax.Formula {
	p := &syntax.Pred{Name: name}
	for _, v := range vars {
		p.Args = append(p.Args, syntax.Var{Name: v})
	}
	return p
}

func and(l, r syntax.Formula) syntax.Formula { return &syntax.And{Left: l, Right: r} }
func not(f syntax.Formula) syntax.Formula    { return &syntax.Not{F: f} }
func once(f syntax.Formula) syntax.Formula   { return &syntax.Once{I: syntax.AnyTime(), F: f} }
func previous(f syntax.Formula) syntax.Formula {
	return &syntax.Prev{I: syntax.AnyTime(), F: f}
}

func stringColumns(names ...string) []check.Column {
	var out []check.Column
	for _, n := range names {
		out = append(out, check.Column{Name: n, Kind: schema.KindString})
	}
	return out
}

func formula(role schema.Role, name string, c *check.Checked) policy.Formula {
	return policy.Formula{Aspect: aspects.Temporal, Role: role, Name: name, Checked: c}
}

// bundle has three clauses: c1 forbids a destructive call without an earlier
// approval, guarded by a sensitive object; c0 forbids a leak seen now; c2 forbids
// sending what was read before.
func bundle() *policy.Bundle {
	approval := &check.Checked{
		Core:    and(pred("destructive", "c"), not(previous(once(pred("approval", "c"))))),
		Free:    stringColumns("c"),
		Anchors: []string{"destructive"},
		Absence: true, Historic: true,
	}
	sensitive := &check.Checked{Core: pred("sensitive", "c"), Free: stringColumns("c"), Anchors: []string{"sensitive"}}
	leak := &check.Checked{Core: pred("leak", "c"), Free: stringColumns("c"), Anchors: []string{"leak"}}
	resend := &check.Checked{
		Core:    and(pred("send", "d"), once(pred("read", "d"))),
		Free:    stringColumns("d"),
		Anchors: []string{"send"}, Historic: true,
	}
	return &policy.Bundle{
		Digest: [32]byte{7},
		Clauses: []policy.Clause{
			{ID: "c1", Formulas: []policy.Formula{
				formula(schema.RoleForbid, "", approval),
				formula(schema.RoleGuard, "sensitive", sensitive),
			}},
			{ID: "c2", Shadow: true, Formulas: []policy.Formula{formula(schema.RoleForbid, "", resend)}},
			{ID: "c0", Formulas: []policy.Formula{
				formula(schema.RoleForbid, "", leak),
				{Aspect: aspects.Spatial, Role: schema.RoleForbid, Name: "elsewhere", Checked: leak},
			}},
		},
	}
}

// input is time point n with facts written `name(arg)`, presumptive ones with a
// question mark behind.
func input(n int, evidence verdict.Completeness, facts string) aspects.Input {
	in := aspects.Input{TimePoint: uint64(n), Timestamp: int64(n), Offset: uint64(100 + n), Evidence: evidence}
	for f := range strings.FieldsSeq(facts) {
		f, presumptive := strings.CutSuffix(f, "?")
		name, arg, _ := strings.Cut(strings.TrimSuffix(f, ")"), "(")
		fact := schema.Fact{Name: name, Args: []schema.Value{schema.StringValue(arg)}}
		if presumptive {
			fact.Strength = verdict.Presumptive
		}
		in.Facts = append(in.Facts, fact)
	}
	return in
}

func show(parts []schema.Part) string {
	var out []string
	for _, p := range parts {
		s := p.Clause
		if p.Role == schema.RoleGuard {
			s += "?" + p.Name
		}
		for _, r := range p.Rows {
			s += fmt.Sprintf(" %s=%v%v@%v", p.Columns[0], r.Values[0], r.Mark, r.Witness)
		}
		if p.Completeness != verdict.Sound {
			s += " " + p.Completeness.String()
		}
		if p.Absence {
			s += " absence"
		}
		out = append(out, s)
	}
	return strings.Join(out, "; ")
}

func TestJudge(t *testing.T) {
	e, err := temporal.New(bundle())
	if err != nil {
		t.Fatal(err)
	}
	m := e.New()
	steps := []struct {
		facts    string
		evidence verdict.Completeness
		refused  bool
		want     string
	}{
		{facts: "read(x)"},
		{
			facts: "destructive(db) sensitive(db)", refused: true,
			want: `c1 c="db"F@[101] absence; c1?sensitive c="db"F@[101]`,
		},
		// The refused call left nothing; an approval at the same time point is too late.
		{facts: "destructive(db) approval(db)", refused: true, want: `c1 c="db"F@[102] absence`},
		{facts: "approval(db) approval(fs)?"},
		{facts: "destructive(db)"},
		// An approval that is only presumed leaves a presumption of violation.
		{facts: "destructive(fs)", want: `c1 c="fs"Tp@[105] absence`},
		{facts: "leak(k) send(x)", want: `c0 c="k"F@[106]; c2 d="x"F@[100 106]`},
		// A gap in the history touches what reads history and is triggered, no more.
		{facts: "leak(k)", evidence: verdict.Degraded, want: `c0 c="k"F@[107]`},
		{facts: "send(y) destructive(db)", evidence: verdict.Incomplete, want: `c1 incomplete absence; c2 incomplete`},
	}
	for n, s := range steps {
		in := input(n, s.evidence, s.facts)
		before := m.AppendState(nil)
		if got := show(m.Judge(in)); got != s.want {
			t.Errorf("time point %d, %s:\n got %s\nwant %s", n, s.facts, got, s.want)
		}
		m.Advance(int64(n) + 1000)
		if !bytes.Equal(before, m.AppendState(nil)) {
			t.Errorf("time point %d: judging changed the state", n)
		}
		if !s.refused {
			m.Adopt(in)
		}
	}
}

func TestRestore(t *testing.T) {
	e, err := temporal.New(bundle())
	if err != nil {
		t.Fatal(err)
	}
	m := e.New()
	m.Adopt(input(0, verdict.Sound, "read(x) approval(a)"))
	saved := m.AppendState([]byte("prefix"))[len("prefix"):]
	r, err := e.Restore(saved)
	if err != nil {
		t.Fatal(err)
	}
	in := input(1, verdict.Sound, "send(x) destructive(a) destructive(b)")
	if got, want := show(r.Judge(in)), show(m.Judge(in)); got != want || got == "" {
		t.Errorf("restored monitor says %q, the original %q", got, want)
	}
	other := bundle()
	other.Digest[31] = 1
	o, err := temporal.New(other)
	if err != nil {
		t.Fatal(err)
	}
	version := bytes.Clone(saved)
	version[0]++
	for name, try := range map[string]func() error{
		"another policy":  func() error { _, err := o.Restore(saved); return err },
		"another version": func() error { _, err := e.Restore(version); return err },
		"truncated":       func() error { _, err := e.Restore(saved[:len(saved)-1]); return err },
		"empty":           func() error { _, err := e.Restore(nil); return err },
	} {
		if err := try(); !errors.Is(err, temporal.ErrState) {
			t.Errorf("%s: %v, want ErrState", name, err)
		}
	}
}

func TestNewNamesTheClause(t *testing.T) {
	b := bundle()
	b.Clauses[1].Formulas[0].Checked = &check.Checked{Core: not(pred("p", "x")), Free: stringColumns("x")}
	b.Clauses[1].Formulas[0].File, b.Clauses[1].Formulas[0].Line, b.Clauses[1].Formulas[0].Col = "rules.yaml", 7, 3
	_, err := temporal.New(b)
	if err == nil || !strings.Contains(err.Error(), "rules.yaml:7:3: clause c2") {
		t.Errorf("error %v does not name the place", err)
	}
}

func TestOneEngineManyTraces(t *testing.T) {
	e, err := temporal.New(bundle())
	if err != nil {
		t.Fatal(err)
	}
	for i := range 4 {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			m := e.New()
			for n := range 200 {
				m.Adopt(input(n, verdict.Sound, fmt.Sprintf("read(f%d)", n%7)))
			}
			if got, want := show(m.Judge(input(200, verdict.Sound, "send(f3)"))), `c2 d="f3"F@[299 300]`; got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
}

// A trace that outgrows the engine's memory says so wherever a clause could have
// fired, and goes on saying so after it was restored.
func TestOverflow(t *testing.T) {
	e, err := temporal.New(bundle())
	if err != nil {
		t.Fatal(err)
	}
	m := e.New()
	flood := func(n, from, count int) {
		in := aspects.Input{Timestamp: int64(n), Offset: uint64(n)}
		for i := range count {
			in.Facts = append(in.Facts, schema.Fact{Name: "read", Args: []schema.Value{schema.StringValue(fmt.Sprint(from + i))}})
		}
		m.Adopt(in)
	}
	flood(0, 0, mfotl.DefaultTuples)
	if got, want := show(m.Judge(input(1, verdict.Sound, "send(7) destructive(a)"))), `c1 c="a"F@[101] absence; c2 d="7"F@[0 101]`; got != want {
		t.Errorf("at the limit: got %s, want %s", got, want)
	}
	flood(1, mfotl.DefaultTuples, 1)
	want := `c1 c="a"F@[102] absence; c2 incomplete`
	if got := show(m.Judge(input(2, verdict.Sound, "send(7) destructive(a)"))); got != want {
		t.Errorf("beyond it: got %s, want %s", got, want)
	}
	if got := show(m.Judge(input(2, verdict.Sound, "leak(a)"))); got != `c0 c="a"F@[102]` {
		t.Errorf("beyond it, a clause that is not touched: got %s", got)
	}
	r, err := e.Restore(m.AppendState(nil))
	if err != nil {
		t.Fatal(err)
	}
	if got := show(r.Judge(input(2, verdict.Sound, "send(7) destructive(a)"))); got != want {
		t.Errorf("restored: got %s, want %s", got, want)
	}
}

// A bundle without temporal clauses has monitors that say nothing.
func TestNoClauses(t *testing.T) {
	e, err := temporal.New(&policy.Bundle{})
	if err != nil {
		t.Fatal(err)
	}
	m := e.New()
	m.Adopt(input(0, verdict.Incomplete, "p(x)"))
	if parts := m.Judge(input(1, verdict.Incomplete, "p(x)")); len(parts) > 0 {
		t.Errorf("got %s", show(parts))
	}
	if _, err := e.Restore(m.AppendState(nil)); err != nil {
		t.Error(err)
	}
}

// within has one clause: a call that needs an approval of the last hundred ns.
func within() *policy.Bundle {
	approval := &check.Checked{
		Core:      and(pred("destructive", "c"), not(&syntax.Once{I: syntax.Interval{Hi: 100}, F: pred("approval", "c")})),
		Free:      stringColumns("c"),
		Anchors:   []string{"destructive"},
		Relations: []string{"approval", "destructive"},
		Absence:   true, Historic: true,
	}
	return &policy.Bundle{Clauses: []policy.Clause{{ID: "c", Formulas: []policy.Formula{formula(schema.RoleForbid, "", approval)}}}}
}

// TestUncertainOutOfReach: a fact that is unknown matters as long as the formula
// reaches back to it.
func TestUncertainOutOfReach(t *testing.T) {
	e, err := temporal.New(within())
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		relation string
		at, now  int64
		want     verdict.Completeness
	}{
		{"approval", 50, 150, verdict.Incomplete},
		{"approval", 50, 151, verdict.Sound},
		{"approval", 50, 40, verdict.Incomplete},
		{"other", 50, 60, verdict.Sound},
	} {
		in := input(0, verdict.Sound, "destructive(db)")
		in.Timestamp, in.Uncertain = tc.now, []aspects.Uncertain{{Relation: tc.relation, At: tc.at}}
		if parts := e.New().Judge(in); len(parts) != 1 || parts[0].Completeness != tc.want {
			t.Errorf("%s unknown at %d, judged at %d: %s, want %s", tc.relation, tc.at, tc.now, show(parts), tc.want)
		}
	}
}

// TestWeakenedOutOfReach: what is missing matters as long as the formula reaches back
// to it, and for ever where it reaches back for ever.
func TestWeakenedOutOfReach(t *testing.T) {
	for _, tc := range []struct {
		bundle *policy.Bundle
		now    int64
		want   verdict.Completeness
	}{
		{within(), 150, verdict.Degraded}, {within(), 151, verdict.Sound}, {bundle(), 1_000_000, verdict.Degraded},
	} {
		e, err := temporal.New(tc.bundle)
		if err != nil {
			t.Fatal(err)
		}
		in := input(0, verdict.Degraded, "destructive(db)")
		in.Timestamp, in.Weakened = tc.now, 50
		if parts := e.New().Judge(in); len(parts) != 1 || parts[0].Completeness != tc.want {
			t.Errorf("weakened up to 50, judged at %d: %s, want %s", tc.now, show(parts), tc.want)
		}
	}
}

// TestFaultIsIncomplete judges a clause one term of which has no value: it must say so,
// also if nothing else fires, at that event and at no other.
func TestFaultIsIncomplete(t *testing.T) {
	f, diags := syntax.Parse(`send(x) AND 1 < s2i(x)`, syntax.Options{Mode: syntax.MonPoly})
	if f == nil {
		t.Fatal(diags)
	}
	checked := &check.Checked{Core: f, Free: stringColumns("x"), Anchors: []string{"send"}}
	e, err := temporal.New(&policy.Bundle{Clauses: []policy.Clause{
		{ID: "c", Formulas: []policy.Formula{formula(schema.RoleForbid, "", checked)}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	m := e.New()
	for i, c := range []struct{ facts, want string }{
		{"send(2)", `c x="2"F@[100]`},
		{"send(one)", "c incomplete"},
		{"send(1)", ""},
		{"send(one) send(3)", `c x="3"F@[103] incomplete`},
		{"", ""},
	} {
		in := input(i, verdict.Sound, c.facts)
		if got := show(m.Judge(in)); got != c.want {
			t.Errorf("%s: %s, want %s", c.facts, got, c.want)
		}
		m.Adopt(in)
	}
}
