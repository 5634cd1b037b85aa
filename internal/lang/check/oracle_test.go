package check

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/aspis-rv/aspis/internal/lang/syntax"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// This file is the definition of the language, executed: a formula is evaluated at
// a time point of a finite trace under a valuation, with quantifiers over a finite
// domain. It knows nothing of the checker.

// point is a time point.
type point struct {
	ts     int64
	facts  map[string]bool // printed ground atoms
	before map[string]bool // the world before the change that is proposed here, for NEW
}

type trace []point

type valuation map[string]schema.Value

func (v valuation) with(name string, x schema.Value) valuation {
	w := valuation{name: x}
	for k, y := range v {
		if k != name {
			w[k] = y
		}
	}
	return w
}

func (v valuation) term(t syntax.Term) schema.Value {
	switch t := t.(type) {
	case syntax.Var:
		x, ok := v[t.Name]
		if !ok {
			panic("no value for " + t.Name)
		}
		return x
	case syntax.Const:
		return t.Value
	case syntax.Here:
		return v[here]
	case syntax.Arith:
		return calculated(t.Op, v.term(t.Left), v.term(t.Right))
	case syntax.Neg:
		return calculated(syntax.Sub, schema.Value{Kind: v.term(t.T).Kind}, v.term(t.T))
	case syntax.Conv:
		return convertedValue(t.Op, v.term(t.T))
	}
	panic("unknown term")
}

func calculated(op syntax.ArithOp, l, r schema.Value) schema.Value {
	if l.Kind == schema.KindFloat {
		return schema.FloatValue(map[syntax.ArithOp]float64{
			syntax.Add: l.Float + r.Float, syntax.Sub: l.Float - r.Float, syntax.Mul: l.Float * r.Float, syntax.Div: l.Float / r.Float,
		}[op])
	}
	switch op {
	case syntax.Add:
		return schema.IntValue(l.Int + r.Int)
	case syntax.Sub:
		return schema.IntValue(l.Int - r.Int)
	case syntax.Mul:
		return schema.IntValue(l.Int * r.Int)
	case syntax.Div:
		return schema.IntValue(l.Int / r.Int)
	case syntax.Mod:
		return schema.IntValue(l.Int % r.Int)
	}
	panic("unknown operation")
}

// convertedValue knows the conversions that the generator makes.
func convertedValue(op syntax.ConvOp, x schema.Value) schema.Value {
	switch op {
	case syntax.IntToFloat:
		return schema.FloatValue(float64(x.Int))
	case syntax.IntToString:
		return schema.StringValue(strconv.FormatInt(x.Int, 10))
	case syntax.FloatToInt, syntax.StringToInt, syntax.FloatToString, syntax.StringToFloat:
	}
	panic("no such conversion here")
}

// model evaluates formulas over a trace and a domain.
type model struct {
	trace  trace
	lets   *modelLet
	before bool // the world before the change
}

// modelLet is a relation that a LET defines.
type modelLet struct {
	let   *syntax.Let
	outer *modelLet
}

// domain lists the values that a variable may have. The first letter of its name says
// of which type it is; a wildcard may have any.
func domain(name string) []schema.Value {
	ints := []schema.Value{schema.IntValue(0), schema.IntValue(1), schema.IntValue(2)}
	switch name[0] {
	case 's', 't':
		return texts()
	case 'f':
		return floats()
	case '_':
		return slices.Concat(ints, texts(), floats())
	}
	return ints
}

func texts() []schema.Value {
	return []schema.Value{schema.StringValue("a"), schema.StringValue("ab"), schema.StringValue("1")}
}

func floats() []schema.Value {
	return []schema.Value{schema.FloatValue(0.5), schema.FloatValue(1)}
}

