package schema

import (
	"bytes"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// Canonical returns the canonical form of a JSON text: without white space, object
// members in the order of RFC 8785 (section 3.2.3: by UTF-16 code units of their
// names), strings with the escapes of RFC 8785 (section 3.2.2.2) and numbers by
// their exact decimal value, see below. Two texts have one canonical form if and
// only if they are the same value.
//
// Numbers differ from RFC 8785, which rounds to doubles: three different 19-digit
// account numbers would become one. Here a number keeps its exact value, and equal
// values have equal texts (1.0, 1 and 10e-1 are 1; -0 is 0). Where a double carries
// the value with 17 digits the text is that of RFC 8785.
//
// Refused are: duplicate names at any depth, also when they are equal only after
// unescaping; invalid UTF-8 and lone surrogates; NaN and Infinity; data behind the
// value; more than MaxJSON bytes before or after; nesting beyond MaxJSONDepth;
// numbers beyond MaxNumberDigits or MaxNumberExponent. Errors are a *JSONError with
// the JSON pointer and byte offset. raw is not modified and not kept.
func Canonical(raw []byte) ([]byte, error) {
	if len(raw) > MaxJSON {
		return nil, tooLong(len(raw), MaxJSON)
	}
	r := newTextReader(raw)
	c := canonicalizer{r: r, out: make([]byte, 0, len(raw))}
	c.value(0)
	r.end()
	if r.err != nil {
		return nil, r.err
	}
	return c.out, nil
}

func tooLong(size, most int) error {
	return &JSONError{
		Offset:  int64(most),
		Problem: fmt.Sprintf("the text has %d bytes, the limit is %d", size, most),
		Repair:  "pass large content by reference",
	}
}

// canonicalizer writes the canonical form of the values it reads.
type canonicalizer struct {
	r   *textReader
	out []byte
}

// value copies the next value, which stands inside depth objects and arrays.
func (c *canonicalizer) value(depth int) {
	switch k := c.r.kind(); k {
	case jsontext.KindBeginObject, jsontext.KindBeginArray:
		c.r.token()
		if depth++; depth > MaxJSONDepth {
			c.r.fail(1, fmt.Sprintf("objects and arrays nest more than %d deep", MaxJSONDepth), "flatten the value")
			return
		}
		if k == jsontext.KindBeginObject {
			c.object(depth)
		} else {
			c.array(depth)
		}
	case jsontext.KindString:
		c.text(c.r.scalar())
	case jsontext.KindNumber:
		c.number()
	case jsontext.KindNull, jsontext.KindTrue, jsontext.KindFalse:
		c.out = append(c.out, c.r.scalar()...)
	case jsontext.KindInvalid, jsontext.KindEndObject, jsontext.KindEndArray:
		c.r.token() // the tokenizer says what is wrong
	}
	if len(c.out) > MaxJSON && c.r.err == nil {
		c.r.fail(0, fmt.Sprintf("the canonical form is longer than %d bytes", MaxJSON), "pass large content by reference")
	}
}

func (c *canonicalizer) number() {
	lit := c.r.scalar()
	if c.r.err != nil {
		return
	}
	out, problem := appendNumber(c.out, lit)
	if problem != "" {
		c.r.fail(len(lit), problem, "send it as a string")
		return
	}
	c.out = out
}

// text writes a string literal in its shortest form. One without escapes is that
// already: control characters and quotes cannot stand in it.
func (c *canonicalizer) text(lit []byte) {
	if c.r.err != nil {
		return
	}
	if bytes.IndexByte(lit, '\\') < 0 {
		c.out = append(c.out, lit...)
		return
	}
	c.out, _ = jsontext.AppendQuote(c.out, unquote(lit)) // cannot fail: the literal was accepted
}

func (c *canonicalizer) array(depth int) {
	c.out = append(c.out, '[')
	for first := true; c.r.err == nil && c.r.kind() != ']'; first = false {
		if !first {
			c.out = append(c.out, ',')
		}
		c.value(depth)
	}
	c.r.token()
	c.out = append(c.out, ']')
}

// written is a member that stands in the output, name, colon and value.
type written struct {
	name       string
	start, end int
}

func (c *canonicalizer) object(depth int) {
	c.out = append(c.out, '{')
	body := len(c.out)
	var members []written
	sorted := true
	for c.r.err == nil && c.r.kind() != '}' {
		if len(members) > 0 {
			c.out = append(c.out, ',')
		}
		m := written{start: len(c.out)}
		lit := c.r.scalar()
		if c.r.err != nil {
			return
		}
		m.name = unquote(lit)
		c.text(lit)
		c.out = append(c.out, ':')
		c.value(depth)
		m.end = len(c.out)
		if n := len(members); n > 0 && compareUTF16(members[n-1].name, m.name) > 0 {
			sorted = false
		}
		members = append(members, m)
	}
	c.r.token()
	if !sorted && c.r.err == nil {
		c.reorder(body, members)
	}
	c.out = append(c.out, '}')
}

// reorder sorts the members written from body on.
func (c *canonicalizer) reorder(body int, members []written) {
	slices.SortFunc(members, func(a, b written) int { return compareUTF16(a.name, b.name) })
	unsorted := slices.Clone(c.out[body:])
	c.out = c.out[:body]
	for i, m := range members {
		if i > 0 {
			c.out = append(c.out, ',')
		}
		c.out = append(c.out, unsorted[m.start-body:m.end-body]...)
	}
}

// compareUTF16 orders two valid UTF-8 strings as their UTF-16 code units would be.
// That differs from byte order only between characters beyond U+FFFF, whose first
// unit is a surrogate, and those from U+E000 on.
func compareUTF16(a, b string) int {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	if i == len(a) || i == len(b) {
		return len(a) - len(b)
	}
	for i > 0 && !utf8.RuneStart(a[i]) {
		i--
	}
	x, _ := utf8.DecodeRuneInString(a[i:])
	y, _ := utf8.DecodeRuneInString(b[i:])
	if wide := x > 0xffff; wide != (y > 0xffff) {
		// The surrogates are D800 to DFFF.
		if wide {
			return 0xd800 - int(y)
		}
		return int(x) - 0xd800
	}
	return int(x - y)
}
