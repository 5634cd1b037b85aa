package policy

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/aspis-rv/aspis/internal/diag/diagtest"
	"github.com/aspis-rv/aspis/internal/world"
)

// FuzzLoad holds that a load never panics, gives a bundle exactly when it reports
// no error, places every finding, and that a loaded bundle can type and describe.
func FuzzLoad(f *testing.F) {
	for _, path := range []string{"testdata/consent/policy.yaml", "testdata/field/policy.yaml", "../../policies/baseline/policy.yaml"} {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	paths, err := filepath.Glob("testdata/bad/*.yaml")
	if err != nil || len(paths) == 0 {
		f.Fatal("no seeds")
	}
	for _, path := range paths {
		for _, chunk := range diagtest.Read(f, path) {
			f.Add([]byte(filled(chunk.Source)))
		}
	}
	call := event(f, `{"actor":"agent","tool":"export_record","session":"s","args":{"object":"r","to":"partner"}}`)
	f.Fuzz(func(t *testing.T, data []byte) {
		b, found := LoadFS(fstest.MapFS{policyFile: {Data: data}})
		if (b == nil) != found.HasErrors() {
			t.Fatalf("bundle %v, findings %v", b, found)
		}
		for _, d := range found {
			if d.File == "" || d.Message == "" || d.Span.Start.Line < 1 || d.Span.Start.Col < 1 {
				t.Fatalf("finding without place or message: %+v", d)
			}
		}
		found.Render(map[string]string{policyFile: string(data)})
		if b == nil {
			return
		}
		_ = b.String()
		b.clauseReports()
		b.Type(call, false)
	})
}

// FuzzWorld is FuzzLoad for the world of a bundle; what it declares is sorted and named once.
func FuzzWorld(f *testing.F) {
	data, err := os.ReadFile("testdata/field/world.yaml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	for _, chunk := range diagtest.Read(f, "testdata/bad/world.yaml") {
		f.Add([]byte(chunk.Source))
	}
	policy := []byte(filled("trace: tenant\nworld: world.yaml\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		b, found := LoadFS(fstest.MapFS{policyFile: {Data: policy}, "world.yaml": {Data: data}})
		if (b == nil) != found.HasErrors() {
			t.Fatalf("bundle %v, findings %v", b, found)
		}
		for _, d := range found {
			if d.File == "" || d.Message == "" || d.Span.Start.Line < 1 || d.Span.Start.Col < 1 {
				t.Fatalf("finding without place or message: %+v", d)
			}
		}
		if b == nil {
			return
		}
		last := ""
		for _, v := range b.World.Vertices {
			if v.Name <= last || (v.Sort == world.Informational) != (v.Domain != "") {
				t.Fatalf("vertices %+v", b.World.Vertices)
			}
			last = v.Name
		}
	})
}

// FuzzCues is FuzzLoad for a cue list; what is found in a text is shown where it stands.
func FuzzCues(f *testing.F) {
	for _, list := range []string{"patient\n", "a | ~b # c\n|\n~\n", "\xff\n\u200b\n", "nok\r\nNOK\n"} {
		f.Add(list, "The patient, a nok.")
	}
	f.Fuzz(func(t *testing.T, list, text string) {
		b, found := loadFiles(map[string]string{policyFile: filled(withCues), "phi.txt": list})
		if (b == nil) != found.HasErrors() {
			t.Fatalf("bundle %v, findings %v", b, found)
		}
		for _, d := range found {
			if d.File == "" || d.Message == "" || d.Span.Start.Line < 1 || d.Span.Start.Col < 1 {
				t.Fatalf("finding without place or message: %+v", d)
			}
		}
		found.Render(map[string]string{policyFile: filled(withCues), "phi.txt": list})
		args, err := json.Marshal(map[string]string{"m": text})
		if b == nil || err != nil {
			return
		}
		got := b.Explain(nil, event(t, call("go", string(args))), false)
		if (len(got.Facts) > 0) != (len(got.Evidence) > 0) {
			t.Fatalf("facts %v, evidence %v", got.Facts, got.Evidence)
		}
		for _, e := range got.Evidence {
			if e.Start < 0 || e.End <= e.Start || len(e.Excerpt) > MaxExcerpt {
				t.Fatalf("evidence %+v", e)
			}
		}
	})
}

// FuzzTests is FuzzLoad for the files of tests.
func FuzzTests(f *testing.F) {
	data, err := os.ReadFile("testdata/consent/tests/consent.yaml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	for _, chunk := range diagtest.Read(f, "testdata/bad/tests.yaml") {
		f.Add([]byte(chunk.Source))
	}
	policy := []byte(filled(""))
	f.Fuzz(func(t *testing.T, data []byte) {
		b, found := LoadFS(fstest.MapFS{policyFile: {Data: policy}, "tests/t.yaml": {Data: data}})
		if (b == nil) != found.HasErrors() {
			t.Fatalf("bundle %v, findings %v", b, found)
		}
		for _, d := range found {
			if d.File == "" || d.Message == "" || d.Span.Start.Line < 1 || d.Span.Start.Col < 1 {
				t.Fatalf("finding without place or message: %+v", d)
			}
		}
	})
}
