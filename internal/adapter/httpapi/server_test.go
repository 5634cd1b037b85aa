package httpapi

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/aspis-rv/aspis/internal/service/gate"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

func TestConfigReportsEveryProblem(t *testing.T) {
	_, err := New(Config{MaxBody: -1})
	for _, want := range []string{"Backend is incomplete", "Auth is nil", "Gatherer is nil", "must not be negative"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("no word of %q: %v", want, err)
		}
	}
	_, err = New(Config{Backend: (&fake{}).backend(), Auth: testTokens(t), Gatherer: prometheus.NewRegistry(), Origins: []string{"console"}})
	if err == nil || !strings.Contains(err.Error(), "Origins") {
		t.Errorf("origin without scheme: %v", err)
	}
}

func TestHostAllowList(t *testing.T) {
	s := newServer(t, &fake{}, func(c *Config) { c.Hosts = []string{"Gate.Example.org", "10.0.0.7", "2001:db8::1"} })
	for host, ok := range map[string]bool{
		"localhost": true, "localhost:8473": true, "LOCALHOST": true, "localhost.": true, "127.0.0.1:8473": true, "[::1]:8473": true, "[::1]": true,
		"gate.example.org": true, "gate.example.org:443": true, "10.0.0.7:443": true, "[2001:db8::1]:443": true,
		"": false, "evil.example": false, "localhost.evil.example": false, "gate.example.org.evil.example:443": false,
		"127.0.0.1.evil.example": false, "[::2]": false, "127.0.0.2": false, ":8473": false,
	} {
		r := request{path: "/v1/decisions"}.build(t.Context())
		r.Host = host
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		if got := w.Code == http.StatusOK; got != ok || !ok && w.Code != http.StatusForbidden {
			t.Errorf("%q: status %d", host, w.Code)
		}
		r.URL.Path = "/healthz"
		w = httptest.NewRecorder()
		if s.ServeHTTP(w, r); w.Code != http.StatusOK {
			t.Errorf("%q: the probe is answered %d", host, w.Code)
		}
	}
}

func TestCrossOrigin(t *testing.T) {
	s := newServer(t, &fake{}, func(c *Config) { c.Origins = []string{"https://console.example.org"} })
	for _, tc := range []struct {
		header map[string]string
		ok     bool
	}{
		{nil, true},
		{map[string]string{"Sec-Fetch-Site": "same-origin"}, true},
		{map[string]string{"Sec-Fetch-Site": "none"}, true},
		{map[string]string{"Origin": "https://console.example.org", "Sec-Fetch-Site": "cross-site"}, true},
		{map[string]string{"Sec-Fetch-Site": "cross-site"}, false},
		{map[string]string{"Sec-Fetch-Site": "same-site"}, false},
		{map[string]string{"Origin": "https://evil.example"}, false},
		{map[string]string{"Origin": "null"}, false},
	} {
		q := post("/v1/calls", validCall)
		q.header = tc.header
		w := send(t, s, q)
		if got := w.Code == http.StatusOK; got != tc.ok {
			t.Errorf("%v: status %d", tc.header, w.Code)
		}
		for name := range w.Header() {
			if strings.HasPrefix(name, "Access-Control-") {
				t.Errorf("%v: answered with %s", tc.header, name)
			}
		}
	}
	w := sendUnchecked(t, s, request{method: http.MethodOptions, path: "/v1/calls", header: map[string]string{"Origin": "https://evil.example", "Access-Control-Request-Method": "POST"}})
	if w.Code != http.StatusMethodNotAllowed || w.Header().Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("preflight: status %d, %v", w.Code, w.Header())
	}
}

