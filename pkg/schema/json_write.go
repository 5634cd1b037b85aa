package schema

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"math"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// textWriter writes compact JSON with members in the order of the calls. A member
// with its zero value is left out. The first error sticks.
type textWriter struct {
	b   []byte
	err error
}

func (w *textWriter) fail(format string, args ...any) {
	if w.err == nil {
		w.err = fmt.Errorf("%w: "+format, append([]any{ErrEncode}, args...)...)
	}
}

// done returns the text, or the first error.
func (w *textWriter) done() ([]byte, error) {
	if w.err != nil {
		return nil, w.err
	}
	return w.b, nil
}

// next separates a member or element from the one before it.
func (w *textWriter) next() {
	if n := len(w.b); n > 0 && w.b[n-1] != '{' && w.b[n-1] != '[' {
		w.b = append(w.b, ',')
	}
}

func (w *textWriter) open(c byte)  { w.b = append(w.b, c) }
func (w *textWriter) close(c byte) { w.b = append(w.b, c) }

// quote writes a string; invalid UTF-8 becomes U+FFFD.
func (w *textWriter) quote(s string) {
	w.b, _ = jsontext.AppendQuote(w.b, s)
}

func (w *textWriter) key(k string) {
	w.next()
	w.quote(k)
	w.b = append(w.b, ':')
}

func (w *textWriter) str(k, v string) {
	if v != "" {
		w.name(k, v)
	}
}

// name writes a string also when it is empty.
func (w *textWriter) name(k, v string) {
	w.key(k)
	w.quote(v)
}

func (w *textWriter) hex(k string, v []byte) { w.str(k, hex.EncodeToString(v)) }

func (w *textWriter) uint(k string, v uint64) {
	if v != 0 {
		w.number(k, v)
	}
}

// number writes a number also when it is zero.
func (w *textWriter) number(k string, v uint64) {
	w.key(k)
	w.b = strconv.AppendUint(w.b, v, 10)
}

func (w *textWriter) int(k string, v int64) {
	if v != 0 {
		w.key(k)
		w.b = strconv.AppendInt(w.b, v, 10)
	}
}

func (w *textWriter) flag(k string, v bool) {
	if v {
		w.key(k)
		w.b = append(w.b, "true"...)
	}
}

func (w *textWriter) float(k string, v float64) {
	if v == 0 {
		return
	}
	if math.IsNaN(v) || math.IsInf(v, 0) {
		w.fail("the member %q is %v, which JSON cannot carry", k, v)
		return
	}
	w.key(k)
	w.b = jsontext.AppendFloat(w.b, v, 64)
}

func (w *textWriter) strs(k string, v []string) {
	if len(v) == 0 {
		return
	}
	w.key(k)
	w.open('[')
	for _, s := range v {
		w.next()
		w.quote(s)
	}
	w.close(']')
}

// payload writes a value inline, its status when that does not follow from it, and
// the digest of the bytes it came in.
func (w *textWriter) payload(k string, p *Payload) {
	switch {
	case p.Status == PayloadOK:
		if canon, err := Canonical(p.Canon); err != nil || !bytes.Equal(canon, p.Canon) {
			w.fail("the %s are not canonical JSON; canonicalise before setting them (%v)", k, err)
			return
		}
		w.key(k)
		w.b = append(w.b, p.Canon...)
	case len(p.Canon) > 0:
		w.fail("the %s have a text although their status is %s", k, p.Status)
	case p.Status != PayloadAbsent:
		w.str(k+"_status", p.Status.String())
	}
	w.hex(k+"_digest", p.RawDigest)
}

// any writes what DecodeRaw returns.
func (w *textWriter) any(v any) {
	switch v := v.(type) {
	case nil:
		w.b = append(w.b, "null"...)
	case bool:
		w.b = strconv.AppendBool(w.b, v)
	case int64:
		w.b = strconv.AppendInt(w.b, v, 10)
	case uint64:
		w.b = strconv.AppendUint(w.b, v, 10)
	case float64:
		if math.IsInf(v, 0) {
			w.quote(strconv.FormatFloat(v, 'g', -1, 64))
			return
		}
		w.b = jsontext.AppendFloat(w.b, v, 64)
	case string:
		w.quote(v)
	case []byte:
		w.quote(hex.EncodeToString(v))
	case []any:
		w.open('[')
		for _, e := range v {
			w.next()
			w.any(e)
		}
		w.close(']')
	case map[string]any:
		w.open('{')
		for _, k := range sortedKeys(nil, v) {
			w.key(k)
			w.any(v[k])
		}
		w.close('}')
	default:
		w.fail("a value of type %T", v)
	}
}

// MarshalJSON writes an integer as a number, a string as a string and a float as a
// number with a point or exponent, so that it is not taken for an integer.
// Infinities, which JSON lacks, are strings.
func (v Value) MarshalJSON() ([]byte, error) {
	w := textWriter{}
	w.value(v)
	return w.done()
}

func (w *textWriter) value(v Value) {
	switch v.Kind {
	case KindInt:
		w.b = strconv.AppendInt(w.b, v.Int, 10)
	case KindString:
		w.quote(v.Str)
	case KindFloat:
		s := strconv.FormatFloat(v.Float, 'g', -1, 64)
		switch {
		case math.IsInf(v.Float, 0) || math.IsNaN(v.Float):
			w.quote(s)
		case bytes.ContainsAny([]byte(s), ".e"):
			w.b = append(w.b, s...)
		default:
			w.b = append(append(w.b, s...), ".0"...)
		}
	default:
		w.fail("a value of kind %d", v.Kind)
	}
}
