package records

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// parsePython reads what repr prints of None, bools, numbers, strings, tuples, lists,
// dicts, sets, dates and times, and the strings in pieces that pprint makes of long
// ones.
func parsePython(text string) (Value, error) {
	p := pyReader{text: text}
	p.blanks()
	v := p.value(0)
	p.blanks()
	if p.err == nil && p.at < len(text) {
		p.fail("data follows the value", "print one value")
	}
	if p.err != nil {
		return Value{}, p.err
	}
	return v, nil
}

// pyReader reads forward. The first error sticks; after it everything returns at once.
type pyReader struct {
	text  string
	at    int
	nodes budget
	err   error
}

func (p *pyReader) fail(problem, repair string) {
	if p.err == nil {
		p.err = errorAt(Python, p.text, p.at, problem, repair)
	}
}

// peek is the next byte, or 0 at the end and after an error.
func (p *pyReader) peek() byte {
	if p.err != nil || p.at >= len(p.text) {
		return 0
	}
	return p.text[p.at]
}

func (p *pyReader) rest() string { return p.text[p.at:] }

func (p *pyReader) blanks() { p.at += span(p.rest(), " \t\n\r\f") }

// accept takes a byte if it is next.
func (p *pyReader) accept(c byte) bool {
	if p.peek() != c {
		return false
	}
	p.at++
	return true
}

// value reads a value that stands inside depth brackets.
func (p *pyReader) value(depth int) Value {
	if err := p.nodes.take(); err != nil {
		p.fail(err.Error(), "print less")
	}
	c := p.peek()
	if (c == '[' || c == '(' || c == '{') && depth == MaxDepth {
		p.fail(fmt.Sprintf("brackets nest more than %d deep", MaxDepth), "flatten the value")
		return Value{}
	}
	switch {
	case c == '[':
		p.at++
		items, _ := p.sequence(']', depth+1)
		return NewList(items...)
	case c == '(':
		return p.round(depth + 1)
	case c == '{':
		return p.braces(depth + 1)
	case c == '\'' || c == '"':
		return NewString(p.strings(depth))
	case c == '-' || c >= '0' && c <= '9':
		return p.number()
	case c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
		return p.name()
	case c == 0:
		p.fail("the text ends where a value is expected", "print the whole value")
	default:
		p.fail(fmt.Sprintf("%q begins no value", first(p.rest())), "print values with repr")
	}
	return Value{}
}

func first(s string) string {
	_, n := utf8.DecodeRuneInString(s)
	return s[:n]
}

// sequence reads values up to a closing bracket. comma says whether one stands before
// the bracket.
func (p *pyReader) sequence(closing byte, depth int) (items []Value, comma bool) {
	for {
		p.blanks()
		if p.accept(closing) || p.err != nil {
			return items, comma
		}
		if len(items) > 0 && !comma {
			p.fail(fmt.Sprintf("a comma or %q is expected", closing), "print values with repr")
			return nil, false
		}
		items = append(items, p.value(depth))
		p.blanks()
		comma = p.accept(',')
	}
}

// round reads a tuple, or a value in brackets.
func (p *pyReader) round(depth int) Value {
	p.at++
	items, comma := p.sequence(')', depth)
	if len(items) == 1 && !comma {
		return items[0]
	}
	return Value{kind: List, form: tuple, items: items}
}

// braces reads a dict or a set.
func (p *pyReader) braces(depth int) Value {
	p.at++
	v := Value{kind: Map}
	names := map[string]struct{}{}
	for comma := true; ; {
		p.blanks()
		if p.accept('}') || p.err != nil {
			return v
		}
		if !comma {
			p.fail("a comma or '}' is expected", "print values with repr")
			return v
		}
		start := p.at
		key := p.value(depth)
		p.blanks()
		if len(v.members) == 0 && p.err == nil && p.peek() != ':' {
			return p.set(key, depth)
		}
		if !p.accept(':') {
			p.fail("a colon is expected behind the key", "print dicts with repr")
		}
		p.blanks()
		v.members = append(v.members, p.member(start, names, key, depth))
		p.blanks()
		comma = p.accept(',')
	}
}

// member reads the value behind a key that started at an offset.
func (p *pyReader) member(start int, names map[string]struct{}, key Value, depth int) Member {
	m, ok := keyed(key)
	_, twice := names[m.Name]
	names[m.Name] = struct{}{}
	if p.err == nil && (!ok || twice) {
		p.at = start
		if twice {
			p.fail(fmt.Sprintf("the key %.80q occurs twice in its dict", m.Name), "print each key once")
		} else {
			p.fail("a key is a "+key.kind.String(), "use texts as keys")
		}
	}
	m.Value = p.value(depth)
	return m
}

// set reads the rest of a set behind its first item. Items are scalars and tuples.
func (p *pyReader) set(head Value, depth int) Value {
	items := []Value{head}
	if p.accept(',') {
		more, _ := p.sequence('}', depth)
		items = append(items, more...)
	} else if !p.accept('}') {
		p.fail("a comma, a colon or '}' is expected", "print values with repr")
	}
	for _, item := range items {
		if item.kind == Map || item.kind == List && item.form != tuple {
			p.fail("a set ends here that holds a list, dict or set", "print sets with repr")
		}
	}
	return Value{kind: List, form: set, items: items}
}

