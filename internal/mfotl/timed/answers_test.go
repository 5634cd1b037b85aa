package timed_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/aspis-rv/aspis/internal/mfotl"
	"github.com/aspis-rv/aspis/internal/mfotl/naive"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// TestPublishedCases holds oracle and engine against the published answer to the
// published case of each policy.
func TestPublishedCases(t *testing.T) {
	for _, p := range policies() {
		t.Run(p.name, func(t *testing.T) {
			tr := readTrace(t, p.table)
			if got := showAnswer(tr, withoutEvidence(p.answer(tr))); got != p.fires {
				t.Errorf("the oracle says %s, want %s", got, p.fires)
			}
			if got := showAnswer(tr, run(p.compile(t, p.formula, schema.KindInt), tr)); got != p.fires {
				t.Errorf("the engine says %s, want %s", got, p.fires)
			}
		})
	}
}

// TestGeneratedTraces compares the engine with the oracle on every generated trace,
// and the oracle with what the trace was built to show.
func TestGeneratedTraces(t *testing.T) {
	seen, firing, points, rows := map[string]bool{}, 0, 0, 0
	everyRun(t, func(_ *testing.T, c *trial, _ *mfotl.Plan) string {
		seen[c.policy.name+showTrace(c.trace, c.rows)] = true
		points += len(c.trace)
		n := len(slices.Concat(c.answer...))
		rows += n
		if n > 0 {
			firing++
		}
		for _, d := range c.demands {
			if c.found(d) != d.fires {
				return fmt.Sprintf("at @%d the oracle must fire about %d: %v", d.ts, d.object, d.fires)
			}
		}
		for i := range c.trace {
			if !equalRows(c.rows[i], withoutEvidence(c.answer)[i]) {
				return fmt.Sprintf("time point %d: the oracle says %s", i, showRows(withoutEvidence(c.answer)[i]))
			}
		}
		return ""
	})
	t.Logf("seed %d: %d different traces, %d of them with firings, %d time points, %d rows", *seedFlag, len(seen), firing, points, rows)
	if want := tracesEach * len(policies()); len(seen) != want {
		t.Errorf("%d different traces, want %d", len(seen), want)
	}
}

// found reports whether some row at a time stamp speaks of an object.
func (c *trial) found(d demand) bool {
	for i, tp := range c.trace {
		if tp.TS == d.ts && slices.ContainsFunc(c.answer[i], func(row tuple) bool {
			return slices.Contains(row, schema.IntValue(d.object))
		}) {
			return true
		}
	}
	return false
}

// TestCorpusTellsBoth holds the corpus to what it is for: in every family of every
// policy there are demands of firing or of silence, as its name says, and of the random
// traces a quarter or more fire.
func TestCorpusTellsBoth(t *testing.T) {
	for which, p := range policies() {
		fires, silent, random := map[int]int{}, map[int]int{}, 0
		for n := range tracesEach {
			s := &story{chance: newChance(*seedFlag, uint64(2*(which*tracesEach+n)))}
			p.tell(s, n)
			if n%families == atRandom && len(slices.Concat(p.answer(s.points)...)) > 0 {
				random++
			}
			for _, d := range s.demands {
				if d.fires {
					fires[n%families]++
				} else {
					silent[n%families]++
				}
			}
		}
		within, outside := silent, fires
		if p.act == "" { // many in the window, not none
			within, outside = fires, silent
		}
		each := tracesEach / families
		if within[onBoundary] < each || outside[beyond] < each || outside[unrelated] < each ||
			fires[reenabled] < each || silent[reenabled] < each {
			t.Errorf("%s: firings demanded by family %v, silences %v", p.name, fires, silent)
		}
		if random < each/4 {
			t.Errorf("%s, seed %d: %d of %d random traces fire", p.name, *seedFlag, random, each)
		}
		t.Logf("%s: %d of %d random traces fire", p.name, random, each)
	}
}

// TestAgainstDefinition compares the engine with the executed definition, evidence
// included, on every seventh trace.
func TestAgainstDefinition(t *testing.T) {
	for which, p := range policies() {
		checked, _ := p.checked(p.formula, schema.KindInt)
		plan := p.compile(t, p.formula, schema.KindInt)
		for _, c := range p.trials(which, plan) {
			if c.n%7 != 0 {
				continue
			}
			for i := range c.trace {
				want := naive.Rows(checked.Core, checked.Free, c.trace, i)
				if !slices.EqualFunc(c.rows[i], want, sameRow) {
					t.Fatalf("%s, trace %d, seed %d, time point %d: the definition says %s\n%s",
						p.name, c.n, *seedFlag, i, showRows(want), showTrace(c.trace, c.rows))
				}
			}
		}
	}
}

// TestMutantsAreFound gives the engine formulas that are slightly wrong, a bound by
// one unit, a comparison, an operator: every one gets some trace of the corpus wrong.
func TestMutantsAreFound(t *testing.T) {
	for which, p := range policies() {
		trials := p.trials(which, p.compile(t, p.formula, schema.KindInt))
		for _, mutant := range p.mutants {
			plan := p.compile(t, mutant, schema.KindInt)
			wrong := 0
			for _, c := range trials {
				if !slices.EqualFunc(run(plan, c.trace), c.rows, equalRows) {
					wrong++
				}
			}
			if wrong == 0 {
				t.Errorf("%s: the corpus, seed %d, does not tell %s from %s", p.name, *seedFlag, mutant, p.formula)
			}
		}
	}
}

// sameRow compares rows with their evidence.
func sameRow(a, b schema.Row) bool {
	return a.Mark == b.Mark && slices.Equal(a.Values, b.Values) && slices.Equal(a.Witness, b.Witness)
}

// equalRows compares rows without their witnesses.
func equalRows(a, b []schema.Row) bool {
	return slices.EqualFunc(a, b, func(x, y schema.Row) bool { return x.Mark == y.Mark && slices.Equal(x.Values, y.Values) })
}

// showAnswer prints what is satisfied as `@ts (a,b) (c,d) @ts …`.
func showAnswer(tr trace, rows [][]schema.Row) string {
	var out []string
	for i, tp := range tr {
		if len(rows[i]) > 0 {
			out = append(out, "@"+digits(tp.TS))
		}
		for _, r := range rows[i] {
			out = append(out, showTuple(r.Values))
		}
	}
	return strings.Join(out, " ")
}

// readTrace reads `@ts name(1,2) … @ts …`.
func readTrace(t *testing.T, log string) trace {
	t.Helper()
	number := func(text string) int64 {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	var tr trace
	for word := range strings.FieldsSeq(log) {
		if ts, ok := strings.CutPrefix(word, "@"); ok {
			tr = append(tr, timePoint{TS: number(ts)})
			continue
		}
		name, list, _ := strings.Cut(strings.TrimSuffix(word, ")"), "(")
		var args []int64
		for a := range strings.SplitSeq(list, ",") {
			if a != "" {
				args = append(args, number(a))
			}
		}
		last := &tr[len(tr)-1]
		last.Facts = append(last.Facts, fact(name, args...))
	}
	return numbered(tr)
}
