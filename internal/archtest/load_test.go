package archtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// update makes the tests that compare with a recorded file write it instead.
var update = flag.Bool("update", false, "rewrite the recorded files") //nolint:gochecknoglobals // flags of a test binary are global

// module is the path of the module under test.
const module = "github.com/aspis-rv/aspis"

// pkg is a package as `go list` describes it.
type pkg struct {
	Dir          string
	ImportPath   string
	Name         string
	GoFiles      []string
	TestGoFiles  []string
	XTestGoFiles []string
	Imports      []string
	TestImports  []string
	XTestImports []string
}

// rel is the package's path below the module.
func (p pkg) rel() string { return strings.TrimPrefix(p.ImportPath, module+"/") }

// tests are the files of both test packages.
func (p pkg) tests() []string { return append(append([]string{}, p.TestGoFiles...), p.XTestGoFiles...) }

// root is the folder of go.mod: a test runs in the folder of its package.
func root(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "go.mod")); err != nil {
		t.Fatalf("the root of the module is not two folders up: %v", err)
	}
	return dir
}

// packages lists every package of the module, those with tests only included.
func packages(t *testing.T) []pkg {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-e", "-json=Dir,ImportPath,Name,GoFiles,TestGoFiles,XTestGoFiles,Imports,TestImports,XTestImports", "./...")
	cmd.Dir = root(t)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.Bytes())
	}
	var all []pkg
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pkg
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("go list: %v", err)
		}
		all = append(all, p)
	}
	if len(all) == 0 {
		t.Fatal("go list named no package")
	}
	return all
}

// file is a parsed source file.
type file struct {
	pkg  pkg
	name string // below the module's root, with slashes
	fset *token.FileSet
	ast  *ast.File
}

// at is the place of a node as file:line.
func (f file) at(n ast.Node) string {
	pos := f.fset.Position(n.Pos())
	return fmt.Sprintf("%s:%d", f.name, pos.Line)
}

// imported maps the names by which the file's imports are known to their paths.
// A path's last element stands for the package's name, a version element aside.
func (f file) imported() map[string]string {
	names := map[string]string{}
	for _, spec := range f.ast.Imports {
		path := strings.Trim(spec.Path.Value, `"`)
		name := importName(path)
		if spec.Name != nil {
			name = spec.Name.Name
		}
		names[name] = path
	}
	return names
}

func importName(path string) string {
	parts := strings.Split(path, "/")
	name := parts[len(parts)-1]
	if len(parts) > 1 && len(name) > 1 && name[0] == 'v' && strings.Trim(name[1:], "0123456789") == "" {
		name = parts[len(parts)-2]
	}
	name, _, _ = strings.Cut(name, ".")
	return strings.TrimPrefix(name, "go-")
}

// files parses the named files of a package, comments included.
func files(t *testing.T, p pkg, names []string) []file {
	t.Helper()
	var out []file
	for _, name := range names {
		fset := token.NewFileSet()
		tree, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, file{pkg: p, name: p.rel() + "/" + name, fset: fset, ast: tree})
	}
	return out
}

// funcName names a declaration as Func or Type.Method.
func funcName(d *ast.FuncDecl) string {
	if d.Recv == nil || len(d.Recv.List) == 0 {
		return d.Name.Name
	}
	typ := d.Recv.List[0].Type
	for {
		switch x := typ.(type) {
		case *ast.StarExpr:
			typ = x.X
			continue
		case *ast.IndexExpr:
			typ = x.X
			continue
		case *ast.IndexListExpr:
			typ = x.X
			continue
		case *ast.Ident:
			return x.Name + "." + d.Name.Name
		}
		return d.Name.Name
	}
}

// parse reads a file without its package clause, for tests of the tests.
func parse(t *testing.T, src string) file {
	t.Helper()
	fset := token.NewFileSet()
	tree, err := parser.ParseFile(fset, "x.go", "package x; "+src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	return file{pkg: pkg{ImportPath: module + "/x"}, name: "x.go", fset: fset, ast: tree}
}

// sorted lists the keys of a map.
func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
