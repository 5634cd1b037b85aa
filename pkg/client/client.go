// Package client talks to a gate over HTTP. A call that is not answered with a
// permit must not be executed, whatever the error; Decision.Permitted says so in one
// place.
package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// ErrProtocol is wrapped when a gate's answer is not one that this client
// understands.
var ErrProtocol = errors.New("client: not an answer of a gate")

// Client is a connection to one gate under one credential. Safe for concurrent use.
type Client struct {
	base  string
	token string
	http  *http.Client
}

// New returns a client of the gate at base, such as http://127.0.0.1:8473. A nil hc
// uses a client of its own with keep-alive.
func New(base, token string, hc *http.Client) *Client {
	if hc == nil {
		hc = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 256, IdleConnTimeout: time.Minute}}
	}
	return &Client{base: strings.TrimRight(base, "/"), token: token, http: hc}
}

// Call is an intended tool call.
type Call struct {
	Session    string            `json:"session"`
	Tool       string            `json:"tool"`
	Server     string            `json:"server,omitempty"`
	Args       json.RawMessage   `json:"args,omitempty"`
	CallID     string            `json:"call_id,omitempty"`
	DeadlineMS int64             `json:"deadline_ms,omitempty"`
	Labels     map[string]string `json:"labels,omitempty"`
}

// Decision is the gate's answer to a call.
type Decision struct {
	Decision string          `json:"decision"`
	Reason   string          `json:"reason"`
	Clause   string          `json:"clause"`
	Message  string          `json:"message"`
	CallID   string          `json:"call_id"`
	Args     json.RawMessage `json:"args"`
	Digest   string          `json:"digest"`
	Position string          `json:"position"`
	Permit   json.RawMessage `json:"permit"`
	// Status is the HTTP status of the answer.
	Status int `json:"-"`
}

// Permitted reports whether the call may be executed.
func (d *Decision) Permitted() bool { return d != nil && d.Decision == "permit" }

// Retry reports whether the same intent may succeed when it is proposed again under
// a new call id: nothing was decided about it.
func (d *Decision) Retry() bool {
	switch d.Reason {
	case "late", "unavailable", "busy", "unrecorded":
		return !d.Permitted()
	}
	return false
}

// Problem is a gate's refusal of anything but a call.
type Problem struct { //nolint:errname // the field has this name for it (RFC 9457)
	Status  int    `json:"-"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

// Error returns the reason class and the message.
func (p *Problem) Error() string { return fmt.Sprintf("gate: %s: %s", p.Reason, p.Message) }

// Propose proposes a call and waits for the decision. A decision is returned for
// every answer that carries one, also those of broken gates; an error means that
// there was none.
func (c *Client) Propose(ctx context.Context, call Call) (*Decision, error) {
	status, body, err := c.do(ctx, http.MethodPost, "/v1/calls", call)
	if err != nil {
		return nil, err
	}
	var d Decision
	if err := json.Unmarshal(body, &d); err != nil || d.Decision == "" {
		return nil, fmt.Errorf("%w: status %d", ErrProtocol, status)
	}
	d.Status = status
	return &d, nil
}

// OpenSession returns the id of a new session of the client's principal.
func (c *Client) OpenSession(ctx context.Context) (string, error) {
	var out struct {
		Session string `json:"session"`
	}
	if err := c.post(ctx, "/v1/sessions", struct{}{}, &out); err != nil {
		return "", err
	}
	if out.Session == "" {
		return "", ErrProtocol
	}
	return out.Session, nil
}

// EndSession ends a session.
func (c *Client) EndSession(ctx context.Context, session string) error {
	return c.post(ctx, "/v1/sessions/"+url.PathEscape(session)+"/end", struct{}{}, nil)
}

// Result is the outcome of a permitted call.
type Result struct {
	Session string          `json:"session"`
	CallID  string          `json:"call_id"`
	Status  string          `json:"status,omitempty"` // ok (default), error, unknown
	Result  json.RawMessage `json:"result,omitempty"`
}

// PostResult records the outcome of a permitted call, of the client's own session or, for a
// principal of class tool or env, of another one: only that makes values known.
func (c *Client) PostResult(ctx context.Context, r Result) error {
	return c.post(ctx, "/v1/results", r, nil)
}

// Message is a message of the conversation.
type Message struct {
	Session string `json:"session"`
	Kind    string `json:"kind"` // message (default) or observation
	Role    string `json:"role,omitempty"`
	Text    string `json:"text"`
}

// PostMessage records a message in the client's own session or, for a principal that is no
// agent, in another one.
func (c *Client) PostMessage(ctx context.Context, m Message) error {
	if m.Kind == "" {
		m.Kind = "message"
	}
	return c.post(ctx, "/v1/events", m, nil)
}

// Grant is an authority's act, named by a tool of the policy.
type Grant struct {
	Session string          `json:"session"`
	Tool    string          `json:"tool"`
	Args    json.RawMessage `json:"args,omitempty"`
}

// PostGrant records an authority's act; the client's principal must be an authority.
func (c *Client) PostGrant(ctx context.Context, g Grant) error {
	return c.post(ctx, "/v1/grants", g, nil)
}

// Ready returns nil when the gate can decide calls.
func (c *Client) Ready(ctx context.Context) error {
	status, body, err := c.do(ctx, http.MethodGet, "/readyz", nil)
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("client: gate not ready: %s", bytes.TrimSpace(body))
	}
	return err
}

func (c *Client) post(ctx context.Context, path string, in, out any) error {
	status, body, err := c.do(ctx, http.MethodPost, path, in)
	if err != nil {
		return err
	}
	if status >= http.StatusBadRequest {
		p := &Problem{Status: status}
		if json.Unmarshal(body, p) != nil || p.Reason == "" {
			return fmt.Errorf("%w: status %d", ErrProtocol, status)
		}
		return p
	}
	if out == nil {
		return nil
	}
	if err := json.Unmarshal(body, out); err != nil {
		return fmt.Errorf("%w: %w", ErrProtocol, err)
	}
	return nil
}

// maxAnswer bounds what is read of an answer: canonical arguments of the largest
// call and room for the rest.
const maxAnswer = 4 << 20

func (c *Client) do(ctx context.Context, method, path string, in any) (int, []byte, error) {
	var body io.Reader
	if in != nil {
		b, err := json.Marshal(in)
		if err != nil {
			return 0, nil, fmt.Errorf("client: %w", err)
		}
		body = bytes.NewReader(b)
	}
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, body)
	if err != nil {
		return 0, nil, fmt.Errorf("client: %w", err)
	}
	req.Header.Set("Authorization", "Bearer "+c.token)
	if in != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return 0, nil, fmt.Errorf("client: %w", err)
	}
	defer resp.Body.Close() //nolint:errcheck // read to the end or given up
	b, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return 0, nil, fmt.Errorf("client: %w", err)
	}
	return resp.StatusCode, b, nil
}
