package records

import (
	"encoding/json"
	"os"
	"testing"
)

// TestPythonAgrees compares with what Python 3.11 and PyYAML 6.0.3 printed of random
// values: each line of the file is the value by json.dumps, yaml.safe_dump without the
// last line end, and repr.
func TestPythonAgrees(t *testing.T) {
	data, err := os.ReadFile("testdata/python.json")
	if err != nil {
		t.Fatal(err)
	}
	var vectors [][3]string
	if err := json.Unmarshal(data, &vectors); err != nil {
		t.Fatal(err)
	}
	if len(vectors) < 300 {
		t.Fatalf("only %d vectors", len(vectors))
	}
	for i, vector := range vectors {
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
