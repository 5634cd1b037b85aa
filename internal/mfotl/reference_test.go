package mfotl_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/aspis-rv/aspis/internal/lang/check"
	"github.com/aspis-rv/aspis/internal/lang/syntax"
	"github.com/aspis-rv/aspis/internal/mfotl"
	"github.com/aspis-rv/aspis/internal/monpoly"
	"github.com/aspis-rv/aspis/internal/monpoly/reference"
)

// inReference tells whether a reference case is one of formulas, and not of log formats
// and errors.
func inReference(dir string, c map[string]string) bool {
	if dir == "probe-arith-fdiv0" {
		return false // 0.0 / 0.0 is a fault here, and not a value
	}
	for _, prefix := range []string{"fuzz-", "probe-agg-", "probe-arith-", "probe-matches", "probe-let-", "probe-sem-hist"} {
		if strings.HasPrefix(dir, prefix) {
			return strings.Contains(c["meta.json"], `"exit": 0`)
		}
	}
	return false
}

// TestReferenceAnswers compares with the frozen answers of MonPoly to random
// formulas on random logs, as far as they are in the past-time core.
func TestReferenceAnswers(t *testing.T) {
	compared, outOfScope, answers, kinds := 0, 0, 0, map[string]int{}
	for dir, c := range reference.Cases(t, reference.Answers) {
		if !inReference(dir, c) {
			continue
		}
		sig := readSignature(t, c["sig"])
		f, diags := syntax.Parse(c["formula.mfotl"], syntax.Options{Mode: syntax.MonPoly})
		if f == nil {
			if !strings.Contains(fmt.Sprint(diags), string(syntax.CodeNotYet)) {
				t.Errorf("%s: %v", dir, diags)
			}
			outOfScope++
			continue
		}
		checked, _ := check.Check(f, sig, check.Options{Mode: syntax.MonPoly, BuiltIn: true})
		if checked == nil {
			outOfScope++
			continue
		}
		plan, err := mfotl.Compile([]*check.Checked{checked}, mfotl.WithBuiltIns(), mfotl.WithMonPolyEmpty())
		if err != nil {
			t.Errorf("%s: %v", dir, err)
			continue
		}
		compared++
		syntax.Walk(checked.Core, func(f syntax.Formula) bool {
			kinds[operator(f)]++
			return true
		})
		lines := answer(plan, readLog(t, sig, c["log"]))
		answers += len(lines)
		got, want := strings.Join(lines, "\n"), strings.TrimSpace(c["expected.stdout"])
		if got != want {
			t.Errorf("%s: %s\nas core %s\ngot\n%s\nwant\n%s", dir, c["formula.mfotl"], checked.Core, got, want)
		}
	}
	t.Logf("%d compared with %d lines of answers, %d out of scope; nodes %v", compared, answers, outOfScope, kinds)
	if compared < 200 || answers < 3000 {
		t.Errorf("only %d cases and %d lines of answers compared", compared, answers)
	}
	if kinds["Historically"] == 0 || kinds["Match"] < 3 || kinds["Agg"] < 60 {
		t.Errorf("operators are missing: %v", kinds)
	}
}

// TestReferenceWorkloads compares with MonPoly's answers to the speed workloads that
// are in the past-time core: long logs with large windows.
func TestReferenceWorkloads(t *testing.T) {
	compared := 0
	for dir, c := range reference.Cases(t, reference.Workloads) {
		if c["sig"] == "" {
			continue // the archive's folder
		}
		sig := readSignature(t, c["sig"])
		f, diags := syntax.Parse(c["formula.mfotl"], syntax.Options{Mode: syntax.MonPoly})
		if f == nil {
			t.Errorf("%s: %v", dir, diags)
			continue
		}
		checked, diags := check.Check(f, sig, check.Options{Mode: syntax.MonPoly})
		if checked == nil {
			t.Errorf("%s: %v", dir, diags)
			continue
		}
		compared++
		got := answer(compile(t, checked), readLog(t, sig, c["log.gz"]))
		want := strings.Split(strings.TrimSpace(c["expected.gz"]), "\n")
		for i := range max(len(got), len(want)) {
			if i >= len(got) || i >= len(want) || got[i] != want[i] {
				t.Errorf("%s: answers differ from line %d of %d, ours has %d", dir, i+1, len(want), len(got))
				break
			}
		}
	}
	if compared < 8 {
		t.Errorf("only %d workloads compared", compared)
	}
}

// answer prints what is satisfied as MonPoly does, by lines.
func answer(plan *mfotl.Plan, log []point) []string {
	st := plan.New()
	var out []string
	for i, tp := range log {
		st.Step(tp.ts, uint64(i), tp.facts)
		v := monpoly.Verdict{Index: uint64(i), TS: tp.ts, Rows: st.Rows(0)}
		if line := (monpoly.Style{}).Append(nil, &v); len(line) > 0 {
			out = append(out, strings.TrimSuffix(string(line), "\n"))
		}
		st.Commit()
	}
	return out
}

// readSignature reads a signature of MonPoly's.
func readSignature(tb testing.TB, text string) check.Signature {
	tb.Helper()
	sig, err := monpoly.ParseSignature([]byte(text), "sig")
	if err != nil {
		tb.Fatal(err)
	}
	return sig
}

// readLog reads a log of MonPoly's.
func readLog(tb testing.TB, sig check.Signature, text string) []point {
	tb.Helper()
	var log []point
	r := monpoly.NewReader(strings.NewReader(text), "log", sig, func(string) bool { return true })
	for {
		var p monpoly.Point
		err := r.Next(&p)
		if errors.Is(err, io.EOF) {
			return log
		}
		if err != nil {
			tb.Fatal(err)
		}
		log = append(log, point{ts: p.TS, facts: p.Clone().Facts})
	}
}
