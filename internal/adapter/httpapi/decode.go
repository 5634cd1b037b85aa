package httpapi

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// BodyError says where and why a body was not accepted.
type BodyError struct {
	Pointer string // JSON pointer (RFC 6901) to the offending value; "" is the body itself
	Offset  int64  // byte offset at or after which the problem is
	Problem string
	Repair  string // may be empty
}

// Error returns one line; foreign text in it is quoted.
func (e *BodyError) Error() string {
	at := "body"
	if e.Pointer != "" {
		at = strconv.QuoteToASCII(e.Pointer)
	}
	s := fmt.Sprintf("%s, byte %d: %s", at, e.Offset, e.Problem)
	if e.Repair != "" {
		s += "; " + e.Repair
	}
	return s
}

// decoder is the one strict decoder for everything that clients send. Names are
// compared exactly, unknown and duplicate ones are refused at every depth, and so are
// invalid UTF-8, lone surrogates, null in place of a value, and data behind the
// value. A field of type jsontext.Value takes any value as its raw bytes; they are a
// part of the body. Safe for concurrent use.
type decoder struct {
	strict json.Options
}

func newDecoder() decoder {
	return decoder{strict: json.JoinOptions(
		json.RejectUnknownMembers(true),
		json.WithUnmarshalers(json.UnmarshalFromFunc(refuseNull)),
	)}
}

// decode reads body into dst, a pointer to a struct. Errors are a *BodyError.
func (d decoder) decode(body []byte, dst any) error {
	if len(bytes.TrimSpace(body)) == 0 {
		return &BodyError{Problem: "there is no value", Repair: "send one JSON object"}
	}
	if at := tooDeep(body, MaxNesting); at >= 0 {
		return &BodyError{Offset: int64(at), Problem: fmt.Sprintf("objects and arrays nest more than %d deep", MaxNesting), Repair: "flatten the value"}
	}
	if err := json.Unmarshal(body, dst, d.strict); err != nil {
		return explain(body, err)
	}
	return nil
}

// errNull is the error about a null. It is found again by explain.
var errNull = errors.New("null")

// refuseNull refuses null for every type but raw values: null would otherwise leave
// the field as it was, and a member that is there would count as absent.
func refuseNull(d *jsontext.Decoder, dst any) error {
	if d.PeekKind() == 'n' {
		if _, raw := dst.(*jsontext.Value); !raw {
			return errNull
		}
	}
	return errors.ErrUnsupported // go on as usual
}

// tooDeep returns the offset at which objects and arrays of a text nest deeper than
// limit, or -1. It looks at brackets outside strings only, so it runs before any
// decoder does, in one pass and without recursion.
func tooDeep(text []byte, limit int) int {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '{', '[':
			if depth++; depth > limit {
				return i
			}
		case '}', ']':
			depth--
		case '"':
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
		}
	}
	return -1
}

// explain translates a decoder's error: what, where, how to repair it.
func explain(body []byte, err error) error {
	if syntax, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		out := &BodyError{Pointer: string(syntax.JSONPointer), Offset: syntax.ByteOffset}
		out.Problem, out.Repair = explainSyntax(body, syntax)
		return out
	}
	if semantic, ok := errors.AsType[*json.SemanticError](err); ok {
		out := &BodyError{Pointer: string(semantic.JSONPointer), Offset: semantic.ByteOffset}
		out.Problem, out.Repair = explainMeaning(semantic)
		return out
	}
	return &BodyError{Problem: "the value cannot be read", Repair: "send JSON as in RFC 8259"}
}

func explainSyntax(body []byte, err *jsontext.SyntacticError) (problem, repair string) {
	text := err.Err.Error()
	switch {
	case errors.Is(err.Err, jsontext.ErrDuplicateName):
		return "the member name occurs twice in its object", "keep one of the two; readers disagree about which one counts"
	case errors.Is(err.Err, io.ErrUnexpectedEOF):
		return "the text ends within a value", "send the whole text"
	case strings.Contains(text, "surrogate"):
		return "the string has a lone or broken surrogate escape", `write characters beyond U+FFFF as they are, or as a pair of \u escapes, high half first`
	case strings.Contains(text, "UTF-8"):
		return "the string is not valid UTF-8", "encode the body as UTF-8"
	case strings.Contains(text, "after top-level value"):
		return "data follows the value", "send one value only"
	case notANumber(body, err.ByteOffset):
		return "NaN and Infinity are no JSON numbers", "send null or leave the member out"
	}
	return text, "send JSON as in RFC 8259"
}

// notANumber reports whether a NaN or an Infinity stands at or just before an offset.
func notANumber(body []byte, at int64) bool {
	if at < 0 || at > int64(len(body)) {
		return false
	}
	rest := strings.TrimPrefix(string(body[at:min(at+12, int64(len(body)))]), "-")
	return strings.HasPrefix(rest, "NaN") || strings.HasPrefix(rest, "Inf")
}

func explainMeaning(err *json.SemanticError) (problem, repair string) {
	switch {
	case errors.Is(err.Err, json.ErrUnknownName):
		return "there is no member of this name here", "names are case-sensitive; see GET /v1/openapi.json"
	case errors.Is(err.Err, errNull):
		return "null stands where a value is wanted", "leave the member out"
	case errors.Is(err.Err, strconv.ErrRange):
		return "the number is out of range", ""
	case errors.Is(err.Err, strconv.ErrSyntax):
		return "the number is not an integer", "write digits only, without point or exponent"
	}
	return fmt.Sprintf("want %s, found %s", typeName(err.GoType), kindName(err.JSONKind)), ""
}

func typeName(t reflect.Type) string {
	if t == nil {
		return "another value"
	}
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Kind() { //nolint:exhaustive // the kinds that fields of bodies have
	case reflect.String:
		return "a string"
	case reflect.Int64:
		return "an integer"
	case reflect.Slice:
		return "an array"
	case reflect.Map, reflect.Struct:
		return "an object"
	}
	return "another value"
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
		return "something else"
	}
	return "something else"
}
