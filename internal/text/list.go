package text

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/aspis-rv/aspis/internal/diag"
)

// The codes of faults of a cue file.
const (
	// CodeCueText: a line that is not UTF-8.
	CodeCueText diag.Code = "U001"
	// CodeCueEmpty: a cue without a letter or digit. `patient | | record`.
	CodeCueEmpty diag.Code = "U002"
	// CodeCueLimit: a cue, or a list, that is too long.
	CodeCueLimit diag.Code = "U003"
)

// The limits of cue lists.
const (
	// MaxCue bounds one cue, in bytes: a phrase, no paragraph.
	MaxCue = 256
	// MaxCues bounds the cues of one list.
	MaxCues = 50_000
)

// Cue is one alternative of a cue list: a word or a phrase.
type Cue struct {
	Text string
	// Stem: the last word of a text may go on where the cue ends. `~casualt` is found in
	// casualty and casualties.
	Stem bool
	Line int // in the file, from 1; 0: of no file
}

// List is a named cue list.
type List struct {
	Name string
	Cues []Cue
}

// ParseList reads a cue file: one cue a line, alternatives between `|`, `~` before an alternative
// for stem matching, `#` before a comment. The cues are those that can be used; the list names
// what is wrong with the others.
func ParseList(file string, data []byte) ([]Cue, diag.List) {
	p := listParser{file: file}
	at := 0
	for n := 1; at <= len(data); n++ {
		line := data[at:]
		if i := bytes.IndexByte(line, '\n'); i >= 0 {
			line = line[:i]
		}
		p.line(n, at, string(line))
		at += len(line) + 1
	}
	return p.cues, p.found
}

type listParser struct {
	file  string
	cues  []Cue
	found diag.List
	full  bool
}

func (p *listParser) line(n, at int, line string) {
	if !utf8.ValidString(line) {
		p.report(n, at, line, 0, len(line), CodeCueText, "the line is not UTF-8", "save the file as UTF-8")
		return
	}
	body, _, _ := strings.Cut(line, "#")
	if strings.TrimSpace(body) == "" {
		return
	}
	for from := 0; from <= len(body); {
		end := len(body)
		if i := strings.IndexByte(body[from:], '|'); i >= 0 {
			end = from + i
		}
		p.alternative(n, at, line, from, end)
		from = end + 1
	}
}

func (p *listParser) alternative(n, at int, line string, from, end int) {
	word := strings.TrimSpace(line[from:end])
	if word != "" {
		from += strings.Index(line[from:end], word)
		end = from + len(word)
	}
	stem := strings.HasPrefix(word, "~")
	word = strings.TrimSpace(strings.TrimPrefix(word, "~"))
	switch {
	case len(word) > MaxCue:
		p.report(n, at, line, from, end, CodeCueLimit, fmt.Sprintf("the cue has more than %d bytes", MaxCue), "name its characteristic words")
	case form(word) == "":
		p.report(n, at, line, from, end, CodeCueEmpty, "the cue has no letter and no digit", "write a word, or delete it")
	case len(p.cues) == MaxCues && !p.full:
		p.full = true
		p.report(n, at, line, from, end, CodeCueLimit, fmt.Sprintf("the list has more than %d cues", MaxCues), "split the list")
	case len(p.cues) < MaxCues:
		p.cues = append(p.cues, Cue{Text: word, Stem: stem, Line: n})
	}
}

func (p *listParser) report(n, at int, line string, from, end int, code diag.Code, message, hint string) {
	pos := func(i int) diag.Pos {
		return diag.Pos{Offset: at + i, Line: n, Col: utf8.RuneCountInString(line[:i]) + 1}
	}
	p.found = append(p.found, diag.Diagnostic{
		Code: code, File: p.file, Span: diag.Span{Start: pos(from), End: pos(end)}, Message: message, Hint: hint,
	})
}
