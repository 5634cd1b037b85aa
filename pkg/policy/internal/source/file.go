// Package source reads a YAML file strictly, as a tree in which every key and
// value knows where it stands, down to the runes inside a scalar. It refuses what
// makes YAML surprising: anchors, aliases, merge keys, tags, duplicate keys,
// further documents, and characters that make a text look other than it reads.
//
// All types are immutable after Parse and safe for concurrent use.
package source

import (
	"sort"
	"unicode/utf8"

	"github.com/aspis-rv/aspis/internal/diag"
)

// File is a source file with an index of its lines and columns.
type File struct {
	Name  string
	Data  []byte
	lines []int // offset of the first byte of each line
	runes []int // number of runes that start before each multiple of stride
}

// stride is the distance of the marks in the column index. Files are at most a few
// MB, so the index stays small, and no line is ever scanned as a whole: a megabyte
// on one line with 200,000 values would otherwise take minutes.
const stride = 64

// NewFile indexes data. The caller must not modify data afterwards.
func NewFile(name string, data []byte) *File {
	f := &File{Name: name, Data: data, lines: []int{0}}
	runes := 0
	for i, b := range data {
		if i%stride == 0 {
			f.runes = append(f.runes, runes)
		}
		if utf8.RuneStart(b) {
			runes++
		}
		if b == '\n' {
			f.lines = append(f.lines, i+1)
		}
	}
	f.runes = append(f.runes, runes)
	return f
}

// Pos returns the position of a byte offset, clamped to the file.
func (f *File) Pos(offset int) diag.Pos {
	offset = min(max(offset, 0), len(f.Data))
	line := f.line(offset)
	col := f.count(offset) - f.count(f.lines[line]) + 1
	return diag.Pos{Offset: offset, Line: line + 1, Col: col}
}

// line returns the index of the line that offset stands on.
func (f *File) line(offset int) int { return sort.SearchInts(f.lines, offset+1) - 1 }

// count returns how many runes start before offset.
func (f *File) count(offset int) int {
	mark := min(offset/stride, len(f.runes)-1)
	n := f.runes[mark]
	for i := mark * stride; i < offset && i < len(f.Data); i++ {
		if utf8.RuneStart(f.Data[i]) {
			n++
		}
	}
	return n
}

// Span returns the span between two byte offsets.
func (f *File) Span(start, end int) diag.Span {
	return diag.Span{Start: f.Pos(start), End: f.Pos(max(start, end))}
}

// LineSpan returns the span of line n (from 1) without its line break.
func (f *File) LineSpan(n int) diag.Span {
	n = min(max(n, 1), len(f.lines))
	start := f.lines[n-1]
	return f.Span(start, f.lineEnd(start))
}

// lineEnd returns the offset of the line break that ends the line around offset,
// or of the end of the file.
func (f *File) lineEnd(offset int) int {
	end := len(f.Data)
	if next := f.line(offset) + 1; next < len(f.lines) {
		end = f.lines[next] - 1
	}
	if end > offset && f.Data[end-1] == '\r' {
		end--
	}
	return max(end, offset)
}

// offsetOf returns the byte offset of a line and a column counted in runes, both
// from 1, clamped to the line.
func (f *File) offsetOf(line, col int) int {
	if line < 1 {
		return 0
	}
	if line > len(f.lines) {
		return len(f.Data)
	}
	start := f.lines[line-1]
	want := f.count(start) + col - 1
	// The last mark with at most want runes before it is where to start counting.
	mark := sort.SearchInts(f.runes, want+1) - 1
	offset := max(start, mark*stride)
	for n := f.count(offset); offset < len(f.Data) && f.Data[offset] != '\n'; offset++ {
		if utf8.RuneStart(f.Data[offset]) {
			if n == want {
				break
			}
			n++
		}
	}
	return offset
}
