package render

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Name prints a name so that it is what it seems: letters, digits and the usual signs as
// they are, anything else quoted, with what is invisible, broken or of another direction as
// escapes. Different names print differently.
func Name(s string) string {
	if s == "" || strings.ContainsFunc(s, odd) || !utf8.ValidString(s) {
		return quote(s)
	}
	return s
}

// quote is strconv.Quote, but for characters that the terminal may draw over others.
func quote(s string) string {
	if strings.ContainsFunc(s, func(r rune) bool { return unicode.Is(unicode.M, r) }) {
		return strconv.QuoteToASCII(s)
	}
	return strconv.Quote(s)
}

func odd(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_-.:/@+#~", r)
}

// clip shortens a printed name to the length of a line in a box.
func clip(s string) string {
	if utf8.RuneCountInString(s) <= maxLine {
		return s
	}
	return string([]rune(s)[:maxLine-1]) + "…"
}

// arguments prints a tuple as formulas write it.
func arguments(args []any) string {
	texts := make([]string, len(args))
	for i, a := range args {
		if s, ok := a.(string); ok {
			texts[i] = quote(s)
		} else {
			texts[i] = fmt.Sprint(a)
		}
	}
	return "(" + strings.Join(texts, ", ") + ")"
}

// Text names an event for people.
func (e *Event) Text() string {
	var s strings.Builder
	if e.Position != "" {
		fmt.Fprintf(&s, "record %s", e.Position)
	} else {
		fmt.Fprintf(&s, "event %s", Name(e.Event))
	}
	var what []string
	if e.Tool != "" {
		what = append(what, Name(e.Tool))
	}
	if e.Call != "" {
		what = append(what, "call "+Name(e.Call))
	}
	if e.Actor != "" {
		what = append(what, "by "+Name(e.Actor))
	}
	what = append(what, Time(e.TS))
	fmt.Fprintf(&s, " (%s)", strings.Join(what, ", "))
	return s.String()
}

// Time prints log time, ns since 1970, as RFC 3339 in UTC.
func Time(ns int64) string { return time.Unix(0, ns).UTC().Format(time.RFC3339Nano) }

// since is the end of a line that says which event made it so.
func since(e *Event) string {
	if e == nil {
		return ""
	}
	return "since " + e.Text()
}

// count prints a number of things.
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
