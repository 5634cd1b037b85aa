package syntax

import (
	"github.com/aspis-rv/aspis/internal/diag"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// Formula is a node of the first-order metric temporal language. The set of
// implementations is closed: they are the pointers to the node types below
// (*Pred, *And, …). Nodes are immutable once built and may be shared.
//
//sumtype:decl
type Formula interface {
	Span() diag.Span
	// String prints the formula fully parenthesised, so that it parses to itself
	// with MonPoly options (time bounds are plain numbers). Format prints bundles.
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
// language.) The set of implementations is closed: the values Var and Const.
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
// disregards Hi. An interval with Lo > Hi is empty; only MonPoly's `(n,n+1)` makes
// one, and the checker removes it from the core.
type Interval struct {
	Lo, Hi    int64
	Unbounded bool
}

// Always is the interval of an operator written without one: `[0,*)`.
func Always() Interval { return Interval{Unbounded: true} }

// Empty tells whether no time difference lies in the interval.
func (i Interval) Empty() bool { return !i.Unbounded && i.Lo > i.Hi }

// Contains tells whether the time difference d lies in the interval.
func (i Interval) Contains(d int64) bool { return d >= i.Lo && (i.Unbounded || d <= i.Hi) }

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

// Children lists the direct sub-formulas of f in source order.
func Children(f Formula) []Formula {
	switch f := f.(type) {
	case *Bool, *Pred, *Cmp:
		return nil
	case *Not:
		return []Formula{f.F}
	case *And:
		return []Formula{f.Left, f.Right}
	case *Or:
		return []Formula{f.Left, f.Right}
	case *Implies:
		return []Formula{f.Left, f.Right}
	case *Equiv:
		return []Formula{f.Left, f.Right}
	case *Exists:
		return []Formula{f.F}
	case *Forall:
		return []Formula{f.F}
	case *Prev:
		return []Formula{f.F}
	case *Once:
		return []Formula{f.F}
	case *Historically:
		return []Formula{f.F}
	case *Since:
		return []Formula{f.Left, f.Right}
	}
	return nil
}

// Walk calls visit for f and, as long as visit returns true, for what is below it,
// parents first and in source order.
func Walk(f Formula, visit func(Formula) bool) {
	if !visit(f) {
		return
	}
	for _, c := range Children(f) {
		Walk(c, visit)
	}
}

// FreeVars lists the names of the free variables of f in order of first
// occurrence, the right operand of SINCE before the left one. It takes time
// linear in the size of f for formulas with few variables.
func FreeVars(f Formula) []string {
	c := collector{seen: map[string]bool{}, bound: map[string]int{}}
	c.formula(f)
	return c.names
}

type collector struct {
	names []string
	seen  map[string]bool
	bound map[string]int // how many enclosing quantifiers bind the name
}

func (c *collector) term(t Term) {
	v, ok := t.(Var)
	if !ok || c.bound[v.Name] > 0 || c.seen[v.Name] {
		return
	}
	c.seen[v.Name] = true
	c.names = append(c.names, v.Name)
}

func (c *collector) quantified(vars []Var, f Formula) {
	for _, v := range vars {
		c.bound[v.Name]++
	}
	c.formula(f)
	for _, v := range vars {
		c.bound[v.Name]--
	}
}

func (c *collector) formula(f Formula) {
	switch f := f.(type) {
	case *Bool:
	case *Pred:
		for _, t := range f.Args {
			c.term(t)
		}
	case *Cmp:
		c.term(f.Left)
		c.term(f.Right)
	case *Exists:
		c.quantified(f.Vars, f.F)
	case *Forall:
		c.quantified(f.Vars, f.F)
	case *Since:
		c.formula(f.Right)
		c.formula(f.Left)
	case *Not, *And, *Or, *Implies, *Equiv, *Prev, *Once, *Historically:
		for _, g := range Children(f) {
			c.formula(g)
		}
	}
}
