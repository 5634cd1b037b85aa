package records

import (
	"slices"
	"strings"
)

// How PyYAML lays out a document.
const (
	yamlWidth   = 80  // a blank behind this column is where a line is folded
	yamlIndent  = 2   // blanks per level
	yamlLongKey = 128 // the length, with the name of its type, from which a key has a line of its own
)

// printYAML writes a value as PyYAML's safe_dump does, without the last line end:
// block style, keys sorted by code points, sequences of a map not indented, everything
// beyond ASCII escaped.
func printYAML(v Value) (string, error) {
	w := yamlWriter{blank: true, fresh: true}
	w.node(v, -1, false)
	if w.open {
		w.b = append(w.b, "\n..."...)
	}
	if w.err != nil {
		return "", w.err
	}
	return string(w.b), nil
}

// yamlWriter is the state of the line being written.
type yamlWriter struct {
	b      []byte
	column int
	blank  bool // what stands before is blank, or the line's beginning
	fresh  bool // the line has only indentation and signs that may stand before a block
	open   bool // the document is a scalar without quotes, whose end needs a mark
	err    error
}

// sign writes a sign of the language, behind a blank if it needs one.
func (w *yamlWriter) sign(s string, needBlank, block bool) {
	if needBlank && !w.blank {
		s = " " + s
	}
	w.fresh = w.fresh && block
	w.blank = false
	w.write(s)
}

// write appends ASCII text that has no line end.
func (w *yamlWriter) write(s string) {
	w.b = append(w.b, s...)
	w.column += len(s)
}

func (w *yamlWriter) newline() {
	w.b = append(w.b, '\n')
	w.column, w.blank, w.fresh = 0, true, true
}

// indent brings the line to a column, on a new line where the old one has content.
func (w *yamlWriter) indent(to int) {
	if !w.fresh || w.column > to || w.column == to && !w.blank {
		w.newline()
	}
	if w.column < to {
		w.blank = true
		w.write(strings.Repeat(" ", to-w.column))
	}
}

// node writes a value whose surroundings are indented by outer blanks, -1 at the top.
// inMap says that it is the value of a map.
func (w *yamlWriter) node(v Value, outer int, inMap bool) {
	switch {
	case v.form == set:
		w.err = unprintable(YAML, "a set needs a tag")
	case v.kind == List && len(v.items) == 0:
		w.sign("[]", true, false)
	case v.kind == Map && len(v.members) == 0:
		w.sign("{}", true, false)
	case v.kind == List:
		at := deeper(outer)
		if inMap && !w.fresh {
			at = outer
		}
		for _, item := range v.items {
			w.indent(at)
			w.sign("-", true, true)
			w.node(item, at, false)
		}
	case v.kind == Map:
		w.mapping(v, deeper(outer))
	default:
		w.scalar(v, max(outer, 0)+yamlIndent, outer < 0, false)
	}
}

func deeper(outer int) int {
	if outer < 0 {
		return 0
	}
	return outer + yamlIndent
}

func (w *yamlWriter) mapping(v Value, at int) {
	members := slices.Clone(v.members)
	// Keys of several types have no order; then Python leaves them as they are.
	if !slices.ContainsFunc(members, func(m Member) bool { return m.key != nil }) {
		slices.SortStableFunc(members, func(a, b Member) int { return strings.Compare(a.Name, b.Name) })
	}
	for _, m := range members {
		w.indent(at)
		key := m.keyValue()
		if isShortKey(key) {
			w.scalar(key, at+yamlIndent, false, true)
			w.sign(":", false, false)
		} else {
			w.sign("?", true, true)
			w.scalar(key, at+yamlIndent, false, false)
			w.indent(at)
			w.sign(":", true, true)
		}
		w.node(m.Value, at, true)
	}
}

// isShortKey reports whether a key stands before its value on one line.
func isShortKey(key Value) bool {
	text, typ := unquoted(key)
	if text == "" || strings.ContainsAny(text, "\n\u0085\u2028\u2029") {
		return false
	}
	return len([]rune(text))+len(typ) < yamlLongKey
}

// unquoted is a scalar's text without quotes and the short name of its type.
func unquoted(v Value) (text, typ string) {
	switch v.kind {
	case Null:
		return "null", "!!null"
	case Bool:
		return v.text, "!!bool"
	case Number:
		if strings.ContainsAny(v.text, ".eE") {
			return yamlFloatText(v.text), "!!float"
		}
		return v.text, "!!int"
	case String, List, Map:
	}
	if v.form == date {
		return v.text, "!!timestamp"
	}
	return v.text, "!!str"
}

