package jsonl

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/aspis-rv/aspis/pkg/schema"
)

// transcript reads text and prints a line for every event or error.
func transcript(text string) string {
	var out strings.Builder
	for ev, err := range Events(strings.NewReader(text), "in.jsonl") {
		if err != nil {
			at, what := "?", err.Error()
			if e := (*LineError)(nil); errors.As(err, &e) {
				at, what = fmt.Sprintf("%s:%d", e.File, e.Line), "error"
				if errors.Is(err, ErrNoCall) {
					what = "no call"
				}
			}
			fmt.Fprintf(&out, "%s: %s\n", at, what)
			continue
		}
		fmt.Fprintf(&out, "%s %s %s %s%s%s\n", ev.ID, ev.Kind, ev.SessionID, ev.CallID, ev.Args.Canon, ev.Result.Canon)
	}
	return out.String()
}

func TestEvents(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"nothing", "", ""},
		{"blank lines and a byte order mark", "\ufeff\n{\"tool\":\"a\"}\r\n\n  \n{\"tool\":\"b\"}", "e0 call  c0\ne1 call  c1\n"},
		{
			"ids are derived from the position, given ones kept",
			`{"session":"s1","actor":"agent","kind":"call","tool":"t","args":{"b":1,"a":2},"ts":720000000000}
{"kind":"message","actor":"user","text":"hi"}
{"id":"mine","call":"k","tool":"t","ts":"2025-01-01T00:00:00Z"}
{"tool":"t"}`,
			"e0 call s1 c0{\"a\":2,\"b\":1}\ne1 message  \nmine call  k\ne3 call  c3\n",
		},
		{
			"a result belongs to the latest call of its session",
			`{"session":"a","tool":"t"}
{"session":"b","tool":"t"}
{"session":"a","kind":"result","result":1,"ok":true}
{"session":"b","kind":"result","call":"c0","result":2}
{"session":"c","kind":"result","result":3}
{"tenant":"other","session":"a","kind":"result","result":4}`,
			"e0 call a c0\ne1 call b c1\ne2 result a c01\ne3 result b c02\nin.jsonl:5: no call\nin.jsonl:6: no call\n",
		},
		{
			"a session that ended has no latest call",
			`{"session":"a","tool":"t"}
{"session":"a","kind":"session","session_mark":{"end":false}}
{"session":"a","kind":"result","result":1}
{"session":"a","kind":"session","session_mark":{"end":true}}
{"session":"a","kind":"result","result":2}`,
			"e0 call a c0\ne1 session a \ne2 result a c01\ne3 session a \nin.jsonl:5: no call\n",
		},
		{
			"reading goes on after a line that is no event, and later ids stay",
			"{\"tool\":\"a\"}\n\n{\"tool\":\n[1]\n{\"tool\":\"b\"}\n",
			"e0 call  c0\nin.jsonl:3: error\nin.jsonl:4: error\ne3 call  c3\n",
		},
	} {
		if got := transcript(c.in); got != c.want {
			t.Errorf("%s:\n got %q\nwant %q", c.name, got, c.want)
		}
	}
}

// TestEventsOwnTheirMemory looks at events again after later lines were read.
func TestEventsOwnTheirMemory(t *testing.T) {
	var in strings.Builder
	for i := range 100 {
		fmt.Fprintf(&in, `{"tool":"tool%02d","args":{"x":"value%02d"}}`+"\n", i, i)
	}
	var all []*schema.Event
	for ev, err := range Events(strings.NewReader(in.String()), "in") {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, ev)
	}
	for i, ev := range all {
		if tool, args := fmt.Sprintf("tool%02d", i), fmt.Sprintf(`{"x":"value%02d"}`, i); ev.Tool != tool || string(ev.Args.Canon) != args {
			t.Fatalf("event %d became %s%s", i, ev.Tool, ev.Args.Canon)
		}
	}
	if len(all) != 100 {
		t.Errorf("%d events, want 100", len(all))
	}
}

func TestLineLimit(t *testing.T) {
	line := func(n int) string {
		const frame = `{"text":""}`
		return `{"text":"` + strings.Repeat("x", n-len(frame)) + `"}`
	}
	for end, name := range map[string]string{"": "no end", "\n": "LF", "\r\n": "CRLF"} {
		for _, err := range Events(strings.NewReader(line(schema.MaxLine)+end), "in") {
			if errors.Is(err, ErrLineTooLong) {
				t.Errorf("%s: a line of the limit: %v", name, err)
			}
		}
		seen, long := 0, 0
		for _, err := range Events(strings.NewReader("{}\n"+line(schema.MaxLine+1)+end+"{}\n"), "in") {
			seen++
			if e := (*LineError)(nil); errors.Is(err, ErrLineTooLong) && errors.As(err, &e) && e.Line == 2 {
				long++
			}
		}
		if seen != 2 || long != 1 {
			t.Errorf("%s: one byte above the limit: %d elements, %d of them too long; want 2 and 1", name, seen, long)
		}
	}
}

func TestSessionLimit(t *testing.T) {
	d := deriver{latest: make(map[session]string), max: 2}
	for i, want := range []error{nil, nil, nil, ErrTooManySessions} {
		name := []string{"a", "b", "a", "c"}[i]
		if _, err := d.event([]byte(`{"tool":"t","session":"` + name + `"}`)); !errors.Is(err, want) {
			t.Errorf("call %d, of session %s: %v, want %v", i, name, err, want)
		}
	}
}

func TestReadErrorEndsTheSequence(t *testing.T) {
	broken := io.MultiReader(strings.NewReader("{\"tool\":\"a\"}\n{\"tool\""), iotest.ErrReader(io.ErrUnexpectedEOF))
	var errs []error
	for _, err := range Events(broken, "in") {
		errs = append(errs, err)
	}
	if len(errs) != 2 || errs[0] != nil || !errors.Is(errs[1], io.ErrUnexpectedEOF) {
		t.Errorf("got %v, want one event and then the error", errs)
	}
}

func TestStopping(t *testing.T) {
	seen := 0
	for _, err := range Events(strings.NewReader("{}\n{}\n{}\n"), "in") {
		if err != nil {
			t.Fatal(err)
		}
		if seen++; seen == 2 {
			break
		}
	}
	if seen != 2 {
		t.Errorf("saw %d elements, want 2", seen)
	}
}

// FuzzEvents checks that every element is an event with ids or an error with a line.
func FuzzEvents(f *testing.F) {
	f.Add("{\"tool\":\"a\"}\n{\"kind\":\"result\",\"result\":1}\n")
	f.Add("\ufeff{\"session\":\"s\",\"kind\":\"session\"}\r\n[]\n\n{")
	f.Fuzz(func(t *testing.T, in string) {
		for ev, err := range Events(strings.NewReader(in), "in") {
			var at *LineError
			switch {
			case err != nil:
				if ev != nil || !errors.As(err, &at) || at.Line < 1 || at.Line > strings.Count(in, "\n")+1 {
					t.Fatalf("event %v with error %v", ev, err)
				}
			case ev.ID == "" || (ev.CallID == "" && (ev.Kind == schema.KindCall || ev.Kind == schema.KindResult)):
				t.Fatalf("missing id in %+v", ev)
			}
		}
	})
}
