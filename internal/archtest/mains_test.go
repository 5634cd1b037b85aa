package archtest

import (
	"go/ast"
	"strings"
	"testing"
)

// TestMainsAreOneStatement holds main to the hand-over of the process to the
// command tree, so that everything a command does can be run by a test.
func TestMainsAreOneStatement(t *testing.T) {
	want := map[string]bool{"cmd/aspis": true, "cmd/ingest": true, "cmd/aspectd": true, "cmd/composer": true, "cmd/gate": true}
	for _, p := range packages(t) {
		if !strings.HasPrefix(p.rel(), "cmd/") {
			if p.Name == "main" && p.rel() != "loadtest" {
				t.Errorf("%s is a program outside cmd", p.rel())
			}
			continue
		}
		delete(want, p.rel())
		if len(p.GoFiles) != 1 || p.GoFiles[0] != "main.go" {
			t.Errorf("%s has files %v, want main.go alone", p.rel(), p.GoFiles)
		}
		for _, f := range files(t, p, p.GoFiles) {
			for _, finding := range mainFindings(f) {
				t.Error(finding)
			}
		}
	}
	for name := range want {
		t.Errorf("%s does not exist", name)
	}
}

// mainFindings says what a main.go has beside one short func main.
func mainFindings(f file) []string {
	var out []string
	for _, d := range f.ast.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok {
			if gen, isGen := d.(*ast.GenDecl); !isGen || gen.Tok.String() != "import" {
				out = append(out, f.at(d)+": only imports and func main belong here")
			}
			continue
		}
		lines := f.fset.Position(fn.Body.Rbrace).Line - f.fset.Position(fn.Body.Lbrace).Line + 1
		if fn.Name.Name != "main" || len(fn.Body.List) != 1 || lines > 3 {
			out = append(out, f.at(fn)+": want func main with one statement on one line")
		}
	}
	return out
}

func TestMainFindings(t *testing.T) {
	for _, tc := range []struct {
		name, src string
		findings  int
	}{
		{"one statement", "import \"os\"\nfunc main() {\n\tos.Exit(0)\n}", 0},
		{"two statements", "func main() { f(); f() }", 1},
		{"a statement of five lines", "func main() {\n\tf(1,\n\t\t2,\n\t\t3)\n}", 1},
		{"a second function", "func main() { f() }; func f() {}", 1},
		{"a variable", "var x = 1; func main() { f() }", 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := mainFindings(parse(t, tc.src)); len(got) != tc.findings {
				t.Errorf("got %v, want %d findings", got, tc.findings)
			}
		})
	}
}
