package render

import (
	"strings"
	"unicode/utf8"
)

// table aligns columns of printed names.
type table struct{ rows [][]string }

func (t *table) row(cells ...string) { t.rows = append(t.rows, cells) }

// text prints the rows, each after lead; none ends with spaces.
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
		last := len(r) - 1
		for last > 0 && r[last] == "" {
			last--
		}
		s.WriteString(lead)
		for i, c := range r[:last] {
			s.WriteString(c + strings.Repeat(" ", width[i]-utf8.RuneCountInString(c)+2))
		}
		s.WriteString(r[last] + "\n")
	}
	return s.String()
}
