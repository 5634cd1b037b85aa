package records

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for _, tc := range []struct {
		f          Format
		text, want string
	}{
		{JSON, `{"b": [1, 2.50], "a": null}`, `{"a":null,"b":[1,2.5]}`},
		{YAML, "- email: lily.white@gmail.com\n  name: Lily White", `[{"email":"lily.white@gmail.com","name":"Lily White"}]`},
		{YAML, "[]", `[]`},
		{YAML, "a: {}\nb: []\nc:", `{"a":{},"b":[],"c":null}`},
		{YAML, "{a: 1, b: [x, 'y']}", `{"a":1,"b":["x","y"]}`},
		{YAML, "1: a\n'2': b\n2024-05-01: c\ntrue: d\nnull: e", `{"1":"a","2":"b","2024-05-01":"c","null":"e","true":"d"}`},
		{YAML, "a: 'x\n\n  recipient: US12\n\n  '", `{"a":"x\nrecipient: US12\n"}`},
		{YAML, "a: |\n  x: 1\n  - y\nb: >-\n  one\n  two", `{"a":"x: 1\n- y\n","b":"one two"}`},
		{Python, "{'a': [1, None, True], 'b': (1.5, 'x'), 3: {}}", `{"3":{},"a":[1,null,true],"b":[1.5,"x"]}`},
		{Python, " [ 1 , 2 , ] ", `[1,2]`},
		{Python, "[('a'\n  'b'), (1)]", `["ab",1]`},
		{Lines, "", `[]`},
		{Lines, "\n", `[""]`},
		{Lines, "a\r\n b \n\nc\n", `["a"," b ","","c"]`},
		{Text, "", `""`},
		{Text, "- a: 1", `"- a: 1"`},
	} {
		v, err := Parse(tc.f, tc.text)
		if got := string(v.AppendJSON(nil)); err != nil || got != tc.want {
			t.Errorf("%v %q: got %s (%v), want %s", tc.f, tc.text, got, err, tc.want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for _, tc := range []struct {
		f            Format
		text         string
		line, column int
		problem      string
	}{
		{JSON, `{"a": 1, "a": 2}`, 1, 10, "twice"},
		{JSON, "[1,\n 2] 3", 2, 5, "follows"},
		{JSON, "{'a': 1}", 1, 2, "invalid character"},
		{JSON, `["\ud800"]`, 1, 3, "surrogate"},
		{JSON, "", 1, 1, "empty"},
		{JSON, "\"\xff\"", 1, 2, "UTF-8"},
		{YAML, "", 1, 1, "empty"},
		{YAML, "# none", 1, 1, "empty"},
		{YAML, "a: 1\na: 2", 2, 1, "twice"},
		{YAML, "1: a\n'1': b", 2, 1, "twice"},
		{YAML, "a: &x 1", 1, 4, "anchor"},
		{YAML, "a: &x 1\nb: *x", 1, 4, "anchor"},
		{YAML, "a: !!str 1", 1, 4, "tag"},
		{YAML, "!!set {a}", 1, 1, "tag"},
		{YAML, "<<: {a: 1}", 1, 1, "sign of YAML 1.1"},
		{YAML, "a: =", 1, 4, "sign of YAML 1.1"},
		{YAML, "a: 1 # one", 1, 4, "comment"},
		{YAML, "a: 1\n---\nb: 2", 2, 1, "second document"},
		{YAML, "%YAML 1.1\n---\na", 1, 1, "directive"},
		{YAML, "a: 1\r\nb: 2", 1, 5, "carriage return"},
		{YAML, "a: x\u0085y", 1, 5, "NEL"},
		{YAML, "a: x\u2028y", 1, 5, "LS"},
		{YAML, "\ufeffa", 1, 1, "byte order mark"},
		{YAML, "a: .inf", 1, 4, "no decimal number"},
		{YAML, "a: .nan", 1, 4, "no decimal number"},
		{YAML, "a: 1:30.5", 1, 4, "no decimal number"},
		{YAML, "a: 0b_", 1, 4, "no decimal number"},
		{YAML, "[a:]", 1, 2, "a text or a key"},
		{YAML, "? [a]\n: 1", 1, 3, "a key is a list"},
		{YAML, "a: 'x", 0, 0, "unexpected end"},
		{YAML, "a: b: c", 0, 0, "not allowed"},
		{YAML, "a: \x01", 0, 0, "control characters"},
		{Python, "", 1, 1, "ends where a value"},
		{Python, "[1, 2", 1, 6, "comma"},
		{Python, "[1 2]", 1, 4, "comma"},
		{Python, "{'a': 1, 'a': 2}", 1, 10, "twice"},
		{Python, "{1: 1, '1': 2}", 1, 8, "twice"},
		{Python, "{[]: 1}", 1, 2, "a key is a list"},
		{Python, "{'a': 1, 'b'}", 1, 13, "colon"},
		{Python, "'a' 1", 1, 5, "follows"},
		{Python, "'a'\n'b'", 2, 1, "follows"},
		{Python, "{1, []}", 1, 8, "set ends here"},
		{Python, "'a", 1, 1, "does not end"},
		{Python, "'a\\", 1, 3, "does not end"},
		{Python, "'a\nb'", 1, 3, "line end"},
		{Python, "'''a'''", 1, 1, "three quotes"},
		{Python, "b'a'", 1, 1, "bytes"},
		{Python, "r'a'", 1, 1, "no literal"},
		{Python, `'\d'`, 1, 2, "no escape"},
		{Python, `'\N{DASH}'`, 1, 2, "no escape"},
		{Python, `'\ud800'`, 1, 2, "no character"},
		{Python, `'\U00110000'`, 1, 2, "no character"},
		{Python, `'\x4'`, 1, 2, "no character"},
		{Python, `'\u00`, 1, 2, "cut off"},
		{Python, "nan", 1, 1, "no number nan"},
		{Python, "-inf", 1, 1, "no decimal number"},
		{Python, "1j", 1, 1, "no decimal number"},
		{Python, "0x10", 1, 1, "no decimal number"},
		{Python, "1_000", 1, 1, "no decimal number"},
		{Python, "007", 1, 1, "no decimal number"},
		{Python, "1.", 1, 1, "no decimal number"},
		{Python, "[1, # one\n]", 1, 5, "begins no value"},
		{Python, "{'a': <Status.x: 'y'>}", 1, 7, "begins no value"},
		{Python, "OrderedDict([('a', 1)])", 1, 1, "no literal"},
		{Python, "datetime.datetime(2024, 13, 1, 10, 0)", 1, 1, "no date"},
		{Python, "datetime.datetime(2024, 5, 1, tzinfo=x)", 1, 1, "no date"},
		{Python, "datetime.date(2024, 5", 1, 1, "no date"},
		{Python, "datetime.timedelta(days=1)", 1, 1, "no literal"},
		{Lines, "a\n\xff", 2, 1, "UTF-8"},
		{Format(0), "a", 0, 0, "no such format"},
	} {
		v, err := Parse(tc.f, tc.text)
		var at *Error
		if !errors.As(err, &at) || !errors.Is(err, ErrUnreadable) {
			t.Errorf("%v %q: got %s, %v; want an Error", tc.f, tc.text, v.AppendJSON(nil), err)
			continue
		}
		if tc.line > 0 && at.Line != tc.line || tc.column > 0 && at.Column != tc.column || !strings.Contains(at.Problem, tc.problem) {
			t.Errorf("%v %q: got %v; want %q in line %d, column %d", tc.f, tc.text, err, tc.problem, tc.line, tc.column)
		}
		if at.Repair == "" && tc.f != JSON || !strings.Contains(err.Error(), at.Problem) {
			t.Errorf("%v %q: %v does not say how to repair it", tc.f, tc.text, err)
		}
	}
}

func TestLimits(t *testing.T) {
	nested := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	block := func(n int) string { return strings.Repeat("- ", n) + "a" }
	flat := func(n int) string { return "[" + strings.Repeat("1, ", n-2) + "1]" } // n values
	lines := func(n int) string { return strings.Repeat("\n", n-1) }
	for _, tc := range []struct {
		name    string
		formats []Format
		text    func(n int) string
		limit   int
		problem string
	}{
		{"depth", []Format{JSON, YAML, Python}, nested, MaxDepth, "64 deep"},
		{"depth of blocks", []Format{YAML}, block, MaxDepth, "64 deep"},
		{"values", []Format{JSON, YAML, Python}, flat, MaxNodes, "65536"},
		{"lines", []Format{Lines}, lines, MaxNodes, "65535"},
		{"bytes", []Format{JSON, Python}, func(n int) string { return `"` + strings.Repeat("x", n-2) + `"` }, MaxBytes, "524288"},
		{"bytes", []Format{YAML, Lines, Text}, func(n int) string { return strings.Repeat("x", n) }, MaxBytes, "524288"},
		{"digits", []Format{JSON, YAML, Python}, func(n int) string { return strings.Repeat("7", n) }, 800, ""},
	} {
		for _, f := range tc.formats {
			limit := tc.limit
			if f == Text && tc.name == "bytes" || f == Lines && tc.name == "bytes" || f == YAML && tc.name == "bytes" {
				limit -= 4 // its quotes, and brackets, as JSON
			}
			v, err := Parse(f, tc.text(limit))
			if err != nil {
				t.Errorf("%s as %v at the limit: %v", tc.name, f, err)
			} else if got := v.AppendJSON(nil); len(got) > MaxBytes {
				t.Errorf("%s as %v: %d bytes of JSON", tc.name, f, len(got))
			}
			_, err = Parse(f, tc.text(tc.limit+1))
			if !errors.Is(err, ErrUnreadable) || !strings.Contains(err.Error(), tc.problem) {
				t.Errorf("%s as %v beyond the limit: %.200v", tc.name, f, err)
			}
		}
	}
	if _, err := Parse(Python, "'"+strings.Repeat(`\0`, MaxBytes/4)+"'"); err == nil || !strings.Contains(err.Error(), "as JSON") {
		t.Errorf("a value that grows: %v", err)
	}
}

// TestAdversarialTexts reads texts that make careless readers slow, deep or large.
// Each must end, one way or the other, within the time of the test.
func TestAdversarialTexts(t *testing.T) {
	bomb := "a: &a [x,x,x,x,x,x,x,x,x]\n"
	for c := 'b'; c < 'k'; c++ {
		bomb += fmt.Sprintf("%c: &%c [*%c,*%c,*%c,*%c,*%c,*%c]\n", c, c, c-1, c-1, c-1, c-1, c-1, c-1)
	}
	steps := ""
	for n := range 1000 {
		steps += strings.Repeat(" ", n) + "a:\n"
	}
	texts := []string{bomb, steps, strings.Repeat("x", 10<<20)}
	for _, piece := range []string{
		"[", "(", "{", "{a: ", "{'a': ", "[[]],", "- ", "? ", ": a\n", "a:\n", "? a\n", "- a\n", "a: 1 #\n", "#\n", "&a ", "*a ", "!a ", "%a b\n", "---\n", "...\n",
		"'a' ", "''", "'", `"`, `\`, "1:", "1", "_", "word ", "word\n", "\n", " ", "\n ", "|\n", "a,", "a: b,", "[a,", "<", "é",
	} {
		texts = append(texts, strings.Repeat(piece, MaxBytes/2/len(piece)))
	}
	for _, around := range [][2]string{{"'", "'"}, {`"`, `"`}, {"[", "]"}, {"{", "}"}, {"(", ")"}, {"|\n", ""}, {"1", ""}} {
		for _, piece := range []string{"1,", "a,", "'' ", `\n`, `\x00`, "\n ", " a\n", "\\n\\\n ", "_", ":1", "a: b,", "word "} {
			texts = append(texts, around[0]+strings.Repeat(piece, MaxBytes/4/len(piece))+around[1])
		}
	}
	for _, text := range texts {
		for _, f := range Formats() {
			v, err := Parse(f, text)
			if err != nil {
				if len(err.Error()) > 1000 {
					t.Errorf("%v %.40q: an error of %d bytes", f, text, len(err.Error()))
				}
				continue
			}
			if _, err := Print(f, v); err != nil {
				t.Errorf("%v %.40q is not printed: %v", f, text, err)
			}
		}
	}
}

func TestFormats(t *testing.T) {
	for _, f := range Formats() {
		if got, err := ParseFormat(f.String()); err != nil || got != f {
			t.Errorf("%v is read as %v (%v)", f, got, err)
		}
	}
	if _, err := ParseFormat("xml"); err == nil || !strings.Contains(err.Error(), "json, yaml, python, lines, text") {
		t.Errorf("xml: %v", err)
	}
	if name := Format(0).String(); slices.Contains([]string{"json", "yaml", "python", "lines", "text", ""}, name) {
		t.Errorf("the zero format is %q", name)
	}
}

func TestPrintRefuses(t *testing.T) {
	set := Value{kind: List, form: set, items: []Value{NewString("a")}}
	for _, tc := range []struct {
		f Format
		v Value
	}{
		{Text, NewList()},
		{Text, Value{}},
		{Lines, NewString("a")},
		{Lines, NewList(NewString("a\nb"))},
		{Lines, NewList(NewString("a\r"))},
		{Lines, NewList(Value{})},
		{YAML, set},
		{Format(0), NewString("a")},
	} {
		if got, err := Print(tc.f, tc.v); !errors.Is(err, ErrUnprintable) {
			t.Errorf("%v %s: got %q, %v; want ErrUnprintable", tc.f, tc.v.AppendJSON(nil), got, err)
		}
	}
	for _, text := range []string{"", "\n", "a", "a\n", "a\n\n", "\n\n", "a\nb", " \n"} {
		v, err := Parse(Lines, text)
		if got, perr := Print(Lines, v); err != nil || perr != nil || got != text {
			t.Errorf("the lines %q are printed as %q (%v, %v)", text, got, err, perr)
		}
	}
}
