package policy

import (
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strconv"
	"strings"

	"github.com/aspis-rv/aspis/pkg/policy/internal/source"
	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// defaultTests is where tests are looked for when the policy does not say.
const defaultTests = "tests/*.yaml"

// tests reads the test files that the patterns of `tests:` name.
func (l *loader) tests(n *source.Node) {
	patterns := map[string]*source.Node{}
	order := []string{}
	for _, item := range l.listOf(n) {
		s, ok := l.text(item, "a pattern of test files")
		if !ok {
			continue
		}
		if _, err := path.Match(s, "x"); err != nil || !insidePath(s) {
			l.report(item, badPath(s))
			continue
		}
		patterns[s] = item
		order = append(order, s)
	}
	if n == nil {
		order = []string{defaultTests}
	}
	read := map[string]bool{}
	for _, pattern := range order {
		found := false
		for _, f := range l.files {
			if ok, err := path.Match(pattern, f.name); err != nil || !ok {
				continue
			}
			found = true
			if !read[f.name] && f.name != policyFile {
				read[f.name] = true
				l.testFile(f.name)
			}
		}
		if item := patterns[pattern]; item != nil && !found {
			l.report(item, fault(CodeRead, "write the tests, or delete the key", "no file of the bundle matches %q", pattern))
		}
	}
}

func (l *loader) testFile(name string) {
	f := l.open(name)
	if f == nil {
		return
	}
	root, found := source.Parse(f)
	l.diags = append(l.diags, found...)
	if root == nil {
		return
	}
	if root.Kind != source.List {
		l.report(root, wrongType("a test file", "a list of tests", root.Describe()))
		return
	}
	for _, n := range root.Items {
		l.test(n)
	}
}

func (l *loader) test(n *source.Node) {
	if n.Kind != source.Map {
		l.report(n, wrongType("a test", "a map with name, events and expect", n.Describe()))
		return
	}
	l.keys(n, "a test", []string{"name", "events", "expect"}, nil)
	for _, key := range []string{"name", "events", "expect"} {
		if n.Get(key) == nil {
			l.report(n, missingKey(key, "a test", ""))
		}
	}
	t := Test{File: n.File().Name, Pos: n.Span().Start}
	t.Name, _ = l.text(n.Get("name"), "the name of a test")
	events := l.listOf(n.Get("events"))
	if len(events) > MaxTestEvents {
		l.report(events[MaxTestEvents], overLimit("the test has too many events", MaxTestEvents, "split it"))
		return
	}
	for i, e := range events {
		if ev := l.event(e, i, t.Events); ev != nil {
			t.Events = append(t.Events, ev)
		}
	}
	if len(t.Events) < len(events) {
		return // indices would not mean what they say
	}
	for _, e := range l.listOf(n.Get("expect")) {
		l.expectation(e, &t)
	}
	l.b.Tests = append(l.b.Tests, t)
}

// event reads one event in the short form of JSON Lines input, written as YAML.
func (l *loader) event(n *source.Node, i int, before []*schema.Event) *schema.Event {
	if n.Kind != source.Map {
		l.report(n, wrongType("an event", "a map", n.Describe()))
		return nil
	}
	text, bad := toJSON(nil, n)
	if bad != nil {
		l.report(bad, badValue("a value", bad.Value, "has no form in JSON", "put it in quotes, or write the number in decimal"))
		return nil
	}
	ev, err := schema.ParseEventJSON(text)
	if err != nil {
		if je, ok := errors.AsType[*schema.JSONError](err); ok {
			l.report(find(n, je.Pointer), fault(CodeTest, je.Repair, "%s", je.Problem))
		} else {
			l.report(n, fault(CodeTest, "", "%v", err))
		}
		return nil
	}
	if n.Get("vantage") == nil {
		ev.Vantage = schema.Observed
	}
	ev.Timestamp = ev.ClaimedTS
	l.order(n, ev, before)
	complete(ev, i, before)
	return ev
}

func (l *loader) order(n *source.Node, ev *schema.Event, before []*schema.Event) {
	if len(before) > 0 && ev.Timestamp < before[len(before)-1].Timestamp {
		at := n
		if ts := n.Get("ts"); ts != nil {
			at = ts
		}
		l.report(at, fault(CodeTest, "write the events in the order of their times; an event without ts stands at 0", "this event lies before the one above it"))
	}
}

// complete fills in what a test need not say.
func complete(ev *schema.Event, i int, before []*schema.Event) {
	fill := func(field *string, value string) {
		if *field == "" {
			*field = value
		}
	}
	fill(&ev.Tenant, "test")
	fill(&ev.SessionID, "s1")
	fill(&ev.ID, fmt.Sprintf("e%d", i))
	if ev.Actor == (schema.Actor{}) {
		ev.Actor.Class = schema.ClassAgent
		if ev.Kind == schema.KindResult {
			ev.Actor.Class = schema.ClassTool
		}
	}
	fill(&ev.Actor.ID, string(ev.Actor.Class))
	switch ev.Kind {
	case schema.KindCall:
		fill(&ev.CallID, fmt.Sprintf("c%d", i))
	case schema.KindResult:
		for j := len(before) - 1; j >= 0 && ev.CallID == ""; j-- {
			if before[j].Kind == schema.KindCall && (ev.Tool == "" || before[j].Tool == ev.Tool) {
				ev.CallID = before[j].CallID
			}
		}
		for _, call := range before { // a result is typed by the entry of its call's tool
			if call.Kind == schema.KindCall && call.CallID == ev.CallID {
				fill(&ev.Tool, call.Tool)
			}
		}
	case schema.KindResolution, schema.KindMessage, schema.KindGrant, schema.KindObservation, schema.KindTick,
		schema.KindPolicy, schema.KindSession, schema.KindWithdrawn:
	}
}

// toJSON appends a node as JSON; the node is returned when it has no such form.
func toJSON(out []byte, n *source.Node) ([]byte, *source.Node) {
	var bad *source.Node
	switch n.Kind {
	case source.Map:
		out = append(out, '{')
		for i, f := range n.Fields {
			if i > 0 {
				out = append(out, ',')
			}
			out = append(quoted(out, f.Key.Value), ':')
			if out, bad = toJSON(out, f.Value); bad != nil {
				return out, bad
			}
		}
		return append(out, '}'), nil
	case source.List:
		out = append(out, '[')
		for i, item := range n.Items {
			if i > 0 {
				out = append(out, ',')
			}
			if out, bad = toJSON(out, item); bad != nil {
				return out, bad
			}
		}
		return append(out, ']'), nil
	case source.Scalar:
	}
	switch n.Type {
	case source.String:
		return quoted(out, n.Value), nil
	case source.Null:
		return append(out, "null"...), nil
	case source.Bool:
		return append(out, strings.ToLower(n.Value)...), nil
	case source.Int, source.Float:
		if !json.Valid([]byte(n.Value)) {
			return out, n
		}
		return append(out, n.Value...), nil
	}
	return out, n
}

func quoted(out []byte, s string) []byte {
	b, err := json.Marshal(s) // a string always has a form
	if err != nil {
		return append(out, `""`...)
	}
	return append(out, b...)
}

// find follows a JSON pointer as far as it leads.
func find(n *source.Node, pointer string) *source.Node {
	for step := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		next := (*source.Node)(nil)
		switch n.Kind {
		case source.Map:
			name := strings.NewReplacer("~1", "/", "~0", "~").Replace(step)
			for _, f := range n.Fields {
				if f.Key.Value == name {
					next = f.Value
				}
			}
		case source.List:
			if i, err := strconv.Atoi(step); err == nil && i >= 0 && i < len(n.Items) {
				next = n.Items[i]
			}
		case source.Scalar:
		}
		if next == nil {
			return n
		}
		n = next
	}
	return n
}