func TestMethodsAndPaths(t *testing.T) {
	s := newServer(t, &fake{}, nil)
	for _, rt := range s.routes() {
		for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodPatch, http.MethodHead, http.MethodOptions, "BREW"} {
			if method == rt.method || method == http.MethodHead && rt.method == http.MethodGet {
				continue
			}
			path := strings.ReplaceAll(rt.path, "{id}", "s1")
			w := sendUnchecked(t, s, request{method: method, path: path, host: "localhost"})
			if w.Code != http.StatusMethodNotAllowed || !strings.Contains(w.Header().Get("Allow"), rt.method) {
				t.Errorf("%s %s: status %d, Allow %q", method, path, w.Code, w.Header().Get("Allow"))
			}
			if decides := strings.Contains(w.Body.String(), `"decision":"refuse"`); decides != rt.decides {
				t.Errorf("%s %s: %s", method, path, w.Body)
			}
		}
	}
	for _, path := range []string{"/", "/v1", "/v1/", "/v1/calls/", "/v1/call", "/V1/calls", "//v1/calls", "/v1/../v1/calls", "/v1/./calls", "/v2/calls", "/v1/sessions/", "/v1/sessions/a/b", "/v1/sessions/a/b/end"} {
		w := sendUnchecked(t, s, post(path, validCall))
		if w.Code != http.StatusNotFound || !strings.HasPrefix(w.Body.String(), `{"decision":"refuse","reason":"invalid"`) {
			t.Errorf("%s: status %d %s", path, w.Code, w.Body)
		}
	}
}

func TestHardeningHeaders(t *testing.T) {
	s := newServer(t, &fake{}, nil)
	for _, q := range validRequests() {
		w := send(t, s, q)
		for name, want := range map[string]string{"X-Content-Type-Options": "nosniff", "Cache-Control": "no-store"} {
			if got := w.Header().Get(name); got != want {
				t.Errorf("%s: %s is %q", q.path, name, got)
			}
		}
		if !strings.Contains(w.Header().Get("Content-Security-Policy"), "default-src 'none'") {
			t.Errorf("%s: no content security policy", q.path)
		}
	}
}

func TestPanicRefuses(t *testing.T) {
	var log bytes.Buffer
	f := &fake{answer: func(context.Context, gate.CallRequest) *gate.Answer { panic("boom\x1b[2J") }}
	reg := prometheus.NewRegistry()
	s := newServer(t, f, func(c *Config) {
		c.Logger = slog.New(slog.NewTextHandler(&log, nil))
		c.Gatherer, c.Metrics = reg, NewMetrics(reg)
	})
	w := send(t, s, post("/v1/calls", validCall))
	if w.Code != http.StatusInternalServerError || !strings.HasPrefix(w.Body.String(), `{"decision":"refuse","reason":"unavailable"`) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if strings.Contains(w.Body.String(), "boom") || !strings.Contains(log.String(), "handler panicked") || strings.Contains(log.String(), "\x1b") {
		t.Errorf("answer %s\nlog %s", w.Body, &log)
	}
	m := send(t, s, request{path: "/metrics", token: "-"})
	for _, want := range []string{"aspis_http_panics_total 1", `aspis_http_requests_total{code="500",route="/v1/calls"} 1`, `aspis_http_request_seconds_count{route="/v1/calls"} 1`} {
		if !strings.Contains(m.Body.String(), want) {
			t.Errorf("the metrics lack %s:\n%s", want, m.Body)
		}
	}
}

