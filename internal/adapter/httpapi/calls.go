package httpapi

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/aspis-rv/aspis/internal/service/gate"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// callBody is the body of POST /v1/calls.
type callBody struct {
	Session    string            `json:"session"`
	Tool       string            `json:"tool"`
	Server     string            `json:"server"`
	Args       jsontext.Value    `json:"args"`
	Raw        *string           `json:"raw"`
	CallID     string            `json:"call_id"`
	DeadlineMS *int64            `json:"deadline_ms"`
	Labels     map[string]string `json:"labels"`
}

func (s *Server) postCall(w *reply, r *http.Request, who gate.Principal) {
	var b callBody
	if f := s.into(r, w, &b, false); f != nil {
		w.fail(f)
		return
	}
	req, err := b.request()
	if err != nil {
		w.fail(malformed(err))
		return
	}
	w.answer(s.cfg.Backend.Caller.Call(r.Context(), who, req))
}

func (b *callBody) request() (gate.CallRequest, error) {
	req := gate.CallRequest{
		Session: b.Session, Tool: b.Tool, Server: b.Server, CallID: b.CallID, Labels: b.Labels,
	}
	if b.Session == "" {
		return req, errNoSession
	}
	if b.Tool == "" {
		return req, errors.New("tool is missing; name the tool that is to be called")
	}
	if b.DeadlineMS != nil {
		ms := *b.DeadlineMS
		if ms < 1 || ms > schema.MaxTimeout/int64(time.Millisecond) {
			return req, errors.New("deadline_ms is out of range; leave it out for the policy's own deadline")
		}
		req.Deadline = time.Duration(ms) * time.Millisecond
	}
	var err error
	req.Args, err = arguments(b.Args, b.Raw)
	return req, err
}

// errNoSession is the error about a missing session.
var errNoSession = errors.New("session is missing; open one with POST /v1/sessions")

// arguments returns the arguments of a call as JSON text, or nil when there are
// none. raw is the text as the model wrote it; when args is there too, both must be
// one value. Text that is no JSON object never becomes an empty one.
func arguments(args jsontext.Value, raw *string) ([]byte, error) {
	if err := object("args", args); err != nil || raw == nil {
		return args, err
	}
	text, err := schema.Canonical([]byte(*raw))
	if err != nil {
		return nil, fmt.Errorf("raw: %w", err)
	}
	if err := object("raw", text); err != nil || args == nil {
		return text, err
	}
	canon, err := schema.Canonical(args)
	if err != nil {
		return nil, fmt.Errorf("args: %w", err)
	}
	if !bytes.Equal(canon, text) {
		return nil, errors.New("args and raw are different values; send what the model wrote as raw, and args only when it is the same")
	}
	return canon, nil
}

// object checks that a JSON text that is there begins as an object.
func object(what string, text []byte) error {
	if len(text) > 0 && text[0] != '{' {
		return fmt.Errorf("%s is no JSON object; arguments are an object with a member for each parameter", what)
	}
	return nil
}
