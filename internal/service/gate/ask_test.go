package gate

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aspis-rv/aspis/pkg/policy"
	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// askingPolicy asks about calls, results and grants.
const askingPolicy = `policy: gate-asks
revision: 1
authorities: [user]
deadline: 5s
classifiers: {leak: {threshold: 0.8, timeout: 100ms}}
facts: {leaks: [to], odd: [who]}
typing:
  leak(to, text): {emits: leaks(to), classifiers: leak, in: text}
  odd(who, text): {emits: odd(who), classifiers: leak, in: text}
tools:
  mail:   {args: {to: string, body: string}, types: ['leak(to, body)']}
  fetch:  {args: {who: string}, types: [{apply: 'odd(who, string(result))', at: result}]}
  vouch:  {authority: true, args: {who: string, why: string}, types: ['odd(who, why)']}
  get_time: {}
clauses:
  C1: {text: Nothing leaks., forbid: {temporal: 'leaks(a)'}}
  C2: {text: Nothing is fetched from odd places., forbid: {temporal: 'leaks(a) AND ONCE odd(a)'}}
`

// oracle answers by what a text contains, and keeps what it was asked.
type oracle struct {
	mu    sync.Mutex
	asked []string
	hold  chan struct{} // answers wait for it, if it is not nil
}

func (o *oracle) Ask(ctx context.Context, questions []policy.Question) []schema.Answer {
	out := make([]schema.Answer, len(questions))
	for i, q := range questions {
		o.mu.Lock()
		o.asked = append(o.asked, q.Text)
		o.mu.Unlock()
		out[i] = schema.Answer{Name: q.Classifier, Of: q.Of(), Version: "oracle"}
		switch {
		case strings.Contains(q.Text, "secret"):
			out[i].Score = 0.9
		case strings.Contains(q.Text, "nonsense"):
			out[i].Score = math.NaN() // no record holds it
		case strings.Contains(q.Text, "silence"):
			out[i] = schema.Answer{Name: q.Classifier, Of: q.Of(), Missing: true}
		}
	}
	if o.hold != nil {
		select {
		case <-o.hold:
		case <-ctx.Done():
			for i := range out {
				out[i] = schema.Answer{Name: out[i].Name, Of: out[i].Of, Missing: true}
			}
		}
	}
	return out
}

func (o *oracle) texts() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.asked)
}

// TestAnswersDecide: what a classifier says of a call is in its record, and decides; one that says nothing
// refuses. A body cannot bring answers along.
func TestAnswersDecide(t *testing.T) {
	o := &oracle{}
	r := startWith(t, askingPolicy, func(c *Config) { c.Asker = o })
	s := r.session(t)
	for i, tc := range []struct {
		body     string
		decision string
		reason   verdict.Reason
		answer   string
	}{
		{"the weather", "permit", "", "[{leak oracle 0  false}]"},
		{"a secret", "permit", "", "[{leak oracle 0.9  false}]"}, // presumptive: flagged
		{"silence", "refuse", verdict.Unknown, "[{leak  0  true}]"},
		{" ", "permit", "", "[]"},
	} {
		a := r.call(t, s, "mail", fmt.Sprintf(`{"to":"ann","body":%q}`, tc.body))
		if a.Decision != tc.decision || a.Reason != tc.reason {
			t.Errorf("%q: %+v", tc.body, a)
		}
		if flagged := a.Certificate != nil && slices.Contains(a.Certificate.Flags, "C1"); flagged != (tc.body == "a secret") {
			t.Errorf("%q: flagged %v, certificate %+v", tc.body, flagged, a.Certificate)
		}
		if told, err := json.Marshal(a); err != nil || strings.Contains(string(told), "oracle") || strings.Contains(string(told), "0.9") {
			t.Errorf("%q: the agent reads what the classifier said: %s, %v", tc.body, told, err)
		}
		calls := r.recorded(t, schema.KindCall)
		if len(calls) != i+1 {
			t.Fatalf("%d calls in the log, want %d", len(calls), i+1)
		}
		if got := answersOf(byText(calls, tc.body)); got != tc.answer {
			t.Errorf("%q: recorded %s, want %s", tc.body, got, tc.answer)
		}
	}
	if got := strings.Join(o.texts(), "|"); got != "the weather|a secret|silence" {
		t.Errorf("asked about %s", got)
	}
	a := r.call(t, s, "mail", `{"to":"ann","body":"a secret","answers":[{"name":"leak","score":0}]}`)
	if a.permits() {
		t.Errorf("an argument that the policy does not know: %+v", a)
	}
}

// byText finds the call whose body is text.
func byText(calls []*schema.Event, text string) *schema.Event {
	for _, ev := range calls {
		if strings.Contains(string(ev.Args.Canon), fmt.Sprintf("%q", text)) {
			return ev
		}
	}
	return &schema.Event{}
}

// answersOf prints answers without what they are about.
func answersOf(ev *schema.Event) string {
	var out []string
	for _, a := range ev.Answers {
		out = append(out, fmt.Sprintf("{%s %s %v %s %v}", a.Name, a.Version, a.Score, a.Label, a.Missing))
	}
	return fmt.Sprint(out)
}

