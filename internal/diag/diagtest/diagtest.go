// Package diagtest runs tests whose expected diagnostics stand on the offending
// lines of the test source.
//
// A file holds chunks separated by lines of three dashes. A chunk may begin with
// directive lines `#! word…`, whose meaning the test defines. A line that must get
// a diagnostic ends in one or more of
//
//	### CODE "regular expression"
//
// where the quoted expression, which must match the message and hint joined by a
// newline, is optional. Missing and unexpected diagnostics both fail. The marks
// stay in the source, so the language under test must read # as a comment.
package diagtest

import (
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/aspis-rv/aspis/internal/diag"
)

// T is what the package needs of a *testing.T; the product never imports package
// testing.
type T interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// Chunk is one source text and what is expected of it.
type Chunk struct {
	// Line is the chunk's first line in the file, counted from 1.
	Line int
	// Source is the text, marks included.
	Source string
	// Directives are the words of the chunk's #! lines.
	Directives []string

	want []expectation
}

type expectation struct {
	line    int // in the chunk, from 1
	code    diag.Code
	pattern string
}

// Has tells whether the chunk has the directive.
func (c Chunk) Has(directive string) bool {
	return slices.Contains(c.Directives, directive)
}

// Read returns the chunks of a file, at least one.
func Read(t T, path string) []Chunk {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v", err)
	}
	mark := regexp.MustCompile(`###\s*(\w+)(?:\s+"((?:[^"\\]|\\.)*)")?`)
	var chunks []Chunk
	c := Chunk{Line: 1}
	flush := func(next int) {
		if strings.TrimSpace(c.Source) != "" {
			chunks = append(chunks, c)
		}
		c = Chunk{Line: next}
	}
	inChunk := 0
	for i, line := range strings.Split(string(text), "\n") {
		if line == "---" {
			flush(i + 2)
			inChunk = 0
			continue
		}
		inChunk++
		if words, ok := strings.CutPrefix(line, "#! "); ok {
			c.Directives = append(c.Directives, strings.Fields(words)...)
		}
		for _, m := range mark.FindAllStringSubmatch(line, -1) {
			c.want = append(c.want, expectation{inChunk, diag.Code(m[1]), strings.ReplaceAll(m[2], `\"`, `"`)})
		}
		c.Source += line + "\n"
	}
	flush(0)
	if len(chunks) == 0 {
		t.Fatalf("%s has no chunks", path)
	}
	return chunks
}

// Compare fails the test for every expected diagnostic that is missing and every
// diagnostic that is not expected.
func (c Chunk) Compare(t T, path string, got diag.List) {
	t.Helper()
	used := make([]bool, len(got))
expectations:
	for _, w := range c.want {
		re, err := regexp.Compile(w.pattern)
		if err != nil {
			t.Fatalf("%s:%d: %v", path, c.Line+w.line-1, err)
		}
		for i, d := range got {
			if !used[i] && d.Span.Start.Line == w.line && d.Code == w.code && re.MatchString(d.Message+"\n"+d.Hint) {
				used[i] = true
				continue expectations
			}
		}
		t.Errorf("%s:%d: expected %s %q", path, c.Line+w.line-1, w.code, w.pattern)
	}
	for i, d := range got {
		if !used[i] {
			t.Errorf("%s:%d: unexpected %v\n\thint: %s", path, c.Line+d.Span.Start.Line-1, d, d.Hint)
		}
	}
}
