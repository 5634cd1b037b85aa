package future

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/aspis-rv/aspis/pkg/schema"
)

// tuple is the values of a relation's columns.
type tuple = []schema.Value

// copied copies tuples into memory of their own; their strings are not copied.
func copied(tuples []tuple) []tuple {
	if len(tuples) == 0 {
		return nil
	}
	width := len(tuples[0])
	values := make([]schema.Value, 0, len(tuples)*width)
	out := make([]tuple, len(tuples))
	for i, t := range tuples {
		values = append(values, t...)
		out[i] = slices.Clip(values[i*width:])
	}
	return out
}

// table gives the tuples of a set numbers, called slots, that are small and used again.
type table struct {
	slots  map[string]int32
	keys   []string // by slot
	tuples []tuple  // by slot
	free   []int32
	buf    []byte
}

// find returns the slot of a tuple, or -1.
func (t *table) find(x tuple) int32 {
	t.buf = appendKey(t.buf[:0], x)
	if slot, ok := t.slots[string(t.buf)]; ok {
		return slot
	}
	return -1
}

// add returns the slot of a tuple, which is a new one if made is set. A new tuple is
// copied; its strings are not.
func (t *table) add(x tuple) (slot int32, made bool) {
	if slot = t.find(x); slot >= 0 {
		return slot, false
	}
	if t.slots == nil {
		t.slots = map[string]int32{}
	}
	key := string(t.buf)
	if n := len(t.free); n > 0 {
		slot = t.free[n-1]
		t.free = t.free[:n-1]
		t.keys[slot], t.tuples[slot] = key, slices.Clone(x)
	} else {
		slot = int32(len(t.keys))
		t.keys, t.tuples = append(t.keys, key), append(t.tuples, slices.Clone(x))
	}
	t.slots[key] = slot
	return slot, true
}

// remove frees a slot.
func (t *table) remove(slot int32) {
	delete(t.slots, t.keys[slot])
	t.keys[slot], t.tuples[slot] = "", nil
	t.free = append(t.free, slot)
}

// appendKey writes a tuple so that equal tuples, and only those, give equal bytes.
func appendKey(dst []byte, t tuple) []byte {
	for i := range t {
		v := &t[i]
		dst = append(dst, byte(v.Kind))
		switch v.Kind {
		case schema.KindInt:
			dst = binary.LittleEndian.AppendUint64(dst, uint64(v.Int))
		case schema.KindFloat:
			x := v.Float
			if x == 0 {
				x = 0 // the two zeros are equal
			}
			dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(x))
		case schema.KindString:
			dst = binary.AppendUvarint(dst, uint64(len(v.Str)))
			dst = append(dst, v.Str...)
		}
	}
	return dst
}
