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
	// with MonPoly options (time bounds are plain numbers), unless it speaks of a world.
	// Format prints bundles.
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

// Term is a variable, a constant, or an expression over terms. The set of
// implementations is closed: the values Var, Const, Arith, Neg, Conv and Here. Terms are
// comparable.
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

// Arith is an operation on two terms of one numeric type, which is its own.
type Arith struct {
	Pos         diag.Span
	Op          ArithOp
	Left, Right Term
}

// Neg is the negative of a numeric term. (A minus before a number is part of the
// constant.)
type Neg struct {
	Pos diag.Span
	T   Term
}

// Conv converts a term.
type Conv struct {
	Pos diag.Span
	Op  ConvOp
	T   Term
}

// Here is `@l`, the vertex at which a location formula is evaluated. It occurs inside
// of At only.
type Here struct {
	Pos diag.Span
}

// Span returns the term's place in the source.
func (h Here) Span() diag.Span { return h.Pos }

// String returns `@l`.
func (Here) String() string { return "@l" }

// ArithOp is an arithmetic operator.
type ArithOp uint8

// The arithmetic operators. Division and remainder of integers truncate towards zero;
// Mod is of integers only.
const (
	Add ArithOp = iota
	Sub
	Mul
	Div
	Mod
)

// ConvOp is a conversion between types.
type ConvOp uint8

// The conversions: i is int, f float, s string.
const (
	IntToFloat ConvOp = iota
	FloatToInt
	IntToString
	StringToInt
	FloatToString
	StringToFloat
)

// From is the type that the conversion takes.
func (o ConvOp) From() schema.ValueKind {
	return [...]schema.ValueKind{schema.KindInt, schema.KindFloat, schema.KindInt, schema.KindString, schema.KindFloat, schema.KindString}[o]
}

// To is the type that the conversion gives.
func (o ConvOp) To() schema.ValueKind {
	return [...]schema.ValueKind{schema.KindFloat, schema.KindInt, schema.KindString, schema.KindInt, schema.KindString, schema.KindFloat}[o]
}

// Span returns the term's place in the source.
func (v Var) Span() diag.Span { return v.Pos }

// Span returns the term's place in the source.
func (c Const) Span() diag.Span { return c.Pos }

// Span returns the term's place in the source.
func (a Arith) Span() diag.Span { return a.Pos }

// Span returns the term's place in the source.
func (n Neg) Span() diag.Span { return n.Pos }

// Span returns the term's place in the source.
func (c Conv) Span() diag.Span { return c.Pos }

func (Var) term()   {}
func (Const) term() {}
func (Arith) term() {}
func (Neg) term()   {}
func (Conv) term()  {}
func (Here) term()  {}

// TermVars calls visit for every variable of t, in source order.
func TermVars(t Term, visit func(Var)) {
	switch t := t.(type) {
	case Var:
		visit(t)
	case Const, Here:
	case Arith:
		TermVars(t.Left, visit)
		TermVars(t.Right, visit)
	case Neg:
		TermVars(t.T, visit)
	case Conv:
		TermVars(t.T, visit)
	}
}

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

// MatchOp is a test of strings.
type MatchOp uint8

// The tests of strings.
const (
	Substring MatchOp = iota // the left string is part of the right one
	Matches                  // the regular expression on the right matches somewhere in the left string
)

// AggOp is an aggregation.
type AggOp uint8

// The aggregations. They see the set of tuples of their formula, so that equal
// values of different tuples count as often as there are tuples.
const (
	Count   AggOp = iota
	Sum           // of numbers
	Min           // the least value
	Max           // the greatest value
	Average       // a float
	Median        // a float; of an even number of values the mean of the middle two
)

// Interval is a set of non-negative time differences in the unit of the log's
// timestamps. Lo is inclusive and Hi is inclusive after parsing; Unbounded
// disregards Hi. An interval with Lo > Hi is empty; only MonPoly's `(n,n+1)` makes
// one, and the checker removes it from the core.
type Interval struct {
	Lo, Hi    int64
	Unbounded bool
}

