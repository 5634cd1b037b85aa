package schema

import (
	"cmp"
	"strconv"

	"github.com/aspis-rv/aspis/pkg/verdict"
)

// ValueKind is the type of a scalar in the first-order language.
type ValueKind uint8

// The scalar types. The zero value is KindInt.
const (
	KindInt ValueKind = iota
	KindString
	KindFloat
)

// String returns the type's name in a signature: int, string, float.
func (k ValueKind) String() string {
	switch k {
	case KindInt:
		return "int"
	case KindString:
		return "string"
	case KindFloat:
		return "float"
	}
	return "?"
}

// Value is a scalar of the first-order language. It is comparable, so it can be a
// map key; a float NaN never occurs in one.
type Value struct {
	Kind  ValueKind
	Int   int64
	Float float64
	Str   string
}

// IntValue makes an integer.
func IntValue(i int64) Value { return Value{Kind: KindInt, Int: i} }

// StringValue makes a string.
func StringValue(s string) Value { return Value{Kind: KindString, Str: s} }

// FloatValue makes a float.
func FloatValue(f float64) Value { return Value{Kind: KindFloat, Float: f} }

// String prints the value as the formula language writes it: strings quoted.
func (v Value) String() string {
	switch v.Kind {
	case KindInt:
		return strconv.FormatInt(v.Int, 10)
	case KindString:
		return strconv.Quote(v.Str)
	case KindFloat:
		return strconv.FormatFloat(v.Float, 'g', -1, 64)
	}
	return "?"
}

// Compare orders two values: by kind first, then ints and floats numerically and
// strings by bytes. It returns -1, 0 or 1. A NaN, which only logs of MonPoly can have, is
// below every other float and equal to itself, as there.
func Compare(a, b Value) int {
	switch {
	case a.Kind != b.Kind:
		return sign(a.Kind < b.Kind)
	case a.Kind == KindInt && a.Int != b.Int:
		return sign(a.Int < b.Int)
	case a.Kind == KindFloat:
		return cmp.Compare(a.Float, b.Float)
	case a.Kind == KindString && a.Str != b.Str:
		return sign(a.Str < b.Str)
	}
	return 0
}

func sign(less bool) int {
	if less {
		return -1
	}
	return 1
}

// Fact is one ground atom that holds at one time point.
type Fact struct {
	Name     string
	Args     []Value
	Strength verdict.Strength
}
