package syntax

import (
	"github.com/aspis-rv/aspis/internal/diag"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// Formula is a node of the first-order metric temporal language. The set of
// implementations is closed. Nodes are immutable once built.
//
//sumtype:decl
type Formula interface {
	Span() diag.Span
	// String prints the formula fully parenthesised, so that it parses to itself.
	String() string
	formula()
}

// Node holds what every node has: its place in the source.
type Node struct {
	Pos diag.Span
}

// Span returns the node's place in the source; zero for a synthesised node.
func (n Node) Span() diag.Span { return n.Pos }

func (Node) formula() {}

// Term is an argument: a variable or a constant. (Arithmetic comes with the full
// language.) The set of implementations is closed.
//
//sumtype:decl
type Term interface {
	Span() diag.Span
	String() string
	term()
}

// Var is a variable. Wildcards `_` are parsed as fresh variables whose Name starts
// with "_" and are closed existentially at their predicate by the checker.
type Var struct {
	Pos  diag.Span
	Name string
}

// Const is a constant.
type Const struct {
	Pos   diag.Span
	Value schema.Value
}

// Span returns the term's place in the source.
func (v Var) Span() diag.Span { return v.Pos }

// Span returns the term's place in the source.
func (c Const) Span() diag.Span { return c.Pos }

func (Var) term()   {}
func (Const) term() {}

// CmpOp is a comparison operator.
type CmpOp uint8

// The comparisons.
const (
	Eq CmpOp = iota
	Less
	LessEq
	Greater
	GreaterEq
)

// Interval is a set of non-negative time differences in the unit of the log's
// timestamps. Lo is inclusive and Hi is inclusive after parsing; Unbounded
// disregards Hi.
type Interval struct {
	Lo, Hi    int64
	Unbounded bool
}

// The nodes of the language.
type (
	// Bool is TRUE or FALSE.
	Bool struct {
		Node
		Value bool
	}
	// Pred is a predicate applied to terms.
	Pred struct {
		Node
		Name string
		Args []Term
	}
	// Cmp compares two terms.
	Cmp struct {
		Node
		Op          CmpOp
		Left, Right Term
	}
	// Not is negation.
	Not struct {
		Node
		F Formula
	}
	// And is conjunction.
	And struct {
		Node
		Left, Right Formula
	}
	// Or is disjunction.
	Or struct {
		Node
		Left, Right Formula
	}
	// Implies is implication.
	Implies struct {
		Node
		Left, Right Formula
	}
	// Equiv is equivalence.
	Equiv struct {
		Node
		Left, Right Formula
	}
	// Exists quantifies existentially.
	Exists struct {
		Node
		Vars []Var
		F    Formula
	}
	// Forall quantifies universally.
	Forall struct {
		Node
		Vars []Var
		F    Formula
	}
	// Prev holds when F held at the previous time point, within the interval.
	Prev struct {
		Node
		I Interval
		F Formula
	}
	// Once holds when F held at some time point up to now within the interval.
	Once struct {
		Node
		I Interval
		F Formula
	}
	// Historically holds when F held at every time point within the interval.
	Historically struct {
		Node
		I Interval
		F Formula
	}
	// Since holds when Right held at some time point within the interval and Left at
	// every one after it.
	Since struct {
		Node
		I           Interval
		Left, Right Formula
	}
)
