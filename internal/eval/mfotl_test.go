package eval_test

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/aspis-rv/aspis/internal/cli"
	"github.com/aspis-rv/aspis/internal/corpus/agentdojo"
	"github.com/aspis-rv/aspis/internal/eval"
	"github.com/aspis-rv/aspis/internal/lang/syntax"
	"github.com/aspis-rv/aspis/pkg/policy"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// TestClausesAsMonPolyFiles writes the clauses as formulas, and the facts of runs as logs,
// in MonPoly's language: `aspis mfotl` on these files finds the violations that the
// evaluation finds. Clauses that carry the run as an argument are put to one log of all
// runs, the others to a log for each.
func TestClausesAsMonPolyFiles(t *testing.T) {
	compareFiles(t, "testdata/runs", func(*agentdojo.Run) bool { return true })
}

// TestClausesAsMonPolyFilesOnRecordedRuns does so on some of the recorded runs.
func TestClausesAsMonPolyFilesOnRecordedRuns(t *testing.T) {
	compareFiles(t, eval.Shared(t), func(r *agentdojo.Run) bool {
		return (r.Suite == "banking" || r.Suite == "workspace") && strings.HasSuffix(r.UserTask, "_3") && r.HasMessages()
	})
}

func compareFiles(t *testing.T, path string, keep func(*agentdojo.Run) bool) {
	t.Helper()
	b := eval.Provenance(t)
	x := newExport(t, b)
	for run, err := range agentdojo.Runs(t.Context(), []string{path}, agentdojo.Options{}) {
		if err != nil {
			t.Fatal(err)
		}
		if keep(run) {
			x.add(t, b, run)
		}
	}
	fired := 0
	for i := range b.Clauses {
		fired += x.compare(t, &b.Clauses[i])
	}
	if x.runs < 10 || fired < 10 {
		t.Errorf("%d violations in %d runs only", fired, x.runs)
	}
}

// export collects logs: one of all runs and one for each.
type export struct {
	dir  string
	runs int
	all  recorded
	each []recorded
}

// recorded is a log, and for each clause the time points at which it is violated.
type recorded struct {
	log    strings.Builder
	points int
	fired  map[string][]int
}

func newExport(t *testing.T, b *policy.Bundle) *export {
	t.Helper()
	x := &export{dir: t.TempDir(), all: recorded{fired: map[string][]int{}}}
	var sig strings.Builder
	for _, name := range slices.Sorted(maps.Keys(b.Signature)) {
		kinds := make([]string, len(b.Signature[name]))
		for i, k := range b.Signature[name] {
			kinds[i] = k.String()
		}
		fmt.Fprintf(&sig, "%s(%s)\n", name, strings.Join(kinds, ", "))
	}
	x.write(t, "sig", sig.String())
	return x
}

func (x *export) write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(x.dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func (x *export) add(t *testing.T, b *policy.Bundle, run *agentdojo.Run) {
	t.Helper()
	facts, fired := eval.Replayed(t, b, run)
	x.runs++
	x.each = append(x.each, recorded{fired: map[string][]int{}})
	x.each[x.runs-1].add(facts, fired)
	x.all.add(facts, fired)
}

func (r *recorded) add(facts [][]schema.Fact, fired map[string][]int) {
	for clause, steps := range fired {
		for _, step := range steps {
			r.fired[clause] = append(r.fired[clause], r.points+step)
		}
	}
	for _, at := range facts {
		fmt.Fprintf(&r.log, "@%d", r.points)
		for _, f := range at {
			args := make([]string, len(f.Args))
			for i, a := range f.Args {
				args[i] = value(a)
			}
			fmt.Fprintf(&r.log, " %s(%s)", f.Name, strings.Join(args, ", "))
		}
		r.log.WriteString(";\n")
		r.points++
	}
}

// value writes texts so that whatever is in them is one word.
func value(v schema.Value) string {
	switch v.Kind {
	case schema.KindString:
		return `"x` + hex.EncodeToString([]byte(v.Str)) + `"`
	case schema.KindInt:
		return strconv.FormatInt(v.Int, 10)
	case schema.KindFloat:
		return strconv.FormatFloat(v.Float, 'f', 6, 64)
	}
	return ""
}

// compare runs one clause over the logs and returns the number of violations.
func (x *export) compare(t *testing.T, c *policy.Clause) (fired int) {
	t.Helper()
	f := &c.Formulas[0]
	formula := x.write(t, "formula", syntax.Format(f.Checked.Core, syntax.MonPoly))
	logs := []*recorded{&x.all}
	if !strings.Contains(f.Text, "(r, v)") {
		logs = logs[:0]
		for i := range x.each {
			logs = append(logs, &x.each[i])
		}
	}
	for i, r := range logs {
		want := slices.Compact(r.fired[c.ID])
		got := x.violations(t, formula, x.write(t, "log", r.log.String()))
		if !slices.Equal(got, want) {
			t.Errorf("%s, log %d: aspis mfotl finds violations at %v, the evaluation at %v", c.ID, i, got, want)
		}
		fired += len(got)
	}
	return fired
}

// violations runs `aspis mfotl` and returns the time points of its answers.
func (x *export) violations(t *testing.T, formula, log string) []int {
	t.Helper()
	var out, errs bytes.Buffer
	args := []string{"aspis", "mfotl", "-sig", filepath.Join(x.dir, "sig"), "-formula", formula, "-log", log}
	if code := cli.Main(args, strings.NewReader(""), &out, &errs); code != 0 {
		t.Fatalf("aspis mfotl: exit code %d: %s", code, errs.String())
	}
	var points []int
	for _, m := range regexp.MustCompile(`(?m)^@\d+ \(time point (\d+)\): `).FindAllStringSubmatch(out.String(), -1) {
		n, err := strconv.Atoi(m[1])
		if err != nil {
			t.Fatal(err)
		}
		points = append(points, n)
	}
	return points
}
