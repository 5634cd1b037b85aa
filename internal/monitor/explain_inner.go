package monitor

import (
	"github.com/aspis-rv/aspis/internal/lang/syntax"
	"github.com/aspis-rv/aspis/internal/mfotl"
	"github.com/aspis-rv/aspis/internal/world"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// maxExplained is the number of rows of a formula for which atoms with quantified variables
// have paths: for each of them the formula is evaluated once more.
const maxExplained = 16

// explainInner gives a row the paths of the atoms with quantified variables, under the values
// by which formula i holds.
func (m *Monitor) explainInner(i int, row *schema.Row, w *world.World) {
	if reasons, ok := m.state.ReadReasons(i, row.Values, &m.reasons); ok {
		m.walk(reasons, row, w)
	}
}

// walk looks for the atoms that hold, not below a NOT.
func (m *Monitor) walk(reasons []mfotl.Reason, row *schema.Row, w *world.World) {
	for i := range reasons {
		switch f := reasons[i].Formula.(type) {
		case *syntax.Pred:
			if a, ok := m.engine.pathAtoms[f.Name]; ok {
				a.show(m, row, w, valuesOf(f, reasons[i].Binding))
			}
		case *syntax.Not:
		default:
			m.walk(reasons[i].Because, row, w)
		}
	}
}

// valuesOf are the arguments of a predicate that holds.
func valuesOf(p *syntax.Pred, binding []mfotl.Bound) []schema.Value {
	values := make([]schema.Value, len(p.Args))
	for i, t := range p.Args {
		if c, ok := t.(syntax.Const); ok {
			values[i] = c.Value
		}
		for _, b := range binding {
			if v, ok := t.(syntax.Var); ok && v.Name == b.Name {
				values[i] = b.Value
			}
		}
	}
	return values
}

// pathAtoms lists, by name, the external relations that hold because of a path.
func pathAtoms(externals []external) map[string]*pathAtom {
	out := map[string]*pathAtom{}
	for _, x := range externals {
		if x.before || x.sense != world.Unsafe {
			continue
		}
		switch {
		case x.at != nil:
			out[x.Name] = &pathAtom{atom: x.at.source, at: x.at, sense: x.sense}
		case x.rel.Kind == world.Reaches || x.rel.Kind == world.ReachesDomain:
			out[x.Name] = &pathAtom{atom: &syntax.Pred{Name: "reaches"}, rel: world.Rel{Kind: world.Reaches}}
		case x.rel.Kind == world.Connects || x.rel.Kind == world.ConnectsDomain:
			out[x.Name] = &pathAtom{atom: &syntax.Pred{Name: "connects"}, rel: world.Rel{Kind: world.Connects}}
		}
	}
	return out
}
