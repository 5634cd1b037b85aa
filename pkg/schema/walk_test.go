package schema

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/vmihailenco/msgpack/v5/msgpcode"
)

func unhex(tb testing.TB, s string) []byte {
	tb.Helper()
	b, err := hex.DecodeString(strings.NewReplacer(" ", "", "\n", "").Replace(s))
	if err != nil {
		tb.Fatalf("bad hex in the test: %v", err)
	}
	return b
}

func TestWalkAccepts(t *testing.T) {
	for _, s := range []string{
		"00", "7f", "e0", "ff", "c0", "c2", "c3",
		"cc80", "ccff", "cd0100", "cdffff", "ce00010000", "cf0000000100000000",
		"d0df", "d080", "d1ff7f", "d2ffff7fff", "d3ffffffff7fffffff", "d38000000000000000",
		"cb3ff0000000000000", "cb0000000000000000", "cb7ff0000000000000",
		"a0", "a161", "bf" + strings.Repeat("61", 31), "d920" + strings.Repeat("61", 32),
		"c400", "c40161", "90", "9101", "80", "81a16101", "82a16101a16202", "82a161c0a2616101",
		"dc0010" + strings.Repeat("00", 16),
	} {
		if err := Walk(unhex(t, s)); err != nil {
			t.Errorf("%s: %v", s, err)
		}
	}
}

func TestWalkRefuses(t *testing.T) {
	tests := []struct {
		name, hex string
		offset    int
		problem   string
	}{
		{"nothing", "", 0, "missing"},
		{"the five bytes that kill a decoder", "ddffffffff", 0, "4294967295 elements with 0 bytes left"},
		{"a map of the same kind", "dfffffffff", 0, "elements with 0 bytes left"},
		{"half a map", "81a161", 3, "missing"},
		{"a long string", "d9ff61", 0, "length of 255 with 1 bytes left"},
		{"long data", "c6ffffffff", 0, "length of 4294967295"},
		{"trailing bytes", "0000", 1, "follow the value"},
		{"trailing after a map", "81a16101c0", 4, "follow the value"},
		{"an integer in two bytes that fits one", "cc7f", 0, "wider"},
		{"a wide small integer", "cf0000000000000001", 0, "wider"},
		{"a signed positive", "d001", 0, "wider"},
		{"a wide negative", "d1ffff", 0, "wider"},
		{"a cut-off integer", "cd01", 0, "cut off"},
		{"a wide string length", "d90161", 0, "string of 1 bytes with a 1-byte length"},
		{"a wider string length", "da0020" + strings.Repeat("61", 32), 0, "2-byte length"},
		{"a wide data length", "c5000161", 0, "2-byte length"},
		{"a wide count", "dc000100", 0, "1 elements with a 2-byte count"},
		{"a wider count", "dd00000010" + strings.Repeat("00", 16), 0, "4-byte count"},
		{"a duplicate key", "82a16101a16102", 4, `key "a" after "a"`},
		{"keys out of order", "82a16201a16102", 4, `key "a" after "b"`},
		{"a key that is no string", "810101", 1, "not a string"},
		{"a nil key", "81c001", 1, "not a string"},
		{"deep keys out of order", "81a16182a16201a16102", 7, "after"},
		{"a 32-bit float", "ca3f800000", 0, "32-bit"},
		{"NaN", "cb7ff8000000000000", 0, "NaN"},
		{"negative zero", "cb8000000000000000", 0, "negative zero"},
		{"a fixed extension", "d40100", 0, "extension"},
		{"a timestamp", "d6ff00000000", 0, "extension"},
		{"an extension with length", "c70101ff", 0, "extension"},
		{"the unassigned code", "c1", 0, "unassigned"},
	}
	for _, tt := range tests {
		err := Walk(unhex(t, tt.hex))
		var wire *WireError
		if !errors.As(err, &wire) || !errors.Is(err, ErrWire) {
			t.Errorf("%s: got %v, want a WireError", tt.name, err)
			continue
		}
		if wire.Offset != tt.offset || !strings.Contains(err.Error(), tt.problem) {
			t.Errorf("%s: got %v; want offset %d and %q", tt.name, err, tt.offset, tt.problem)
		}
	}
}

func TestWalkDepthLimit(t *testing.T) {
	nested := func(n int) []byte { return append(bytes.Repeat([]byte{0x91}, n), 0xc0) }
	if err := Walk(nested(MaxDepth)); err != nil {
		t.Errorf("depth %d: %v", MaxDepth, err)
	}
	if err := Walk(nested(MaxDepth + 1)); err == nil || !strings.Contains(err.Error(), "byte 32") {
		t.Errorf("depth %d: %v", MaxDepth+1, err)
	}
	if err := Walk(nested(100_000)); err == nil {
		t.Error("depth 100,000 was accepted")
	}
	maps := append(bytes.Repeat([]byte{0x81, 0xa1, 'k'}, MaxDepth+1), 0xc0)
	if err := Walk(maps); err == nil {
		t.Error("maps nested too deep were accepted")
	}
}

