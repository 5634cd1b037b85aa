// Package verdict is the algebra of monitoring outcomes: the four truth values,
// the strength and completeness of the evidence behind them, fusion, guards, and
// the table that turns a fused value into a decision.
//
// It is a leaf: it imports nothing of the project and performs no I/O. All types
// are small values, safe to copy and to share between goroutines.
package verdict

import "fmt"

// Value is a four-valued verdict. Values are ordered by severity,
// T < Tp < Fp < F, and that order is the order of fusion. The zero value is T,
// the identity of fusion.
//
// A Value is at the same time the mark of one derivation of a violation: T is
// "no derivation", Tp "a derivation only if heuristic facts are read in favour
// of the violation everywhere", Fp "a derivation under the facts as they are, but
// not without heuristic ones", F "a derivation from definite facts alone".
type Value uint8

// The four values, weakest first.
const (
	T  Value = iota // satisfied
	Tp              // presumably satisfied: rests on heuristic evidence
	Fp              // presumably violated: rests on heuristic evidence
	F               // violated
)

// Values lists every Value in order of severity.
func Values() [4]Value { return [4]Value{T, Tp, Fp, F} }

// String returns the value's name: T, Tp, Fp or F.
func (v Value) String() string {
	switch v {
	case T:
		return "T"
	case Tp:
		return "Tp"
	case Fp:
		return "Fp"
	case F:
		return "F"
	}
	return fmt.Sprintf("Value(%d)", uint8(v))
}

// Valid reports whether v is one of the four values.
func (v Value) Valid() bool { return v <= F }

// ParseValue reads the name of a value as String prints it.
func ParseValue(s string) (Value, error) {
	for _, v := range Values() {
		if v.String() == s {
			return v, nil
		}
	}
	return T, fmt.Errorf("verdict: %q is not a value; want T, Tp, Fp or F", s)
}

// Fuse joins two values: the more severe wins. It is commutative, associative,
// idempotent and monotone, with identity T and absorbing element F.
func Fuse(a, b Value) Value { return max(a, b) }

// FuseAll joins any number of values; of none it is T.
func FuseAll(vs ...Value) Value {
	out := T
	for _, v := range vs {
		out = Fuse(out, v)
	}
	return out
}

// Meet is the conjunction of two marks: a derivation that needs both is as
// strong as the weaker.
func Meet(a, b Value) Value { return min(a, b) }

// Negate is the mark of the absence of a derivation marked v. It is an involution
// that swaps T with F and Tp with Fp: what is derivable only through heuristic
// facts is absent only presumably.
func Negate(v Value) Value { return F - v }

// Strength is the evidence behind one fact.
type Strength uint8

// The strengths. The zero value is Definite: heuristics must say that they are.
const (
	Definite    Strength = iota // a marking, a fact in the log, a path in the graph
	Presumptive                 // a cue match, a classifier's answer
)

// String returns "definite" or "presumptive".
func (s Strength) String() string {
	if s == Presumptive {
		return "presumptive"
	}
	return "definite"
}

// ParseStrength reads a strength as String prints it.
func ParseStrength(s string) (Strength, error) {
	for _, k := range []Strength{Definite, Presumptive} {
		if k.String() == s {
			return k, nil
		}
	}
	return Presumptive, fmt.Errorf("verdict: %q is not a strength; want definite or presumptive", s)
}

// Mark returns the mark of a fact of this strength as an atom: F when definite,
// Fp when presumptive.
func (s Strength) Mark() Value {
	if s == Presumptive {
		return Fp
	}
	return F
}

// Completeness says how much of the evidence that a verdict rests on arrived.
// It is an axis of its own beside Value. The zero value is Sound; larger is worse.
type Completeness uint8

// The degrees of completeness, best first.
const (
	Sound       Completeness = iota // every contributing record arrived in order
	Degraded                        // a gap, a clamped time or a reordering touches it
	Incomplete                      // part of the history it reads is missing
	Unavailable                     // a part did not answer at all
)

// String returns the degree's name in lower case.
func (c Completeness) String() string {
	switch c {
	case Sound:
		return "sound"
	case Degraded:
		return "degraded"
	case Incomplete:
		return "incomplete"
	case Unavailable:
		return "unavailable"
	}
	return fmt.Sprintf("Completeness(%d)", uint8(c))
}

// Valid reports whether c is one of the four degrees.
func (c Completeness) Valid() bool { return c <= Unavailable }

// ParseCompleteness reads a degree as String prints it.
func ParseCompleteness(s string) (Completeness, error) {
	for c := Sound; c <= Unavailable; c++ {
		if c.String() == s {
			return c, nil
		}
	}
	return Unavailable, fmt.Errorf("verdict: %q is not a completeness; want sound, degraded, incomplete or unavailable", s)
}

// Worse is the meet of two degrees: the worse one.
func Worse(a, b Completeness) Completeness { return max(a, b) }
