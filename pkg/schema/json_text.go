package schema

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// textReader reads one JSON text strictly: names are unique and compared exactly,
// the text is UTF-8 without lone surrogates, nothing follows the value. The first
// error sticks; after it every read returns a zero value at once.
type textReader struct {
	raw []byte
	dec *jsontext.Decoder
	err error
}

// newTextReader starts reading raw, which it does not modify.
func newTextReader(raw []byte) *textReader {
	return &textReader{raw: raw, dec: jsontext.NewDecoder(bytes.NewBuffer(raw))}
}

// fail records a problem with the value that ends, or the token that stands, at
// the current position, size bytes back.
func (r *textReader) fail(size int, problem, repair string) {
	if r.err == nil {
		r.err = &JSONError{
			Pointer: string(r.dec.StackPointer()), Offset: r.dec.InputOffset() - int64(size),
			Problem: problem, Repair: repair,
		}
	}
}

// syntax records an error of the tokenizer.
func (r *textReader) syntax(err error) {
	if r.err != nil || err == nil {
		return
	}
	out := &JSONError{Offset: r.dec.InputOffset(), Problem: "the text is empty", Repair: "send one JSON value"}
	var serr *jsontext.SyntacticError
	switch {
	case errors.As(err, &serr):
		out.Pointer, out.Offset = string(serr.JSONPointer), serr.ByteOffset
		out.Problem, out.Repair = r.explain(serr)
	case !errors.Is(err, io.EOF):
		out.Problem = err.Error()
	}
	r.err = out
}

// explain says what the tokenizer found wrong and how to repair it.
func (r *textReader) explain(serr *jsontext.SyntacticError) (problem, repair string) {
	problem = serr.Err.Error()
	switch {
	case errors.Is(serr.Err, jsontext.ErrDuplicateName):
		return "the member name occurs twice in its object", "keep one of the two; readers disagree about which one counts"
	case errors.Is(serr.Err, io.ErrUnexpectedEOF):
		return "the text ends within a value", "send the whole text"
	case strings.Contains(problem, "UTF-8"):
		return "the string is not valid UTF-8", "encode the text as UTF-8"
	case strings.Contains(problem, "surrogate"):
		return "the string has a lone or broken surrogate escape", "escape characters beyond U+FFFF as a pair, high half first"
	case r.looksLikeNaN(serr.ByteOffset):
		return "NaN and Infinity are no JSON numbers", "send null or leave the member out"
	}
	return problem, "send JSON as in RFC 8259"
}

func (r *textReader) looksLikeNaN(at int64) bool {
	if at < 0 || at > int64(len(r.raw)) {
		return false
	}
	rest := r.raw[at:]
	return bytes.HasPrefix(rest, []byte("NaN")) || bytes.HasPrefix(rest, []byte("Inf")) ||
		(bytes.HasPrefix(rest, []byte("Inf"[:1])) && at > 0 && r.raw[at-1] == '-') || bytes.HasPrefix(rest, []byte("-Inf"))
}

// end checks that nothing but white space follows.
func (r *textReader) end() {
	if r.err != nil {
		return
	}
	at := r.dec.InputOffset()
	rest := bytes.TrimLeft(r.raw[at:], " \t\r\n")
	if len(rest) > 0 {
		r.err = &JSONError{Offset: int64(len(r.raw) - len(rest)), Problem: "data follows the value", Repair: "send one value only"}
	}
}

// kind returns the kind of the next value, or 0 after an error.
func (r *textReader) kind() jsontext.Kind {
	if r.err != nil {
		return 0
	}
	k := r.dec.PeekKind()
	if k == jsontext.KindInvalid {
		_, err := r.dec.ReadToken()
		r.syntax(err)
	}
	return k
}

// token consumes the token that kind announced.
func (r *textReader) token() {
	if r.err == nil {
		_, err := r.dec.ReadToken()
		r.syntax(err)
	}
}

// scalar returns the raw text of the next value, valid until the next read.
func (r *textReader) scalar() []byte {
	if r.err != nil {
		return nil
	}
	v, err := r.dec.ReadValue()
	r.syntax(err)
	return v
}

