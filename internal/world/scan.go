package world

import (
	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// Sense says what a question about an unknown vertex answers.
type Sense uint8

// The senses. Under Unsafe an unknown vertex has every label and is in every domain that the
// world knows of, and in the domain UnknownDomain; what comes to it comes to those, and to
// every declared vertex. Under Safe it has and is in none.
const (
	Safe Sense = iota
	Unsafe
)

// UnknownDomain is the release domain of an unknown vertex.
const UnknownDomain = "?"

// Tuple is a tuple of a relation.
type Tuple struct {
	Args []schema.Value // valid until the next one
	Mark verdict.Value  // F, or Fp where it is presumptive
	// Origin is the offset of the event that made it so plus one, 0 for what the policy
	// declares and for what is computed (Reaches, Connects, Derived).
	Origin uint64
}

// Scan calls yield for the tuples of rel that agree with known: an argument whose bit in
// bound is set equals known there. It stops when yield returns false, and then returns
// false. Every tuple comes once, in an order that does not depend on how the world came
// about.
//
// The cost is that of a look-up if a leading or trailing part of the arguments is bound, and
// grows with the tuples that agree. Exceptions: Reaches and Connects ask every object or
// vertex if their first argument is not bound, Gone every object; a vertex as second
// argument asks for a search.
//
// Of unknown vertices, a relation whose first argument is not bound has those that hold an
// object or are at the end of an edge or channel. Where the first argument is bound, a name
// that was never met is an unknown vertex too.
func (w *World) Scan(rel Rel, known []schema.Value, bound uint64, sense Sense, yield func(Tuple) bool) bool {
	q := &query{w: w, known: known, bound: bound, sense: sense, yield: yield}
	switch rel.Kind {
	case AttributeOf, StateOf:
		return q.table(rel)
	case Holds, Reaches, ReachesDomain, Connects, ConnectsDomain, HasLabel, InDomain, Exists, Gone, Derived, Opened, DeclaredVertex:
	}
	if !q.strings() {
		return true
	}
	switch rel.Kind {
	case Holds:
		return q.holds()
	case Reaches, ReachesDomain:
		return q.reach(true, rel.Kind == Reaches)
	case Connects, ConnectsDomain:
		return q.reach(false, rel.Kind == Connects)
	case HasLabel:
		return q.labels()
	case InDomain:
		return q.domains()
	case Exists, Gone:
		return q.objects(rel.Kind == Gone)
	case Derived:
		return q.derived()
	case Opened:
		return q.opened()
	case DeclaredVertex:
		return q.vertices()
	case AttributeOf, StateOf:
	}
	return true
}

// query is a question to one relation.
type query struct {
	w     *World
	known []schema.Value
	bound uint64
	sense Sense
	yield func(Tuple) bool
	args  [2]schema.Value
}

// has tells whether an argument is bound.
func (q *query) has(i int) bool { return q.bound>>i&1 != 0 }

// str is a bound argument.
func (q *query) str(i int) string { return q.known[i].Str }

// agrees tells whether an argument may be s.
func (q *query) agrees(i int, s string) bool { return !q.has(i) || q.known[i].Str == s }

// strings tells whether all bound arguments are strings: others agree with no name.
func (q *query) strings() bool {
	for i := range q.known {
		if q.has(i) && q.known[i].Kind != schema.KindString {
			return false
		}
	}
	return true
}

// one yields a tuple of one name.
func (q *query) one(a string, origin uint64) bool {
	q.args[0] = schema.StringValue(a)
	return q.yield(Tuple{Args: q.args[:1], Mark: verdict.F, Origin: origin})
}

// two yields a tuple of two names.
func (q *query) two(a, b string, origin uint64) bool {
	q.args[0], q.args[1] = schema.StringValue(a), schema.StringValue(b)
	return q.yield(Tuple{Args: q.args[:2], Mark: verdict.F, Origin: origin})
}
