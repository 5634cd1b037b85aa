package rewrite

import "github.com/aspis-rv/aspis/internal/lang/syntax"

// MayFault returns the first part of a formula whose value some facts make impossible to
// compute: a calculation, which can leave the range of its type or divide by zero, a
// conversion of what need not be a number, a search in a text, which may be too long. It
// is nil if there is none.
func MayFault(f syntax.Formula) syntax.Formula {
	var found syntax.Formula
	syntax.Walk(f, func(g syntax.Formula) bool {
		if found == nil && mayFault(g) {
			found = g
		}
		return found == nil
	})
	return found
}

func mayFault(f syntax.Formula) bool {
	switch f := f.(type) {
	case *syntax.Cmp:
		return computes(f.Left) || computes(f.Right)
	case *syntax.Match:
		return f.Op == syntax.Matches || computes(f.Left) || computes(f.Right)
	case *syntax.Agg:
		return f.Op == syntax.Sum || f.Op == syntax.Average
	case *syntax.Bool, *syntax.Pred, *syntax.Not, *syntax.And, *syntax.Or, *syntax.Implies, *syntax.Equiv, *syntax.Exists,
		*syntax.Forall, *syntax.Prev, *syntax.Once, *syntax.Historically, *syntax.Since, *syntax.Next, *syntax.Eventually,
		*syntax.Always, *syntax.Until, *syntax.Let, *syntax.New,
		*syntax.At, *syntax.Label, *syntax.Somewhere, *syntax.Everywhere, *syntax.Escape, *syntax.Reach, *syntax.Surround:
	}
	return false
}

// computes tells whether a term may be without a value.
func computes(t syntax.Term) bool {
	switch t := t.(type) {
	case syntax.Arith, syntax.Neg:
		return true
	case syntax.Conv:
		switch t.Op {
		case syntax.FloatToInt, syntax.StringToInt, syntax.StringToFloat:
			return true
		case syntax.IntToFloat, syntax.IntToString, syntax.FloatToString:
		}
		return computes(t.T)
	case syntax.Var, syntax.Const, syntax.Here:
	}
	return false
}
