package archtest

import (
	"bytes"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// strangers are what the repository's text must not contain: paths of the machine
// it was written on, and addresses of package registries. They are put together
// here, so that this file does not contain them either.
func strangers() map[string]*regexp.Regexp {
	return map[string]*regexp.Regexp{
		"a local path":       regexp.MustCompile(`(^|[^\w.~-])/(work` + `|tmp/brief|home/\w+)/`),
		"a package registry": regexp.MustCompile(`(proxy|sum)\.golang` + `\.org|registry\.npm` + `js|pypi` + `\.org|goproxy\.`),
	}
}

// unfinished marks what was left for later in code. What is left for later stands
// in docs/limitations.md, where a user can read it.
func unfinished() *regexp.Regexp { return regexp.MustCompile(`\b(TO` + `DO|FIX` + `ME)\b`) }

func TestNoForeignWords(t *testing.T) {
	names := texts(t)
	if len(names) == 0 {
		t.Fatal("no text was found")
	}
	for _, name := range names {
		n := 0
		for line := range strings.Lines(read(t, name)) {
			n++
			for what, pattern := range strangers() {
				if pattern.MatchString(line) {
					t.Errorf("%s:%d names %s: %s", name, n, what, excerpt(line))
				}
			}
			if strings.HasSuffix(name, ".go") && unfinished().MatchString(line) {
				t.Errorf("%s:%d is unfinished: do it, or say so in docs/limitations.md: %s", name, n, excerpt(line))
			}
		}
	}
}

func excerpt(line string) string {
	line = strings.TrimSpace(line)
	if len(line) > 120 {
		line = line[:120] + "…"
	}
	return line
}

// texts lists the text files of the repository, below its root and with slashes.
// What .gitignore leaves out is left out: folders at the root with build results.
func texts(t *testing.T) []string {
	t.Helper()
	base := root(t)
	ignored := map[string]bool{".git": true}
	for line := range strings.Lines(read(t, ".gitignore")) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "/") {
			ignored[strings.Trim(line, "/")] = true
		}
	}
	var out []string
	err := filepath.WalkDir(base, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(base, path)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if d.IsDir() {
			if ignored[rel] {
				return fs.SkipDir
			}
			return nil
		}
		if d.Type().IsRegular() && isText(t, rel) {
			out = append(out, rel)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// isText reports whether a file's first bytes have no NUL and its name is not one
// of a checksum list or of a result of the compiler.
func isText(t *testing.T, name string) bool {
	t.Helper()
	switch filepath.Ext(name) {
	case ".sum", ".test", ".out", ".prof", ".gz", ".png":
		return false
	}
	data := []byte(read(t, name))
	return !bytes.ContainsRune(data[:min(len(data), 8192)], 0)
}

func TestStrangersAreFound(t *testing.T) {
	for text, want := range map[string]string{
		"see /wo" + "rk/main/x":            "a local path",
		`"/ho` + `me/jo/x"`:                "a local path",
		"https://proxy.golang" + ".org/x":  "a package registry",
		"a https://example.org/work/order": "",
		"a docs/work/page":                 "",
	} {
		got := ""
		for what, pattern := range strangers() {
			if pattern.MatchString(text) {
				got = what
			}
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}
