package compose

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/aspis-rv/aspis/pkg/aspects"
	"github.com/aspis-rv/aspis/pkg/policy"
	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

var seedFlag = flag.Uint64("seed", 0, "run the random tests with this seed alone") //nolint:gochecknoglobals // flags of a test binary are global

// eachSeed runs a random test with n seeds, or with the one given.
func eachSeed(t *testing.T, n uint64, run func(rng *rand.Rand) error) {
	t.Helper()
	first, last := uint64(1), n
	if *seedFlag != 0 {
		first, last = *seedFlag, *seedFlag
	}
	for seed := first; seed <= last; seed++ {
		if err := run(rand.New(rand.NewPCG(seed, 7))); err != nil { //nolint:gosec // a test's chance is a seed
			t.Fatalf("seed %d: %v\nrepeat: go test ./internal/compose -run '%s$' -seed %d", seed, err, t.Name(), seed)
		}
	}
}

// randomBundle has one or two clauses over the three aspects.
func randomBundle(rng *rand.Rand) *policy.Bundle {
	kinds := []aspects.Kind{temporal, spatial, semantic}
	var clauses []policy.Clause
	for i := range 1 + rng.IntN(2) {
		c := policy.Clause{ID: fmt.Sprintf("C%d", i), Strategy: verdict.Strategy(rng.IntN(4)), FlagIncomplete: rng.IntN(4) == 0}
		c.Formulas = append(c.Formulas, forbid(kinds[rng.IntN(3)], "f"))
		if rng.IntN(2) == 0 {
			c.Formulas = append(c.Formulas, guard(kinds[rng.IntN(3)], "g"))
		}
		if rng.IntN(3) == 0 {
			c.Formulas = append(c.Formulas, []policy.Formula{forbid(kinds[rng.IntN(3)], "f2"), guard(kinds[rng.IntN(3)], "g2")}[rng.IntN(2)])
		}
		clauses = append(clauses, c)
	}
	b := bundle(clauses...)
	b.Blocking = []verdict.BlockingSet{verdict.DefaultSet, verdict.PrecautionarySet, verdict.DefaultSet | 1<<verdict.Tp}[rng.IntN(3)]
	return b
}

// parts lists what an aspect may say about one formula.
func parts(id string, f policy.Formula) []schema.Part {
	return []schema.Part{
		says(id, f),
		says(id, f, "x=1:F"),
		says(id, f, "x=1:Fp"),
		says(id, f, "x=1:Tp", "x=2:F"),
		weak(says(id, f), verdict.Degraded, true),
		weak(says(id, f, "x=1:F"), verdict.Incomplete, true),
		weak(says(id, f, "x=1:F"), verdict.Degraded, false),
	}
}

// answers lists every verdict that an aspect may give, some thousand at most.
func answers(b *policy.Bundle, k aspects.Kind) []*schema.Verdict {
	out := []*schema.Verdict{answer(k)}
	for _, c := range b.Clauses {
		for _, f := range c.Formulas {
			if f.Aspect != k {
				continue
			}
			var next []*schema.Verdict
			for _, v := range out {
				for _, p := range parts(c.ID, f) {
					next = append(next, answer(k, append(append([]schema.Part{}, v.Parts...), p)...))
				}
			}
			out = next
		}
	}
	return out
}

// completions calls visit with every way in which the missing aspects may answer. It
// returns false, and calls nothing, when there are too many.
func completions(b *policy.Bundle, have []*schema.Verdict, missing []aspects.Kind, visit func([]*schema.Verdict)) bool {
	all := [][]*schema.Verdict{have}
	for _, k := range missing {
		options := answers(b, k)
		if len(all)*len(options) > 3000 {
			return false
		}
		var next [][]*schema.Verdict
		for _, set := range all {
			for _, v := range options {
				next = append(next, append(append([]*schema.Verdict{}, set...), v))
			}
		}
		all = next
	}
	for _, set := range all {
		visit(set)
	}
	return true
}

// TestEarlyDecisions holds Final against its definition: whatever the missing
// aspects say, outcome and reason stay as they are. The oracle tries everything.
func TestEarlyDecisions(t *testing.T) {
	early, late, completed := 0, 0, 0
	eachSeed(t, 1500, func(rng *rand.Rand) error {
		b := randomBundle(rng)
		var have []*schema.Verdict
		for _, k := range Aspects(b, Options{}) {
			if options := answers(b, k); rng.IntN(2) == 0 {
				have = append(have, options[rng.IntN(len(options))])
			}
		}
		in := &Input{Bundle: b, Typing: policy.Typing{Mapped: rng.IntN(6) > 0}, Distrusted: rng.IntN(12) == 0, Verdicts: have}
		d := Decide(in)
		if len(d.Missing) == 0 {
			return nil
		}
		if !d.Final() {
			late++
			return nil
		}
		early++
		var err error
		completions(b, have, d.Missing, func(full []*schema.Verdict) {
			completed++
			whole := *in
			whole.Verdicts = full
			if w := Decide(&whole); (w.Outcome != d.Outcome || w.Reason != d.Reason) && err == nil {
				err = fmt.Errorf("decided early: %s; with all parts: %s\n%s", short(&d), short(&w), dump(b, full))
			}
		})
		return err
	})
	t.Logf("%d early decisions, %d that wait, %d completions", early, late, completed)
	if *seedFlag == 0 && (early < 50 || late < 50 || completed < 1000) {
		t.Error("the test has lost its subject")
	}
}

