// Package diag is the one diagnostic type of the project: a code, a position, a
// message and a hint, printed with the offending line and a caret.
//
// A package that reports diagnostics declares its codes as typed constants and
// documents each with an Explanation: one wrong example and its repair.
package diag

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Code identifies a kind of diagnostic, for example "P012". Codes are never
// renumbered. They are declared as typed constants in the package that reports them.
type Code string

// Severity ranks a diagnostic.
type Severity uint8

// The severities. The zero value is Error.
const (
	Error Severity = iota
	Warning
	Info
)

// String returns "error", "warning" or "info".
func (s Severity) String() string {
	switch s {
	case Error:
		return "error"
	case Warning:
		return "warning"
	case Info:
		return "info"
	}
	return "?"
}

// Pos is a place in a source text. Line and Col count from 1; Col counts runes.
// The zero Pos is "no position".
type Pos struct {
	Offset int // bytes from the start of the text
	Line   int
	Col    int
}

// IsValid tells whether the position is one.
func (p Pos) IsValid() bool { return p.Line > 0 }

// Span is a stretch of source text, End exclusive.
type Span struct {
	Start, End Pos
}

// Diagnostic is one finding about a source text.
type Diagnostic struct { //nolint:errname // an error is one of the things a diagnostic is
	Code     Code
	Severity Severity
	File     string
	Span     Span
	Message  string // what is wrong, one sentence
	Hint     string // how to repair it; may be empty
}

// Error returns the diagnostic's first line, without source and hint:
// `File:line:col: error[CODE]: message`.
func (d Diagnostic) Error() string {
	var b strings.Builder
	if d.File != "" {
		b.WriteString(d.File + ":")
	}
	if d.Span.Start.IsValid() {
		fmt.Fprintf(&b, "%d:%d:", d.Span.Start.Line, d.Span.Start.Col)
	}
	if b.Len() > 0 {
		b.WriteByte(' ')
	}
	fmt.Fprintf(&b, "%s[%s]: %s", d.Severity, d.Code, d.Message)
	return b.String()
}

// record is the JSON form of a diagnostic. Its keys are part of the command line's
// output and do not change.
type record struct {
	Code     Code   `json:"code"`
	Severity string `json:"severity"`
	File     string `json:"file"`
	Line     int    `json:"line"`
	Column   int    `json:"column"`
	Message  string `json:"message"`
	Hint     string `json:"hint"`
}

// MarshalJSON writes {code, severity, file, line, column, message, hint}. Line and
// column count from 1, the column in runes; both are 0 without a position.
func (d Diagnostic) MarshalJSON() ([]byte, error) {
	return json.Marshal(record{
		Code: d.Code, Severity: d.Severity.String(), File: d.File,
		Line: d.Span.Start.Line, Column: d.Span.Start.Col, Message: d.Message, Hint: d.Hint,
	})
}

// List is a list of diagnostics. As an error it stands for those of severity Error;
// use Err to get a nil error when there is none.
type List []Diagnostic //nolint:errname // as above

// Error returns the first line of the first error and how many more there are.
func (l List) Error() string {
	errs := l.errors()
	switch len(errs) {
	case 0:
		return "no errors"
	case 1:
		return errs[0].Error()
	}
	return errs[0].Error() + " (and " + strconv.Itoa(len(errs)-1) + " more)"
}

// Err returns the list as an error, or nil when nothing in it has severity Error.
func (l List) Err() error {
	if !l.HasErrors() {
		return nil
	}
	return l
}

// HasErrors tells whether something in the list has severity Error.
func (l List) HasErrors() bool {
	return slices.ContainsFunc(l, func(d Diagnostic) bool { return d.Severity == Error })
}

// Unwrap gives errors.As access to the errors of the list.
func (l List) Unwrap() []error {
	var errs []error
	for _, d := range l.errors() {
		errs = append(errs, d)
	}
	return errs
}

func (l List) errors() List {
	var errs List
	for _, d := range l {
		if d.Severity == Error {
			errs = append(errs, d)
		}
	}
	return errs
}

// Sorted returns the list in order of file and position, severest first at one
// place, without exact duplicates. The receiver is unchanged.
func (l List) Sorted() List {
	s := slices.Clone(l)
	slices.SortStableFunc(s, func(a, b Diagnostic) int {
		return cmp.Or(
			cmp.Compare(a.File, b.File),
			cmp.Compare(a.Span.Start.Line, b.Span.Start.Line),
			cmp.Compare(a.Span.Start.Col, b.Span.Start.Col),
			cmp.Compare(a.Severity, b.Severity),
			cmp.Compare(a.Code, b.Code),
			cmp.Compare(a.Message, b.Message),
		)
	})
	return slices.Compact(s)
}

// CodeOmitted marks the note that ends a capped list.
const CodeOmitted Code = "D001"

// Capped returns the first n diagnostics of the list and, if there are more, a
// last one of severity Info that counts the rest. Errors are kept before others;
// call it before Sorted. A list whose errors were cut still has errors for n ≥ 1.
func (l List) Capped(n int) List {
	if len(l) <= n {
		return slices.Clone(l)
	}
	s := slices.Clone(l)
	slices.SortStableFunc(s, func(a, b Diagnostic) int { return cmp.Compare(a.Severity, b.Severity) })
	rest := Diagnostic{
		Code: CodeOmitted, Severity: Info, File: s[n].File, Span: s[len(s)-1].Span,
		Message: fmt.Sprintf("%d more diagnostics are not shown", len(s)-n),
		Hint:    "repair those shown first",
	}
	return append(s[:n:n], rest)
}

// Explanation documents one code: an example that produces it and its repair.
type Explanation struct {
	Code  Code
	Title string // what the code means, a few words
	// Wrong is a text that produces the code, Repair the same text put right.
	Wrong, Repair string
	// Setting says under which options the example is read; the package that
	// declares the code defines the words. Empty for the default.
	Setting string
}