// AnyTime is the interval of an operator written without one: `[0,*)`.
func AnyTime() Interval { return Interval{Unbounded: true} }

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
	// Next holds when F holds at the next time point, within the interval.
	Next struct {
		Node
		I Interval
		F Formula
	}
	// Eventually holds when F holds at some time point from now on within the interval.
	Eventually struct {
		Node
		I Interval
		F Formula
	}
	// Always holds when F holds at every time point from now on within the interval.
	Always struct {
		Node
		I Interval
		F Formula
	}
	// Until holds when Right holds at some time point from now on within the interval
	// and Left at every one before it.
	Until struct {
		Node
		I           Interval
		Left, Right Formula
	}
	// Match tests strings. The right operand of Matches is a constant; Pattern is what
	// it says, in the syntax of package regexp. Groups, if there are any, are as many
	// as the expression has, and equal what the groups matched.
	Match struct {
		Node
		Op          MatchOp
		Left, Right Term
		Pattern     string
		Groups      []Term
	}
	// Agg aggregates, for each combination of values of Groups, the values of Over in
	// the tuples over all free variables of F: `Result <- Op Over; Groups F`. Its free
	// variables are Result and Groups.
	Agg struct {
		Node
		Result Var
		Op     AggOp
		Over   Var
		Groups []Var
		F      Formula
	}
	// Let is Body, in which the relation Name(Params) holds where Def does.
	Let struct {
		Node
		Name      string
		Params    []Var
		Def, Body Formula
	}
	// New holds when F holds in the world after the proposed change and does not in
	// the world before (bundles only).
	New struct {
		Node
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

// Distance is a set of distances, and the sort of vertices that a walk stays in. Lo and
// Hi are inclusive, in the unit of the sort; Unbounded disregards Hi.
type Distance struct {
	Lo, Hi    int64
	Unbounded bool
	// Sort is "physical" or "informational"; "" means that of the vertex at which the
	// operator is evaluated.
	Sort string
}

// Contains tells whether the distance d lies in the set.
func (d Distance) Contains(n int64) bool { return n >= d.Lo && (d.Unbounded || n <= d.Hi) }

// The location formulas, of which At speaks (bundles only). They are evaluated at a vertex
// of the world, which the term Here denotes. They consist of these nodes, of the
// connectives and quantifiers, of comparisons, and of predicates over relations of the
// world.
type (
	// At holds when the location formula F holds at the vertex Loc.
	At struct {
		Node
		Loc Term
		F   Formula
	}
	// Label holds at the vertices with the label.
	Label struct {
		Node
		Name string
	}
	// Somewhere holds when F does at some vertex at a distance within D.
	Somewhere struct {
		Node
		D Distance
		F Formula
	}
	// Everywhere holds when F does at every vertex at a distance within D.
	Everywhere struct {
		Node
		D Distance
		F Formula
	}
	// Escape holds when a path along which F holds throughout ends at a vertex whose
	// distance lies within D: the unrestricted distance or, with Restricted, that over
	// vertices at which F holds.
	Escape struct {
		Node
		D          Distance
		Restricted bool
		F          Formula
	}
	// Reach holds when the shortest path to some vertex with Right, over vertices with
	// Left before it, has a weight within D.
	Reach struct {
		Node
		D           Distance
		Left, Right Formula
	}
	// Surround holds when the vertex lies in a region of vertices with Left that is
	// enclosed by vertices with Right at distances within D.
	Surround struct {
		Node
		D           Distance
		Left, Right Formula
	}
)

// Children lists the direct sub-formulas of f in source order.
func Children(f Formula) []Formula {
	switch f := f.(type) {
	case *Bool, *Pred, *Cmp, *Match:
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
	case *Agg:
		return []Formula{f.F}
	case *Let:
		return []Formula{f.Def, f.Body}
	case *New:
		return []Formula{f.F}
	case *Prev, *Once, *Historically, *Since, *Next, *Eventually, *Always, *Until:
		return temporalChildren(f)
	case *At, *Label, *Somewhere, *Everywhere, *Escape, *Reach, *Surround:
		return locatedChildren(f)
	}
	return nil
}

// temporalChildren is Children of the temporal operators.
func temporalChildren(f Formula) []Formula {
	switch f := f.(type) {
	case *Prev:
		return []Formula{f.F}
	case *Once:
		return []Formula{f.F}
	case *Historically:
		return []Formula{f.F}
	case *Since:
		return []Formula{f.Left, f.Right}
	case *Next:
		return []Formula{f.F}
	case *Eventually:
		return []Formula{f.F}
	case *Always:
		return []Formula{f.F}
	case *Until:
		return []Formula{f.Left, f.Right}
	case *Bool, *Pred, *Cmp, *Match, *Not, *And, *Or, *Implies, *Equiv, *Exists, *Forall, *Agg, *Let, *New,
		*At, *Label, *Somewhere, *Everywhere, *Escape, *Reach, *Surround:
	}
	return nil
}

// locatedChildren is Children of what speaks of a vertex.
func locatedChildren(f Formula) []Formula {
	switch f := f.(type) {
	case *At:
		return []Formula{f.F}
	case *Somewhere:
		return []Formula{f.F}
	case *Everywhere:
		return []Formula{f.F}
	case *Escape:
		return []Formula{f.F}
	case *Reach:
		return []Formula{f.Left, f.Right}
	case *Surround:
		return []Formula{f.Left, f.Right}
	case *Bool, *Pred, *Cmp, *Match, *Not, *And, *Or, *Implies, *Equiv, *Exists, *Forall, *Agg, *Let, *New,
		*Prev, *Once, *Historically, *Since, *Next, *Eventually, *Always, *Until, *Label:
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
// occurrence, the right operand of SINCE and UNTIL before the left one, the result of
// an aggregation before its groups. It takes time
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

func (c *collector) term(t Term) { TermVars(t, c.variable) }

func (c *collector) variable(v Var) {
	if c.bound[v.Name] > 0 || c.seen[v.Name] {
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
	case *Until:
		c.formula(f.Right)
		c.formula(f.Left)
	case *Match:
		c.term(f.Left)
		c.term(f.Right)
		for _, t := range f.Groups {
			c.term(t)
		}
	case *Agg:
		c.variable(f.Result)
		for _, v := range f.Groups {
			c.variable(v)
		}
	case *Let:
		c.formula(f.Body)
	case *At:
		c.term(f.Loc)
		c.formula(f.F)
	case *Label:
	case *Not, *And, *Or, *Implies, *Equiv, *Prev, *Once, *Historically, *Next, *Eventually, *Always, *New,
		*Somewhere, *Everywhere, *Escape, *Reach, *Surround:
		for _, g := range Children(f) {
			c.formula(g)
		}
	}
}
