package archtest

import (
	"fmt"
	"go/ast"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestPublicAPI compares `go doc -all` of every package under pkg with its record.
// A difference is a change of the public API: wanted, it is recorded with -update
// and gets a line in CHANGELOG.md.
func TestPublicAPI(t *testing.T) {
	const dir = "testdata/api"
	recorded := map[string]bool{}
	old, err := filepath.Glob(filepath.Join(dir, "*.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range old {
		recorded[path] = true
	}
	n := 0
	for _, p := range packages(t) {
		if !public(p) {
			continue
		}
		n++
		path := filepath.Join(dir, strings.ReplaceAll(strings.TrimPrefix(p.rel(), "pkg/"), "/", "_")+".txt")
		delete(recorded, path)
		compare(t, path, apiOf(t, p))
	}
	if n == 0 {
		t.Fatal("no public package was found")
	}
	for path := range recorded {
		if *update {
			if err := os.Remove(path); err != nil {
				t.Error(err)
			}
			continue
		}
		t.Errorf("%s records a package that no longer exists", path)
	}
}

// apiOf is the API of a package as text, without the trailing spaces of go doc.
func apiOf(t *testing.T, p pkg) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "doc", "-all", ".")
	cmd.Dir = p.Dir
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go doc -all %s: %v", p.rel(), err)
	}
	var b strings.Builder
	for line := range strings.Lines(string(out)) {
		b.WriteString(strings.TrimRight(line, " \t\r\n") + "\n")
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

// compare holds got against the recorded file, or records it with -update.
func compare(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Errorf("nothing is recorded: %v\nRun: go test ./internal/archtest -run %s -update", err, t.Name())
		return
	}
	if string(want) != got {
		t.Errorf("%s differs:\n%s\nIf that is wanted, add a line to CHANGELOG.md and run: go test ./internal/archtest -run %s -update",
			path, firstDifference(string(want), got), t.Name())
	}
}

// firstDifference shows the first line in which two texts differ.
func firstDifference(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range max(len(w), len(g)) {
		a, b := "(nothing)", "(nothing)"
		if i < len(w) {
			a = w[i]
		}
		if i < len(g) {
			b = g[i]
		}
		if a != b {
			return fmt.Sprintf("line %d\n  recorded: %s\n  now:      %s", i+1, a, b)
		}
	}
	return "no line"
}

// TestPublicAPINamesNoForeignType keeps dependencies out of the public API: no
// exported declaration names a type of another module.
func TestPublicAPINamesNoForeignType(t *testing.T) {
	n := 0
	for _, p := range packages(t) {
		if !public(p) {
			continue
		}
		for _, f := range files(t, p, p.GoFiles) {
			n++
			for _, finding := range foreignTypes(f) {
				t.Error(finding)
			}
		}
	}
	if n == 0 {
		t.Fatal("no source file of a public package was found")
	}
}

func public(p pkg) bool {
	return strings.HasPrefix(p.rel(), "pkg/") && !strings.Contains(p.rel(), "/internal/")
}

// foreignTypes lists the places at which an exported declaration names another
// module's type. Bodies, values and unexported fields are not part of the API.
func foreignTypes(f file) []string {
	names := f.imported()
	var out []string
	look := func(n ast.Node) {
		if n == nil {
			return
		}
		ast.Inspect(n, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if id, ok := sel.X.(*ast.Ident); ok && foreign(names[id.Name]) {
				out = append(out, f.at(sel)+": the public API names "+id.Name+"."+sel.Sel.Name+" of "+names[id.Name])
			}
			return false
		})
	}
	for _, d := range f.ast.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Name.IsExported() && exportedReceiver(d) {
				look(d.Type)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				lookSpec(spec, look)
			}
		}
	}
	return out
}

func lookSpec(spec ast.Spec, look func(ast.Node)) {
	switch s := spec.(type) {
	case *ast.TypeSpec:
		if !s.Name.IsExported() {
			return
		}
		st, ok := s.Type.(*ast.StructType)
		if !ok {
			look(s.Type)
			return
		}
		for _, field := range st.Fields.List {
			if len(field.Names) == 0 || field.Names[0].IsExported() {
				look(field.Type)
			}
		}
	case *ast.ValueSpec:
		if s.Type != nil && s.Names[0].IsExported() {
			look(s.Type)
		}
	}
}

func exportedReceiver(d *ast.FuncDecl) bool {
	return d.Recv == nil || ast.IsExported(funcName(d))
}

// foreign reports whether a path belongs to another module: its first element has
// a dot, and it is not ours.
func foreign(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return strings.Contains(first, ".") && path != module && !strings.HasPrefix(path, module+"/")
}

func TestForeignTypesAreFound(t *testing.T) {
	const imports = `import ("io"; "example.org/dep"; "` + module + `/pkg/schema"); `
	for _, tc := range []struct {
		name, src string
		findings  int
	}{
		{"parameter", `func F(d dep.T) {}`, 1},
		{"method of an exported type", `type T int; func (T) M() *dep.T { return nil }`, 1},
		{"method of an unexported type", `type t int; func (t) M() *dep.T { return nil }`, 0},
		{"exported field", `type T struct { D map[string]dep.T }`, 1},
		{"unexported field", `type T struct { d dep.T }`, 0},
		{"embedded field", `type T struct { dep.T }`, 1},
		{"interface", `type T interface { M(dep.T) }`, 1},
		{"variable", `var V dep.T`, 1},
		{"body", `func F() { dep.Do() }`, 0},
		{"own and standard types", `func F(io.Reader) schema.Event { return schema.Event{} }`, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := foreignTypes(parse(t, imports+tc.src)); len(got) != tc.findings {
				t.Errorf("got %v, want %d findings", got, tc.findings)
			}
		})
	}
}
