package schema

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the golden files in testdata") //nolint:gochecknoglobals // a flag of the test binary

// golden compares got with a file in testdata, or writes it under -update.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v; write it with: go test ./pkg/schema -run Golden -update", err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s changed: stored records and peers of this version would no longer be understood.\n got  %s\n want %s", path, got, want)
	}
}

// hexLines prints bytes, 32 a line.
func hexLines(b []byte) []byte {
	var out []byte
	for line := range slices.Chunk(b, 32) {
		out = append(hex.AppendEncode(out, line), '\n')
	}
	return out
}

func indented(t *testing.T, text []byte) []byte {
	t.Helper()
	var buf bytes.Buffer
	if err := json.Indent(&buf, text, "", "  "); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return append(buf.Bytes(), '\n')
}

// For each kind of event the bytes on the wire and, beside them, the JSON.
func TestGoldenEvents(t *testing.T) {
	for name, e := range samples() {
		t.Run(name, func(t *testing.T) {
			golden(t, name+".golden", hexLines(encode(t, e)))
			text, err := e.MarshalJSON()
			if err != nil {
				t.Fatal(err)
			}
			golden(t, name+".json", indented(t, text))
		})
	}
}

func TestGoldenVerdict(t *testing.T) {
	v := sampleVerdict()
	golden(t, "verdict.golden", hexLines(encodeVerdict(t, v)))
	text, err := v.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "verdict.json", indented(t, text))
}

func TestGoldenSigningBytes(t *testing.T) {
	golden(t, "resolution_signed.golden", hexLines(samples()["resolution"].Resolution.SigningBytes()))
}

// The JSON file and the hex file of an event say the same.
func TestGoldenFilesAgree(t *testing.T) {
	for name := range samples() {
		text, err := os.ReadFile(filepath.Join("testdata", name+".json"))
		if err != nil {
			t.Fatal(err)
		}
		e, err := ParseEventJSON(text)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		stored, err := os.ReadFile(filepath.Join("testdata", name+".golden"))
		if err != nil {
			t.Fatal(err)
		}
		if got := hexLines(encode(t, e)); !bytes.Equal(got, stored) {
			t.Errorf("%s.json encodes to\n%s, but %s.golden is\n%s", name, got, name, stored)
		}
	}
}

func TestEveryKindHasAGoldenFile(t *testing.T) {
	seen := map[Kind]bool{}
	for _, e := range samples() {
		seen[e.Kind] = true
	}
	for _, k := range Kinds() {
		if !seen[k] {
			t.Errorf("no sample of kind %s", k)
		}
	}
	files, err := filepath.Glob(filepath.Join("testdata", "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range files {
		names = append(names, strings.TrimSuffix(filepath.Base(f), ".json"))
	}
	want := append(slices.Collect(maps.Keys(samples())), "verdict")
	slices.Sort(want)
	if !slices.Equal(names, want) {
		t.Errorf("testdata has %q, the samples are %q", names, want)
	}
}
