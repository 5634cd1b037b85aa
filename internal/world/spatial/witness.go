package spatial

import (
	"github.com/aspis-rv/aspis/internal/world"
	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// foundAgain is how many times as much as a value its witness costs.
const foundAgain = 3

// Witness returns a path that shows that the formula has a value other than T at a location:
//
//   - of SOMEWHERE, REACH and ESCAPE the path to a vertex that makes it true;
//   - under a negation, of EVERYWHERE and SURROUND the path to a vertex that makes it false;
//   - of connectives and EXISTS that of the first operand, as written, that has one, under the
//     first binding;
//   - at an unknown location, in the unsafe sense, that location.
//
// Among the paths it is one of the least weight, of those one with the fewest vertices, of
// those the first by the names in order. It uses the tuples by which the formula has its
// value: of a formula that holds by definite tuples, a path that exists by them. It is
// false if the value is T or was not found, or no path is what shows it. It allocates.
func (f *Formula) Witness(g Graph, loc string, args []schema.Value, sense world.Sense) ([]world.Step, bool) {
	defer f.run.leave()
	v, known := f.run.enter(g, f.code, loc, args, sense)
	if !known {
		return []world.Step{{Vertex: loc}}, sense == world.Unsafe
	}
	value, which := f.value(v)
	f.run.pay(foundAgain)
	if value == verdict.T || f.run.budget == 0 {
		return nil, false
	}
	f.run.budget = unlimited           // what was found can be found again
	f.run.holds(f.code.root, v, which) // so that what is remembered is of this evaluation
	return f.code.root.witness(&f.run, v, false, true)
}
