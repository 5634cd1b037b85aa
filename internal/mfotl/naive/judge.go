package naive

import (
	"maps"

	"github.com/aspis-rv/aspis/internal/lang/syntax"
	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// Judge returns the mark of f at time point i of the trace under an assignment of its free
// variables, and its witness, ascending; none if the mark is T. kinds has the types of the
// variables that are known. Future operators look ahead to the end of the trace.
func Judge(f syntax.Formula, assignment map[string]schema.Value, kinds map[string]schema.ValueKind, trace []TimePoint, i int) (verdict.Value, []uint64) {
	e := newEval(f, kinds, trace)
	maps.Copy(e.env, assignment)
	m := e.mark(f, i)
	if m == verdict.T {
		return m, nil
	}
	return m, e.witness(f, i)
}