// expectation reads one entry of expect.
func (l *loader) expectation(n *source.Node, t *Test) {
	if n.Kind != source.Map {
		l.report(n, wrongType("an expectation", "a map such as {at: 2, decision: refuse}", n.Describe()))
		return
	}
	l.keys(n, "an expectation", []string{"at", "decision", "reason", "clause", "value", "binding"}, nil)
	e := Expectation{Pos: n.Span().Start, At: -1}
	if at := n.Get("at"); at == nil {
		l.report(n, missingKey("at", "an expectation", "name the event by its index, from 0"))
	} else if i, ok := l.integer(at, "at"); ok {
		if i < 0 || i >= int64(len(t.Events)) || t.Events[i].Kind != schema.KindCall {
			l.report(at, badValue("at", at.Value, "is no call of this test", "count the events from 0"))
			return
		}
		e.At = int(i)
	}
	e.Decision, _ = l.choice(n.Get("decision"), "decision", "permit", "flag", "refuse", "redirect", "escalate")
	var reasons []string
	for _, r := range verdict.Reasons() {
		reasons = append(reasons, string(r))
	}
	if s, ok := l.choice(n.Get("reason"), "reason", reasons...); ok {
		e.Reason = verdict.Reason(s)
	}
	if c := n.Get("clause"); c != nil {
		e.Clause = c.Value
		if !l.ids[c.Value] {
			l.report(c, undeclared("clause", c.Value, l.clauseIDs()))
		}
	}
	if s, ok := l.choice(n.Get("value"), "value", "T", "Tp", "Fp", "F"); ok {
		if v, err := verdict.ParseValue(s); err == nil {
			e.Value = &v
		}
	}
	for _, f := range l.mapOf(n.Get("binding"), "binding") {
		if v, ok := l.constant(f.Value); ok {
			if e.Binding == nil {
				e.Binding = map[string]schema.Value{}
			}
			e.Binding[f.Key.Value] = v
		}
	}
	t.Expect = append(t.Expect, e)
}

func (l *loader) clauseIDs() []string {
	out := make([]string, 0, len(l.ids))
	for id := range l.ids {
		out = append(out, id)
	}
	return out
}
