package schema

import (
	"encoding/binary"
	"fmt"
	"math"
)

// cursor reads a record that Walk has accepted: every length is within b and every
// number in its smallest form, so only types, ranges and zero values are left to
// check. The first error sticks, and what is read after it is worthless.
type cursor struct {
	b   []byte
	at  int
	err error
}

func (c *cursor) fail(at int, problem, repair string) {
	if c.err == nil {
		c.err = &WireError{Offset: at, Problem: problem, Repair: repair}
	}
}

func (c *cursor) want(what string) {
	c.fail(c.at, fmt.Sprintf("want %s, found code %#02x", what, c.b[c.at]), "")
}

func (c *cursor) zero(at int) {
	c.fail(at, "a field with its zero value", "leave the field out")
}

// big reads the number of the given width behind the code at c.at.
func (c *cursor) big(width int) uint64 {
	p := c.b[c.at+1:]
	switch width {
	case 1:
		return uint64(p[0])
	case 2:
		return uint64(binary.BigEndian.Uint16(p))
	case 4:
		return uint64(binary.BigEndian.Uint32(p))
	default:
		return binary.BigEndian.Uint64(p)
	}
}

// count reads the header of a map or array, whose codes are laid out alike.
func (c *cursor) count(is func(byte) bool, what string) int {
	if c.err != nil {
		return 0
	}
	code := c.b[c.at]
	switch {
	case !is(code):
		c.want(what)
		return 0
	case code < codeArray16:
		c.at++
		return int(code & 0x0f)
	default:
		width := 2 << (code & 1)
		n := c.big(width)
		c.at += 1 + width
		return int(n)
	}
}

// content reads the header of a string or byte string whose wide codes start at
// wide, and returns the bytes behind it.
func (c *cursor) content(wide byte) []byte {
	width := 1 << (c.b[c.at] - wide)
	n := int(c.big(width))
	from := c.at + 1 + width
	c.at = from + n
	return c.b[from:c.at]
}

// text reads a string without copying.
func (c *cursor) text() []byte {
	if c.err != nil {
		return nil
	}
	code := c.b[c.at]
	if code&0xe0 == codeFixStr {
		from := c.at + 1
		c.at = from + int(code&0x1f)
		return c.b[from:c.at]
	}
	if !isStr(code) {
		c.want("a string")
		return nil
	}
	return c.content(codeStr8)
}

func (c *cursor) anyStr() string { return string(c.text()) }

func (c *cursor) anyUint() uint64 {
	if c.err != nil {
		return 0
	}
	code := c.b[c.at]
	if code < codeFixMap {
		c.at++
		return uint64(code)
	}
	if code < codeUint8 || code > codeUint64 {
		c.want("a non-negative integer")
		return 0
	}
	width := 1 << (code - codeUint8)
	n := c.big(width)
	c.at += 1 + width
	return n
}

func (c *cursor) anyInt() int64 {
	if c.err != nil {
		return 0
	}
	code := c.b[c.at]
	switch {
	case code >= codeNegFix:
		c.at++
		return int64(int8(code))
	case code >= codeInt8 && code <= codeInt64:
		width := 1 << (code - codeInt8)
		n := c.big(width)
		c.at += 1 + width
		return int64(n<<(64-8*width)) >> (64 - 8*width)
	}
	at := c.at
	n := c.anyUint()
	if n > math.MaxInt64 {
		c.fail(at, fmt.Sprintf("the integer %d does not fit into 64 signed bits", n), "")
	}
	return int64(n)
}

func (c *cursor) anyFloat() float64 {
	if c.err != nil {
		return 0
	}
	if c.b[c.at] != codeFloat64 {
		c.want("a 64-bit float")
		return 0
	}
	f := math.Float64frombits(c.big(8))
	c.at += 9
	return f
}

// anyBin reads bytes; nil when there are none.
func (c *cursor) anyBin() []byte {
	if c.err != nil {
		return nil
	}
	if !isBin(c.b[c.at]) {
		c.want("bytes")
		return nil
	}
	return append([]byte(nil), c.content(codeBin8)...)
}

// The readers of fields, below, refuse the zero value, which is left out.

func (c *cursor) str() string {
	at := c.at
	s := c.text()
	if len(s) == 0 {
		c.zero(at)
	}
	return string(s)
}

