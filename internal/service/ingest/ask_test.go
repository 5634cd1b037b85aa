package ingest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/aspis-rv/aspis/internal/appender"
	"github.com/aspis-rv/aspis/internal/bus/membus"
	"github.com/aspis-rv/aspis/pkg/policy"
	"github.com/aspis-rv/aspis/pkg/schema"
)

const askingPolicy = `policy: p
revision: 1
authorities: [user]
classifiers: {leak: {threshold: 0.8}}
facts: {leaks: [to], odd: [who]}
typing:
  leak(to, text): {emits: leaks(to), classifiers: leak, in: text}
  odd(who, text): {emits: odd(who), classifiers: leak, in: text}
tools:
  mail:  {args: {to: string, body: string}, types: ['leak(to, body)']}
  fetch: {args: {who: string, fine: 'bool = false'}, types: [{apply: 'odd(who, fine ? "" : string(result))', at: result}]}
clauses: {C: {text: Nothing leaks., forbid: {temporal: 'leaks(a) AND ONCE odd(a)'}}}
`

// oracle gives everything the score 0.5 and keeps what it was asked.
type oracle struct{ asked []string }

func (o *oracle) Ask(_ context.Context, questions []policy.Question) []schema.Answer {
	out := make([]schema.Answer, len(questions))
	for i, q := range questions {
		o.asked = append(o.asked, q.Text)
		out[i] = schema.Answer{Name: q.Classifier, Of: q.Of(), Version: "oracle", Score: 0.5}
	}
	return out
}