func TestWalkSizeLimit(t *testing.T) {
	data := func(size int) []byte {
		b := binary.BigEndian.AppendUint32([]byte{codeBin32}, uint32(size-5))
		return append(b, make([]byte, size-5)...)
	}
	if err := Walk(data(MaxRecord)); err != nil {
		t.Errorf("%d bytes: %v", MaxRecord, err)
	}
	if err := Walk(data(MaxRecord + 1)); err == nil {
		t.Errorf("%d bytes were accepted", MaxRecord+1)
	}
}

func TestWalkDoesNotAllocate(t *testing.T) {
	for name, e := range samples() {
		b, err := e.AppendBinary(nil)
		if err != nil {
			t.Fatal(err)
		}
		if n := testing.AllocsPerRun(100, func() {
			if Walk(b) != nil {
				t.Fatal("refused")
			}
		}); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

func TestCodesAreTheLibrarys(t *testing.T) {
	for ours, theirs := range map[byte]byte{
		codeFixMap: msgpcode.FixedMapLow, codeFixArray: msgpcode.FixedArrayLow, codeFixStr: msgpcode.FixedStrLow,
		codeNil: msgpcode.Nil, codeFalse: msgpcode.False, codeTrue: msgpcode.True,
		codeBin8: msgpcode.Bin8, codeBin16: msgpcode.Bin16, codeBin32: msgpcode.Bin32,
		codeExt8: msgpcode.Ext8, codeExt32: msgpcode.Ext32, codeFixExt1: msgpcode.FixExt1, codeFixExt16: msgpcode.FixExt16,
		codeFloat32: msgpcode.Float, codeFloat64: msgpcode.Double,
		codeUint8: msgpcode.Uint8, codeUint16: msgpcode.Uint16, codeUint32: msgpcode.Uint32, codeUint64: msgpcode.Uint64,
		codeInt8: msgpcode.Int8, codeInt16: msgpcode.Int16, codeInt32: msgpcode.Int32, codeInt64: msgpcode.Int64,
		codeStr8: msgpcode.Str8, codeStr16: msgpcode.Str16, codeStr32: msgpcode.Str32,
		codeArray16: msgpcode.Array16, codeArray32: msgpcode.Array32, codeMap16: msgpcode.Map16, codeMap32: msgpcode.Map32,
		codeNegFix: msgpcode.NegFixedNumLow,
	} {
		if ours != theirs {
			t.Errorf("code %#02x is %#02x in the library", ours, theirs)
		}
	}
	for c := range 256 {
		code := byte(c)
		if isStr(code) != msgpcode.IsString(code) || isBin(code) != msgpcode.IsBin(code) {
			t.Errorf("%#02x is classified differently as string or bytes", c)
		}
		if isMap(code) != (msgpcode.IsFixedMap(code) || code == msgpcode.Map16 || code == msgpcode.Map32) {
			t.Errorf("%#02x is classified differently as map", c)
		}
		if isArray(code) != (msgpcode.IsFixedArray(code) || code == msgpcode.Array16 || code == msgpcode.Array32) {
			t.Errorf("%#02x is classified differently as array", c)
		}
	}
}

// reference is Walk written a second time from its description, without regard
// for speed: it parses into a tree, prints the tree in canonical form with plain
// rules of its own, and accepts what comes out as it went in.
type reference struct{ b []byte }

func (r *reference) take(n uint64) ([]byte, bool) {
	if n > uint64(len(r.b)) {
		return nil, false
	}
	out := r.b[:n]
	r.b = r.b[n:]
	return out, true
}

func (r *reference) number(width uint64) (uint64, bool) {
	b, ok := r.take(width)
	var n uint64
	for _, d := range b {
		n = n<<8 | uint64(d)
	}
	return n, ok
}

// pair is an element of a map, in the order of the input.
type pair struct {
	key   string
	value any
}

func (r *reference) value(depth int) (any, bool) {
	head, ok := r.take(1)
	if !ok {
		return nil, false
	}
	c := head[0]
	sized := func(width uint64) (string, bool) {
		n, ok := r.number(width)
		if !ok {
			return "", false
		}
		b, ok := r.take(n)
		return string(b), ok
	}
	switch {
	case c <= 0x7f:
		return uint64(c), true
	case c >= 0xe0:
		return int64(int8(c)), true
	case c == 0xc0:
		return nil, true
	case c == 0xc2 || c == 0xc3:
		return c == 0xc3, true
	case c >= 0xa0 && c <= 0xbf:
		b, ok := r.take(uint64(c - 0xa0))
		return string(b), ok
	case c >= 0xd9 && c <= 0xdb:
		s, ok := sized(1 << (c - 0xd9))
		return s, ok
	case c >= 0xc4 && c <= 0xc6:
		s, ok := sized(1 << (c - 0xc4))
		return []byte(s), ok
	case c >= 0xcc && c <= 0xcf:
		n, ok := r.number(1 << (c - 0xcc))
		return n, ok
	case c >= 0xd0 && c <= 0xd3:
		width := uint64(1) << (c - 0xd0)
		n, ok := r.number(width)
		shift := 64 - 8*width
		return int64(n<<shift) >> shift, ok
	case c == 0xcb:
		n, ok := r.number(8)
		return math.Float64frombits(n), ok
	}
	return r.container(c, depth+1)
}

func (r *reference) container(c byte, depth int) (any, bool) {
	var n uint64
	ok := true
	isMap := c&0xf0 == 0x80 || c == 0xde || c == 0xdf
	switch {
	case c >= 0x80 && c <= 0x9f:
		n = uint64(c & 15)
	case c == 0xdc || c == 0xde:
		n, ok = r.number(2)
	case c == 0xdd || c == 0xdf:
		n, ok = r.number(4)
	default:
		return nil, false
	}
	if !ok || depth > MaxDepth {
		return nil, false
	}
	list, pairs := []any{}, []pair{}
	for range n {
		if isMap {
			k, ok := r.value(depth)
			s, isStr := k.(string)
			if !ok || !isStr {
				return nil, false
			}
			v, ok := r.value(depth)
			if !ok || (len(pairs) > 0 && pairs[len(pairs)-1].key >= s) {
				return nil, false
			}
			pairs = append(pairs, pair{s, v})
			continue
		}
		v, ok := r.value(depth)
		if !ok {
			return nil, false
		}
		list = append(list, v)
	}
	if isMap {
		return pairs, true
	}
	return list, true
}

// print writes a tree by the rules of the format's specification.
func (r *reference) print(v any) []byte {
	be := func(code byte, n uint64, width int) []byte {
		var b [8]byte
		binary.BigEndian.PutUint64(b[:], n)
		return append([]byte{code}, b[8-width:]...)
	}
	header := func(n int, fix byte, most int, codes ...byte) []byte {
		if n < most {
			return []byte{fix | byte(n)}
		}
		for i, c := range codes { // the last codes of one, two and four bytes
			if width := 1 << (3 - len(codes) + i); uint64(n) < 1<<(8*width) {
				return be(c, uint64(n), width)
			}
		}
		panic("too long")
	}
	switch v := v.(type) {
	case nil:
		return []byte{0xc0}
	case bool:
		if v {
			return []byte{0xc3}
		}
		return []byte{0xc2}
	case uint64:
		switch {
		case v < 128:
			return []byte{byte(v)}
		case v < 1<<8:
			return be(0xcc, v, 1)
		case v < 1<<16:
			return be(0xcd, v, 2)
		case v < 1<<32:
			return be(0xce, v, 4)
		}
		return be(0xcf, v, 8)
	case int64:
		switch {
		case v >= 0:
			return r.print(uint64(v))
		case v >= -32:
			return []byte{byte(v)}
		case v >= -1<<7:
			return be(0xd0, uint64(v), 1)
		case v >= -1<<15:
			return be(0xd1, uint64(v), 2)
		case v >= -1<<31:
			return be(0xd2, uint64(v), 4)
		}
		return be(0xd3, uint64(v), 8)
	case float64:
		if v == 0 {
			return be(0xcb, 0, 8)
		}
		if math.IsNaN(v) {
			return nil // has no canonical form
		}
		return be(0xcb, math.Float64bits(v), 8)
	case string:
		return append(header(len(v), 0xa0, 32, 0xd9, 0xda, 0xdb), v...)
	case []byte:
		return append(header(len(v), 0, 0, 0xc4, 0xc5, 0xc6), v...)
	case []any:
		b := header(len(v), 0x90, 16, 0xdc, 0xdd)
		for _, e := range v {
			b = append(b, r.print(e)...)
		}
		return b
	case []pair:
		b := header(len(v), 0x80, 16, 0xde, 0xdf)
		for _, p := range v {
			b = append(append(b, r.print(p.key)...), r.print(p.value)...)
		}
		return b
	}
	panic("no such value")
}

func referenceAccepts(b []byte) bool {
	if len(b) > MaxRecord {
		return false
	}
	r := reference{b: b}
	v, ok := r.value(0)
	return ok && len(r.b) == 0 && bytes.Equal(r.print(v), b)
}

func FuzzWalk(f *testing.F) {
	for _, e := range samples() {
		b, err := e.AppendBinary(nil)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
		f.Add(b[:len(b)/2])
	}
	for _, s := range []string{"ddffffffff", "cb8000000000000000", "82a16101a16102", "d1ff7f", "dc0010", "c40161"} {
		f.Add(unhex(f, s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		err := Walk(b)
		if want := referenceAccepts(b); (err == nil) != want {
			t.Fatalf("%x: Walk says %v, the reference accepts: %v", b, err, want)
		}
		if err != nil {
			return
		}
		if _, err := DecodeRaw(b); err != nil {
			t.Fatalf("%x: walked, but the library refuses: %v", b, err)
		}
	})
}
