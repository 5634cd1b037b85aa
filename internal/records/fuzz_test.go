package records

import (
	"bytes"
	"errors"
	"testing"

	"github.com/aspis-rv/aspis/pkg/schema"
)

// fuzz holds for any text: it is refused with an Error, or its value has canonical JSON
// and is printed as a text that is read as the same value and printed the same again.
func fuzz(f *testing.F, format Format, seeds ...string) {
	f.Helper()
	for _, s := range seeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		v, err := Parse(format, text)
		if err != nil {
			if !errors.Is(err, ErrUnreadable) {
				t.Fatalf("%q: %v is no Error", text, err)
			}
			return
		}
		got := v.AppendJSON(nil)
		if canonical, err := schema.Canonical(got); err != nil || !bytes.Equal(got, canonical) {
			t.Fatalf("%q: %s is not canonical, %s is (%v)", text, got, canonical, err)
		}
		printed, err := Print(format, v)
		if err != nil {
			t.Fatalf("%q is read and not printed: %v", text, err)
		}
		again, err := Parse(format, printed)
		if err != nil || !again.Equal(v) {
			t.Fatalf("%q is printed as %q, which is read as %s, want %s (%v)", text, printed, again.AppendJSON(nil), got, err)
		}
		if twice, err := Print(format, again); err != nil || twice != printed {
			t.Fatalf("%q is printed as %q, and again as %q (%v)", text, printed, twice, err)
		}
	})
}

func FuzzJSON(f *testing.F) {
	fuzz(f, JSON, `{"b":[1,2.50,-0,1e-7],"a":"\u00e9\ud83d\ude00\u0000"}`, `[]`, `"x"`, `{"a":{},"a":1}`, "nul", "\u007f")
}

func FuzzYAML(f *testing.F) {
	fuzz(f, YAML, "- amount: 100.0\n  date: '2022-01-01'\n  id: 1\n  recipient: CH93\n  subject: 'a\n\n    b'", "[]", "a\n...", "? \"\\0\"\n: 2024-05-01",
		"{a: [1, 'x'], ~: .5}", "a: |\n  x\n  y\nb: >\n  z", "a: &x 1\nb: *x", "0x10: 1_000", "- - - a\n    - b\n- ? - c", "12:30: 010", "!!str 1", "-1.5e+3")
}

func FuzzPython(f *testing.F) {
	fuzz(f, Python, `(True, {'balance': 6.0, "it's": None})`, `[1, -2.5e-05, ('a' "b"), {1, 2}, set(), ()]`, `'\x00\u2028\U0001f600\101\'\
'`, "datetime.datetime(2024, 5, 1, 10, 0, tzinfo=datetime.timezone.utc)", "{1: 'a', None: b''}", "<A.b: 1>", "[[[[")
}

func FuzzLines(f *testing.F) { fuzz(f, Lines, "", "\n", "a\r\nb\n", "a\n\n", "\r") }

func FuzzText(f *testing.F) { fuzz(f, Text, "", "a\nb", "\xff") }
