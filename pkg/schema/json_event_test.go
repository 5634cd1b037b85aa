package schema

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/aspis-rv/aspis/pkg/verdict"
)

func TestEventJSONRoundTrip(t *testing.T) {
	for name, e := range samples() {
		text, err := json.Marshal(e) // through the standard library, which checks the text
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got, err := ParseEventJSON(text)
		if err != nil || !reflect.DeepEqual(got, e) {
			t.Errorf("%s: %v\n got  %+v\n want %+v", name, err, got, e)
		}
	}
}

func TestRandomJSONRoundTrip(t *testing.T) {
	r := seeded(t)
	for range 2000 {
		e := randomEvent(r)
		e.Position, e.Timestamp = Position{uint32(r.IntN(3)), r.Uint64N(5)}, r.Int64N(1000)
		// What a text can name and Validate accepts.
		e.Actor.Class, e.Issuer = ActorClasses()[r.IntN(7)], Issuers()[r.IntN(5)]
		for _, p := range []*Payload{&e.Args, &e.Result} {
			p.Canon = nil
			if p.Status == PayloadOK {
				p.Canon = []byte(`{"n":12345678901234567890,"s":"é"}`)
			}
		}
		if e.Resolution != nil {
			e.Resolution.Reason = verdict.Reasons()[r.IntN(8)]
		}
		text, err := e.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		got, err := ParseEventJSON(text)
		if err != nil || !reflect.DeepEqual(got, e) {
			t.Fatalf("%s: %v\n got  %+v\n want %+v", text, err, got, e)
		}
	}
}

func TestShortForm(t *testing.T) {
	at := time.Date(2026, 3, 4, 5, 6, 7, 89, time.FixedZone("", 3600)).UnixNano()
	args := func(s string) Payload { return Payload{Status: PayloadOK, Canon: []byte(s)} }
	tests := []struct {
		line string
		want Event
	}{
		{
			`{"session":"s1","actor":"agent","kind":"call","tool":"release_record","args":{"b": 1.0, "a": "x"},"ts":720000000000,"labels":{"mission":"m1"}}`,
			Event{
				SessionID: "s1", Actor: Actor{Class: ClassAgent}, Tool: "release_record",
				Args: args(`{"a":"x","b":1}`), ClaimedTS: 720_000_000_000, Labels: map[string]string{"mission": "m1"},
			},
		},
		{
			`{"kind":"result","call":"c1","result":"done","ok":true}`,
			Event{Kind: KindResult, CallID: "c1", Result: args(`"done"`)},
		},
		{
			`{"kind":"result","call":"c1","result":null,"ok":false}`,
			Event{Kind: KindResult, CallID: "c1", Result: args(`null`), Status: ResultError},
		},
		{
			`{"kind":"message","actor":"user","text":"hello\n"}`,
			Event{Kind: KindMessage, Actor: Actor{Class: ClassUser}, Text: "hello\n"},
		},
		{`{"actor":"planner-3","tool":"f"}`, Event{Actor: Actor{ID: "planner-3", Class: ClassAgent}, Tool: "f"}},
		{`{"actor":{"id":"ops","class":"command"},"tool":"f"}`, Event{Actor: Actor{ID: "ops", Class: ClassCommand}, Tool: "f"}},
		{`{"actor": "command", "tool": "grant_pii_release", "ts": "6m"}`, Event{Actor: Actor{Class: ClassCommand}, Tool: "grant_pii_release", ClaimedTS: 360_000_000_000}},
		{`{"ts":"0h"}`, Event{}},
		{`{"ts":"1h30m"}`, Event{ClaimedTS: 5_400_000_000_000}},
		{`{"ts":"2d"}`, Event{ClaimedTS: 172_800_000_000_000}},
		{`{"ts":"1d12h"}`, Event{ClaimedTS: 129_600_000_000_000}},
		{`{"ts":"2026-03-04T05:06:07.000000089+01:00"}`, Event{ClaimedTS: at}},
		{`{"ts":-5,"deadline":"1s"}`, Event{ClaimedTS: -5, Deadline: 1_000_000_000}},
		{`{"args_status":"withheld"}`, Event{Args: Payload{Status: PayloadWithheld}}},
		{`{"args_status":"ok","args":[1]}`, Event{Args: args(`[1]`)}},
		{`{}`, Event{}},
		{"{\"labels\":{},\"action\":[]}\r\n", Event{}},
	}
	for _, tt := range tests {
		got, err := ParseEventJSON([]byte(tt.line))
		if err != nil || !reflect.DeepEqual(*got, tt.want) {
			t.Errorf("%s:\n got  %+v, %v\n want %+v", tt.line, got, err, tt.want)
		}
	}
}

