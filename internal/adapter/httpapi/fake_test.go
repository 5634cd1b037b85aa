package httpapi

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/aspis-rv/aspis/internal/service/gate"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// The credentials of the tests.
const (
	agentToken = "agent-token-0123456789"
	userToken  = "user-token-0123456789"
	tokensText = "# token principal class tenant\n" +
		agentToken + " agent-1 agent acme\n" +
		userToken + " user-1 user acme\n" +
		"other-token-0123456789 agent-2 agent acme\n" +
		"foreign-token-0123456789 agent-1 agent umbrella\n"
)

func testTokens(tb testing.TB) *Tokens {
	tb.Helper()
	t, err := ParseTokens("tokens", []byte(tokensText))
	if err != nil {
		tb.Fatal(err)
	}
	return t
}

// fake is a backend that answers what it is told to and notes what it was asked.
type fake struct {
	mu       sync.Mutex
	who      []gate.Principal
	calls    []gate.CallRequest
	results  []gate.ResultRequest
	messages []gate.MessageRequest
	grants   []gate.GrantRequest
	filters  []gate.DecisionFilter
	labels   []map[string]string
	ended    []string

	answer  func(ctx context.Context, req gate.CallRequest) *gate.Answer // nil: permit
	refuse  func() error                                                 // of everything but calls; nil: accept
	ready   error
	check   error
	records []gate.DecisionRecord
}

func (f *fake) note(who gate.Principal, keep func()) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.who = append(f.who, who)
	keep()
	if f.refuse != nil {
		return f.refuse()
	}
	return nil
}

// asked is how often the backend was asked for anything.
func (f *fake) asked() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.who)
}

func (f *fake) Call(ctx context.Context, who gate.Principal, req gate.CallRequest) *gate.Answer {
	f.mu.Lock()
	f.who = append(f.who, who)
	f.calls = append(f.calls, req)
	answer := f.answer
	f.mu.Unlock()
	if answer != nil {
		return answer(ctx, req)
	}
	return &gate.Answer{Decision: "permit", CallID: req.CallID, Args: req.Args}
}

func (f *fake) Result(_ context.Context, who gate.Principal, req gate.ResultRequest) (gate.Receipt, error) {
	err := f.note(who, func() { f.results = append(f.results, req) })
	return gate.Receipt{ID: "r1", Session: req.Session}, err
}

func (f *fake) OpenSession(_ context.Context, who gate.Principal, labels map[string]string) (gate.Receipt, error) {
	err := f.note(who, func() { f.labels = append(f.labels, labels) })
	return gate.Receipt{ID: "r1", Session: "s1"}, err
}

func (f *fake) EndSession(_ context.Context, who gate.Principal, session string) (gate.Receipt, error) {
	err := f.note(who, func() { f.ended = append(f.ended, session) })
	return gate.Receipt{ID: "r1", Session: session}, err
}

func (f *fake) Session(_ context.Context, who gate.Principal, session string) (*gate.SessionView, error) {
	err := f.note(who, func() {})
	return &gate.SessionView{Session: session, Calls: map[string]int{"done": 1, "open": 1}, Pending: []string{"c1"}}, err
}

func (f *fake) Message(_ context.Context, who gate.Principal, req gate.MessageRequest) (gate.Receipt, error) {
	err := f.note(who, func() { f.messages = append(f.messages, req) })
	return gate.Receipt{ID: "m" + req.Text, Session: req.Session}, err
}

func (f *fake) Grant(_ context.Context, who gate.Principal, req gate.GrantRequest) (gate.Receipt, error) {
	err := f.note(who, func() { f.grants = append(f.grants, req) })
	return gate.Receipt{ID: "g1", Session: req.Session}, err
}

func (f *fake) Decisions(_ context.Context, who gate.Principal, filter gate.DecisionFilter) ([]gate.DecisionRecord, error) {
	err := f.note(who, func() { f.filters = append(f.filters, filter) })
	return f.records, err
}