// want checks the kind of the next value. It names the JSON pointer of the value
// itself, which the tokenizer has not read yet.
func (r *textReader) want(k jsontext.Kind, what string) bool {
	got := r.kind()
	if r.err != nil {
		return false
	}
	if got != k {
		if got == '{' || got == '[' {
			r.token()
		} else {
			r.scalar()
		}
		r.fail(0, fmt.Sprintf("want %s, found %s", what, kindName(got)), "")
		return false
	}
	return true
}

func kindName(k jsontext.Kind) string {
	switch k {
	case jsontext.KindNull:
		return "null"
	case jsontext.KindFalse, jsontext.KindTrue:
		return "a truth value"
	case jsontext.KindString:
		return "a string"
	case jsontext.KindNumber:
		return "a number"
	case jsontext.KindBeginObject:
		return "an object"
	case jsontext.KindBeginArray:
		return "an array"
	case jsontext.KindInvalid, jsontext.KindEndObject, jsontext.KindEndArray:
		return "the end"
	}
	return "something else"
}

// str reads a string.
func (r *textReader) str() string {
	if !r.want('"', "a string") {
		return ""
	}
	return unquote(r.scalar())
}

// unquote returns the content of a string literal that the tokenizer has accepted.
func unquote(lit []byte) string {
	if len(lit) >= 2 && bytes.IndexByte(lit, '\\') < 0 {
		return string(lit[1 : len(lit)-1])
	}
	s, _ := jsontext.AppendUnquote(nil, lit) // cannot fail on an accepted literal
	return string(s)
}

// flag reads a truth value.
func (r *textReader) flag() bool {
	if r.kind() == jsontext.KindTrue {
		r.token()
		return r.err == nil
	}
	if r.want(jsontext.KindFalse, "true or false") {
		r.token()
	}
	return false
}

// int reads an integer of 64 bits, exactly.
func (r *textReader) int() int64 {
	return integer(r, func(s string) (int64, error) { return strconv.ParseInt(s, 10, 64) })
}

// uint reads a non-negative integer of the given number of bits, exactly.
func (r *textReader) uint(bits int) uint64 {
	return integer(r, func(s string) (uint64, error) { return strconv.ParseUint(s, 10, bits) })
}

func integer[N int64 | uint64](r *textReader, parse func(string) (N, error)) N {
	if !r.want('0', "an integer") {
		return 0
	}
	lit := r.scalar()
	n, err := parse(string(lit))
	if err != nil {
		r.fail(len(lit), fmt.Sprintf("%s is not an integer in range", clip(lit)), "write digits only, without point or exponent")
	}
	return n
}

// float reads a number as a float, for scores only.
func (r *textReader) float() float64 {
	if !r.want('0', "a number") {
		return 0
	}
	lit := r.scalar()
	f, err := strconv.ParseFloat(string(lit), 64)
	if err != nil {
		r.fail(len(lit), fmt.Sprintf("%s does not fit into a double", clip(lit)), "")
	}
	return f
}

// each reads an array, calling element at each of its values.
func (r *textReader) each(element func()) {
	if !r.want('[', "an array") {
		return
	}
	r.token()
	for r.err == nil && r.kind() != ']' {
		element()
	}
	r.token()
}

// strs reads an array of strings; nil when it is empty.
func (r *textReader) strs() []string {
	var out []string
	r.each(func() { out = append(out, r.str()) })
	return out
}

// members reads an object, calling member at the value of each of its members.
// member returns false for a name it does not know, without reading.
func (r *textReader) members(what string, member func(name string) bool) {
	if !r.want('{', "an object") {
		return
	}
	r.token()
	for r.err == nil && r.kind() != '}' {
		lit := r.scalar()
		if r.err != nil {
			return
		}
		size, name := len(lit), unquote(lit)
		if !member(name) {
			r.fail(size, fmt.Sprintf("%s has no member of this name", what), "names are case-sensitive; see `aspis schema`")
		}
	}
	r.token()
}