// holds tells whether the trace satisfies f at time point i.
func (m model) holds(f syntax.Formula, i int, v valuation) bool {
	switch f := f.(type) {
	case *syntax.Bool:
		return f.Value
	case *syntax.Pred:
		return m.pred(f, i, v)
	case *syntax.Cmp:
		return f.Op.Holds(schema.Compare(v.term(f.Left), v.term(f.Right)))
	case *syntax.Not:
		return !m.holds(f.F, i, v)
	case *syntax.And:
		return m.holds(f.Left, i, v) && m.holds(f.Right, i, v)
	case *syntax.Or:
		return m.holds(f.Left, i, v) || m.holds(f.Right, i, v)
	case *syntax.Implies:
		return !m.holds(f.Left, i, v) || m.holds(f.Right, i, v)
	case *syntax.Equiv:
		return m.holds(f.Left, i, v) == m.holds(f.Right, i, v)
	case *syntax.Exists:
		return m.some(f.Vars, f.F, i, v, true)
	case *syntax.Forall:
		return !m.some(f.Vars, f.F, i, v, false)
	case *syntax.Prev:
		return i > 0 && f.I.Contains(m.trace[i].ts-m.trace[i-1].ts) && m.holds(f.F, i-1, v)
	case *syntax.Once:
		for j := range i + 1 {
			if f.I.Contains(m.trace[i].ts-m.trace[j].ts) && m.holds(f.F, j, v) {
				return true
			}
		}
		return false
	case *syntax.Historically:
		for j := range i + 1 {
			if f.I.Contains(m.trace[i].ts-m.trace[j].ts) && !m.holds(f.F, j, v) {
				return false
			}
		}
		return true
	case *syntax.Match:
		return m.match(f, v)
	case *syntax.Agg:
		return m.agg(f, i, v)
	case *syntax.Let:
		m.lets = &modelLet{f, m.lets}
		return m.holds(f.Body, i, v)
	case *syntax.New:
		was := m
		was.before = true
		return m.holds(f.F, i, v) && !was.holds(f.F, i, v)
	case *syntax.Since:
		return m.since(f, i, v)
	case *syntax.Next:
		return i+1 < len(m.trace) && f.I.Contains(m.trace[i+1].ts-m.trace[i].ts) && m.holds(f.F, i+1, v)
	case *syntax.Eventually:
		return m.later(f.I, &syntax.Bool{Value: true}, f.F, i, v)
	case *syntax.Always:
		return !m.later(f.I, &syntax.Bool{Value: true}, &syntax.Not{F: f.F}, i, v)
	case *syntax.Until:
		return m.later(f.I, f.Left, f.Right, i, v)
	case *syntax.At:
		return m.holds(f.F, i, v.with(here, v.term(f.Loc)))
	case *syntax.Label, *syntax.Somewhere, *syntax.Everywhere, *syntax.Escape, *syntax.Reach, *syntax.Surround:
		return m.look(f, i, v)
	}
	panic(fmt.Sprintf("unknown formula %T", f))
}

// later tells whether a formula holds from i on at a time point in the interval, and
// another one at every time point before that. Nothing follows the end of the trace.
func (m model) later(in syntax.Interval, until, f syntax.Formula, i int, v valuation) bool {
	for j := i; j < len(m.trace); j++ {
		if in.Contains(m.trace[j].ts-m.trace[i].ts) && m.holds(f, j, v) {
			return true
		}
		if !m.holds(until, j, v) {
			return false
		}
	}
	return false
}

// match tests strings. Wildcards among the groups match anything.
func (m model) match(f *syntax.Match, v valuation) bool {
	left := v.term(f.Left).Str
	if f.Op == syntax.Substring {
		return strings.Contains(v.term(f.Right).Str, left)
	}
	found := regexp.MustCompile(f.Pattern).FindStringSubmatch(left)
	for k, t := range f.Groups {
		if found == nil {
			break
		}
		w, ok := t.(syntax.Var)
		if _, bound := v[w.Name]; ok && wildcard(w.Name) && !bound {
			continue
		}
		if v.term(t).Str != found[k+1] {
			return false
		}
	}
	return found != nil
}

// agg evaluates an aggregation for given values of its result and its groups.
func (m model) agg(f *syntax.Agg, i int, v valuation) bool {
	var own []string
	for _, name := range syntax.FreeVars(f.F) {
		if !strings.Contains(name, "#") && !slices.ContainsFunc(f.Groups, named(name)) {
			own = append(own, name)
		}
	}
	var values []schema.Value
	var rec func(v valuation, rest []string)
	rec = func(v valuation, rest []string) {
		if len(rest) > 0 {
			for _, x := range domain(rest[0]) {
				rec(v.with(rest[0], x), rest[1:])
			}
		} else if m.holds(f.F, i, v) {
			values = append(values, v[f.Over.Name])
		}
	}
	rec(v, own)
	if len(values) == 0 && (len(f.Groups) > 0 || f.Op == syntax.Min || f.Op == syntax.Max) {
		return false
	}
	result := v[f.Result.Name]
	return aggregate(f.Op, result.Kind, values) == result
}

