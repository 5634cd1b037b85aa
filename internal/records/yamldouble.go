package records

import (
	"fmt"
	"unicode/utf8"
)

// double writes a text in double quotes: everything beyond printable ASCII as an
// escape, and folded behind a backslash beyond the width. Where a line is folded does
// not depend on words: at a blank, or at any place behind an escape.
func (w *yamlWriter) double(s string, at int, fold bool) {
	w.sign(`"`, true, false)
	runes := []rune(s)
	start, end := 0, 0 // what is not yet written
	for ; end <= len(runes); end++ {
		if end == len(runes) || needsEscape(runes[end]) {
			w.write(string(runes[start:end]))
			start = end
			if end < len(runes) {
				w.write(escaped(runes[end]))
				start++
			}
		}
		inner := 0 < end && end < len(runes)-1
		if !fold || !inner || runes[end] != ' ' && start < end || w.column+end-start <= yamlWidth {
			continue
		}
		if start < end {
			w.write(string(runes[start:end]))
			start = end
		}
		w.write(`\`)
		w.indent(at)
		w.blank, w.fresh = false, false
		if runes[start] == ' ' {
			w.write(`\`)
		}
	}
	w.sign(`"`, false, false)
}

func needsEscape(r rune) bool { return r < ' ' || r > '~' || r == '"' || r == '\\' }

// escaped is the escape sequence of a character.
func escaped(r rune) string {
	const letters = "\x000\aa\bb\tt\nn\vv\ff\rr\x1be\"\"\\\\"
	if r < utf8.RuneSelf {
		for i := 0; i < len(letters); i += 2 {
			if rune(letters[i]) == r {
				return `\` + letters[i+1:i+2]
			}
		}
	}
	switch {
	case r == '\u0085':
		return `\N`
	case r == '\u00a0':
		return `\_`
	case r == '\u2028':
		return `\L`
	case r == '\u2029':
		return `\P`
	case r <= 0xff:
		return fmt.Sprintf(`\x%02X`, r)
	case r <= 0xffff:
		return fmt.Sprintf(`\u%04X`, r)
	}
	return fmt.Sprintf(`\U%08X`, r)
}
