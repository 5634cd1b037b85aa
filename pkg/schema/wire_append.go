package schema

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
)

// appender writes one record in canonical form behind b. Fields must be written in
// ascending order of their keys; a field with its zero value is left out. The
// first error sticks.
type appender struct {
	b       []byte
	n       int      // fields written into the current map
	pending []string // sorted keys of unknown fields still to be merged into it
	unknown map[string][]byte
	err     error
}

func (a *appender) fail(format string, args ...any) {
	if a.err == nil {
		a.err = fmt.Errorf("%w: "+format, append([]any{ErrEncode}, args...)...)
	}
}

// openMap is a map whose header is not yet final, with what it interrupts.
type openMap struct {
	start, n int
	pending  []string
}

func (a *appender) open() openMap {
	m := openMap{start: len(a.b), n: a.n, pending: a.pending}
	a.b = append(a.b, codeFixMap)
	a.n, a.pending = 0, nil
	return m
}

// close completes the map: it writes the unknown fields that are left and the
// count, moving the body by two bytes when the count does not fit into one.
func (a *appender) close(m openMap) {
	for len(a.pending) > 0 {
		a.flushUnknown()
	}
	if a.n < 16 {
		a.b[m.start] = codeFixMap | byte(a.n)
	} else {
		a.b = append(a.b, 0, 0)
		copy(a.b[m.start+3:], a.b[m.start+1:len(a.b)-2])
		a.b[m.start] = codeMap16
		binary.BigEndian.PutUint16(a.b[m.start+1:], uint16(a.n))
	}
	a.n, a.pending = m.n, m.pending
}

func (a *appender) flushUnknown() {
	k := a.pending[0]
	a.pending = a.pending[1:]
	a.b = appendStr(a.b, k)
	a.b = append(a.b, a.unknown[k]...)
	a.n++
}

// key starts the field k, whose length is below 32.
func (a *appender) key(k string) {
	for len(a.pending) > 0 && a.pending[0] < k {
		a.flushUnknown()
	}
	a.b = append(a.b, codeFixStr|byte(len(k)))
	a.b = append(a.b, k...)
	a.n++
}

func (a *appender) str(k, v string) {
	if v != "" {
		a.key(k)
		a.b = appendStr(a.b, v)
	}
}

func (a *appender) bin(k string, v []byte) {
	if len(v) > 0 {
		a.key(k)
		a.b = appendBin(a.b, v)
	}
}

func (a *appender) uint(k string, v uint64) {
	if v != 0 {
		a.key(k)
		a.b = appendUint(a.b, v)
	}
}

// enum writes an element of a closed set whose largest is last.
func (a *appender) enum(k string, v, last uint8) {
	if v > last {
		a.fail("field %q holds %d, which is outside its closed set (0 to %d)", k, v, last)
		return
	}
	a.uint(k, uint64(v))
}

func (a *appender) int(k string, v int64) {
	if v != 0 {
		a.key(k)
		a.b = appendInt(a.b, v)
	}
}

func (a *appender) flag(k string, v bool) {
	if v {
		a.key(k)
		a.b = append(a.b, codeTrue)
	}
}

func (a *appender) float(k string, v float64) {
	if v != 0 {
		a.key(k)
		a.floatValue(v)
	}
}

func (a *appender) floatValue(v float64) {
	if math.IsNaN(v) {
		a.fail("a float is NaN; leave the value out")
	}
	a.b = appendFloat(a.b, v)
}

// array starts an array that may have at most the given number of elements.
func (a *appender) array(n, most int) {
	if n > most {
		a.fail("a list of %d elements, the limit is %d", n, most)
	}
	a.b = appendArrayHeader(a.b, n)
}

func (a *appender) strs(k string, v []string) {
	if len(v) > 0 {
		a.key(k)
		a.b = appendArrayHeader(a.b, len(v))
		for _, s := range v {
			a.b = appendStr(a.b, s)
		}
	}
}

// smallMap is the number of keys that are sorted without allocation.
const smallMap = 16

