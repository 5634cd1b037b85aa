package httpapi

import (
	"bytes"
	"context"
	"crypto/ed25519"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/aspis-rv/aspis/internal/bus"
	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// later sends a request on a goroutine of its own.
func (p *pipeline) later(ctx context.Context, q request) <-chan response {
	out := make(chan response, 1)
	go func() {
		r, err := p.send(ctx, q)
		if err != nil {
			r.body = err.Error()
		}
		out <- r
	}()
	return out
}

// until waits for a condition that comes by itself.
func (p *pipeline) until(what string, met func() bool) {
	p.t.Helper()
	for !met() {
		if p.ctx.Err() != nil {
			p.t.Fatalf("%s: does not come", what)
		}
		time.Sleep(time.Millisecond)
	}
}

// pending waits until n requests wait in the gate for the answer to one call.
func (p *pipeline) pending(n int64) {
	p.t.Helper()
	p.until("a call in the log", func() bool { return len(p.records(schema.KindCall)) == 1 })
	p.until("the requests in the gate", func() bool { return p.caller.entered.Load()-p.caller.left.Load() == n })
}

// TestRepeatWaitsForTheSameAnswer proposes one call three times while it is pending:
// all get the one answer, and there is one call in the log.
func TestRepeatWaitsForTheSameAnswer(t *testing.T) {
	p := newPipeline(t)
	session := p.session(agentToken)
	q := post("/v1/calls", callText(session, "get_time", `,"call_id":"c1","deadline_ms":20000`))
	answers := []<-chan response{p.later(p.ctx, q), p.later(p.ctx, q), p.later(p.ctx, q)}
	p.pending(3)
	other := p.call(session, "get_time", `,"call_id":"c1","args":{"zone":"UTC"}`)
	if other.status != http.StatusBadRequest || other.answer.Reason != verdict.Invalid {
		t.Errorf("the pending id with other arguments: %d %s", other.status, other.body)
	}
	p.start()
	first := <-answers[0]
	if first.answer.Decision != "permit" {
		t.Fatalf("%d %s", first.status, first.body)
	}
	for _, a := range answers[1:] {
		if r := <-a; r.body != first.body {
			t.Errorf("another answer:\n%s\n%s", r.body, first.body)
		}
	}
	if again := p.post(q); again.status != http.StatusBadRequest || !strings.Contains(again.answer.Message, "already issued") {
		t.Errorf("a repeat after the answer: %d %s", again.status, again.body)
	}
	if n := len(p.records(schema.KindResolution)); n != 1 {
		t.Errorf("%d resolutions, want 1", n)
	}
}

// TestAnswerOutlivesTheConnection breaks the connection of a pending call off and asks
// again.
func TestAnswerOutlivesTheConnection(t *testing.T) {
	p := newPipeline(t)
	session := p.session(agentToken)
	q := post("/v1/calls", callText(session, "get_time", `,"call_id":"c1","deadline_ms":20000`))
	ctx, cancel := context.WithCancel(p.ctx)
	gone := p.later(ctx, q)
	p.pending(1)
	cancel()
	<-gone
	p.pending(0)
	again := p.later(p.ctx, q)
	p.pending(1)
	p.start()
	if r := <-again; r.answer.Decision != "permit" || r.answer.CallID != "c1" {
		t.Errorf("%d %s", r.status, r.body)
	}
	if n := len(p.records(schema.KindCall)); n != 1 {
		t.Errorf("%d calls in the log, want 1", n)
	}
}

// TestPermitIsVerifiable checks the signature over the statement's bytes as they
// arrive, and that the arguments to run are the canonical ones, to the byte.
func TestPermitIsVerifiable(t *testing.T) {
	p := newPipeline(t).start()
	session := p.session(agentToken)
	const args = `{"b":10000000000000000001, "a":"<\u0026> \u2028 é", "c":1.50}`
	const canonical = "{\"a\":\"<&> \u2028 é\",\"b\":10000000000000000001,\"c\":1.5}"
	r := p.call(session, "get_time", `,"call_id":"<&>","server":"srv&1","args":`+args)
	if r.answer.Decision != "permit" {
		t.Fatalf("%d %s", r.status, r.body)
	}
	got := member(t, r.body, "args")
	if got != canonical {
		t.Errorf("arguments\n%s\nwant\n%s", got, canonical)
	}
	statement := member(t, member(t, r.body, "permit"), "statement")
	if !ed25519.Verify(p.key, []byte(statement), r.answer.Permit.Signature) {
		t.Errorf("the signature does not fit the statement %s", statement)
	}
	canon, err := schema.Canonical([]byte(statement))
	if err != nil || string(canon) != statement {
		t.Errorf("the statement is not canonical: %s", statement)
	}
	var st map[string]any
	if err := stdjson.Unmarshal([]byte(statement), &st); err != nil {
		t.Fatal(err)
	}
	if st["digest"] != r.answer.Digest || st["principal"] != "agent-1" || st["tenant"] != "acme" || st["aud"] != "srv&1" || st["call"] != "<&>" {
		t.Errorf("statement %s", statement)
	}
}

// member returns the bytes of a member of a JSON object, as they stand.
func member(t *testing.T, object, name string) string {
	t.Helper()
	dec := jsontext.NewDecoder(bytes.NewBufferString(object))
	if _, err := dec.ReadToken(); err != nil {
		t.Fatal(err)
	}
	for {
		key, err := dec.ReadToken()
		if err != nil {
			t.Fatalf("no member %s in %s: %v", name, object, err)
		}
		found := key.String() == name
		value, err := dec.ReadValue()
		if err != nil {
			t.Fatal(err)
		}
		if found {
			return string(value)
		}
	}
}

// TestRawAndArgsAreOneCall sends the same arguments in each form under one id.
func TestRawAndArgsAreOneCall(t *testing.T) {
	p := newPipeline(t).start()
	session := p.session(agentToken)
	forms := []string{
		`,"args":{"n": 2, "m": {"x":1e2}}`,
		`,"raw":"{\"m\":{\"x\":100},\"n\":2.0}"`,
		`,"args":{"m":{"x":100.0},"n":2},"raw":" {\"n\":2,\"m\":{\"x\":100}} "`,
	}
	digests := map[string]bool{}
	for _, form := range forms {
		r := p.call(session, "get_time", form)
		if r.answer.Decision != "permit" || string(r.answer.Args) != `{"m":{"x":100},"n":2}` {
			t.Errorf("%s: %d %s", form, r.status, r.body)
		}
		digests[r.answer.Digest] = true
	}
	if len(digests) != 1 {
		t.Errorf("%d digests of one call", len(digests))
	}
}

// TestBrokenIsNotRefused takes one part of the deployment away at a time.
func TestBrokenIsNotRefused(t *testing.T) {
	t.Run("aspect down", func(t *testing.T) {
		p := newPipeline(t)
		session := p.session(agentToken)
		r := p.call(session, "get_time", `,"deadline_ms":300`)
		if r.status != http.StatusServiceUnavailable || r.answer.Reason != verdict.NoAnswer {
			t.Errorf("%d %s", r.status, r.body)
		}
	})
	t.Run("log not writable", func(t *testing.T) {
		p := newPipeline(t).start()
		session := p.session(agentToken)
		for _, fault := range []struct {
			err    error
			status int
			reason verdict.Reason
		}{
			{fmt.Errorf("%w: test", bus.ErrUnavailable), 503, verdict.Unrecorded},
			{fmt.Errorf("%w: test", bus.ErrFull), 429, verdict.Busy},
		} {
			p.fault.set(fault.err)
			r := p.call(session, "get_time", "")
			if r.status != fault.status || r.answer.Decision != "refuse" || r.answer.Reason != fault.reason {
				t.Errorf("%v: %d %s", fault.err, r.status, r.body)
			}
			e := p.post(post("/v1/events", `{"session":"`+session+`","text":"hi"}`))
			if e.status != fault.status || !strings.HasPrefix(e.body, `{"reason":"`+string(fault.reason)+`"`) {
				t.Errorf("event, %v: %d %s", fault.err, e.status, e.body)
			}
			p.fault.set(nil)
		}
	})
	t.Run("no clock", func(t *testing.T) {
		p := newPipeline(t).start()
		session := p.session(agentToken)
		p.fault.set(errors.New("nothing can be written"))
		time.Sleep(2200 * time.Millisecond) // beyond the skew that the rules allow
		r := p.call(session, "get_time", "")
		if r.status != http.StatusServiceUnavailable || r.answer.Reason != verdict.NoAnswer {
			t.Errorf("%d %s", r.status, r.body)
		}
		ready := p.post(request{path: "/readyz", token: "-"})
		if ready.status != http.StatusServiceUnavailable || !strings.Contains(ready.body, `"status":"stalled"`) {
			t.Errorf("readyz: %d %s", ready.status, ready.body)
		}
		p.fault.set(nil)
	})
}

// TestSessionOfWork walks through what a harness, a user and an operator do.
func TestSessionOfWork(t *testing.T) {
	p := newPipeline(t).start()
	session := p.session(agentToken)
	export := `,"call_id":"e1","args":{"object":"r1","to":"archive"}`
	grant := func(token string) response {
		q := post("/v1/grants", `{"session":"`+session+`","tool":"give_consent","args":{"object":"r1"}}`)
		q.token = token
		return p.post(q)
	}
	if r := grant(agentToken); r.status != http.StatusForbidden || r.answer.Reason != verdict.Violation {
		t.Errorf("a grant by the agent itself: %d %s", r.status, r.body)
	}
	if r := grant("foreign-token-0123456789"); r.status/100 != 4 {
		t.Errorf("a grant from another tenant: %d %s", r.status, r.body)
	}
	if r := p.call(session, "export_record", export); r.answer.Decision != "permit" {
		t.Errorf("an export within the house: %d %s", r.status, r.body)
	}
	if r := p.call(session, "export_record", `,"args":{"object":"r1","to":"partner"}`); r.answer.Clause != "C1" || r.status != http.StatusOK {
		t.Errorf("an export without consent: %d %s", r.status, r.body)
	}
	if r := grant(userToken); r.status != http.StatusOK {
		t.Errorf("a grant by the user: %d %s", r.status, r.body)
	}
	if r := p.call(session, "export_record", `,"args":{"object":"r1","to":"partner"}`); r.answer.Decision != "permit" {
		t.Errorf("an export under consent: %d %s", r.status, r.body)
	}
	result := `{"session":"` + session + `","call_id":"e1","status":"ok","result":{"stored":true,"object":"r1"}}`
	if r := p.post(post("/v1/results", result)); r.status != http.StatusOK {
		t.Errorf("the result: %d %s", r.status, r.body)
	}
	view := p.post(request{path: "/v1/sessions/" + session})
	if view.status != http.StatusOK || !strings.Contains(view.body, `"calls":{"done":1,"permitted":1,"refused":1}`) {
		t.Errorf("the session: %d %s", view.status, view.body)
	}
	list := p.post(request{path: "/v1/decisions?limit=2&session=" + session})
	if n := strings.Count(list.body, `"decision":"permit"`) + strings.Count(list.body, `"decision":"refuse"`); list.status != http.StatusOK || n != 2 {
		t.Errorf("the decisions: %d %s", list.status, list.body)
	}
	if r := p.post(request{path: "/v1/decisions?session=" + session, token: "foreign-token-0123456789"}); r.status != http.StatusBadRequest {
		t.Errorf("the decisions for another tenant: %d %s", r.status, r.body)
	}
	if r := p.post(post("/v1/results", result)); r.status != http.StatusForbidden || r.answer.Reason != verdict.Violation {
		t.Errorf("a second result: %d %s", r.status, r.body)
	}
	if r := p.call(session, "get_time", ""); r.answer.Decision != "refuse" || r.answer.Reason != verdict.Violation {
		t.Errorf("a call after an integrity violation: %d %s", r.status, r.body)
	}
}
