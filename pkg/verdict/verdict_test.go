package verdict

import "testing"

// table is the fusion table of the specification, row and column T, Tp, Fp, F.
func table() [4][4]Value {
	return [4][4]Value{
		{T, Tp, Fp, F},
		{Tp, Tp, Fp, F},
		{Fp, Fp, Fp, F},
		{F, F, F, F},
	}
}

func TestFuseIsTheTable(t *testing.T) {
	for i, a := range Values() {
		for j, b := range Values() {
			if got, want := Fuse(a, b), table()[i][j]; got != want {
				t.Errorf("Fuse(%v, %v) = %v, want %v", a, b, got, want)
			}
		}
	}
}

func TestFusionLaws(t *testing.T) {
	for _, a := range Values() {
		if Fuse(a, a) != a {
			t.Errorf("not idempotent at %v", a)
		}
		if Fuse(a, T) != a {
			t.Errorf("T is no identity for %v", a)
		}
		if Fuse(a, F) != F {
			t.Errorf("F does not absorb %v", a)
		}
		for _, b := range Values() {
			if Fuse(a, b) != Fuse(b, a) {
				t.Errorf("not commutative at %v, %v", a, b)
			}
			for _, c := range Values() {
				if Fuse(Fuse(a, b), c) != Fuse(a, Fuse(b, c)) {
					t.Errorf("not associative at %v, %v, %v", a, b, c)
				}
				if b <= c && Fuse(a, b) > Fuse(a, c) {
					t.Errorf("not monotone: Fuse(%v, %v) > Fuse(%v, %v)", a, b, a, c)
				}
				if FuseAll(a, b, c) != Fuse(a, Fuse(b, c)) {
					t.Errorf("FuseAll(%v, %v, %v) differs from pairwise fusion", a, b, c)
				}
			}
		}
	}
	if FuseAll() != T {
		t.Errorf("FuseAll() = %v, want T", FuseAll())
	}
}

func TestMarksFormALattice(t *testing.T) {
	for _, a := range Values() {
		if Negate(Negate(a)) != a {
			t.Errorf("Negate is no involution at %v", a)
		}
		if Meet(a, F) != a || Meet(a, T) != T {
			t.Errorf("Meet has not F as identity and T as absorbing element at %v", a)
		}
		for _, b := range Values() {
			if Negate(Fuse(a, b)) != Meet(Negate(a), Negate(b)) {
				t.Errorf("De Morgan fails at %v, %v", a, b)
			}
			if Fuse(a, Meet(a, b)) != a || Meet(a, Fuse(a, b)) != a {
				t.Errorf("absorption fails at %v, %v", a, b)
			}
			if a <= b && Negate(a) < Negate(b) {
				t.Errorf("Negate is not antitone at %v, %v", a, b)
			}
		}
	}
	if Negate(Fp) != Tp {
		t.Errorf("what only heuristic facts derive must be absent presumably; Negate(Fp) = %v", Negate(Fp))
	}
}

func TestStrengthMarks(t *testing.T) {
	if Definite.Mark() != F || Presumptive.Mark() != Fp {
		t.Errorf("marks are %v and %v, want F and Fp", Definite.Mark(), Presumptive.Mark())
	}
	// A presumptive reason beside a definite one never weakens it.
	if Fuse(Definite.Mark(), Presumptive.Mark()) != F {
		t.Error("a cue beside a marking weakened the marking")
	}
}

func TestWorse(t *testing.T) {
	for a := Sound; a <= Unavailable; a++ {
		for b := Sound; b <= Unavailable; b++ {
			w := Worse(a, b)
			if w < a || w < b || (w != a && w != b) || w != Worse(b, a) {
				t.Errorf("Worse(%v, %v) = %v", a, b, w)
			}
		}
	}
}