func (f *fake) Ready(context.Context) error { return f.ready }
func (f *fake) Check() error                { return f.check }

func (f *fake) backend() Backend {
	return Backend{Caller: f, Sessions: f, Recorder: f, Journal: f, Health: f}
}

// newServer returns a server over the fake; edit may change its configuration.
func newServer(tb testing.TB, f *fake, edit func(*Config)) *Server {
	tb.Helper()
	reg := prometheus.NewRegistry()
	cfg := Config{Backend: f.backend(), Auth: testTokens(tb), Gatherer: reg, Metrics: NewMetrics(reg)}
	if edit != nil {
		edit(&cfg)
	}
	s, err := New(cfg)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// request is a request as the tables of the tests write it. The zero value is a GET
// of nothing by the agent.
type request struct {
	method, path, body string
	token              string // "-": none; empty: the agent's
	contentType        string // "-": none; empty: application/json where there is a body
	host               string // empty: localhost
	header             map[string]string
}

func (q request) build(ctx context.Context) *http.Request {
	if q.method == "" {
		q.method = http.MethodGet
	}
	r := httptest.NewRequestWithContext(ctx, q.method, q.path, strings.NewReader(q.body))
	r.Host = "localhost"
	if q.host != "" {
		r.Host = q.host
	}
	switch q.token {
	case "-":
	case "":
		r.Header.Set("Authorization", "Bearer "+agentToken)
	default:
		r.Header.Set("Authorization", "Bearer "+q.token)
	}
	switch {
	case q.contentType == "-":
	case q.contentType != "":
		r.Header.Set("Content-Type", q.contentType)
	case q.body != "":
		r.Header.Set("Content-Type", "application/json")
	}
	for k, v := range q.header {
		r.Header.Set(k, v)
	}
	return r
}

// send passes a request to the handler and checks what comes back against the
// description of the surface.
func send(t *testing.T, s *Server, q request) *httptest.ResponseRecorder {
	t.Helper()
	w := httptest.NewRecorder()
	r := q.build(t.Context())
	s.ServeHTTP(w, r)
	checkDescribed(t, s, r, w)
	return w
}

func post(path, body string) request { return request{method: http.MethodPost, path: path, body: body} }

// validCall is the body of a call with every member.
const validCall = `{"session":"s1","tool":"send_money","server":"bank","args":{"amount":1},"raw":"{\"amount\": 1}",` +
	`"call_id":"c1","deadline_ms":100,"labels":{"mission":"m1"}}`

// problemOf is a backend error of a reason class.
func problemOf(r verdict.Reason) func() error {
	return func() error { return &gate.Problem{Reason: r, Message: "because"} }
}

// fullAnswer has every field set.
func fullAnswer() *gate.Answer {
	return &gate.Answer{
		Decision: "permit", Reason: verdict.Violation, Clause: "T1", Message: "why", CallID: "c1", Unchecked: "observe",
		Args: []byte(`{"a":"<&>\u2028 é"}`), Digest: "ab", Position: "1/2",
		Permit: &gate.Permit{Statement: []byte(`{"aud":"a&b <c>"}`), Signature: []byte{1, 2, 3}, Key: "cd"},
		Certificate: &gate.Certificate{
			Policy: "ef", Attempt: "1/1", Value: "T", Completeness: "sound",
			Parts:   []gate.Part{{Aspect: "temporal", Value: "T", Hash: "01"}},
			Missing: []string{"spatial"}, Flags: []string{"T2"}, Writer: "composer", Signature: []byte{4},
		},
	}
}

func drainBody(t *testing.T, r io.Reader) string {
	t.Helper()
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// sendUnchecked is send for statuses that no real backend gives on that route.
func sendUnchecked(t *testing.T, s *Server, q request) *httptest.ResponseRecorder {
	t.Helper()
	w := httptest.NewRecorder()
	s.ServeHTTP(w, q.build(t.Context()))
	return w
}
