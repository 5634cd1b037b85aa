package monpoly

import (
	"fmt"

	"github.com/aspis-rv/aspis/internal/diag"
	"github.com/aspis-rv/aspis/internal/lang/syntax"
)

// ScopeError is a part of a formula that NewEvaluator cannot evaluate.
type ScopeError struct {
	Span diag.Span
	What string
}

// Error names the part.
func (e *ScopeError) Error() string {
	return fmt.Sprintf("%d:%d: %s cannot be evaluated", e.Span.Start.Line, e.Span.Start.Col, e.What)
}

// Scope returns the first part of a formula that NewEvaluator cannot evaluate, as a
// *ScopeError, or nil: operators about the future, expressions, aggregations, LET, and
// tests of strings.
func Scope(f syntax.Formula) error {
	var err error
	outside := func(span diag.Span, what string) {
		if err == nil {
			err = &ScopeError{Span: span, What: what}
		}
	}
	syntax.Walk(f, func(f syntax.Formula) bool {
		switch f := f.(type) {
		case *syntax.Next, *syntax.Eventually, *syntax.Always, *syntax.Until:
			outside(f.Span(), "an operator about the future")
		case *syntax.Agg:
			outside(f.Span(), "an aggregation")
		case *syntax.Let:
			outside(f.Span(), "LET")
		case *syntax.Match:
			outside(f.Span(), "a test of strings")
		case *syntax.New:
			outside(f.Span(), "NEW")
		case *syntax.Cmp:
			for _, t := range []syntax.Term{f.Left, f.Right} {
				if !plain(t) {
					outside(t.Span(), "an expression")
				}
			}
		case *syntax.Bool, *syntax.Pred, *syntax.Not, *syntax.And, *syntax.Or, *syntax.Implies, *syntax.Equiv,
			*syntax.Exists, *syntax.Forall, *syntax.Prev, *syntax.Once, *syntax.Historically, *syntax.Since:
		}
		return err == nil
	})
	return err
}

// plain reports whether a term is a variable or a constant.
func plain(t syntax.Term) bool {
	switch t.(type) {
	case syntax.Var, syntax.Const:
		return true
	case syntax.Arith, syntax.Neg, syntax.Conv:
	}
	return false
}
