// Package spatial is the spatial aspect: it judges the time points of a trace by the
// clause formulas that speak of its world, and of what an event does to it.
package spatial

import (
	"github.com/aspis-rv/aspis/internal/monitor"
	"github.com/aspis-rv/aspis/pkg/aspects"
	"github.com/aspis-rv/aspis/pkg/policy"
)

// ErrState is an encoded monitor state that this engine cannot restore: of another
// version, policy or plan, or damaged.
var ErrState = monitor.ErrState

// Engine judges traces by the spatial formulas of one bundle. It is immutable and safe
// for concurrent use; its monitors are not.
type Engine = monitor.Engine

// Monitor is the spatial state of one trace, its world included. It is not safe for
// concurrent use.
type Monitor = monitor.Monitor

// New compiles the spatial formulas of a bundle, guards and forbid parts, of clauses in
// shadow mode too. It fails if one of them is outside the language of the engine, naming
// the clause and the place of the formula.
func New(b *policy.Bundle) (*Engine, error) { return monitor.New(b, aspects.Spatial) }
