package source

import (
	"strings"
	"unicode/utf8"

	"github.com/aspis-rv/aspis/internal/diag"
)

// Text relates the text of a scalar, as it is after unquoting and unfolding, to
// the file it was written in.
type Text struct {
	Value string
	file  *File
	span  diag.Span
	// at holds the file offset of every byte of Value and of its end; nil when the
	// relation could not be established.
	at []int
}

// Text returns the relation for a scalar node.
func (n *Node) Text() Text {
	t := Text{Value: n.Value, file: n.file, span: n.span}
	w := walker{src: n.file.Data, value: n.Value, pos: n.span.Start.Offset, at: make([]int, 0, len(n.Value)+1)}
	if w.walk(n.style) {
		t.at = w.at
	}
	return t
}

// Exact reports whether positions inside the text are known; when they are not,
// Span returns the place of the whole scalar.
func (t Text) Exact() bool { return t.at != nil }

// File returns the file the text stands in.
func (t Text) File() *File { return t.file }

// Whole returns the span of the whole text.
func (t Text) Whole() diag.Span {
	if t.Exact() && len(t.Value) > 0 {
		return t.Span(0, len(t.Value))
	}
	return t.span
}

// Span maps the bytes [start, end) of the text to the file.
func (t Text) Span(start, end int) diag.Span {
	if !t.Exact() {
		return t.span
	}
	start = min(max(start, 0), len(t.Value))
	end = min(max(end, start), len(t.Value))
	from := t.at[start]
	to := t.at[end]
	if end > start { // do not let a fold or an escape after the end widen the span
		_, n := utf8.DecodeLastRuneInString(t.Value[:end])
		last := t.at[end-n]
		_, m := utf8.DecodeRune(t.file.Data[last:])
		if last+m < to && t.file.Data[last] != '\\' && t.file.Data[last] != '\'' {
			to = last + m
		}
	}
	return t.file.Span(from, to)
}

// Sub returns the relation for the bytes [start, end) of the text.
func (t Text) Sub(start, end int) Text {
	sub := Text{Value: t.Value[start:end], file: t.file, span: t.Span(start, end)}
	if t.Exact() {
		sub.at = t.at[start : end+1]
	}
	return sub
}

// walker follows value and source together. It is sound by construction: it
// succeeds only when it could account for every byte of value in the source.
type walker struct {
	src   []byte
	value string
	pos   int // in src
	done  int // in value
	at    []int
	// blank is the end of a run of blanks known to hold no line break.
	blank int
}

func (w *walker) walk(s style) bool {
	ok := false
	switch s {
	case plain:
		ok = w.flow(0)
	case single:
		ok = w.open('\'') && w.flow('\'')
	case double:
		ok = w.open('"') && w.flow('"')
	case literal, folded:
		ok = w.block(s == folded)
	}
	w.at = append(w.at, w.pos)
	return ok && len(w.at) == len(w.value)+1
}

func (w *walker) open(quote byte) bool {
	if w.pos >= len(w.src) || w.src[w.pos] != quote {
		return false
	}
	w.pos++
	return true
}

// take accounts for the next n bytes of value by the source at pos, which is size
// bytes long.
func (w *walker) take(n, size int) {
	for range n {
		w.at = append(w.at, w.pos)
	}
	w.done += n
	w.pos += size
}

func (w *walker) rest() string { return w.value[w.done:] }

// flow follows a plain or quoted scalar.
func (w *walker) flow(quote byte) bool {
	for w.done < len(w.value) {
		if w.pos >= len(w.src) {
			return false
		}
		if w.fold() {
			continue
		}
		if !w.char(quote) {
			return false
		}
	}
	return true
}

// char follows one character.
func (w *walker) char(quote byte) bool {
	c := w.src[w.pos]
	switch {
	case quote == '\'' && c == '\'':
		if !strings.HasPrefix(w.rest(), "'") || !strings.HasPrefix(string(w.src[w.pos:min(w.pos+2, len(w.src))]), "''") {
			return false
		}
		w.take(1, 2)
		return true
	case quote == '"' && c == '\\':
		return w.escape()
	}
	_, n := utf8.DecodeRune(w.src[w.pos:])
	if !strings.HasPrefix(w.rest(), string(w.src[w.pos:w.pos+n])) {
		return false
	}
	w.take(n, n)
	return true
}

