package future

import (
	"slices"

	"github.com/aspis-rv/aspis/internal/lang/check"
	"github.com/aspis-rv/aspis/internal/lang/syntax"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// guard says that a stage needs only such tuples of a virtual relation as agree with
// some fact of the time point: in `q(x) AND NOT EVENTUALLY p(x)` it is q. What a
// formula says about values of x that satisfy no q does not matter.
type guard struct {
	name  string // of the facts
	arity int
	args  []int // their arguments, in the order of the index's columns
	index int   // of relation.indexes
}

// want is what a stage wants of a relation at a time point: all tuples, or those that
// some guard admits.
type want struct {
	guards []guard
	facts  []schema.Fact
}

// guard finds the guards of the relations that a stage reads. A relation that stands
// somewhere without one has none.
func (c *cutter) guard(s *stage) {
	for i := range s.reads {
		in := &s.reads[i]
		r := c.plan.relations[in.relation]
		if r.readers > 1 || r.op == opNext {
			continue
		}
		g := guarder{spec: r}
		for _, f := range s.source {
			g.formula(f.Core, nil)
		}
		if !g.bare {
			in.guards = g.found
		}
	}
}

// guarder looks at every place of a virtual relation in formulas.
type guarder struct {
	spec  *relation
	found []guard
	bare  bool // some place has no guard
}

// formula visits f, which matters only where the atoms of the same time point hold.
func (g *guarder) formula(f syntax.Formula, atoms []atom) {
	switch f := f.(type) {
	case *syntax.Pred:
		if f.Name == g.spec.name {
			g.place(f, atoms)
		}
	case *syntax.And:
		parts := conjuncts(f, nil)
		inner := slices.Clip(atoms)
		for _, p := range parts {
			if a, ok := atomOf(p); ok {
				inner = append(inner, a)
			}
		}
		for _, p := range parts {
			g.formula(p, inner)
		}
	case *syntax.Not, *syntax.Or, *syntax.Exists:
		for _, sub := range syntax.Children(f) {
			g.formula(sub, atoms)
		}
	case *syntax.Bool, *syntax.Cmp, *syntax.Match, *syntax.Implies, *syntax.Equiv, *syntax.Forall, *syntax.Prev,
		*syntax.Once, *syntax.Historically, *syntax.Since, *syntax.Next, *syntax.Eventually, *syntax.Always,
		*syntax.Until, *syntax.Agg, *syntax.Let, *syntax.New,
		*syntax.At, *syntax.Label, *syntax.Somewhere, *syntax.Everywhere, *syntax.Escape, *syntax.Reach, *syntax.Surround:
		for _, sub := range syntax.Children(f) {
			g.formula(sub, nil)
		}
	}
}

func conjuncts(f syntax.Formula, parts []syntax.Formula) []syntax.Formula {
	if and, ok := f.(*syntax.And); ok {
		return conjuncts(and.Right, conjuncts(and.Left, parts))
	}
	return append(parts, f)
}

// atom is an atom of a relation of the log, or a projection of one.
type atom struct {
	*syntax.Pred
	bound []syntax.Var // what is projected away
}

// atomOf returns the atom that f is; false if it is something else.
func atomOf(f syntax.Formula) (atom, bool) {
	var a atom
	for {
		e, ok := f.(*syntax.Exists)
		if !ok {
			break
		}
		a.bound = append(a.bound, e.Vars...)
		f = e.F
	}
	p, ok := f.(*syntax.Pred)
	if !ok || isVirtual(p.Name) {
		return atom{}, false
	}
	if _, ok := check.BuiltIn()[p.Name]; ok {
		return atom{}, false // there may be no facts of these
	}
	a.Pred = p
	return a, true
}

// argument returns the position of a free variable in the atom, or -1.
func (a atom) argument(name string) int {
	if slices.ContainsFunc(a.bound, func(v syntax.Var) bool { return v.Name == name }) {
		return -1
	}
	return slices.IndexFunc(a.Args, func(t syntax.Term) bool {
		v, ok := t.(syntax.Var)
		return ok && v.Name == name
	})
}

// place takes as guard the atom that has most variables of p.
func (g *guarder) place(p *syntax.Pred, atoms []atom) {
	var best guard
	var cols []int
	for _, a := range atoms {
		next, nextCols := shared(p, a)
		if len(nextCols) > len(cols) {
			best, cols = next, nextCols
		}
	}
	if len(cols) == 0 {
		g.bare = true
		return
	}
	best.index = slices.IndexFunc(g.spec.indexes, func(x []int) bool { return slices.Equal(x, cols) })
	if best.index < 0 {
		best.index = len(g.spec.indexes)
		g.spec.indexes = append(g.spec.indexes, cols)
	}
	g.found = append(g.found, best)
}

// shared returns the guard by the variables that p and an atom share, and their
// columns in p.
func shared(p *syntax.Pred, a atom) (g guard, cols []int) {
	g = guard{name: a.Name, arity: len(a.Args)}
	for i, t := range p.Args {
		v, ok := t.(syntax.Var)
		if !ok {
			continue
		}
		if at := a.argument(v.Name); at >= 0 {
			cols = append(cols, i)
			g.args = append(g.args, at)
		}
	}
	return g, cols
}

// matchIndex finds the live tuples of an until by some of their columns.
type matchIndex struct {
	cols   []int
	groups map[string][]int32
	where  []int32 // by slot: position in its group
	key    tuple
	buf    []byte
}

func (x *matchIndex) keyOf(t tuple, cols []int) {
	x.key = x.key[:0]
	for _, c := range cols {
		x.key = append(x.key, t[c])
	}
	x.buf = appendKey(x.buf[:0], x.key)
}

func (x *matchIndex) add(t tuple, slot int32) {
	if x.groups == nil {
		x.groups = map[string][]int32{}
	}
	for int(slot) >= len(x.where) {
		x.where = append(x.where, 0)
	}
	x.keyOf(t, x.cols)
	group := x.groups[string(x.buf)]
	x.where[slot] = int32(len(group))
	x.groups[string(x.buf)] = append(group, slot)
}

func (x *matchIndex) remove(t tuple, slot int32) {
	x.keyOf(t, x.cols)
	group := x.groups[string(x.buf)]
	n := len(group) - 1
	last := group[n]
	group[x.where[slot]] = last
	x.where[last] = x.where[slot]
	if n == 0 {
		delete(x.groups, string(x.buf))
		return
	}
	x.groups[string(x.buf)] = group[:n]
}

// matching appends the tuples that some guard admits, each once.
func (u *until) matching(dst []schema.Fact, w want) []schema.Fact {
	if len(u.live) <= len(w.facts) {
		return u.tuples(dst)
	}
	for i := range w.facts {
		fact := &w.facts[i]
		for k := range w.guards {
			g := &w.guards[k]
			if g.name != fact.Name || g.arity != len(fact.Args) {
				continue
			}
			x := u.index[g.index]
			x.keyOf(fact.Args, g.args)
			for _, slot := range x.groups[string(x.buf)] {
				if u.spans[slot].given != u.made {
					u.spans[slot].given = u.made
					dst = append(dst, schema.Fact{Name: u.spec.name, Args: u.set.tuples[slot]})
				}
			}
		}
	}
	return dst
}