// aggregate computes an aggregation of values; of none where that is defined.
func aggregate(op syntax.AggOp, kind schema.ValueKind, values []schema.Value) schema.Value {
	slices.SortFunc(values, schema.Compare)
	sum := 0.0
	for _, x := range values {
		sum += float64(x.Int) + x.Float
	}
	n := len(values)
	switch op {
	case syntax.Count:
		return schema.IntValue(int64(n))
	case syntax.Min:
		return values[0]
	case syntax.Max:
		return values[n-1]
	case syntax.Average:
		sum /= float64(max(n, 1))
	case syntax.Median:
		if sum = 0; n > 0 {
			l, r := values[(n-1)/2], values[n/2]
			sum = (float64(l.Int) + l.Float + float64(r.Int) + r.Float) / 2
		}
	case syntax.Sum:
		if kind == schema.KindInt {
			return schema.IntValue(int64(sum))
		}
	}
	return schema.FloatValue(sum)
}

func (m model) pred(f *syntax.Pred, i int, v valuation) bool {
	args := make([]schema.Value, len(f.Args))
	for k, t := range f.Args {
		if w, ok := t.(syntax.Var); ok && wildcard(w.Name) {
			if _, bound := v[w.Name]; !bound { // a wildcard of the source
				return slices.ContainsFunc(domain(w.Name), func(x schema.Value) bool { return m.pred(f, i, v.with(w.Name, x)) })
			}
		}
		args[k] = v.term(t)
	}
	for l := m.lets; l != nil; l = l.outer {
		if l.let.Name == f.Name {
			m.lets = l.outer
			return m.defined(l.let, args, i)
		}
	}
	return m.fact(i, f.Name, args...)
}

// defined evaluates the definition of a LET. A value of another type, which only a
// wildcard tries, is none.
func (m model) defined(let *syntax.Let, args []schema.Value, i int) bool {
	v := valuation{}
	for k, x := range args {
		if domain(let.Params[k].Name)[0].Kind != x.Kind {
			return false
		}
		v[let.Params[k].Name] = x
	}
	return m.holds(let.Def, i, v)
}

// some tells whether some values of the variables give f the wanted truth value.
func (m model) some(vars []syntax.Var, f syntax.Formula, i int, v valuation, want bool) bool {
	if len(vars) == 0 {
		return m.holds(f, i, v) == want
	}
	for _, x := range domain(vars[0].Name) {
		if m.some(vars[1:], f, i, v.with(vars[0].Name, x), want) {
			return true
		}
	}
	return false
}

func (m model) since(f *syntax.Since, i int, v valuation) bool {
	for j := i; j >= 0; j-- {
		if f.I.Contains(m.trace[i].ts-m.trace[j].ts) && m.holds(f.Right, j, v) {
			return true
		}
		if !m.holds(f.Left, j, v) {
			return false
		}
	}
	return false
}

// satisfying lists, printed, the valuations of the columns that satisfy f at i.
func (m model) satisfying(f syntax.Formula, i int, free []Column) []string {
	var out []string
	var rec func(v valuation, rest []Column, printed string)
	rec = func(v valuation, rest []Column, printed string) {
		if len(rest) == 0 {
			if m.holds(f, i, v) {
				out = append(out, "("+printed+")")
			}
			return
		}
		for _, x := range domain(rest[0].Name) {
			rec(v.with(rest[0].Name, x), rest[1:], printed+" "+x.String())
		}
	}
	rec(valuation{}, free, "")
	return out
}

// generator makes random formulas and traces over a few relations. Variables x, y, z are
// ints, s and t strings, f floats.
type generator struct {
	*rand.Rand
	lets  []*syntax.Let // whose relations may be used
	world bool          // NEW, AT and relations of the world may be used
}

func testSignature() Signature {
	i, s, f := schema.KindInt, schema.KindString, schema.KindFloat
	return Signature{
		"a": {}, "b": {}, "c": {}, "p": {i}, "q": {i}, "r": {i, i}, "s": {s}, "f": {f},
		"vertex": {s}, "label": {s, s}, "holds": {s, s}, "lz": {s, s}, "opened": {s, s}, "load": {s, i},
	}
}

