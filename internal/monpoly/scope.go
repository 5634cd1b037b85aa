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
// *ScopeError, or nil: operators about the future, and NEW.
func Scope(f syntax.Formula) error {
	var err error
	syntax.Walk(f, func(f syntax.Formula) bool {
		switch f := f.(type) {
		case *syntax.Next, *syntax.Eventually, *syntax.Always, *syntax.Until:
			err = &ScopeError{Span: f.Span(), What: "an operator about the future"}
		case *syntax.New:
			err = &ScopeError{Span: f.Span(), What: "NEW"}
		case *syntax.Bool, *syntax.Pred, *syntax.Cmp, *syntax.Match, *syntax.Not, *syntax.And, *syntax.Or, *syntax.Implies,
			*syntax.Equiv, *syntax.Exists, *syntax.Forall, *syntax.Agg, *syntax.Let, *syntax.Prev, *syntax.Once,
			*syntax.Historically, *syntax.Since:
		}
		return err == nil
	})
	return err
}
