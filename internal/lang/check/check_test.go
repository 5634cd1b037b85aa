package check

import (
	"slices"
	"strings"
	"testing"

	"github.com/aspis-rv/aspis/internal/diag"
	"github.com/aspis-rv/aspis/internal/diag/diagtest"
	"github.com/aspis-rv/aspis/internal/lang/syntax"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// parse reads a formula that must be well formed.
func parse(t *testing.T, src string, mode syntax.Mode) syntax.Formula {
	t.Helper()
	f, diags := syntax.Parse(src, syntax.Options{Mode: mode})
	if f == nil {
		t.Fatalf("%s: %v", src, diags)
	}
	return f
}

func TestDiagnosticsOnTheirLines(t *testing.T) {
	const path = "testdata/errors.txt"
	for _, c := range diagtest.Read(t, path) {
		f, diags := syntax.Parse(c.Source, syntax.Options{})
		if f == nil {
			t.Errorf("%s:%d: %v", path, c.Line, diags)
			continue
		}
		_, diags = Check(f, testSignature(), Options{
			Forbid: c.Has("forbid"), BuiltIn: c.Has("builtin"), Future: c.Has("future"), New: c.Has("new"),
		})
		c.Compare(t, path, diags)
	}
}

// Every code but the internal one has an example that produces it and a repair that
// produces nothing.
func TestEveryCodeIsExplainedAndProduced(t *testing.T) {
	explained := map[diag.Code]bool{}
	for _, e := range Explanations() {
		explained[e.Code] = true
		opts := Options{Forbid: e.Setting == SettingForbid, Future: e.Setting == SettingFuture}
		_, diags := Check(parse(t, e.Wrong, syntax.Bundle), testSignature(), opts)
		if !slices.ContainsFunc(diags, func(d diag.Diagnostic) bool { return d.Code == e.Code }) {
			t.Errorf("%s (%s): %.60q does not produce it: %v", e.Code, e.Title, e.Wrong, diags)
		}
		if c, diags := Check(parse(t, e.Repair, syntax.Bundle), testSignature(), opts); c == nil || len(diags) > 0 {
			t.Errorf("%s: the repair %.60q is wrong: %v", e.Code, e.Repair, diags)
		}
	}
	for _, c := range []diag.Code{
		CodeRelation, CodeArity, CodeUnused, CodeType, CodeNegation, CodeComparison, CodeOr, CodeSince,
		CodeNoAnchor, CodeNever, CodeTooComplex, CodeLet, CodeUnusedLet, CodeAggregate, CodeFuture, CodeUnbounded, CodeNew,
		CodeArgument,
	} {
		if !explained[c] {
			t.Errorf("%s has no explanation", c)
		}
	}
}

// A fault inside the checker becomes a diagnostic with its stack.
func TestFaultBecomesDiagnostic(t *testing.T) {
	c, diags := Check(nil, testSignature(), Options{})
	if c != nil || len(diags) != 1 || diags[0].Code != CodeInternal || !strings.Contains(diags[0].Hint, "goroutine") {
		t.Errorf("got %v, %v", c, diags)
	}
}

func TestCore(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{"FORALL x. (p(x) IMPLIES q(x))", "NOT (EXISTS x. (p(x) AND (NOT q(x))))"},
		{"HISTORICALLY[0,5s] a()", "NOT (ONCE[0,5s] (NOT a()))"},
		{"a() EQUIV b()", "(NOT (a() AND (NOT b()))) AND (NOT (b() AND (NOT a())))"},
		{"x < 3 AND p(x)", "p(x) AND (x < 3)"},
		{"NOT q(x) AND x != 3 AND p(x)", ""},
		{"NOT q(x) AND NOT (x = 3) AND p(x)", "p(x) AND (NOT q(x)) AND (NOT (x = 3))"},
		{"p(x) AND y = x AND NOT (y > 2)", "p(x) AND (y = x) AND (y <= 2)"},
		{"p(x) AND NOT r(x, _)", "p(x) AND (NOT (EXISTS _1. r(x, _1)))"},
		{"r(_, _) AND p(_1)", "(EXISTS _1, _2. r(_1, _2)) AND (EXISTS _1_1. p(_1_1))"},
		{"p(x) AND (EXISTS x. q(x))", "p(x) AND (EXISTS x_1. q(x_1))"},
		{"p(x) AND (x < 1 OR x > 5)", "(p(x) AND (x < 1)) OR (p(x) AND (x > 5))"},
		{"p(x) AND NOT (x < 1 OR q(x))", "p(x) AND (x >= 1) AND (NOT q(x))"},
		{"p(x) AND (PREVIOUS (NOT q(x)))", "p(x) AND (PREVIOUS[0,*) TRUE) AND (NOT (PREVIOUS[0,*) q(x)))"},
		{"p(x) AND (ONCE x > 3)", "p(x) AND (ONCE[0,*) TRUE) AND (x > 3)"},
		{"(x > 3) SINCE[2s,9s] q(x)", "(NOT ((ONCE[0,9s] q(x)) AND (x <= 3))) SINCE[2s,9s] q(x)"},
		{"(NOT p(x)) SINCE r(x, y)", "(NOT p(x)) SINCE[0,*) r(x, y)"},
		{"NOT NOT NOT a()", "NOT a()"},
		{"p(x) AND 1 < 2", "p(x) AND TRUE"},
		{"p(x) AND NOT (FORALL y. (r(x, y) IMPLIES q(y)))", "p(x) AND (EXISTS y. (r(x, y) AND (NOT q(y))))"},
	} {
		f, _ := syntax.Parse(c.src, syntax.Options{})
		if c.want == "" {
			if f != nil {
				t.Errorf("%s was parsed", c.src)
			}
			continue
		}
		got, diags := Check(f, testSignature(), Options{})
		if got == nil {
			t.Errorf("%s: %v", c.src, diags)
		} else if s := syntax.Format(got.Core, syntax.Bundle); s != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.src, s, c.want)
		}
	}
}

