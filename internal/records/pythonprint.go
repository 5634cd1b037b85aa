package records

import (
	"fmt"
	"strings"
	"unicode"
)

// printPython writes a value as Python's repr does.
func printPython(v Value) (string, error) {
	var b strings.Builder
	if err := writePython(&b, v); err != nil {
		return "", err
	}
	return b.String(), nil
}

func writePython(b *strings.Builder, v Value) error {
	switch v.kind {
	case Null:
		b.WriteString("None")
	case Bool:
		if v.text == "true" {
			b.WriteString("True")
		} else {
			b.WriteString("False")
		}
	case Number:
		b.WriteString(v.text)
	case String:
		writePythonString(b, v)
	case List:
		return writePythonList(b, v)
	case Map:
		b.WriteByte('{')
		for i, m := range v.members {
			if i > 0 {
				b.WriteString(", ")
			}
			if err := writePython(b, m.keyValue()); err != nil {
				return err
			}
			b.WriteString(": ")
			if err := writePython(b, m.Value); err != nil {
				return err
			}
		}
		b.WriteByte('}')
	}
	return nil
}

func writePythonList(b *strings.Builder, v Value) error {
	opening, closing := "[", "]"
	switch {
	case v.form == set && len(v.items) == 0:
		opening, closing = "set(", ")"
	case v.form == set:
		opening, closing = "{", "}"
	case v.form == tuple && len(v.items) == 1:
		opening, closing = "(", ",)"
	case v.form == tuple:
		opening, closing = "(", ")"
	}
	b.WriteString(opening)
	for i, item := range v.items {
		if i > 0 {
			b.WriteString(", ")
		}
		if err := writePython(b, item); err != nil {
			return err
		}
	}
	b.WriteString(closing)
	return nil
}

// writePythonString quotes with apostrophes, unless only those stand in the text.
func writePythonString(b *strings.Builder, v Value) {
	if v.form == date {
		if call := datePython(v.text); call != "" {
			b.WriteString(call)
			return
		}
	}
	quote := '\''
	if strings.Contains(v.text, "'") && !strings.Contains(v.text, `"`) {
		quote = '"'
	}
	b.WriteRune(quote)
	for _, r := range v.text {
		switch {
		case r == quote || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case unicode.IsPrint(r):
			b.WriteRune(r)
		case r <= 0xff:
			fmt.Fprintf(b, `\x%02x`, r)
		case r <= 0xffff:
			fmt.Fprintf(b, `\u%04x`, r)
		default:
			fmt.Fprintf(b, `\U%08x`, r)
		}
	}
	b.WriteRune(quote)
}