func TestParseEventJSONRefuses(t *testing.T) {
	tests := []struct{ name, line, pointer, problem string }{
		{"nothing", ``, "", "empty"},
		{"no object", `[]`, "", "want an object, found an array"},
		{"an unknown member", `{"tool":"f","tol":"g"}`, "/tol", "no member of this name"},
		{"another case", `{"TOOL":"f"}`, "/TOOL", "no member of this name"},
		{"a duplicate", `{"tool":"f","tool":"g"}`, "/tool", "twice"},
		{"a duplicate in the arguments", `{"args":{"a":{"x":1,"x":1}}}`, "/args/a/x", "twice"},
		{"two names of one field", `{"session":"a","session_id":"a"}`, "/session_id", "session and session_id are one field"},
		{"the other way", `{"call_id":"a","call":"a"}`, "/call", "call_id and call are one field"},
		{"status twice", `{"kind":"result","status":"ok","ok":true}`, "/ok", "one field"},
		{"a deep unknown member", `{"actor":{"id":"a","role":"x"}}`, "/actor/role", "an actor has no member"},
		{"an unknown kind", `{"kind":"Call"}`, "/kind", `"Call" is no kind of event; want one of call, result`},
		{"an unknown class", `{"actor":{"class":"root"}}`, "/actor/class", "no class of principal"},
		{"a value of another type", `{"tool":1}`, "/tool", "want a string, found a number"},
		{"null", `{"tool":null}`, "/tool", "want a string, found null"},
		{"a time with a fraction", `{"ts":1.5}`, "/ts", "1.5 is not an integer in range"},
		{"a time with an exponent", `{"ts":1e3}`, "/ts", "not an integer"},
		{"a time out of range", `{"ts":9223372036854775808}`, "/ts", "not an integer in range"},
		{"a time without unit", `{"ts":"12"}`, "/ts", "is no time"},
		{"a negative duration", `{"ts":"-12m"}`, "/ts", "is no time"},
		{"a year out of range", `{"ts":"2500-01-01T00:00:00Z"}`, "/ts", "is no time"},
		{"too many days", `{"ts":"999999999d"}`, "/ts", "is no time"},
		{"a negative count", `{"producer_seq":-1}`, "/producer_seq", "not an integer in range"},
		{"a partition beyond 32 bits", `{"position":{"partition":4294967296}}`, "/position/partition", "not an integer in range"},
		{"a label that is no string", `{"labels":{"n":1}}`, "/labels/n", "want a string"},
		{"half a byte", `{"digest":"abc"}`, "/digest", "hexadecimal"},
		{"ok without truth", `{"ok":"yes"}`, "/ok", "want true or false, found a string"},
		{"status ok without value", `{"args_status":"ok"}`, "/args_status", "disagrees"},
		{"withheld with value", `{"args":{},"args_status":"withheld"}`, "/args_status", "disagrees"},
		{"withheld before value", `{"args_status":"malformed","args_digest":"","args":{}}`, "/args_status", "disagrees"},
		{"NaN", `{"args":{"n":NaN}}`, "/args/n", "NaN"},
		{"a lone surrogate", `{"text":"\ud800"}`, "/text", "surrogate"},
		{"two events", `{}{}`, "", "follows"},
		{"an element of another type", `{"action":["a",2]}`, "/action/1", "want a string"},
		{"a raw value that is none", `{"unknown":{"zz":{"raw":"c1"}}}`, "/unknown/zz", "unassigned code"},
		{"raw and value that disagree", `{"unknown":{"zz":{"raw":"01","value":2}}}`, "/unknown/zz", "disagree"},
		{"a cut-off line", `{"resolution":{"parts":[{`, "/resolution/parts/0", "ends within"},
	}
	for _, tt := range tests {
		e, err := ParseEventJSON([]byte(tt.line))
		var jerr *JSONError
		if !errors.As(err, &jerr) || !errors.Is(err, ErrJSON) {
			t.Errorf("%s: got %+v, %v; want a JSONError", tt.name, e, err)
			continue
		}
		if jerr.Pointer != tt.pointer || !strings.Contains(jerr.Problem, tt.problem) {
			t.Errorf("%s: got %v;\n want %q at %q", tt.name, err, tt.problem, tt.pointer)
		}
	}
}

