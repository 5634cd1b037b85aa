package httpapi

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/aspis-rv/aspis/internal/service/gate"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

func answering(a *gate.Answer) *fake {
	return &fake{answer: func(context.Context, gate.CallRequest) *gate.Answer { return a }}
}

// TestStatusOfAnswers is the table of docs/http.md about calls.
func TestStatusOfAnswers(t *testing.T) {
	want := map[string]int{
		"permit": 200, "redirect violation": 200, "escalate unknown": 200,
		"refuse violation": 200, "refuse unknown": 200, "refuse unmapped": 200,
		"refuse invalid": 400, "refuse busy": 429, "refuse late": 504, "refuse unavailable": 503, "refuse unrecorded": 503,
	}
	for key, status := range want {
		decision, reason, _ := strings.Cut(key, " ")
		a := &gate.Answer{Decision: decision, Reason: verdict.Reason(reason), Message: "m"}
		w := send(t, newServer(t, answering(a), nil), post("/v1/calls", validCall))
		if w.Code != status || !strings.Contains(w.Body.String(), `"decision":"`+decision+`"`) {
			t.Errorf("%s: status %d, want %d: %s", key, w.Code, status, w.Body)
		}
		if busy := w.Header().Get("Retry-After") != ""; busy != (reason == "busy") {
			t.Errorf("%s: Retry-After %q", key, w.Header().Get("Retry-After"))
		}
	}
	for _, r := range verdict.Reasons() {
		if _, ok := want["refuse "+string(r)]; !ok {
			t.Errorf("reason class %s is not in the table", r)
		}
	}
	if diff := cmp.Diff(want, documented(t, "calls")); diff != "" {
		t.Errorf("docs/http.md (-code +page):\n%s", diff)
	}
}

func TestStatusOfProblems(t *testing.T) {
	want := map[string]int{
		"violation": 403, "unknown": 403, "unmapped": 403, "invalid": 400, "busy": 429, "late": 504, "unavailable": 503, "unrecorded": 503,
	}
	for _, reason := range verdict.Reasons() {
		s := newServer(t, &fake{refuse: problemOf(reason)}, nil)
		q := post("/v1/grants", `{"session":"s1","tool":"approve"}`)
		got := sendUnchecked(t, s, q)
		if got.Code != want[string(reason)] || got.Body.String() != `{"reason":"`+string(reason)+`","message":"because"}` {
			t.Errorf("%s: status %d: %s", reason, got.Code, got.Body)
		}
	}
	if diff := cmp.Diff(want, documented(t, "others")); diff != "" {
		t.Errorf("docs/http.md (-code +page):\n%s", diff)
	}
}

