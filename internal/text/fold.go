package text

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Fold gives a value the form in which values are compared: without blanks around it, in lower
// case, in Normalization Form C. Two values with one form are canonically equivalent but for
// case; letters of different scripts stay different. Folding a folded value changes nothing. A
// text that is not UTF-8 keeps its bytes, but for the blanks.
func Fold(s string) string {
	s = strings.TrimSpace(s)
	if ascii(s) {
		return strings.ToLower(s)
	}
	if !utf8.ValidString(s) {
		return s
	}
	// Lower case may decompose (İ), and composing may give a capital (Å from the Ångström sign).
	return norm.NFC.String(strings.ToLower(norm.NFC.String(s)))
}

func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
