package expr

import (
	"fmt"
	"math"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
)

// Base is the base type of an argument.
type Base string

// The base types.
const (
	BaseString Base = "string"
	BaseInt    Base = "int"
	BaseFloat  Base = "float"
	BaseBool   Base = "bool"
	BaseObject Base = "object"
	BaseAny    Base = "any"
	BaseList   Base = "list"
)

// BaseNames lists the names a policy may write; a list is written [type].
func BaseNames() []string {
	return []string{string(BaseString), string(BaseInt), string(BaseFloat), string(BaseBool), string(BaseObject), string(BaseAny)}
}

// Type is the declared type of an argument.
type Type struct {
	Base Base
	Elem *Type // of a list
}

// Any is the type without a condition.
func Any() *Type { return &Type{Base: BaseAny} }

// ParseType reads a type: a base name, or a type in square brackets.
func ParseType(text string) (*Type, bool) {
	text = strings.TrimSpace(text)
	if inner, ok := strings.CutPrefix(text, "["); ok {
		inner, ok = strings.CutSuffix(inner, "]")
		if !ok {
			return nil, false
		}
		elem, ok := ParseType(inner)
		if !ok {
			return nil, false
		}
		return &Type{Base: BaseList, Elem: elem}, true
	}
	for _, b := range BaseNames() {
		if text == b {
			return &Type{Base: Base(b)}, true
		}
	}
	return nil, false
}

// String writes the type as ParseType reads it.
func (t *Type) String() string {
	if t.Base == BaseList {
		return "[" + t.Elem.String() + "]"
	}
	return string(t.Base)
}

func (t *Type) cel() *cel.Type {
	switch t.Base {
	case BaseString:
		return cel.StringType
	case BaseInt:
		return cel.IntType
	case BaseFloat:
		return cel.DoubleType
	case BaseBool:
		return cel.BoolType
	case BaseObject:
		return cel.MapType(cel.StringType, cel.DynType)
	case BaseList:
		return cel.ListType(t.Elem.cel())
	case BaseAny:
		return cel.DynType
	}
	return cel.DynType
}

// Element returns the type of the elements of a value of this type.
func (t *Type) Element() *Type {
	if t.Base == BaseList {
		return t.Elem
	}
	return Any()
}

// Coerce checks a value against the type and returns it in the type's own form.
// The text says what is wrong; it is empty when nothing is.
func (t *Type) Coerce(v ref.Val) (ref.Val, string) {
	ok := false
	switch t.Base {
	case BaseAny:
		ok = true
	case BaseString:
		_, ok = v.(types.String)
	case BaseInt:
		_, ok = v.(types.Int)
		if _, big := v.(Decimal); big {
			return nil, "is not an integer of 64 bits"
		}
	case BaseFloat:
		return coerceFloat(v)
	case BaseBool:
		_, ok = v.(types.Bool)
	case BaseObject:
		_, ok = v.(*Object)
	case BaseList:
		return t.coerceList(v)
	}
	if !ok {
		return nil, fmt.Sprintf("is %s, and must be %s", describe(v), t)
	}
	return v, ""
}

func coerceFloat(v ref.Val) (ref.Val, string) {
	switch v := v.(type) {
	case types.Double:
		return v, ""
	case types.Int:
		f := float64(v)
		if f < math.MaxInt64 && int64(f) == int64(v) {
			return types.Double(f), ""
		}
		return nil, "has more digits than a float holds"
	case Decimal:
		return nil, "has more digits than a float holds"
	}
	return nil, fmt.Sprintf("is %s, and must be float", describe(v))
}

func (t *Type) coerceList(v ref.Val) (ref.Val, string) {
	l, ok := v.(traits.Lister)
	if !ok {
		return nil, fmt.Sprintf("is %s, and must be %s", describe(v), t)
	}
	var items []ref.Val
	for it, i := l.Iterator(), 0; it.HasNext() == types.True; i++ {
		item, problem := t.Elem.Coerce(it.Next())
		if problem != "" {
			return nil, fmt.Sprintf("has an element %d that %s", i, problem)
		}
		items = append(items, item)
	}
	return types.NewRefValList(types.DefaultTypeAdapter, items), ""
}

func describe(v ref.Val) string {
	switch v.(type) {
	case types.String:
		return "a string"
	case types.Int, types.Double, Decimal:
		return "a number"
	case types.Bool:
		return "true or false"
	case types.Null:
		return "null"
	case *Object:
		return "an object"
	case traits.Lister:
		return "a list"
	}
	return v.Type().TypeName()
}

// IsNull reports whether v is JSON's null.
func IsNull(v ref.Val) bool {
	_, ok := v.(types.Null)
	return ok
}

// With returns the object with one more key.
func (o *Object) With(key string, v ref.Val) *Object {
	out := &Object{keys: make([]string, 0, len(o.keys)+1), vals: make([]ref.Val, 0, len(o.keys)+1)}
	done := false
	for i, k := range o.keys {
		if !done && k >= key {
			out.keys, out.vals, done = append(out.keys, key), append(out.vals, v), true
			if k == key {
				continue
			}
		}
		out.keys, out.vals = append(out.keys, k), append(out.vals, o.vals[i])
	}
	if !done {
		out.keys, out.vals = append(out.keys, key), append(out.vals, v)
	}
	return out
}
