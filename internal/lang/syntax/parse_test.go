package syntax

import (
	"bufio"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/aspis-rv/aspis/internal/diag"
	"github.com/aspis-rv/aspis/internal/monpoly/reference"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// parse reads src and fails the test if it has errors.
func parse(t *testing.T, src string, mode Mode) Formula {
	t.Helper()
	f, diags := Parse(src, Options{Mode: mode})
	if f == nil {
		t.Fatalf("%s: %v", src, diags)
	}
	return f
}

func TestPrecedence(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{"ONCE a() AND b()", "ONCE[0,*) (a() AND b())"},
		{"a() AND b() SINCE c()", "(a() AND b()) SINCE[0,*) c()"},
		{"a() SINCE b() SINCE c()", "a() SINCE[0,*) (b() SINCE[0,*) c())"},
		{"a() OR b() AND c()", "a() OR (b() AND c())"},
		{"a() AND b() OR c()", "(a() AND b()) OR c()"},
		{"a() IMPLIES b() IMPLIES c()", "a() IMPLIES (b() IMPLIES c())"},
		{"a() IMPLIES b() EQUIV c()", "(a() IMPLIES b()) EQUIV c()"},
		{"a() EQUIV b() EQUIV c()", "a() EQUIV b() EQUIV c()"},
		{"a() EQUIV (b() EQUIV c())", "a() EQUIV (b() EQUIV c())"},
		{"a() EQUIV b() IMPLIES c()", "a() EQUIV (b() IMPLIES c())"},
		{"a() AND b() AND c()", "a() AND b() AND c()"},
		{"a() AND (b() AND c())", "a() AND (b() AND c())"},
		{"a() OR b() OR c()", "a() OR b() OR c()"},
		{"(a() OR b()) AND c() AND (d() OR e())", "(a() OR b()) AND c() AND (d() OR e())"},
		{"NOT a() AND b()", "(NOT a()) AND b()"},
		{"NOT NOT a()", "NOT (NOT a())"},
		{"NOT EXISTS x. p(x) AND a()", "NOT (EXISTS x. (p(x) AND a()))"},
		{"NOT PREVIOUS a() OR b()", "NOT (PREVIOUS[0,*) (a() OR b()))"},
		{"NOT ONCE[0,5] a() SINCE b()", "(NOT (ONCE[0,5] a())) SINCE[0,*) b()"},
		{"EXISTS x. p(x) SINCE a()", "(EXISTS x. p(x)) SINCE[0,*) a()"},
		{"EXISTS x. ONCE p(x) OR q(x)", "EXISTS x. (ONCE[0,*) (p(x) OR q(x)))"},
		{"ONCE EXISTS x. p(x) IMPLIES a()", "ONCE[0,*) (EXISTS x. (p(x) IMPLIES a()))"},
		{"PREVIOUS a() SINCE b()", "(PREVIOUS[0,*) a()) SINCE[0,*) b()"},
		{"a() IMPLIES ONCE b() OR c()", "a() IMPLIES (ONCE[0,*) (b() OR c()))"},
		{"a() AND ONCE b() SINCE c()", "(a() AND (ONCE[0,*) b())) SINCE[0,*) c()"},
		{"a() SINCE ONCE b() SINCE c()", "a() SINCE[0,*) ((ONCE[0,*) b()) SINCE[0,*) c())"},
		{"FORALL x, y. r(x,y) IMPLIES p(x)", "FORALL x, y. (r(x, y) IMPLIES p(x))"},
		{"PREV[1,2] HISTORICALLY(0,3] a()", "PREVIOUS[1,2] (HISTORICALLY[1,3] a())"},
		{"PAST_ALWAYS a()", "HISTORICALLY[0,*) a()"},
		{"ONCE (1 = 2)", "ONCE[0,*) (1 = 2)"},
		{"ONCE (1,2) a()", "ONCE(1,2) a()"},
		{"(x) = y", "x = y"},
		{"((x = y))", "x = y"},
		{"((x)) < ((-3))", "x < -3"},
		{"(p(x)) AND (x = 1)", "p(x) AND (x = 1)"},
		{"r(_, _) AND p(_a)", "r(_, _) AND p(_a)"},
		{"f(1.50) AND f(-2.0) AND x >= 1.5e3", "f(1.5) AND f(-2.0) AND (x >= 1500.0)"},
		{`s("a\"\\\n\x00é")`, `s("a\"\\\n\x00é")`},
		{"TRUE AND FALSE # a comment", "TRUE AND FALSE"},
		{"x-1(y/2)", "x-1(y/2)"},
		{"a'b(2b_c)", "a'b(2b_c)"},
		{`s("a\qb")`, `s("a\\qb")`},
		{"NEW(x)", "NEW(x)"},
		{"a() UNTIL[0,1] b() SINCE[0,2] c()", "a() UNTIL[0,1] (b() SINCE[0,2] c())"},
		{"NEXT a() AND SOMETIMES[0,1] b()", "NEXT[0,*) (a() AND (EVENTUALLY[0,1] b()))"},
		{"n <- CNT x; y r(x, y) SINCE q(x)", "n <- CNT x; y (r(x, y) SINCE[0,*) q(x))"},
		{"LET u(x) = p(x) SINCE q(x) IN u(x) SINCE q(x)", "LET u(x) = (p(x) SINCE[0,*) q(x)) IN (u(x) SINCE[0,*) q(x))"},
		{"a() AND LET b() = c() IN b() OR d()", "a() AND (LET b() = c() IN (b() OR d()))"},
		{"x = 1 + 2 * 3 - 4 / y", "x = (1 + (2 * 3)) - (4 / y)"},
		{"x = 1 + y MOD 2 * 3 - z", "x = 1 + (y MOD ((2 * 3) - z))"},
		{"x = -y MOD 2", "x = -(y MOD 2)"},
		{"x = - 3 - (-4)", "x = -3 - -4"},
		{"((x + 1)) = (y) AND (x = (1))", "(x + 1 = y) AND (x = 1)"},
		{"i2f(x) > (1.5)", "i2f(x) > 1.5"},
		{`n MATCHES r"\(a\|(\)[]\]{" (_)`, `n MATCHES r"\(a\|(\)[]\]{" (_)`},
	} {
		if got := parse(t, c.src, MonPoly).String(); got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.src, got, c.want)
		}
	}
}

