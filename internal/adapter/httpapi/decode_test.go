package httpapi

import (
	"errors"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/aspis-rv/aspis/pkg/schema"
)

func TestDecodeSaysWhatWhereAndHow(t *testing.T) {
	d := newDecoder()
	for _, tc := range []struct{ body, want string }{
		{`{"session":"s"`, `body, byte 14: the text ends within a value; send the whole text`},
		{`{"session" "s"}`, `"/session", byte 11: `},
		{`{"session":"s",}`, `body, byte 14: invalid character`},
		{"{\"session\":\"\xc3\x28\"}", `"/session", byte 12: the string is not valid UTF-8; encode the body as UTF-8`},
		{`{"labels":{"a":"b","a":"c"}}`, `"/labels/a", byte 19: the member name occurs twice in its object; keep one of the two; readers disagree about which one counts`},
		{`{"args":{"x":{"a":1,"a":1}}}`, `"/args/x/a", byte 20: the member name occurs twice`},
		{`{"labels":{"a":1}}`, `"/labels/a", byte 15: want a string, found a number`},
		{`{"labels":[]}`, `"/labels", byte 10: want an object, found an array`},
		{`{"session":null}`, `"/session", byte 11: null stands where a value is wanted; leave the member out`},
		{`{"deadline_ms":null}`, `"/deadline_ms", byte 15: null stands`},
		{`{"deadline_ms":1e3}`, `"/deadline_ms", byte 15: the number is not an integer; write digits only`},
		{`{"deadline_ms":9223372036854775808}`, `"/deadline_ms", byte 15: the number is out of range`},
		{`{"Session":"s"}`, `"/Session", byte 1: there is no member of this name here; names are case-sensitive`},
		{`{"\u001b[2J":1}`, `"/\x1b[2J", byte 1: there is no member of this name here`},
		{`"x"`, `body, byte 0: want an object, found a string`},
		{`{} {}`, `body, byte 3: data follows the value; send one value only`},
		{``, `body, byte 0: there is no value; send one JSON object`},
		{` `, `body, byte 0: there is no value; send one JSON object`},
	} {
		err := d.decode([]byte(tc.body), &callBody{})
		var be *BodyError
		if !errors.As(err, &be) || !strings.HasPrefix(err.Error(), tc.want) {
			t.Errorf("%s\n got %v\nwant %s…", tc.body, err, tc.want)
		}
	}
}

func TestDecodeKeepsNumbers(t *testing.T) {
	const args = `{"a": 123456789012345678901234567890, "b":1e-400, "c":0.10}`
	var b callBody
	if err := newDecoder().decode([]byte(`{"args":`+args+`}`), &b); err != nil {
		t.Fatal(err)
	}
	if string(b.Args) != args {
		t.Errorf("got %s", b.Args)
	}
}

func TestNestingLimit(t *testing.T) {
	nested := func(depth int) []byte {
		return []byte(`{"args":` + strings.Repeat(`{"a":`, depth-1) + `"}]{["` + strings.Repeat(`}`, depth-1) + `}`)
	}
	d := newDecoder()
	if err := d.decode(nested(MaxNesting), &callBody{}); err != nil {
		t.Errorf("at the limit: %v", err)
	}
	if err := d.decode(nested(MaxNesting+1), &callBody{}); err == nil || !strings.Contains(err.Error(), "nest more than") {
		t.Errorf("beyond the limit: %v", err)
	}
	// What the gate accepts fits into the envelope, and what does not is refused by it.
	deepest := []byte(strings.Repeat("[", schema.MaxJSONDepth) + strings.Repeat("]", schema.MaxJSONDepth))
	if _, err := schema.Canonical(deepest); err != nil || tooDeep(deepest, MaxNesting-1) >= 0 {
		t.Errorf("the limits of envelope and arguments do not meet: %v", err)
	}
}

func TestTooDeepLooksAtBracketsOnly(t *testing.T) {
	for text, want := range map[string]int{
		``: -1, `[]`: -1, `[[]]`: 1, `[[`: 1, `"[["`: -1, `["[[", "\"[["]`: -1, `["\\",[]]`: 6, `"[[`: -1, `"\`: -1, `[1,2],[3]`: -1,
	} {
		if got := tooDeep([]byte(text), 1); got != want {
			t.Errorf("%s: got %d, want %d", text, got, want)
		}
	}
}

// FuzzDecode holds that whatever is accepted is a text that the tokenizer accepts, within the nesting
// limit, with arguments that are part of it, and that errors place themselves within
// the body.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(validCall))
	f.Add([]byte(`{"session":"s","args":{"a":[1,{"b":null}]}}`))
	f.Add([]byte(`{"args":{"a":1,"a":2}}`))
	f.Add([]byte(`{"raw":"\ud800"}`))
	f.Add([]byte(strings.Repeat("[", 100)))
	d := newDecoder()
	f.Fuzz(func(t *testing.T, body []byte) {
		var b callBody
		err := d.decode(body, &b)
		var be *BodyError
		switch {
		case err == nil:
			if !jsontext.Value(body).IsValid() || tooDeep(body, MaxNesting) >= 0 {
				t.Errorf("accepted %q", body)
			}
			if len(b.Args) > 0 && !strings.Contains(string(body), string(b.Args)) {
				t.Errorf("arguments %q are not from %q", b.Args, body)
			}
		case !errors.As(err, &be):
			t.Errorf("error %v has no place", err)
		case be.Offset < 0 || be.Offset > int64(len(body)) || be.Problem == "":
			t.Errorf("error %+v about %d bytes", be, len(body))
		}
		_, _ = b.request() // must not panic
	})
}
