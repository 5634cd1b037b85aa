// Package temporal is the temporal aspect: it judges the time points of a trace by
// the clause formulas that speak of one trace's past, with the incremental engine
// of internal/mfotl. They may read the world of the trace as well.
package temporal

import (
	"github.com/aspis-rv/aspis/internal/monitor"
	"github.com/aspis-rv/aspis/pkg/aspects"
	"github.com/aspis-rv/aspis/pkg/policy"
)

// ErrState is an encoded monitor state that this engine cannot restore: of another
// version, policy or plan, or damaged.
var ErrState = monitor.ErrState

// Engine judges traces by the temporal formulas of one bundle. It is immutable and
// safe for concurrent use; its monitors are not.
type Engine = monitor.Engine

// Monitor is the temporal state of one trace. It is not safe for concurrent use.
type Monitor = monitor.Monitor

// New compiles the temporal formulas of a bundle, guards and forbid parts, of
// clauses in shadow mode too. It fails if one of them is outside the language of
// the engine, naming the clause and the place of the formula.
func New(b *policy.Bundle) (*Engine, error) { return monitor.New(b, aspects.Temporal) }
