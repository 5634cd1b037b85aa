package monitor_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/aspis-rv/aspis/internal/lang/check"
	"github.com/aspis-rv/aspis/internal/lang/syntax"
	"github.com/aspis-rv/aspis/internal/mfotl/naive"
	"github.com/aspis-rv/aspis/internal/world"
	"github.com/aspis-rv/aspis/internal/world/spatial"
	"github.com/aspis-rv/aspis/pkg/aspects"
	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// oracle judges a formula by its definition: the relations of the worlds before and after
// each event are written out as tables, NEW is what holds in the one and not in the other,
// and package naive tries all assignments.
type oracle struct {
	spec   *world.Spec
	w      *world.World
	tests  []*test
	judged judged
}

// judged is the event judged last with its time points, by test.
type judged struct {
	after  *world.World
	points []naive.TimePoint
}

// test is a formula with what the oracle makes of it.
type test struct {
	checked *check.Checked
	defined syntax.Formula // the source with tables for the world
	news    []newTable
	ats     []atTable
	trace   []naive.TimePoint // adopted
}

// newTable is a NEW: its table is named name and has a column for each free variable.
type newTable struct {
	name string
	f    syntax.Formula // over tables
	free []check.Column
}

// atTable is an AT in one sense. Its columns are the location and the variables.
type atTable struct {
	name  string
	f     *spatial.Formula
	sense world.Sense
}

func newOracle(spec *world.Spec, formulas []*check.Checked) *oracle {
	w, err := world.New(spec)
	if err != nil {
		panic(err)
	}
	o := &oracle{spec: spec, w: w}
	for _, f := range formulas {
		t := &test{checked: f}
		t.defined = o.define(t, f.Source, world.Unsafe)
		o.tests = append(o.tests, t)
	}
	return o
}

// define replaces what reads the world by tables.
func (o *oracle) define(t *test, f syntax.Formula, sense world.Sense) syntax.Formula {
	same := func(g syntax.Formula) syntax.Formula { return o.define(t, g, sense) }
	flip := func(g syntax.Formula) syntax.Formula { return o.define(t, g, world.Unsafe-sense) }
	switch f := f.(type) {
	case *syntax.Pred:
		if _, ok := o.spec.Lookup(f.Name); !ok {
			return f
		}
		name := f.Name
		if (name == "reaches" || name == "connects") && overDomains(f.Args[1]) {
			name += " domain"
		}
		return &syntax.Pred{Name: fmt.Sprint(name, " ", sense), Args: f.Args}
	case *syntax.Not:
		return &syntax.Not{F: flip(f.F)}
	case *syntax.And:
		return &syntax.And{Left: same(f.Left), Right: same(f.Right)}
	case *syntax.Or:
		return &syntax.Or{Left: same(f.Left), Right: same(f.Right)}
	case *syntax.Implies:
		return &syntax.Implies{Left: flip(f.Left), Right: same(f.Right)}
	case *syntax.Exists:
		return &syntax.Exists{Vars: f.Vars, F: same(f.F)}
	case *syntax.Forall:
		return &syntax.Forall{Vars: f.Vars, F: same(f.F)}
	case *syntax.Once:
		return &syntax.Once{I: f.I, F: same(f.F)}
	case *syntax.Historically:
		return &syntax.Historically{I: f.I, F: same(f.F)}
	case *syntax.Since:
		return &syntax.Since{I: f.I, Left: same(f.Left), Right: same(f.Right)}
	case *syntax.Prev:
		return &syntax.Prev{I: f.I, F: same(f.F)}
	case *syntax.New:
		n := newTable{name: fmt.Sprint("new ", len(t.news)), f: same(f.F)}
		p := &syntax.Pred{Name: n.name}
		for _, v := range syntax.FreeVars(f.F) {
			n.free = append(n.free, check.Column{Name: v, Kind: schema.KindString})
			p.Args = append(p.Args, syntax.Var{Name: v})
		}
		t.news = append(t.news, n)
		return p
	case *syntax.At:
		return o.at(t, f, sense)
	default:
		return f
	}
}

// overDomains tells, by the name that the formulas of these tests give it, whether a
// variable ranges over release domains.
func overDomains(t syntax.Term) bool {
	v, ok := t.(syntax.Var)
	return ok && strings.HasPrefix(v.Name, "d") || !ok && strings.HasPrefix(t.(syntax.Const).Value.Str, "D")
}

func (o *oracle) at(t *test, f *syntax.At, sense world.Sense) syntax.Formula {
	// The checked core has the location formula in core form.
	var core *syntax.At
	syntax.Walk(t.checked.Core, func(g syntax.Formula) bool {
		if at, ok := g.(*syntax.At); ok && core == nil && at.Pos == f.Pos {
			core = at
		}
		return core == nil
	})
	if core == nil {
		panic(fmt.Sprintf("no core of %s", f))
	}
	compiled, err := spatial.Compile(core, o.spec)
	if err != nil {
		panic(err)
	}
	a := atTable{name: fmt.Sprint("at ", len(t.ats)), f: compiled, sense: sense}
	t.ats = append(t.ats, a)
	p := &syntax.Pred{Name: a.name, Args: []syntax.Term{f.Loc}}
	for _, v := range compiled.Vars() {
		p.Args = append(p.Args, syntax.Var{Name: v})
	}
	return p
}

// after is the world after in.
func (o *oracle) after(in *aspects.Input) *world.World {
	w := settled(o.w, in.Ended, world.Origin{Offset: in.Offset + 1})
	if len(in.Edits) > 0 {
		w, _ = w.Apply(in.Edits, world.Origin{Offset: in.Offset + 1, Call: in.Call})
	}
	return w
}

