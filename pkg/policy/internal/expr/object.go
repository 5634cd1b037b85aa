package expr

import (
	"fmt"
	"reflect"
	"slices"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
)

// Object is a map with text keys that is walked in the order of its keys, so that
// an expression over it gives the same result every time.
type Object struct {
	keys []string // ascending
	vals []ref.Val
}

var _ traits.Mapper = (*Object)(nil)

// NewObject makes an object of a Go map.
func NewObject(m map[string]string) *Object {
	o := &Object{}
	for k := range m {
		o.keys = append(o.keys, k)
	}
	slices.Sort(o.keys)
	for _, k := range o.keys {
		o.vals = append(o.vals, types.String(m[k]))
	}
	return o
}

// Keys lists the keys in ascending order. The caller must not modify the slice.
func (o *Object) Keys() []string { return o.keys }

// Lookup returns the value of a key.
func (o *Object) Lookup(key string) (ref.Val, bool) {
	i, ok := slices.BinarySearch(o.keys, key)
	if !ok {
		return nil, false
	}
	return o.vals[i], true
}

// Find implements traits.Mapper.
func (o *Object) Find(key ref.Val) (ref.Val, bool) {
	s, ok := key.(types.String)
	if !ok {
		return nil, false
	}
	return o.Lookup(string(s))
}

// Get implements traits.Indexer.
func (o *Object) Get(key ref.Val) ref.Val {
	if v, ok := o.Find(key); ok {
		return v
	}
	return types.NewErr("no such key: %v", key.Value())
}

// Contains implements traits.Container.
func (o *Object) Contains(key ref.Val) ref.Val {
	_, ok := o.Find(key)
	return types.Bool(ok)
}

// Size implements traits.Sizer.
func (o *Object) Size() ref.Val { return types.Int(len(o.keys)) }

// Iterator implements traits.Iterable: over the keys, ascending.
func (o *Object) Iterator() traits.Iterator {
	return types.NewStringList(types.DefaultTypeAdapter, o.keys).Iterator()
}

// Equal implements ref.Val.
func (o *Object) Equal(other ref.Val) ref.Val {
	m, ok := other.(traits.Mapper)
	if !ok || m.Size() != o.Size() {
		return types.False
	}
	for i, k := range o.keys {
		v, found := m.Find(types.String(k))
		if !found || types.Equal(o.vals[i], v) != types.True {
			return types.False
		}
	}
	return types.True
}

// Type implements ref.Val.
func (o *Object) Type() ref.Type { return types.MapType }

// Value implements ref.Val.
func (o *Object) Value() any { return o }

// ConvertToNative implements ref.Val.
func (o *Object) ConvertToNative(t reflect.Type) (any, error) {
	return nil, fmt.Errorf("expr: an object has no form as %v", t)
}

// ConvertToType implements ref.Val.
func (o *Object) ConvertToType(t ref.Type) ref.Val {
	switch t {
	case types.MapType:
		return o
	case types.TypeType:
		return types.MapType
	}
	return types.NewErr("type conversion error from map to %s", t.TypeName())
}

var _ ref.Val = Decimal{}

// Equal implements ref.Val.
func (d Decimal) Equal(other ref.Val) ref.Val {
	o, ok := other.(Decimal)
	return types.Bool(ok && o == d)
}

// Type implements ref.Val.
func (d Decimal) Type() ref.Type { return decimalType() }

// Value implements ref.Val: digits × 10^exponent, as "123e4".
func (d Decimal) Value() any { return d.digits + "e" + d.exp }

// ConvertToNative implements ref.Val.
func (d Decimal) ConvertToNative(t reflect.Type) (any, error) {
	return nil, fmt.Errorf("expr: a decimal has no form as %v", t)
}

// ConvertToType implements ref.Val.
func (d Decimal) ConvertToType(t ref.Type) ref.Val {
	return types.NewErr("a number of so many digits has no form as %s", t.TypeName())
}
