package render

import (
	"strings"
	"unicode/utf8"
)

// table aligns columns of printed names.
type table struct{ rows [][]string }

func (t *table) row(cells ...string) { t.rows = append(t.rows, cells) }

// text prints the rows, each after lead; no line ends with a space.
func (t *table) text(lead string) string {
	var width []int
	for _, r := range t.rows {
		for i, c := range r {
			if i == len(width) {
				width = append(width, 0)
			}
			width[i] = max(width[i], utf8.RuneCountInString(c))
		}
	}
	var s strings.Builder
	for _, r := range t.rows {
		line := lead
		for i, c := range r {
			line += c + strings.Repeat(" ", width[i]-utf8.RuneCountInString(c)+2)
		}
		s.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	return s.String()
}