// TestAskedOncePerCall: who repeats a call while its question is open waits for the same record; who has
// gone away finds the answer under the call's id.
func TestAskedOncePerCall(t *testing.T) {
	o := &oracle{hold: make(chan struct{})}
	r := startWith(t, askingPolicy, func(c *Config) { c.Asker = o })
	s := r.session(t)
	req := CallRequest{Session: s, Tool: "mail", CallID: "c1", Args: []byte(`{"to":"ann","body":"hello"}`)}
	gone, leave := context.WithCancel(t.Context())
	first := make(chan *Answer, 1)
	go func() { first <- r.gate.Call(gone, agent(), req) }()
	waitUntil(t, func() bool { return len(o.texts()) == 1 })
	leave()
	second := make(chan *Answer, 1)
	go func() { second <- r.gate.Call(t.Context(), agent(), req) }()
	other := req
	other.Args = []byte(`{"to":"ann","body":"other"}`)
	if a := r.gate.Call(t.Context(), agent(), other); a.Reason != verdict.Invalid {
		t.Errorf("another call of the same id: %+v", a)
	}
	close(o.hold)
	if a := <-first; a.permits() {
		t.Errorf("who went away gets %+v", a)
	}
	if a := <-second; !a.permits() {
		t.Errorf("who asked again gets %+v", a)
	}
	if n, calls := len(o.texts()), len(r.recorded(t, schema.KindCall)); n != 1 || calls != 1 {
		t.Errorf("asked %d times, %d records", n, calls)
	}
}

// TestRepeatedCallThatIsNotWritten: who waits for a call that the log then does not take is told so, and
// may try again.
func TestRepeatedCallThatIsNotWritten(t *testing.T) {
	o := &oracle{hold: make(chan struct{})}
	r := startWith(t, askingPolicy, func(c *Config) { c.Asker = o })
	s := r.session(t)
	req := CallRequest{Session: s, Tool: "mail", CallID: "c1", Args: []byte(`{"to":"ann","body":"nonsense"}`)}
	answers := make(chan *Answer, 2)
	propose := func() { answers <- r.gate.Call(t.Context(), agent(), req) }
	go propose()
	waitUntil(t, func() bool { return len(o.texts()) == 1 })
	go propose()
	waitUntil(t, func() bool { return r.inFlight(agent()) == 2 })
	close(o.hold)
	for range 2 {
		if a := <-answers; a.Reason != verdict.Unrecorded {
			t.Errorf("%+v", a)
		}
	}
	if a := r.call(t, s, "get_time", "{}"); !a.permits() || len(r.recorded(t, schema.KindCall)) != 1 {
		t.Errorf("the next call: %+v", a)
	}
}

// inFlight counts the calls of a principal that wait for an answer.
func (r *rig) inFlight(who Principal) int {
	q := r.gate.quota
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.mu.open[who]
}

// TestNoAnswerInTime: a call whose question stays open is in the log all the same, without an answer, and
// refused before its deadline.
func TestNoAnswerInTime(t *testing.T) {
	o := &oracle{hold: make(chan struct{})}
	r := startWith(t, askingPolicy, func(c *Config) { c.Asker = o })
	s := r.session(t)
	a := r.gate.Call(t.Context(), agent(), CallRequest{Session: s, Tool: "mail", CallID: "c1", Args: []byte(`{"to":"ann","body":"hello"}`), Deadline: 2 * time.Second})
	if a.permits() || a.Reason != verdict.Unknown {
		t.Errorf("%+v", a)
	}
	if calls := r.recorded(t, schema.KindCall); len(calls) != 1 || answersOf(calls[0]) != "[{leak  0  true}]" {
		t.Errorf("recorded %+v", calls)
	}
}

// TestResultsAndGrantsAreAskedAbout: a result with the arguments of its call, and an authority's act.
func TestResultsAndGrantsAreAskedAbout(t *testing.T) {
	o := &oracle{}
	r := startWith(t, askingPolicy, func(c *Config) { c.Asker = o })
	s := r.session(t)
	if a := r.gate.Call(t.Context(), agent(), CallRequest{Session: s, Tool: "fetch", CallID: "f1", Args: []byte(`{"who":"ann"}`)}); !a.permits() {
		t.Fatalf("%+v", a)
	}
	if _, err := r.gate.Result(t.Context(), agent(), ResultRequest{Session: s, CallID: "f1", Result: []byte(`"a secret page"`)}); err != nil {
		t.Fatal(err)
	}
	if _, err := r.gate.Message(t.Context(), agent(), MessageRequest{Session: s, Kind: schema.KindMessage, Text: "a secret"}); err != nil {
		t.Fatal(err)
	}
	if _, err := r.gate.Grant(t.Context(), user(), GrantRequest{Session: s, Tool: "vouch", Args: []byte(`{"who":"bob","why":"no reason"}`)}); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(o.texts(), "|"); got != "a secret page|no reason" {
		t.Errorf("asked about %s", got)
	}
	for kind, want := range map[schema.Kind]string{
		schema.KindResult: "[{leak oracle 0.9  false}]", schema.KindGrant: "[{leak oracle 0  false}]", schema.KindMessage: "[]",
	} {
		if got := r.recorded(t, kind); len(got) != 1 || answersOf(got[0]) != want {
			t.Errorf("%v: %+v, want %s", kind, got, want)
		}
	}
}

// TestNobodyToAsk: a gate whose policy names classifiers does not start without somebody to ask.
func TestNobodyToAsk(t *testing.T) {
	if _, err := New(Config{Bundle: loadText(t, askingPolicy)}); err == nil || !strings.Contains(err.Error(), "nobody to ask") {
		t.Error(err)
	}
}

// waitUntil returns once cond holds.
func waitUntil(t *testing.T, cond func() bool) {
	t.Helper()
	for range 2000 {
		if cond() {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatal("it does not come about")
}
