package policies_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/aspis-rv/aspis/internal/node"
	"github.com/aspis-rv/aspis/internal/offline"
	"github.com/aspis-rv/aspis/pkg/aspects"
	"github.com/aspis-rv/aspis/pkg/policy"
	"github.com/aspis-rv/aspis/pkg/verdict"
	"github.com/aspis-rv/aspis/policies"
)

// row is a row of the table of the designed suite: the aspects that are on, how guards of the
// others are read, and the attacks that succeed all the same under each blocking set. Without
// the semantic aspect what typing produces is not there either.
type row struct {
	name          string
	on            []aspects.Kind
	guards        verdict.OffReading
	plain         string // blocking: default
	precautionary string
}

// paperRows are the published figures. Cues of identifiers and loads are definite there, those
// of records presumptive.
func paperRows() []row {
	const s, t, sigma, loose, strict = aspects.Spatial, aspects.Temporal, aspects.Semantic, verdict.LooseGuard, verdict.StrictReference
	return []row{
		{"none", nil, loose, "1 2 3 4 5 6 7 8 9", "1 2 3 4 5 6 7 8 9"},
		{"S", []aspects.Kind{s}, loose, "1 2 4 5 6 7 9", "1 2 4 5 6 7 9"},
		{"T", []aspects.Kind{t}, loose, "1 2 3 5 7 8 9", "1 2 3 5 7 8 9"},
		{"Sigma", []aspects.Kind{sigma}, loose, "1 2 3 4 6 8 9", "1 2 3 4 6 8 9"},
		{"S+T", []aspects.Kind{s, t}, loose, "1 2 5 7 9", "1 2 5 7 9"},
		{"S+Sigma", []aspects.Kind{s, sigma}, loose, "2 4 9", "2 4 9"},
		{"T+Sigma", []aspects.Kind{t, sigma}, loose, "1 3 8 9", "1 3 8"},
		{"all", []aspects.Kind{s, t, sigma}, loose, "9", ""},
		{"Sigma, strict", []aspects.Kind{sigma}, strict, "1 2 3 4 6 7 8 9", "1 2 3 4 6 7 8 9"},
		{"T+Sigma, strict", []aspects.Kind{t, sigma}, strict, "1 3 7 8 9", "1 3 7 8"},
	}
}

// effectRows are those of an independent evaluation of clauses over effects, with every cue
// presumptive.
func effectRows() []row {
	const s, t, sigma, loose = aspects.Spatial, aspects.Temporal, aspects.Semantic, verdict.LooseGuard
	return []row{
		{"none", nil, loose, "1 2 3 4 5 6 7 8 9", "1 2 3 4 5 6 7 8 9"},
		{"S", []aspects.Kind{s}, loose, "1 2 4 5 6 7 9", "1 2 4 5 6 7 9"},
		{"T", []aspects.Kind{t}, loose, "1 2 3 5 7 8 9", "1 2 3 5 7 8 9"},
		{"Sigma", []aspects.Kind{sigma}, loose, "1 2 3 4 5 6 7 8 9", "1 2 3 4 6 8 9"},
		{"S+T", []aspects.Kind{s, t}, loose, "1 2 5 7 9", "1 2 5 7 9"},
		{"S+Sigma", []aspects.Kind{s, sigma}, loose, "2 4 5 7 9", "2 4 9"},
		{"T+Sigma", []aspects.Kind{t, sigma}, loose, "3 5 7 8 9", "3 8"},
		{"all", []aspects.Kind{s, t, sigma}, loose, "5 7 9", ""},
	}
}

// TestDesignedSuite judges the designed suite under every subset of aspects and compares
// the attacks that got what they were after with the published figures and, for the bundle
// over effects, with an independent evaluation.
func TestDesignedSuite(t *testing.T) {
	traces := suite(t, load(t, "medevac"))
	for _, tc := range []struct {
		name string
		rows []row
	}{{"medevac-paper", paperRows()}, {"medevac", effectRows()}} {
		t.Run(tc.name, func(t *testing.T) {
			cfg := configOf(t, tc.name)
			table := []string{fmt.Sprintf("%-16s %-20s %s", "aspects on", "default", "precautionary")}
			for _, r := range tc.rows {
				plain := survivors(t, cfg, &r, verdict.DefaultSet, traces)
				careful := survivors(t, cfg, &r, verdict.PrecautionarySet, traces)
				table = append(table, fmt.Sprintf("%-16s %d %-18s %d %s", r.name, len(plain), strings.Join(plain, " "), len(careful), strings.Join(careful, " ")))
				if got := strings.Join(plain, " "); got != r.plain {
					t.Errorf("with %s on, under default, %q succeed, want %q", r.name, got, r.plain)
				}
				if got := strings.Join(careful, " "); got != r.precautionary {
					t.Errorf("with %s on, under precautionary, %q succeed, want %q", r.name, got, r.precautionary)
				}
			}
			t.Log("\n" + strings.Join(table, "\n"))
		})
	}
}

