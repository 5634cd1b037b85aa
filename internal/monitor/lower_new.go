package monitor

import (
	"slices"

	"github.com/aspis-rv/aspis/internal/lang/syntax"
	"github.com/aspis-rv/aspis/internal/world"
)

// newly lowers NEW (φ) to
//
//	NEW ((OR over the atoms of φ: ~atom AND φ after) AND NOT φ before)
//
// where ~atom are the tuples that the event may have changed, and one disjunct stands for
// an event that changes too much to list. The senses of φ before are those of φ after.
func (l *lowering) newly(f *syntax.New, c context) syntax.Formula {
	after, before := c, c
	after.new, before.new, before.before = f, f, true
	now := l.lower(f.F, after)
	var touched syntax.Formula
	for _, t := range l.touched(f.F, c) {
		var either syntax.Formula = &syntax.And{Node: f.Node, Left: t, Right: now}
		if touched != nil {
			either = &syntax.Or{Node: f.Node, Left: touched, Right: either}
		}
		touched = either
	}
	return &syntax.New{Node: f.Node, F: &syntax.And{
		Node: f.Node, Left: touched, Right: &syntax.Not{Node: f.Node, F: l.lower(f.F, before)},
	}}
}

// news is what a formula asks NEW about.
type news struct {
	any     bool // it has a NEW
	reaches bool // about what objects come to
	located bool // about AT that reads more than the graph
}

// in tells whether what is new for the formula is in doubt.
func (n news) in(doubt novelty) bool {
	return n.any && (doubt.all || n.reaches && doubt.carried || n.located && doubt.located)
}

func (l *lowering) news(f syntax.Formula) (n news) {
	inner := func(g syntax.Formula) bool {
		switch g := g.(type) {
		case *syntax.Pred:
			rel, ok := l.spec.Lookup(g.Name)
			n.reaches = n.reaches || ok && rel.Kind == world.Reaches
		case *syntax.At:
			loc := l.location(g)
			n.located = n.located || loc != nil && loc.reads
			return false // its predicates are those of the location
		default:
		}
		return true
	}
	syntax.Walk(f, func(g syntax.Formula) bool {
		is, ok := g.(*syntax.New)
		if ok {
			n.any = true
			syntax.Walk(is.F, inner)
		}
		return !ok
	})
	return n
}

// touch is a fact relation that tells which tuples of a relation, or vertices of a location
// formula, an event may have changed.
type touch struct {
	name   string
	rel    world.Rel
	at     *location // nil: a relation
	arity  int
	stored bool // a window reads it
}

// touchedAll is the fact of an event that changes more than is listed.
const touchedAll = "~all"

// touchedMark ends the names of variables that are quantified away.
const touchedMark = "'touched"

// touched makes a predicate for each atom of φ, and that for all.
func (l *lowering) touched(f syntax.Formula, outside context) []syntax.Formula {
	var out []syntax.Formula
	seen := map[string]bool{}
	add := func(g syntax.Formula) {
		if text := g.String(); !seen[text] {
			seen[text] = true
			out = append(out, g)
		}
	}
	l.atoms(f, outside, nil, func(atom syntax.Formula, c context, inner []syntax.Var) {
		if g := l.touchedBy(atom, c, inner); g != nil {
			add(g)
		}
	})
	add(&syntax.Pred{Name: touchedAll})
	return out
}

// atoms calls visit for each atom of φ over the world, with the variables that are bound
// within φ above it.
func (l *lowering) atoms(f syntax.Formula, c context, inner []syntax.Var, visit func(syntax.Formula, context, []syntax.Var)) {
	switch f := f.(type) {
	case *syntax.Pred, *syntax.At:
		visit(f, c, inner)
	case *syntax.And:
		l.atoms(f.Left, c.binding(f.Right), inner, visit)
		l.atoms(f.Right, c.binding(f.Left), inner, visit)
	case *syntax.Exists:
		l.atoms(f.F, c.without(f.Vars), append(slices.Clip(inner), f.Vars...), visit)
	default:
		for _, g := range syntax.Children(f) {
			l.atoms(g, c, inner, visit)
		}
	}
}

// touchedBy is the predicate for one atom; nil if that is none of the world.
func (l *lowering) touchedBy(atom syntax.Formula, c context, inner []syntax.Var) syntax.Formula {
	t := touch{stored: c.stored}
	var args []syntax.Term
	if at, ok := atom.(*syntax.At); ok {
		if t.at = l.location(at); t.at == nil {
			return nil
		}
		t.name, args = "~"+t.at.name(), []syntax.Term{at.Loc}
	}
	if p, ok := atom.(*syntax.Pred); ok {
		rel, ok := l.relation(p, c)
		if !ok {
			return nil
		}
		t.rel, t.name, args = rel, "~"+rel.String(), p.Args
		if reachability(rel) {
			args = args[:1]
		}
	}
	t.arity = len(args)
	l.register(t)
	return l.quantified(t.name, args, inner)
}

// quantified is a predicate in which the inner variables are quantified away.
func (l *lowering) quantified(name string, args []syntax.Term, inner []syntax.Var) syntax.Formula {
	p := &syntax.Pred{Name: name}
	var vars []syntax.Var
	for _, t := range args {
		if v, ok := t.(syntax.Var); ok && slices.ContainsFunc(inner, func(x syntax.Var) bool { return x.Name == v.Name }) {
			w := l.fresh(v, touchedMark)
			if !slices.Contains(vars, w) {
				vars = append(vars, w)
			}
			t = w
		}
		p.Args = append(p.Args, t)
	}
	if len(vars) == 0 {
		return p
	}
	return &syntax.Exists{Vars: vars, F: p}
}

// reachability tells whether the changes of a relation are listed by its first argument.
func reachability(rel world.Rel) bool {
	switch rel.Kind {
	case world.Reaches, world.ReachesDomain, world.Connects, world.ConnectsDomain:
		return true
	case world.Holds, world.HasLabel, world.InDomain, world.Exists, world.Gone, world.Derived, world.Opened,
		world.DeclaredVertex, world.AttributeOf, world.StateOf:
	}
	return false
}

// register notes that a touch is read.
func (l *lowering) register(t touch) {
	known := l.byName[t.name]
	if known == nil {
		known = &t
		l.byName[t.name] = known
		l.touches = append(l.touches, known)
	}
	known.stored = known.stored || t.stored
}