// located is a list of bundle formulas about vertices of the world.
func located() []string {
	return []string{
		`NEW (lz(m, c) AND AT c ((NOT masking) REACH[0,4000] threat))`,
		`crossing(m) AND NOT (AT "alpha" (own_lines OR "own lines" OR "" = @l))`,
		`lz(m, c) AND AT c (SOMEWHERE(0,4000) VIA physical (threat AND (EVERYWHERE[1,*] (NOT masking))))`,
		`lz(m, c) AND AT c (a REACH b SURROUND[2,3] VIA informational (ESCAPE c))`,
		`lz(m, c) AND AT c (FORALL o. holds(@l, o) IMPLIES (own(@l, _) OR (NOT @l = o)))`,
		`lz(m, c) AND AT c ((("AT")) EQUIV (x) AND (x) = y AND (@l) = c AND NOT (z MATCHES r"a"))`,
		`LET near(v) = AT v (SOMEWHERE[0,3] threat) IN lz(m, c) AND near(c)`,
		`lz(m, c) AND AT c (LET near() = SOMEWHERE[0,3] threat IN NOT near())`,
	}
}

func TestReadingsAtAVertex(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{`AT c (a)`, `AT c (a)`},
		{`AT "x y" ("a b")`, `AT "x y" ("a b")`},
		{`NOT AT c ("a" OR "NOT")`, `NOT AT c (a OR "NOT")`},
		{`AT c ((NOT a) REACH[0,4000] b)`, `AT c ((NOT a) REACH[0,4000] b)`},
		{`AT c (NOT a REACH(0,4000) b)`, `AT c ((NOT a) REACH[1,3999] b)`},
		{`AT c (a REACH b REACH c)`, `AT c (a REACH[0,*) (b REACH[0,*) c))`},
		{`AT c (a SURROUND[0,*] VIA physical b)`, `AT c (a SURROUND[0,*) VIA physical b)`},
		{`AT c (SOMEWHERE (a AND b))`, `AT c (SOMEWHERE[0,*) (a AND b))`},
		{`AT c (SOMEWHERE EVERYWHERE ESCAPE VIA informational a)`, `AT c (SOMEWHERE[0,*) (EVERYWHERE[0,*) (ESCAPE[0,*) VIA informational a)))`},
		{`AT c (a) AND AT d (b)`, `AT c (a) AND AT d (b)`},
		{`AT c ((a) OR (b))`, `AT c (a OR b)`},
		{`AT c ((x) = y)`, `AT c (x = y)`},
		{`AT c (r(@l, x) AND @l = x AND physical)`, `AT c (r(@l, x) AND (@l = x) AND physical)`},
		{`AT c (EXISTS x. r(@l, x))`, `AT c (EXISTS x. r(@l, x))`},
	} {
		if got := Format(parse(t, c.src, Bundle), Bundle); got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.src, got, c.want)
		}
	}
}

