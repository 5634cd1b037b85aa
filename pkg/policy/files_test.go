package policy

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/aspis-rv/aspis/internal/diag"
	"github.com/aspis-rv/aspis/policies"
)

func digestOf(t *testing.T, files map[string]string) [32]byte {
	t.Helper()
	fsys := fstest.MapFS{policyFile: {Data: []byte(filled(""))}}
	for name, text := range files {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	b, found := LoadFS(fsys)
	if b == nil {
		t.Fatal(found)
	}
	return b.Digest
}

func TestDigest(t *testing.T) {
	plain := digestOf(t, nil)
	for _, name := range []string{"a.txt~", ".a.swp", ".#a", "#a#", ".DS_Store", ".git/HEAD", "sub/.git/x"} {
		if digestOf(t, map[string]string{name: "x"}) != plain {
			t.Errorf("%s changes the digest", name)
		}
	}
	seen := map[[32]byte]string{plain: "the plain bundle"}
	for _, files := range []map[string]string{
		{"a": ""}, {"a": "b"}, {"ab": ""}, {"a": "", "b": ""}, {"a": "b", "c": ""}, {"a": "", "bc": ""}, {"sub/a": ""}, {"a\n": ""}, {".hidden": ""},
	} {
		d := digestOf(t, files)
		if other, same := seen[d]; same {
			t.Errorf("%v has the digest of %v", files, other)
		}
		seen[d] = fmt.Sprint(files)
	}
}

// The digest depends on the names and bytes alone, so a directory, an embedded
// bundle and an unpacked archive of the same files agree.
func TestDigestOfDirectoryAndEmbedded(t *testing.T) {
	fsys, err := policies.FS("baseline")
	if err != nil {
		t.Fatal(err)
	}
	embedded, found := LoadFS(fsys)
	if embedded == nil {
		t.Fatal(found)
	}
	if dir := load(t, "../../policies/baseline"); dir.Digest != embedded.Digest {
		t.Errorf("%x on disk, %x embedded", dir.Digest, embedded.Digest)
	}
	if _, err := policies.FS("nonesuch"); err == nil {
		t.Error("a bundle that does not exist is given")
	}
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func wantCode(t *testing.T, found diag.List, code diag.Code, file, part string) {
	t.Helper()
	for _, d := range found {
		if d.Code == code && d.File == file && strings.Contains(d.Message+d.Hint, part) {
			return
		}
	}
	t.Errorf("no %s about %q in %s: %v", code, part, file, found)
}

func TestLinksAreRefused(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	write(t, outside, "secret", "x")
	write(t, dir, policyFile, filled(""))
	for name, target := range map[string]string{"out": filepath.Join(outside, "secret"), "sub": outside, "in.yaml": policyFile} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	b, found := Load(dir)
	if b != nil || len(found) != 3 {
		t.Fatalf("%v %v", b, found)
	}
	for _, name := range []string{"out", "sub", "in.yaml"} {
		wantCode(t, found, CodeRead, name, "not a regular file")
	}
	linked := t.TempDir()
	write(t, linked, "other.yaml", filled(""))
	if err := os.Symlink("other.yaml", filepath.Join(linked, policyFile)); err != nil {
		t.Fatal(err)
	}
	if b, _ := Load(linked); b != nil {
		t.Error("a policy that is a link is loaded")
	}
}

func TestUnreadable(t *testing.T) {
	_, found := Load(filepath.Join(t.TempDir(), "nonesuch"))
	wantCode(t, found, CodeRead, policyFile, "cannot be read")
	_, found = Load(t.TempDir())
	wantCode(t, found, CodeRead, policyFile, "no policy.yaml")
	for _, path := range []string{"../x.yaml", "/etc/passwd", "a/../b", "a//b", "", `a\b`} {
		_, found := loadText(filled(fmt.Sprintf("tests: %q", path)))
		if !found.HasErrors() {
			t.Errorf("the test path %q is accepted", path)
		}
	}
	_, found = loadText(filled("tests: [other/*.yaml]"))
	wantCode(t, found, CodeRead, policyFile, "no file of the bundle matches")
}

// manyFiles is a file system of n files, all but the policy empty.
func manyFiles(n int) fs.FS {
	m := fstest.MapFS{policyFile: {Data: []byte(filled(""))}}
	for i := range n - 1 {
		m[fmt.Sprintf("f%d", i)] = &fstest.MapFile{}
	}
	return m
}

func TestFileLimits(t *testing.T) {
	if b, found := LoadFS(manyFiles(MaxFiles)); b == nil {
		t.Errorf("%d files: %v", MaxFiles, found)
	}
	_, found := LoadFS(manyFiles(MaxFiles + 1))
	wantLimit(t, found, "too many files")

	padded := func(n int) []byte {
		text := []byte(filled("") + "\n#")
		return append(text, bytes.Repeat([]byte("x"), n-len(text))...)
	}
	if b, found := loadText(string(padded(MaxFile))); b == nil {
		t.Errorf("%d bytes: %v", MaxFile, found)
	}
	_, found = loadText(string(padded(MaxFile + 1)))
	wantLimit(t, found, "too many bytes")

	small := []byte(filled(""))
	big := func(n int) fs.FS {
		return fstest.MapFS{policyFile: {Data: small}, "data.bin": {Data: make([]byte, n-len(small))}}
	}
	if b, found := LoadFS(big(MaxBundle)); b == nil {
		t.Errorf("%d bytes in all: %v", MaxBundle, found)
	}
	_, found = LoadFS(big(MaxBundle + 1))
	wantLimit(t, found, "too many bytes")
}

func wantLimit(t *testing.T, found diag.List, part string) {
	t.Helper()
	for _, d := range found {
		if d.Code == CodeLimit && strings.Contains(d.Message, part) {
			return
		}
	}
	t.Errorf("no limit about %q: %v", part, found)
}

// Each count limit, at n and at n+1.
func TestCountLimits(t *testing.T) {
	repeat := func(n int, format string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	for _, tt := range []struct {
		name  string
		limit int
		text  func(n int) string
	}{
		{"clauses", MaxClauses, func(n int) string {
			return "clauses:\n" + repeat(n, "  c%d: {text: t, forbid: {temporal: 'launch(x) AND NOT ONCE land(x)'}}\n")
		}},
		{"facts, states", MaxRelations, func(n int) string {
			return "facts:\n  launch: [m]\n  land: [m]\n" + repeat(n-2, "  f%d: []\n")
		}},
		{"classes", MaxClasses, func(n int) string {
			return "classes:\n" + repeat(n, "  c%d: {contains: [x], emits: launch(event.session)}\n")
		}},
		{"members", MaxSet, func(n int) string { return "sets:\n  own: [" + repeat(n, "%d,") + "]\n" }},
		{"tools", MaxTools, func(n int) string {
			return "tools:\n  go: {args: {m: string}, facts: [launch(m)]}\n  back: {args: {m: string}, authority: true, facts: [land(m)]}\n" + repeat(n-2, "  t%d:\n")
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if b, found := loadText(filled(tt.text(tt.limit))); b == nil {
				t.Errorf("at the limit: %v", found)
			}
			_, found := loadText(filled(tt.text(tt.limit + 1)))
			wantLimit(t, found, tt.name)
		})
	}
}

// Named formulas that double at each step reach the limit, not the memory's end.
func TestExpansionLimit(t *testing.T) {
	text := "define:\n  d0(x): 'ONCE land(x)'\n"
	for i := 1; i < 60; i++ {
		text += fmt.Sprintf("  d%d(x): 'd%d(x) AND d%d(x)'\n", i, i-1, i-1)
	}
	_, found := loadText(filled(text + "clauses: {A: {text: t, forbid: {temporal: 'launch(x) AND NOT d59(x)'}}}\n"))
	wantLimit(t, found, "written out")
	if n := len(found); n > 3 {
		t.Errorf("%d findings for one fault", n)
	}
}

func TestTestEventLimit(t *testing.T) {
	of := func(n int) fs.FS {
		text := "- name: t\n  expect: []\n  events:\n" + strings.Repeat("    - {actor: agent, tool: go, args: {m: a}}\n", n)
		return fstest.MapFS{policyFile: {Data: []byte(filled(""))}, "tests/a.yaml": {Data: []byte(text)}}
	}
	if b, found := LoadFS(of(MaxTestEvents)); b == nil || len(b.Tests) != 1 {
		t.Errorf("at the limit: %v", found)
	}
	_, found := LoadFS(of(MaxTestEvents + 1))
	wantLimit(t, found, "too many events")
}
