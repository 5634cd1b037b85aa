package archtest

import (
	"fmt"
	"go/ast"
	"go/token"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// code is a diagnostic code as declared.
type code struct {
	value, name, pkg, at, meaning string
}

// TestDiagnosticCodes holds that each code is declared once, says what it means,
// is produced by a test, and stands in docs/errors.md, which -update writes.
func TestDiagnosticCodes(t *testing.T) {
	byValue := map[string]code{}
	var tests strings.Builder
	for _, p := range packages(t) {
		for _, f := range files(t, p, p.GoFiles) {
			for _, c := range codes(f) {
				if other, twice := byValue[c.value]; twice {
					t.Errorf("%s: code %s is declared at %s too", c.at, c.value, other.at)
				}
				if c.meaning == "" {
					t.Errorf("%s: code %s has no comment that says what it means", c.at, c.value)
				}
				byValue[c.value] = c
			}
		}
		testText(t, p, &tests)
	}
	if len(byValue) == 0 {
		t.Fatal("no constant of type diag.Code was found")
	}
	text := tests.String()
	for _, value := range sorted(byValue) {
		c := byValue[value]
		if !strings.Contains(text, value) && !strings.Contains(text, c.name) {
			t.Errorf("%s: no test produces %s (%s)", c.at, value, c.name)
		}
	}
	compare(t, filepath.Join(root(t), "docs", "errors.md"), errorsPage(byValue))
}

// codes lists the constants of type diag.Code (Code inside the package itself).
func codes(f file) []code {
	var out []code
	for _, d := range f.ast.Decls {
		gen, ok := d.(*ast.GenDecl)
		if !ok || gen.Tok != token.CONST {
			continue
		}
		for _, spec := range gen.Specs {
			v, ok := spec.(*ast.ValueSpec)
			if !ok || !isCode(v.Type) || len(v.Values) == 0 {
				continue
			}
			if lit, ok := v.Values[0].(*ast.BasicLit); ok {
				value, err := strconv.Unquote(lit.Value)
				if err != nil {
					continue
				}
				text := v.Doc.Text() + " " + v.Comment.Text()
				if !gen.Lparen.IsValid() {
					text = gen.Doc.Text() + " " + text // the comment of a lone constant is the declaration's
				}
				out = append(out, code{
					value: value, name: v.Names[0].Name, pkg: f.pkg.rel(), at: f.at(v),
					meaning: strings.Join(strings.Fields(text), " "),
				})
			}
		}
	}
	return out
}

func isCode(typ ast.Expr) bool {
	switch x := typ.(type) {
	case *ast.SelectorExpr:
		id, ok := x.X.(*ast.Ident)
		return ok && id.Name == "diag" && x.Sel.Name == "Code"
	case *ast.Ident:
		return x.Name == "Code"
	}
	return false
}

// testText appends the text of a package's tests and of their data.
func testText(t *testing.T, p pkg, to *strings.Builder) {
	t.Helper()
	paths := []string{}
	for _, name := range p.tests() {
		paths = append(paths, filepath.Join(p.Dir, name))
	}
	err := filepath.WalkDir(filepath.Join(p.Dir, "testdata"), func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil //nolint:nilerr // most packages have no test data
		}
		if info, err := d.Info(); err == nil && info.Size() < 1<<20 {
			paths = append(paths, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		to.Write(data)
	}
}

// errorsPage is docs/errors.md.
func errorsPage(byValue map[string]code) string {
	var b strings.Builder
	b.WriteString("# Diagnostic codes\n\n" +
		"A code never changes its meaning and is never given to another finding. The message beside it says what is\n" +
		"wrong and where, the hint how to repair it. This page is written by\n" +
		"`go test ./internal/archtest -run TestDiagnosticCodes -update`.\n\n" +
		"| code | reported by | meaning |\n|---|---|---|\n")
	for _, value := range sorted(byValue) {
		c := byValue[value]
		fmt.Fprintf(&b, "| %s | `%s` | %s |\n", value, c.pkg, strings.ReplaceAll(c.meaning, "|", "\\|"))
	}
	return b.String()
}

func TestCodesAreFound(t *testing.T) {
	got := codes(parse(t, `
const (
	// CodeA is one thing.
	CodeA diag.Code = "P001"
	CodeB diag.Code = "P002" // another thing
	Other string    = "P003"
)

const CodeC Code = "P004"

// CodeD stands alone.
const CodeD Code = "P005"
`))
	want := []code{
		{value: "P001", name: "CodeA", meaning: "CodeA is one thing."},
		{value: "P002", name: "CodeB", meaning: "another thing"},
		{value: "P004", name: "CodeC"},
		{value: "P005", name: "CodeD", meaning: "CodeD stands alone."},
	}
	if len(got) != len(want) {
		t.Fatalf("got %v, want %d codes", got, len(want))
	}
	for i, w := range want {
		if got[i].value != w.value || got[i].name != w.name || got[i].meaning != w.meaning {
			t.Errorf("got %+v, want %+v", got[i], w)
		}
	}
}
