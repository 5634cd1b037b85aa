package records

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/aspis-rv/aspis/pkg/schema"
)

// The limits of a text that is read. Each is refused at one more.
const (
	// MaxBytes is the size of a text, and of the canonical JSON of its value.
	MaxBytes = schema.MaxJSON
	// MaxDepth is how deep lists and maps may nest.
	MaxDepth = schema.MaxJSONDepth
	// MaxNodes is the number of values in a tree, itself and keys included. The largest
	// recorded results have below a thousand.
	MaxNodes = 1 << 16
)

// Format is how a text is to be read.
type Format uint8

// The formats. The zero Format is none of them.
const (
	JSON Format = iota + 1
	YAML
	Python
	Lines
	Text
)

// Formats lists them.
func Formats() []Format { return []Format{JSON, YAML, Python, Lines, Text} }

// String returns the name under which a bundle gives the format.
func (f Format) String() string {
	switch f {
	case JSON:
		return "json"
	case YAML:
		return "yaml"
	case Python:
		return "python"
	case Lines:
		return "lines"
	case Text:
		return "text"
	}
	return fmt.Sprintf("Format(%d)", uint8(f))
}

// ParseFormat is the inverse of String.
func ParseFormat(name string) (Format, error) {
	names := make([]string, 0, len(Formats()))
	for _, f := range Formats() {
		if f.String() == name {
			return f, nil
		}
		names = append(names, f.String())
	}
	return 0, fmt.Errorf("records: %q is no format; the formats are %s", name, strings.Join(names, ", "))
}

// ErrUnreadable says that a text is not what its format says. See Error.
var ErrUnreadable = errors.New("records: unreadable")

// Error says where and why a text cannot be read. It wraps ErrUnreadable.
type Error struct {
	Format  Format
	Line    int // from 1; 0 when the place is unknown
	Column  int // from 1, in bytes; 0 when the place in the line is unknown
	Problem string
	Repair  string
}

// Error returns one line with the place.
func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%v as %v", ErrUnreadable, e.Format)
	if e.Line > 0 {
		fmt.Fprintf(&b, ": line %d", e.Line)
		if e.Column > 0 {
			fmt.Fprintf(&b, ", column %d", e.Column)
		}
	}
	b.WriteString(": " + e.Problem)
	if e.Repair != "" {
		b.WriteString("; " + e.Repair)
	}
	return b.String()
}

// Unwrap returns ErrUnreadable.
func (e *Error) Unwrap() error { return ErrUnreadable }

// errorAt makes an Error for a byte offset of text.
func errorAt(f Format, text string, offset int, problem, repair string) *Error {
	before := text[:min(max(offset, 0), len(text))]
	return &Error{
		Format: f, Line: 1 + strings.Count(before, "\n"), Column: len(before) - strings.LastIndexByte(before, '\n'),
		Problem: problem, Repair: repair,
	}
}

// Parse reads a text strictly: all of it is one value of the format, or the error, an
// *Error, says where it is not. It takes time linear in the text.
func Parse(f Format, text string) (Value, error) {
	if len(text) > MaxBytes {
		problem := fmt.Sprintf("the text has %d bytes, the limit is %d", len(text), MaxBytes)
		return Value{}, &Error{Format: f, Problem: problem, Repair: "pass large content by reference"}
	}
	if at := invalidUTF8(text); at >= 0 {
		return Value{}, errorAt(f, text, at, "the text is not valid UTF-8", "encode it as UTF-8")
	}
	v, err := parse(f, text)
	if err != nil {
		return Value{}, err
	}
	// A byte becomes six at most: a control character is written as \u0000.
	if len(text) > MaxBytes/8 && len(v.AppendJSON(nil)) > MaxBytes {
		problem := fmt.Sprintf("the value has more than %d bytes as JSON", MaxBytes)
		return Value{}, &Error{Format: f, Problem: problem, Repair: "pass large content by reference"}
	}
	return v, nil
}

func parse(f Format, text string) (Value, error) {
	switch f {
	case JSON:
		return parseJSON(text)
	case YAML:
		return parseYAML(text)
	case Python:
		return parsePython(text)
	case Lines:
		return parseLines(text)
	case Text:
		return NewString(text), nil
	}
	return Value{}, &Error{Format: f, Problem: "there is no such format", Repair: "use one of Formats"}
}

func invalidUTF8(text string) int {
	if utf8.ValidString(text) {
		return -1
	}
	for i, r := range text {
		if r == utf8.RuneError {
			if _, n := utf8.DecodeRuneInString(text[i:]); n == 1 {
				return i
			}
		}
	}
	return -1
}

// ErrUnprintable says that a format cannot write a value.
var ErrUnprintable = errors.New("records: unprintable")

func unprintable(f Format, problem string) error {
	return fmt.Errorf("%w as %v: %s", ErrUnprintable, f, problem)
}

// Print writes a value as programmes do: YAML as PyYAML's safe_dump without the last
// line end, Python as repr, JSON as Python's json.dumps. Parse reads an equal value
// back. What a format cannot write is refused with ErrUnprintable: a line with a line
// end in it, a list as Text.
func Print(f Format, v Value) (string, error) {
	switch f {
	case JSON:
		return string(appendDumps(nil, v)), nil
	case YAML:
		return printYAML(v)
	case Python:
		return printPython(v)
	case Lines:
		return printLines(v)
	case Text:
		if v.kind != String {
			return "", unprintable(f, "a "+v.kind.String()+" is no text")
		}
		return v.text, nil
	}
	return "", unprintable(f, "there is no such format")
}
