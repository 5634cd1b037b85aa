package verdict

import (
	"fmt"
	"strings"
)

// Outcome is what a decision does with a pending call. The zero value is Permit.
// Outcomes are ordered by precedence: over several violated clauses the largest
// one wins.
type Outcome uint8

// The outcomes, in ascending precedence.
const (
	Permit Outcome = iota
	Redirect
	Escalate
	Refuse
)

// String returns the outcome's name in lower case.
func (o Outcome) String() string {
	switch o {
	case Permit:
		return "permit"
	case Redirect:
		return "redirect"
	case Escalate:
		return "escalate"
	case Refuse:
		return "refuse"
	}
	return fmt.Sprintf("Outcome(%d)", uint8(o))
}

// Outcomes lists every Outcome in ascending precedence.
func Outcomes() [4]Outcome { return [4]Outcome{Permit, Redirect, Escalate, Refuse} }

// ParseOutcome reads an outcome as String prints it.
func ParseOutcome(s string) (Outcome, error) {
	for _, o := range Outcomes() {
		if o.String() == s {
			return o, nil
		}
	}
	return Refuse, fmt.Errorf("verdict: %q is not an outcome; want permit, redirect, escalate or refuse", s)
}

// Reason is the class of a refusal. It is the empty string for a permit.
type Reason string

// The reason classes. "Refused" and "broken" are never the same class.
const (
	Violation   Reason = "violation"   // a clause is violated
	Unknown     Reason = "unknown"     // the evidence is incomplete
	Late        Reason = "late"        // the deadline passed before the verdict
	NoAnswer    Reason = "unavailable" // an aspect, the composer or the bus is down
	Invalid     Reason = "invalid"     // the request is malformed
	Unmapped    Reason = "unmapped"    // no policy entry covers the tool
	Unrecorded  Reason = "unrecorded"  // the decision could not be written to the log
	Busy        Reason = "busy"        // a quota or back-pressure
	NotAdmitted Reason = ""            // no reason: the call was permitted
)

// Reasons lists the reason classes a refusal may carry.
func Reasons() []Reason {
	return []Reason{Violation, Unknown, Late, NoAnswer, Invalid, Unmapped, Unrecorded, Busy}
}

// ParseReason reads a reason class. The empty string is NotAdmitted, no reason.
func ParseReason(s string) (Reason, error) {
	if s == "" {
		return NotAdmitted, nil
	}
	for _, r := range Reasons() {
		if string(r) == s {
			return r, nil
		}
	}
	return Unknown, fmt.Errorf("verdict: %q is not a reason class; want violation, unknown, late, unavailable, invalid, unmapped, unrecorded or busy", s)
}

// Strategy is what a violated clause asks for.
type Strategy uint8

// The strategies. The zero value is Block.
const (
	Block    Strategy = iota // refuse
	Divert                   // redirect to a named safe call
	AskHuman                 // escalate
	FlagOnly                 // permit and put before an operator
)

// String returns the strategy's name in a policy file.
func (s Strategy) String() string {
	switch s {
	case Block:
		return "block"
	case Divert:
		return "redirect"
	case AskHuman:
		return "escalate"
	case FlagOnly:
		return "flag"
	}
	return fmt.Sprintf("Strategy(%d)", uint8(s))
}

// ParseStrategy reads a strategy as a policy file names it.
func ParseStrategy(s string) (Strategy, error) {
	for k := Block; k <= FlagOnly; k++ {
		if k.String() == s {
			return k, nil
		}
	}
	return Block, fmt.Errorf("verdict: %q is not a strategy; want block, redirect, escalate or flag", s)
}

// BlockingSet is the set of values on which a violated clause takes effect.
// A usable set contains F; see Enforces.
type BlockingSet uint8

// The named blocking sets.
const (
	DefaultSet       BlockingSet = 1 << F       // refuses on F, flags on Fp
	PrecautionarySet BlockingSet = 1<<F | 1<<Fp // refuses on F and Fp
)

// Has reports whether v is in the set.
func (b BlockingSet) Has(v Value) bool { return b&(1<<v) != 0 }

// Enforces reports whether the set contains F; one that does not only observes.
func (b BlockingSet) Enforces() bool { return b.Has(F) }

// ParseBlockingSet reads "default", "precautionary", or an explicit list such as
// "{F, Fp}" or "F,Fp". T cannot be in a blocking set.
func ParseBlockingSet(s string) (BlockingSet, error) {
	switch strings.TrimSpace(s) {
	case "", "default":
		return DefaultSet, nil
	case "precautionary":
		return PrecautionarySet, nil
	}
	var b BlockingSet
	for part := range strings.SplitSeq(unbrace(strings.TrimSpace(s)), ",") {
		v, err := ParseValue(strings.TrimSpace(part))
		if err != nil {
			return 0, err
		}
		if v == T {
			return 0, fmt.Errorf("verdict: a blocking set cannot contain T")
		}
		b |= 1 << v
	}
	return b, nil
}

