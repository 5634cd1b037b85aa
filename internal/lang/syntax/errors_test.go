package syntax

import (
	"math"
	"strings"
	"testing"

	"github.com/aspis-rv/aspis/internal/diag"
	"github.com/aspis-rv/aspis/internal/diag/diagtest"
)

func TestDiagnosticsOnTheirLines(t *testing.T) {
	for _, path := range []string{"testdata/errors.txt"} {
		for _, c := range diagtest.Read(t, path) {
			opts := Options{}
			if c.Has("monpoly") {
				opts.Mode = MonPoly
			}
			_, diags := Parse(c.Source, opts)
			c.Compare(t, path, diags)
		}
	}
}

// Every code but the internal one has an example that produces it and a repair that
// produces nothing.
func TestEveryCodeIsExplainedAndProduced(t *testing.T) {
	explained := map[diag.Code]bool{}
	for _, e := range Explanations() {
		explained[e.Code] = true
		opts := Options{}
		if e.Setting == SettingMonPoly {
			opts.Mode = MonPoly
		}
		_, diags := Parse(e.Wrong, opts)
		found := false
		for _, d := range diags {
			found = found || d.Code == e.Code
		}
		if !found {
			t.Errorf("%s (%s): %q does not produce it: %v", e.Code, e.Title, shorten(e.Wrong), diags)
		}
		if f, diags := Parse(e.Repair, opts); f == nil || len(diags) > 0 {
			t.Errorf("%s: the repair %q is wrong: %v", e.Code, shorten(e.Repair), diags)
		}
	}
	for _, c := range []diag.Code{
		CodeSyntax, CodeCharacter, CodeString, CodeNumber, CodeInterval, CodeUnit, CodeNotYet, CodeReading,
		CodeSinceReading, CodeIdentifier, CodeWildcard, CodeDuplicate, CodeTooDeep, CodeTooLarge, CodeOperator, CodeEmptyInterval,
		CodeRegexp, CodeLocation, CodeDistance,
	} {
		if !explained[c] {
			t.Errorf("%s has no explanation", c)
		}
	}
}

// A fault inside the parser becomes a diagnostic with its stack.
func TestFaultBecomesDiagnostic(t *testing.T) {
	p := &parser{}
	p.index()
	p.internal("boom", []byte("stack"))
	if len(p.diags) != 1 || p.diags[0].Code != CodeInternal || !strings.Contains(p.diags[0].Hint, "stack") {
		t.Errorf("got %v", p.diags)
	}
}

func TestLimits(t *testing.T) {
	nots := func(n int) string { return strings.Repeat("NOT ", n) + "a()" }
	ands := func(nodes int) string { // an odd number of nodes
		return "a()" + strings.Repeat(" AND a()", nodes/2)
	}
	padded := func(bytes int) string { return "a()" + strings.Repeat(" ", bytes-3) }
	wrap := func(n int, s string) string { return strings.Repeat("(", n) + s + strings.Repeat(")", n) }
	for _, c := range []struct {
		name, src string
		want      diag.Code // none when empty
	}{
		{"depth n", nots(MaxDepth - 1), ""},
		{"depth n+1", nots(MaxDepth), CodeTooDeep},
		{"depth far beyond", nots(MaxNodes), CodeTooDeep},
		{"parentheses n", wrap(MaxDepth, "a()"), ""},
		{"parentheses n+1", wrap(MaxDepth+1, "a()"), CodeTooDeep},
		{"right recursion n", "a()" + strings.Repeat(" SINCE a()", MaxDepth-1), ""},
		{"right recursion n+1", "a()" + strings.Repeat(" IMPLIES a()", MaxDepth), CodeTooDeep},
		{"term parentheses n", "p(" + wrap(MaxDepth, "x") + ")", ""},
		{"term parentheses n+1", "p(" + wrap(MaxDepth+1, "x") + ")", CodeTooDeep},
		{"levels without parentheses", strings.Repeat("(NOT a() AND NOT b() OR ", MaxDepth/2) + "c()" + strings.Repeat(")", MaxDepth/2), ""},
		{"levels without parentheses", strings.Repeat("(NOT a() AND (NOT b() OR ", MaxDepth/2) + "c()" + strings.Repeat("))", MaxDepth/2), CodeTooDeep},
		{"nodes n", ands(MaxNodes - 1), ""},
		{"nodes n+1", ands(MaxNodes + 1), CodeTooLarge},
		{"bytes n", padded(MaxSource), ""},
		{"regexp n", "s(x) AND x MATCHES r\"(ab){1000}(cdefgh){1000}\"", ""},
		{"regexp n+1", "s(x) AND x MATCHES r\"(abcdefghijklmnopqrstuvwxyz){1000}\"", CodeTooLarge},
		{"regexps n+1", "s(x)" + strings.Repeat(" AND x MATCHES r\"a{999}\"", 25), CodeTooLarge},
		{"bytes n+1", padded(MaxSource + 1), CodeTooLarge},
		{"errors", strings.Repeat("$ ", maxErrors+5), CodeCharacter},
	} {
		f, diags := Parse(c.src, Options{})
		switch {
		case c.want == "" && (f == nil || len(diags) > 0):
			t.Errorf("%s: refused: %v", c.name, diags)
		case c.want != "" && (f != nil || len(diags) == 0 || diags[0].Code != c.want):
			t.Errorf("%s: want %s, got %v", c.name, c.want, diags)
		case len(diags) > maxErrors:
			t.Errorf("%s: %d diagnostics", c.name, len(diags))
		}
	}
}

