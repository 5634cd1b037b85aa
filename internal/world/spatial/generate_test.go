package spatial

import (
	"math/rand/v2"

	"github.com/aspis-rv/aspis/internal/lang/syntax"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// generator makes random location formulas in core form with the free variable x.
type generator struct {
	r      *rand.Rand
	kinds  map[string]int // how often each operator was made
	labels int            // formulas over labels alone, if not 0
}

func newGenerator(r *rand.Rand) *generator { return &generator{r: r, kinds: map[string]int{}} }

func text(s string) syntax.Const { return syntax.Const{Value: schema.StringValue(s)} }

func variable(name string) syntax.Var { return syntax.Var{Name: name} }

func (g *generator) distance() syntax.Distance {
	d := syntax.Distance{Lo: g.r.Int64N(4)}
	if g.r.IntN(2) == 0 {
		d.Lo = 0
	}
	d.Hi = d.Lo + g.r.Int64N(5)
	switch g.r.IntN(12) {
	case 0, 1, 2:
		d.Hi, d.Unbounded = 0, true
	case 3:
		d.Hi = 0 // empty, unless the lower bound is 0 too
	}
	d.Sort = [...]string{"", "", "", "physical", "informational"}[g.r.IntN(5)]
	return d
}

// formula makes a formula of a depth at most.
func (g *generator) formula(depth int) syntax.Formula {
	if depth == 0 || g.r.IntN(6) == 0 {
		return g.atom()
	}
	depth--
	switch g.r.IntN(11) {
	case 0:
		return &syntax.Not{F: g.formula(depth)}
	case 1:
		return &syntax.And{Left: g.formula(depth), Right: g.formula(depth)}
	case 2:
		return &syntax.Or{Left: g.formula(depth), Right: g.formula(depth)}
	case 3:
		if g.labels == 0 {
			return g.exists(depth)
		}
		return &syntax.Not{F: g.formula(depth)}
	default:
		return g.operator(depth)
	}
}

func (g *generator) operator(depth int) syntax.Formula {
	d := g.distance()
	switch g.r.IntN(7) {
	case 0:
		g.kinds["SOMEWHERE"]++
		return &syntax.Somewhere{D: d, F: g.formula(depth)}
	case 1:
		g.kinds["EVERYWHERE"]++
		return &syntax.Everywhere{D: d, F: g.formula(depth)}
	case 2:
		g.kinds["ESCAPE"]++
		return &syntax.Escape{D: d, F: g.formula(depth)}
	case 3:
		g.kinds["ESCAPE restricted"]++
		return &syntax.Escape{D: d, F: g.formula(depth), Restricted: true}
	case 4, 5:
		g.kinds["REACH"]++
		return &syntax.Reach{D: d, Left: g.formula(depth), Right: g.formula(depth)}
	default:
		g.kinds["SURROUND"]++
		return &syntax.Surround{D: d, Left: g.formula(depth), Right: g.formula(depth)}
	}
}

func (g *generator) label() syntax.Formula {
	return &syntax.Label{Name: modelLabels()[g.r.IntN(3)]}
}

func (g *generator) atom() syntax.Formula {
	if g.labels > 0 {
		return g.label()
	}
	here := syntax.Here{}
	switch g.r.IntN(12) {
	case 0:
		return &syntax.Bool{Value: g.r.IntN(2) == 0}
	case 1:
		return &syntax.Cmp{Op: syntax.CmpOp(g.r.IntN(5)), Left: here, Right: text("v2")}
	case 2:
		return &syntax.Pred{Name: "holds", Args: []syntax.Term{here, variable("x")}}
	case 3:
		return &syntax.Pred{Name: "hot", Args: []syntax.Term{here}}
	case 4:
		return &syntax.Pred{Name: "seen", Args: []syntax.Term{here, text("a")}}
	case 5:
		return &syntax.Pred{Name: "alarm", Args: []syntax.Term{variable("x")}}
	case 6:
		return &syntax.Pred{Name: "label", Args: []syntax.Term{here, text("q")}}
	case 7:
		return g.exists(0)
	case 8:
		return &syntax.And{
			Left:  &syntax.Pred{Name: "alarm", Args: []syntax.Term{variable("x")}},
			Right: &syntax.Pred{Name: "seen", Args: []syntax.Term{here, variable("x")}},
		}
	default:
		return g.label()
	}
}

// exists makes a safe-range quantification.
func (g *generator) exists(depth int) syntax.Formula {
	g.kinds["EXISTS"]++
	here, o, v := syntax.Here{}, variable("o"), variable("v")
	holds := func(at syntax.Term) syntax.Formula { return &syntax.Pred{Name: "holds", Args: []syntax.Term{at, o}} }
	alarm := &syntax.Pred{Name: "alarm", Args: []syntax.Term{o}}
	seen := &syntax.Pred{Name: "seen", Args: []syntax.Term{here, o}}
	var f syntax.Formula
	switch g.r.IntN(8) {
	case 6:
		f = &syntax.And{Left: alarm, Right: &syntax.Somewhere{D: g.distance(), F: seen}}
	case 7:
		f = &syntax.And{Left: &syntax.Pred{Name: "seen", Args: []syntax.Term{o, o}}, Right: holds(here)}
		f = &syntax.Or{Left: f, Right: &syntax.Pred{Name: "seen", Args: []syntax.Term{o, o}}}
	case 0:
		f = &syntax.And{Left: alarm, Right: holds(here)}
	case 1:
		f = &syntax.And{Left: &syntax.Not{F: alarm}, Right: holds(here)}
	case 2:
		f = &syntax.And{Left: g.formula(depth), Right: seen}
	case 3:
		f = &syntax.And{Left: &syntax.Or{Left: holds(here), Right: seen}, Right: alarm}
	case 4:
		f = &syntax.And{Left: alarm, Right: &syntax.Exists{Vars: []syntax.Var{v}, F: &syntax.And{
			Left: holds(v), Right: &syntax.Not{F: &syntax.Cmp{Op: syntax.Eq, Left: v, Right: here}},
		}}}
	default:
		f = &syntax.And{
			Left:  &syntax.Cmp{Op: syntax.Eq, Left: o, Right: variable("x")},
			Right: &syntax.Somewhere{D: g.distance(), F: holds(here)},
		}
	}
	return &syntax.Exists{Vars: []syntax.Var{o}, F: f}
}

func at(f syntax.Formula) *syntax.At { return &syntax.At{Loc: variable("l"), F: f} }
