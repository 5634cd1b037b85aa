package check

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/aspis-rv/aspis/internal/lang/syntax"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// This file is the definition of the language, executed: a formula is evaluated at
// a time point of a finite trace under a valuation, with quantifiers over a finite
// domain. It knows nothing of the checker.

// point is a time point.
type point struct {
	ts    int64
	facts map[string]bool // printed ground atoms
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
	}
	panic("unknown term")
}

// model evaluates formulas over a trace and a domain.
type model struct {
	trace  trace
	domain []schema.Value
}

// holds tells whether the trace satisfies f at time point i.
func (m model) holds(f syntax.Formula, i int, v valuation) bool {
	switch f := f.(type) {
	case *syntax.Bool:
		return f.Value
	case *syntax.Pred:
		return m.pred(f, i, v)
	case *syntax.Cmp:
		return Holds(f.Op, v.term(f.Left), v.term(f.Right))
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
	case *syntax.Since:
		return m.since(f, i, v)
	}
	panic(fmt.Sprintf("unknown formula %T", f))
}

func (m model) pred(f *syntax.Pred, i int, v valuation) bool {
	args := make([]string, len(f.Args))
	for k, t := range f.Args {
		if w, ok := t.(syntax.Var); ok && strings.HasPrefix(w.Name, "_") {
			if _, bound := v[w.Name]; !bound { // a wildcard of the source
				for _, x := range m.domain {
					if m.pred(f, i, v.with(w.Name, x)) {
						return true
					}
				}
				return false
			}
		}
		args[k] = v.term(t).String()
	}
	return m.trace[i].facts[f.Name+"("+strings.Join(args, ",")+")"]
}

// some tells whether some values of the variables give f the wanted truth value.
func (m model) some(vars []syntax.Var, f syntax.Formula, i int, v valuation, want bool) bool {
	if len(vars) == 0 {
		return m.holds(f, i, v) == want
	}
	for _, x := range m.domain {
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
		for _, x := range m.domain {
			rec(v.with(rest[0].Name, x), rest[1:], printed+" "+x.String())
		}
	}
	rec(valuation{}, free, "")
	return out
}

// generator makes random formulas and traces over a few relations on integers.
type generator struct {
	*rand.Rand
}

func testSignature() Signature {
	i, s, f := schema.KindInt, schema.KindString, schema.KindFloat
	return Signature{"a": {}, "b": {}, "c": {}, "p": {i}, "q": {i}, "r": {i, i}, "s": {s}, "f": {f}}
}

func (g generator) domain() []schema.Value {
	return []schema.Value{schema.IntValue(0), schema.IntValue(1), schema.IntValue(2)}
}

func (g generator) trace() trace {
	var tr trace
	ts := int64(g.IntN(3))
	for range 1 + g.IntN(7) {
		tr = append(tr, point{ts, g.facts()})
		ts += int64(g.IntN(3)) // equal timestamps and gaps
	}
	return tr
}

func (g generator) facts() map[string]bool {
	facts := map[string]bool{}
	for range g.IntN(6) {
		switch g.IntN(5) {
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
		}
	}
	return facts
}

func (g generator) variable() syntax.Var {
	return syntax.Var{Name: string("xyz"[g.IntN(3)])}
}

func (g generator) term() syntax.Term {
	if g.IntN(5) == 0 {
		return syntax.Const{Value: schema.IntValue(int64(g.IntN(3)))}
	}
	return g.variable()
}

func (g generator) argument() syntax.Term {
	if g.IntN(6) == 0 {
		return syntax.Var{Name: fmt.Sprintf("_#%d", g.IntN(1000))}
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

func (g generator) atom() syntax.Formula {
	switch g.IntN(10) {
	case 0:
		return &syntax.Bool{Value: g.IntN(2) == 0}
	case 1, 2:
		return &syntax.Cmp{Op: syntax.CmpOp(g.IntN(5)), Left: g.term(), Right: g.term()}
	case 3:
		return &syntax.Pred{Name: string("ab"[g.IntN(2)])}
	case 4, 5:
		return &syntax.Pred{Name: "r", Args: []syntax.Term{g.argument(), g.argument()}}
	}
	return &syntax.Pred{Name: string("pq"[g.IntN(2)]), Args: []syntax.Term{g.argument()}}
}

// formula makes a formula of at most the given height.
func (g generator) formula(height int) syntax.Formula {
	if height <= 1 || g.IntN(8) == 0 {
		return g.atom()
	}
	sub := func() syntax.Formula { return g.formula(height - 1) }
	switch g.IntN(16) {
	case 0, 1:
		return &syntax.Not{F: sub()}
	case 2:
		return &syntax.Or{Left: sub(), Right: sub()}
	case 3:
		return &syntax.Implies{Left: sub(), Right: sub()}
	case 4:
		return &syntax.Equiv{Left: sub(), Right: sub()}
	case 5, 6:
		return &syntax.Exists{Vars: []syntax.Var{g.variable()}, F: sub()}
	case 7:
		return &syntax.Forall{Vars: []syntax.Var{g.variable()}, F: sub()}
	case 8:
		return &syntax.Prev{I: g.interval(), F: sub()}
	case 9:
		return &syntax.Once{I: g.interval(), F: sub()}
	case 10:
		return &syntax.Historically{I: g.interval(), F: sub()}
	case 11:
		return &syntax.Since{I: g.interval(), Left: sub(), Right: sub()}
	}
	if g.IntN(10) == 0 { // what a guard must reach
		x := g.variable()
		inner := syntax.Formula(&syntax.Not{F: &syntax.Pred{Name: "q", Args: []syntax.Term{x}}})
		if g.IntN(2) == 0 {
			inner = &syntax.Or{Left: inner, Right: g.atom()}
		}
		return &syntax.And{
			Left:  &syntax.Pred{Name: "p", Args: []syntax.Term{x}},
			Right: &syntax.Once{I: g.interval(), F: inner},
		}
	}
	return &syntax.And{Left: sub(), Right: sub()} // often: conjunctions make formulas safe
}

// shuffled swaps the operands of conjunctions at random.
func (g generator) shuffled(f syntax.Formula) syntax.Formula {
	switch f := f.(type) {
	case *syntax.And:
		l, r := g.shuffled(f.Left), g.shuffled(f.Right)
		if g.IntN(2) == 0 {
			l, r = r, l
		}
		return &syntax.And{Left: l, Right: r}
	case *syntax.Bool, *syntax.Pred, *syntax.Cmp, *syntax.Not, *syntax.Or, *syntax.Implies, *syntax.Equiv,
		*syntax.Exists, *syntax.Forall, *syntax.Prev, *syntax.Once, *syntax.Historically, *syntax.Since:
	}
	for _, c := range syntax.Children(f) {
		if s := g.shuffled(c); s != c {
			f = replaced(f, c, s)
		}
	}
	return f
}
