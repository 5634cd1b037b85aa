package records

import (
	"fmt"
	"strings"
)

// parseLines reads one string per line. A line ends at \n, with \r before it or not;
// nothing is quoted, so a value with a line end in it looks like two.
func parseLines(text string) (Value, error) {
	v := Value{kind: List}
	if text == "" {
		return v, nil
	}
	if rest, cut := strings.CutSuffix(text, "\n"); cut {
		text, v.form = rest, ended
	}
	n := 1 + strings.Count(text, "\n")
	if n >= MaxNodes {
		problem := fmt.Sprintf("there are %d lines, the limit is %d", n, MaxNodes-1)
		return Value{}, &Error{Format: Lines, Line: MaxNodes, Problem: problem, Repair: "read it as text"}
	}
	v.items = make([]Value, 0, n)
	for line := range strings.SplitSeq(text, "\n") {
		v.items = append(v.items, NewString(strings.TrimRight(line, "\r")))
	}
	return v, nil
}

// printLines joins strings by line ends.
func printLines(v Value) (string, error) {
	if v.kind != List {
		return "", unprintable(Lines, "a "+v.kind.String()+" is no list of lines")
	}
	var b strings.Builder
	for i, item := range v.items {
		text := item.text
		if item.kind != String || strings.Contains(text, "\n") || strings.HasSuffix(text, "\r") {
			return "", unprintable(Lines, fmt.Sprintf("item %d is no single line", i))
		}
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(text)
	}
	// Without its own end an empty last line would be none.
	if n := len(v.items); n > 0 && (v.form == ended || v.items[n-1].text == "") {
		b.WriteByte('\n')
	}
	return b.String(), nil
}