// guardTable: a firing of mark F under one guard, by the guard's mark.
func TestArmTable(t *testing.T) {
	tests := []struct{ firing, guard, want Value }{
		{F, F, F},   // the guard definitely holds
		{F, Fp, Fp}, // it holds presumably: the firing is presumptive
		{F, Tp, Fp}, // it presumably does not hold: only in doubt, so it arms
		{F, T, T},   // it definitely does not hold: vacuous
		{Fp, F, Fp},
		{Fp, Fp, Fp},
		{Fp, Tp, Fp},
		{Fp, T, T},
		{Tp, F, Tp},
		{Tp, Fp, Tp},
		{Tp, Tp, Tp},
		{Tp, T, T},
		{T, F, T},
		{T, Fp, T},
		{T, Tp, T},
		{T, T, T},
	}
	for _, tt := range tests {
		if got := Arm(tt.firing, tt.guard); got != tt.want {
			t.Errorf("Arm(%v, guard %v) = %v, want %v", tt.firing, tt.guard, got, tt.want)
		}
	}
}

func TestArmLaws(t *testing.T) {
	for _, f := range Values() {
		if Arm(f) != f {
			t.Errorf("Arm(%v) without guards = %v", f, Arm(f))
		}
		for _, g := range Values() {
			for _, h := range Values() {
				got := Arm(f, g, h)
				if got != Arm(f, h, g) || got != Arm(Arm(f, g), h) {
					t.Errorf("the order or nesting of guards matters at %v under %v, %v", f, g, h)
				}
				if got > f {
					t.Errorf("guards strengthened %v to %v", f, got)
				}
				if disarmed := g == T || h == T; f != T && (got == T) != disarmed {
					t.Errorf("Arm(%v, %v, %v) = %v: only a definite failure may disarm", f, g, h, got)
				}
				if got == F && (g != F || h != F) {
					t.Errorf("Arm(%v, %v, %v) is definite under a guard in doubt", f, g, h)
				}
			}
		}
	}
}

func TestOffValue(t *testing.T) {
	if got := Arm(F, UnknownGuard.OffValue()); got != Fp {
		t.Errorf("a guard that is off arms to %v by default, want Fp", got)
	}
	if got := Arm(F, StrictReference.OffValue()); got != T {
		t.Errorf("a guard that is off arms to %v under reference-strict, want T", got)
	}
}

// roundTrip checks that parse reads back what String prints, for every element of
// a closed set, and that it refuses everything near it.
func roundTrip[X comparable](t *testing.T, all []X, text func(X) string, parse func(string) (X, error)) {
	t.Helper()
	seen := map[string]bool{}
	for _, x := range all {
		s := text(x)
		if seen[s] {
			t.Errorf("the name %q is used twice", s)
		}
		seen[s] = true
		got, err := parse(s)
		if err != nil || got != x {
			t.Errorf("parse(%q) = %v, %v", s, got, err)
		}
		for _, wrong := range []string{s + "x", " " + s, "X" + s} {
			if y, err := parse(wrong); err == nil {
				t.Errorf("parse(%q) = %v, want an error", wrong, y)
			}
		}
	}
}

func TestParseReadsWhatStringPrints(t *testing.T) {
	values := Values()
	outcomes := Outcomes()
	roundTrip(t, values[:], Value.String, ParseValue)
	roundTrip(t, outcomes[:], Outcome.String, ParseOutcome)
	roundTrip(t, []Completeness{Sound, Degraded, Incomplete, Unavailable}, Completeness.String, ParseCompleteness)
	roundTrip(t, []Strength{Definite, Presumptive}, Strength.String, ParseStrength)
	roundTrip(t, []Strategy{Block, Divert, AskHuman, FlagOnly}, Strategy.String, ParseStrategy)
	roundTrip(t, []OffReading{UnknownGuard, LooseGuard, StrictReference}, OffReading.String, ParseOffReading)
	roundTrip(t, Reasons(), func(r Reason) string { return string(r) }, ParseReason)
	if r, err := ParseReason(""); err != nil || r != NotAdmitted {
		t.Errorf(`ParseReason("") = %q, %v`, r, err)
	}
}

func TestValuesOutsideTheSetsSaySo(t *testing.T) {
	for got, want := range map[string]string{
		Value(9).String():        "Value(9)",
		Completeness(9).String(): "Completeness(9)",
		Outcome(9).String():      "Outcome(9)",
		Strategy(9).String():     "Strategy(9)",
		OffReading(9).String():   "OffReading(9)",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if Value(4).Valid() || !F.Valid() || Completeness(4).Valid() || !Unavailable.Valid() {
		t.Error("Valid accepts a value outside the set or refuses one inside")
	}
}
