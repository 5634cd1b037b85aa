package render

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the golden files") //nolint:gochecknoglobals // flags of a test binary are global

// medevac is a small world as a bundle would declare it, after a few events.
func medevac() *Graph {
	placed := &Event{Event: "1", TS: 180e9, Call: "c1", Tool: "create_9line", Actor: "agent"}
	opened := &Event{Event: "3", TS: 540e9, Call: "c3", Tool: "open_feed", Actor: "agent"}
	at := 4
	g := &Graph{
		Unit: "m",
		At:   At{Policy: "medevac", Revision: 7, Tenant: "default", Trace: "tenant", Event: &at, TS: 720e9},
		Nodes: []Node{
			{Name: "med_fwd", Sort: "informational", Domain: "MED", Labels: []string{"forward", "home", "medical_enclave"}},
			{Name: "med_rear", Sort: "informational", Domain: "MED", Labels: []string{"medical_enclave", "rear"}},
			{Name: "c2_cop", Sort: "informational", Domain: "MED", Labels: []string{"cop"}},
			{Name: "partner_med", Sort: "informational", Domain: "MED_COALITION", Labels: []string{"medical_enclave"}},
			{Name: "coalition_cop", Sort: "informational", Domain: "PARTNER", Labels: []string{"cop"}},
			{Name: "log_enclave", Sort: "informational", Domain: "LOG"},
			{Name: "field laptop", Sort: "unknown"},
			{Name: "alpha", Sort: "physical"},
			{Name: "bravo", Sort: "physical"},
			{Name: "charlie", Sort: "physical"},
			{Name: "open_1", Sort: "physical"},
			{Name: "open_2", Sort: "physical"},
			{Name: "ridge", Sort: "physical", Labels: []string{"masking"}},
			{Name: "sam", Sort: "physical", Labels: []string{"threat"}},
			{Name: "wp_1", Sort: "physical"},
		},
		Edges: []Edge{
			{From: "alpha", To: "open_1", Distance: 3000},
			{From: "open_1", To: "sam", Distance: 5000},
			{From: "bravo", To: "open_2", Distance: 1000},
			{From: "open_2", To: "sam", Distance: 2000},
			{From: "charlie", To: "ridge", Distance: 1000},
			{From: "ridge", To: "sam", Distance: 1500},
			{From: "alpha", To: "wp_1", Distance: 2000},
		},
		Channels: []Channel{
			{From: "med_fwd", To: "med_rear", Open: true},
			{From: "med_fwd", To: "c2_cop", Open: true},
			{From: "med_fwd", To: "partner_med", Weight: 1},
			{From: "c2_cop", To: "coalition_cop", Weight: 1, Open: true, Since: opened},
			{From: "c2_cop", To: "log_enclave", Weight: 1},
			{From: "coalition_cop", To: "c2_cop", Weight: 1},
			{From: "med_rear", To: "field laptop", Weight: 1},
		},
		Objects: []Object{
			{Name: "A", Replicas: []Replica{{Vertex: "c2_cop", Since: placed}, {Vertex: "med_fwd", Since: placed}}, Reaches: []string{"MED", "PARTNER"}},
			{Name: "A-summary", Replicas: []Replica{{Vertex: "med_fwd", Since: opened}}, DerivedFrom: []string{"A"}, Reaches: []string{"MED", "PARTNER"}},
			{Name: "B", Gone: true},
		},
		Attributes: []Attribute{{Name: "lz", Entity: "m1", Value: "charlie", Since: opened}},
		States: []State{
			{Name: "marked", Args: []any{"A", "PHI"}, Since: placed},
			{Name: "marked", Args: []any{"B", "PHI"}, Presumptive: true, Since: placed},
		},
	}
	g.sort()
	return g
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path) //nolint:gosec // a file of the test
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; -update writes it. Got:\n%s", name, got)
	}
}

// TestGolden: the formats, as they were looked at.
func TestGolden(t *testing.T) {
	g := medevac()
	golden(t, "medevac.txt", Text(g))
	golden(t, "medevac.dot", DOT(g))
	golden(t, "medevac.svg", SVG(g))
	data, err := json.MarshalIndent(g, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "medevac.json", string(data)+"\n")
}
