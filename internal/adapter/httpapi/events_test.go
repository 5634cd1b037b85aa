package httpapi

import (
	"bufio"
	"context"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/aspis-rv/aspis/internal/service/gate"
	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

func TestRequestsReachTheGate(t *testing.T) {
	f := &fake{}
	s := newServer(t, f, nil)
	for _, q := range []request{
		post("/v1/calls", validCall),
		post("/v1/calls", `{"session":"s1","tool":"get_time"}`),
		post("/v1/results", `{"session":"s1","call_id":"c1","status":"unknown","result":[1.0, null]}`),
		post("/v1/results", `{"session":"s1","call_id":"c2"}`),
		post("/v1/events", `{"session":"s1","kind":"observation","role":"env","text":"t","labels":{"a":"b"}}`),
		post("/v1/events", `{"session":"s1","text":"u"}`),
		post("/v1/grants", `{"session":"s1","tool":"approve","args":{"n": 1},"revokes":"g0"}`),
		post("/v1/sessions", `{"labels":{"a":"b"}}`),
		post("/v1/sessions", ``),
		post("/v1/sessions", `{}`),
		post("/v1/sessions/s%2F1/end", `{}`),
		{path: "/v1/decisions?session=s1&call=c1&limit=7"},
		{path: "/v1/decisions"},
		{method: http.MethodHead, path: "/v1/decisions"},
	} {
		if w := send(t, s, q); w.Code != http.StatusOK {
			t.Errorf("%s %s: %d %s", q.path, q.body, w.Code, w.Body)
		}
	}
	compare := func(what string, got, want any) {
		t.Helper()
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
	compare("calls", f.calls, []gate.CallRequest{
		{Session: "s1", Tool: "send_money", Server: "bank", Args: []byte(`{"amount":1}`), CallID: "c1", Deadline: 100 * time.Millisecond, Labels: map[string]string{"mission": "m1"}},
		{Session: "s1", Tool: "get_time"},
	})
	compare("results", f.results, []gate.ResultRequest{
		{Session: "s1", CallID: "c1", Status: schema.ResultUnknown, Result: []byte(`[1.0, null]`)},
		{Session: "s1", CallID: "c2", Status: schema.ResultOK},
	})
	compare("messages", f.messages, []gate.MessageRequest{
		{Session: "s1", Kind: schema.KindObservation, Role: "env", Text: "t", Labels: map[string]string{"a": "b"}},
		{Session: "s1", Kind: schema.KindMessage, Text: "u"},
	})
	compare("grants", f.grants, []gate.GrantRequest{{Session: "s1", Tool: "approve", Args: []byte(`{"n": 1}`), Revokes: "g0"}})
	compare("labels", f.labels, []map[string]string{{"a": "b"}, nil, nil})
	compare("ended", f.ended, []string{"s/1"})
	compare("filters", f.filters, []gate.DecisionFilter{{Session: "s1", CallID: "c1", Limit: 7}, {}, {}})
}

func TestOtherRequestsRefused(t *testing.T) {
	for _, tc := range []struct {
		q    request
		says string
	}{
		{post("/v1/results", `{"session":"s1","call_id":"c1","status":"OK"}`), `status \"OK\" is none of ok, error, unknown`},
		{post("/v1/results", `{"session":"s1","call_id":"c1","status":""}`), `status \"\" is none of`},
		{post("/v1/results", `{"session":"s1"}`), "call_id is missing"},
		{post("/v1/results", `{"call_id":"c1"}`), "session is missing"},
		{post("/v1/events", `{"session":"s1","kind":"call"}`), `kind \"call\" is neither message nor observation`},
		{post("/v1/events", `{"kind":"message"}`), "session is missing"},
		{post("/v1/events", `{"session":"s1","events":[]}`), "a batch has the member events alone"},
		{post("/v1/events", `{"events":[]}`), "a batch has 1 to 1000"},
		{post("/v1/events", `{"events":[`+strings.Repeat(`{},`, MaxBatch)+`{}]}`), "events has 1001 elements"},
		{post("/v1/events", `{"events":{}}`), "want an array, found an object"},
		{post("/v1/grants", `{"tool":"approve"}`), "session is missing"},
		{post("/v1/grants", `{"session":"s1"}`), "tool is missing"},
		{post("/v1/grants", `{"session":"s1","tool":"approve","args":"x"}`), "args is no JSON object"},
		{post("/v1/sessions", `{"session":"mine"}`), "there is no member of this name"},
		{post("/v1/sessions/s1/end", `{"now":true}`), "there is no member of this name"},
		{request{path: "/v1/decisions?limit=0"}, "limit is a number from 1 to 1000"},
		{request{path: "/v1/decisions?limit=1001"}, "limit is a number from 1 to 1000"},
		{request{path: "/v1/decisions?limit=ten"}, "limit is a number from 1 to 1000"},
		{request{path: "/v1/decisions?call=a&call=b"}, "occurs 2 times"},
		{request{path: "/v1/decisions?tenant=umbrella"}, `the parameter \"tenant\" is not known`},
		{request{path: "/v1/decisions?session=%zz"}, "the query is malformed"},
		{request{path: "/v1/sessions/s1?as=user-1"}, `the parameter \"as\" is not known`},
	} {
		f := &fake{}
		w := send(t, newServer(t, f, nil), tc.q)
		if w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), tc.says) || f.asked() > 0 {
			t.Errorf("%s %s: %d %s", tc.q.path, tc.q.body, w.Code, w.Body)
		}
		if w.Header().Get("Content-Type") != typeJSON || strings.Contains(w.Body.String(), "decision") {
			t.Errorf("%s %s: not a problem: %s", tc.q.path, tc.q.body, w.Body)
		}
	}
}