// testWorld is the set of the relations of the world in the signature, nil without one.
func testWorld(there bool) map[string]bool {
	if !there {
		return nil
	}
	return map[string]bool{"vertex": true, "label": true, "holds": true, "lz": true, "opened": true, "load": true}
}

func (g generator) trace() trace {
	var tr trace
	ts := int64(g.IntN(3))
	for range 1 + g.IntN(7) {
		tr = append(tr, g.point(ts))
		ts += int64(g.IntN(3)) // equal timestamps and gaps
	}
	return tr
}

func (g generator) point(ts int64) point { return point{ts, g.facts(), g.facts()} }

func (g generator) facts() map[string]bool {
	facts := map[string]bool{}
	g.tuples(facts)
	for range g.IntN(7) {
		switch g.IntN(7) {
		case 0:
			facts["a()"] = true
		case 1:
			facts["b()"] = true
		case 2:
			facts[fmt.Sprintf("p(%d)", g.IntN(3))] = true
		case 3:
			facts[fmt.Sprintf("q(%d)", g.IntN(3))] = true
		case 4:
			facts[fmt.Sprintf("r(%d,%d)", g.IntN(3), g.IntN(3))] = true
		case 5:
			facts["s("+g.among("s").String()+")"] = true
		case 6:
			facts["f("+g.among("f").String()+")"] = true
		}
	}
	return facts
}

// among is a value that a variable may have.
func (g generator) among(name string) schema.Value {
	d := domain(name)
	return d[g.IntN(len(d))]
}

func (g generator) variable() syntax.Var {
	return syntax.Var{Name: string("xyz"[g.IntN(3)])}
}

// variableLike is a variable of the type of another one.
func (g generator) variableLike(name string) syntax.Var {
	switch name[0] {
	case 's', 't':
		return syntax.Var{Name: string("st"[g.IntN(2)])}
	case 'f':
		return syntax.Var{Name: "f"}
	}
	return g.variable()
}

func (g generator) termLike(name string) syntax.Term {
	if g.IntN(5) == 0 {
		return syntax.Const{Value: g.among(name)}
	}
	return g.variableLike(name)
}

func (g generator) term() syntax.Term { return g.termLike("x") }

func (g generator) argument() syntax.Term { return g.argumentLike("x") }

func (g generator) argumentLike(name string) syntax.Term {
	if g.IntN(6) == 0 {
		return syntax.Var{Name: fmt.Sprintf("_#%d", g.IntN(1000))}
	}
	return g.termLike(name)
}

// expression is an int, often calculated. Nothing fails: divisors are constants.
func (g generator) expression() syntax.Term {
	switch g.IntN(8) {
	case 0, 1:
		return syntax.Arith{Op: syntax.ArithOp(g.IntN(3)), Left: g.term(), Right: g.term()}
	case 2:
		op := syntax.Div + syntax.ArithOp(g.IntN(2))
		return syntax.Arith{Op: op, Left: g.term(), Right: syntax.Const{Value: schema.IntValue(int64(1 + g.IntN(2)))}}
	case 3:
		return syntax.Neg{T: g.variable()}
	}
	return g.term()
}

func (g generator) interval() syntax.Interval {
	if g.IntN(3) == 0 {
		return syntax.AnyTime()
	}
	lo := int64(g.IntN(3))
	return syntax.Interval{Lo: lo, Hi: lo + int64(g.IntN(4)), Unbounded: g.IntN(3) == 0}
}

func (g generator) bounded() syntax.Interval {
	lo := int64(g.IntN(3))
	return syntax.Interval{Lo: lo, Hi: lo + int64(g.IntN(4))}
}

func (g generator) atom() syntax.Formula {
	if len(g.lets) > 0 && g.IntN(4) == 0 {
		return g.call()
	}
	switch g.IntN(14) {
	case 0:
		return &syntax.Bool{Value: g.IntN(2) == 0}
	case 1, 2:
		return &syntax.Cmp{Op: syntax.CmpOp(g.IntN(5)), Left: g.expression(), Right: g.expression()}
	case 3:
		return &syntax.Pred{Name: string("ab"[g.IntN(2)])}
	case 4, 5, 6:
		return &syntax.Pred{Name: "r", Args: []syntax.Term{g.argument(), g.argument()}}
	case 7:
		return g.text()
	case 8:
		if g.IntN(2) == 0 {
			return &syntax.Pred{Name: "f", Args: []syntax.Term{g.argumentLike("f")}}
		}
		return &syntax.Cmp{Op: syntax.CmpOp(g.IntN(5)), Left: g.termLike("f"), Right: syntax.Conv{Op: syntax.IntToFloat, T: g.term()}}
	}
	return &syntax.Pred{Name: string("pq"[g.IntN(2)]), Args: []syntax.Term{g.argument()}}
}

