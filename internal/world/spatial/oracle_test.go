package spatial

import (
	"slices"

	"github.com/aspis-rv/aspis/internal/lang/syntax"
	"github.com/aspis-rv/aspis/internal/world"
	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// oracle evaluates location formulas by their definitions, over all simple paths.
type oracle struct {
	m      *model
	unsafe bool
	which  evaluation
	env    map[string]string
	walks  map[walkKey][]simple
	quant  int // quantifiers around
	tables map[tableKey][]bool
}

type tableKey struct {
	f       syntax.Formula
	negated bool
}

type walkKey struct {
	from world.V
	via  world.Sort
}

// simple is a simple path, with its start, and its weight.
type simple struct {
	vertices []world.V
	steps    []hop // that lead to all but the first
	weight   int64
}

func (p simple) end() world.V { return p.vertices[len(p.vertices)-1] }

func newOracle(m *model) *oracle {
	return &oracle{m: m, env: map[string]string{}, walks: map[walkKey][]simple{}}
}

// values are those at all vertices.
func (o *oracle) values(f syntax.Formula, sense world.Sense) []verdict.Value {
	o.unsafe = sense == world.Unsafe
	var holds [3][]bool
	for e := range holds {
		o.which, o.tables = evaluation(e), map[tableKey][]bool{}
		holds[e] = o.table(f, false)
	}
	out := make([]verdict.Value, len(o.m.names))
	for v := range out {
		switch {
		case o.m.sorts[v] == world.Unknown:
			out[v] = unknown(sense)
		case holds[allTuples][v] && holds[negatedTuples][v]:
			out[v] = verdict.F
		case holds[allTuples][v]:
			out[v] = verdict.Fp
		case holds[plainTuples][v]:
			out[v] = verdict.Tp
		}
	}
	return out
}

// paths lists the simple paths that a walk from v may take.
func (o *oracle) paths(v world.V, d syntax.Distance) []simple {
	via := o.m.sorts[v]
	switch d.Sort {
	case "physical":
		via = world.Physical
	case "informational":
		via = world.Informational
	}
	key := walkKey{v, via}
	if _, ok := o.walks[key]; !ok {
		var all []simple
		o.extend(simple{vertices: []world.V{v}}, via, &all)
		o.walks[key] = all
	}
	return o.walks[key]
}

func (o *oracle) extend(p simple, via world.Sort, all *[]simple) {
	*all = append(*all, p)
	at := p.end()
	for to := range world.V(len(o.m.names)) {
		if slices.Contains(p.vertices, to) || o.m.sorts[to] != via && o.m.sorts[to] != world.Unknown {
			continue
		}
		on := func(w int64, origin uint64) {
			steps := append(slices.Clone(p.steps), hop{to, w, origin})
			o.extend(simple{append(slices.Clone(p.vertices), to), steps, p.weight + w}, via, all)
		}
		w, edge := o.m.edges[[2]world.V{at, to}]
		if edge && (via == world.Physical || len(p.vertices) == 1 && o.m.sorts[at] == world.Physical) {
			on(w, uint64(1+at+to))
		}
		if c := o.m.channels[[2]world.V{at, to}]; c.open && via == world.Informational {
			on(c.weight, uint64(100+at+to))
		}
	}
}

// least is the least weight of the paths to v that are as wanted.
func least(paths []simple, v world.V, wanted func(simple) bool) (int64, bool) {
	best, ok := int64(0), false
	for _, p := range paths {
		if p.end() == v && (!ok || p.weight < best) && wanted(p) {
			best, ok = p.weight, true
		}
	}
	return best, ok
}

func anyPath(simple) bool { return true }

// before tells of a path whether f holds at every vertex before its end; throughout, at
// the end too.
func (o *oracle) before(f syntax.Formula, negated bool) func(simple) bool {
	holds := o.table(f, negated)
	return func(p simple) bool {
		return !slices.ContainsFunc(p.vertices[:len(p.vertices)-1], func(v world.V) bool { return !holds[v] })
	}
}

func (o *oracle) throughout(f syntax.Formula, negated bool) func(simple) bool {
	holds := o.table(f, negated)
	return func(p simple) bool {
		return !slices.ContainsFunc(p.vertices, func(v world.V) bool { return !holds[v] })
	}
}

// table is the value of a formula at all vertices.
func (o *oracle) table(f syntax.Formula, negated bool) []bool {
	key := tableKey{f, negated}
	if holds, ok := o.tables[key]; ok && o.quant == 0 {
		return holds
	}
	holds := make([]bool, len(o.m.names))
	for v := range holds {
		holds[v] = o.holds(f, world.V(v), negated)
	}
	if o.quant == 0 {
		o.tables[key] = holds
	}
	return holds
}

func (o *oracle) holds(f syntax.Formula, v world.V, negated bool) bool {
	unknown, guess := o.m.sorts[v] == world.Unknown, o.unsafe != negated
	switch f := f.(type) {
	case *syntax.Bool:
		return f.Value
	case *syntax.Label:
		if unknown {
			return guess
		}
		return o.m.labels[v][f.Name]
	case *syntax.Cmp:
		return f.Op.Holds(schema.Compare(schema.StringValue(o.term(f.Left, v)), schema.StringValue(o.term(f.Right, v))))
	case *syntax.Pred:
		if unknown && local(f) {
			return guess
		}
		return o.pred(f, v, negated)
	case *syntax.Not:
		return !o.holds(f.F, v, !negated)
	case *syntax.And:
		return o.holds(f.Left, v, negated) && o.holds(f.Right, v, negated)
	case *syntax.Or:
		return o.holds(f.Left, v, negated) || o.holds(f.Right, v, negated)
	case *syntax.Exists:
		if unknown && local(f) {
			return guess
		}
		return o.exists(f.Vars, f.F, v, negated)
	default:
		if unknown {
			return guess
		}
		return o.operator(f, v, negated)
	}
}

func (o *oracle) operator(f syntax.Formula, v world.V, negated bool) bool {
	switch f := f.(type) {
	case *syntax.Somewhere:
		return o.somewhere(f.D, v, o.table(f.F, negated))
	case *syntax.Everywhere:
		not := slices.Clone(o.table(f.F, negated))
		for i := range not {
			not[i] = !not[i]
		}
		return !o.somewhere(f.D, v, not)
	case *syntax.Reach:
		right := o.table(f.Right, negated)
		return o.restricted(f.D, v, o.before(f.Left, negated), o.before(f.Left, !negated), func(u world.V) bool { return right[u] })
	case *syntax.Escape:
		if f.Restricted {
			return o.restricted(f.D, v, o.throughout(f.F, negated), o.throughout(f.F, !negated), func(world.V) bool { return true })
		}
		return o.escape(f, v, negated)
	case *syntax.Surround:
		return o.surround(f, v, negated)
	default:
	}
	panic("not a location formula: " + f.String())
}

func (o *oracle) somewhere(d syntax.Distance, v world.V, holds []bool) bool {
	paths := o.paths(v, d)
	for u, h := range holds {
		if n, ok := least(paths, world.V(u), anyPath); h && ok && d.Contains(n) {
			return true
		}
	}
	return false
}

// restricted: to some vertex leads an allowed path of at most the upper bound, and none that
// is below the lower bound, which is read under a negation.
func (o *oracle) restricted(d syntax.Distance, v world.V, allowed, nearer func(simple) bool, target func(world.V) bool) bool {
	paths := o.paths(v, d)
	for u := range world.V(len(o.m.names)) {
		if !target(u) {
			continue
		}
		n, ok := least(paths, u, allowed)
		short, near := least(paths, u, nearer)
		if ok && (d.Unbounded || n <= d.Hi) && (!near || short >= d.Lo) && (d.Unbounded || d.Lo <= d.Hi) {
			return true
		}
	}
	return false
}

func (o *oracle) escape(f *syntax.Escape, v world.V, negated bool) bool {
	paths, along := o.paths(v, f.D), o.throughout(f.F, negated)
	for _, p := range paths {
		if n, ok := least(paths, p.end(), anyPath); ok && f.D.Contains(n) && along(p) {
			return true
		}
	}
	return false
}

func (o *oracle) surround(f *syntax.Surround, v world.V, negated bool) bool {
	left, right := o.table(f.Left, negated), o.table(f.Right, negated)
	paths, inside, reached := o.paths(v, f.D), o.before(f.Left, negated), o.before(f.Left, !negated)
	if !left[v] {
		return false
	}
	for _, p := range paths {
		if !reached(p) {
			continue
		}
		m := p.end()
		if n, ok := least(paths, m, inside); !ok || !f.D.Unbounded && n > f.D.Hi {
			return false
		}
		if !left[m] && (!right[m] || p.weight < f.D.Lo) {
			return false
		}
	}
	return true
}

func (o *oracle) term(t syntax.Term, v world.V) string {
	switch t := t.(type) {
	case syntax.Here:
		return o.m.names[v]
	case syntax.Var:
		return o.env[t.Name]
	case syntax.Const:
		return t.Value.Str
	default:
	}
	panic("no such term in location formulas")
}

func (o *oracle) pred(f *syntax.Pred, v world.V, negated bool) bool {
	var args []string
	for _, t := range f.Args {
		args = append(args, o.term(t, v))
	}
	if u, ok := o.m.Vertex(args[0]); ok && f.Name == "label" {
		return o.m.labels[u][args[1]] || o.m.sorts[u] == world.Unknown && o.unsafe != negated
	}
	switch o.m.tables[f.Name][tupleKey(args...)] {
	case verdict.F:
		return true
	case verdict.Fp:
		return o.which == allTuples || negated == (o.which == negatedTuples)
	case verdict.T, verdict.Tp: // absent
	}
	return false
}

// exists tries all names there are.
func (o *oracle) exists(vars []syntax.Var, f syntax.Formula, v world.V, negated bool) bool {
	if len(vars) == 0 {
		return o.holds(f, v, negated)
	}
	shadowed := o.env[vars[0].Name]
	o.quant++
	defer func() { o.env[vars[0].Name] = shadowed; o.quant-- }()
	for _, name := range append([]string{"a", "b", "p", "q", "r"}, o.m.names...) {
		o.env[vars[0].Name] = name
		if o.exists(vars[1:], f, v, negated) {
			return true
		}
	}
	return false
}
