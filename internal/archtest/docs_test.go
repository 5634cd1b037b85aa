package archtest

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestDocsNameEveryPackage holds the file map of docs/design.md complete.
func TestDocsNameEveryPackage(t *testing.T) {
	design := read(t, "docs/design.md")
	for _, p := range packages(t) {
		// The character after the path keeps internal/bus from standing for internal/bus/membus.
		if !regexp.MustCompile(regexp.QuoteMeta(p.rel()) + `($|[^\w/])`).MatchString(design) {
			t.Errorf("docs/design.md does not name %s: give it a line in the file map", p.rel())
		}
	}
}

// dependency is a line of docs/dependencies.md.
type dependency struct {
	version string
	use     []string // package patterns; "tests" for test files anywhere
}

// TestDocsNameEveryDependency holds docs/dependencies.md against go.mod and against
// the imports: each module that is imported has a line with its version, and is
// imported only where that line says.
func TestDocsNameEveryDependency(t *testing.T) {
	versions := required(read(t, "go.mod"))
	deps := dependencies(t, read(t, "docs/dependencies.md"))
	for name, d := range deps {
		if versions[name] == "" {
			t.Errorf("docs/dependencies.md names %s, which go.mod does not require", name)
		} else if versions[name] != d.version {
			t.Errorf("docs/dependencies.md has %s at %s, go.mod at %s", name, d.version, versions[name])
		}
	}
	used := 0
	check := func(p pkg, imports []string, test bool) {
		for _, path := range imports {
			if !foreign(path) {
				continue
			}
			used++
			name := moduleOf(path, versions)
			d, ok := deps[name]
			if !ok {
				t.Errorf("%s imports %s: module %q has no line in docs/dependencies.md", p.rel(), path, name)
			} else if !d.allows(p.rel(), test) {
				t.Errorf("%s must not import %s: docs/dependencies.md allows it in %s", p.rel(), path, strings.Join(d.use, ", "))
			}
		}
	}
	for _, p := range packages(t) {
		check(p, p.Imports, false)
		check(p, p.TestImports, true)
		check(p, p.XTestImports, true)
	}
	if used == 0 || len(deps) == 0 {
		t.Fatalf("found %d imports of other modules and %d lines: nothing was checked", used, len(deps))
	}
}

func (d dependency) allows(rel string, test bool) bool {
	for _, pattern := range d.use {
		dir, sub := strings.CutSuffix(pattern, "/...")
		if test && pattern == "tests" || rel == dir || sub && strings.HasPrefix(rel, dir+"/") {
			return true
		}
	}
	return false
}

// required maps the modules that a go.mod requires to their versions.
func required(gomod string) map[string]string {
	out := map[string]string{}
	for _, m := range regexp.MustCompile(`(?m)^(?:require)?\s+([^\s]+\.[^\s]+) (v[^\s]+)`).FindAllStringSubmatch(gomod, -1) {
		out[m[1]] = m[2]
	}
	return out
}

// dependencies reads the table rows `| module | version | licence | why | where |`.
func dependencies(t *testing.T, page string) map[string]dependency {
	t.Helper()
	out := map[string]dependency{}
	for line := range strings.Lines(page) {
		if !strings.HasPrefix(line, "| `") {
			continue
		}
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if len(cells) != 5 {
			t.Errorf("docs/dependencies.md: want five columns: %s", line)
			continue
		}
		for i := range cells {
			if cells[i] = strings.TrimSpace(cells[i]); cells[i] == "" {
				t.Errorf("docs/dependencies.md: column %d is empty: %s", i+1, line)
			}
		}
		name := strings.Trim(cells[0], "`")
		if _, twice := out[name]; twice {
			t.Errorf("docs/dependencies.md: %s has two lines", name)
		}
		d := dependency{version: cells[1]}
		for use := range strings.SplitSeq(cells[4], ",") {
			d.use = append(d.use, strings.Trim(strings.TrimSpace(use), "`"))
		}
		out[name] = d
	}
	return out
}

// moduleOf is the longest required module that an import path lies in.
func moduleOf(path string, versions map[string]string) string {
	best := ""
	for name := range versions {
		if (path == name || strings.HasPrefix(path, name+"/")) && len(name) > len(best) {
			best = name
		}
	}
	return best
}

func TestDependencyRules(t *testing.T) {
	d := dependency{use: []string{"internal/bus/natsbus/...", "loadtest", "tests"}}
	for _, tc := range []struct {
		rel        string
		test, want bool
	}{
		{"internal/bus/natsbus", false, true},
		{"internal/bus/natsbus/embed", false, true},
		{"internal/bus/natsbus2", false, false},
		{"loadtest", false, true},
		{"loadtest/sub", false, false},
		{"pkg/schema", true, true},
	} {
		if got := d.allows(tc.rel, tc.test); got != tc.want {
			t.Errorf("%s (test %v): got %v", tc.rel, tc.test, got)
		}
	}
	mods := required("module a.b/c\n\ngo 1.26.0\n\nrequire x.y/z v1.0.0\n\nrequire (\n\tp.q/r v2.0.0 // indirect\n\tp.q/r/v2 v2.1.0\n)\n")
	if len(mods) != 3 || mods["x.y/z"] != "v1.0.0" || moduleOf("p.q/r/v2/sub", mods) != "p.q/r/v2" || moduleOf("p.q/rs", mods) != "" {
		t.Errorf("go.mod was misread: %v", mods)
	}
}

// TestDecisionRecords holds docs/adr in order: numbers without a gap and a status.
func TestDecisionRecords(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join(root(t), "docs", "adr", "[0-9]*.md"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no decision record was found (%v)", err)
	}
	for i, path := range paths {
		name := filepath.Base(path)
		if want := fmt.Sprintf("%04d-", i+1); !strings.HasPrefix(name, want) {
			t.Errorf("%s: want a name that starts with %s", name, want)
		}
		if !regexp.MustCompile(`(?m)^Status: (proposed|accepted|superseded by \d{4})\.?$`).MatchString(read(t, "docs/adr/"+name)) {
			t.Errorf("%s: want a line `Status: proposed`, `accepted` or `superseded by NNNN`", name)
		}
	}
}

// TestLinksLeadSomewhere follows the relative links of every page.
func TestLinksLeadSomewhere(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)\s:#]+)(#[^)]*)?\)`)
	n := 0
	for _, name := range texts(t) {
		if !strings.HasSuffix(name, ".md") {
			continue
		}
		n++
		for _, m := range link.FindAllStringSubmatch(read(t, name), -1) {
			target := filepath.Join(root(t), filepath.Dir(name), m[1])
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s: the link to %s leads nowhere", name, m[1])
			}
		}
	}
	if n == 0 {
		t.Fatal("no page was found")
	}
}

// read returns a file of the repository.
func read(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root(t), filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
