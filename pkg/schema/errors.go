package schema

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// The errors of this package. What is returned wraps one of them, so that
// errors.Is finds it.
var (
	// ErrWire says that bytes are not the canonical MessagePack form of a record; see
	// WireError.
	ErrWire = errors.New("schema: not a canonical record")
	// ErrVersion says that a record carries a schema version other than Version.
	ErrVersion = errors.New("schema: unknown schema version")
	// ErrEncode says that a record holds something that its wire form cannot carry.
	ErrEncode = errors.New("schema: record cannot be encoded")
	// ErrJSON says that a text is not acceptable JSON; see JSONError.
	ErrJSON = errors.New("schema: JSON not accepted")
	// ErrInvalid says that an event contradicts its kind or a limit; see
	// InvalidError.
	ErrInvalid = errors.New("schema: invalid event")
)

// WireError says where and why bytes are not a canonical record. It wraps ErrWire
// or ErrVersion.
type WireError struct {
	Offset  int    // byte offset at which the offending item starts
	Problem string // what is wrong
	Repair  string // what a correct producer writes instead; may be empty
	cause   error
}

// Error returns one line with the offset.
func (e *WireError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%v: byte %d: %s", e.Unwrap(), e.Offset, e.Problem)
	if e.Repair != "" {
		b.WriteString("; ")
		b.WriteString(e.Repair)
	}
	return b.String()
}

// Unwrap returns ErrWire or ErrVersion.
func (e *WireError) Unwrap() error {
	if e.cause != nil {
		return e.cause
	}
	return ErrWire
}

// JSONError says where and why a JSON text is not acceptable. It wraps ErrJSON or
// ErrVersion.
type JSONError struct {
	Pointer string // JSON pointer (RFC 6901) to the offending value; "" is the whole text
	Offset  int64  // byte offset at or after which the problem is
	Problem string
	Repair  string
	cause   error
}

// Error returns one line with pointer and offset. Foreign text is quoted.
func (e *JSONError) Error() string {
	at := "at the top"
	if e.Pointer != "" {
		at = "at " + strconv.QuoteToASCII(e.Pointer)
	}
	s := fmt.Sprintf("%v: %s, byte %d: %s", e.Unwrap(), at, e.Offset, e.Problem)
	if e.Repair != "" {
		s += "; " + e.Repair
	}
	return s
}

// Unwrap returns ErrJSON or ErrVersion.
func (e *JSONError) Unwrap() error {
	if e.cause != nil {
		return e.cause
	}
	return ErrJSON
}

// Problem is one finding of Event.Validate.
type Problem struct {
	Field  string // as the JSON form names it
	What   string
	Repair string
}

// InvalidError lists every problem of an event. It wraps ErrInvalid.
type InvalidError struct {
	Kind     Kind
	Problems []Problem // never empty, in the order of the JSON form's fields
}

// Error lists the problems, one line each after the first.
func (e *InvalidError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%v of kind %s:", ErrInvalid, e.Kind)
	for i, p := range e.Problems {
		if len(e.Problems) > 1 {
			fmt.Fprintf(&b, "\n  %d.", i+1)
		}
		fmt.Fprintf(&b, " %s: %s", p.Field, p.What)
		if p.Repair != "" {
			fmt.Fprintf(&b, "; %s", p.Repair)
		}
	}
	return b.String()
}

// Unwrap returns ErrInvalid.
func (e *InvalidError) Unwrap() error { return ErrInvalid }