func dump(b *policy.Bundle, verdicts []*schema.Verdict) string {
	s := fmt.Sprintf("blocking %s\n", b.Blocking)
	for _, c := range b.Clauses {
		s += fmt.Sprintf("clause %s, strategy %s, on_incomplete flag %t\n", c.ID, c.Strategy, c.FlagIncomplete)
		for _, f := range c.Formulas {
			s += fmt.Sprintf("  %s %s %s\n", f.Aspect, f.Role, f.Name)
		}
	}
	for _, v := range verdicts {
		s += fmt.Sprintf("%s says %+v\n", v.Aspect, v.Parts)
	}
	return s
}

// TestLossGainsNothing: losing evidence, or an aspect, never turns a refusal into a
// permit, nor a non-refusal into a definite refusal.
func TestLossGainsNothing(t *testing.T) {
	refusals, losses := 0, 0
	eachSeed(t, 4000, func(rng *rand.Rand) error {
		b := randomBundle(rng)
		lenient := false
		for i := range b.Clauses {
			lenient = lenient || b.Clauses[i].FlagIncomplete
		}
		var all []*schema.Verdict
		for _, k := range Aspects(b, Options{}) {
			options := answers(b, k)
			all = append(all, options[rng.IntN(len(options))])
		}
		before := decide(b, all...)
		after := decide(b, lose(rng, all)...)
		losses++
		if before.Outcome == verdict.Refuse {
			refusals++
		}
		if !lenient && before.Outcome != verdict.Permit && after.Outcome == verdict.Permit {
			return fmt.Errorf("%s became %s\n%s", short(&before), short(&after), dump(b, all))
		}
		if before.Outcome != verdict.Refuse && after.Outcome == verdict.Refuse && after.Reason == verdict.Violation {
			return fmt.Errorf("%s became %s\n%s", short(&before), short(&after), dump(b, all))
		}
		return nil
	})
	if *seedFlag == 0 && (refusals < 100 || losses < 1000) {
		t.Errorf("%d refusals, %d losses: the test has lost its subject", refusals, losses)
	}
}

// lose drops one verdict, or makes one of its parts rest on missing evidence.
func lose(rng *rand.Rand, all []*schema.Verdict) []*schema.Verdict {
	out := append([]*schema.Verdict{}, all...)
	i := rng.IntN(len(out))
	if rng.IntN(2) == 0 || len(out[i].Parts) == 0 {
		return append(out[:i], out[i+1:]...)
	}
	v := *out[i]
	v.Parts = append([]schema.Part{}, v.Parts...)
	k := rng.IntN(len(v.Parts))
	v.Parts[k].Completeness = verdict.Worse(v.Parts[k].Completeness, verdict.Degraded)
	v.Parts[k].Absence = v.Parts[k].Absence || len(v.Parts[k].Rows) == 0 || rng.IntN(2) == 0
	out[i] = &v
	return out
}

// TestShadowClauses: a clause in shadow mode never changes the decision, whatever it
// says and whether it is heard.
func TestShadowClauses(t *testing.T) {
	shadows := 0
	eachSeed(t, 2000, func(rng *rand.Rand) error {
		b := randomBundle(rng)
		more := *b
		s := clause("S", forbid(temporal, "s"), guard(temporal, "sg"))
		s.Shadow = true
		more.Clauses = append(append([]policy.Clause{}, b.Clauses...), s)
		var without, with []*schema.Verdict
		for _, k := range []aspects.Kind{temporal, spatial, semantic} {
			options := answers(b, k)
			v := options[rng.IntN(len(options))]
			without = append(without, v)
			if k == temporal {
				f, g := parts("S", s.Formulas[0]), parts("S", s.Formulas[1])
				v = answer(k, append(append([]schema.Part{}, v.Parts...), f[rng.IntN(len(f))], g[rng.IntN(len(g))])...)
			}
			with = append(with, v)
		}
		d, e := decide(b, without...), decide(&more, with...)
		if d.Ruling != e.Ruling || d.Value != e.Value || d.Completeness != e.Completeness || d.Clause != e.Clause || fmt.Sprint(d.Flags) != fmt.Sprint(e.Flags) {
			return fmt.Errorf("%s became %s by a clause in shadow mode\n%s", short(&d), short(&e), dump(&more, with))
		}
		if len(e.Clauses) > len(d.Clauses) {
			shadows++
		}
		return nil
	})
	if *seedFlag == 0 && shadows < 100 {
		t.Errorf("only %d shadow clauses said anything, and were recorded", shadows)
	}
}
