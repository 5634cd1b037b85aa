package archtest

import (
	"go/ast"
	"strings"
	"testing"
)

// engines are the packages that take a state and an event and return values. A
// name ending in /... covers what is below it too.
func engines() []string {
	return []string{
		"internal/compose/...",
		"internal/diag",
		"internal/facts/...",
		"internal/judge",
		"internal/lang/...",
		"internal/ltlf/...",
		"internal/mfotl/...",
		"internal/protocol/...",
		"internal/records", "internal/text",
		"internal/text/...",
		"internal/world/...",
		"pkg/aspects/...",
		"pkg/policy/internal/source",
		"pkg/schema",
		"pkg/verdict",
	}
}

// firstEngines must exist for the test to mean anything.
func firstEngines() []string {
	return []string{"internal/diag", "internal/lang/syntax", "internal/lang/check", "internal/mfotl", "internal/protocol", "pkg/schema", "pkg/verdict"}
}

func isEngine(rel string) bool {
	for _, e := range engines() {
		if dir, sub := strings.CutSuffix(e, "/..."); rel == dir || sub && strings.HasPrefix(rel, dir+"/") {
			return true
		}
	}
	return false
}

// impure says why an engine must not import a package, or returns "".
func impure(path string) string {
	switch path {
	case "context":
		return "cancellation is the service's affair"
	case "crypto/rand", "math/rand", "math/rand/v2":
		return "chance is data"
	case "io/ioutil", "os", "os/exec", "os/signal", "syscall", "testing/fstest":
		return "an engine reads no file and no environment"
	case "log", "log/slog":
		return "an engine does not log"
	case "net/netip", "net/url":
		return "" // parsers, no network
	case "runtime":
		return "an engine does not depend on the machine"
	case "sync", "sync/atomic":
		return "one goroutine owns the state; a lock hides a second"
	case "testing":
		return "test helpers must not reach the product"
	}
	if path == "net" || strings.HasPrefix(path, "net/") {
		return "an engine talks to nobody"
	}
	return ""
}

// clocky are the functions of package time that read a clock or wait for it.
func clocky(name string) bool {
	switch name {
	case "After", "AfterFunc", "NewTicker", "NewTimer", "Now", "Since", "Sleep", "Tick", "Until":
		return true
	}
	return false
}

func TestEnginesArePure(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range packages(t) {
		if !isEngine(p.rel()) {
			continue
		}
		for _, f := range files(t, p, p.GoFiles) {
			seen[p.rel()] = true
			for _, finding := range impurities(f) {
				t.Error(finding)
			}
		}
	}
	for _, e := range firstEngines() {
		if !seen[e] {
			t.Errorf("engine %s has no source file: nothing was checked", e)
		}
	}
}

// impurities lists what a file of an engine must not contain.
func impurities(f file) []string {
	var out []string
	for _, spec := range f.ast.Imports {
		path := strings.Trim(spec.Path.Value, `"`)
		if why := impure(path); why != "" {
			out = append(out, f.at(spec)+": an engine must not import "+path+": "+why)
		}
	}
	names := f.imported()
	ast.Inspect(f.ast, func(n ast.Node) bool {
		switch x := n.(type) {
		case *ast.GoStmt:
			out = append(out, f.at(x)+": an engine starts no goroutine")
		case *ast.SelectStmt:
			out = append(out, f.at(x)+": an engine waits for nothing")
		case *ast.SelectorExpr:
			id, ok := x.X.(*ast.Ident)
			if !ok {
				break
			}
			if names[id.Name] == "time" && clocky(x.Sel.Name) {
				out = append(out, f.at(x)+": time is data; an engine must not call time."+x.Sel.Name)
			}
			if names[id.Name] == "fmt" && strings.HasPrefix(x.Sel.Name, "Print") {
				out = append(out, f.at(x)+": an engine does not print")
			}
		}
		return true
	})
	return out
}

func TestImpuritiesAreFound(t *testing.T) {
	for _, tc := range []struct{ name, src, want string }{
		{"clock", `import "time"; func f() int64 { return time.Now().Unix() }`, "time.Now"},
		{"renamed clock", `import clk "time"; var f = clk.Since`, "time.Since"},
		{"goroutine", `func f() { go f() }`, "no goroutine"},
		{"select", `func f(c chan int) { select { case <-c: } }`, "waits for nothing"},
		{"lock", `import "sync"; type s struct{ mu sync.Mutex }`, "import sync"},
		{"chance", `import "math/rand/v2"; var f = rand.Int`, "math/rand/v2"},
		{"file", `import "os"; var f = os.Open`, "import os"},
		{"network", `import "net/http"; var f = http.Get`, "net/http"},
		{"print", `import "fmt"; func f() { fmt.Println() }`, "print"},
		{"type of time", `import "time"; type s struct{ d time.Duration; at time.Time }`, ""},
		{"parser of addresses", `import "net/url"; var f = url.Parse`, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := strings.Join(impurities(parse(t, tc.src)), "\n")
			if tc.want == "" && got != "" || tc.want != "" && !strings.Contains(got, tc.want) {
				t.Errorf("got %q, want %q in it", got, tc.want)
			}
		})
	}
}