// number reads an int or a float as repr prints it.
func (p *pyReader) number() Value {
	n := numberEnd(p.rest())
	lit := p.rest()[:n]
	v, err := NewNumber(lit)
	if next := p.rest()[n:]; err != nil || n == 0 || next != "" && (next[0] == '_' || next[0] == '.' || isWord(next[0])) {
		p.fail("this is no decimal number within the limits, as repr prints it", "print infinities, complex and other numbers as strings")
		return Value{}
	}
	p.at += n
	return v
}

func isWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// numberEnd is the length of the JSON number at the start of s, or 0.
func numberEnd(s string) int {
	n := len(s) - len(strings.TrimPrefix(s, "-"))
	whole := span(s[n:], digits)
	if whole == 0 || whole > 1 && s[n] == '0' {
		return 0
	}
	n += whole
	if strings.HasPrefix(s[n:], ".") {
		if f := span(s[n+1:], digits); f > 0 {
			n += 1 + f
		}
	}
	if e := s[n:]; e != "" && (e[0] == 'e' || e[0] == 'E') {
		m := 1 + len(e[1:]) - len(unsigned(e[1:]))
		if d := span(e[m:], digits); d > 0 {
			n += m + d
		}
	}
	return n
}

// name reads None, True, False, set() or a date.
func (p *pyReader) name() Value {
	n := 0
	for n < len(p.rest()) && (isWord(p.rest()[n]) || p.rest()[n] == '.') {
		n++
	}
	word, behind := p.rest()[:n], p.rest()[n:]
	switch word {
	case "None":
		p.at += n
		return Value{}
	case "True", "False":
		p.at += n
		return NewBool(word == "True")
	case "set":
		if strings.HasPrefix(behind, "()") {
			p.at += n + 2
			return Value{kind: List, form: set}
		}
	case "datetime.date", "datetime.datetime":
		return p.date(word)
	case "b", "B":
		p.fail("bytes are no text", "decode them before printing")
	case "nan", "inf":
		p.fail("JSON has no number "+word, "print None")
	}
	p.fail(fmt.Sprintf("%.60q is no literal", word), "print dicts, lists, strings and numbers; an object's repr says nothing certain")
	return Value{}
}

// strings reads a string, and the pieces that follow it. Outside of brackets they
// stand on one line: two lines are two values.
func (p *pyReader) strings(depth int) string {
	between := " \t\n\r\f"
	if depth == 0 {
		between = " \t"
	}
	b := p.str(nil)
	for p.err == nil {
		end := p.at
		p.at += span(p.rest(), between)
		if c := p.peek(); c != '\'' && c != '"' {
			p.at = end
			break
		}
		b = p.str(b)
	}
	return string(b)
}

// str reads one literal and appends its text.
func (p *pyReader) str(b []byte) []byte {
	quote := p.text[p.at : p.at+1]
	if strings.HasPrefix(p.rest(), quote+quote+quote) {
		p.fail("a string in three quotes", "print strings with repr")
		return b
	}
	start := p.at
	p.at++
	for p.err == nil {
		n := strings.IndexAny(p.rest(), quote+"\\\n\r\x00")
		if n < 0 {
			p.at = start
			p.fail("the string does not end", "print the whole value")
			return b
		}
		b = append(b, p.rest()[:n]...)
		p.at += n
		switch p.text[p.at] {
		case quote[0]:
			p.at++
			return b
		case '\\':
			b = p.escape(b)
		default:
			p.fail("a line end or NUL stands in a string", "print strings with repr")
		}
	}
	return b
}

// escape reads an escape sequence and appends what it stands for.
func (p *pyReader) escape(b []byte) []byte {
	rest := p.rest()[1:]
	if rest == "" {
		p.fail("the string does not end", "print the whole value")
		return b
	}
	c := rest[0]
	if i := strings.IndexByte("\n\\'\"abfnrtv", c); i >= 0 {
		p.at += 2
		if i == 0 {
			return b
		}
		return append(b, "\n\\'\"\a\b\f\n\r\t\v"[i])
	}
	switch c {
	case 'x':
		return p.code(b, rest[1:], 2, 16)
	case 'u':
		return p.code(b, rest[1:], 4, 16)
	case 'U':
		return p.code(b, rest[1:], 8, 16)
	case '0', '1', '2', '3', '4', '5', '6', '7':
		p.at-- // an octal number has no letter
		return p.code(b, rest, min(span(rest, "01234567"), 3), 8)
	}
	p.fail(fmt.Sprintf("\\%s is no escape that repr prints", first(rest)), "print strings with repr")
	return b
}

// code appends the character whose number has n digits at the start of s. The sequence
// starts two bytes before s.
func (p *pyReader) code(b []byte, s string, n, base int) []byte {
	if len(s) < n {
		p.fail("the escape is cut off", "print strings with repr")
		return b
	}
	r, err := strconv.ParseUint(s[:n], base, 32)
	if err != nil {
		p.fail(fmt.Sprintf("%.8q is no character's number", s[:n]), "print strings with repr")
		return b
	}
	if r > utf8.MaxRune || !utf8.ValidRune(rune(r)) {
		p.fail(fmt.Sprintf("%q is the number of no character", s[:n]), "print text without lone surrogates")
		return b
	}
	p.at += 2 + n
	return utf8.AppendRune(b, rune(r))
}
