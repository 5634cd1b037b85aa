package records

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"testing"
)

// vectors reads n triples of texts.
func vectors(t *testing.T, name string, n int) [][3]string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	var out [][3]string
	if err := json.Unmarshal(data, &out); err != nil {
		t.Fatal(err)
	}
	if len(out) != n {
		t.Fatalf("%s has %d vectors, want %d", name, len(out), n)
	}
	return out
}

// TestPythonAgrees compares with what Python 3.11 and PyYAML 6.0.3 printed of random
// values: each line of the file is the value by json.dumps, yaml.safe_dump without the
// last line end, and repr.
func TestPythonAgrees(t *testing.T) {
	for i, vector := range vectors(t, "python.json", 500) {
		want, err := Parse(JSON, vector[0])
		if err != nil {
			t.Fatalf("%d: %v", i, err)
		}
		for j, f := range []Format{JSON, YAML, Python} {
			if got, err := Print(f, want); err != nil || got != vector[j] {
				t.Errorf("%d: Print as %v: %v\n got  %.300q\n want %.300q", i, f, err, got, vector[j])
			}
			if got, err := Parse(f, vector[j]); err != nil || !got.Equal(want) {
				t.Errorf("%d: Parse %v: %v\n text %.300q\n got  %.300s\n want %.300s", i, f, err, vector[j], got.AppendJSON(nil), vector[0])
			}
		}
		if t.Failed() {
			return
		}
	}
}

// TestReadingsAgree compares with how Python 3.11 (ast.literal_eval) and PyYAML 6.0.3
// (yaml.safe_load) read texts: random values printed by PyYAML in its other styles, and
// printed values with random edits. Each line of the file is a format, the text, and the
// value by json.dumps. What is read here is the same value; the number of those that are
// refused is recorded: comments, tags, anchors, empty texts, prefixes of strings.
func TestReadingsAgree(t *testing.T) {
	refused := map[Format]int{}
	for _, vector := range vectors(t, "readings.json", 1000) {
		f, err := ParseFormat(vector[0])
		if err != nil {
			t.Fatal(err)
		}
		want, err := Parse(JSON, vector[2])
		if err != nil {
			t.Fatal(err)
		}
		switch got, err := Parse(f, vector[1]); {
		case err != nil:
			refused[f]++
		case !got.Equal(want):
			t.Errorf("%v %q is read as %s, by Python as %s", f, vector[1], got.AppendJSON(nil), vector[2])
		}
	}
	if want := map[Format]int{YAML: 25, Python: 18}; !maps.Equal(refused, want) {
		t.Errorf("refused are %v, want %v", refused, want)
	}
}
