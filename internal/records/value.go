package records

import (
	"cmp"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/aspis-rv/aspis/pkg/schema"
)

// Kind is what a value is.
type Kind uint8

// The kinds. The zero Value is null.
const (
	Null Kind = iota
	Bool
	Number
	String
	List
	Map
)

// String returns the kind's name.
func (k Kind) String() string {
	switch k {
	case Null:
		return "null"
	case Bool:
		return "bool"
	case Number:
		return "number"
	case String:
		return "string"
	case List:
		return "list"
	case Map:
		return "map"
	}
	return fmt.Sprintf("Kind(%d)", uint8(k))
}

// form is how a value was written. It says nothing about what the value is: only
// Print reads it.
type form uint8

const (
	plain form = iota
	date       // a string that the format writes as a date: unquoted, or as a call
	tuple      // a list in round brackets
	set        // a list in braces
	ended      // a list of lines with a line end behind the last one
)

// Value is a node of an ordered tree: null, bool, number, string, list or map. It is
// immutable, and safe for concurrent use. The zero value is null.
//
// A map keeps the order of its members; no two have the same name. A number is kept
// as the decimal text that was printed, never rounded.
type Value struct {
	kind    Kind
	form    form
	text    string // of a bool true or false, of a number a JSON literal, of a string itself
	items   []Value
	members []Member
}

// Member is one entry of a map.
type Member struct {
	Name  string // the key's text: 1 is "1", None is "null", true is "true"
	Value Value
	key   *Value // the key, when it is no string
}

// NewBool returns a bool value.
func NewBool(b bool) Value {
	if b {
		return Value{kind: Bool, text: "true"}
	}
	return Value{kind: Bool, text: "false"}
}

// NewNumber returns a number. The text is a JSON number within the limits of
// schema.Canonical.
func NewNumber(text string) (Value, error) {
	v := Value{kind: Number, text: text}
	if isPlainInteger(text) {
		return v, nil
	}
	if numberEnd(text) == 0 || numberEnd(text) < len(text) {
		return Value{}, fmt.Errorf("%.40q is no decimal number", text)
	}
	if _, err := schema.Canonical([]byte(text)); err != nil {
		return Value{}, fmt.Errorf("%.40q: %w", text, err)
	}
	return v, nil
}

// NewString returns a string.
func NewString(s string) Value { return Value{kind: String, text: s} }

// NewList returns a list. It keeps the slice.
func NewList(items ...Value) Value { return Value{kind: List, items: items} }

// NewMap returns a map in the order given. It keeps the slice. It fails when two
// members have one name.
func NewMap(members ...Member) (Value, error) {
	names := make(map[string]struct{}, len(members))
	for _, m := range members {
		if _, twice := names[m.Name]; twice {
			return Value{}, fmt.Errorf("the key %q occurs twice", m.Name)
		}
		names[m.Name] = struct{}{}
	}
	return Value{kind: Map, members: members}, nil
}

// Kind returns what the value is.
func (v Value) Kind() Kind { return v.kind }

// Len returns the number of items of a list or of members of a map, else 0.
func (v Value) Len() int { return len(v.items) + len(v.members) }

// Item returns the i-th item of a list. It panics when there is none.
func (v Value) Item(i int) Value { return v.items[i] }

// Member returns the i-th member of a map. It panics when there is none.
func (v Value) Member(i int) Member { return v.members[i] }

// Get returns the member of a map with that name. It takes time linear in the map.
func (v Value) Get(name string) (Value, bool) {
	for _, m := range v.members {
		if m.Name == name {
			return m.Value, true
		}
	}
	return Value{}, false
}

// Text returns a scalar as the text under which it is compared: a string as it is, a
// number in its canonical form (see schema.Canonical: 100.0, 1e2 and 100 are one
// text), a bool as true or false. A null, a list and a map have none.
func (v Value) Text() (string, bool) {
	switch v.kind {
	case String, Bool:
		return v.text, true
	case Number:
		return v.number(), true
	case Null, List, Map:
	}
	return "", false
}

// number is the canonical text of a number.
func (v Value) number() string {
	if isPlainInteger(v.text) {
		return v.text
	}
	out, err := schema.Canonical([]byte(v.text))
	if err != nil {
		panic(err) // the literal was accepted when the value was made
	}
	return string(out)
}

// isPlainInteger reports whether a literal is an integer that is its own canonical
// form without a look at its digits.
func isPlainInteger(lit string) bool {
	digits := lit
	if len(digits) > 1 && digits[0] == '-' {
		digits = digits[1:]
		if digits[0] == '0' {
			return false
		}
	}
	if len(digits) == 0 || len(digits) > 17 || digits[0] == '0' && len(digits) > 1 {
		return false
	}
	for i := range len(digits) {
		if digits[i] < '0' || digits[i] > '9' {
			return false
		}
	}
	return true
}

// Equal reports whether two values are the same: as numbers, as texts, item by item,
// and member by member in whatever order. It says of two values what their canonical
// JSON says.
func (v Value) Equal(w Value) bool {
	if v.kind != w.kind || v.Len() != w.Len() {
		return false
	}
	switch v.kind {
	case Null:
		return true
	case Bool, String:
		return v.text == w.text
	case Number:
		return v.text == w.text || v.number() == w.number()
	case List:
		return slices.EqualFunc(v.items, w.items, Value.Equal)
	case Map:
		same := func(a, b Member) bool { return a.Name == b.Name && a.Value.Equal(b.Value) }
		return slices.EqualFunc(v.sorted(), w.sorted(), same)
	}
	return false
}

// sorted is the members in the order of canonical JSON.
func (v Value) sorted() []Member {
	out := slices.Clone(v.members)
	slices.SortFunc(out, func(a, b Member) int { return compareUTF16(a.Name, b.Name) })
	return out
}

// compareUTF16 orders names as RFC 8785 does: by their UTF-16 code units. That differs
// from the order of code points for those beyond U+FFFF, whose units are surrogates.
func compareUTF16(a, b string) int {
	for a != "" && b != "" {
		x, n := utf8.DecodeRuneInString(a)
		y, m := utf8.DecodeRuneInString(b)
		if x != y {
			return cmp.Compare(unitOrder(x), unitOrder(y))
		}
		a, b = a[n:], b[m:]
	}
	return len(a) - len(b)
}

// unitOrder moves the characters beyond U+FFFF before U+E000, where their first
// units, the surrogates, stand.
func unitOrder(r rune) rune {
	const surrogates, private, beyond = 0xd800, 0xe000, 0x10000
	switch {
	case r >= beyond:
		return r - beyond + surrogates
	case r >= private:
		return r + utf8.MaxRune
	}
	return r
}
