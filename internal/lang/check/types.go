package check

import (
	"slices"
	"strings"

	"github.com/aspis-rv/aspis/internal/lang/syntax"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// Signature declares the relations a formula may use.
type Signature map[string][]schema.ValueKind

// Checked is a formula that passed the checker: typed and safe-range.
// It is immutable.
type Checked struct {
	// Source is the formula as written.
	Source syntax.Formula
	// Core is the same formula over Bool, Pred, Cmp, Match, Not, And, Or, Exists, Agg,
	// Prev, Once and Since alone, with conjuncts in an order in which each can be
	// evaluated: in And the right operand is either generated (safe-range by itself),
	// or a Cmp, a Match or a Not whose free variables the left operand binds, or a Cmp
	// `x = t` that binds x, or a Match that binds variables among its groups. A Not
	// elsewhere is closed, or is the left operand of Since with free variables among
	// those of the right operand. Wildcards are quantified away and the relations of LET
	// replaced by their definitions. All bound variables have distinct names; those of
	// the formula of an Agg that are not among its groups are bound by it.
	//
	// In detail: the operand of a Not is generated, except that a Not that is the
	// right operand of And may stand over a Cmp or a Match. A Cmp by itself is generated
	// when it is `x = t` or `t = x` with a t without variables; comparisons of two
	// constants are folded to Bool. An Agg is generated, and so is its formula, in which
	// the aggregated variable and the groups are free and the result is not. The
	// arguments of a Pred and the groups of a Match are variables and constants; other
	// terms may be expressions, whose evaluation can fail. Intervals are never empty. A
	// sub-formula may occur more than once (a guard copied into alternatives); the copies
	// are identical, bound names included, and may share nodes.
	//
	// With Options.Future, Next, Eventually and Until occur as well, generated like Prev,
	// Once and Since.
	//
	// With Options.World, New and At occur as well. A New is generated, and so is its formula,
	// which consists of predicates over relations of the world, At, Bool, Cmp, Match, Not, And,
	// Or and Exists. An At is a test, like a Match: the right operand of And, or the operand
	// of a Not there, with free variables that the left operand binds; one without free
	// variables stands beside TRUE. Its location is a variable or a constant. Its formula
	// consists of predicates over relations of the world, Label, the spatial operators, Bool,
	// Cmp, Match, Not, And, Or and Exists. In there the variables that are free in all of it
	// count as constants, as Here does; with that the rules above hold, and a spatial operator
	// is generated if it has no other variables, else the right operand of And, or the operand
	// of a Not there, with variables that the left operand binds. In the operands of a spatial
	// operator all its free variables count as constants.
	//
	// One form goes beyond the list, for guarded open formulas that the other operators
	// cannot express: the right operand of And may be a Historically or the Not of one,
	// over a generated formula whose free variables the left operand binds.
	// (HISTORICALLY of anything else is NOT ONCE NOT.)
	Core syntax.Formula
	// Free lists the free variables in order of first occurrence in Source (the
	// right operand of SINCE first), with their types.
	Free []Column
	// Kinds gives the type of every variable of Core, free or bound, by name.
	Kinds map[string]schema.ValueKind
	// Anchors lists the relations of which at least one must have a fact at the
	// current time point for the formula to be satisfied there; empty when there is
	// no such set.
	Anchors []string
	// Relations lists every relation the formula reads, sorted. It includes the
	// built-in ones, which change at every time point, and Graph where there is an AT.
	Relations []string
	// Effects lists, sorted, the relations of the world of which one must have changed at the
	// time point, if there is no fact of Anchors, for the formula to be satisfied there;
	// Graph among them stands for labels, edges and channels. They are those that a NEW
	// reads, and empty where facts alone are enough.
	Effects []string
	// World is set when the formula reads the world: what happened up to the time point, all
	// of it, and not what Reach says of its facts.
	World bool
	// Absence is set when some satisfaction may rest on facts, or on time points,
	// that are not there: below a negation, a HISTORICALLY, an aggregation, a NEW, the
	// left operand of a SINCE, a PREVIOUS, or a spatial operator that holds for want of a
	// vertex or of a way. A tuple of a relation of the world counts as there, although it
	// may be there because nothing has removed it: World says that.
	Absence bool
	// Historic is set when the formula reads earlier time points at all. The state of the
	// world belongs to the present one.
	Historic bool
}

// Graph stands, in Checked.Effects and Checked.Relations, for the vertices of the world with their labels, and for
// the edges and channels between them.
const Graph = "the graph"

// JudgedOn names what an event must carry, or change, for the formula to be satisfied at
// it: the anchors, and a change of the effects, joined by "or", or "" when there is no such
// set.
func (c *Checked) JudgedOn() string {
	on := slices.Clone(c.Anchors)
	if change := c.Change(); change != "" {
		on = append(on, change)
	}
	return strings.Join(on, " or ")
}

// Change names, of what JudgedOn does, the change of the world, or is "".
func (c *Checked) Change() string {
	if len(c.Effects) == 0 {
		return ""
	}
	return "a change of " + strings.Join(c.Effects, " or ")
}

// Column is a typed variable.
type Column struct {
	Name string
	Kind schema.ValueKind
}

// BuiltIn returns the relations that hold at every time point without being facts:
// tp(i) its index, ts(t) its timestamp, tpts(i, t) both.
func BuiltIn() Signature {
	return Signature{
		"tp":   {schema.KindInt},
		"ts":   {schema.KindInt},
		"tpts": {schema.KindInt, schema.KindInt},
	}
}
