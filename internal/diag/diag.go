// Package diag is the one diagnostic type of the project: a code, a position, a
// message and a hint, printed with the offending line and a caret.
package diag

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

// Span is a stretch of source text, End exclusive.
type Span struct {
	Start, End Pos
}

// Diagnostic is one finding about a source text.
type Diagnostic struct {
	Code     Code
	Severity Severity
	File     string
	Span     Span
	Message  string // what is wrong, one sentence
	Hint     string // how to repair it; may be empty
}