func TestLocatedRoundTrip(t *testing.T) {
	for _, src := range located() {
		checkRoundTrip(t, parse(t, src, Bundle), Bundle)
	}
	for _, name := range []string{"a", "a b", "AT", "_", "_a", "1a", "a1", "SOMEWHERE", "physical", `"`, "é", "i2f"} {
		checkRoundTrip(t, &At{Loc: Var{Name: "v"}, F: &Not{F: &Label{Name: name}}}, Bundle)
	}
}

// corpus is a list of bundle formulas, each of which also reads in MonPoly mode but
// for its units.
func corpus() []string {
	return []string{
		`launch(m) AND NOT (ONCE[0,6h] clearance(m))`,
		`launch(m) AND ((NOT downgrade(m)) SINCE(1h,*] report(m, "urgent"))`,
		`crossing(m) AND NOT (EXISTS c. (position(m, c) AND label(c, "own_lines")))`,
		`crossing(m) AND ONCE ((bad_load(m)) AND (ONCE marking(m)))`,
		`FORALL x. p(x) IMPLIES (ONCE[0,5s] q(x))`,
		`p(x) AND HISTORICALLY[2m,1d) (q(x) OR r(x, _))`,
		`(a() EQUIV b()) SINCE[0,0] (PREVIOUS(0,90s] c())`,
		`EXISTS x, y. (r(x, y) AND x <= y AND NOT (x = 3) AND y > -4)`,
		`f(0.1) AND s("tab\tquote\"backslash\\nul\x00é") AND r(_, _)`,
		`f(-9223372036854775807.0) AND p(-9223372036854775808)`,
		`TRUE OR FALSE`,
		`NOT NOT NOT a()`,
		`ONCE[0,1s) a()`,
		`p(x) AND (EVENTUALLY[0,5s] q(x))`,
		`p(x) IMPLIES (ALWAYS[0,1h] (NOT q(x)))`,
		`(NOT p(x)) UNTIL[1s,2s] r(x, _)`,
		`p(x) AND NEXT(0,3s] q(x)`,
		`(n <- CNT i; d, e (ONCE[0,6s] (cmd(d, i) AND e = d))) AND n > 40`,
		`a <- AVG x (p(x) SINCE q(x))`,
		`LET u(x) = p(x) AND (ONCE q(x)) IN u(y) OR (EXISTS z. (u(z) AND z = y))`,
		`LET t() = a() IN t() AND (LET u(x, y) = r(x, y) IN u(_, 3))`,
		`r(x, y) AND z = x + y * 2 - -3 AND NOT (-x < (y MOD 2) / 4)`,
		`r(x, y) AND (x - (y + 1)) = -(x * y) AND ((x)) = (x MOD y + 1)`,
		`p(x) AND s(i2s(x)) AND f2i(i2f(x) * 1.5) > (s2i("3"))`,
		`s(n) AND n MATCHES r"a[b-d]*\." AND "b" SUBSTRING n`,
		`s(n) AND NOT (n MATCHES r"^[]x]+$")`,
	}
}

// What is printed parses to what was printed.
func checkRoundTrip(t *testing.T, f Formula, mode Mode) {
	t.Helper()
	text := Format(f, mode)
	g, diags := Parse(text, Options{Mode: mode})
	if g == nil {
		t.Fatalf("printed as %s: %v", text, diags)
	}
	for _, d := range diags {
		if d.Code != CodeIdentifier && d.Code != CodeEmptyInterval {
			t.Errorf("printed as %s: %v", text, d)
		}
	}
	if !equal(f, g) {
		t.Errorf("printed as %s, parsed as %s", text, Format(g, mode))
	}
}