// Positions are those of the file the text stands in.
func TestPositionsInFile(t *testing.T) {
	src := "a() AND\n  bé() OR\n  $"
	_, diags := Parse(src, Options{File: "p.yaml", Base: diag.Pos{Offset: 100, Line: 7, Col: 15}, Indent: 4})
	var got []string
	for _, d := range diags {
		got = append(got, d.Error())
	}
	want := []string{
		`p.yaml:8:8: error[P002]: 'é' is no part of the language`,
		`p.yaml:9:7: error[P002]: '$' is no part of the language`,
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if off := diags[0].Span.Start.Offset; off != 100+strings.Index(src, "é") {
		t.Errorf("offset %d", off)
	}
	f, _ := Parse("a() AND\nb()", Options{Base: diag.Pos{Offset: 100, Line: 7, Col: 15}, Indent: 4})
	sp := f.Span()
	if sp.Start != (diag.Pos{Offset: 100, Line: 7, Col: 15}) || sp.End != (diag.Pos{Offset: 111, Line: 8, Col: 8}) {
		t.Errorf("span %+v", sp)
	}
}

func TestIntervals(t *testing.T) {
	const s, h, d = int64(1e9), int64(3600e9), int64(86400e9)
	for _, c := range []struct {
		src  string
		mode Mode
		want Interval
	}{
		{"[0,12h]", Bundle, Interval{Hi: 12 * h}},
		{"[0,12h)", Bundle, Interval{Hi: 12*h - 1}},
		{"(1h,*]", Bundle, Interval{Lo: h + 1, Unbounded: true}},
		{"(0,*)", Bundle, Interval{Lo: 1, Unbounded: true}},
		{"(5s,2d)", Bundle, Interval{Lo: 5*s + 1, Hi: 2*d - 1}},
		{"[90s,2m]", Bundle, Interval{Lo: 90 * s, Hi: 120 * s}},
		{"[0,0]", Bundle, Interval{}},
		{"[106751d,*)", Bundle, Interval{Lo: 106751 * d, Unbounded: true}},
		{"[0,12]", MonPoly, Interval{Hi: 12}},
		{"(3,5)", MonPoly, Interval{Lo: 4, Hi: 4}},
		{"(3,4)", MonPoly, Interval{Lo: 4, Hi: 3}},
		{"[0,2h]", MonPoly, Interval{Hi: 7200}},
		{"[1,7d]", MonPoly, Interval{Lo: 1, Hi: 604800}},
		{"[0,9223372036854775806]", MonPoly, Interval{Hi: math.MaxInt64 - 1}},
	} {
		f, diags := Parse("ONCE"+c.src+" a()", Options{Mode: c.mode})
		if f == nil {
			t.Errorf("%s: %v", c.src, diags)
			continue
		}
		if got := f.(*Once).I; got != c.want {
			t.Errorf("%s: got %+v, want %+v", c.src, got, c.want)
		}
	}
}
