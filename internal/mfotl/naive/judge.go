package naive

import (
	"maps"

	"github.com/aspis-rv/aspis/internal/lang/syntax"
	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// Judge returns the mark of f at time point i of the trace under an assignment of its free
// variables, and its witness, ascending; none if the mark is T.
func Judge(f syntax.Formula, assignment map[string]schema.Value, trace []TimePoint, i int) (verdict.Value, []uint64) {
	e := eval{trace: trace[:i+1], env: maps.Clone(assignment)}
	e.domain = domain(f, e.trace)
	m := e.mark(f, i)
	if m == verdict.T {
		return m, nil
	}
	return m, e.witness(f, i)
}
