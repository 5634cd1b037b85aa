package check

import "github.com/aspis-rv/aspis/internal/lang/syntax"

// rebuilt is f with what sub makes of its direct sub-formulas in their place. A
// formula without any is returned as it is.
func rebuilt(f syntax.Formula, sub func(syntax.Formula) syntax.Formula) syntax.Formula {
	switch f := f.(type) {
	case *syntax.Bool, *syntax.Pred, *syntax.Cmp, *syntax.Match:
		return f
	case *syntax.Not:
		return &syntax.Not{Node: f.Node, F: sub(f.F)}
	case *syntax.And:
		return &syntax.And{Node: f.Node, Left: sub(f.Left), Right: sub(f.Right)}
	case *syntax.Or:
		return &syntax.Or{Node: f.Node, Left: sub(f.Left), Right: sub(f.Right)}
	case *syntax.Implies:
		return &syntax.Implies{Node: f.Node, Left: sub(f.Left), Right: sub(f.Right)}
	case *syntax.Equiv:
		return &syntax.Equiv{Node: f.Node, Left: sub(f.Left), Right: sub(f.Right)}
	case *syntax.Exists:
		return &syntax.Exists{Node: f.Node, Vars: f.Vars, F: sub(f.F)}
	case *syntax.Forall:
		return &syntax.Forall{Node: f.Node, Vars: f.Vars, F: sub(f.F)}
	case *syntax.Agg:
		return &syntax.Agg{Node: f.Node, Result: f.Result, Op: f.Op, Over: f.Over, Groups: f.Groups, F: sub(f.F)}
	case *syntax.Let:
		return &syntax.Let{Node: f.Node, Name: f.Name, Params: f.Params, Def: sub(f.Def), Body: sub(f.Body)}
	case *syntax.New:
		return &syntax.New{Node: f.Node, F: sub(f.F)}
	case *syntax.At, *syntax.Label, *syntax.Somewhere, *syntax.Everywhere, *syntax.Escape, *syntax.Reach, *syntax.Surround:
		return rebuiltLocated(f, sub)
	case *syntax.Prev, *syntax.Once, *syntax.Historically, *syntax.Since, *syntax.Next, *syntax.Eventually,
		*syntax.Always, *syntax.Until:
		return rebuiltTemporal(f, sub)
	}
	return f
}

func rebuiltLocated(f syntax.Formula, sub func(syntax.Formula) syntax.Formula) syntax.Formula {
	switch f := f.(type) {
	case *syntax.At:
		return &syntax.At{Node: f.Node, Loc: f.Loc, F: sub(f.F)}
	case *syntax.Somewhere:
		return &syntax.Somewhere{Node: f.Node, D: f.D, F: sub(f.F)}
	case *syntax.Everywhere:
		return &syntax.Everywhere{Node: f.Node, D: f.D, F: sub(f.F)}
	case *syntax.Escape:
		return &syntax.Escape{Node: f.Node, D: f.D, Restricted: f.Restricted, F: sub(f.F)}
	case *syntax.Reach:
		return &syntax.Reach{Node: f.Node, D: f.D, Left: sub(f.Left), Right: sub(f.Right)}
	case *syntax.Surround:
		return &syntax.Surround{Node: f.Node, D: f.D, Left: sub(f.Left), Right: sub(f.Right)}
	case *syntax.Bool, *syntax.Pred, *syntax.Cmp, *syntax.Not, *syntax.And, *syntax.Or, *syntax.Implies, *syntax.Equiv,
		*syntax.Exists, *syntax.Forall, *syntax.Match, *syntax.Agg, *syntax.Let, *syntax.New, *syntax.Prev, *syntax.Once,
		*syntax.Historically, *syntax.Since, *syntax.Next, *syntax.Eventually, *syntax.Always, *syntax.Until, *syntax.Label:
	}
	return f
}

func rebuiltTemporal(f syntax.Formula, sub func(syntax.Formula) syntax.Formula) syntax.Formula {
	switch f := f.(type) {
	case *syntax.Prev:
		return &syntax.Prev{Node: f.Node, I: f.I, F: sub(f.F)}
	case *syntax.Once:
		return &syntax.Once{Node: f.Node, I: f.I, F: sub(f.F)}
	case *syntax.Historically:
		return &syntax.Historically{Node: f.Node, I: f.I, F: sub(f.F)}
	case *syntax.Since:
		return &syntax.Since{Node: f.Node, I: f.I, Left: sub(f.Left), Right: sub(f.Right)}
	case *syntax.Next:
		return &syntax.Next{Node: f.Node, I: f.I, F: sub(f.F)}
	case *syntax.Eventually:
		return &syntax.Eventually{Node: f.Node, I: f.I, F: sub(f.F)}
	case *syntax.Always:
		return &syntax.Always{Node: f.Node, I: f.I, F: sub(f.F)}
	case *syntax.Until:
		return &syntax.Until{Node: f.Node, I: f.I, Left: sub(f.Left), Right: sub(f.Right)}
	case *syntax.Bool, *syntax.Pred, *syntax.Cmp, *syntax.Not, *syntax.And, *syntax.Or, *syntax.Implies, *syntax.Equiv,
		*syntax.Exists, *syntax.Forall, *syntax.Match, *syntax.Agg, *syntax.Let, *syntax.New,
		*syntax.At, *syntax.Label, *syntax.Somewhere, *syntax.Everywhere, *syntax.Escape, *syntax.Reach, *syntax.Surround:
	}
	return f
}

// substituted is f with what by makes of the variables in its own terms in their place;
// those in sub-formulas stay.
func substituted(f syntax.Formula, by func(syntax.Var) syntax.Term) syntax.Formula {
	if p, ok := f.(*syntax.Pred); ok {
		return &syntax.Pred{Node: p.Node, Name: p.Name, Args: termsBy(p.Args, by)}
	}
	if c, ok := f.(*syntax.Cmp); ok {
		return &syntax.Cmp{Node: c.Node, Op: c.Op, Left: termBy(c.Left, by), Right: termBy(c.Right, by)}
	}
	if at, ok := f.(*syntax.At); ok {
		return &syntax.At{Node: at.Node, Loc: termBy(at.Loc, by), F: at.F}
	}
	if m, ok := f.(*syntax.Match); ok {
		return &syntax.Match{
			Node: m.Node, Op: m.Op, Left: termBy(m.Left, by), Right: termBy(m.Right, by),
			Pattern: m.Pattern, Groups: termsBy(m.Groups, by),
		}
	}
	return f
}

// termBy is t with what by makes of its variables in their place.
func termBy(t syntax.Term, by func(syntax.Var) syntax.Term) syntax.Term {
	switch t := t.(type) {
	case syntax.Var:
		return by(t)
	case syntax.Const, syntax.Here:
	case syntax.Arith:
		return syntax.Arith{Pos: t.Pos, Op: t.Op, Left: termBy(t.Left, by), Right: termBy(t.Right, by)}
	case syntax.Neg:
		return syntax.Neg{Pos: t.Pos, T: termBy(t.T, by)}
	case syntax.Conv:
		return syntax.Conv{Pos: t.Pos, Op: t.Op, T: termBy(t.T, by)}
	}
	return t
}

func termsBy(ts []syntax.Term, by func(syntax.Var) syntax.Term) []syntax.Term {
	if len(ts) == 0 {
		return nil
	}
	out := make([]syntax.Term, len(ts))
	for i, t := range ts {
		out[i] = termBy(t, by)
	}
	return out
}