// call uses a relation that a LET defines.
func (g generator) call() syntax.Formula {
	let := g.lets[g.IntN(len(g.lets))]
	p := &syntax.Pred{Name: let.Name}
	for _, v := range let.Params {
		p.Args = append(p.Args, g.argumentLike(v.Name))
	}
	return p
}

// text is an atom about strings.
func (g generator) text() syntax.Formula {
	switch g.IntN(6) {
	case 0:
		return &syntax.Match{Op: syntax.Substring, Left: g.termLike("s"), Right: g.termLike("s")}
	case 1:
		return &syntax.Match{Op: syntax.Matches, Left: g.termLike("s"), Right: syntax.Const{Value: schema.StringValue("b$")}, Pattern: "b$"}
	case 2:
		const pattern = "^((a).*)$" // what the groups match is in the domain
		return &syntax.Match{
			Op: syntax.Matches, Left: g.termLike("s"), Right: syntax.Const{Value: schema.StringValue(`^\(\(a\).*\)$`)}, Pattern: pattern,
			Groups: []syntax.Term{g.argumentLike("s"), g.argumentLike("s")},
		}
	case 3:
		return &syntax.Cmp{Op: syntax.Eq, Left: g.termLike("s"), Right: syntax.Conv{Op: syntax.IntToString, T: g.term()}}
	}
	return &syntax.Pred{Name: "s", Args: []syntax.Term{g.argumentLike("s")}}
}

// formula makes a formula of at most the given height.
func (g generator) formula(height int) syntax.Formula {
	if height <= 1 || g.IntN(8) == 0 {
		return g.atom()
	}
	sub := func() syntax.Formula { return g.formula(height - 1) }
	switch g.IntN(24) {
	case 0, 1:
		return &syntax.Not{F: sub()}
	case 2:
		return &syntax.Or{Left: sub(), Right: sub()}
	case 3:
		return &syntax.Implies{Left: sub(), Right: sub()}
	case 4:
		return &syntax.Equiv{Left: sub(), Right: sub()}
	case 5, 6:
		return &syntax.Exists{Vars: []syntax.Var{g.variableLike(string("xxxs"[g.IntN(4)]))}, F: sub()}
	case 7:
		return &syntax.Forall{Vars: []syntax.Var{g.variable()}, F: sub()}
	case 8, 9, 10, 11, 12:
		return g.temporal(sub)
	case 13:
		return g.agg(sub())
	case 14:
		return g.let(sub(), height)
	case 15:
		if g.world {
			return g.aboutWorld(height)
		}
	case 16, 17:
		return g.guarded()
	}
	return &syntax.And{Left: sub(), Right: sub()} // often: conjunctions make formulas safe
}

// aboutWorld makes a formula about the world, or about a change of it.
func (g generator) aboutWorld(height int) syntax.Formula {
	f := g.state(height - 1)
	if g.IntN(2) == 0 {
		return &syntax.New{F: f}
	}
	return f
}

func (g generator) temporal(sub func() syntax.Formula) syntax.Formula {
	switch g.IntN(8) {
	case 0:
		return &syntax.Prev{I: g.interval(), F: sub()}
	case 1:
		return &syntax.Once{I: g.interval(), F: sub()}
	case 2:
		return &syntax.Historically{I: g.interval(), F: sub()}
	case 3:
		return &syntax.Next{I: g.interval(), F: sub()}
	case 4:
		return &syntax.Eventually{I: g.bounded(), F: sub()}
	case 5:
		return &syntax.Always{I: g.bounded(), F: sub()}
	case 6:
		return &syntax.Until{I: g.bounded(), Left: sub(), Right: sub()}
	}
	return &syntax.Since{I: g.interval(), Left: sub(), Right: sub()}
}

