package diag

import (
	"strconv"
	"strings"
	"unicode"
)

// maxLineColumns is how much of a source line a rendering shows around the caret.
// 160 fits two ordinary terminal widths; machine-made one-line formulas have tens
// of thousands of columns.
const maxLineColumns = 160

// tabStop is the distance of tab stops in display columns.
const tabStop = 8

// Sources gives the text of each file, for rendering.
type Sources map[string]string

// Render prints the diagnostic for a person: the line of Error, the source line, a
// caret under the span, the hint. A diagnostic whose source is unknown prints
// without the middle. The result ends in a newline.
func (d Diagnostic) Render(src Sources) string {
	var b strings.Builder
	b.WriteString(d.Error())
	b.WriteByte('\n')
	if line, ok := sourceLine(src, d.File, d.Span.Start.Line); ok {
		number := strconv.Itoa(d.Span.Start.Line)
		text, caret := underline(line, d.Span)
		b.WriteString("  " + number + " | " + text + "\n")
		b.WriteString("  " + strings.Repeat(" ", len(number)) + " | " + caret + "\n")
	}
	if d.Hint != "" {
		for i, h := range strings.Split(d.Hint, "\n") {
			if i == 0 {
				b.WriteString("  hint: " + h + "\n")
			} else {
				b.WriteString("        " + h + "\n")
			}
		}
	}
	return b.String()
}

// Render prints every diagnostic of the list, in the list's order.
func (l List) Render(src Sources) string {
	var b strings.Builder
	for _, d := range l {
		b.WriteString(d.Render(src))
	}
	return b.String()
}

func sourceLine(src Sources, file string, line int) (string, bool) {
	text, ok := src[file]
	if !ok || line < 1 {
		return "", false
	}
	for range line - 1 {
		_, rest, found := strings.Cut(text, "\n")
		if !found {
			return "", false
		}
		text = rest
	}
	text, _, _ = strings.Cut(text, "\n")
	return strings.TrimSuffix(text, "\r"), true
}

// cell is one rune as displayed.
type cell struct {
	text  string
	width int
}

// underline returns the line as displayed and the carets below it.
func underline(line string, span Span) (text, carets string) {
	cells := display(line)
	from := min(max(span.Start.Col-1, 0), len(cells))
	to := len(cells) // the span goes on below
	if span.End.Line == span.Start.Line {
		to = min(max(span.End.Col-1, from), len(cells))
	}
	first, last := window(cells, from)
	var t, c strings.Builder
	if first > 0 {
		t.WriteString("…")
		c.WriteByte(' ')
	}
	for i := first; i < last; i++ {
		t.WriteString(cells[i].text)
		mark := " "
		if i >= from && i < to {
			mark = "^"
		}
		c.WriteString(strings.Repeat(mark, cells[i].width))
	}
	if last < len(cells) {
		t.WriteString("…")
	}
	caret := strings.TrimRight(c.String(), " ")
	if !strings.Contains(caret, "^") { // an empty span: point at its place
		caret = c.String()
		if from < len(cells) {
			caret = caret[:columns(cells[first:from])+min(first, 1)]
		}
		caret += "^"
	}
	return t.String(), caret
}

// window chooses the cells to show so that the one at index at is among them.
func window(cells []cell, at int) (first, last int) {
	if columns(cells) <= maxLineColumns {
		return 0, len(cells)
	}
	first = at
	for w := 0; first > 0 && w < maxLineColumns/3; first-- {
		w += cells[first-1].width
	}
	last = first
	for w := 0; last < len(cells) && w < maxLineColumns; last++ {
		w += cells[last].width
	}
	return first, last
}

func columns(cells []cell) int {
	w := 0
	for _, c := range cells {
		w += c.width
	}
	return w
}

// display expands tabs and replaces control and format characters, which could
// otherwise move the cursor or reverse the text.
func display(line string) []cell {
	var cells []cell
	col := 0
	for _, r := range line {
		c := cell{text: string(r), width: runeWidth(r)}
		switch {
		case r == '\t':
			w := tabStop - col%tabStop
			c = cell{text: strings.Repeat(" ", w), width: w}
		case unicode.Is(unicode.Cc, r), unicode.Is(unicode.Cf, r):
			c = cell{text: "\uFFFD", width: 1}
		}
		col += c.width
		cells = append(cells, c)
	}
	return cells
}

// runeWidth returns the number of terminal columns a rune takes: 0 for combining
// marks, 2 for the wide and full-width ranges of Unicode Standard Annex 11, 1 else.
func runeWidth(r rune) int {
	switch {
	case unicode.In(r, unicode.Mn, unicode.Me):
		return 0
	case r < 0x1100:
		return 1
	case r <= 0x115F, // Hangul initial consonants
		r >= 0x2E80 && r <= 0x303E, // CJK radicals and punctuation
		r >= 0x3041 && r <= 0xA4CF, // kana, CJK ideographs, Yi
		r >= 0xA960 && r <= 0xA97C, // Hangul extended A
		r >= 0xAC00 && r <= 0xD7A3, // Hangul syllables
		r >= 0xF900 && r <= 0xFAFF, // CJK compatibility ideographs
		r >= 0xFE30 && r <= 0xFE6F, // CJK compatibility forms
		r >= 0xFF00 && r <= 0xFF60, // full-width forms
		r >= 0xFFE0 && r <= 0xFFE6,
		r >= 0x1F300 && r <= 0x1F64F, // pictographs
		r >= 0x1F680 && r <= 0x1F6FF,
		r >= 0x1F900 && r <= 0x1F9FF,
		r >= 0x1FA70 && r <= 0x1FAFF,
		r >= 0x20000 && r <= 0x3FFFD: // CJK extensions
		return 2
	}
	return 1
}
