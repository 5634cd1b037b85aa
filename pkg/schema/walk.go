package schema

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
)

// Walk checks that b is exactly one MessagePack value in the canonical form of the
// log, before any decoder sees it:
//
//   - at most MaxRecord bytes, nothing after the value;
//   - maps and arrays nest at most MaxDepth deep, and no length exceeds the bytes
//     that remain;
//   - map keys are strings in strictly ascending byte order, hence unique;
//   - integers and lengths use their smallest encoding, non-negative integers an
//     unsigned one; floats are 64 bits wide, neither NaN nor negative zero;
//   - no extension types and no unassigned codes.
//
// It does not allocate when b is accepted, and takes time linear in len(b). Errors
// are a *WireError.
func Walk(b []byte) error {
	if len(b) > MaxRecord {
		return &WireError{
			Offset:  MaxRecord,
			Problem: fmt.Sprintf("the record has %d bytes, more than the limit of %d", len(b), MaxRecord),
			Repair:  "store large values elsewhere and put their digest into the record",
		}
	}
	w := walker{b: b}
	if w.value(0) && w.at != len(b) {
		w.fail(w.at, "bytes follow the value", "one record is one value")
	}
	if w.problem == "" {
		return nil
	}
	return &WireError{Offset: w.bad, Problem: w.problem, Repair: w.repair}
}

// walker is a position in b, and the first problem found.
type walker struct {
	b       []byte
	at      int
	bad     int
	problem string
	repair  string
}

func (w *walker) fail(at int, problem, repair string) bool {
	w.bad, w.problem, w.repair = at, problem, repair
	return false
}

const (
	repairShortest  = "use the smallest encoding that holds the value"
	repairTruncated = "the record was cut off or a length is forged"
)

// value checks the value at w.at, which stands inside depth maps and arrays, and
// moves past it.
func (w *walker) value(depth int) bool {
	if w.at >= len(w.b) {
		return w.fail(w.at, "the value is missing", repairTruncated)
	}
	switch c := w.b[w.at]; {
	case c < codeFixMap, c >= codeNegFix, c == codeNil, c == codeFalse, c == codeTrue:
		w.at++
		return true
	case isStr(c):
		_, ok := w.text()
		return ok
	case isBin(c):
		return w.bin(c)
	case c >= codeUint8 && c <= codeInt64:
		return w.integer(c)
	case isMap(c):
		return w.mapping(c, depth+1)
	case isArray(c):
		return w.array(c, depth+1)
	case c == codeFloat64:
		return w.double()
	case c == codeFloat32:
		return w.fail(w.at, "a 32-bit float", "floats are 64 bits wide")
	case c >= codeExt8 && c <= codeExt32, c >= codeFixExt1 && c <= codeFixExt16:
		return w.fail(w.at, fmt.Sprintf("extension type (code %#02x)", c), "use maps, arrays and scalars only")
	default:
		return w.fail(w.at, fmt.Sprintf("unassigned code %#02x", c), "")
	}
}

// size reads a big-endian unsigned number of n bytes behind the code at w.at.
func (w *walker) size(n int) (uint64, bool) {
	rest := w.b[w.at+1:]
	if len(rest) < n {
		return 0, w.fail(w.at, "a number is cut off", repairTruncated)
	}
	switch n {
	case 1:
		return uint64(rest[0]), true
	case 2:
		return uint64(binary.BigEndian.Uint16(rest)), true
	case 4:
		return uint64(binary.BigEndian.Uint32(rest)), true
	default:
		return binary.BigEndian.Uint64(rest), true
	}
}

// take moves past a header of head bytes and n bytes of content.
func (w *walker) take(head int, n uint64) ([]byte, bool) {
	from := w.at + head
	if n > uint64(len(w.b)-from) {
		return nil, w.fail(w.at, fmt.Sprintf("a length of %d with %d bytes left", n, len(w.b)-from), repairTruncated)
	}
	w.at = from + int(n)
	return w.b[from:w.at], true
}

// text checks a string and returns its bytes.
func (w *walker) text() ([]byte, bool) {
	c := w.b[w.at]
	if c&0xe0 == codeFixStr {
		return w.take(1, uint64(c&0x1f))
	}
	width := 1 << (c - codeStr8)
	n, ok := w.size(width)
	if !ok {
		return nil, false
	}
	if n < 32 || !shortest(n, width) {
		return nil, w.fail(w.at, fmt.Sprintf("a string of %d bytes with a %d-byte length", n, width), repairShortest)
	}
	return w.take(1+width, n)
}

