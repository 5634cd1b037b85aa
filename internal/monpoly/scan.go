package monpoly

import (
	"errors"
	"fmt"
	"io"
)

// token is a kind of token.
type token uint8

const (
	tokEnd token = iota
	tokBad
	tokWord
	tokAt
	tokOpen
	tokClose
	tokComma
	tokSemicolon
	tokCommand
)

// The sizes of buffers.
const (
	// bufferSize is what is read at once: enough that system calls do not matter
	// (16,000 per gigabyte), little enough to stay in the second-level cache.
	bufferSize = 64 << 10
	// maxWord bounds a word, which must lie in one buffer: a missing quote at the
	// start of a log is found out before the memory is full. Arguments that are whole
	// documents are some megabytes.
	maxWord = 16 << 20
)

// place is where a token starts.
type place struct{ line, col int }

// scanner turns a stream of bytes into tokens. Words lie in its buffers: they are
// valid until the next call of next, and if hold was called, until the next release.
type scanner struct {
	in   io.Reader
	file string
	size int // of a buffer

	buf  []byte // what was read
	pos  int    // the next byte
	kept bool   // somebody holds words in buf: it must not be overwritten
	old  []byte // the buffer before, if somebody may hold words in it
	free []byte // a buffer that nobody uses
	fail error  // of in; io.EOF included

	line   int
	bol    int // where in buf the line starts, negative if it starts before it
	extra  int // bytes of the line that are not the first of a rune
	tok    token
	word   []byte // of tokWord
	quotes bool   // the word stood in quotes
	punct  byte   // of the tokens that are one byte
	bad    string // what tokBad is
	at     place
	kinds  *[256]kind
}

func newScanner(in io.Reader, file string, size int) *scanner {
	return &scanner{in: in, file: file, size: size, buf: make([]byte, 0, size), line: 1, kinds: byteKinds()}
}

// kind is what a byte can be outside of quotes.
type kind uint8

const (
	kindOther kind = iota
	kindWord
	kindSpace
	kindNewline
	kindPunct
	kindQuote
	kindComment
)

// byteKinds says of every byte what it is.
func byteKinds() *[256]kind {
	var t [256]kind
	for c := range t {
		t[c] = kindOf(byte(c))
	}
	return &t
}

func kindOf(c byte) kind {
	switch {
	case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		return kindWord
	}
	switch c {
	case '_', '[', ']', '/', ':', '.', '!', '-':
		return kindWord
	case ' ', '\t':
		return kindSpace
	case '\n', '\r':
		return kindNewline
	case '@', '(', ')', ',', ';', '>':
		return kindPunct
	case '"':
		return kindQuote
	case '#':
		return kindComment
	}
	return kindOther
}

func punctuation(c byte) token {
	switch c {
	case '@':
		return tokAt
	case '(':
		return tokOpen
	case ')':
		return tokClose
	case ',':
		return tokComma
	case ';':
		return tokSemicolon
	}
	return tokCommand
}

// next reads the next token into s.tok and says where it starts.
func (s *scanner) next() token {
	s.tok = s.scan()
	return s.tok
}

func (s *scanner) scan() token {
	for {
		if s.pos == len(s.buf) && !s.more(&s.pos) {
			s.mark()
			return s.end()
		}
		c := s.buf[s.pos]
		switch s.kinds[c] {
		case kindSpace:
			s.pos++
		case kindNewline:
			s.newline(c)
		case kindComment:
			s.comment()
		case kindPunct:
			s.mark()
			s.pos++
			s.punct = c
			return punctuation(c)
		case kindWord:
			s.mark()
			return s.bare()
		case kindQuote:
			s.mark()
			s.pos++
			return s.quoted()
		case kindOther:
			s.mark()
			s.bad = quoted(s.buf[s.pos : s.pos+1])
			return tokBad
		}
	}
}

// end is the token at the end of the input: an error of the reader is one.
func (s *scanner) end() token {
	if errors.Is(s.fail, io.EOF) {
		return tokEnd
	}
	s.bad = fmt.Sprintf("an input that cannot be read: %v", s.fail)
	return tokBad
}

// mark notes the place of the token that starts at pos.
func (s *scanner) mark() { s.at = place{s.line, s.pos - s.bol - s.extra + 1} }

// newline passes over a line end; "\r\n" is one.
func (s *scanner) newline(c byte) {
	s.pos++
	if c == '\r' && (s.pos < len(s.buf) || s.more(&s.pos)) && s.buf[s.pos] == '\n' {
		s.pos++
	}
	s.line++
	s.bol = s.pos
	s.extra = 0
}

func (s *scanner) comment() {
	for s.pos < len(s.buf) || s.more(&s.pos) {
		c := s.buf[s.pos]
		if s.kinds[c] == kindNewline {
			return
		}
		if continues(c) {
			s.extra++
		}
		s.pos++
	}
}

// continues reports whether a byte is one of a rune and not its first.
func continues(c byte) bool { return c&0xC0 == 0x80 }

// bare reads a word without quotes.
func (s *scanner) bare() token {
	start := s.pos
	for {
		for s.pos < len(s.buf) && s.kinds[s.buf[s.pos]] == kindWord {
			s.pos++
		}
		if s.pos < len(s.buf) || !s.more(&start) {
			break
		}
		if s.pos-start > maxWord {
			return s.tooLong()
		}
	}
	s.word = s.buf[start:s.pos]
	s.quotes = false
	if len(s.word) == 1 && s.word[0] == 'r' && s.pos < len(s.buf) && s.buf[s.pos] == '"' {
		s.pos++
		return s.quoted()
	}
	return tokWord
}

// quoted reads the rest of a word in quotes.
func (s *scanner) quoted() token {
	start := s.pos
	line, bol, extra := s.line, -1, s.extra // the line the word ends on, and where it starts
	for {
		for s.pos < len(s.buf) {
			c := s.buf[s.pos]
			switch c {
			case '"':
				s.word, s.quotes = s.buf[start:s.pos], true
				s.pos++
				if s.line = line; bol >= 0 {
					s.bol = start + bol
				}
				s.extra = extra
				return tokWord
			case '\\':
				if s.pos+1 == len(s.buf) && !s.more(&start) {
					return s.unclosed()
				}
				s.pos++
				c = s.buf[s.pos]
			}
			s.pos++
			if c == '\n' {
				line, bol, extra = line+1, s.pos-start, 0
			} else if continues(c) {
				extra++
			}
		}
		if s.pos-start > maxWord {
			return s.tooLong()
		}
		if !s.more(&start) {
			return s.unclosed()
		}
	}
}

func (s *scanner) unclosed() token {
	if tok := s.end(); tok == tokBad {
		return tok
	}
	s.bad = "a quote that is never closed"
	return tokBad
}

func (s *scanner) tooLong() token {
	s.bad = fmt.Sprintf("a word of more than %d MiB", maxWord>>20)
	return tokBad
}