// yamlFloatText gives a float the point and the signed exponent without which YAML 1.1
// reads a text.
func yamlFloatText(lit string) string {
	e := strings.IndexAny(lit, "eE")
	if e < 0 {
		return lit
	}
	mantissa, exponent := lit[:e], lit[e+1:]
	if !strings.Contains(mantissa, ".") {
		mantissa += ".0"
	}
	if exponent[0] != '-' && exponent[0] != '+' {
		exponent = "+" + exponent
	}
	return mantissa + "e" + exponent
}

// scalar writes a scalar whose further lines are indented by at blanks. top says that
// it is the document, key that it must stay on its line.
func (w *yamlWriter) scalar(v Value, at int, top, key bool) {
	text, _ := unquoted(v)
	if v.kind != String || v.form == date && resolve(text) == yamlDate {
		w.open = top
		w.plain(text, at, !key)
		return
	}
	switch look := examine(text); {
	case resolve(text) == yamlText && look.plain:
		w.open = top
		w.plain(text, at, !key)
	case look.single:
		w.single(text, at, !key)
	default:
		w.double(text, at, !key)
	}
}

// looks says which styles can carry a text.
type looks struct{ plain, single bool }

// examine finds out how a text may be written. A text with line ends is quoted; one
// with a blank beside a line end, or with a character that is not printable ASCII,
// needs double quotes.
func examine(s string) looks {
	if s == "" {
		return looks{plain: true, single: true}
	}
	look := looks{plain: true, single: true}
	if strings.HasPrefix(s, "---") || strings.HasPrefix(s, "...") || s[0] == ' ' || s[len(s)-1] == ' ' {
		look.plain = false
	}
	for i := range len(s) {
		c := s[i]
		begins := i == 0 || isBreakOrBlank(s[i-1])
		ends := i+1 == len(s) || isBreakOrBlank(s[i+1])
		switch {
		case c == '\n':
			look.plain = false
			look.single = look.single && (i == 0 || s[i-1] != ' ') && (i+1 == len(s) || s[i+1] != ' ')
		case c < ' ' || c > '~':
			return looks{}
		case i == 0 && strings.IndexByte("#,[]{}&*!|>'\"%@`", c) >= 0,
			i == 0 && ends && strings.IndexByte("?:-", c) >= 0,
			c == ':' && ends, c == '#' && begins:
			look.plain = false
		}
	}
	return look
}

func isBreakOrBlank(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == 0 }

// plain writes a text without quotes.
func (w *yamlWriter) plain(s string, at int, fold bool) {
	if !w.blank {
		w.write(" ")
	}
	w.blank, w.fresh = false, false
	w.words(s, at, fold, false)
}

// words writes a text that has no line end, folded at single blanks between words
// beyond the width. In quotes the blanks at either end stay.
func (w *yamlWriter) words(s string, at int, fold, quoted bool) {
	for i := 0; i < len(s); {
		if s[i] != ' ' {
			n := strings.IndexByte(s[i:], ' ')
			if n < 0 {
				n = len(s) - i
			}
			w.write(s[i : i+n])
			i += n
			continue
		}
		n := span(s[i:], " ")
		inner := !quoted || i > 0 && i+n < len(s)
		if n == 1 && w.column > yamlWidth && fold && inner {
			w.indent(at)
			w.blank, w.fresh = false, false
		} else {
			w.write(s[i : i+n])
		}
		i += n
	}
}

// single writes a text in single quotes. A line end is written as an empty line.
func (w *yamlWriter) single(s string, at int, fold bool) {
	w.sign("'", true, false)
	for i := 0; i < len(s); {
		if s[i] == '\n' {
			n := span(s[i:], "\n")
			w.newline()
			for range n {
				w.newline()
			}
			w.indent(at)
			i += n
			continue
		}
		n := strings.IndexByte(s[i:], '\n')
		if n < 0 {
			n = len(s) - i
		}
		w.singleLine(s, i, i+n, at, fold)
		i += n
	}
	w.sign("'", false, false)
}

// singleLine writes s[from:to], which has no line end, in single quotes.
func (w *yamlWriter) singleLine(s string, from, to, at int, fold bool) {
	for i := from; i < to; {
		n := 1
		switch s[i] {
		case '\'':
			w.write("''")
		case ' ':
			n = span(s[i:to], " ")
			if n == 1 && w.column > yamlWidth && fold && i > 0 && i+n < len(s) {
				w.indent(at)
			} else {
				w.write(s[i : i+n])
			}
		default:
			if n = strings.IndexAny(s[i:to], " '"); n < 0 {
				n = to - i
			}
			w.write(s[i : i+n])
		}
		i += n
	}
}