// TestWhatPassesIsFlagged: under default, of the attacks that succeed against all aspects each
// is flagged on the call by which it does, with the value Fp.
func TestWhatPassesIsFlagged(t *testing.T) {
	b := load(t, "medevac")
	cfg := configOf(t, "medevac")
	cfg.Blocking = verdict.DefaultSet
	want := map[string]string{"M5": "Sigma2", "M7": "T4", "M9": "T1"}
	for _, trace := range suite(t, b) {
		id, _, _ := strings.Cut(trace.Name, " ")
		clause := want[id]
		if clause == "" {
			continue
		}
		decisions := run(t, cfg, trace)
		last := decisions[len(decisions)-1]
		if !last.Permitted() || last.Value != verdict.Fp || !slices.Equal(last.Flags, []string{clause}) {
			t.Errorf("%s ends with %s, value %s, flags %v, want it permitted and flagged by %s", id, last.Outcome, last.Value, last.Flags, clause)
		}
	}
}

// TestFirstRefusals: the temporal aspect by itself refuses first where it is published to, with
// typing on; and under all aspects one third of the first refusals draws on more than one.
func TestFirstRefusals(t *testing.T) {
	cfg := configOf(t, "medevac-paper")
	cfg.Blocking, cfg.Guards = verdict.PrecautionarySet, verdict.LooseGuard
	temporal := cfg
	temporal.Off = []aspects.Kind{aspects.Spatial, aspects.Semantic}
	var points []string
	several := 0
	for _, trace := range suite(t, load(t, "medevac")) {
		id, _, _ := strings.Cut(trace.Name, " ")
		if d := firstRefusal(run(t, temporal, trace)); d != nil {
			points = append(points, fmt.Sprintf("%s.%d", id, d.Index+1))
		}
		if d := firstRefusal(run(t, cfg, trace)); d != nil && len(contributors(d)) > 1 {
			several++
		}
	}
	if got, want := strings.Join(points, " "), "M1.4 M2.3 M4.5 M6.3 M7.4 M9.2"; got != want {
		t.Errorf("the temporal aspect alone refuses first at %s, want %s", got, want)
	}
	if several != 3 {
		t.Errorf("%d of the first refusals draw on more than one aspect, want 3", several)
	}
}

func firstRefusal(decisions []*offline.Decision) *offline.Decision {
	for _, d := range decisions {
		if !d.Permitted() {
			return d
		}
	}
	return nil
}

// contributors are the aspects whose value is that of the decision.
func contributors(d *offline.Decision) []aspects.Kind {
	kinds := map[aspects.Kind]bool{}
	for i := range d.Clauses {
		for k, v := range d.Clauses[i].Parts {
			if v == d.Value {
				kinds[k] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(kinds))
}

func configOf(t *testing.T, name string) offline.Config {
	t.Helper()
	b := load(t, name)
	engines, err := node.Engines(b)
	if err != nil {
		t.Fatal(err)
	}
	return offline.Config{Bundle: b, Engines: engines}
}

func run(t *testing.T, cfg offline.Config, trace *policy.Test) []*offline.Decision {
	t.Helper()
	decisions, err := offline.Run(cfg, trace.Copies())
	if err != nil {
		t.Fatalf("%s: %v", trace.Name, err)
	}
	return decisions
}

// survivors runs the suite and returns the numbers of the attacks that succeed. A benign
// trace that is refused or flagged anywhere fails the test.
func survivors(t *testing.T, cfg offline.Config, r *row, blocking verdict.BlockingSet, traces []*policy.Test) []string {
	t.Helper()
	cfg.Guards, cfg.Blocking = r.guards, blocking
	for _, k := range aspects.Kinds() {
		if !slices.Contains(r.on, k) {
			cfg.Off = append(cfg.Off, k)
		}
	}
	if slices.Contains(cfg.Off, aspects.Semantic) {
		cfg.Bundle = cfg.Bundle.WithoutTyping()
	}
	var out []string
	for _, trace := range traces {
		decisions := run(t, cfg, trace)
		id, _, _ := strings.Cut(trace.Name, " ")
		if succeeded := attacks()[id]; succeeded == nil {
			mustPass(t, id, r.on, decisions)
		} else if succeeded(outcome(t, decisions)) {
			out = append(out, id[1:])
		}
	}
	return out
}

func mustPass(t *testing.T, id string, on []aspects.Kind, decisions []*offline.Decision) {
	t.Helper()
	for _, d := range decisions {
		if !d.Permitted() || d.Flagged || d.Value != verdict.T {
			t.Errorf("with %v on, %s is benign and its event %d (%s) got %s %s, value %s", on, id, d.Index, d.Event.Tool,
				d.Outcome, d.Clause, d.Value)
		}
	}
}

// outcome is what the permitted calls brought about.
func outcome(t *testing.T, decisions []*offline.Decision) *theatre {
	t.Helper()
	w := newTheatre()
	for _, d := range decisions {
		if d.Permitted() {
			w.take(t, d.Event)
		}
	}
	return w
}

// load reads a shipped bundle, which has to be clean.
func load(tb testing.TB, name string) *policy.Bundle {
	tb.Helper()
	files, err := policies.FS(name)
	if err != nil {
		tb.Fatal(err)
	}
	b, found := policy.LoadFS(files)
	if len(found) > 0 {
		tb.Fatalf("%s: %+v", name, found)
	}
	return b
}

// suite returns the traces of the designed suite, in their order.
func suite(tb testing.TB, b *policy.Bundle) []*policy.Test {
	tb.Helper()
	var out []*policy.Test
	for i := range b.Tests {
		if b.Tests[i].File == "tests/suite.yaml" {
			out = append(out, &b.Tests[i])
		}
	}
	if len(out) != 18 {
		tb.Fatalf("the suite has %d traces, want 18", len(out))
	}
	return out
}
