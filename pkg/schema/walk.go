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
	if end := w.value(0, 0); end >= 0 && end != len(b) {
		w.fail(end, "bytes follow the value", "one record is one value")
	}
	if w.problem == "" {
		return nil
	}
	return &WireError{Offset: w.bad, Problem: w.problem, Repair: w.repair}
}

// walker checks the values of b. Its methods take the offset of an item and return
// the offset behind it, or failed.
type walker struct {
	b []byte
	// The first problem found; problem is empty while there is none.
	bad     int
	problem string
	repair  string
}

// failed is the offset that stands for a refusal.
const failed = -1

func (w *walker) fail(at int, problem, repair string) int {
	w.bad, w.problem, w.repair = at, problem, repair
	return failed
}

const (
	repairShortest  = "use the smallest encoding that holds the value"
	repairTruncated = "the record was cut off or a length is forged"
)

// value checks the value at the offset, which stands inside depth maps and arrays.
func (w *walker) value(at, depth int) int {
	if at >= len(w.b) {
		return w.fail(at, "the value is missing", repairTruncated)
	}
	switch c := w.b[at]; {
	case c < codeFixMap, c >= codeNegFix, c == codeNil, c == codeFalse, c == codeTrue:
		return at + 1
	case isStr(c):
		_, end := w.text(at)
		return end
	case isBin(c):
		return w.bin(at)
	case c >= codeUint8 && c <= codeInt64:
		return w.integer(at)
	case isMap(c):
		return w.mapping(at, depth+1)
	case isArray(c):
		return w.array(at, depth+1)
	case c == codeFloat64:
		return w.double(at)
	case c == codeFloat32:
		return w.fail(at, "a 32-bit float", "floats are 64 bits wide")
	case c >= codeExt8 && c <= codeExt32, c >= codeFixExt1 && c <= codeFixExt16:
		return w.fail(at, fmt.Sprintf("extension type (code %#02x)", c), "use maps, arrays and scalars only")
	default:
		return w.fail(at, fmt.Sprintf("unassigned code %#02x", c), "")
	}
}

// size reads the big-endian number of the given width behind the code at the
// offset.
func (w *walker) size(at, width int) (n uint64, ok bool) {
	rest := w.b[at+1:]
	if len(rest) < width {
		w.fail(at, "a number is cut off", repairTruncated)
		return 0, false
	}
	switch width {
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

// content is the offset behind a header of head bytes and n bytes of content.
func (w *walker) content(at, head int, n uint64) int {
	if rest := len(w.b) - at - head; rest < 0 || n > uint64(rest) {
		return w.fail(at, fmt.Sprintf("a length of %d with %d bytes left", n, max(rest, 0)), repairTruncated)
	}
	return at + head + int(n)
}

// text checks a string and returns where its bytes start and end.
func (w *walker) text(at int) (start, end int) {
	c := w.b[at]
	if c&0xe0 == codeFixStr {
		return at + 1, w.content(at, 1, uint64(c&0x1f))
	}
	width := 1 << (c - codeStr8)
	n, ok := w.size(at, width)
	if !ok {
		return 0, failed
	}
	if n < 32 || !shortest(n, width) {
		return 0, w.fail(at, fmt.Sprintf("a string of %d bytes with a %d-byte length", n, width), repairShortest)
	}
	return at + 1 + width, w.content(at, 1+width, n)
}

func (w *walker) bin(at int) int {
	width := 1 << (w.b[at] - codeBin8)
	n, ok := w.size(at, width)
	if !ok {
		return failed
	}
	if !shortest(n, width) {
		return w.fail(at, fmt.Sprintf("%d bytes of data with a %d-byte length", n, width), repairShortest)
	}
	return w.content(at, 1+width, n)
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
func (w *walker) integer(at int) int {
	c := w.b[at]
	width := 1 << ((c - codeUint8) & 3)
	n, ok := w.size(at, width)
	if !ok {
		return failed
	}
	if c >= codeInt8 {
		ok = shortestNegative(n, width)
	} else {
		ok = n > 127 && shortest(n, width)
	}
	if !ok {
		return w.fail(at, "an integer wider than it needs to be, or a non-negative one with a signed code", repairShortest)
	}
	return at + 1 + width
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

func (w *walker) double(at int) int {
	n, ok := w.size(at, 8)
	if !ok {
		return failed
	}
	if f := math.Float64frombits(n); f != f || n == 1<<63 {
		return w.fail(at, "a float that is NaN or negative zero", "write 0, or leave the field out")
	}
	return at + 9
}

// count reads the header of a map or array whose smallest element takes unit
// bytes. It returns the number of elements and the offset of the first.
func (w *walker) count(at, unit, depth int) (n, first int) {
	if depth > MaxDepth {
		return 0, w.fail(at, fmt.Sprintf("maps and arrays nest more than %d deep", MaxDepth), "flatten the value")
	}
	c, head := w.b[at], 1
	elements := uint64(c & 0x0f)
	if c >= codeArray16 { // then map16 and array16 are even, map32 and array32 odd
		width := 2 << (c & 1)
		var ok bool
		if elements, ok = w.size(at, width); !ok {
			return 0, failed
		}
		if elements < 16 || width == 4 && elements <= math.MaxUint16 {
			return 0, w.fail(at, fmt.Sprintf("%d elements with a %d-byte count", elements, width), repairShortest)
		}
		head += width
	}
	if rest := uint64(len(w.b) - at - head); elements*uint64(unit) > rest {
		return 0, w.fail(at, fmt.Sprintf("%d elements with %d bytes left", elements, rest), repairTruncated)
	}
	return int(elements), at + head
}

func (w *walker) array(at, depth int) int {
	n, at := w.count(at, 1, depth)
	for ; at >= 0 && n > 0; n-- {
		at = w.value(at, depth)
	}
	return at
}

func (w *walker) mapping(at, depth int) int {
	n, at := w.count(at, 2, depth)
	var last []byte
	for i := 0; at >= 0 && i < n; i++ {
		if at >= len(w.b) || !isStr(w.b[at]) {
			return w.fail(at, "a map key that is not a string", "")
		}
		start, end := w.text(at)
		if end < 0 {
			return failed
		}
		key := w.b[start:end]
		if i > 0 && bytes.Compare(last, key) >= 0 {
			return w.fail(at, fmt.Sprintf("map key %q after %q", clip(key), clip(last)), "write keys once each, in ascending byte order")
		}
		last = key
		at = w.value(end, depth)
	}
	return at
}

// clip shortens foreign bytes for a message.
func clip(b []byte) []byte {
	const most = 40
	if len(b) > most {
		return append(append([]byte{}, b[:most]...), "…"...)
	}
	return b
}
