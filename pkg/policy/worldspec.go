package policy

import (
	"maps"
	"slices"

	"github.com/aspis-rv/aspis/internal/lang/syntax"
	"github.com/aspis-rv/aspis/internal/world"
	"github.com/aspis-rv/aspis/pkg/policy/internal/source"
)

// sealWorld makes the spec of the world once everything is read.
func (l *loader) sealWorld() {
	w := &l.world
	if !w.declared() && len(w.states) == 0 {
		return
	}
	spec := &world.Spec{PhysicalUnit: w.unit, Attributes: l.namesOf(declAttribute), States: w.states}
	for _, name := range slices.Sorted(maps.Keys(w.vertices)) {
		spec.Vertices = append(spec.Vertices, w.vertices[name].VertexSpec)
	}
	for _, ends := range sortedEnds(w.edges) {
		spec.Edges = append(spec.Edges, w.edges[ends])
	}
	for _, ends := range sortedEnds(w.channels) {
		spec.Channels = append(spec.Channels, w.channels[ends])
	}
	for _, name := range slices.Sorted(maps.Keys(w.entities)) {
		spec.Entities = append(spec.Entities, w.entities[name])
	}
	for _, name := range slices.Sorted(maps.Keys(w.objects)) {
		spec.Objects = append(spec.Objects, w.objects[name])
	}
	spec.Labels, spec.Domains = l.namedInFormulas()
	l.b.World = spec
	if l.diags.HasErrors() {
		return
	}
	if _, err := world.New(spec); err != nil {
		l.report(w.place(), contradiction("", "there is no such world: %v", err))
	}
}

// place is where the world is declared.
func (w *worldDecl) place() *source.Node {
	if w.key != nil {
		return w.key
	}
	return w.stateKey
}

func sortedEnds[T any](m map[[2]string]T) [][2]string {
	return slices.SortedFunc(maps.Keys(m), func(a, b [2]string) int { return slices.Compare(a[:], b[:]) })
}

// namedInFormulas lists the labels and domains that formulas name, and the domains that
// facts may name because domain_of gives them. What is called like a vertex is no domain.
func (l *loader) namedInFormulas() (labels, domains []string) {
	c := constants{label: map[string]bool{}, domain: map[string]bool{}}
	for i := range l.b.Clauses {
		for j := range l.b.Clauses[i].Formulas {
			c.formula(l.b.Clauses[i].Formulas[j].Checked.Source)
		}
	}
	for _, d := range l.setDomains() {
		c.domain[d] = true
	}
	for name := range l.world.vertices {
		delete(c.domain, name)
	}
	return slices.Sorted(maps.Keys(c.label)), slices.Sorted(maps.Keys(c.domain))
}

// constants gathers the constants of formulas that stand for labels and for domains: as
// arguments of relations, and where they are compared with variables that are such
// arguments. Names are taken as they are written, whatever binds them, so that there may be
// some too many.
type constants struct {
	label, domain map[string]bool
}

// place is where the second argument of a relation belongs, nil when it is neither.
func (c *constants) place(p *syntax.Pred) map[string]bool {
	args := argumentsOf(p.Name)
	switch {
	case len(args) != 2 || len(p.Args) != 2:
		return nil
	case args[1] == slotLabel:
		return c.label
	case args[1] == slotDomain:
		return c.domain
	}
	return nil
}

func (c *constants) formula(f syntax.Formula) {
	variables := map[string][]map[string]bool{} // name → what its values are
	syntax.Walk(f, func(g syntax.Formula) bool {
		if l, ok := g.(*syntax.Label); ok {
			c.label[l.Name] = true
		}
		p, ok := g.(*syntax.Pred)
		if !ok {
			return true
		}
		into := c.place(p)
		if into == nil {
			return true
		}
		if k, ok := p.Args[1].(syntax.Const); ok {
			into[k.Value.Str] = true
		}
		if v, ok := p.Args[1].(syntax.Var); ok {
			variables[v.Name] = append(variables[v.Name], into)
		}
		return true
	})
	syntax.Walk(f, func(g syntax.Formula) bool {
		if cmp, ok := g.(*syntax.Cmp); ok && cmp.Op == syntax.Eq {
			compared(cmp.Left, cmp.Right, variables)
			compared(cmp.Right, cmp.Left, variables)
		}
		return true
	})
}

// compared notes a constant that a variable equals.
func compared(t, with syntax.Term, variables map[string][]map[string]bool) {
	v, isVar := t.(syntax.Var)
	k, isConst := with.(syntax.Const)
	if !isVar || !isConst {
		return
	}
	for _, into := range variables[v.Name] {
		into[k.Value.Str] = true
	}
}