func TestParseEventJSONVersion(t *testing.T) {
	_, err := ParseEventJSON([]byte(`{"schema":2}`))
	if !errors.Is(err, ErrVersion) || !strings.Contains(err.Error(), "version 2") {
		t.Errorf("got %v, want ErrVersion", err)
	}
}

func TestLineLimit(t *testing.T) {
	line := func(n int) []byte { return []byte("{}" + strings.Repeat(" ", n-2)) }
	if _, err := ParseEventJSON(line(MaxLine)); err != nil {
		t.Errorf("a line of %d bytes: %v", MaxLine, err)
	}
	if _, err := ParseEventJSON(line(MaxLine + 1)); !errors.Is(err, ErrJSON) {
		t.Errorf("a line of %d bytes: %v", MaxLine+1, err)
	}
	args := func(n int) []byte { return []byte(`{"args":"` + strings.Repeat("x", n-2) + `"}`) }
	if _, err := ParseEventJSON(args(MaxJSON)); err != nil {
		t.Errorf("arguments of %d bytes: %v", MaxJSON, err)
	}
	if _, err := ParseEventJSON(args(MaxJSON + 1)); err == nil || !strings.Contains(err.Error(), "/args") {
		t.Errorf("arguments of %d bytes: %v", MaxJSON+1, err)
	}
}

func TestMarshalJSONRefuses(t *testing.T) {
	for name, e := range map[string]*Event{
		"arguments that are no JSON":       {Args: Payload{Status: PayloadOK, Canon: []byte(`{`)}},
		"arguments that are not canonical": {Args: Payload{Status: PayloadOK, Canon: []byte(`{ }`)}},
		"absent arguments with a text":     {Args: Payload{Canon: []byte(`{}`)}},
		"a kind outside":                   {Kind: 99},
		"an unknown field that is none":    {Unknown: map[string][]byte{"zz": {codeUnused}}},
	} {
		if text, err := e.MarshalJSON(); !errors.Is(err, ErrEncode) {
			t.Errorf("%s: got %s, %v", name, text, err)
		}
	}
}

func TestValueJSON(t *testing.T) {
	for want, v := range map[string]Value{
		`-3`: IntValue(-3), `"a\"b"`: StringValue(`a"b`), `2.0`: FloatValue(2), `0.1`: FloatValue(0.1), `1e+300`: FloatValue(1e300),
	} {
		if got, err := json.Marshal(v); err != nil || string(got) != want {
			t.Errorf("%+v: got %s, %v; want %s", v, got, err, want)
		}
	}
}

func TestResolutionJSONStandsAlone(t *testing.T) {
	e := samples()["resolution"]
	alone, err := json.Marshal(e.Resolution)
	if err != nil {
		t.Fatal(err)
	}
	whole, err := json.Marshal(e)
	if err != nil || !strings.Contains(string(whole), `"resolution":`+string(alone)) {
		t.Errorf("%s is not part of %s (%v)", alone, whole, err)
	}
}

func FuzzParseEventJSON(f *testing.F) {
	for _, e := range samples() {
		text, err := e.MarshalJSON()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Add([]byte(`{"session":"s1","actor":"agent","tool":"f","args":{"x":1e2},"ts":"12m","labels":{"m":"1"},"ok":false}`))
	f.Add([]byte(`{"args_status":"withheld","ts":"2026-01-02T03:04:05Z"}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		e, err := ParseEventJSON(line)
		if err != nil {
			return
		}
		text, err := e.MarshalJSON()
		if err != nil {
			t.Fatalf("%q was read, but cannot be written: %v", line, err)
		}
		again, err := ParseEventJSON(text)
		if err != nil || !reflect.DeepEqual(again, e) {
			t.Fatalf("%q\n became %s\n and then %+v, %v", line, text, again, err)
		}
	})
}
