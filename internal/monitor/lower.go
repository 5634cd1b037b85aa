package monitor

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/aspis-rv/aspis/internal/lang/check"
	"github.com/aspis-rv/aspis/internal/lang/syntax"
	"github.com/aspis-rv/aspis/internal/mfotl"
	"github.com/aspis-rv/aspis/internal/world"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// lowering makes formulas of mfotl of formulas over a world. What they read of the world
// is numbered over all of them.
type lowering struct {
	spec      *world.Spec // nil: there is no world, and nothing to do
	externals []external
	numbers   map[string]int // of externals, by name
	locations []*location
	byText    map[string]*location
	touches   []*touch
	byName    map[string]*touch

	// Of the formula under way.
	reads map[string]bool // relations of the world
	kinds map[string]schema.ValueKind
	done  map[lowered]syntax.Formula
	err   error
}

// external is an external relation of the plan: a relation of the world, or a test of
// vertices.
type external struct {
	mfotl.External
	rel    world.Rel
	at     *location // nil: a relation
	before bool      // in the world before the event
	sense  world.Sense
	// kept says that it is asked outside of NEW, and so about vertices that no event has
	// touched: its values are worth remembering.
	kept bool
}

func newLowering(spec *world.Spec) *lowering {
	return &lowering{spec: spec, numbers: map[string]int{}, byText: map[string]*location{}, byName: map[string]*touch{}}
}

// formula lowers one formula. reads lists the relations of the world that it reads, sorted.
func (l *lowering) formula(f *check.Checked) (low *check.Checked, reads []string, err error) {
	if l.spec == nil {
		return f, nil, nil
	}
	l.reads, l.kinds, l.err = map[string]bool{}, maps.Clone(f.Kinds), nil
	l.done = map[lowered]syntax.Formula{}
	if l.kinds == nil {
		l.kinds = map[string]schema.ValueKind{}
	}
	out := *f
	out.Core = l.lower(f.Core, context{sense: world.Unsafe})
	out.Kinds = l.kinds
	return &out, slices.Sorted(maps.Keys(l.reads)), l.err
}

// effects lists the relations of which one must change for a formula to hold, and tells
// whether a change of the graph does as well.
func (l *lowering) effects(f *check.Checked) (rels []world.Rel, graph bool) {
	for _, name := range f.Effects {
		if rel, ok := l.spec.Lookup(name); ok {
			rels = append(rels, rel)
		}
	}
	return rels, slices.Contains(f.Effects, check.Graph)
}

func (l *lowering) fail(f syntax.Formula, why error) {
	if l.err == nil {
		l.err = fmt.Errorf("%s: %w", f, why)
	}
}

// context is where a sub-formula stands.
type context struct {
	sense  world.Sense // of unknown vertices here
	before bool        // what is read is the world before the event
	stored bool        // below a temporal operator
	// bound are the variables that other conjuncts give a value, see binders.
	bound string
	// new is the NEW around, nil: none. Below its NOT the variables that are bound within
	// have other names, so that the copies are apart.
	new *syntax.New
}

// lowered names a sub-formula in a context: formulas may share nodes.
type lowered struct {
	f syntax.Formula
	context
}

func (c context) negated() context {
	c.sense = world.Unsafe - c.sense
	return c
}

// lower rewrites a sub-formula.
func (l *lowering) lower(f syntax.Formula, c context) syntax.Formula {
	key := lowered{f, c}
	g, ok := l.done[key]
	if !ok {
		g = l.rewritten(f, c)
		l.done[key] = g
	}
	return g
}

func (l *lowering) rewritten(f syntax.Formula, c context) syntax.Formula {
	switch f := f.(type) {
	case *syntax.Pred:
		return l.pred(f, c)
	case *syntax.At:
		return l.at(f, c)
	case *syntax.New:
		return l.newly(f, c)
	case *syntax.Cmp:
		return &syntax.Cmp{Node: f.Node, Op: f.Op, Left: l.term(f.Left, c), Right: l.term(f.Right, c)}
	case *syntax.Match:
		return &syntax.Match{
			Node: f.Node, Op: f.Op, Left: l.term(f.Left, c), Right: l.term(f.Right, c), Pattern: f.Pattern, Groups: l.terms(f.Groups, c),
		}
	case *syntax.Not:
		return &syntax.Not{Node: f.Node, F: l.lower(f.F, c.negated())}
	case *syntax.And:
		return &syntax.And{Node: f.Node, Left: l.lower(f.Left, c.binding(f.Right)), Right: l.lower(f.Right, c.binding(f.Left))}
	case *syntax.Or:
		return &syntax.Or{Node: f.Node, Left: l.lower(f.Left, c), Right: l.lower(f.Right, c)}
	case *syntax.Exists:
		return &syntax.Exists{Node: f.Node, Vars: l.vars(f.Vars, c), F: l.lower(f.F, c.without(f.Vars))}
	default:
		return l.temporal(f, c)
	}
}

