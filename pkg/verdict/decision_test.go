package verdict

import (
	"fmt"
	"testing"
)

// The decision table, one line a case. Columns: blocking set, value, completeness,
// whether it rests on absence (-a), strategy, on_incomplete: flag (+flag); then the
// ruling. This is the table of the specification.
func TestDecisionTable(t *testing.T) {
	const (
		absent = true
		seen   = false
	)
	permit, flag := Ruling{}, Ruling{Flagged: true}
	refuse := func(r Reason) Ruling { return Ruling{Outcome: Refuse, Reason: r} }
	everything := BlockingSet(1<<F | 1<<Fp | 1<<Tp)

	tests := []struct {
		set      BlockingSet
		value    Value
		complete Completeness
		absence  bool
		strategy Strategy
		flagInc  bool
		want     Ruling
	}{
		// Sound evidence, the default set: refuses on F, flags on Fp.
		{DefaultSet, T, Sound, seen, Block, false, permit},
		{DefaultSet, T, Sound, absent, Block, false, permit},
		{DefaultSet, Tp, Sound, seen, Block, false, permit},
		{DefaultSet, Fp, Sound, seen, Block, false, flag},
		{DefaultSet, F, Sound, seen, Block, false, refuse(Violation)},
		{DefaultSet, F, Sound, absent, Block, false, refuse(Violation)},
		// The precautionary set: refuses on F and Fp.
		{PrecautionarySet, Tp, Sound, seen, Block, false, permit},
		{PrecautionarySet, Fp, Sound, seen, Block, false, refuse(Violation)},
		{PrecautionarySet, F, Sound, seen, Block, false, refuse(Violation)},
		// A set that lists Tp: nothing was violated, so the reason is unknown.
		{everything, Tp, Sound, seen, Block, false, refuse(Unknown)},
		{everything, T, Sound, seen, Block, false, permit},
		// Strategies of a clause that takes effect.
		{DefaultSet, F, Sound, seen, Divert, false, Ruling{Outcome: Redirect, Reason: Violation}},
		{DefaultSet, F, Sound, seen, AskHuman, false, Ruling{Outcome: Escalate, Reason: Violation}},
		{DefaultSet, F, Sound, seen, FlagOnly, false, flag},
		{DefaultSet, Fp, Sound, seen, AskHuman, false, flag},
		// A violation witnessed by facts that are present stands whatever is missing.
		{DefaultSet, F, Degraded, seen, Block, false, refuse(Violation)},
		{DefaultSet, F, Unavailable, seen, Block, false, refuse(Violation)},
		{DefaultSet, F, Incomplete, seen, AskHuman, false, Ruling{Outcome: Escalate, Reason: Violation}},
		{PrecautionarySet, Fp, Incomplete, seen, Block, false, refuse(Violation)},
		// One that rests on absence does not: unknown, or unavailable without the part.
		{DefaultSet, F, Degraded, absent, Block, false, refuse(Unknown)},
		{DefaultSet, F, Incomplete, absent, AskHuman, false, refuse(Unknown)},
		{DefaultSet, F, Unavailable, absent, Block, false, refuse(NoAnswer)},
		{PrecautionarySet, Fp, Incomplete, absent, Block, false, refuse(Unknown)},
		// A satisfaction below sound is no all-clear.
		{DefaultSet, T, Degraded, seen, Block, false, refuse(Unknown)},
		{DefaultSet, Tp, Incomplete, seen, Block, false, refuse(Unknown)},
		{DefaultSet, T, Unavailable, seen, Block, false, refuse(NoAnswer)},
		// Nor is a heuristic firing that the set only flags: what is missing may be F.
		{DefaultSet, Fp, Degraded, seen, Block, false, refuse(Unknown)},
		{DefaultSet, Fp, Unavailable, seen, Block, false, refuse(NoAnswer)},
		// on_incomplete: flag.
		{DefaultSet, T, Degraded, seen, Block, true, flag},
		{DefaultSet, F, Unavailable, absent, Block, true, flag},
		{DefaultSet, F, Unavailable, seen, Block, true, refuse(Violation)},
	}
	for _, tt := range tests {
		f := Finding{tt.value, tt.complete, tt.absence, tt.strategy, tt.flagInc}
		if got := tt.set.Rule(f); got != tt.want {
			t.Errorf("set %v, %+v:\n got  %+v\n want %+v", tt.set, f, got, tt.want)
		}
	}
}

