package check

import (
	"encoding/json"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/aspis-rv/aspis/internal/diag"
	"github.com/aspis-rv/aspis/internal/lang/syntax"
	"github.com/aspis-rv/aspis/internal/monpoly/reference"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// deliberate lists the formulas on which the reference monitor and the checker are
// meant to differ, and why.
func deliberate() map[string]string {
	const (
		order     = "conjuncts may come in any order"
		constants = "a comparison of constants is a constant"
	)
	return map[string]string{
		"x < 3 AND p(x)":    order,
		"NOT q(x) AND p(x)": order,
		"1 < 2":             constants,
		"NOT (1 < 2)":       constants,
	}
}

// verdictOf checks a formula as MonPoly's -check does.
func verdictOf(src string, negate bool, sig Signature) (verdict string, diags diag.List) {
	f, diags := syntax.Parse(src, syntax.Options{Mode: syntax.MonPoly})
	if f == nil {
		for _, d := range diags {
			if d.Code == syntax.CodeNotYet {
				return "out of scope", diags
			}
		}
		return "error", diags
	}
	if negate {
		f = &syntax.Not{F: f}
	}
	c, diags := Check(f, sig, Options{Mode: syntax.MonPoly, BuiltIn: true, Future: true})
	if c != nil {
		return "monitorable", diags
	}
	open := []diag.Code{CodeNegation, CodeComparison, CodeOr, CodeSince, CodeUnbounded, CodeArgument}
	for _, d := range diags {
		if d.Severity == diag.Error && !slices.Contains(open, d.Code) {
			return "error", diags
		}
	}
	return "not-monitorable", diags
}

// The checker agrees with the frozen verdicts of the reference monitor.
func TestReferenceVerdicts(t *testing.T) {
	compared, agreed, different, outOfScope := 0, 0, 0, 0
	for name, content := range reference.Files(t, reference.Answers) {
		if path.Base(name) != "check.jsonl" {
			continue
		}
		for line := range strings.Lines(content) {
			var row struct {
				Formula, Sig, Verdict string
				Negate                bool
			}
			if err := json.Unmarshal([]byte(line), &row); err != nil {
				t.Fatal(err)
			}
			got, diags := verdictOf(row.Formula, row.Negate, signature(t, row.Sig))
			want := strings.TrimPrefix(row.Verdict, "parse-")
			name := row.Formula
			if row.Negate {
				name = "NOT (" + name + ")"
			}
			_, meant := deliberate()[name]
			switch {
			case got == "out of scope":
				outOfScope++
				continue
			case got == want:
				agreed++
			case meant:
				different++
			default:
				t.Errorf("%s: got %s, want %s\n%s", name, got, want, diags.Render(nil))
			}
			if got == want && meant {
				t.Errorf("%s: listed as a deliberate difference, but there is none", name)
			}
			compared++
		}
	}
	t.Logf("%d compared, %d agreed, %d deliberate differences, %d out of scope", compared, agreed, different, outOfScope)
	if compared == 0 || different != len(deliberate()) {
		t.Errorf("%d compared; %d of %d deliberate differences seen", compared, different, len(deliberate()))
	}
}

// Whatever the reference monitor could run is accepted, and what it refused is not.
func TestReferenceCases(t *testing.T) {
	type testCase struct{ formula, sig, meta, stderr string }
	cases := map[string]*testCase{}
	for name, content := range reference.Files(t, reference.Answers) {
		dir, base := path.Split(name)
		c := cases[dir]
		if c == nil {
			c = &testCase{}
			cases[dir] = c
		}
		switch base {
		case "formula.mfotl":
			c.formula = content
		case "sig":
			c.sig = content
		case "meta.json":
			c.meta = content
		case "expected.stderr":
			c.stderr = content
		}
	}
	compared, outOfScope := 0, 0
	for dir, c := range cases {
		// Regular expressions over time or as data are not part of our language.
		if strings.Contains(dir, "probe-re-") || strings.HasSuffix(dir, "probe-s2r/") {
			continue
		}
		// Signatures that are refused are not the checker's.
		if c.formula == "" || c.sig == "" || strings.Contains(dir, "probe-sig-") && strings.Contains(c.stderr, "error") {
			continue
		}
		var meta struct{ Flags []string }
		if err := json.Unmarshal([]byte(c.meta), &meta); err != nil {
			t.Fatal(err)
		}
		sig, ok := parseSignature(c.sig)
		if !ok {
			outOfScope++
			continue
		}
		negate := strings.Contains(strings.Join(meta.Flags, " "), "-negate")
		got, diags := verdictOf(c.formula, negate, sig)
		want := "monitorable"
		switch {
		case strings.Contains(c.stderr, "NOT monitorable"):
			want = "not-monitorable"
		case strings.Contains(c.stderr, "Rewriting."), strings.Contains(c.stderr, "Failed to parse formula"):
			want = "error"
		}
		// Accepted by moving the comparison, which is rigid, out of ONCE.
		if strings.HasSuffix(dir, "probe-rw-once-less-unb/") {
			want = "monitorable"
		}
		switch got {
		case "out of scope":
			outOfScope++
		case want:
			compared++
		default:
			t.Errorf("%s %s: got %s, want %s\n%s", dir, strings.TrimSpace(c.formula), got, want, diags.Render(nil))
		}
	}
	t.Logf("%d compared, %d out of scope", compared, outOfScope)
	if compared < 440 {
		t.Errorf("only %d cases compared", compared)
	}
}

func signature(t *testing.T, text string) Signature {
	t.Helper()
	sig, ok := parseSignature(text)
	if !ok {
		t.Fatalf("unreadable signature:\n%s", text)
	}
	return sig
}

// parseSignature reads the simple signatures of tests: name(var:type, …).
func parseSignature(text string) (Signature, bool) {
	sig := Signature{}
	for text = strings.TrimSpace(text); text != ""; text = strings.TrimSpace(text) {
		name, rest, ok := strings.Cut(text, "(")
		args, after, ok2 := strings.Cut(rest, ")")
		if !ok || !ok2 {
			return nil, false
		}
		text = after
		kinds := []schema.ValueKind{}
		for arg := range strings.SplitSeq(args, ",") {
			arg = strings.TrimSpace(arg)
			if i := strings.LastIndex(arg, ":"); i >= 0 {
				arg = strings.TrimSpace(arg[i+1:])
			}
			switch arg {
			case "int":
				kinds = append(kinds, schema.KindInt)
			case "string":
				kinds = append(kinds, schema.KindString)
			case "float":
				kinds = append(kinds, schema.KindFloat)
			case "":
			default:
				return nil, false
			}
		}
		sig[strings.TrimSpace(name)] = kinds
	}
	return sig, true
}
