package rewrite

import (
	"slices"
	"strings"
	"testing"

	"github.com/aspis-rv/aspis/internal/diag"
	"github.com/aspis-rv/aspis/internal/lang/syntax"
	"github.com/aspis-rv/aspis/pkg/schema"
)

func parse(t *testing.T, text string) syntax.Formula {
	t.Helper()
	f, found := syntax.Parse(text, syntax.Options{})
	if err := found.Err(); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return f
}

func use(t *testing.T, text string) *syntax.Pred {
	t.Helper()
	p, ok := parse(t, text).(*syntax.Pred)
	if !ok {
		t.Fatalf("%s is no atom", text)
	}
	return p
}

func TestApply(t *testing.T) {
	for _, tt := range []struct{ body, params, use, want string }{
		{"p(x, y)", "x,y", "d(a, 5)", "p(a, 5)"},
		{"p(x) AND NOT ONCE[0,1h] q(x)", "x", `d("m")`, `p("m") AND NOT ONCE[0,1h] q("m")`},
		{"p(x, y)", "x,y", "d(y, x)", "p(y, x)"},
		{"EXISTS y. p(x, y)", "x", "d(y)", "EXISTS y'. p(y, y')"},
		{"EXISTS x. p(x)", "x", "d(z)", "EXISTS x. p(x)"},
		{"FORALL y. (q(x) IMPLIES (EXISTS z. p(y, z)))", "x", "d(z)", "FORALL y. (q(z) IMPLIES (EXISTS z'. p(y, z')))"},
		{"(NOT p(x)) SINCE q(x)", "x", "d(k)", "(NOT p(k)) SINCE q(k)"},
		{"p(x) AND x < 2 * y", "x,y", "d(k, 3)", "p(k) AND k < 2 * 3"},
		{`p(x) AND x MATCHES r"(a)" (y)`, "x,y", `d(k, "a")`, `p(k) AND k MATCHES r"(a)" ("a")`},
		{"n <- CNT x; g r(g, x)", "n,g", "d(k, h)", "k <- CNT x; h r(h, x)"},
		{"n <- CNT x; g r(g, x)", "n,g", "d(x, h)", "x <- CNT x'; h r(h, x')"},
		{"n <- CNT x; g r(g, x)", "n,g", "d(3, h)", "EXISTS n'. (n' <- CNT x; h r(h, x)) AND n' = 3"},
		{"n <- CNT x; g r(g, x)", "n,g", "d(k, k)", "EXISTS n', g'. (n' <- CNT x; g' r(g', x)) AND n' = k AND g' = k"},
		{
			"vertex(x) AND AT x (SOMEWHERE[0,3] (holds(@l, y) AND ridge AND EXISTS z. own(x, z)))", "x,y", `d(z, "o")`,
			`vertex(z) AND (AT z (SOMEWHERE[0,3] (holds(@l, "o") AND ridge AND (EXISTS z'. own(z, z')))))`,
		},
		{
			"NEW (AT x ((NOT a) REACH[0,3] (ESCAPE b)) AND NOT AT x ((EVERYWHERE c) SURROUND d))", "x", `d("v")`,
			`NEW (AT "v" ((NOT a) REACH[0,3] (ESCAPE b)) AND NOT AT "v" ((EVERYWHERE c) SURROUND d))`,
		},
		{"LET u(x) = p(x) IN (u(x) AND q(y))", "x,y", "d(k, x)", "LET u(x) = p(x) IN (u(k) AND q(x))"},
	} {
		got := Apply(use(t, tt.use), strings.Split(tt.params, ","), parse(t, tt.body)).String()
		want := tt.want
		if !strings.Contains(want, "'") {
			want = parse(t, want).String()
			if got != want {
				t.Errorf("%s in %s: %s, want %s", tt.use, tt.body, got, want)
			}
			continue
		}
		bare := strings.NewReplacer("(", "", ")", "", " ", "").Replace
		if bare(got) != bare(want) {
			t.Errorf("%s in %s: %s, want %s", tt.use, tt.body, got, want)
		}
	}
}