// temporal lowers an operator that cannot stand within NEW. What is none of the core
// language stays, and mfotl refuses it.
func (l *lowering) temporal(f syntax.Formula, c context) syntax.Formula {
	c.bound = "" // an operand is evaluated by itself
	stored := c
	stored.stored = true
	switch f := f.(type) {
	case *syntax.Agg:
		return &syntax.Agg{Node: f.Node, Result: f.Result, Op: f.Op, Over: f.Over, Groups: f.Groups, F: l.lower(f.F, c)}
	case *syntax.Prev:
		return &syntax.Prev{Node: f.Node, I: f.I, F: l.lower(f.F, c)}
	case *syntax.Once:
		return &syntax.Once{Node: f.Node, I: f.I, F: l.lower(f.F, stored)}
	case *syntax.Historically:
		return &syntax.Historically{Node: f.Node, I: f.I, F: l.lower(f.F, stored)}
	case *syntax.Since:
		return &syntax.Since{Node: f.Node, I: f.I, Left: l.lower(f.Left, stored.binding(f.Right)), Right: l.lower(f.Right, stored)}
	default:
		return f
	}
}

// renamedMark ends the names of bound variables in the copy of a formula that reads the
// world before. No name of a language has it.
const renamedMark = "'before"

// variable is v in a context.
func (l *lowering) variable(v syntax.Var, c context) syntax.Var {
	if c.new == nil || !c.before || !bindsWithin(c.new.F, v.Name) {
		return v
	}
	return l.fresh(v, renamedMark)
}

// fresh is a variable of the type of v.
func (l *lowering) fresh(v syntax.Var, mark string) syntax.Var {
	w := syntax.Var{Pos: v.Pos, Name: v.Name + mark}
	if k, ok := l.kinds[v.Name]; ok {
		l.kinds[w.Name] = k
	}
	return w
}

func (l *lowering) vars(vs []syntax.Var, c context) []syntax.Var {
	out := make([]syntax.Var, len(vs))
	for i, v := range vs {
		out[i] = l.variable(v, c)
	}
	return out
}

func (l *lowering) term(t syntax.Term, c context) syntax.Term {
	switch t := t.(type) {
	case syntax.Var:
		return l.variable(t, c)
	case syntax.Arith:
		return syntax.Arith{Pos: t.Pos, Op: t.Op, Left: l.term(t.Left, c), Right: l.term(t.Right, c)}
	case syntax.Neg:
		return syntax.Neg{Pos: t.Pos, T: l.term(t.T, c)}
	case syntax.Conv:
		return syntax.Conv{Pos: t.Pos, Op: t.Op, T: l.term(t.T, c)}
	case syntax.Const, syntax.Here:
	}
	return t
}

func (l *lowering) terms(ts []syntax.Term, c context) []syntax.Term {
	var out []syntax.Term
	for _, t := range ts {
		out = append(out, l.term(t, c))
	}
	return out
}

// bindsWithin tells whether a quantifier of f binds a name.
func bindsWithin(f syntax.Formula, name string) bool {
	found := false
	syntax.Walk(f, func(f syntax.Formula) bool {
		if e, ok := f.(*syntax.Exists); ok {
			found = found || slices.ContainsFunc(e.Vars, func(v syntax.Var) bool { return v.Name == name })
		}
		_, at := f.(*syntax.At) // names of its own
		return !found && !at
	})
	return found
}

// number gives an external relation its place in the list of the plan.
func (l *lowering) number(x external) {
	n, ok := l.numbers[x.Name]
	if !ok {
		n = len(l.externals)
		l.numbers[x.Name] = n
		l.externals = append(l.externals, x)
	}
	l.externals[n].kept = l.externals[n].kept || x.kept
}

// side names the world that is read, for the name of an external relation.
func (c context) side() string {
	var b strings.Builder
	b.WriteString("after")
	if c.before {
		b.Reset()
		b.WriteString("before")
	}
	if c.sense == world.Unsafe {
		b.WriteString(", unsafe")
	}
	return b.String()
}
