package archtest

import (
	"fmt"
	"go/ast"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// goroutineList is the allow-list of TestGoStatements.
const goroutineList = "testdata/goroutines.txt"

// spawners are the places at which a goroutine may start at all: whatever owns a
// connection, a partition or a process. Engines and the policy never do.
func spawners() []string {
	return []string{"cmd/", "internal/adapter/", "internal/bus/", "internal/cli", "internal/corpus", "internal/e2e", "internal/node", "internal/replay", "internal/service/", "internal/sim", "loadtest", "pkg/client"}
}

// TestGoStatements compares every start of a goroutine outside tests with the
// list: `package function | count | who waits for it | what ends it`.
func TestGoStatements(t *testing.T) {
	allowed := readGoroutines(t)
	found := map[string][]string{}
	scanned := 0
	for _, p := range packages(t) {
		for _, f := range files(t, p, p.GoFiles) {
			scanned++
			for fn, places := range goroutines(f) {
				key := p.rel() + " " + fn
				found[key] = append(found[key], places...)
			}
		}
	}
	if scanned == 0 {
		t.Fatal("no source file was scanned")
	}
	for _, key := range sorted(found) {
		places := found[key]
		if !slices.ContainsFunc(spawners(), func(s string) bool { return strings.HasPrefix(key, s) }) {
			t.Errorf("%s starts a goroutine (%s); only services, adapters and drivers may", key, strings.Join(places, ", "))
			continue
		}
		want, ok := allowed[key]
		if !ok {
			t.Errorf("%s starts a goroutine that the list does not know (%s).\n"+
				"Is there an owner that waits for it before its Run or Close returns? Then add to internal/archtest/%s:\n"+
				"%s | %d | WHO WAITS FOR IT | WHAT ENDS IT", key, strings.Join(places, ", "), goroutineList, key, len(places))
			continue
		}
		if want != len(places) {
			t.Errorf("%s starts goroutines at %d places (%s), the list says %d", key, len(places), strings.Join(places, ", "), want)
		}
	}
	for _, key := range sorted(allowed) {
		if found[key] == nil {
			t.Errorf("%s names %s, which starts no goroutine any more: remove the line", goroutineList, key)
		}
	}
}

// readGoroutines reads the allow-list: key to count.
func readGoroutines(t *testing.T) map[string]int {
	t.Helper()
	data, err := os.ReadFile(goroutineList)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]int{}
	n := 0
	for line := range strings.Lines(string(data)) {
		n++
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		key, count, err := goroutineLine(line)
		if err != nil {
			t.Errorf("%s:%d: %v", goroutineList, n, err)
		}
		if _, twice := out[key]; twice {
			t.Errorf("%s:%d: %s stands here a second time", goroutineList, n, key)
		}
		out[key] = count
	}
	return out
}

func goroutineLine(line string) (key string, count int, err error) {
	parts := strings.Split(line, "|")
	if len(parts) != 4 {
		return line, 0, fmt.Errorf("want four fields separated by |: package function, count, owner, end; got %d", len(parts))
	}
	for i := range parts {
		if parts[i] = strings.TrimSpace(parts[i]); parts[i] == "" {
			return parts[0], 0, fmt.Errorf("field %d is empty", i+1)
		}
	}
	if count, err = strconv.Atoi(parts[1]); err != nil || count < 1 {
		return parts[0], 0, fmt.Errorf("%q is not a count", parts[1])
	}
	return parts[0], count, nil
}

// goroutines maps the functions of a file to the places at which they start
// goroutines: go statements, method Go of a group, and AfterFunc.
func goroutines(f file) map[string][]string {
	out := map[string][]string{}
	for _, d := range f.ast.Decls {
		name := "(package)"
		if fn, ok := d.(*ast.FuncDecl); ok {
			name = funcName(fn)
		}
		ast.Inspect(d, func(n ast.Node) bool {
			if spawns(n) {
				out[name] = append(out[name], f.at(n))
			}
			return true
		})
	}
	return out
}

func spawns(n ast.Node) bool {
	switch x := n.(type) {
	case *ast.GoStmt:
		return true
	case *ast.CallExpr:
		sel, ok := x.Fun.(*ast.SelectorExpr)
		return ok && (sel.Sel.Name == "AfterFunc" || sel.Sel.Name == "Go" && len(x.Args) == 1)
	}
	return false
}

func TestGoroutinesAreFound(t *testing.T) {
	f := parse(t, `
import ("context"; "sync"; "time")
type T[K any] struct{}
func (*T[K]) Run() { go func() { go f() }() }
func f() { var wg sync.WaitGroup; wg.Go(f); time.AfterFunc(0, f); context.AfterFunc(nil, f) }
func quiet() { f() }
`)
	got := goroutines(f)
	if len(got) != 2 || len(got["T.Run"]) != 2 || len(got["f"]) != 3 {
		t.Errorf("got %v, want two places in T.Run and three in f", got)
	}
}

func TestGoroutineLine(t *testing.T) {
	key, n, err := goroutineLine("internal/service/gate Gate.Run | 2 | Run | its context ends")
	if err != nil || key != "internal/service/gate Gate.Run" || n != 2 {
		t.Errorf("got %q, %d, %v", key, n, err)
	}
	for _, bad := range []string{"a b | 1 | owner", "a b | 1 |  | end", "a b | none | owner | end", "a b | 0 | owner | end"} {
		if _, _, err := goroutineLine(bad); err == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
}