func TestBatch(t *testing.T) {
	f := &fake{}
	w := send(t, newServer(t, f, nil), post("/v1/events",
		`{"events":[{"session":"s1","text":"1"},{"session":"s1","txt":"2"},{"session":"s1","kind":"x"},null,{"session":"s1","text":"5"}]}`))
	var got BatchResult
	if err := stdjson.Unmarshal(w.Body.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	for i := range got.Results {
		got.Results[i].Message, _, _ = strings.Cut(got.Results[i].Message, ";")
	}
	want := BatchResult{Recorded: 2, Refused: 3, Results: []ItemResult{
		{Item: 1, ID: "m1", Session: "s1"},
		{Item: 2, Reason: verdict.Invalid, Message: `"/txt", byte 16: there is no member of this name here`},
		{Item: 3, Reason: verdict.Invalid, Message: `kind "x" is neither message nor observation`},
		{Item: 4, Reason: verdict.Invalid, Message: `body, byte 0: null stands where a value is wanted`},
		{Item: 5, ID: "m5", Session: "s1"},
	}}
	if diff := cmp.Diff(want, got); diff != "" || w.Code != http.StatusOK {
		t.Errorf("status %d (-want +got):\n%s", w.Code, diff)
	}
	if n := len(f.messages); n != 2 {
		t.Errorf("%d messages reached the gate", n)
	}
}

// TestBatchKeepsOrder lets the second event fail: for a reason of its own, and for one
// that the third would meet as well.
func TestBatchKeepsOrder(t *testing.T) {
	for reason, goesOn := range map[verdict.Reason]bool{
		verdict.Invalid: true, verdict.Violation: true, verdict.Busy: false, verdict.NoAnswer: false, verdict.Unrecorded: false,
	} {
		n := 0
		f := &fake{refuse: func() error {
			if n++; n == 2 {
				return &gate.Problem{Reason: reason, Message: "because"}
			}
			return nil
		}}
		w := send(t, newServer(t, f, nil), post("/v1/events", `{"events":[{"session":"s1"},{"session":"s1"},{"session":"s1"}]}`))
		if tried := len(f.messages) == 3; tried != goesOn {
			t.Errorf("%s: the third event was tried: %v; %s", reason, tried, w.Body)
		}
		if !goesOn && !strings.Contains(w.Body.String(), `{"item":3,"reason":"`+string(reason)+`","message":"not tried, because item 2`) {
			t.Errorf("%s: %s", reason, w.Body)
		}
	}
}

func TestStream(t *testing.T) {
	f := &fake{}
	q := post("/v1/events", "{\"session\":\"s1\",\"text\":\"1\"}\n\n  \r\n{\"session\":\"s1\",\n{\"session\":\"s1\",\"text\":\"3\"}")
	q.contentType = typeNDJSON
	w := send(t, newServer(t, f, nil), q)
	want := `{"item":1,"id":"m1","session":"s1"}
{"item":2,"reason":"invalid","message":"body, byte 16: the text ends within a value; send the whole text"}
{"item":3,"id":"m3","session":"s1"}
`
	if w.Code != http.StatusOK || w.Header().Get("Content-Type") != typeNDJSON || w.Body.String() != want {
		t.Errorf("%d\n%s", w.Code, w.Body)
	}
	q.body = ""
	if w := send(t, newServer(t, f, nil), q); w.Code != http.StatusOK || w.Body.Len() > 0 {
		t.Errorf("an empty stream: %d %s", w.Code, w.Body)
	}
}

func TestStreamLineLimit(t *testing.T) {
	frame := len(`{"session":"s1","text":""}`)
	for size, ok := range map[int]bool{300: true, 301: false} {
		line := `{"session":"s1","text":"` + strings.Repeat("x", size-frame) + `"}`
		q := post("/v1/events", line+"\n"+`{"session":"s1","text":"2"}`+"\n")
		q.contentType = typeNDJSON
		w := send(t, newServer(t, &fake{}, func(c *Config) { c.MaxBody = 300 }), q)
		items := strings.Count(w.Body.String(), "\n")
		if ok && items != 2 || !ok && (items != 1 || !strings.Contains(w.Body.String(), "longer than 300 bytes")) {
			t.Errorf("a line of %d bytes: %s", len(line), w.Body)
		}
	}
}

func TestLineReader(t *testing.T) {
	text := "a\n" + strings.Repeat("b", 40) + "\n\nlast"
	for _, size := range []int{16, 4096} {
		for _, one := range []bool{false, true} {
			var src io.Reader = strings.NewReader(text)
			if one {
				src = iotest.OneByteReader(src)
			}
			l := lineReader{src: bufio.NewReaderSize(src, size), limit: 40}
			var got []string
			for {
				line, err := l.next()
				got = append(got, string(line))
				if errors.Is(err, io.EOF) {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			if want := []string{"a", strings.Repeat("b", 40), "", "last"}; !cmp.Equal(got, want) {
				t.Errorf("buffer %d: %q", size, got)
			}
		}
	}
}

// TestStreamAnswersAtOnce writes a line only when the one before was answered, over a
// real connection.
func TestStreamAnswersAtOnce(t *testing.T) {
	srv := httptest.NewServer(newServer(t, &fake{}, nil))
	defer srv.Close()
	in, out := io.Pipe()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, srv.URL+"/v1/events", in)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+agentToken)
	r.Header.Set("Content-Type", typeNDJSON)
	say := func(n int) { _, _ = fmt.Fprintf(out, `{"session":"s1","text":"%d"}`+"\n", n) }
	go say(1)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close() //nolint:errcheck // read to the end
	lines := bufio.NewScanner(resp.Body)
	for n := 1; n <= 20; n++ {
		if !lines.Scan() || lines.Text() != fmt.Sprintf(`{"item":%d,"id":"m%d","session":"s1"}`, n, n) {
			t.Fatalf("line %d: %q %v", n, lines.Text(), lines.Err())
		}
		go say(n + 1)
	}
	if err := out.Close(); err != nil {
		t.Error(err)
	}
}

func TestStreamEndsWhenIdle(t *testing.T) {
	srv := httptest.NewServer(newServer(t, &fake{}, func(c *Config) { c.StreamIdle = 50 * time.Millisecond }))
	defer srv.Close()
	body := stalledStream(t, t.Context(), srv.URL)
	if !strings.HasSuffix(body, `{"item":2,"reason":"late","message":"no line came for 50ms; open a new stream"}`+"\n") {
		t.Errorf("got %s", body)
	}
}

// stalledStream sends one line, then nothing, and returns the whole answer.
func stalledStream(t *testing.T, ctx context.Context, url string) string { //nolint:revive // t first, as in helpers
	t.Helper()
	in, out := io.Pipe()
	defer out.Close() //nolint:errcheck // a pipe
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/v1/events", in)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+agentToken)
	r.Header.Set("Content-Type", typeNDJSON)
	go func() { _, _ = fmt.Fprintln(out, `{"session":"s1","text":"1"}`) }()
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close() //nolint:errcheck // read to the end
	return drainBody(t, resp.Body)
}
