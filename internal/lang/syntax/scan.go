package syntax

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/aspis-rv/aspis/internal/diag"
)

// scanner turns the source into tokens. It reports what it cannot read and goes on.
type scanner struct {
	src    string
	mode   Mode
	raw    bool // of Options
	at     int
	tokens []token
	report func(code diag.Code, start, end int, message, hint string)
}

// scan reads the whole source. The last token is tokEOF; its place is the end of
// the token before it.
func (s *scanner) scan() []token {
	for {
		s.skipSpace()
		if s.at == len(s.src) {
			end := 0
			if n := len(s.tokens); n > 0 {
				end = s.tokens[n-1].end
			}
			return append(s.tokens, token{kind: tokEOF, start: end, end: end})
		}
		c := s.src[s.at]
		switch {
		case strings.HasPrefix(s.src[s.at:], `r"`):
			s.regexp()
		case isDigit(c), s.mode == MonPoly && isWordStart(c):
			s.word()
		case isWordStart(c):
			s.identifier()
		case c == '"':
			s.string()
		case c == '@' && s.mode == Bundle:
			s.here()
		default:
			s.punct()
		}
	}
}

// skipSpace skips blanks and comments, which run from # to the end of the line.
func (s *scanner) skipSpace() {
	for s.at < len(s.src) {
		switch s.src[s.at] {
		case ' ', '\t', '\r', '\n':
			s.at++
		case '#':
			end := strings.IndexByte(s.src[s.at:], '\n')
			if end < 0 {
				s.at = len(s.src)
				return
			}
			s.at += end
		default:
			return
		}
	}
}

func (s *scanner) emit(k kind, end int) {
	s.tokens = append(s.tokens, token{kind: k, text: s.src[s.at:end], start: s.at, end: end})
	s.at = end
}

// run returns the end of the run of bytes from i on that satisfy ok.
func (s *scanner) run(i int, ok func(byte) bool) int {
	for i < len(s.src) && ok(s.src[i]) {
		i++
	}
	return i
}

// identifier scans [A-Za-z_][A-Za-z0-9_]*, a keyword or a name.
func (s *scanner) identifier() {
	end := s.run(s.at, isWordPart)
	s.emit(s.wordKind(s.src[s.at:end]), end)
}

func (s *scanner) wordKind(word string) kind {
	if classify(word, s.mode) != wordNone {
		return tokKeyword
	}
	return tokIdent
}

// word scans a number, a duration or, in MonPoly mode, one of its identifiers
// [A-Za-z0-9_][A-Za-z0-9_\-/:'"]*, whichever is longest; a number wins a tie.
func (s *scanner) word() {
	number, k := s.number()
	if s.mode == Bundle {
		end := s.run(number, isWordPart)
		switch {
		case end == number:
			s.emit(k, end)
		case end == number+1 && k == tokInt && s.src[number] != '_':
			s.emit(tokDuration, end)
		default:
			s.report(CodeNumber, s.at, end, "`"+shorten(s.src[s.at:end])+"` is neither a number nor a name",
				"a name starts with a letter or an underscore; a time bound is a whole number and one of d, h, m, s, a distance a whole number")
			s.emit(tokBad, end)
		}
		return
	}
	ident := s.run(s.at, isMonPolyPart)
	if k == tokInt && number > s.at && number < len(s.src) && isLetter(s.src[number]) && ident == number+1 {
		s.emit(tokDuration, ident)
		return
	}
	if number > s.at && number >= ident {
		s.emit(k, number)
		return
	}
	s.emit(s.wordKind(s.src[s.at:ident]), ident)
}

// number returns the end of the number at the scanner's place, and its kind:
// digits, or digits "." digits [("e"|"E") ["+"|"-"] digits].
func (s *scanner) number() (end int, k kind) {
	end = s.run(s.at, isDigit)
	if end+1 >= len(s.src) || s.src[end] != '.' || !isDigit(s.src[end+1]) {
		return end, tokInt
	}
	end = s.run(end+1, isDigit)
	if end < len(s.src) && (s.src[end] == 'e' || s.src[end] == 'E') {
		exp := end + 1
		if exp < len(s.src) && (s.src[exp] == '+' || s.src[exp] == '-') {
			exp++
		}
		if exp < len(s.src) && isDigit(s.src[exp]) {
			end = s.run(exp, isDigit)
		}
	}
	return end, tokFloat
}

