package world

import (
	"encoding/binary"
	"math"

	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// The state of a world is a set of cells, each with an image. Everything else is computed
// from them. Edits, reverts and the encoding know cells only.

// cellKind is a kind of cell.
type cellKind uint8

// The kinds. Their numbers are part of the encoding.
const (
	vertexCell  cellKind = iota + 1 // x the vertex; n its sort; absent: unknown
	domainCell                      // x the vertex; s its domain
	labelCell                       // x the vertex, y the label
	edgeCell                        // x and y the ends, x first by name; n the distance
	channelCell                     // from vertex x to vertex y; n the weight as declared, open
	replicaCell                     // x the object, y the vertex
	existsCell                      // x the object
	emptiedCell                     // x the object: when its last replica went
	linkCell                        // x the object, y the object that it was made from
	tupleCell                       // a tuple of an attribute or state; strength
)

// cell names a cell in ids of one world and of those made from it.
type cell struct {
	kind cellKind
	x, y uint32
	// tuple is the key of a tupleCell; see key.
	tuple string
}

// image is what a cell holds. That of an absent one is zero.
type image struct {
	present  bool
	open     bool
	strength verdict.Strength // of a tuple: the strongest of all its writes that stand
	own      verdict.Strength // of a tuple: that of the write that made the image
	n        int64
	s        string
	origin   uint64
}

// same tells whether two images differ at most in their origin.
func (im image) same(other image) bool {
	im.origin = other.origin
	return im == other
}

// alike tells whether two images say the same, whoever wrote them.
func (im image) alike(other image) bool {
	im.own = other.own
	return im.same(other)
}

// Names of cells as bytes: the kind, and the names of what it is about. They do not depend
// on ids, and that of a cell about (a, b) begins with that of one about (a).

func appendName(dst []byte, name string) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(name)))
	return append(dst, name...)
}

// cutName is the inverse of appendName.
func cutName(s string) (name, rest string, ok bool) {
	var n uint64
	var width int
	for {
		if width == len(s) || width > 3 {
			return "", "", false
		}
		c := s[width]
		n |= uint64(c&0x7f) << (7 * width)
		width++
		if c < 0x80 {
			if c == 0 && width > 1 {
				return "", "", false // a longer form of a shorter number
			}
			break
		}
	}
	if uint64(len(s)-width) < n {
		return "", "", false
	}
	return s[width : width+int(n)], s[width+int(n):], true
}

// appendValue writes a value so that values of one kind but for floats keep their order.
func appendValue(dst []byte, v schema.Value) []byte {
	dst = append(dst, byte(v.Kind))
	switch v.Kind {
	case schema.KindInt:
		return binary.BigEndian.AppendUint64(dst, uint64(v.Int)^1<<63)
	case schema.KindFloat:
		return binary.BigEndian.AppendUint64(dst, floatBits(v.Float))
	case schema.KindString:
		return appendName(dst, v.Str)
	}
	return dst
}

// floatBits gives equal numbers equal bits, and all NaN the same.
func floatBits(f float64) uint64 {
	switch {
	case f == 0:
		return 0 // the negative zero too
	case math.IsNaN(f):
		return math.Float64bits(math.NaN())
	}
	return math.Float64bits(f)
}

// cutValue is the inverse of appendValue.
func cutValue(s string) (v schema.Value, rest string, ok bool) {
	if s == "" {
		return v, "", false
	}
	kind, s := schema.ValueKind(s[0]), s[1:]
	switch kind {
	case schema.KindString:
		v.Kind = kind
		v.Str, rest, ok = cutName(s)
		return v, rest, ok
	case schema.KindInt, schema.KindFloat:
		if len(s) < 8 {
			return v, "", false
		}
		bits := bigEndian(s)
		if kind == schema.KindInt {
			return schema.IntValue(int64(bits ^ 1<<63)), s[8:], true
		}
		return schema.FloatValue(math.Float64frombits(bits)), s[8:], true
	}
	return v, "", false
}

func bigEndian(s string) (bits uint64) {
	for i := range 8 {
		bits = bits<<8 | uint64(s[i])
	}
	return bits
}

// Tables: the attributes and the states of a spec may not share names, so a table is
// named by its relation alone.

// tuplePrefix is the key of the tuples of a table whose first arguments are given.
func tuplePrefix(table string, args ...schema.Value) []byte {
	key := appendName([]byte{byte(tupleCell)}, table)
	for _, a := range args {
		key = appendValue(key, a)
	}
	return key
}

// cutTuple appends the arguments in a tuple key to args.
func cutTuple(key string, args []schema.Value) (table string, _ []schema.Value, ok bool) {
	table, rest, ok := cutName(key[1:])
	for ok && rest != "" {
		var v schema.Value
		if v, rest, ok = cutValue(rest); ok {
			args = append(args, v)
		}
	}
	return table, args, ok
}

// key is the name of a cell.
func (w *World) key(c cell) string {
	buf := make([]byte, 1, 96)
	buf[0] = byte(c.kind)
	switch c.kind {
	case tupleCell:
		return c.tuple
	case vertexCell, domainCell:
		buf = appendName(buf, w.Name(V(c.x)))
	case labelCell:
		buf = appendName(appendName(buf, w.Name(V(c.x))), w.graph.labels.name(c.y))
	case edgeCell, channelCell:
		buf = appendName(appendName(buf, w.Name(V(c.x))), w.Name(V(c.y)))
	case replicaCell:
		buf = appendName(appendName(buf, w.object(c.x).name), w.Name(V(c.y)))
	case existsCell, emptiedCell:
		buf = appendName(buf, w.object(c.x).name)
	case linkCell:
		buf = appendName(appendName(buf, w.object(c.x).name), w.object(c.y).name)
	}
	return string(buf)
}