// usableSets lists every blocking set that enforces.
func usableSets() []BlockingSet {
	var out []BlockingSet
	for b := range BlockingSet(1 << 4) {
		if b.Enforces() && !b.Has(T) {
			out = append(out, b)
		}
	}
	return out
}

// findings lists every finding there is.
func findings() []Finding {
	var out []Finding
	for _, v := range Values() {
		for c := Sound; c <= Unavailable; c++ {
			for s := Block; s <= FlagOnly; s++ {
				for _, absence := range []bool{false, true} {
					for _, flag := range []bool{false, true} {
						out = append(out, Finding{v, c, absence, s, flag})
					}
				}
			}
		}
	}
	return out
}

// weakenings lists the findings whose evidence is no better than f's: definite
// facts become presumptive, completeness falls, the value comes to rest on absence.
func weakenings(f Finding) []Finding {
	values := []Value{f.Value}
	switch f.Value {
	case T:
		values = append(values, Tp)
	case F:
		values = append(values, Fp)
	case Tp, Fp:
	}
	var out []Finding
	for _, v := range values {
		for c := f.Completeness; c <= Unavailable; c++ {
			for _, absence := range []bool{f.Absence, true} {
				w := f
				w.Value, w.Completeness, w.Absence = v, c, absence
				out = append(out, w)
			}
		}
	}
	return out
}

func TestWeakerEvidenceNeverMakesADefiniteRefusal(t *testing.T) {
	for _, b := range usableSets() {
		for _, f := range findings() {
			before := b.Rule(f)
			if before.Outcome == Refuse {
				continue
			}
			for _, w := range weakenings(f) {
				after := b.Rule(w)
				if after.Outcome == Refuse && after.Reason == Violation {
					t.Errorf("set %v: %+v gave %+v, but weakened to %+v it refuses as a violation", b, f, before, w)
				}
			}
		}
	}
}

func TestHeuristicsAloneNeverRefuseUnderTheDefaultSet(t *testing.T) {
	for _, f := range findings() {
		if r := DefaultSet.Rule(f); f.Value != F && r.Reason == Violation {
			t.Errorf("%+v without a definite violation gave %+v", f, r)
		}
	}
}

// Whoever loses an event, stalls an aspect or fills a budget gains no permit: with
// evidence missing that could still change the ruling, every set refuses.
func TestMissingEvidenceRefusesUnderEverySet(t *testing.T) {
	for _, b := range usableSets() {
		for _, f := range findings() {
			witnessed := !f.Absence && (f.Value == F || f.Value == Fp && b.Has(Fp))
			if f.Completeness == Sound || f.FlagIncomplete || witnessed {
				continue
			}
			want := Ruling{Outcome: Refuse, Reason: Unknown}
			if f.Completeness == Unavailable {
				want.Reason = NoAnswer
			}
			if got := b.Rule(f); got != want {
				t.Errorf("set %v, %+v: got %+v, want %+v", b, f, got, want)
			}
		}
	}
}

// With everything else equal, a more severe value of a blocking clause is never
// ruled more leniently: a planted cue buys nothing.
func TestSeverityNeverBuysLeniency(t *testing.T) {
	for _, b := range []BlockingSet{DefaultSet, PrecautionarySet, 1<<F | 1<<Fp | 1<<Tp} {
		for _, f := range findings() {
			if f.Strategy != Block || f.FlagIncomplete {
				continue
			}
			for worse := f.Value; worse <= F; worse++ {
				g := f
				g.Value = worse
				if b.Rule(g).Outcome < b.Rule(f).Outcome {
					t.Errorf("set %v: %+v is ruled %+v, the more severe %v only %+v", b, f, b.Rule(f), worse, b.Rule(g))
				}
			}
		}
	}
}

// What is permitted carries no reason, what is not names one, and only a refusal
// or a permit that the table says so is flagged.
func TestRulingsAreWellFormed(t *testing.T) {
	for _, b := range usableSets() {
		for _, f := range findings() {
			r := b.Rule(f)
			if (r.Outcome == Permit) != (r.Reason == NotAdmitted) {
				t.Errorf("set %v, %+v: outcome %v with reason %q", b, f, r.Outcome, r.Reason)
			}
			if r.Flagged && r.Outcome != Permit {
				t.Errorf("set %v, %+v: flagged although not permitted: %+v", b, f, r)
			}
		}
	}
}

