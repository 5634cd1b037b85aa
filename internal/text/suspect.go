package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Visible is a text without characters that nobody sees: those without width, and controls of the
// direction of writing. A reader who is led by what a text shows takes it for the same text. It is for
// suspicion only: two values become one by it.
func Visible(text string) string {
	if ascii(text) {
		return text
	}
	return strings.Map(func(r rune) rune {
		if unicode.In(r, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point) {
			return -1
		}
		return r
	}, text)
}

// Addresses lists, as Identifiers does, the e-mail addresses that stand anywhere in a text, also where signs join them to something
// else: mailto:a@b.example, to=a@b.example, a@b.example/x. Those signs may be part of an address, so
// that this is for suspicion only. Time is linear in the text.
func Addresses(text string, limit int) (found []string, all bool) {
	c := &collection{known: map[string]bool{}, limit: limit}
	for at := 0; !c.more; {
		i := strings.IndexByte(text[at:], '@')
		if i < 0 {
			break
		}
		from, to := at+i, at+i+1
		for from > at {
			r, size := utf8.DecodeLastRuneInString(text[at:from])
			if !inAddress(r) {
				break
			}
			from -= size
		}
		for to < len(text) {
			r, size := utf8.DecodeRuneInString(text[to:])
			if !inAddress(r) {
				break
			}
			to += size
		}
		if a := strings.Trim(text[from:to], ".-_+%"); isAddress(a) {
			c.add(Fold(a))
		}
		at += i + 1
	}
	return c.values, !c.more
}

// inAddress says which characters addresses have in practice.
func inAddress(r rune) bool {
	return strings.ContainsRune(".-_+%", r) || unicode.In(r, unicode.L, unicode.N, unicode.M)
}