// TestPanicAfterHeader breaks the connection off: half an answer must not pass for a
// whole one.
func TestPanicAfterHeader(t *testing.T) {
	s := newServer(t, &fake{}, nil)
	s.mux.HandleFunc("/half", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"decision":"permit"`)
		panic("boom")
	})
	srv := httptest.NewServer(s)
	defer srv.Close()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, srv.URL+"/half", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(r)
	if err == nil {
		_, err = io.ReadAll(resp.Body)
		_ = resp.Body.Close()
	}
	if err == nil {
		t.Error("the answer came whole")
	}
}

func TestReadiness(t *testing.T) {
	for _, tc := range []struct {
		name   string
		f      *fake
		edit   func(*Config)
		drain  bool
		status int
		body   string
	}{
		{"ready", &fake{}, nil, false, 200, `{"status":"ready"}`},
		{"observing", &fake{}, func(c *Config) { c.Observing = func() bool { return true } }, false, 200, `{"status":"observing"}`},
		{"starting", &fake{ready: context.DeadlineExceeded}, nil, false, 503, `{"status":"starting","reason":"unavailable","message":"the log is being read"}`},
		{"stalled", &fake{check: errors.New("no clock")}, nil, false, 503, `{"status":"stalled","reason":"unavailable","message":"no clock"}`},
		{"draining", &fake{}, nil, true, 503, `{"status":"draining","reason":"unavailable","message":"the server shuts down"}`},
	} {
		s := newServer(t, tc.f, tc.edit)
		if tc.drain {
			s.drain()
		}
		w := send(t, s, request{path: "/readyz", token: "-"})
		if w.Code != tc.status || w.Body.String() != tc.body {
			t.Errorf("%s: %d %s", tc.name, w.Code, w.Body)
		}
		if w := send(t, s, request{path: "/healthz", token: "-"}); w.Code != http.StatusOK {
			t.Errorf("%s: it lives all the same, but is answered %d", tc.name, w.Code)
		}
	}
}

// TestTokensStayOut puts a canary into everything that is refused and looks for it in
// answers, logs and metrics.
func TestTokensStayOut(t *testing.T) {
	const canary = "canary-token-0123456789"
	var log bytes.Buffer
	f := &fake{refuse: func() error { return errors.New("broker is gone") }}
	s := newServer(t, f, func(c *Config) {
		c.Logger = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
		c.Auth = must(ParseTokens("tokens", []byte(canary+" agent-1 agent acme")))
	})
	var all strings.Builder
	for _, q := range validRequests() {
		for _, token := range []string{canary, canary + "x"} {
			q.token = token
			w := sendUnchecked(t, s, q)
			fmt.Fprintln(&all, w.Header(), w.Body)
		}
	}
	all.WriteString(log.String())
	if strings.Contains(all.String(), canary) || log.Len() == 0 {
		t.Errorf("a token is given away, or nothing was logged:\n%s", &all)
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func TestAnswersKeepRawBytes(t *testing.T) {
	a := fullAnswer()
	w := send(t, newServer(t, answering(a), nil), post("/v1/calls", validCall))
	if got := member(t, w.Body.String(), "args"); got != string(a.Args) {
		t.Errorf("args %s, want %s", got, a.Args)
	}
	if got := member(t, member(t, w.Body.String(), "permit"), "statement"); got != string(a.Permit.Statement) {
		t.Errorf("statement %s, want %s", got, a.Permit.Statement)
	}
	f := &fake{records: []gate.DecisionRecord{{Answer: *a, Tool: "t", Session: "s", Agent: "a", Detail: "d", Call: "1/1"}}}
	if w := send(t, newServer(t, f, nil), request{path: "/v1/decisions"}); !strings.Contains(w.Body.String(), `"unchecked-by-policy":"observe"`) {
		t.Errorf("%s", w.Body)
	}
}

func TestBodyLimit(t *testing.T) {
	frame := len(`{"session":"s","tool":"t","args":{"a":""}}`)
	for _, size := range []int{1000, 1001} {
		for _, known := range []bool{true, false} {
			s := newServer(t, &fake{}, func(c *Config) { c.MaxBody = 1000 })
			r := post("/v1/calls", `{"session":"s","tool":"t","args":{"a":"`+strings.Repeat("x", size-frame)+`"}}`).build(t.Context())
			if !known {
				r.ContentLength = -1
			}
			w := httptest.NewRecorder()
			s.ServeHTTP(w, r)
			if want := map[int]int{1000: 200, 1001: 413}[size]; w.Code != want {
				t.Errorf("%d bytes, length known %v: status %d", size, known, w.Code)
			}
			checkDescribed(t, s, r, w)
		}
	}
}

// serving runs a server on a loopback port until the test or stop ends it.
func serving(t *testing.T, s *Server) (url string, stop func() error) {
	t.Helper()
	ln, err := Listen(t.Context(), "127.0.0.1:0", false)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, ln) }()
	stop = sync.OnceValue(func() error { cancel(); return <-done })
	t.Cleanup(func() { _ = stop() })
	return "http://" + ln.Addr().String(), stop
}

// TestDrainLetsPendingCallsFinish ends the server while a call is pending.
func TestDrainLetsPendingCallsFinish(t *testing.T) {
	entered, release := make(chan struct{}), make(chan struct{})
	f := &fake{answer: func(context.Context, gate.CallRequest) *gate.Answer {
		close(entered)
		<-release
		return &gate.Answer{Decision: "permit"}
	}}
	s := newServer(t, f, nil)
	url, stop := serving(t, s)
	answer := make(chan string, 1)
	go func() { answer <- postCall(t, url) }()
	<-entered
	ended := make(chan error, 1)
	go func() { ended <- stop() }()
	<-s.draining.Done()
	select {
	case err := <-ended:
		t.Fatalf("the server ended with a call pending: %v", err)
	case <-time.After(50 * time.Millisecond):
	}
	close(release)
	if got := <-answer; got != `{"decision":"permit"}` {
		t.Errorf("the pending call was answered %s", got)
	}
	if err := <-ended; err != nil {
		t.Errorf("Serve: %v", err)
	}
	if got := postCall(t, url); !strings.Contains(got, "refused") {
		t.Errorf("a call after the end was answered %s", got)
	}
}

func postCall(t *testing.T, url string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(context.Background(), http.MethodPost, url+"/v1/calls", strings.NewReader(validCall))
	if err != nil {
		return err.Error()
	}
	r.Header.Set("Authorization", "Bearer "+agentToken)
	r.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return err.Error()
	}
	defer resp.Body.Close() //nolint:errcheck // read to the end
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// TestDrainEnds breaks off what is pending after Drain, and Serve returns only when
// the handler has.
func TestDrainEnds(t *testing.T) {
	entered, left := make(chan struct{}), make(chan struct{})
	f := &fake{answer: func(ctx context.Context, _ gate.CallRequest) *gate.Answer {
		close(entered)
		<-ctx.Done()
		close(left)
		return refusal(verdict.Late, "gone")
	}}
	url, stop := serving(t, newServer(t, f, func(c *Config) { c.Drain = 20 * time.Millisecond }))
	go postCall(t, url)
	<-entered
	if err := stop(); err == nil || !strings.Contains(err.Error(), "still pending") {
		t.Errorf("Serve: %v", err)
	}
	select {
	case <-left:
	default:
		t.Error("Serve returned before its handler")
	}
}

func TestDrainEndsStreams(t *testing.T) {
	s := newServer(t, &fake{}, nil)
	url, stop := serving(t, s)
	body := make(chan string, 1)
	go func() { body <- stalledStream(t, t.Context(), url) }()
	for s.cfg.Backend.Recorder.(*fake).asked() == 0 { //nolint:forcetypeassert // of this test
		time.Sleep(time.Millisecond)
	}
	if err := stop(); err != nil {
		t.Errorf("Serve: %v", err)
	}
	if got := <-body; !strings.HasSuffix(got, `{"item":2,"reason":"unavailable","message":"the server shuts down; send the rest again"}`+"\n") {
		t.Errorf("the stream was answered %s", got)
	}
}

// TestLongCallOutlivesReadTimeout: the time-out is for the request to arrive, not for
// the decision.
func TestLongCallOutlivesReadTimeout(t *testing.T) {
	const readTimeout = 100 * time.Millisecond
	f := &fake{answer: func(ctx context.Context, _ gate.CallRequest) *gate.Answer {
		select {
		case <-ctx.Done():
			return refusal(verdict.Late, "the request was cancelled")
		case <-time.After(3 * readTimeout):
			return &gate.Answer{Decision: "permit"}
		}
	}}
	url, _ := serving(t, newServer(t, f, func(c *Config) { c.ReadTimeout = readTimeout }))
	for range 2 { // the second one on the same connection
		if got := postCall(t, url); got != `{"decision":"permit"}` {
			t.Errorf("got %s", got)
		}
	}
}

// TestSlowBodyIsCutOff sends a header and half a body.
func TestSlowBodyIsCutOff(t *testing.T) {
	url, _ := serving(t, newServer(t, &fake{}, func(c *Config) { c.ReadTimeout = 100 * time.Millisecond }))
	var d net.Dialer
	conn, err := d.DialContext(t.Context(), "tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close() //nolint:errcheck // a test's connection
	_, _ = fmt.Fprintf(conn, "POST /v1/calls HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{", agentToken)
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close() //nolint:errcheck // read to the end
	if body := drainBody(t, resp.Body); resp.StatusCode != http.StatusBadRequest || !strings.HasPrefix(body, `{"decision":"refuse"`) {
		t.Errorf("%d %s", resp.StatusCode, body)
	}
}

func TestHeaderLimit(t *testing.T) {
	url, _ := serving(t, newServer(t, &fake{}, nil))
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/v1/decisions", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+strings.Repeat("x", 2*MaxHeaderBytes))
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close() //nolint:errcheck // read to the end
	if resp.StatusCode != http.StatusRequestHeaderFieldsTooLarge || strings.Contains(drainBody(t, resp.Body), "permit") {
		t.Errorf("status %d", resp.StatusCode)
	}
}