// name reads a string that is nearly always one of the given, which are then
// shared and not copied.
func name[S ~string](c *cursor, known ...S) S {
	at := c.at
	s := c.text()
	for _, k := range known {
		if string(s) == string(k) {
			return k
		}
	}
	if len(s) == 0 {
		c.zero(at)
	}
	return S(s)
}

func (c *cursor) bin() []byte {
	at := c.at
	v := c.anyBin()
	if len(v) == 0 {
		c.zero(at)
	}
	return v
}

func (c *cursor) uint() uint64 {
	at := c.at
	v := c.anyUint()
	if v == 0 {
		c.zero(at)
	}
	return v
}

func (c *cursor) int() int64 {
	at := c.at
	v := c.anyInt()
	if v == 0 {
		c.zero(at)
	}
	return v
}

func (c *cursor) float() float64 {
	at := c.at
	v := c.anyFloat()
	if v == 0 {
		c.zero(at)
	}
	return v
}

// enum reads an element of a closed set whose largest is last.
func (c *cursor) enum(last uint8) uint8 {
	at := c.at
	v := c.uint()
	if v > uint64(last) {
		c.fail(at, fmt.Sprintf("%d is outside a closed set (0 to %d)", v, last), "a new element needs a new schema version")
	}
	return uint8(v)
}

func (c *cursor) flag() bool {
	if c.err != nil {
		return false
	}
	switch c.b[c.at] {
	case codeTrue:
		c.at++
		return true
	case codeFalse:
		c.zero(c.at)
	default:
		c.want("a truth value")
	}
	return false
}

func (c *cursor) strs() []string {
	return list(c, MaxRecord, func(c *cursor, s *string) { *s = c.anyStr() })
}

// list reads a non-empty array of at most the given number of elements. Where that
// is MaxRecord, the size of the record bounds it: an element is at least a byte.
func list[E any](c *cursor, most int, element func(*cursor, *E)) []E {
	at := c.at
	n := c.count(isArray, "an array")
	if n == 0 {
		c.zero(at)
		return nil
	}
	if n > most {
		c.fail(at, fmt.Sprintf("%d elements, the limit is %d", n, most), "")
		return nil
	}
	out := make([]E, 0, min(n, 64))
	for i := 0; i < n && c.err == nil; i++ {
		var e E
		out = append(out, e)
		element(c, &out[i])
	}
	return out
}

// table reads a non-empty map with free keys.
func table[V any](c *cursor, value func(*cursor) V) map[string]V {
	at := c.at
	n := c.count(isMap, "a map")
	if n == 0 {
		c.zero(at)
		return nil
	}
	out := make(map[string]V, min(n, 64))
	for i := 0; i < n && c.err == nil; i++ {
		k := c.anyStr()
		out[k] = value(c)
	}
	return out
}

// fields reads a map of known fields; set reads the value of one, or says that it
// does not know the key.
func (c *cursor) fields(what string, set func(key []byte) bool) {
	c.rest(what, c.count(isMap, "a map"), set)
}

// some is fields for a map that is left out when it is empty.
func (c *cursor) some(what string, set func(key []byte) bool) {
	at := c.at
	n := c.count(isMap, "a map")
	if n == 0 {
		c.zero(at)
	}
	c.rest(what, n, set)
}

// rest reads n fields.
func (c *cursor) rest(what string, n int, set func(key []byte) bool) {
	for ; n > 0 && c.err == nil; n-- {
		at := c.at
		key := c.text()
		if !set(key) {
			c.fail(at, fmt.Sprintf("the key %q is unknown in a %s", clip(key), what), "nested maps are closed within a schema version")
		}
	}
}

// version reads the start of a record: the map's header and the version under the
// given key. It returns the number of fields left.
func (c *cursor) version(key, what string) int {
	n := c.count(isMap, "a map")
	at := c.at
	if c.err != nil {
		return 0
	}
	if n == 0 || string(c.text()) != key {
		c.fail(at, "the record does not start with the schema version of "+article(what),
			fmt.Sprintf("write the version under the key %q first", key))
		return 0
	}
	at = c.at
	if v := c.uint(); c.err == nil && v != Version {
		c.err = &WireError{
			Offset:  at,
			Problem: fmt.Sprintf("%s has schema version %d, this build reads version %d only", article(what), v, Version),
			Repair:  "upgrade the reader, or have the producer write an older version",
			cause:   ErrVersion,
		}
	}
	return n - 1
}

func article(what string) string {
	if what == "event" {
		return "an event"
	}
	return "a " + what
}