// rulings lists every ruling over the closed sets, and two reasons outside them.
func rulings() []Ruling {
	reasons := append(Reasons(), NotAdmitted, "other", "another")
	var out []Ruling
	for _, o := range Outcomes() {
		for _, r := range reasons {
			out = append(out, Ruling{o, r, false}, Ruling{o, r, true})
		}
	}
	return out
}

func TestCombineLaws(t *testing.T) {
	all := rulings()
	for _, a := range all {
		if Combine(a, a) != a {
			t.Errorf("not idempotent at %+v", a)
		}
		if a.Reason != NotAdmitted && Combine(a, Ruling{}) != a {
			t.Errorf("the zero ruling is no identity for %+v", a)
		}
		for _, b := range all {
			ab := Combine(a, b)
			if ab != Combine(b, a) {
				t.Fatalf("not commutative at %+v, %+v", a, b)
			}
			if ab.Outcome != max(a.Outcome, b.Outcome) {
				t.Fatalf("Combine(%+v, %+v) = %+v is not the stronger outcome", a, b, ab)
			}
			if ab.Flagged != (a.Flagged || b.Flagged) {
				t.Fatalf("Combine(%+v, %+v) lost a flag", a, b)
			}
			for _, c := range all {
				if Combine(ab, c) != Combine(a, Combine(b, c)) {
					t.Fatalf("not associative at %+v, %+v, %+v", a, b, c)
				}
			}
		}
	}
}

func TestAProvenFailureIsNotMasked(t *testing.T) {
	order := []Reason{Violation, Unknown, NoAnswer}
	for i, strong := range order {
		for _, weak := range order[i:] {
			got := Combine(Ruling{Outcome: Refuse, Reason: weak}, Ruling{Outcome: Refuse, Reason: strong})
			if got.Reason != strong {
				t.Errorf("refusals for %s and %s combine to %s", strong, weak, got.Reason)
			}
		}
	}
	got := Combine(Ruling{Outcome: Escalate, Reason: Violation}, Ruling{Outcome: Refuse, Reason: Unknown})
	if got != (Ruling{Outcome: Refuse, Reason: Unknown}) {
		t.Errorf("an escalation beside a refusal gave %+v", got)
	}
}

func TestBlockingSetRoundTrip(t *testing.T) {
	for b := BlockingSet(1); b < 1<<4; b++ {
		got, err := ParseBlockingSet(b.String())
		if b.Has(T) {
			if err == nil {
				t.Errorf("%q was accepted: T cannot block", b)
			}
			continue
		}
		if err != nil || got != b {
			t.Errorf("ParseBlockingSet(%q) = %v, %v", b, got, err)
		}
	}
}

func TestParseBlockingSet(t *testing.T) {
	good := map[string]BlockingSet{
		"": DefaultSet, "default": DefaultSet, " precautionary ": PrecautionarySet,
		"F": DefaultSet, "{F}": DefaultSet, "[F, Fp]": PrecautionarySet, "Fp,F": PrecautionarySet,
		"{Tp, Fp, F}": 1<<Tp | 1<<Fp | 1<<F, "{ F , F }": DefaultSet, "{Fp}": 1 << Fp,
	}
	for s, want := range good {
		if got, err := ParseBlockingSet(s); err != nil || got != want {
			t.Errorf("ParseBlockingSet(%q) = %v, %v; want %v", s, got, err, want)
		}
	}
	for _, s := range []string{"{}", "[]", "{F", "F}", "}F{", "{{F}}", "{F]", "T", "{F,T}", "f", "F,,Fp", "Default", "F Fp"} {
		if got, err := ParseBlockingSet(s); err == nil {
			t.Errorf("ParseBlockingSet(%q) = %v, want an error", s, got)
		}
	}
	if BlockingSet(1 << Fp).Enforces() {
		t.Error("a set without F must not count as enforcing")
	}
}

func ExampleBlockingSet_Rule() {
	violated := Finding{Value: F}
	lost := Finding{Value: T, Completeness: Degraded}
	fmt.Println(DefaultSet.Rule(violated).Reason, DefaultSet.Rule(lost).Reason)
	// Output: violation unknown
}