// fold follows a line break with the blanks around it.
func (w *walker) fold() bool {
	p := w.pos
	if p < w.blank {
		return false
	}
	for p < len(w.src) && (w.src[p] == ' ' || w.src[p] == '\t') {
		p++
	}
	breaks := 0
	w.blank = p
	for q := p; q < len(w.src); q++ {
		if w.src[q] == '\n' {
			breaks++
			p = q + 1
			continue
		}
		if w.src[q] != ' ' && w.src[q] != '\t' && w.src[q] != '\r' {
			break
		}
		p = q + 1
	}
	want := " "
	if breaks > 1 {
		want = strings.Repeat("\n", breaks-1)
	}
	if breaks == 0 || !strings.HasPrefix(w.rest(), want) {
		return false
	}
	w.take(len(want), p-w.pos)
	return true
}

// escape follows a backslash escape of a double-quoted scalar.
func (w *walker) escape() bool {
	if w.pos+1 >= len(w.src) {
		return false
	}
	size := 2
	switch w.src[w.pos+1] {
	case 'x':
		size = 4
	case 'u':
		size = 6
	case 'U':
		size = 10
	case '\n', '\r':
		return false // a continued line: rare enough to point at the whole scalar
	}
	_, n := utf8.DecodeRuneInString(w.rest())
	w.take(n, size)
	return w.pos <= len(w.src)
}

// block follows a literal or folded block scalar.
func (w *walker) block(fold bool) bool {
	w.nextLine()
	indent, ok := w.indent()
	if !ok {
		return false
	}
	for w.done < len(w.value) {
		w.skipIndent(indent)
		for w.done < len(w.value) && w.pos < len(w.src) && w.src[w.pos] != '\n' && w.src[w.pos] != '\r' {
			_, n := utf8.DecodeRune(w.src[w.pos:])
			if !strings.HasPrefix(w.rest(), string(w.src[w.pos:w.pos+n])) {
				return false
			}
			w.take(n, n)
		}
		if w.done == len(w.value) {
			return true
		}
		if !w.lineBreak(fold, indent) {
			return false
		}
	}
	return true
}

// lineBreak follows the end of a line of a block.
func (w *walker) lineBreak(fold bool, indent int) bool {
	start := w.pos
	if start >= len(w.src) {
		return w.rest() == "\n" && w.final()
	}
	if !fold {
		if !strings.HasPrefix(w.rest(), "\n") {
			return false
		}
		w.nextLine()
		size := w.pos - start
		w.pos = start
		w.take(1, size)
		return true
	}
	breaks := w.breaks(indent)
	size := w.pos - start
	w.pos = start
	n := len(w.rest()) - len(strings.TrimLeft(w.rest(), "\n"))
	switch {
	case breaks == 1 && strings.HasPrefix(w.rest(), " "):
		w.take(1, size)
	case n >= 1 && n <= breaks: // folding drops one, the end of a block may drop more
		w.take(n, size)
	default:
		return false
	}
	return true
}

// breaks skips line breaks and the empty lines between them, and counts them.
func (w *walker) breaks(indent int) int {
	n := 0
	for w.pos < len(w.src) {
		p := w.pos
		for n > 0 && p < len(w.src) && w.src[p] == ' ' && p-w.pos < indent {
			p++
		}
		if p < len(w.src) && w.src[p] == '\r' {
			p++
		}
		if p >= len(w.src) || w.src[p] != '\n' {
			break
		}
		w.pos = p + 1
		n++
	}
	return n
}

func (w *walker) final() bool {
	w.take(1, 0)
	return true
}

// indent finds how many blanks stand before each line of the block.
func (w *walker) indent() (int, bool) {
	text := strings.TrimLeft(w.value, "\n")
	inText := len(text) - len(strings.TrimLeft(text, " "))
	for p := w.pos; p < len(w.src); {
		blanks := 0
		for p < len(w.src) && w.src[p] == ' ' {
			p++
			blanks++
		}
		if p < len(w.src) && w.src[p] != '\n' && w.src[p] != '\r' {
			return blanks - inText, blanks >= inText
		}
		for p < len(w.src) && w.src[p] != '\n' {
			p++
		}
		p++
	}
	return 0, false
}

func (w *walker) skipIndent(indent int) {
	for ; indent > 0 && w.pos < len(w.src) && w.src[w.pos] == ' '; indent-- {
		w.pos++
	}
}

func (w *walker) nextLine() {
	for w.pos < len(w.src) && w.src[w.pos] != '\n' {
		w.pos++
	}
	w.pos = min(w.pos+1, len(w.src))
}
