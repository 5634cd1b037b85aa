package records

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf16"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/aspis-rv/aspis/pkg/schema"
)

// parseJSON reads JSON under the rules of schema.Canonical, and keeps the order of
// members and the texts of numbers.
func parseJSON(text string) (Value, error) {
	if _, err := schema.Canonical([]byte(text)); err != nil {
		return Value{}, fromJSONError(text, err)
	}
	r := jsonReader{dec: jsontext.NewDecoder(strings.NewReader(text))}
	v, err := r.value()
	if err != nil {
		return Value{}, errorAt(JSON, text, int(r.dec.InputOffset()), err.Error(), "")
	}
	return v, nil
}

func fromJSONError(text string, err error) error {
	var jerr *schema.JSONError
	if !errors.As(err, &jerr) {
		return &Error{Format: JSON, Problem: err.Error()}
	}
	problem := jerr.Problem
	if jerr.Pointer != "" {
		problem = fmt.Sprintf("%s (at %+.200q)", problem, jerr.Pointer)
	}
	return errorAt(JSON, text, int(jerr.Offset), problem, jerr.Repair)
}

// jsonReader builds the tree of a text that has been found correct.
type jsonReader struct {
	dec   *jsontext.Decoder
	nodes budget
}

func (r *jsonReader) value() (Value, error) {
	if err := r.nodes.take(); err != nil {
		return Value{}, err
	}
	tok, err := r.dec.ReadToken()
	if err != nil {
		return Value{}, err
	}
	switch tok.Kind() {
	case jsontext.KindTrue, jsontext.KindFalse:
		return NewBool(tok.Bool()), nil
	case jsontext.KindNumber:
		return Value{kind: Number, text: tok.String()}, nil
	case jsontext.KindString:
		return NewString(tok.String()), nil
	case jsontext.KindBeginArray:
		return r.array()
	case jsontext.KindBeginObject:
		return r.object()
	case jsontext.KindNull, jsontext.KindInvalid, jsontext.KindEndArray, jsontext.KindEndObject:
	}
	return Value{}, nil
}

func (r *jsonReader) array() (Value, error) {
	v := Value{kind: List}
	for r.dec.PeekKind() != jsontext.KindEndArray {
		item, err := r.value()
		if err != nil {
			return Value{}, err
		}
		v.items = append(v.items, item)
	}
	_, err := r.dec.ReadToken()
	return v, err
}

func (r *jsonReader) object() (Value, error) {
	v := Value{kind: Map}
	for r.dec.PeekKind() != jsontext.KindEndObject {
		if err := r.nodes.take(); err != nil {
			return Value{}, err
		}
		name, err := r.dec.ReadToken()
		if err != nil {
			return Value{}, err
		}
		m := Member{Name: name.String()}
		if m.Value, err = r.value(); err != nil {
			return Value{}, err
		}
		v.members = append(v.members, m)
	}
	_, err := r.dec.ReadToken()
	return v, err
}

// budget counts the values of a tree.
type budget int

func (b *budget) take() error {
	if *b++; *b > MaxNodes {
		return fmt.Errorf("there are more than %d values", MaxNodes)
	}
	return nil
}

// AppendJSON appends the value's canonical JSON as schema.Canonical defines it.
func (v Value) AppendJSON(dst []byte) []byte {
	switch v.kind {
	case Null:
		return append(dst, "null"...)
	case Bool:
		return append(dst, v.text...)
	case Number:
		return append(dst, v.number()...)
	case String:
		return appendQuoted(dst, v.text)
	case List:
		dst = append(dst, '[')
		for i, item := range v.items {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = item.AppendJSON(dst)
		}
		return append(dst, ']')
	case Map:
		dst = append(dst, '{')
		for i, m := range v.sorted() {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(appendQuoted(dst, m.Name), ':')
			dst = m.Value.AppendJSON(dst)
		}
		return append(dst, '}')
	}
	return dst
}

// appendQuoted writes the shortest literal; invalid UTF-8 becomes U+FFFD.
func appendQuoted(dst []byte, s string) []byte {
	out, err := jsontext.AppendQuote(dst, s)
	if err != nil {
		out, _ = jsontext.AppendQuote(dst, strings.ToValidUTF8(s, "\ufffd"))
	}
	return out
}

// appendDumps writes a value as Python's json.dumps does: a blank behind comma and
// colon, members in their order, everything beyond ASCII escaped.
func appendDumps(dst []byte, v Value) []byte {
	switch v.kind {
	case Null:
		return append(dst, "null"...)
	case Bool, Number:
		return append(dst, v.text...)
	case String:
		return appendASCII(dst, v.text)
	case List:
		dst = append(dst, '[')
		for i, item := range v.items {
			if i > 0 {
				dst = append(dst, ", "...)
			}
			dst = appendDumps(dst, item)
		}
		return append(dst, ']')
	case Map:
		dst = append(dst, '{')
		for i, m := range v.members {
			if i > 0 {
				dst = append(dst, ", "...)
			}
			dst = append(appendASCII(dst, m.Name), ": "...)
			dst = appendDumps(dst, m.Value)
		}
		return append(dst, '}')
	}
	return dst
}

// appendASCII writes a JSON string of ASCII characters.
func appendASCII(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			dst = append(dst, '\\', byte(r))
		case r >= ' ' && r <= '~':
			dst = append(dst, byte(r))
		case r == '\n':
			dst = append(dst, `\n`...)
		case r == '\r':
			dst = append(dst, `\r`...)
		case r == '\t':
			dst = append(dst, `\t`...)
		case r == '\b':
			dst = append(dst, `\b`...)
		case r == '\f':
			dst = append(dst, `\f`...)
		case r > 0xffff:
			hi, lo := utf16.EncodeRune(r)
			dst = fmt.Appendf(dst, `\u%04x\u%04x`, hi, lo)
		default:
			dst = fmt.Appendf(dst, `\u%04x`, r)
		}
	}
	return append(dst, '"')
}
