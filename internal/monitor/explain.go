package monitor

import (
	"slices"

	"github.com/aspis-rv/aspis/internal/lang/syntax"
	"github.com/aspis-rv/aspis/internal/world"
	"github.com/aspis-rv/aspis/pkg/aspects"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// explain adds to rows what the world has to say about them: the paths on which they rest,
// the events that made the steps of these, and whether they are about an object that is new.
func (m *Monitor) explain(number int, rows []schema.Row, in *aspects.Input, s *shadow) {
	p := &m.engine.parts[number]
	m.purse = m.shown
	defer func() { m.shown = m.purse }()
	for i := range rows {
		row := &rows[i]
		walked := i < maxWalked
		for k := 0; k < len(p.paths) && walked; k++ {
			p.paths[k].add(m, row, s.after)
		}
		if p.inner && i < maxExplained {
			m.explainInner(number, row, s.after)
		}
		whole := walked && (!p.inner || i < maxExplained) && m.purse > 0 // without its paths nobody knows what a row rests on
		row.Documents = in.Documents && whole && !misplaced(row) && slices.ContainsFunc(p.objects, func(col int) bool {
			return row.Values[col].Kind == schema.KindString && s.created(row.Values[col].Str)
		})
	}
}

// maxWalked is the number of rows of a formula for which paths are looked for: each is a search
// of the graph, of some 50 ms in a world of 100,000 vertices, and one channel may let out every
// object that there is.
const maxWalked = 16

// misplaced tells whether a row rests on no step of the graph: what it says is not due to a
// channel that somebody opened, but to where the event itself put the object.
func misplaced(row *schema.Row) bool {
	return slices.ContainsFunc(row.Paths, func(p schema.Path) bool { return len(p.Vertices) == 1 })
}

// pathAtom is an atom of a formula that holds because of a path: reaches, connects or AT, at
// positive polarity, not below a temporal operator, with arguments that a row gives.
type pathAtom struct {
	atom  syntax.Formula
	args  []pathArg // of At: the vertex, then the variables of the formula
	rel   world.Rel
	at    *location // nil: a relation
	sense world.Sense
}

// pathArg is a column or, if that is -1, a constant.
type pathArg struct {
	column int
	value  schema.Value
}

func (a pathArg) of(row *schema.Row) schema.Value {
	if a.column >= 0 {
		return row.Values[a.column]
	}
	return a.value
}

// add gives a row the path of the atom, if it holds.
func (a *pathAtom) add(m *Monitor, row *schema.Row, w *world.World) {
	values := make([]schema.Value, len(a.args))
	for i, arg := range a.args {
		values[i] = arg.of(row)
	}
	a.show(m, row, w, values)
}

// show gives a row the path of the atom under values of its arguments, if it holds.
func (a *pathAtom) show(m *Monitor, row *schema.Row, w *world.World, values []schema.Value) {
	steps, ok := a.path(m, w, values)
	if !ok || len(steps) == 0 {
		return
	}
	path := schema.Path{Of: a.print(values), Distance: steps[len(steps)-1].Distance}
	if slices.ContainsFunc(row.Paths, func(p schema.Path) bool { return p.Of == path.Of }) {
		return
	}
	for _, step := range steps {
		path.Vertices = append(path.Vertices, step.Vertex)
		if step.Origin > 0 {
			row.Witness = append(row.Witness, step.Origin-1)
		}
	}
	row.Paths = append(row.Paths, path)
	slices.Sort(row.Witness)
	row.Witness = slices.Compact(row.Witness)
}

func (a *pathAtom) path(m *Monitor, w *world.World, args []schema.Value) ([]world.Step, bool) {
	switch {
	case a.at != nil:
		return m.location(a.at).Witness(w, args[0].Str, args[1:], a.sense)
	case a.rel.Kind == world.Reaches:
		return w.ObjectPath(args[0].Str, args[1].Str)
	}
	v, ok := w.Vertex(args[0].Str)
	if !ok {
		return nil, false
	}
	return w.Path(v, args[1].Str)
}

// print is the atom with its values.
func (a *pathAtom) print(values []schema.Value) string {
	of := map[string]schema.Value{}
	if f, ok := a.atom.(*syntax.At); ok {
		for i, name := range a.at.vars {
			of[name] = values[i+1]
		}
		return (&syntax.At{Loc: syntax.Const{Value: values[0]}, F: instance(f.F, of)}).String()
	}
	p := &syntax.Pred{Name: a.atom.(*syntax.Pred).Name} //nolint:forcetypeassert // an atom is one or the other
	for _, v := range values {
		p.Args = append(p.Args, syntax.Const{Value: v})
	}
	return p.String()
}
