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
			Forbid: c.Has("forbid"), BuiltIn: c.Has("builtin"), Future: c.Has("future"), World: testWorld(c.Has("world")),
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
		opts := Options{
			Forbid: e.Setting == SettingForbid || e.Setting == SettingWorld, Future: e.Setting == SettingFuture,
			World: testWorld(e.Setting == SettingWorld),
		}
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
		CodeArgument, CodeAt, CodeLocation, CodeState, CodePastWorld, CodeEveryPoint,
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
		// Terms and matches.
		{"y = x + 1 AND p(x)", "p(x) AND (y = x + 1)"},
		{"x = 60 * 60", "x = 60 * 60"},
		{"1 + 1 = 2", "TRUE AND (1 + 1 = 2)"},
		{"NOT (1 + 1 = 2) AND a()", "TRUE AND (NOT (1 + 1 = 2)) AND a()"},
		{`n MATCHES r"(a)b" (k) AND s(n) AND NOT (k SUBSTRING n)`, `s(n) AND (n MATCHES r"(a)b" (k)) AND (NOT (k SUBSTRING n))`},
		{`s(n) AND n MATCHES r"(a)(b)" (_, k)`, `EXISTS _1. (s(n) AND (n MATCHES r"(a)(b)" (_1, k)))`},
		{`"a" SUBSTRING "ab"`, `TRUE AND ("a" SUBSTRING "ab")`},
		// Aggregations.
		{"n > 3 AND (n <- CNT x p(x))", "(n <- CNT x p(x)) AND (n > 3)"},
		{"p(x) AND (n <- CNT x q(x))", "p(x) AND (n <- CNT x_1 q(x_1))"},
		{"p(k) AND (n <- CNT x; k (r(x, y) AND k < x))", "p(k) AND (n <- CNT x; k (p(k) AND r(x, y) AND (k < x)))"},
		{"r(k, z) AND (n <- CNT x; k (r(x, y) AND k < x))", "r(k, z) AND (n <- CNT x; k ((EXISTS z_1. r(k, z_1)) AND r(x, y) AND (k < x)))"},
		// Definitions.
		{"LET u(x) = p(x) AND NOT q(x) IN (ONCE[0,2s] u(x))", "ONCE[0,2s] (p(x) AND (NOT q(x)))"},
		{"LET u(x, y) = r(x, y) IN (u(z, z) AND u(3, _))", "r(z, z) AND (EXISTS _1. r(3, _1))"},
		{"LET u(x) = (EXISTS y. r(x, y)) IN (u(y) AND u(x))", "(EXISTS y_1_1. r(y, y_1_1)) AND (EXISTS y_1_2. r(x, y_1_2))"},
		{"LET u(n, k) = (n <- CNT x; k r(k, x)) IN u(2, k)", "EXISTS n_1. ((n_1 <- CNT x_1; k r(k, x_1)) AND (n_1 = 2))"},
		{"LET p(x) = p(x) AND q(x) IN p(x)", "p(x) AND q(x)"},
		{"LET u(x) = p(x) IN (LET p(x) = q(x) AND u(x) IN p(x))", "q(x) AND p(x)"},
		{"LET u(x) = (NOT q(x)) IN (p(x) AND u(x))", "p(x) AND (NOT q(x))"},
		// The future.
		{"NOT (ALWAYS[0,5s] a())", "EVENTUALLY[0,5s] (NOT a())"},
		{"p(x) AND (ALWAYS[0,5s] q(x))", "p(x) AND (NOT (EVENTUALLY[0,5s] ((ONCE[0,5s] p(x)) AND (NOT q(x)))))"},
		{"p(x) AND (EVENTUALLY[1s,5s] x > 3)", "p(x) AND (EVENTUALLY[1s,5s] TRUE) AND (x > 3)"},
		{"p(x) AND (NEXT (NOT q(x)))", "p(x) AND (NEXT[0,*) TRUE) AND (NOT (NEXT[0,*) q(x)))"},
		{"p(x) AND ((NOT q(x)) UNTIL[0,5s] a())", "p(x) AND ((NOT q(x)) UNTIL[0,5s] ((ONCE[0,5s] p(x)) AND a()))"},
		{"(x > 3) UNTIL[2s,9s] q(x)", "(NOT ((EVENTUALLY[0,9s] q(x)) AND (x <= 3))) UNTIL[2s,9s] q(x)"},
		// The world.
		{"NEW (holds(v, o) AND label(v, \"x\")) AND NOT a()", "NEW (holds(v, o) AND label(v, \"x\")) AND (NOT a())"},
		{"AT v (ridge) AND vertex(v)", "vertex(v) AND AT v (ridge)"},
		{"NOT AT v (ridge) AND vertex(v)", "vertex(v) AND (NOT AT v (ridge))"},
		{`AT "x" (ridge)`, `TRUE AND AT "x" (ridge)`},
		{`a() AND NOT AT "x" (ridge)`, `a() AND (NOT AT "x" (ridge))`},
		{`NOT AT "x" (ridge)`, `NOT (TRUE AND AT "x" (ridge))`},
		{"vertex(v) AND AT v ((NOT ridge) REACH[0,4] (threat OR NOT mask))", "vertex(v) AND AT v ((NOT ridge) REACH[0,4] (threat OR (NOT mask)))"},
		{"vertex(v) AND AT v (FORALL o. (holds(@l, o) IMPLIES own))", "vertex(v) AND AT v (NOT (EXISTS o. (holds(@l, o) AND (NOT own))))"},
		{"lz(m, v) AND AT v (@l = m)", "lz(m, v) AND AT v (TRUE AND (@l = m))"},
		{
			"lz(m, v) AND AT v (NOT holds(@l, m) AND (EXISTS o. (o = m AND holds(@l, o))))",
			"lz(m, v) AND AT v ((NOT holds(@l, m)) AND (EXISTS o. ((o = m) AND holds(@l, o))))",
		},
		{
			"vertex(v) AND AT v (EXISTS o. ((SOMEWHERE[0,3] holds(@l, o)) AND holds(@l, o)))",
			"vertex(v) AND AT v (EXISTS o. (holds(@l, o) AND (SOMEWHERE[0,3] holds(@l, o))))",
		},
		{"vertex(v) AND AT v (holds(@l, _))", "vertex(v) AND AT v (EXISTS _1. holds(@l, _1))"},
		{"vertex(v) AND AT v (holds(@l, v) OR ridge)", "vertex(v) AND AT v (holds(@l, v) OR ridge)"},
		{"vertex(v) AND (AT v (ridge) OR AT v (mask))", "(vertex(v) AND AT v (ridge)) OR (vertex(v) AND AT v (mask))"},
		{"(AT v (ridge)) SINCE lz(m, v)", "(NOT ((ONCE[0,*) lz(m, v)) AND (NOT AT v (ridge)))) SINCE[0,*) lz(m, v)"},
		{"LET near(v, n) = label(v, n) IN (lz(m, v) AND AT v (near(@l, m)))", "lz(m, v) AND AT v (label(@l, m))"},
		{
			"LET up(v) = AT v (EXISTS o. holds(@l, o)) IN (lz(m, v) AND up(v) AND up(m))",
			"lz(m, v) AND AT v (EXISTS o_1. holds(@l, o_1)) AND AT m (EXISTS o_2. holds(@l, o_2))",
		},
		{"lz(m, v) AND (EXISTS v. (vertex(v) AND AT v (holds(@l, m))))", "EXISTS v_1. (lz(m, v) AND vertex(v_1) AND AT v_1 (holds(@l, m)))"},
	} {
		f, _ := syntax.Parse(c.src, syntax.Options{})
		if c.want == "" {
			if f != nil {
				t.Errorf("%s was parsed", c.src)
			}
			continue
		}
		got, diags := Check(f, testSignature(), everything())
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
		{"p(x) AND y = x + 1", "x int, y int", "p", "p", false, false},
		{"p(x) AND v = i2f(x) / 2.0", "x int, v float", "p", "p", false, false},
		{`s(n) AND n MATCHES r"(a)" (k)`, "n string, k string", "s", "s", false, false},
		{"n <- CNT x p(x)", "n int", "", "p", true, false},
		{"n <- CNT v; k (p(k) AND f(v))", "n int, k int", "p", "f p", true, false},
		{"m <- MAX v f(v)", "m float", "", "f", true, false},
		{"m <- MED x; x p(x)", "m float, x int", "p", "p", true, false},
		{"LET u(x, y) = r(x, y) AND (ONCE p(x)) IN u(i, j)", "i int, j int", "r", "p r", false, true},
		{"LET u(x) = (ONCE p(x)) IN q(x)", "x int", "q", "q", false, false},
		{"EVENTUALLY[0,5s] p(x)", "x int", "", "p", false, false},
		{"NEXT p(x)", "x int", "", "p", true, false},
		{"p(x) UNTIL[0,5s] r(y, x)", "y int, x int", "p or r", "p r", true, false},
		{"p(x) UNTIL[1s,5s] r(y, x)", "y int, x int", "p", "p r", true, false},
		{"NEW (lz(m, v))", "m string, v string", "a change of lz", "lz", true, false},
		{"NEW (lz(m, v) AND AT v (ridge AND holds(@l, m)))", "m string, v string", "a change of holds or lz or the graph", "holds lz the graph", true, false},
		{"lz(m, v)", "m string, v string", "", "lz", false, false},
		{"s(m) AND lz(m, v) AND AT v (ridge REACH[0,5] threat)", "m string, v string", "s", "lz s the graph", false, false},
		{"s(m) AND lz(m, v) AND AT v (ridge REACH[1,5] threat)", "m string, v string", "s", "lz s the graph", true, false},
		{"s(m) AND lz(m, v) AND AT v (NOT ridge)", "m string, v string", "s", "lz s the graph", true, false},
		{"s(m) AND lz(m, v) AND NOT AT v (ridge)", "m string, v string", "s", "lz s the graph", true, false},
		{"s(m) AND NEW (lz(m, v))", "m string, v string", "s", "lz s", true, false},
		{"NEW (lz(m, v)) AND s(m) AND (ONCE s(m))", "m string, v string", "s", "lz s", true, true},
		{"s(m) OR NEW (vertex(m))", "m string", "s or a change of vertex", "s vertex", true, false},
	} {
		got, diags := Check(parse(t, c.src, syntax.Bundle), testSignature(), Options{BuiltIn: true, Future: true, World: testWorld(true)})
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

// A constant may be put in the place of a variable before the check.
func TestTheVertexOfATIsAString(t *testing.T) {
	number := syntax.Const{Value: schema.IntValue(5)}
	f := &syntax.At{Loc: number, F: &syntax.Label{Name: "ridge"}}
	_, diags := Check(f, testSignature(), Options{World: testWorld(true)})
	if len(diags) != 1 || diags[0].Code != CodeType || !strings.Contains(diags[0].Message, "`5` is an int") {
		t.Errorf("got %v", diags)
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
		{"EVENTUALLY(3,4) p(x)", "p(x) AND FALSE"},
		{"a() AND ALWAYS(3,4) b()", "a() AND TRUE"},
		{"p(x) UNTIL(3,4) q(x)", "q(x) AND FALSE"},
	} {
		f, _ := syntax.Parse(c.src, syntax.Options{Mode: syntax.MonPoly})
		got, diags := Check(f, testSignature(), Options{Mode: syntax.MonPoly, Future: true})
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

func FuzzCheckWorld(f *testing.F) {
	for _, e := range Explanations() {
		if e.Setting == SettingWorld || e.Code == CodeNew {
			f.Add(e.Wrong, true)
			f.Add(e.Repair, false)
		}
	}
	f.Add(`NEW (lz(m, v) AND NOT AT v ((NOT ridge) REACH[0,4] (EXISTS o. (holds(@l, o) AND NOT o = m)))) AND NOT s(m)`, true)
	f.Add(`vertex(v) AND AT v (FORALL o. (holds(@l, o) IMPLIES (SOMEWHERE[1,*] ESCAPE holds(@l, o)) SURROUND label(@l, v)))`, false)
	f.Add(`LET on(v) = AT v (a EQUIV b) IN (vertex(v) AND on(v) AND (ONCE[0,1h] (s(v) AND NEW (on(v) AND vertex(v)))))`, true)
	f.Fuzz(func(t *testing.T, src string, forbid bool) {
		g, _ := syntax.Parse(src, syntax.Options{})
		if g == nil {
			return
		}
		c, diags := Check(g, testSignature(), Options{Forbid: forbid, World: testWorld(true)})
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

func FuzzCheck(f *testing.F) {
	for _, e := range Explanations() {
		if len(e.Wrong) < 500 {
			f.Add(e.Wrong)
			f.Add(e.Repair)
		}
	}
	f.Add("p(x) AND (ONCE (NOT q(x))) AND ((x > 3) SINCE r(x, y)) AND NOT (y = 1 OR y > 5)")
	f.Add("LET u(x, n) = (n <- CNT y; x (r(x, y) AND y MOD 2 = 0)) IN (u(x, 3) AND NOT (EVENTUALLY[0,3] u(x, x)))")
	f.Add("p(x) AND (ALWAYS[0,5] q(x)) AND (s(n) AND n MATCHES r\"^\\(a\\)\" (_) AND n = i2s(x)) AND (q(x) UNTIL[1,2] x > 3)")
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
