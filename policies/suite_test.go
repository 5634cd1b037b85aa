package policies_test

import (
	"fmt"
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

// subset is a row of the table: the aspects that are on. Without the semantic aspect
// what typing produces is not there either.
type subset struct {
	name string
	on   []aspects.Kind
	// survivors are the attacks that succeed all the same, by bundle.
	survivors map[string]string
}

// subsets are the rows. That of the semantic aspect by itself, and what cues tell (M5, M7
// and M9), is not part of this revision of the bundles.
func subsets() []subset {
	const s, t, sigma = aspects.Spatial, aspects.Temporal, aspects.Semantic
	row := func(paper, effects string) map[string]string {
		return map[string]string{"medevac-paper": paper, "medevac": effects}
	}
	return []subset{
		{"none", nil, row("1 2 3 4 5 6 7 8 9", "1 2 3 4 5 6 7 8 9")},
		{"S", []aspects.Kind{s}, row("1 2 4 5 6 7 9", "1 2 4 5 6 7 9")},
		{"T", []aspects.Kind{t}, row("1 2 3 5 7 8 9", "1 2 3 5 7 8 9")},
		{"S+T", []aspects.Kind{s, t}, row("1 2 5 7 9", "1 2 5 7 9")},
		{"S+marking", []aspects.Kind{s, sigma}, row("2 4 5 7 9", "2 4 5 7 9")},
		{"T+marking", []aspects.Kind{t, sigma}, row("1 3 5 7 8 9", "3 5 7 8 9")},
		{"S+T+marking", []aspects.Kind{s, t, sigma}, row("5 7 9", "5 7 9")},
	}
}

// TestDesignedSuite judges the designed suite under every subset of aspects and compares
// the attacks that got what they were after with the published figures and, for the bundle
// over effects, with an independent evaluation.
func TestDesignedSuite(t *testing.T) {
	traces := suite(t, load(t, "medevac"))
	for _, name := range []string{"medevac-paper", "medevac"} {
		t.Run(name, func(t *testing.T) {
			b := load(t, name)
			engines, err := node.Engines(b)
			if err != nil {
				t.Fatal(err)
			}
			table := []string{"aspects on     attacks that succeed"}
			for _, row := range subsets() {
				got := survivors(t, offline.Config{Bundle: b, Engines: engines}, row.on, traces)
				table = append(table, fmt.Sprintf("%-12s %d  %s", row.name, len(got), strings.Join(got, " ")))
				if want := row.survivors[name]; strings.Join(got, " ") != want {
					t.Errorf("with %s on, %v succeed, want %s", row.name, got, want)
				}
			}
			t.Log("\n" + strings.Join(table, "\n"))
		})
	}
}

// survivors runs the suite and returns the numbers of the attacks that succeed. A benign
// trace that is refused or flagged anywhere fails the test.
func survivors(t *testing.T, cfg offline.Config, on []aspects.Kind, traces []*policy.Test) []string {
	t.Helper()
	cfg.Guards = verdict.LooseGuard
	for _, k := range aspects.Kinds() {
		if !slices.Contains(on, k) {
			cfg.Off = append(cfg.Off, k)
		}
	}
	if slices.Contains(cfg.Off, aspects.Semantic) {
		cfg.Bundle = cfg.Bundle.WithoutTyping()
	}
	var out []string
	for _, trace := range traces {
		decisions, err := offline.Run(cfg, trace.Copies())
		if err != nil {
			t.Fatalf("%s: %v", trace.Name, err)
		}
		id, _, _ := strings.Cut(trace.Name, " ")
		if succeeded := attacks()[id]; succeeded == nil {
			mustPass(t, id, on, decisions)
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