func TestRoundTrip(t *testing.T) {
	for _, src := range corpus() {
		f := parse(t, src, Bundle)
		checkRoundTrip(t, f, Bundle)
		checkRoundTrip(t, f, MonPoly)
	}
}

// The reference cases' formulas print back, as far as this version reads them.
func TestRoundTripReferenceCases(t *testing.T) {
	n := 0
	for _, src := range referenceFormulas(t) {
		if f, _ := Parse(src, Options{Mode: MonPoly}); f != nil {
			n++
			checkRoundTrip(t, f, MonPoly)
		}
	}
	t.Logf("%d formulas", n)
	if n < 100 {
		t.Errorf("only %d formulas were compared", n)
	}
}

func TestSpansAreTheSource(t *testing.T) {
	src := `p(x) AND NOT (ONCE[0,6h] r(x, _)) AND x < 3`
	f := parse(t, src, Bundle)
	var got []string
	Walk(f, func(g Formula) bool {
		sp := g.Span()
		got = append(got, src[sp.Start.Offset:sp.End.Offset])
		return true
	})
	want := []string{
		src, `p(x) AND NOT (ONCE[0,6h] r(x, _))`, `p(x)`, `NOT (ONCE[0,6h] r(x, _))`, `ONCE[0,6h] r(x, _)`, `r(x, _)`, `x < 3`,
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	arg := f.(*And).Left.(*And).Right.(*Not).F.(*Once).F.(*Pred).Args[1]
	if sp := arg.Span(); src[sp.Start.Offset:sp.End.Offset] != "_" {
		t.Errorf("the wildcard's span is %+v", sp)
	}
}

func TestFreeVars(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{"r(y, x) AND p(x) AND p(z)", "y x z"},
		{"p(x) SINCE r(y, x)", "y x"},
		{"EXISTS x. (r(x, y) AND p(z))", "y z"},
		{"(EXISTS x. p(x)) AND p(x)", "x"},
		{"FORALL x. (p(x) IMPLIES EXISTS x. r(x, w))", "w"},
		{"x > 3 AND p(y)", "x y"},
		{"a()", ""},
	} {
		if got := strings.Join(FreeVars(parse(t, c.src, MonPoly)), " "); got != c.want {
			t.Errorf("%s: got %q, want %q", c.src, got, c.want)
		}
	}
}

// Floats never print as integers, and strings keep every byte.
func TestConstantsPrintBack(t *testing.T) {
	for _, v := range []schema.Value{
		schema.FloatValue(1), schema.FloatValue(-0.5), schema.FloatValue(1e300), schema.FloatValue(5e-324),
		schema.IntValue(-9223372036854775808), schema.StringValue("\xff\u2028\"'\\"), schema.StringValue(""),
	} {
		f := &Pred{Name: "p", Args: []Term{Const{Value: v}}}
		for _, mode := range []Mode{Bundle, MonPoly} {
			g, diags := Parse(f.String(), Options{Mode: mode})
			if g == nil {
				t.Errorf("%s: %v", f, diags)
			} else if got := g.(*Pred).Args[0].(Const).Value; got != v {
				t.Errorf("%v printed as %s, read as %v", v, f, got)
			}
		}
	}
}

// equal compares two formulas without their places.
func equal(f, g Formula) bool { return strip(f) == strip(g) && sameNodes(f, g) }

func strip(f Formula) string { return Format(f, MonPoly) }

