package records

import (
	"fmt"
	"strconv"
	"strings"
)

// date reads datetime.date(2024, 5, 1) or datetime.datetime(2024, 5, 1, 10, 0), the
// latter with a time zone of UTC or none. The value is the text that str makes of it:
// 2024-05-01 10:00:00.
func (p *pyReader) date(word string) Value {
	start := p.at
	p.at += len(word)
	var parts []int
	utc := false
	if !p.accept('(') {
		p.at = start
	}
	for p.err == nil && p.at > start && !p.accept(')') {
		if len(parts) > 0 && !p.accept(',') {
			p.at = start
			break
		}
		p.at += span(p.rest(), " ")
		if rest, ok := strings.CutPrefix(p.rest(), "tzinfo=datetime.timezone.utc"); ok && strings.HasPrefix(rest, ")") {
			p.at, utc = len(p.text)-len(rest), true
			continue
		}
		n := span(p.rest(), digits)
		part, err := strconv.Atoi(p.rest()[:n])
		if err != nil || utc {
			p.at = start
			break
		}
		p.at += n
		parts = append(parts, part)
	}
	text := dateText(word == "datetime.datetime", parts, utc)
	if p.at == start || text == "" {
		p.at = start
		p.fail("this is no date that is read", "print dates as strings")
		return Value{}
	}
	return Value{kind: String, form: date, text: text}
}

// dateText is what str makes of a date or time, or "" when there is none of these parts.
func dateText(timed bool, parts []int, utc bool) string {
	least, most := 3, 3
	if timed {
		least, most = 5, 7
	}
	if len(parts) < least || len(parts) > most || utc && !timed {
		return ""
	}
	var part [7]int
	copy(part[:], parts)
	limits := [7][2]int{{1, 9999}, {1, 12}, {1, 31}, {0, 23}, {0, 59}, {0, 59}, {0, 999999}}
	for i, l := range limits {
		if i < len(parts) && (part[i] < l[0] || part[i] > l[1]) {
			return ""
		}
	}
	out := fmt.Sprintf("%04d-%02d-%02d", part[0], part[1], part[2])
	if !timed {
		return out
	}
	out += fmt.Sprintf(" %02d:%02d:%02d", part[3], part[4], part[5])
	if part[6] > 0 {
		out += fmt.Sprintf(".%06d", part[6])
	}
	if utc {
		out += "+00:00"
	}
	return out
}

// datePython writes a date as the call that repr prints, or returns "" when its text
// is not one that date makes.
func datePython(text string) string {
	clock, utc := strings.CutSuffix(text, "+00:00")
	fields := strings.FieldsFunc(clock, func(r rune) bool { return strings.ContainsRune("- :.", r) })
	parts := make([]int, 0, 7)
	for _, f := range fields {
		n, err := strconv.Atoi(f)
		if err != nil {
			return ""
		}
		parts = append(parts, n)
	}
	timed := len(parts) > 3
	if len(parts) == 6 && parts[5] == 0 {
		parts = parts[:5]
	}
	if dateText(timed, parts, utc) != text {
		return ""
	}
	words := make([]string, len(parts), len(parts)+1)
	for i, n := range parts {
		words[i] = strconv.Itoa(n)
	}
	if utc {
		words = append(words, "tzinfo=datetime.timezone.utc")
	}
	if timed {
		return "datetime.datetime(" + strings.Join(words, ", ") + ")"
	}
	return "datetime.date(" + strings.Join(words, ", ") + ")"
}