func payload(t *testing.T, text string) schema.Payload {
	t.Helper()
	canon, err := schema.Canonical([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return schema.Payload{Status: schema.PayloadOK, Canon: canon}
}

// TestAnswersOfAFeed: what the agent's side says that a classifier said is dropped, and asked for; what
// somebody else saw stands, a missing answer included.
func TestAnswersOfAFeed(t *testing.T) {
	recorded := func(missing bool) *schema.Event {
		ev := by("bot", schema.ClassAgent, schema.Event{Kind: schema.KindCall, CallID: "c1", Tool: "mail", Args: payload(t, `{"to":"ann","body":"hello"}`)})
		q := policy.Question{Classifier: "leak", Text: "hello"}
		ev.Answers = []schema.Answer{{Name: "leak", Of: q.Of(), Version: "recorded", Score: 0.25}}
		if missing {
			ev.Answers[0] = schema.Answer{Name: "leak", Of: q.Of(), Missing: true}
		}
		return ev
	}
	for _, tc := range []struct {
		vantage schema.Vantage
		missing bool
		asked   int
		want    string
	}{
		{schema.Reported, false, 1, "oracle 0.5 false"},
		{schema.Reported, true, 1, "oracle 0.5 false"},
		{schema.Attested, false, 0, "recorded 0.25 false"},
		{schema.Observed, false, 0, "recorded 0.25 false"},
		{schema.Observed, true, 0, " 0 true"},
	} {
		o := &oracle{}
		log, rejects := feedTo(t, Config{Bundle: load(t, askingPolicy), Vantage: tc.vantage, Asker: o}, recorded(tc.missing))
		var got []string
		for _, list := range log {
			for _, ev := range list {
				for _, a := range ev.Answers {
					got = append(got, fmt.Sprintf("%s %v %v", a.Version, a.Score, a.Missing))
				}
			}
		}
		if strings.Join(got, "|") != tc.want || len(o.asked) != tc.asked || len(rejects) > 0 {
			t.Errorf("%v, missing %v: %q after %d questions, want %q after %d; %v", tc.vantage, tc.missing, got, len(o.asked), tc.want, tc.asked, rejects)
		}
	}
}

// TestResultsAreAskedAboutWithTheirCall: what is asked of a result follows from the arguments of its call;
// nothing is asked of one whose call was not in the feed.
func TestResultsAreAskedAboutWithTheirCall(t *testing.T) {
	call := func(id, args string) *schema.Event {
		return by("bot", schema.ClassAgent, schema.Event{Kind: schema.KindCall, CallID: id, Tool: "fetch", Args: payload(t, args)})
	}
	result := func(id, text string) *schema.Event {
		return by("web", schema.ClassTool, schema.Event{Kind: schema.KindResult, CallID: id, Result: payload(t, text)})
	}
	o := &oracle{}
	_, rejects := feedTo(t, Config{Bundle: load(t, askingPolicy), Vantage: schema.Observed, Asker: o},
		call("c1", `{"who":"ann"}`), call("c2", `{"who":"ann","fine":true}`),
		result("c2", `"two"`), result("c1", `"one"`), result("c3", `"three"`))
	if got := strings.Join(o.asked, "|"); got != "one" || len(rejects) > 0 {
		t.Errorf("asked about %q, rejected %v", got, rejects)
	}
}

// TestCallsAreBounded: as many calls are remembered as there is room for, the latest ones.
func TestCallsAreBounded(t *testing.T) {
	var c calls
	id := func(kind schema.Kind, i int) *schema.Event { return &schema.Event{Kind: kind, CallID: fmt.Sprint(i)} }
	for i := range maxCalls + 2 {
		c.of(id(schema.KindCall, i))
	}
	if len(c.byKey) != maxCalls || c.of(id(schema.KindResult, 1)) != nil || c.of(id(schema.KindResult, 2)) == nil {
		t.Errorf("%d calls", len(c.byKey))
	}
	large := id(schema.KindCall, maxCalls+2)
	large.Args.Canon = make([]byte, maxCallBytes)
	c.of(large)
	if len(c.byKey) != maxCalls || c.bytes != maxCallBytes {
		t.Errorf("%d calls of %d bytes beside a large one", len(c.byKey), c.bytes)
	}
	c.of(large) // the first one with an id stands
	last := id(schema.KindCall, maxCalls+3)
	last.Args.Canon = []byte("{}")
	c.of(last)
	if len(c.byKey) != 1 || c.bytes != 2 || len(c.order) != 1 {
		t.Errorf("%d calls of %d bytes", len(c.byKey), c.bytes)
	}
}

// ending ends the feed while it is asked.
type ending struct{ end context.CancelFunc }

func (e ending) Ask(_ context.Context, questions []policy.Question) []schema.Answer {
	e.end()
	return (&oracle{}).Ask(nil, questions) //nolint:staticcheck // it does not look
}

// TestAnEndedFeedAppendsNothing: an event whose question the end of the feed cut off is not in the log.
func TestAnEndedFeedAppendsNothing(t *testing.T) {
	m := membus.New(membus.Config{Partitions: partitions})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	s, err := New(Config{Bus: m, Bundle: load(t, askingPolicy), Name: "ingest", Secret: make([]byte, 32), Tenant: "acme", Asker: ending{cancel}})
	if err != nil {
		t.Fatal(err)
	}
	ev := by("bot", schema.ClassAgent, schema.Event{Kind: schema.KindCall, CallID: "c1", Tool: "mail", Args: payload(t, `{"to":"ann","body":"hello"}`)})
	_, err = s.Feed(ctx, sequence([]*schema.Event{ev}), func(Reject) error { return nil })
	if !errors.Is(err, appender.ErrUnrecorded) || len(written(t.Context(), t, m)) > 0 {
		t.Errorf("%v", err)
	}
}

// TestNobodyToAsk: an ingest whose policy names classifiers does not start without somebody to ask.
func TestNobodyToAsk(t *testing.T) {
	_, err := New(Config{
		Bus: membus.New(membus.Config{Partitions: 1}), Bundle: load(t, askingPolicy), Name: "i", Secret: make([]byte, 32), Tenant: "t",
	})
	if err == nil || !strings.Contains(err.Error(), "nobody to ask") {
		t.Error(err)
	}
}