func TestRegularExpressions(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{`a.c`, `(?m)a.c`},
		{`^\(a\|b\)$`, `(?m)^(a|b)$`},
		{`(a|b){2}`, `(?m)\(a\|b\)\{2\}`},
		{`[]\a-c]+`, `(?m)[]\\a-c]+`},
		{`[^]x]\*\b\.`, `(?m)[^]x]\*\b\.`},
		{`\w`, `(?m)w`},
	} {
		if got, problem := fromStr(c.src); got != c.want || problem != "" {
			t.Errorf("%s: %s %s, want %s", c.src, got, problem, c.want)
		}
	}
	for _, src := range []string{`[a`, `\(a\)\1`, `a\`, `[]`} {
		if got, problem := fromStr(src); problem == "" {
			t.Errorf("%s: %s", src, got)
		}
	}
	m, ok := parse(t, `n MATCHES r"(a)|b{2}" (_)`, Bundle).(*Match)
	if !ok || m.Pattern != `(a)|b{2}` || len(m.Groups) != 1 {
		t.Errorf("%+v", m)
	}
}

// sameNodes compares what printing could hide: node kinds, variable names, values.
func sameNodes(f, g Formula) bool {
	cf, cg := Children(f), Children(g)
	if len(cf) != len(cg) {
		return false
	}
	for i := range cf {
		if !sameNodes(cf[i], cg[i]) {
			return false
		}
	}
	switch f := f.(type) {
	case *Bool:
		g, ok := g.(*Bool)
		return ok && f.Value == g.Value
	case *Pred:
		g, ok := g.(*Pred)
		return ok && f.Name == g.Name && sameTerms(f.Args, g.Args)
	case *Cmp:
		g, ok := g.(*Cmp)
		return ok && f.Op == g.Op && sameTerms([]Term{f.Left, f.Right}, []Term{g.Left, g.Right})
	case *Not:
		_, ok := g.(*Not)
		return ok
	case *And:
		_, ok := g.(*And)
		return ok
	case *Or:
		_, ok := g.(*Or)
		return ok
	case *Implies:
		_, ok := g.(*Implies)
		return ok
	case *Equiv:
		_, ok := g.(*Equiv)
		return ok
	case *Exists:
		g, ok := g.(*Exists)
		return ok && sameVars(f.Vars, g.Vars)
	case *Forall:
		g, ok := g.(*Forall)
		return ok && sameVars(f.Vars, g.Vars)
	case *Prev:
		g, ok := g.(*Prev)
		return ok && f.I == g.I
	case *Once:
		g, ok := g.(*Once)
		return ok && f.I == g.I
	case *Historically:
		g, ok := g.(*Historically)
		return ok && f.I == g.I
	case *Since:
		g, ok := g.(*Since)
		return ok && f.I == g.I
	case *Next, *Eventually, *Always, *Until, *Match, *Agg, *Let, *New:
		return sameFullNodes(f, g)
	case *At, *Label, *Somewhere, *Everywhere, *Escape, *Reach, *Surround:
		return sameLocated(f, g)
	}
	return false
}

func sameFullNodes(f, g Formula) bool {
	switch f := f.(type) {
	case *Next:
		g, ok := g.(*Next)
		return ok && f.I == g.I
	case *Eventually:
		g, ok := g.(*Eventually)
		return ok && f.I == g.I
	case *Always:
		g, ok := g.(*Always)
		return ok && f.I == g.I
	case *Until:
		g, ok := g.(*Until)
		return ok && f.I == g.I
	case *Match:
		g, ok := g.(*Match)
		return ok && f.Op == g.Op && sameTerm(f.Left, g.Left) && sameTerm(f.Right, g.Right) && sameTerms(f.Groups, g.Groups)
	case *Agg:
		g, ok := g.(*Agg)
		return ok && f.Op == g.Op && sameTerms([]Term{f.Result, f.Over}, []Term{g.Result, g.Over}) && sameVars(f.Groups, g.Groups)
	case *Let:
		g, ok := g.(*Let)
		return ok && f.Name == g.Name && sameVars(f.Params, g.Params)
	case *New:
		_, ok := g.(*New)
		return ok
	case *Bool, *Pred, *Cmp, *Not, *And, *Or, *Implies, *Equiv, *Exists, *Forall, *Prev, *Once, *Historically, *Since,
		*At, *Label, *Somewhere, *Everywhere, *Escape, *Reach, *Surround:
	}
	return false
}

// sameLocated compares nodes that speak of a vertex.
func sameLocated(f, g Formula) bool {
	switch f := f.(type) {
	case *At:
		g, ok := g.(*At)
		return ok && sameTerm(f.Loc, g.Loc)
	case *Label:
		g, ok := g.(*Label)
		return ok && f.Name == g.Name
	case *Somewhere:
		g, ok := g.(*Somewhere)
		return ok && f.D == g.D
	case *Everywhere:
		g, ok := g.(*Everywhere)
		return ok && f.D == g.D
	case *Escape:
		g, ok := g.(*Escape)
		return ok && f.D == g.D && f.Restricted == g.Restricted
	case *Reach:
		g, ok := g.(*Reach)
		return ok && f.D == g.D
	case *Surround:
		g, ok := g.(*Surround)
		return ok && f.D == g.D
	case *Bool, *Pred, *Cmp, *Not, *And, *Or, *Implies, *Equiv, *Exists, *Forall, *Prev, *Once, *Historically, *Since,
		*Next, *Eventually, *Always, *Until, *Match, *Agg, *Let, *New:
	}
	return false
}

func sameVars(a, b []Var) bool {
	var ta, tb []Term
	for _, v := range a {
		ta = append(ta, v)
	}
	for _, v := range b {
		tb = append(tb, v)
	}
	return sameTerms(ta, tb)
}

func sameTerms(a, b []Term) bool {
	return slices.EqualFunc(a, b, sameTerm)
}

func sameTerm(a, b Term) bool {
	switch x := a.(type) {
	case Var:
		y, ok := b.(Var)
		return ok && x.Name == y.Name
	case Here:
		_, ok := b.(Here)
		return ok
	case Const:
		y, ok := b.(Const)
		return ok && x.Value == y.Value
	case Arith:
		y, ok := b.(Arith)
		return ok && x.Op == y.Op && sameTerm(x.Left, y.Left) && sameTerm(x.Right, y.Right)
	case Neg:
		y, ok := b.(Neg)
		return ok && sameTerm(x.T, y.T)
	case Conv:
		y, ok := b.(Conv)
		return ok && x.Op == y.Op && sameTerm(x.T, y.T)
	}
	return false
}

// referenceFormulas returns the formulas of the reference cases.
func referenceFormulas(t *testing.T) []string {
	t.Helper()
	var out []string
	for name, content := range reference.Files(t, reference.Answers) {
		switch {
		case filepath.Base(name) == "formula.mfotl":
			out = append(out, content)
		case filepath.Base(name) == "check.jsonl":
			lines := bufio.NewScanner(strings.NewReader(content))
			lines.Buffer(nil, 1<<20)
			for lines.Scan() {
				var row struct {
					Formula string `json:"formula"`
				}
				if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
					t.Fatal(err)
				}
				out = append(out, row.Formula)
			}
		}
	}
	return out
}

func FuzzParse(f *testing.F) {
	for _, src := range corpus() {
		f.Add(src, false)
	}
	for _, e := range Explanations() {
		if len(e.Wrong) < 1000 {
			f.Add(e.Wrong, true)
			f.Add(e.Repair, false)
		}
	}
	for _, src := range located() {
		f.Add(src, false)
	}
	f.Add("(x) = ((y)) AND (x + 1) = y AND ONCE(3,4) a() AND x-1(_)", true)
	f.Fuzz(func(t *testing.T, src string, monpoly bool) {
		mode := Bundle
		if monpoly {
			mode = MonPoly
		}
		g, diags := Parse(src, Options{Mode: mode})
		if (g == nil) != diags.HasErrors() {
			t.Fatalf("formula %v with diagnostics %v", g, diags)
		}
		for _, d := range diags {
			if d.Code == CodeInternal {
				t.Fatalf("%v\n%s", d, d.Hint)
			}
			if off := d.Span.Start.Offset; off < 0 || off > len(src) || d.Span.End.Offset < off {
				t.Fatalf("%v lies outside the source: %+v", d, d.Span)
			}
			_ = d.Render(diag.Sources{"": src})
		}
		if g != nil {
			checkRoundTrip(t, g, mode)
		}
	})
}

func TestRawStringsKeepBackslashes(t *testing.T) {
	for text, want := range map[string]string{`"a"`: `a`, `"a\"b"`: `a\"b`, `"\\"`: `\\`, `"\n\é"`: `\n\é`, `"\x41"`: `\x41`} {
		f, diags := Parse("p("+text+")", Options{Mode: MonPoly, Raw: true})
		if f == nil {
			t.Errorf("%s: %v", text, diags)
			continue
		}
		if got := f.(*Pred).Args[0].(Const).Value.Str; got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
	for _, text := range []string{`p("a\"`, `p("\`, "p(\"a\\\n\")"} {
		if f, _ := Parse(text, Options{Mode: MonPoly, Raw: true}); f != nil {
			t.Errorf("%q was read as %s", text, f)
		}
	}
}