func TestFacts(t *testing.T) {
	for _, c := range []struct {
		src, free, judgedOn, relations string
		absence, historic              bool
	}{
		{"p(x) AND NOT (ONCE[0,6h] q(x))", "x int", "p", "p q", true, true},
		{"p(x) AND (ONCE q(x))", "x int", "p", "p q", false, true},
		{"p(x) AND NOT (x = 1 OR x > 5)", "x int", "p", "p", false, false},
		{"(p(x) AND a()) OR q(x)", "x int", "p or q", "a p q", false, false},
		{"p(x) OR (ONCE q(x))", "x int", "", "p q", false, true},
		{"r(y, x) AND s(n) AND f(v)", "y int, x int, n string, v float", "r", "f r s", false, false},
		{"p(x) SINCE r(y, x)", "y int, x int", "p or r", "p r", true, true},
		{"p(x) SINCE[1s,*) r(y, x)", "y int, x int", "p", "p r", true, true},
		{"(x > 3) SINCE p(x)", "x int", "", "p", false, true},
		{"PREVIOUS p(x)", "x int", "", "p", true, true},
		{"FORALL x. (p(x) IMPLIES q(x))", "", "", "p q", true, false},
		{"NOT (FORALL x. (p(x) IMPLIES q(x)))", "", "p", "p q", true, false},
		{"p(x) AND tp(i) AND y = i", "x int, i int, y int", "p", "p tp", false, false},
		{"s(n) AND n = m AND m < \"b\"", "n string, m string", "s", "s", false, false},
		{"p(x) AND (HISTORICALLY q(x))", "x int", "p", "p q", true, true},
	} {
		got, diags := Check(parse(t, c.src, syntax.Bundle), testSignature(), Options{BuiltIn: true})
		if got == nil {
			t.Errorf("%s: %v", c.src, diags)
			continue
		}
		var free []string
		for _, col := range got.Free {
			free = append(free, col.Name+" "+col.Kind.String())
		}
		for _, x := range []struct {
			what      string
			got, want any
		}{
			{"free", strings.Join(free, ", "), c.free},
			{"judged on", got.JudgedOn(), c.judgedOn},
			{"relations", strings.Join(got.Relations, " "), c.relations},
			{"absence", got.Absence, c.absence},
			{"historic", got.Historic, c.historic},
		} {
			if x.got != x.want {
				t.Errorf("%s: %s is %v, want %v", c.src, x.what, x.got, x.want)
			}
		}
	}
}

// MonPoly's (n,n+1) contains nothing; the core has no empty interval.
func TestEmptyIntervals(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{"ONCE(3,4) p(x)", "p(x) AND FALSE"},
		{"a() AND NOT (PREVIOUS(0,1) b())", "a() AND (NOT (b() AND FALSE))"},
		{"a() AND HISTORICALLY(3,4) b()", "a() AND TRUE"},
		{"a() AND NOT (HISTORICALLY(3,4) b())", "a() AND FALSE"},
		{"p(x) SINCE(3,4) q(x)", "q(x) AND FALSE"},
	} {
		f, _ := syntax.Parse(c.src, syntax.Options{Mode: syntax.MonPoly})
		got, diags := Check(f, testSignature(), Options{Mode: syntax.MonPoly})
		if got == nil {
			t.Errorf("%s: %v", c.src, diags)
		} else if got.Core.String() != c.want {
			t.Errorf("%s: got %s, want %s", c.src, got.Core, c.want)
		}
	}
}

func TestBuiltInsAreOptional(t *testing.T) {
	f := parse(t, "p(x) AND tp(i)", syntax.Bundle)
	if c, _ := Check(f, testSignature(), Options{}); c != nil {
		t.Error("tp was accepted")
	}
	sig := testSignature()
	sig["tp"] = []schema.ValueKind{schema.KindInt}
	if c, diags := Check(parse(t, "tp(i)", syntax.Bundle), sig, Options{Forbid: true, BuiltIn: true}); c == nil {
		t.Errorf("a declared tp is an anchor: %v", diags)
	}
}

func FuzzCheck(f *testing.F) {
	for _, e := range Explanations() {
		if len(e.Wrong) < 500 {
			f.Add(e.Wrong)
			f.Add(e.Repair)
		}
	}
	f.Add("p(x) AND (ONCE (NOT q(x))) AND ((x > 3) SINCE r(x, y)) AND NOT (y = 1 OR y > 5)")
	f.Add("FORALL x. (p(x) EQUIV (EXISTS y. (r(x, y) AND (PREVIOUS (NOT q(y))))))")
	f.Fuzz(func(t *testing.T, src string) {
		g, _ := syntax.Parse(src, syntax.Options{Mode: syntax.MonPoly})
		if g == nil {
			return
		}
		c, diags := Check(g, testSignature(), Options{Mode: syntax.MonPoly, BuiltIn: true, Future: true})
		if (c == nil) != diags.HasErrors() {
			t.Fatalf("result %v with %v", c, diags)
		}
		for _, d := range diags {
			if d.Code == CodeInternal {
				t.Fatalf("%v\n%s", d, d.Hint)
			}
		}
		if c == nil {
			return
		}
		if err := promised(c); err != nil {
			t.Fatalf("%s\ncore %s\n%v", g, c.Core, err)
		}
	})
}
