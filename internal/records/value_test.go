package records

import (
	"bytes"
	"strings"
	"testing"

	"github.com/aspis-rv/aspis/pkg/schema"
)

// TestJSONIsCanonical compares with the canonical form that package schema gives.
func TestJSONIsCanonical(t *testing.T) {
	r := seeded(t)
	for range 20_000 {
		v := randomValue(r, r.IntN(5))
		got := v.AppendJSON([]byte("x"))[1:]
		want, err := schema.Canonical(got)
		if err != nil || !bytes.Equal(got, want) {
			t.Fatalf("%s is not canonical, %s is (%v)", got, want, err)
		}
		w := randomValue(r, 1)
		if v.Equal(w) != bytes.Equal(got, w.AppendJSON(nil)) {
			t.Fatalf("%s and %s: Equal says %v", got, w.AppendJSON(nil), v.Equal(w))
		}
	}
}

func TestNamesAreOrderedByUTF16(t *testing.T) {
	v, err := NewMap(Member{Name: "\ufb33"}, Member{Name: "😀"}, Member{Name: "\u20ac"}, Member{Name: "a"}, Member{Name: ""})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(v.AppendJSON(nil)), "{\"\":null,\"a\":null,\"€\":null,\"😀\":null,\"\ufb33\":null}"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestText(t *testing.T) {
	for _, tc := range []struct {
		f          Format
		text, want string
	}{
		{YAML, "'007'", "007"},
		{YAML, "'1e3'", "1e3"},
		{YAML, "1e3", "1e3"},
		{YAML, "08", "08"},
		{YAML, "010", "8"},
		{YAML, "0x10", "16"},
		{YAML, "-0b101", "-5"},
		{YAML, "1_000", "1000"},
		{YAML, "'1_000'", "1_000"},
		{YAML, "12:30:00", "45000"},
		{YAML, "'12:30:00'", "12:30:00"},
		{YAML, "-1:30", "-90"},
		{YAML, "yes", "true"},
		{YAML, "'yes'", "yes"},
		{YAML, "Off", "false"},
		{YAML, "y", "y"},
		{YAML, "100.0", "100"},
		{YAML, "1.5e+3", "1500"},
		{YAML, "1.5e3", "1.5e3"},
		{YAML, "+1.", "1"},
		{YAML, ".5", "0.5"},
		{YAML, "-.5", "-.5"},
		{YAML, "2024-05-01", "2024-05-01"},
		{YAML, "2024-05-01 10:00:00", "2024-05-01 10:00:00"},
		{YAML, "2024-5-1T1:00:00.5 -05:30", "2024-5-1T1:00:00.5 -05:30"},
		{YAML, "GB29NWBK60161331926819", "GB29NWBK60161331926819"},
		{YAML, "a\n...", "a"},
		{YAML, "--- |\n  a\n  b\n", "a\nb\n"},
		{JSON, "10.50", "10.5"},
		{JSON, "1e2", "100"},
		{JSON, "9007199254740993", "9007199254740993"},
		{Python, "1e-05", "0.00001"},
		{Python, "'007'", "007"},
		{Python, "True", "true"},
		{Python, `'it\'s' " a" "b\x41\u00e9\U0001f600\101\
c"`, "it's abAé😀Ac"},
		{Python, "('a'\n 'b')", "ab"},
		{Python, "datetime.datetime(2024, 5, 1, 10, 0)", "2024-05-01 10:00:00"},
		{Python, "datetime.datetime(2024, 5, 1, 10, 0, 7, 42, tzinfo=datetime.timezone.utc)", "2024-05-01 10:00:07.000042+00:00"},
		{Python, "datetime.date(2024, 5, 1)", "2024-05-01"},
		{Text, "a\nb", "a\nb"},
	} {
		v, err := Parse(tc.f, tc.text)
		if got, ok := v.Text(); err != nil || !ok || got != tc.want {
			t.Errorf("%v %q: %q, %v (%v), want %q", tc.f, tc.text, got, ok, err, tc.want)
			continue
		}
		printed, err := Print(tc.f, v)
		if again, perr := Parse(tc.f, printed); err != nil || perr != nil || !again.Equal(v) {
			t.Errorf("%v %q is printed as %q, which is no longer it (%v, %v)", tc.f, tc.text, printed, err, perr)
		}
	}
	for _, none := range []Value{{}, NewList(), {kind: Map}} {
		if text, ok := none.Text(); ok {
			t.Errorf("a %v has the text %q", none.Kind(), text)
		}
	}
}

func TestConstructors(t *testing.T) {
	if _, err := NewMap(Member{Name: "a"}, Member{Name: "a"}); err == nil {
		t.Error("a name occurs twice")
	}
	for _, lit := range []string{"", "-", "01", "1.", ".5", "+1", "0x10", "NaN", "1 ", " 1", "1,2", `"1"`, "true", "null", "1e10000", strings.Repeat("1", 900)} {
		if v, err := NewNumber(lit); err == nil {
			t.Errorf("%q is taken as the number %s", lit, v.AppendJSON(nil))
		}
	}
	v, err := NewMap(Member{Name: "a", Value: NewList(NewString("x"), NewBool(true))})
	if err != nil || v.Kind() != Map || v.Len() != 1 || v.Member(0).Value.Len() != 2 || v.Member(0).Value.Item(0).Kind() != String {
		t.Errorf("got %s (%v)", v.AppendJSON(nil), err)
	}
	for k := Null; k <= Map+1; k++ {
		if k.String() == "" {
			t.Errorf("kind %d has no name", k)
		}
	}
}

// TestForms holds that what only one format knows comes back in it, and is written as
// the nearest thing in the others.
func TestForms(t *testing.T) {
	for _, text := range []string{
		"(True, {'balance': 6.0})", "(1,)", "()", "{1, 2}", "set()", "[(1, 2), []]", "{1: 'a', None: 'b', True: 'c', '2': 'd'}",
		"datetime.date(2024, 5, 1)", "datetime.datetime(2024, 5, 1, 10, 0)", "datetime.datetime(2024, 5, 1, 10, 0, 7, 42, tzinfo=datetime.timezone.utc)",
		`"it's"`, `'it\'s "x"'`, `'\x00\x7f\xa0\u2028\U000e0001é😀\\\n'`,
	} {
		v, err := Parse(Python, text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got, err := Print(Python, v); err != nil || got != text {
			t.Errorf("%s is printed as %s (%v)", text, got, err)
		}
	}
	v, err := Parse(Python, "({'b': (1,), 'a': datetime.datetime(2024, 5, 1, 10, 0)},)")
	if err != nil {
		t.Fatal(err)
	}
	for f, want := range map[Format]string{
		JSON: `[{"b": [1], "a": "2024-05-01 10:00:00"}]`,
		YAML: "- a: 2024-05-01 10:00:00\n  b:\n  - 1",
	} {
		if got, err := Print(f, v); err != nil || got != want {
			t.Errorf("%v: got %q (%v), want %q", f, got, err, want)
		}
	}
}