// What a use renames is not captured by what an earlier use renamed.
func TestApplyTwice(t *testing.T) {
	inner := Apply(use(t, "a(y)"), []string{"x"}, parse(t, "EXISTS y. p(x, y)"))
	body := &syntax.Exists{Vars: []syntax.Var{{Name: "y"}}, F: &syntax.And{Left: parse(t, "r(x, y)"), Right: inner}}
	got := Apply(use(t, "b(y)"), []string{"x"}, body).String()
	if want := "EXISTS y'. (r(y, y') AND (EXISTS y''. p(y', y'')))"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// A wildcard is one thing throughout the body, not another at each atom.
func TestApplyWildcard(t *testing.T) {
	got := Apply(use(t, "d(_)"), []string{"x"}, parse(t, "p(x) AND q(x)"))
	e, ok := got.(*syntax.Exists)
	if !ok || len(e.Vars) != 1 || len(syntax.FreeVars(got)) != 0 {
		t.Fatalf("got %s", got)
	}
	if got := Apply(use(t, "d(_)"), []string{"x"}, parse(t, "r()")); got.String() != "r()" {
		t.Errorf("an unused parameter is quantified: %s", got)
	}
}

func TestMember(t *testing.T) {
	values := []schema.Value{schema.StringValue("A"), schema.StringValue("B"), schema.StringValue("C")}
	for _, tt := range []struct{ use, want string }{
		{"own(p)", `p = "A" OR (p = "B" OR p = "C")`},
		{`own("B")`, "TRUE"},
		{`own("D")`, "FALSE"},
		{"own(_)", "TRUE"},
	} {
		if got, want := Member(use(t, tt.use), values).String(), parse(t, tt.want).String(); got != want {
			t.Errorf("%s: %s, want %s", tt.use, got, want)
		}
	}
}

func TestRespanReachesEveryNode(t *testing.T) {
	f := parse(t, `FORALL x. (p(x, 1) IMPLIES (EXISTS y. ((NOT q(y)) SINCE[1h,2h] (x = y OR ((PREVIOUS TRUE) AND (HISTORICALLY (r() EQUIV ONCE r()))
		OR (NEXT r()) OR (EVENTUALLY r()) OR (ALWAYS r()) OR (r() UNTIL r()) OR NEW (r())
		OR (n <- SUM u; v r(u, v)) OR (LET w(z) = q(z) IN w(y))
		OR AT y ((a REACH[0,3] (SOMEWHERE b)) SURROUND (EVERYWHERE ESCAPE holds(@l, @l))) OR -x + 2 = i2f(y) OR (s MATCHES r"(a)" (k)))))))`)
	f = Respan(f, func(s diag.Span) diag.Span {
		s.Start.Line += 100
		return s
	})
	check := func(s diag.Span, what string) {
		if s.Start.Line < 101 {
			t.Errorf("%s stands on line %d", what, s.Start.Line)
		}
	}
	nodes := 0
	syntax.Walk(f, func(g syntax.Formula) bool {
		nodes++
		check(g.Span(), g.String())
		if p, ok := g.(*syntax.Pred); ok {
			for _, a := range p.Args {
				check(a.Span(), a.String())
			}
		}
		if c, ok := g.(*syntax.Cmp); ok {
			checkTerm(c.Left, check)
			checkTerm(c.Right, check)
		}
		if m, ok := g.(*syntax.Match); ok {
			checkTerm(m.Left, check)
			checkTerm(m.Right, check)
			checkTerm(m.Groups[0], check)
		}
		if a, ok := g.(*syntax.At); ok {
			checkTerm(a.Loc, check)
		}
		if a, ok := g.(*syntax.Agg); ok {
			for _, v := range append([]syntax.Var{a.Result, a.Over}, a.Groups...) {
				check(v.Span(), "variable")
			}
		}
		if l, ok := g.(*syntax.Let); ok {
			check(l.Params[0].Span(), "parameter")
		}
		if e, ok := g.(*syntax.Exists); ok {
			check(e.Vars[0].Span(), "variable")
		}
		if e, ok := g.(*syntax.Forall); ok {
			check(e.Vars[0].Span(), "variable")
		}
		return true
	})
	if nodes < 40 {
		t.Errorf("only %d nodes visited", nodes)
	}
}

func checkTerm(t syntax.Term, check func(diag.Span, string)) {
	check(t.Span(), t.String())
	switch t := t.(type) {
	case syntax.Var, syntax.Const, syntax.Here:
	case syntax.Arith:
		checkTerm(t.Left, check)
		checkTerm(t.Right, check)
	case syntax.Neg:
		checkTerm(t.T, check)
	case syntax.Conv:
		checkTerm(t.T, check)
	}
}

func TestUnbound(t *testing.T) {
	is := func(names ...string) func(*syntax.Pred) bool {
		return func(p *syntax.Pred) bool { return slices.Contains(names, p.Name) }
	}
	for _, tt := range []struct {
		text string
		want int
	}{
		{"read(f) AND secret(f)", 0},
		{"secret(f) AND read(f)", 0},
		{"read(f) AND NOT secret(f)", 0},
		{"ONCE (read(f) AND secret(f))", 0},
		{"(EXISTS x. own(x, f)) AND secret(f)", 0},
		{"read(f) AND (EXISTS g. (own(f, g) AND (secret(g) OR secret(f))))", 0},
		{"secret(f)", 1},
		{"(ONCE read(f)) AND secret(f)", 1},
		{"read(f) AND ONCE secret(f)", 1},
		{"read(f) AND secret(g)", 1},
		{`read(f) AND secret("x")`, 1},
		{"(NOT secret(f)) SINCE read(f)", 1},
		{"(EXISTS f. read(f)) AND secret(f)", 1},
		{"(n <- CNT x; f (own(x, f) AND secret(f)))", 0},
		{"(n <- CNT x; f own(x, f)) AND secret(f)", 0},
		{"read(f) AND (n <- CNT x; f ((ONCE own(x, f)) AND secret(f)))", 0},
		{"(n <- CNT f; x own(x, f)) AND secret(f)", 1},
		{"(n <- CNT x; f (ONCE own(x, f))) AND secret(f)", 1},
		{"LET u(f) = read(f) AND secret(f) IN u(f)", 0},
		{"LET u(f) = secret(f) IN (read(f) AND u(f))", 1},
		{"read(f) AND NEW (secret(f))", 1},
		{"read(f) AND AT f (SOMEWHERE[0,3] secret(f))", 0},
		{"AT f (SOMEWHERE[0,3] secret(f))", 1},
	} {
		if got := Unbound(parse(t, tt.text), is("secret"), is("read", "own")); len(got) != tt.want {
			t.Errorf("%s: %v, want %d", tt.text, got, tt.want)
		}
	}
}

func TestNegated(t *testing.T) {
	f := parse(t, "a() AND (NOT (b() AND NOT c())) AND (d() IMPLIES e()) AND (f() EQUIV g()) AND ((NOT h()) SINCE i())"+
		" AND (n <- CNT x j(x)) AND NEW (k()) AND AT x (SOMEWHERE[0,3] (u(@l) AND NOT w(@l))) AND (LET l(x) = m(x) IN (o(x) AND NOT l(x)))")
	got := Negated(f)
	for _, name := range []string{"b", "d", "f", "g", "h", "j", "k", "m", "w"} {
		if !got[name] {
			t.Errorf("%s is not found negated", name)
		}
		delete(got, name)
	}
	if len(got) > 0 {
		t.Errorf("found negated too: %v", got)
	}
}

// A fact more makes a count greater, which a bound from below lets pass.
func TestNegatedAggregations(t *testing.T) {
	for src, want := range map[string]bool{
		"(n <- CNT x j(x)) AND n > 3":                                 false,
		"(n <- CNT x j(x)) AND 3 <= n AND n > 1":                      false,
		"(n <- MAX x j(x)) AND n > 3":                                 false,
		"(n <- MIN x j(x)) AND n < 3":                                 false,
		"(n <- MIN x j(x)) AND n > 3":                                 true,
		"(n <- CNT x j(x)) AND n > 3 AND n < 9":                       true,
		"(n <- CNT x j(x)) AND n = 3":                                 true,
		"(n <- CNT x j(x)) AND p(m) AND n > m":                        true,
		"(n <- CNT x j(x)) AND p(n) AND n > 3":                        true,
		"(n <- CNT x j(x)) AND NOT (n > 3)":                           true,
		"NOT ((n <- CNT x j(x)) AND n > 3)":                           true,
		"(n <- SUM x j(x)) AND n > 3":                                 true,
		"(n <- CNT x j(x)) AND n > 3 AND (k <- CNT n j(n)) AND k > 1": true,
	} {
		if got := Negated(parse(t, src))["j"]; got != want {
			t.Errorf("%s: %v", src, got)
		}
	}
}