// string scans a double-quoted string on one line, with Go's escapes. In MonPoly
// mode a backslash before any other character stands for itself.
func (s *scanner) string() {
	var b strings.Builder
	i := s.at + 1
	for {
		if i >= len(s.src) || s.src[i] == '\n' {
			s.report(CodeString, s.at, i, "the string has no closing quote", `end it with "`)
			s.emit(tokBad, i)
			return
		}
		if s.src[i] == '"' {
			s.tokens = append(s.tokens, token{kind: tokString, text: b.String(), start: s.at, end: i + 1})
			s.at = i + 1
			return
		}
		i = s.character(&b, i)
	}
}

// character appends the character at i of a string to b and returns the place
// after it.
func (s *scanner) character(b *strings.Builder, i int) int {
	if s.src[i] != '\\' {
		b.WriteByte(s.src[i])
		return i + 1
	}
	line, _, _ := strings.Cut(s.src[i:], "\n")
	if s.raw {
		n := min(2, len(line))
		b.WriteString(line[:n])
		return i + n
	}
	r, multibyte, tail, err := strconv.UnquoteChar(line, '"')
	switch {
	case err == nil && multibyte:
		b.WriteRune(r)
	case err == nil:
		b.WriteByte(byte(r))
	case s.mode == MonPoly:
		b.WriteByte('\\')
		return i + 1
	default:
		end := min(i+2, len(s.src))
		s.report(CodeString, i, end, "`"+s.src[i:end]+"` is not an escape sequence",
			`write \\ for a backslash, \" for a quote`)
		return end
	}
	return i + len(line) - len(tail)
}

// regexp scans r"…", in which a backslash is an ordinary character.
func (s *scanner) regexp() {
	end := strings.IndexByte(s.src[s.at+2:], '"')
	if end < 0 {
		s.report(CodeString, s.at, len(s.src), "the regular expression has no closing quote", `end it with "`)
		s.emit(tokBad, len(s.src))
		return
	}
	s.emit(tokRegexp, s.at+2+end+1)
}

// here scans @l, the vertex of evaluation.
func (s *scanner) here() {
	end := s.run(s.at+1, isWordPart)
	if word := s.src[s.at:end]; word != "@l" {
		s.report(CodeCharacter, s.at, end, "`"+shorten(word)+"` is no part of the language", "the vertex of which AT speaks is written `@l`")
		s.emit(tokBad, end)
		return
	}
	s.emit(tokHere, end)
}

// punct scans punctuation and operators, those of other languages included so that
// the parser can say what to write instead.
func (s *scanner) punct() {
	rest := s.src[s.at:]
	for _, op := range operators() {
		if strings.HasPrefix(rest, op) {
			s.emit(tokPunct, s.at+len(op))
			return
		}
	}
	r, n := utf8.DecodeRuneInString(rest)
	hint := ""
	switch {
	case r == '\'':
		hint = `strings stand in double quotes`
	case r == '{' || r == '}':
		hint = "group with ( and )"
	case r == utf8.RuneError:
		hint = "the text must be UTF-8"
	case r > utf8.RuneSelf:
		hint = "names consist of the letters A to Z and a to z, digits and underscores"
	}
	s.report(CodeCharacter, s.at, s.at+n, strconv.QuoteRune(r)+" is no part of the language", hint)
	s.emit(tokBad, s.at+n)
}

// operators lists punctuation, longer before shorter.
func operators() []string {
	return []string{
		"<=>", "<->", "<-", "<=", "<>", "<", ">=", ">", "=>", "==", "=", "->", "!=", "!", "&&", "&", "||", "|",
		"(", ")", "[", "]", ",", ".", ";", "+", "-", "*", "/", "?",
	}
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

func isWordStart(c byte) bool { return c == '_' || isLetter(c) }

func isWordPart(c byte) bool { return isWordStart(c) || isDigit(c) }

func isMonPolyPart(c byte) bool { return isWordPart(c) || strings.IndexByte(`-/:'"`, c) >= 0 }
