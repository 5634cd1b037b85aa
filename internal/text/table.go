package text

import (
	_ "embed"
	"unicode/utf8"
)

// tables says of every character what its matching form is. It is made by the test TestTable from
// the tables of golang.org/x/text and of Unicode Technical Standard 39.
//
//go:embed tables.bin
var tables string

// The layout of tables, in bytes: the version of Unicode, a block number for each 64 characters,
// the blocks of 64 entries, and the texts that characters stand for.
const (
	versionSize = 16
	blockBits   = 6
	blockSize   = 1 << blockBits
	indexSize   = 2 * (utf8.MaxRune + 1) / blockSize
	blocksAt    = versionSize + indexSize + 4
)

// kind is what a character is in a text that is searched for cues.
type kind uint8

const (
	separates kind = iota // it ends a word
	hidden                // it has no width: part of nothing, or the end of a word
	mark                  // it is dropped
	itself                // a letter that stands for itself
	alone                 // a letter of a script without blanks: a word of its own
	stands                // it stands for another text, in which blanks end words
)

// entry is what tables say of a character: kind, and where the text is it stands for.
type entry uint32

func (e entry) kind() kind { return kind(e & 7) }

func (e entry) text() string {
	from := poolAt() + int(e>>8)
	return tables[from : from+int(e>>3&31)]
}

// poolAt is where the texts begin.
func poolAt() int {
	const at = versionSize + indexSize
	blocks := int(tables[at]) | int(tables[at+1])<<8 | int(tables[at+2])<<16
	return blocksAt + 4*blockSize*blocks
}

// look finds the entry of a character beyond ASCII.
func look(r rune) entry {
	i := versionSize + 2*int(r>>blockBits)
	block := int(tables[i]) | int(tables[i+1])<<8
	j := blocksAt + 4*(block<<blockBits+int(r)&(blockSize-1))
	return entry(tables[j]) | entry(tables[j+1])<<8 | entry(tables[j+2])<<16 | entry(tables[j+3])<<24
}

// The traits of ASCII characters, as bits.
const (
	lower = 1 << iota
	upper
	digit
)

// trait says what an ASCII character is; 0: it separates words.
func trait(b byte) uint8 {
	switch {
	case b >= 'a' && b <= 'z':
		return lower
	case b >= 'A' && b <= 'Z':
		return upper
	case b >= '0' && b <= '9':
		return digit
	}
	return 0
}

// lowered is the matching form of an ASCII letter or digit.
func lowered(b byte) byte {
	if b >= 'A' && b <= 'Z' {
		return b + 'a' - 'A'
	}
	return b
}

// form is the matching form of a text: its words with one blank between them.
func form(s string) string {
	var out []byte
	ended := true
	word := func(w string) {
		for i := range len(w) {
			if w[i] == ' ' {
				ended = true
				continue
			}
			if ended && len(out) > 0 {
				out = append(out, ' ')
			}
			ended = false
			out = append(out, w[i])
		}
	}
	for i, r := range s {
		if r < utf8.RuneSelf {
			if trait(byte(r)) == 0 {
				ended = true
			} else {
				word(string(lowered(byte(r))))
			}
			continue
		}
		_, size := utf8.DecodeRuneInString(s[i:])
		switch e := look(r); e.kind() {
		case separates:
			ended = true
		case hidden, mark:
		case itself:
			word(s[i : i+size])
		case alone:
			word(" " + s[i:i+size] + " ")
		case stands:
			word(e.text())
		}
	}
	return string(out)
}