// unbrace removes one pair of braces or brackets around s.
func unbrace(s string) string {
	for _, pair := range []string{"{}", "[]"} {
		if len(s) >= 2 && s[0] == pair[0] && s[len(s)-1] == pair[1] {
			return s[1 : len(s)-1]
		}
	}
	return s
}

// String prints the set as ParseBlockingSet reads it; the empty set, which
// ParseBlockingSet refuses, prints as {}.
func (b BlockingSet) String() string {
	switch b {
	case DefaultSet:
		return "default"
	case PrecautionarySet:
		return "precautionary"
	}
	var names []string
	for _, v := range Values() {
		if b.Has(v) {
			names = append(names, v.String())
		}
	}
	return "{" + strings.Join(names, ",") + "}"
}

// Ruling is the effect of one clause on a decision.
type Ruling struct {
	Outcome Outcome
	Reason  Reason // why, when Outcome is not Permit
	Flagged bool   // put before an operator although permitted
}

// Finding is what is known of one clause once its parts are fused and its guards
// applied.
type Finding struct {
	Value        Value
	Completeness Completeness
	// Absence is set when the value rests on facts that are not there, so that
	// missing evidence could change it.
	Absence bool
	// Strategy applies when the value is in the blocking set.
	Strategy Strategy
	// FlagIncomplete is the clause's `on_incomplete: flag`.
	FlagIncomplete bool
}

// Rule applies the decision table to one clause in enforce mode.
//
// A firing witnessed by facts that are present stands whatever is missing. Where
// evidence is missing and could still change the ruling, the clause refuses with
// reason unknown (unavailable when a part is missing altogether) under every
// blocking set, unless it flags incompleteness instead. That holds for a heuristic
// firing outside the blocking set too: the missing part may hold the definite one,
// so a planted cue buys no permit. A presumptive satisfaction in the blocking set
// takes effect with reason unknown, never violation: nothing was violated.
func (b BlockingSet) Rule(f Finding) Ruling {
	if f.Completeness != Sound && !b.settled(f) {
		return weakenedRuling(f)
	}
	if !b.Has(f.Value) {
		return Ruling{Flagged: f.Value >= Fp}
	}
	reason := Violation
	if f.Value < Fp {
		reason = Unknown
	}
	switch f.Strategy {
	case Block:
		return Ruling{Outcome: Refuse, Reason: reason}
	case Divert:
		return Ruling{Outcome: Redirect, Reason: reason}
	case AskHuman:
		return Ruling{Outcome: Escalate, Reason: reason}
	case FlagOnly:
		return Ruling{Flagged: true}
	}
	return Ruling{Outcome: Refuse, Reason: reason}
}

// settled reports whether no arrival of missing evidence could change the ruling:
// the firing rests on facts that are present, and either nothing is more severe or
// it takes effect already.
func (b BlockingSet) settled(f Finding) bool {
	if f.Absence {
		return false
	}
	return f.Value == F || f.Value == Fp && b.Has(Fp)
}

func weakenedRuling(f Finding) Ruling {
	if f.FlagIncomplete {
		return Ruling{Flagged: true}
	}
	if f.Completeness == Unavailable {
		return Ruling{Outcome: Refuse, Reason: NoAnswer}
	}
	return Ruling{Outcome: Refuse, Reason: Unknown}
}

// Combine joins the rulings of two clauses: refuse > escalate > redirect > permit.
// Between equal outcomes a violation outweighs unknown, and unknown outweighs
// unavailable, so that missing evidence never masks a proven failure. Flags
// accumulate. Combine is commutative, associative and idempotent, with the zero
// Ruling as identity.
func Combine(a, b Ruling) Ruling {
	out := a
	if b.Outcome > a.Outcome || (b.Outcome == a.Outcome && outweighs(b.Reason, a.Reason)) {
		out = b
	}
	out.Flagged = a.Flagged || b.Flagged
	return out
}

// outweighs is a strict total order on reasons.
func outweighs(a, b Reason) bool {
	if wa, wb := weight(a), weight(b); wa != wb {
		return wa > wb
	}
	return a > b // reasons outside the closed set: by text, so that order never matters
}

// weight ranks the reasons: what was proven, then what could not be judged, then
// what was never judged.
func weight(r Reason) int {
	switch r {
	case Violation:
		return 8
	case Unknown:
		return 7
	case NoAnswer:
		return 6
	case Unmapped:
		return 5
	case Invalid:
		return 4
	case Unrecorded:
		return 3
	case Late:
		return 2
	case Busy:
		return 1
	case NotAdmitted:
		return 0
	}
	return 0
}
