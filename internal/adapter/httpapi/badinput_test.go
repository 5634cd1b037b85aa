package httpapi

import (
	"net/http"
	"strings"
	"testing"

	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// badInput is a request that must not be permitted.
type badInput struct {
	name   string
	q      request
	status int
	reason verdict.Reason
	says   string // what the message must name: the place, or the repair
}

func badCalls(own, foreign, elsewhere string) []badInput {
	call := func(name, fields string, status int, reason verdict.Reason, says string) badInput {
		return badInput{name, post("/v1/calls", callText(own, "get_time", fields)), status, reason, says}
	}
	with := func(b badInput, edit func(*request)) badInput {
		edit(&b.q)
		return b
	}
	const invalid = verdict.Invalid
	deep := strings.Repeat(`{"a":`, 10_000) + `1` + strings.Repeat(`}`, 10_000)
	return []badInput{
		call("malformed JSON", `,"args":{"a":}`, 400, invalid, `"/args/a", byte`),
		call("truncated", `,"args":{"a":1`, 400, invalid, "the text ends within a value"),
		call("data behind the value", `}{`, 400, invalid, "data follows"),
		call("duplicate key", `,"tool":"pay"`, 400, invalid, `"/tool", byte`),
		call("duplicate key at depth", `,"args":{"a":[{"b":1,"c":{},"b":1}]}`, 400, invalid, `"/args/a/0/b", byte`),
		call("duplicate key by escape", `,"args":{"b":1,"\u0062":1}`, 400, invalid, `"/args/b", byte`),
		call("another case", `,"TOOL":"pay"`, 400, invalid, `"/TOOL", byte`),
		call("answers of classifiers", `,"answers":[{"name":"leak","score":0}]`, 400, invalid, `"/answers", byte`),
		call("unknown field", `,"actor":"user-1"`, 400, invalid, `"/actor", byte`),
		call("NaN", `,"args":{"a":NaN}`, 400, invalid, "NaN and Infinity are no JSON numbers"),
		call("Infinity", `,"args":{"a":-Infinity}`, 400, invalid, "NaN and Infinity are no JSON numbers"),
		call("lone surrogate", `,"args":{"a":"\ud800"}`, 400, invalid, "surrogate"),
		call("lone surrogate in a name", `,"args":{"\udc00":1}`, 400, invalid, "surrogate"),
		call("invalid UTF-8", ",\"args\":{\"a\":\"\xff\"}", 400, invalid, "UTF-8"),
		call("nested 10,000 deep", `,"args":`+deep, 400, invalid, "nest more than 65 deep"),
		call("raw nested 10,000 deep", `,"raw":"`+strings.ReplaceAll(deep, `"`, `\"`)+`"`, 400, invalid, "raw: "),
		call("args is a list", `,"args":[1]`, 400, invalid, "args is no JSON object"),
		call("args is text", `,"args":"{}"`, 400, invalid, "args is no JSON object"),
		call("args is null", `,"args":null`, 400, invalid, "args is no JSON object"),
		call("raw is malformed", `,"raw":"{\"a\":"`, 400, invalid, "raw: "),
		call("raw is empty", `,"raw":""`, 400, invalid, "raw: "),
		call("raw is a list", `,"raw":"[]"`, 400, invalid, "raw is no JSON object"),
		call("raw has a duplicate", `,"raw":"{\"a\":{\"b\":1,\"b\":2}}"`, 400, invalid, "raw: "),
		call("raw is another value", `,"args":{"n":1},"raw":"{\"n\":2}"`, 400, invalid, "args and raw are different values"),
		call("raw is another number", `,"args":{"n":12345678901234567890},"raw":"{\"n\":12345678901234567891}"`, 400, invalid, "args and raw are different values"),
		call("null member", `,"call_id":null`, 400, invalid, `"/call_id", byte`),
		call("wrong type of member", `,"deadline_ms":"100"`, 400, invalid, `"/deadline_ms", byte`),
		call("fractional deadline", `,"deadline_ms":1.5`, 400, invalid, "not an integer"),
		call("deadline of nothing", `,"deadline_ms":0`, 400, invalid, "deadline_ms is out of range"),
		call("deadline beyond everything", `,"deadline_ms":9223372036854775807`, 400, invalid, "deadline_ms is out of range"),
		call("deadline beyond the gate's", `,"deadline_ms":3600000`, 400, invalid, "deadline_ms is out of range"),
		call("oversize body", `,"args":{"a":"`+strings.Repeat("x", DefaultMaxBody)+`"}`, 413, invalid, "larger than 1048576 bytes"),
		call("oversize arguments", `,"args":{"a":"`+strings.Repeat("x", schema.MaxJSON)+`"}`, 400, invalid, "limit"),
		call("long call id", `,"call_id":"`+strings.Repeat("x", schema.MaxID+1)+`"`, 400, invalid, "call_id"),

		{"no object", post("/v1/calls", `[]`), 400, invalid, "want an object, found an array"},
		{"null", post("/v1/calls", `null`), 400, invalid, "null"},
		{"no session", post("/v1/calls", `{"tool":"get_time"}`), 400, invalid, "session is missing"},
		{"no tool", post("/v1/calls", `{"session":"`+own+`"}`), 400, invalid, "tool is missing"},
		{"unknown session", post("/v1/calls", callText("s0.nonsense", "get_time", "")), 400, invalid, "POST /v1/sessions"},
		{"forged session", post("/v1/calls", callText(forged(own), "get_time", "")), 400, invalid, "POST /v1/sessions"},
		{"session of another principal", post("/v1/calls", callText(foreign, "get_time", "")), 400, invalid, "POST /v1/sessions"},
		{"session of another tenant", post("/v1/calls", callText(elsewhere, "get_time", "")), 400, invalid, "POST /v1/sessions"},

		with(call("empty body", "", 400, invalid, "there is no value"), func(q *request) { q.body = ""; q.contentType = typeJSON }),
		with(call("wrong content type", "", 415, invalid, "application/json"), func(q *request) { q.contentType = "application/x-www-form-urlencoded" }),
		with(call("no content type", "", 415, invalid, "application/json"), func(q *request) { q.contentType = "-" }),
		with(call("wrong charset", "", 415, invalid, "UTF-8"), func(q *request) { q.contentType = "application/json; charset=latin1" }),
		with(call("compressed", "", 415, invalid, "Content-Encoding"), func(q *request) { q.header = map[string]string{"Content-Encoding": "gzip"} }),
		with(call("wrong method", "", 405, invalid, "this path wants POST"), func(q *request) { q.method = http.MethodPut }),
		with(call("wrong path", "", 404, invalid, "nothing at this path"), func(q *request) { q.path = "/v1/call" }),
		with(call("unclean path", "", 404, invalid, "nothing at this path"), func(q *request) { q.path = "/v1//calls" }),
		with(call("no credential", "", 401, invalid, "credential"), func(q *request) { q.token = "-" }),
		with(call("wrong credential", "", 401, invalid, "credential"), func(q *request) { q.token = "wrong-token-0123456789" }),
		with(call("page of another site", "", 403, invalid, "Origin"), func(q *request) { q.header = map[string]string{"Origin": "https://evil.example"} }),
	}
}

// forged is a session id with another last character.
func forged(id string) string {
	other := "a"
	if strings.HasSuffix(id, other) {
		other = "b"
	}
	return id[:len(id)-1] + other
}

// refusedByPolicy are requests that reach the log and are refused there.
func refusedByPolicy(own string) []badInput {
	call := func(name, tool, fields string, status int, reason verdict.Reason, says string) badInput {
		return badInput{name, post("/v1/calls", callText(own, tool, fields)), status, reason, says}
	}
	return []badInput{
		call("unknown tool", "format_disk", "", 200, verdict.Unmapped, "no entry of the policy covers this tool"),
		call("violation", "send_mail", `,"args":{"to":["a@example.com"]}`, 200, verdict.Violation, "C2"),
		call("argument missing", "export_record", `,"args":{"object":"r1"}`, 400, verdict.Invalid, "to"),
		call("argument of another type", "set_level", `,"args":{"n":"high"}`, 400, verdict.Invalid, "n"),
		call("used id, other bytes", "get_time", `,"call_id":"used","args":{"zone":"UTC"}`, 400, verdict.Invalid, "use a new"),
		call("used id, same bytes", "get_time", `,"call_id":"used"`, 400, verdict.Invalid, "already issued"),
	}
}

// TestBadInputs sends everything that is wrong to the whole pipeline: each gets its
// reason class and status as a decision object, says what is wrong, and leaves the
// monitors' state as it was.
func TestBadInputs(t *testing.T) {
	p := newPipeline(t).start()
	own, foreign, elsewhere := p.session(agentToken), p.session("other-token-0123456789"), p.session("foreign-token-0123456789")
	empty := p.state()
	if r := p.call(own, "get_time", `,"call_id":"used"`); r.answer.Decision != "permit" {
		t.Fatalf("a good call was answered %d: %s", r.status, r.body)
	}
	before := p.state()
	if before == empty {
		t.Fatal("a permitted call leaves the monitors' state as it was: the hash sees nothing")
	}
	calls := len(p.records(schema.KindCall))
	for _, tc := range badCalls(own, foreign, elsewhere) {
		p.checkRefused(tc)
		if now := p.state(); now != before {
			t.Fatalf("%s: the monitors' state changed", tc.name)
		}
	}
	if n := len(p.records(schema.KindCall)); n != calls {
		t.Errorf("%d malformed requests came into the log", n-calls)
	}
	for _, tc := range refusedByPolicy(own) {
		p.checkRefused(tc)
		if now := p.state(); now != before {
			t.Fatalf("%s: the monitors' state changed", tc.name)
		}
	}
	if r := p.call(own, "get_time", ""); r.answer.Decision != "permit" || r.answer.CallID == "" {
		t.Errorf("after all that, a good call is answered %d: %s", r.status, r.body)
	}
}

func (p *pipeline) checkRefused(tc badInput) {
	p.t.Helper()
	r := p.post(tc.q)
	if r.status != tc.status || r.answer.Decision != "refuse" || r.answer.Reason != tc.reason {
		p.t.Errorf("%s: %d %s", tc.name, r.status, r.body)
	}
	if !strings.Contains(r.answer.Message, tc.says) {
		p.t.Errorf("%s: the message does not say %q: %s", tc.name, tc.says, r.answer.Message)
	}
	if r.answer.Permit != nil {
		p.t.Errorf("%s: a refusal carries a permit", tc.name)
	}
}