func (a *appender) labels(k string, v map[string]string) {
	if len(v) == 0 {
		return
	}
	var buf [smallMap]string
	a.key(k)
	a.b = appendMapHeader(a.b, len(v))
	for _, name := range sortedKeys(buf[:0], v) {
		a.b = appendStr(a.b, name)
		a.b = appendStr(a.b, v[name])
	}
}

func (a *appender) marks(k string, v map[string]uint64) {
	if len(v) == 0 {
		return
	}
	var buf [smallMap]string
	a.key(k)
	a.b = appendMapHeader(a.b, len(v))
	for _, name := range sortedKeys(buf[:0], v) {
		a.b = appendStr(a.b, name)
		a.b = appendUint(a.b, v[name])
	}
}

func sortedKeys[V any](dst []string, m map[string]V) []string {
	for k := range m {
		dst = append(dst, k)
	}
	slices.Sort(dst)
	return dst
}

func appendUint(b []byte, v uint64) []byte {
	switch {
	case v < codeFixMap:
		return append(b, byte(v))
	case v <= math.MaxUint8:
		return append(b, codeUint8, byte(v))
	case v <= math.MaxUint16:
		return binary.BigEndian.AppendUint16(append(b, codeUint16), uint16(v))
	case v <= math.MaxUint32:
		return binary.BigEndian.AppendUint32(append(b, codeUint32), uint32(v))
	default:
		return binary.BigEndian.AppendUint64(append(b, codeUint64), v)
	}
}

func appendInt(b []byte, v int64) []byte {
	switch {
	case v >= 0:
		return appendUint(b, uint64(v))
	case v >= -32:
		return append(b, byte(v))
	case v >= math.MinInt8:
		return append(b, codeInt8, byte(v))
	case v >= math.MinInt16:
		return binary.BigEndian.AppendUint16(append(b, codeInt16), uint16(v))
	case v >= math.MinInt32:
		return binary.BigEndian.AppendUint32(append(b, codeInt32), uint32(v))
	default:
		return binary.BigEndian.AppendUint64(append(b, codeInt64), uint64(v))
	}
}

// appendFloat writes v; negative zero, which equals zero, is written as zero.
func appendFloat(b []byte, v float64) []byte {
	if v == 0 {
		v = 0
	}
	return binary.BigEndian.AppendUint64(append(b, codeFloat64), math.Float64bits(v))
}

func appendStr(b []byte, s string) []byte {
	switch n := len(s); {
	case n < 32:
		b = append(b, codeFixStr|byte(n))
	case n <= math.MaxUint8:
		b = append(b, codeStr8, byte(n))
	case n <= math.MaxUint16:
		b = binary.BigEndian.AppendUint16(append(b, codeStr16), uint16(n))
	default:
		b = binary.BigEndian.AppendUint32(append(b, codeStr32), uint32(n))
	}
	return append(b, s...)
}

func appendBin(b, v []byte) []byte {
	switch n := len(v); {
	case n <= math.MaxUint8:
		b = append(b, codeBin8, byte(n))
	case n <= math.MaxUint16:
		b = binary.BigEndian.AppendUint16(append(b, codeBin16), uint16(n))
	default:
		b = binary.BigEndian.AppendUint32(append(b, codeBin32), uint32(n))
	}
	return append(b, v...)
}

func appendArrayHeader(b []byte, n int) []byte {
	switch {
	case n < 16:
		return append(b, codeFixArray|byte(n))
	case n <= math.MaxUint16:
		return binary.BigEndian.AppendUint16(append(b, codeArray16), uint16(n))
	default:
		return binary.BigEndian.AppendUint32(append(b, codeArray32), uint32(n))
	}
}

func appendMapHeader(b []byte, n int) []byte {
	switch {
	case n < 16:
		return append(b, codeFixMap|byte(n))
	case n <= math.MaxUint16:
		return binary.BigEndian.AppendUint16(append(b, codeMap16), uint16(n))
	default:
		return binary.BigEndian.AppendUint32(append(b, codeMap32), uint32(n))
	}
}
