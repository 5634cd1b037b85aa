// Package semantic is the semantic aspect: it judges the time points of a trace by the clause
// formulas that speak of what things are, as typing tells, and not of where they are or in what
// order things happened: an artefact that still carries what it was derived from, a text that
// contradicts the structured field beside it.
//
// Typing itself is no work of this package: it is a pure function of bundle and event in
// pkg/policy, which the workers of all aspects run, so that a typed fact is there for each of them
// at the same time point. What it finds by a marking is definite, what it finds by a cue in a text
// or by the recorded answer of a classifier is presumptive. A formula that holds by presumptive
// facts only gives Fp, never F. Switching the aspect off drops its parts and, by
// policy.Bundle.WithoutTyping, the facts that typing rules make.
package semantic

import (
	"github.com/aspis-rv/aspis/internal/monitor"
	"github.com/aspis-rv/aspis/pkg/aspects"
	"github.com/aspis-rv/aspis/pkg/policy"
)

// ErrState is an encoded monitor state that this engine cannot restore: of another
// version, policy or plan, or damaged.
var ErrState = monitor.ErrState

// Engine judges traces by the semantic formulas of one bundle. It is immutable and safe
// for concurrent use; its monitors are not.
type Engine = monitor.Engine

// Monitor is the semantic state of one trace, its world included. It is not safe for
// concurrent use.
type Monitor = monitor.Monitor

// New compiles the semantic formulas of a bundle, guards and forbid parts, of clauses in
// shadow mode too. It fails if one of them is outside the language of the engine, naming
// the clause and the place of the formula.
func New(b *policy.Bundle) (*Engine, error) { return monitor.New(b, aspects.Semantic) }
