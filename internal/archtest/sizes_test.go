package archtest

import (
	"bufio"
	"go/ast"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The limits of size. They are not a taste of their own: they are where the nine
// in ten files, and the 97 in 100 functions, of code bases that read well lie.
const (
	maxCodeLines   = 800 // of a file, comments and blank lines aside; more is two files
	usualFileLines = 500 // of nine files in ten, all lines counted
	maxFuncLines   = 120 // only a switch over operators or tokens comes near
	usualFuncLines = 60  // of 97 functions in 100
	maxFields      = 25  // of a struct; more is a configuration nobody reads
)

// wide names the structs that may have more fields, and why.
func wide() map[string]string {
	return map[string]string{
		"pkg/schema.Event": "the canonical event: its fields are the record format, one to one",
	}
}

// TestSizes prints the distribution of sizes (go test -v) and fails on outliers.
func TestSizes(t *testing.T) {
	var fileLines, funcLines, fields []int
	for _, p := range packages(t) {
		for _, f := range files(t, p, p.GoFiles) {
			fileLines = append(fileLines, f.fset.File(f.ast.Pos()).LineCount())
			code := codeLines(t, filepath.Join(p.Dir, filepath.Base(f.name)))
			if code > maxCodeLines && !ast.IsGenerated(f.ast) {
				t.Errorf("%s has %d lines of code, the limit is %d: split it by what it provides", f.name, code, maxCodeLines)
			}
			ast.Inspect(f.ast, func(n ast.Node) bool {
				switch x := n.(type) {
				case *ast.FuncDecl:
					lines := f.fset.Position(x.End()).Line - f.fset.Position(x.Pos()).Line + 1
					funcLines = append(funcLines, lines)
					if lines > maxFuncLines {
						t.Errorf("%s: %s has %d lines, the limit is %d", f.at(x), funcName(x), lines, maxFuncLines)
					}
				case *ast.TypeSpec:
					st, ok := x.Type.(*ast.StructType)
					if !ok {
						break
					}
					n, name := st.Fields.NumFields(), p.rel()+"."+x.Name.Name
					fields = append(fields, n)
					if n > maxFields && wide()[name] == "" {
						t.Errorf("%s: %s has %d fields, the limit is %d: group them", f.at(x), name, n, maxFields)
					}
				}
				return true
			})
		}
	}
	if len(fileLines) == 0 || len(funcLines) == 0 || len(fields) == 0 {
		t.Fatal("no source was found")
	}
	report(t, "lines of a file", fileLines)
	report(t, "lines of a function", funcLines)
	report(t, "fields of a struct", fields)
	if q := quantile(fileLines, 90); q > usualFileLines {
		t.Errorf("one file in ten has more than %d lines, the limit is %d", q, usualFileLines)
	}
	if q := quantile(funcLines, 97); q > usualFuncLines {
		t.Errorf("three functions in 100 have more than %d lines, the limit is %d", q, usualFuncLines)
	}
}

func report(t *testing.T, what string, sizes []int) {
	t.Helper()
	t.Logf("%s: n %d, p50 %d, p90 %d, p97 %d, p99 %d, max %d", what, len(sizes),
		quantile(sizes, 50), quantile(sizes, 90), quantile(sizes, 97), quantile(sizes, 99), slices.Max(sizes))
}

// quantile is the smallest element that at least percent of 100 do not exceed.
func quantile(sizes []int, percent int) int {
	s := slices.Sorted(slices.Values(sizes))
	return s[max(0, (len(s)*percent+99)/100-1)]
}

func TestQuantile(t *testing.T) {
	sizes := []int{5, 1, 4, 2, 3, 9, 6, 8, 7, 10}
	for percent, want := range map[int]int{0: 1, 10: 1, 50: 5, 90: 9, 91: 10, 100: 10} {
		if got := quantile(sizes, percent); got != want {
			t.Errorf("quantile %d: got %d, want %d", percent, got, want)
		}
	}
}

// codeLines counts the lines of a file that are neither blank nor comments alone.
func codeLines(t *testing.T, path string) int {
	t.Helper()
	in, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close() //nolint:errcheck // opened for reading
	n, comment := 0, false
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		switch {
		case comment:
			comment = !strings.HasSuffix(line, "*/")
		case line == "" || strings.HasPrefix(line, "//"):
		case strings.HasPrefix(line, "/*"):
			comment = !strings.Contains(line, "*/")
		default:
			n++
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return n
}
