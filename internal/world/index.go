package world

import "github.com/tidwall/btree"

// degree keeps the nodes of an index small: a write copies one on each level.
const degree = 8

// index is a persistent ordered map: a copy of the value is a snapshot. The order is that
// of the keys' bytes.
type index[T any] struct {
	owner *owner
	m     *btree.Map[string, T]
}

func (x *index[T]) len() int {
	if x.m == nil {
		return 0
	}
	return x.m.Len()
}

func (x *index[T]) get(key string) (val T, ok bool) {
	if x.m == nil {
		return val, false
	}
	return x.m.Get(key)
}

// own makes x the writer's. The map that is left behind is not written to, not even by
// its being copied: other goroutines may read it.
func (x *index[T]) own(o *owner) {
	switch {
	case x.m == nil:
		x.m = btree.NewMap[string, T](degree)
	case x.owner != o:
		left := *x.m
		x.m = left.Copy()
	}
	x.owner = o
}

func (x *index[T]) set(key string, val T, o *owner) {
	x.own(o)
	x.m.Set(key, val)
}

func (x *index[T]) delete(key string, o *owner) {
	if _, ok := x.get(key); !ok {
		return
	}
	x.own(o)
	x.m.Delete(key)
}

// scan calls yield in order until it returns false, and then returns false.
func (x *index[T]) scan(yield func(key string, val T) bool) bool {
	if x.m == nil {
		return true
	}
	ok := true
	x.m.Scan(func(key string, val T) bool {
		ok = yield(key, val)
		return ok
	})
	return ok
}

// prefixed is scan over the keys that begin with prefix.
func (x *index[T]) prefixed(prefix string, yield func(key string, val T) bool) bool {
	if x.m == nil {
		return true
	}
	ok := true
	x.m.Ascend(prefix, func(key string, val T) bool {
		if len(key) < len(prefix) || key[:len(prefix)] != prefix {
			return false
		}
		ok = yield(key, val)
		return ok
	})
	return ok
}