// guarded makes what a guard must reach.
func (g generator) guarded() syntax.Formula {
	x := g.variable()
	guard := syntax.Formula(&syntax.Pred{Name: "p", Args: []syntax.Term{x}})
	if g.IntN(2) == 0 {
		guard = &syntax.Pred{Name: "r", Args: []syntax.Term{x, g.variable()}}
	}
	inner := syntax.Formula(&syntax.Not{F: &syntax.Pred{Name: "q", Args: []syntax.Term{x}}})
	if g.IntN(2) == 0 {
		inner = &syntax.Or{Left: inner, Right: g.atom()}
	}
	f := &syntax.And{Left: guard}
	switch g.IntN(7) {
	case 0:
		f.Right = &syntax.Always{I: g.bounded(), F: inner}
	case 1:
		f.Right = &syntax.Eventually{I: g.bounded(), F: inner}
	case 2:
		f.Right = &syntax.Next{I: g.interval(), F: &syntax.Eventually{I: g.bounded(), F: inner}}
	case 3:
		f.Right = &syntax.Until{I: g.bounded(), Left: g.atom(), Right: inner}
	case 4: // the right operand guards the left one
		return &syntax.Until{I: g.bounded(), Left: inner, Right: guard}
	case 5:
		f.Right = g.guardedAgg(x, inner)
	default:
		f.Right = &syntax.Once{I: g.interval(), F: inner}
	}
	return f
}

// guardedAgg aggregates, for each x, values for which a formula holds that does not
// give x its values.
func (g generator) guardedAgg(x syntax.Var, f syntax.Formula) syntax.Formula {
	over, result := g.variable(), g.variable()
	if over.Name == x.Name || result.Name == x.Name {
		return f
	}
	from := &syntax.Pred{Name: "r", Args: []syntax.Term{over, g.variable()}}
	return &syntax.Agg{
		Result: result, Op: syntax.AggOp(g.IntN(4)), Over: over, Groups: []syntax.Var{x},
		F: &syntax.And{Left: from, Right: f},
	}
}

// agg aggregates a formula if it has a variable.
func (g generator) agg(f syntax.Formula) syntax.Formula {
	free := slices.DeleteFunc(syntax.FreeVars(f), wildcard)
	if len(free) == 0 {
		return f
	}
	a := &syntax.Agg{F: f, Op: syntax.AggOp(g.IntN(6)), Over: syntax.Var{Name: free[g.IntN(len(free))]}}
	text := domain(a.Over.Name)[0].Kind == schema.KindString
	if text && a.Op != syntax.Min && a.Op != syntax.Max {
		a.Op = syntax.Count
	}
	switch a.Op {
	case syntax.Count:
		a.Result = g.variable()
	case syntax.Average, syntax.Median:
		a.Result = syntax.Var{Name: "f"}
	case syntax.Sum, syntax.Min, syntax.Max:
		a.Result = g.variableLike(a.Over.Name)
	}
	for _, name := range free {
		if name != a.Result.Name && g.IntN(2) == 0 {
			a.Groups = append(a.Groups, syntax.Var{Name: name})
		}
	}
	return a
}

// let defines a relation by f. Its name may hide one of the signature.
func (g generator) let(f syntax.Formula, height int) syntax.Formula {
	let := &syntax.Let{Name: []string{"u", "v", "p"}[g.IntN(3)], Def: f}
	for _, name := range slices.DeleteFunc(syntax.FreeVars(f), wildcard) {
		let.Params = append(let.Params, syntax.Var{Name: name})
	}
	if let.Name == "p" && (len(let.Params) != 1 || domain(let.Params[0].Name)[0].Kind != schema.KindInt) {
		let.Name = "w" // p is used as it is elsewhere
	}
	g.lets = slices.DeleteFunc(slices.Clone(g.lets), func(l *syntax.Let) bool { return l.Name == let.Name })
	g.lets = append(g.lets, let)
	let.Body = &syntax.And{Left: g.call(), Right: g.formula(height - 1)}
	return let
}

// shuffled swaps the operands of conjunctions at random.
func (g generator) shuffled(f syntax.Formula) syntax.Formula {
	h := rebuilt(f, g.shuffled)
	if and, ok := h.(*syntax.And); ok && g.IntN(2) == 0 {
		return &syntax.And{Left: and.Right, Right: and.Left}
	}
	return h
}
