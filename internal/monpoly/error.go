package monpoly

import (
	"fmt"
	"strconv"
)

// Error is a mistake in a signature or a log.
type Error struct {
	// File is the name that was given for the text; empty if none was.
	File string
	// Line and Col count from 1; Col counts runes. They are where the offending
	// word starts, or where the text ends.
	Line, Col int
	// Message says what is wrong, Hint how to repair it; the hint may be empty.
	Message, Hint string
}

// Error returns `file:line:col: message`.
func (e *Error) Error() string {
	name := e.File
	if name == "" {
		name = "line"
	}
	return name + ":" + strconv.Itoa(e.Line) + ":" + strconv.Itoa(e.Col) + ": " + e.Message
}

// shownWord is the number of bytes of a word that a message repeats.
const shownWord = 40

// quoted prints a word for a message, shortened and without control characters.
func quoted(word []byte) string {
	if len(word) > shownWord {
		return strconv.Quote(string(word[:shownWord])) + "…"
	}
	return strconv.Quote(string(word))
}

// errorf makes an error at the current token.
func (s *scanner) errorf(hint, format string, args ...any) *Error {
	return s.at.errorf(s.file, hint, format, args...)
}

// errorf makes an error at a place.
func (p place) errorf(file, hint, format string, args ...any) *Error {
	return &Error{File: file, Line: p.line, Col: p.col, Message: fmt.Sprintf(format, args...), Hint: hint}
}

// expected says that another token stands where want is due.
func (s *scanner) expected(want string) *Error {
	return s.errorf("", "expected %s, found %s", want, s.found())
}

// hinted adds a hint to an error.
func (s *scanner) hinted(hint string, err *Error) *Error {
	err.Hint = hint
	return err
}

// found prints the current token.
func (s *scanner) found() string {
	switch s.tok {
	case tokWord:
		return quoted(s.word)
	case tokEnd:
		return "the end"
	case tokBad:
		return s.bad
	case tokAt, tokOpen, tokClose, tokComma, tokSemicolon, tokCommand:
		return strconv.Quote(string(s.punct))
	}
	return "?"
}
