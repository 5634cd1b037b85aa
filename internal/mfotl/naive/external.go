package naive

import (
	"slices"

	"github.com/aspis-rv/aspis/internal/lang/syntax"
	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// Tuple is a tuple of an external relation, which has no other with the same arguments.
type Tuple struct {
	Args    []schema.Value
	Mark    verdict.Value // Tp, Fp or F
	Witness []uint64      // one offset or none
}

// tuple finds the tuple of a table that a predicate names under the assignment.
func (e *eval) tuple(p *syntax.Pred, table []Tuple) (Tuple, bool) {
	at := slices.IndexFunc(table, func(t Tuple) bool {
		for k, arg := range p.Args {
			if v, ok := e.term(arg); !ok || t.Args[k] != v {
				return false
			}
		}
		return true
	})
	if at < 0 {
		return Tuple{Witness: []uint64{}}, false
	}
	return table[at], true
}