func (w *walker) bin(c byte) bool {
	width := 1 << (c - codeBin8)
	n, ok := w.size(width)
	if !ok {
		return false
	}
	if !shortest(n, width) {
		return w.fail(w.at, fmt.Sprintf("%d bytes of data with a %d-byte length", n, width), repairShortest)
	}
	_, ok = w.take(1+width, n)
	return ok
}

// shortest reports whether n does not fit into the next smaller width.
func shortest(n uint64, width int) bool {
	switch width {
	case 1:
		return true
	case 2:
		return n > math.MaxUint8
	case 4:
		return n > math.MaxUint16
	default:
		return n > math.MaxUint32
	}
}

// integer checks the eight wide integer codes, which are consecutive.
func (w *walker) integer(c byte) bool {
	signed := c >= codeInt8
	width := 1 << ((c - codeUint8) & 3)
	n, ok := w.size(width)
	if !ok {
		return false
	}
	if signed {
		ok = shortestNegative(n, width)
	} else {
		ok = n > 127 && shortest(n, width)
	}
	if !ok {
		return w.fail(w.at, "an integer wider than it needs to be, or a non-negative one with a signed code", repairShortest)
	}
	w.at += 1 + width
	return true
}

// shortestNegative reports whether the two's complement number n of the given
// width is negative and does not fit into a smaller one.
func shortestNegative(n uint64, width int) bool {
	switch width {
	case 1:
		return int8(n) < -32
	case 2:
		return int16(n) < math.MinInt8
	case 4:
		return int32(n) < math.MinInt16
	default:
		return int64(n) < math.MinInt32
	}
}

func (w *walker) double() bool {
	n, ok := w.size(8)
	if !ok {
		return false
	}
	if f := math.Float64frombits(n); f != f || n == 1<<63 {
		return w.fail(w.at, "a float that is NaN or negative zero", "write 0, or leave the field out")
	}
	w.at += 9
	return true
}

// count reads the number of elements of a map or array whose smallest element
// takes unit bytes, and moves past the header.
func (w *walker) count(c byte, unit, depth int) (int, bool) {
	if depth > MaxDepth {
		return 0, w.fail(w.at, fmt.Sprintf("maps and arrays nest more than %d deep", MaxDepth), "flatten the value")
	}
	n, head := uint64(c&0x0f), 1
	if c >= codeArray16 { // then map16 and array16 are even, map32 and array32 odd
		width := 2 << (c & 1)
		var ok bool
		if n, ok = w.size(width); !ok {
			return 0, false
		}
		if n < 16 || width == 4 && n <= math.MaxUint16 {
			return 0, w.fail(w.at, fmt.Sprintf("%d elements with a %d-byte count", n, width), repairShortest)
		}
		head += width
	}
	if rest := uint64(len(w.b) - w.at - head); n*uint64(unit) > rest {
		return 0, w.fail(w.at, fmt.Sprintf("%d elements with %d bytes left", n, rest), repairTruncated)
	}
	w.at += head
	return int(n), true
}

func (w *walker) array(c byte, depth int) bool {
	n, ok := w.count(c, 1, depth)
	for ; ok && n > 0; n-- {
		ok = w.value(depth)
	}
	return ok
}

func (w *walker) mapping(c byte, depth int) bool {
	n, ok := w.count(c, 2, depth)
	var last []byte
	for i := 0; ok && i < n; i++ {
		at := w.at
		if at >= len(w.b) || !isStr(w.b[at]) {
			return w.fail(at, "a map key that is not a string", "")
		}
		key, isText := w.text()
		if !isText {
			return false
		}
		if i > 0 && bytes.Compare(last, key) >= 0 {
			return w.fail(at, fmt.Sprintf("map key %q after %q", clip(key), clip(last)), "write keys once each, in ascending byte order")
		}
		last = key
		ok = w.value(depth)
	}
	return ok
}

// clip shortens foreign bytes for a message.
func clip(b []byte) []byte {
	const most = 40
	if len(b) > most {
		return append(append([]byte{}, b[:most]...), "…"...)
	}
	return b
}
