package monitor

import (
	"fmt"
	"slices"

	"github.com/aspis-rv/aspis/internal/lang/syntax"
	"github.com/aspis-rv/aspis/internal/mfotl"
	"github.com/aspis-rv/aspis/internal/world"
	"github.com/aspis-rv/aspis/internal/world/spatial"
)

// location is a location formula of AT, compiled. Its arguments are the vertex and the
// variables of the formula. Monitors evaluate clones of it.
type location struct {
	source  *syntax.At
	formula *spatial.Formula
	number  int
	vars    []string
	reads   bool // of the world, more than its graph
}

func (l *location) name() string { return fmt.Sprintf("at#%d", l.number) }

// at lowers AT to a test. Below NEW too it is compiled once, for both worlds.
func (l *lowering) at(f *syntax.At, c context) syntax.Formula {
	loc := l.location(f)
	if loc == nil {
		return f
	}
	args := []syntax.Term{l.term(f.Loc, c)}
	for _, name := range loc.vars {
		args = append(args, l.variable(syntax.Var{Name: name}, c))
	}
	x := external{
		External: mfotl.External{Name: loc.name() + " " + c.side(), Arity: len(args), Test: true},
		at:       loc, before: c.before, sense: c.sense, kept: c.new == nil,
	}
	l.number(x)
	return &syntax.Pred{Node: f.Node, Name: x.Name, Args: args}
}

// location compiles the location formula of AT, or finds it compiled; nil if it is refused.
func (l *lowering) location(f *syntax.At) *location {
	text := locationText(f)
	loc := l.byText[text]
	if loc == nil {
		compiled, err := spatial.Compile(f, l.spec)
		if err != nil {
			l.fail(f, err)
			return nil
		}
		loc = &location{source: f, formula: compiled, number: len(l.locations), vars: compiled.Vars()}
		loc.reads = slices.ContainsFunc(compiled.Relations(), func(rel world.Rel) bool { return !ofGraph(rel) })
		l.byText[text] = loc
		l.locations = append(l.locations, loc)
	}
	for _, rel := range loc.formula.Relations() {
		l.read(rel)
	}
	l.read(world.Rel{Kind: world.HasLabel})
	l.read(world.Rel{Kind: world.Connects})
	return loc
}

// ofGraph tells whether a relation is computed from vertices, labels, edges and channels.
func ofGraph(rel world.Rel) bool {
	switch rel.Kind {
	case world.HasLabel, world.InDomain, world.DeclaredVertex, world.Opened, world.Connects, world.ConnectsDomain:
		return true
	case world.Holds, world.Reaches, world.ReachesDomain, world.Exists, world.Gone, world.Derived, world.AttributeOf, world.StateOf:
	}
	return false
}

// locationText is the text by which equal location formulas are found. It says of each ESCAPE, in
// order, which reading it has, as the formula does not.
func locationText(f *syntax.At) string {
	text := f.F.String()
	syntax.Walk(f.F, func(g syntax.Formula) bool {
		if e, ok := g.(*syntax.Escape); ok {
			text += fmt.Sprintf(" restricted=%t", e.Restricted)
		}
		return true
	})
	return text
}

// read notes that a relation is read, under the name that policies have for it, and those
// that it is computed from.
func (l *lowering) read(rel world.Rel) {
	switch rel.Kind {
	case world.Reaches, world.ReachesDomain:
		l.reads["reaches"], l.reads["holds"] = true, true
		l.read(world.Rel{Kind: world.Connects})
	case world.Connects, world.ConnectsDomain:
		for _, name := range []string{"connects", "domain", "opened", "vertex"} {
			l.reads[name] = true
		}
	case world.Exists, world.Gone:
		l.reads[rel.String()], l.reads["holds"] = true, true
	case world.Holds, world.Derived, world.HasLabel, world.InDomain, world.Opened, world.DeclaredVertex, world.AttributeOf, world.StateOf:
		l.reads[rel.String()] = true
	}
}