func settled(w *world.World, end aspects.Ended, from world.Origin) *world.World {
	if end.Call == "" {
		return w
	}
	switch end.Outcome {
	case aspects.EffectsStay:
		return w.Keep(end.Call)
	case aspects.EffectsDoubt:
		return w.Doubt(end.Call)
	case aspects.EffectsGo:
		w, _ = w.Revert(end.Call, from)
	}
	return w
}

// point is in as a time point with the tables of one test.
func (o *oracle) point(t *test, in *aspects.Input, before, now map[string][]naive.Tuple) naive.TimePoint {
	before, now = t.reading(before), t.reading(now)
	o.ats(t, before, o.w, now, o.judged.after)
	for _, n := range t.news {
		now[n.name] = newly(n, now, before)
	}
	return naive.TimePoint{TS: in.Timestamp, Offset: in.Offset, Facts: in.Facts, Tables: now}
}

// reading selects the tables that a test reads.
func (t *test) reading(tables map[string][]naive.Tuple) map[string][]naive.Tuple {
	out := map[string][]naive.Tuple{}
	add := func(f syntax.Formula) bool {
		if p, ok := f.(*syntax.Pred); ok {
			if table, ok := tables[p.Name]; ok {
				out[p.Name] = table
			}
		}
		return true
	}
	syntax.Walk(t.defined, add)
	for _, n := range t.news {
		syntax.Walk(n.f, add)
	}
	return out
}

// newly is NEW by its definition.
func newly(n newTable, now, before map[string][]naive.Tuple) []naive.Tuple {
	var out []naive.Tuple
	for _, r := range naive.Rows(n.f, n.free, []naive.TimePoint{{Tables: now}}, 0) {
		of := map[string]schema.Value{}
		for i, c := range n.free {
			of[c.Name] = r.Values[i]
		}
		m, _ := naive.Judge(n.f, of, nil, []naive.TimePoint{{Tables: before}}, 0)
		if r.Mark > m {
			out = append(out, naive.Tuple{Args: r.Values, Mark: verdict.Meet(r.Mark, verdict.Negate(m))})
		}
	}
	return out
}

// relations are the tables of a world, by name and sense.
func (o *oracle) relations(w *world.World) map[string][]naive.Tuple {
	out := map[string][]naive.Tuple{}
	sig := o.spec.Signature()
	names := slices.Sorted(maps.Keys(sig))
	for _, sense := range []world.Sense{world.Safe, world.Unsafe} {
		add := func(name string, rel world.Rel) {
			key := fmt.Sprint(name, " ", sense)
			known := make([]schema.Value, len(sig[strings.TrimSuffix(name, " domain")]))
			out[key] = nil
			add := func(t world.Tuple) bool {
				out[key] = append(out[key], naive.Tuple{Args: slices.Clone(t.Args), Mark: t.Mark})
				return true
			}
			if !slices.Contains([]string{"label", "domain", "connects", "connects domain"}, name) {
				w.Scan(rel, known, 0, sense, add)
				return
			}
			for _, place := range places { // also those that the world has not met
				known[0] = schema.StringValue(place)
				w.Scan(rel, known, 1, sense, add)
			}
		}
		for _, name := range names {
			rel, _ := o.spec.Lookup(name)
			add(name, rel)
		}
		add("reaches domain", world.Rel{Kind: world.ReachesDomain})
		add("connects domain", world.Rel{Kind: world.ConnectsDomain})
	}
	return out
}

// ats writes AT out, for every name in the worlds.
func (o *oracle) ats(t *test, before map[string][]naive.Tuple, w *world.World, now map[string][]naive.Tuple, after *world.World) {
	var names []schema.Value
	for _, name := range slices.Concat(places, objects, domains) {
		names = append(names, schema.StringValue(name))
	}
	for _, a := range t.ats {
		fill := func(tables map[string][]naive.Tuple, w *world.World) {
			tables[a.name] = nil
			assignments(names, 1+len(a.f.Vars()), func(args []schema.Value) {
				if m := a.f.Value(w, args[0].Str, args[1:], a.sense); m != verdict.T {
					tables[a.name] = append(tables[a.name], naive.Tuple{Args: slices.Clone(args), Mark: m})
				}
			})
		}
		fill(before, w)
		fill(now, after)
	}
}

func assignments(values []schema.Value, n int, do func([]schema.Value)) {
	if n == 0 {
		do(nil)
		return
	}
	assignments(values, n-1, func(args []schema.Value) {
		for _, v := range values {
			do(append(slices.Clip(args), v))
		}
	})
}

// judge gives the rows of every formula at in, which must be adopted or refused next.
func (o *oracle) judge(in *aspects.Input) [][]schema.Row {
	o.judged = judged{after: o.after(in)}
	before, now := o.relations(o.w), o.relations(o.judged.after)
	var out [][]schema.Row
	for _, t := range o.tests {
		p := o.point(t, in, before, now)
		o.judged.points = append(o.judged.points, p)
		trace := append(slices.Clip(t.trace), p)
		out = append(out, naive.TypedRows(t.defined, t.checked.Free, t.checked.Kinds, trace, len(trace)-1))
	}
	return out
}

// adopt makes the event judged last the next time point.
func (o *oracle) adopt() {
	for i, t := range o.tests {
		t.trace = append(t.trace, o.judged.points[i])
	}
	o.w = o.judged.after
}

func (o *oracle) settle(end aspects.Ended) { o.w = settled(o.w, end, world.Origin{}) }
