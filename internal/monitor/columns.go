package monitor

import (
	"slices"

	"github.com/aspis-rv/aspis/internal/lang/check"
	"github.com/aspis-rv/aspis/internal/lang/syntax"
	"github.com/aspis-rv/aspis/internal/world"
)

// objects lists the columns of a formula that are objects of the world.
func (l *lowering) objects(f *check.Checked) []int {
	var out []int
	syntax.Walk(f.Core, func(g syntax.Formula) bool {
		p, ok := g.(*syntax.Pred)
		if !ok {
			return true
		}
		rel, ok := l.spec.Lookup(p.Name)
		if !ok {
			return true
		}
		for _, at := range objectsOf(rel) {
			if col := columnOf(f, p.Args[at]); col >= 0 && !slices.Contains(out, col) {
				out = append(out, col)
			}
		}
		return true
	})
	slices.Sort(out)
	return out
}

// objectsOf lists the arguments of a relation that are objects. Of a state relation they
// are known where an argument is one of another relation as well.
func objectsOf(rel world.Rel) []int {
	switch rel.Kind {
	case world.Holds:
		return []int{1}
	case world.Reaches, world.ReachesDomain, world.Exists, world.Gone:
		return []int{0}
	case world.Derived:
		return []int{0, 1}
	case world.Connects, world.ConnectsDomain, world.HasLabel, world.InDomain, world.Opened, world.DeclaredVertex,
		world.AttributeOf, world.StateOf:
	}
	return nil
}

// columnOf is the number of the column that a term is, -1 if it is none.
func columnOf(f *check.Checked, t syntax.Term) int {
	v, ok := t.(syntax.Var)
	if !ok {
		return -1
	}
	return slices.IndexFunc(f.Free, func(c check.Column) bool { return c.Name == v.Name })
}

// paths lists the atoms of a formula that rest on paths and whose arguments a row gives, and
// tells whether there are others.
func (l *lowering) paths(f *check.Checked) (out []pathAtom, inner bool) {
	seen := map[string]bool{}
	var visit func(g syntax.Formula)
	visit = func(g syntax.Formula) {
		switch g := g.(type) {
		case *syntax.Pred, *syntax.At:
			a, ok := l.pathAtom(f, g)
			switch {
			case !ok:
			case len(a.args) == 0:
				inner = true
			case !seen[g.String()]:
				seen[g.String()] = true
				out = append(out, a)
			}
		case *syntax.And, *syntax.Or, *syntax.Exists, *syntax.New:
			for _, h := range syntax.Children(g) {
				visit(h)
			}
		default: // negative, or of another time
		}
	}
	visit(f.Core)
	return out, inner
}

// pathAtom is an atom that rests on a path, without arguments if a row does not give them all;
// false if it does not.
func (l *lowering) pathAtom(f *check.Checked, atom syntax.Formula) (pathAtom, bool) {
	a := pathAtom{atom: atom, sense: world.Unsafe}
	var args []syntax.Term
	if at, ok := atom.(*syntax.At); ok {
		if a.at = l.location(at); a.at == nil {
			return a, false
		}
		args = append(args, at.Loc)
		for _, name := range a.at.vars {
			args = append(args, syntax.Var{Name: name})
		}
	}
	if p, ok := atom.(*syntax.Pred); ok {
		rel, ok := l.spec.Lookup(p.Name)
		if !ok || (rel.Kind != world.Reaches && rel.Kind != world.Connects) {
			return a, false
		}
		a.rel, args = rel, p.Args
	}
	for _, t := range args {
		arg := pathArg{column: columnOf(f, t)}
		if c, ok := t.(syntax.Const); ok {
			arg.value = c.Value
		} else if arg.column < 0 {
			a.args = nil
			return a, true
		}
		a.args = append(a.args, arg)
	}
	return a, true
}
