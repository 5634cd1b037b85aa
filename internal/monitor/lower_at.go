package monitor

import (
	"fmt"

	"github.com/aspis-rv/aspis/internal/lang/syntax"
	"github.com/aspis-rv/aspis/internal/mfotl"
	"github.com/aspis-rv/aspis/internal/world"
	"github.com/aspis-rv/aspis/internal/world/spatial"
)

// location is a location formula of AT, compiled. Its arguments are the vertex and the
// variables of the formula. Monitors evaluate clones of it.
type location struct {
	formula *spatial.Formula
	number  int
	vars    []string
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
		at:       loc, before: c.before, sense: c.sense,
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
		loc = &location{compiled, len(l.locations), compiled.Vars()}
		l.byText[text] = loc
		l.locations = append(l.locations, loc)
	}
	for _, rel := range loc.formula.Relations() {
		l.reads[nameOf(rel)] = true
	}
	for _, name := range walks() {
		l.reads[name] = true
	}
	return loc
}

// walks lists the relations of which a change of the graph may be reported, on which every
// walk rests.
func walks() []string { return []string{"connects", "domain", "label", "opened", "reaches", "vertex"} }

// locationText is the text by which equal location formulas are found.
func locationText(f *syntax.At) string {
	text := f.F.String()
	syntax.Walk(f.F, func(g syntax.Formula) bool {
		if e, ok := g.(*syntax.Escape); ok && e.Restricted {
			text += " restricted"
		}
		return true
	})
	return text
}

// nameOf is the name that policies have for a relation.
func nameOf(rel world.Rel) string {
	switch rel.Kind {
	case world.ReachesDomain:
		return "reaches"
	case world.ConnectsDomain:
		return "connects"
	default:
		return relationName(rel)
	}
}
