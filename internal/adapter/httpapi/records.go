package httpapi

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/aspis-rv/aspis/internal/service/gate"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// resultBody is the body of POST /v1/results.
type resultBody struct {
	Session string         `json:"session"`
	CallID  string         `json:"call_id"`
	Status  *string        `json:"status"`
	Result  jsontext.Value `json:"result"`
}

func (s *Server) postResult(w *reply, r *http.Request, who gate.Principal) {
	var b resultBody
	if f := s.into(r, w, &b, false); f != nil {
		w.fail(f)
		return
	}
	req, err := b.request()
	if err != nil {
		w.fail(malformed(err))
		return
	}
	receipt, err := s.cfg.Backend.Caller.Result(r.Context(), who, req)
	w.receipt(r, receipt, err)
}

func (b *resultBody) request() (gate.ResultRequest, error) {
	req := gate.ResultRequest{Session: b.Session, CallID: b.CallID, Result: b.Result}
	switch {
	case b.Session == "":
		return req, errNoSession
	case b.CallID == "":
		return req, errors.New("call_id is missing; name the call whose outcome this is")
	case b.Status == nil:
		return req, nil // ok
	}
	status, err := schema.ParseResultStatus(*b.Status)
	if err != nil {
		return req, fmt.Errorf("status %q is none of ok, error, unknown", clip(*b.Status))
	}
	req.Status = status
	return req, nil
}

// grantBody is the body of POST /v1/grants.
type grantBody struct {
	Session string         `json:"session"`
	Tool    string         `json:"tool"`
	Args    jsontext.Value `json:"args"`
	Revokes string         `json:"revokes"`
}

func (s *Server) postGrant(w *reply, r *http.Request, who gate.Principal) {
	var b grantBody
	if f := s.into(r, w, &b, false); f != nil {
		w.fail(f)
		return
	}
	req := gate.GrantRequest{Session: b.Session, Tool: b.Tool, Args: b.Args, Revokes: b.Revokes}
	if err := b.check(); err != nil {
		w.fail(malformed(err))
		return
	}
	receipt, err := s.cfg.Backend.Recorder.Grant(r.Context(), who, req)
	w.receipt(r, receipt, err)
}

func (b *grantBody) check() error {
	switch {
	case b.Session == "":
		return errors.New("session is missing; name the session that the grant is for")
	case b.Tool == "":
		return errors.New("tool is missing; name the authority's act as the policy does")
	}
	return object("args", b.Args)
}

// clip shortens foreign text for a message that quotes it.
func clip(s string) string {
	const most = 40
	if len(s) > most {
		return s[:most] + "…"
	}
	return s
}
