package policy

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/aspis-rv/aspis/internal/diag"
	"github.com/aspis-rv/aspis/internal/diag/diagtest"
)

// cleanKeys are the top-level keys of a bundle without findings.
func cleanKeys() []struct{ key, text string } {
	return []struct{ key, text string }{
		{"policy", "policy: p"},
		{"revision", "revision: 1"},
		{"authorities", "authorities: [user]"},
		{"facts", "facts: {launch: [m], land: [m]}"},
		{"tools", "tools: {go: {args: {m: string}, facts: [launch(m)]}, back: {args: {m: string}, authority: true, facts: [land(m)]}}"},
		{"clauses", "clauses: {A: {text: t, forbid: {temporal: 'launch(x) AND NOT ONCE land(x)'}}}"},
	}
}

// filled adds the keys that a text lacks.
func filled(text string) string {
	for _, k := range cleanKeys() {
		if !regexp.MustCompile(`(?m)^` + k.key + `:`).MatchString(text) {
			text += "\n" + k.text
		}
	}
	return text
}

func loadText(text string) (*Bundle, diag.List) {
	return LoadFS(fstest.MapFS{policyFile: {Data: []byte(text)}})
}

func TestCleanBundleIsClean(t *testing.T) {
	if b, found := loadText(filled("")); b == nil || len(found) > 0 {
		t.Fatalf("%v", found)
	}
}

func TestBadBundles(t *testing.T) {
	paths, err := filepath.Glob("testdata/bad/*.yaml")
	if err != nil || len(paths) < 5 {
		t.Fatalf("%d files, %v", len(paths), err)
	}
	for _, path := range paths {
		for _, chunk := range diagtest.Read(t, path) {
			fsys := fstest.MapFS{}
			switch {
			case chunk.Has("test"):
				fsys[policyFile] = &fstest.MapFile{Data: []byte(filled(""))}
				fsys["tests/t.yaml"] = &fstest.MapFile{Data: []byte(chunk.Source)}
			case chunk.Has("world"):
				fsys[policyFile] = &fstest.MapFile{Data: []byte(filled("trace: tenant\nworld: world.yaml\n"))}
				fsys["world.yaml"] = &fstest.MapFile{Data: []byte(chunk.Source)}
			case chunk.Has("bare"), strings.HasPrefix(chunk.Source, "- "):
				fsys[policyFile] = &fstest.MapFile{Data: []byte(chunk.Source)}
			default:
				fsys[policyFile] = &fstest.MapFile{Data: []byte(filled(chunk.Source))}
			}
			b, found := LoadFS(fsys)
			if (b == nil) != found.HasErrors() {
				t.Errorf("%s:%d: bundle %v with errors %v", path, chunk.Line, b, found.HasErrors())
			}
			chunk.Compare(t, path, found)
		}
	}
}
