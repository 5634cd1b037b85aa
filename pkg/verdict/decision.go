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
	for _, part := range strings.Split(strings.Trim(strings.TrimSpace(s), "{}[]"), ",") {
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

// String prints the set as ParseBlockingSet reads it.
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
// A firing witnessed by facts that are present stands whatever is missing. A value
// below sound that rests on absence refuses with reason unknown (unavailable when
// a part is missing altogether) under every blocking set, unless the clause flags
// incompleteness instead.
func (b BlockingSet) Rule(f Finding) Ruling {
	weakened := f.Completeness != Sound && (f.Absence || f.Value < Fp)
	if weakened {
		return weakenedRuling(f)
	}
	if !b.Has(f.Value) {
		return Ruling{Flagged: f.Value >= Fp}
	}
	switch f.Strategy {
	case Block:
		return Ruling{Outcome: Refuse, Reason: Violation}
	case Divert:
		return Ruling{Outcome: Redirect, Reason: Violation}
	case AskHuman:
		return Ruling{Outcome: Escalate, Reason: Violation}
	case FlagOnly:
		return Ruling{Flagged: true}
	}
	return Ruling{Outcome: Refuse, Reason: Violation}
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
// Between refusals a violation outweighs unknown, and unknown outweighs
// unavailable, so that missing evidence never masks a proven failure. Flags
// accumulate.
func Combine(a, b Ruling) Ruling {
	out := a
	if b.Outcome > a.Outcome || (b.Outcome == a.Outcome && weight(b.Reason) > weight(a.Reason)) {
		out = b
	}
	out.Flagged = a.Flagged || b.Flagged
	return out
}

func weight(r Reason) int {
	switch r {
	case Violation:
		return 3
	case Unknown:
		return 2
	case NoAnswer:
		return 1
	case NotAdmitted, Late, Invalid, Unmapped, Unrecorded, Busy:
		return 0
	}
	return 0
}