// documented reads a table of docs/http.md that a comment marks: its rows are
// `| name | status | …`.
func documented(t *testing.T, table string) map[string]int {
	t.Helper()
	page, err := os.ReadFile(filepath.FromSlash("../../../docs/http.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(page), "<!-- table: "+table+" -->")
	if !found {
		t.Fatalf("docs/http.md has no table %q", table)
	}
	out := map[string]int{}
	row := regexp.MustCompile("^\\| `([a-z ]+)` \\| (\\d+) \\|")
	for line := range strings.Lines(strings.TrimLeft(rest, "\n")) {
		if !strings.HasPrefix(line, "|") {
			break
		}
		if m := row.FindStringSubmatch(line); m != nil {
			out[m[1]], _ = strconv.Atoi(m[2])
		}
	}
	return out
}

func TestUnusableAnswersRefuse(t *testing.T) {
	for name, a := range map[string]*gate.Answer{
		"nil":                      nil,
		"no decision":              {},
		"unknown decision":         {Decision: "allow"},
		"refusal without a reason": {Decision: "refuse"},
		"unknown reason":           {Decision: "refuse", Reason: "bored"},
	} {
		w := send(t, newServer(t, answering(a), nil), post("/v1/calls", validCall))
		if w.Code != http.StatusInternalServerError || !strings.HasPrefix(w.Body.String(), `{"decision":"refuse","reason":"unavailable"`) {
			t.Errorf("%s: status %d: %s", name, w.Code, w.Body)
		}
	}
}

// scenario is a way to bring a route to a status.
type scenario struct {
	name string
	want int
	fake *fake
	edit func(*request)
	cfg  func(*Config)
}

func scenarios(rt *route) []scenario {
	boom := &fake{
		answer: func(context.Context, gate.CallRequest) *gate.Answer { panic("boom") },
		refuse: func() error { panic("boom") },
	}
	out := []scenario{{name: "fine", want: 200, fake: &fake{}}}
	if rt.path != "/healthz" && rt.path != "/readyz" {
		out = append(out, scenario{name: "foreign host", want: 403, fake: &fake{}, edit: func(q *request) { q.host = "evil.example" }})
	}
	if rt.open {
		return out
	}
	out = append(out,
		scenario{name: "no credential", want: 401, fake: &fake{}, edit: func(q *request) { q.token = "-" }},
		scenario{name: "panic", want: 500, fake: boom},
		scenario{name: "unavailable", want: 503, fake: &fake{
			answer: func(context.Context, gate.CallRequest) *gate.Answer { return refusal(verdict.NoAnswer, "down") },
			refuse: func() error { return errors.New("secret detail of the broker") },
		}},
	)
	if rt.method == http.MethodGet {
		return append(out, scenario{name: "unknown parameter", want: 400, fake: &fake{}, edit: func(q *request) { q.path += "?colour=red" }})
	}
	return append(out,
		scenario{name: "cross origin", want: 403, fake: &fake{}, edit: func(q *request) { q.header = map[string]string{"Sec-Fetch-Site": "cross-site"} }},
		scenario{name: "unknown member", want: 400, fake: &fake{}, edit: func(q *request) { q.body = `{"colour":"red"}` }},
		scenario{name: "too large", want: 413, fake: &fake{}, edit: func(q *request) { q.body = `{"a":"` + strings.Repeat("x", 2000) + `"}` }, cfg: func(c *Config) { c.MaxBody = 1000 }},
		scenario{name: "wrong type", want: 415, fake: &fake{}, edit: func(q *request) { q.contentType = "text/plain"; q.body += " " }},
		scenario{name: "busy", want: 429, fake: &fake{
			answer: func(context.Context, gate.CallRequest) *gate.Answer { return refusal(verdict.Busy, "full") },
			refuse: problemOf(verdict.Busy),
		}},
	)
}

// validRequests has one good request for every route.
func validRequests() map[string]request {
	return map[string]request{
		"POST /v1/sessions":          post("/v1/sessions", ""),
		"GET /v1/sessions/{id}":      {path: "/v1/sessions/s1"},
		"POST /v1/sessions/{id}/end": post("/v1/sessions/s1/end", ""),
		"POST /v1/calls":             post("/v1/calls", validCall),
		"POST /v1/results":           post("/v1/results", `{"session":"s1","call_id":"c1","result":{}}`),
		"POST /v1/events":            post("/v1/events", `{"session":"s1","kind":"message","role":"user","text":"hi"}`),
		"POST /v1/grants":            post("/v1/grants", `{"session":"s1","tool":"approve"}`),
		"GET /v1/decisions":          {path: "/v1/decisions?session=s1&call=c1&limit=1000"},
		"GET /v1/openapi.json":       {path: "/v1/openapi.json", token: "-"},
		"GET /healthz":               {path: "/healthz", token: "-"},
		"GET /readyz":                {path: "/readyz", token: "-"},
		"GET /metrics":               {path: "/metrics", token: "-"},
	}
}

// TestEveryStatusHappens brings every route to every status that is described, and to
// no other one.
func TestEveryStatusHappens(t *testing.T) {
	d := parseDocument(t)
	for _, rt := range newServer(t, &fake{}, nil).routes() {
		key := rt.method + " " + rt.path
		valid, ok := validRequests()[key]
		if !ok {
			t.Errorf("%s has no valid request", key)
			continue
		}
		list := scenarios(rt)
		switch rt.path {
		case "/v1/calls":
			list = append(list, scenario{name: "late", want: 504, fake: answering(refusal(verdict.Late, "late"))})
		case "/readyz":
			list = append(list, scenario{name: "stalled", want: 503, fake: &fake{check: errors.New("no clock")}},
				scenario{name: "panic", want: 500, fake: nil})
		}
		happened := map[string]bool{}
		for _, sc := range list {
			happened[strconv.Itoa(sc.want)] = true
			checkScenario(t, key, rt, sc, valid)
		}
		described := slices.Sorted(maps.Keys(d.Paths[rt.path][strings.ToLower(rt.method)].Responses))
		if diff := cmp.Diff(slices.Sorted(maps.Keys(happened)), described); diff != "" {
			t.Errorf("%s: statuses (-happened +described):\n%s", key, diff)
		}
	}
}

func checkScenario(t *testing.T, key string, rt *route, sc scenario, q request) {
	t.Helper()
	s := newServer(t, &fake{}, func(c *Config) {
		if sc.fake != nil {
			c.Backend = sc.fake.backend()
		} else {
			c.Backend.Health = brokenHealth{}
		}
		if sc.cfg != nil {
			sc.cfg(c)
		}
	})
	if sc.edit != nil {
		sc.edit(&q)
	}
	w := send(t, s, q)
	if w.Code != sc.want {
		t.Errorf("%s, %s: status %d, want %d: %s", key, sc.name, w.Code, sc.want, w.Body)
	}
	if strings.Contains(w.Body.String(), "secret detail") {
		t.Errorf("%s, %s: the cause of an inner error is told: %s", key, sc.name, w.Body)
	}
	if w.Code != http.StatusOK && rt.decides && !strings.HasPrefix(w.Body.String(), `{"decision":"refuse","reason":"`) {
		t.Errorf("%s, %s: no decision object: %s", key, sc.name, w.Body)
	}
	if sc.fake != nil && sc.want >= 400 && sc.want < 500 && sc.want != 429 && sc.fake.asked() > 0 {
		t.Errorf("%s, %s: the backend was asked all the same", key, sc.name)
	}
}

type brokenHealth struct{}

func (brokenHealth) Ready(context.Context) error { panic("boom") }
func (brokenHealth) Check() error                { return nil }
