package check

import (
	"github.com/aspis-rv/aspis/internal/lang/syntax"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// Signature declares the relations a formula may use.
type Signature map[string][]schema.ValueKind

// Checked is a formula that passed the checker: typed, safe-range, past-time.
// It is immutable.
type Checked struct {
	// Source is the formula as written.
	Source syntax.Formula
	// Core is the same formula over Bool, Pred, Cmp, Not, And, Or, Exists, Prev, Once
	// and Since alone, with conjuncts in an order in which each can be evaluated:
	// in And the right operand is either generated (safe-range by itself), or a Cmp
	// or a Not whose free variables the left operand binds, or a Cmp `x = t` that
	// binds x. A Not elsewhere is closed, or is the left operand of Since with free
	// variables among those of the right operand. Wildcards are quantified away.
	// All bound variables have distinct names.
	Core syntax.Formula
	// Free lists the free variables in order of first occurrence in Source (the
	// right operand of SINCE first), with their types.
	Free []Column
	// Anchors lists the relations of which at least one must have a fact at the
	// current time point for the formula to be satisfied there; empty when there is
	// no such set.
	Anchors []string
	// Relations lists every relation the formula reads, sorted.
	Relations []string
	// Absence is set when some satisfaction may rest on facts that are not there.
	Absence bool
	// Historic is set when the formula reads earlier time points at all.
	Historic bool
}

// Column is a typed variable.
type Column struct {
	Name string
	Kind schema.ValueKind
}
