package httpapi

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/aspis-rv/aspis/internal/obs"
	"github.com/aspis-rv/aspis/internal/service/gate"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// Problem is the answer to a request that is no call and was refused, or that broke.
type Problem struct {
	Reason  verdict.Reason `json:"reason"`
	Message string         `json:"message"`
}

// retryAfter is what a client that was told `busy` should wait, in seconds.
const retryAfter = "1"

// reply writes the one response of a request. It is owned by the request's goroutine.
type reply struct {
	http.ResponseWriter
	srv    *Server
	route  *route // nil while it is not known
	status int    // 0 until the header was written
}

// Unwrap is for http.ResponseController.
func (w *reply) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// WriteHeader notes the status.
func (w *reply) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write notes the implied status.
func (w *reply) Write(b []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	return w.ResponseWriter.Write(b)
}

// answer writes the answer to a call.
func (w *reply) answer(a *gate.Answer) {
	status := http.StatusInternalServerError
	if a != nil {
		status = answerStatus(a)
	}
	w.decided(status, sound(a))
}

func (w *reply) decided(status int, a *gate.Answer) {
	if a.Reason == verdict.Busy {
		w.Header().Set("Retry-After", retryAfter)
	}
	w.json(status, a)
}

// fail writes the answer to a request that the gate was not asked about. Where the
// route is a call, or not known, it is a decision object.
func (w *reply) fail(f *failure) {
	if w.route == nil || w.route.decides {
		w.decided(f.status, refusal(f.reason, f.message))
		return
	}
	w.json(f.status, &Problem{f.reason, f.message})
}

// problem writes the answer to a request that the gate refused or failed at.
func (w *reply) problem(r *http.Request, err error) {
	p := w.srv.asProblem(r, err)
	if p.Reason == verdict.Busy {
		w.Header().Set("Retry-After", retryAfter)
	}
	w.json(problemStatus(p.Reason), p)
}

// asProblem returns what the client is told about err: a gate.Problem in full, and
// nothing of any other error.
func (s *Server) asProblem(r *http.Request, err error) *Problem {
	if p, ok := errors.AsType[*gate.Problem](err); ok {
		return &Problem{p.Reason, p.Message}
	}
	s.log.LogAttrs(r.Context(), slog.LevelError, "request failed", obs.Err(err))
	return &Problem{verdict.NoAnswer, "the request could not be carried out; try again later"}
}

// json writes v. The bytes of raw values in it stay as they are: they are what
// digests and signatures are about.
func (w *reply) json(status int, v any) {
	body, err := marshal(v)
	if err != nil {
		w.srv.log.LogAttrs(context.Background(), slog.LevelError, "answer cannot be encoded", obs.Err(err))
		status, body = http.StatusInternalServerError, brokenAnswer()
	}
	w.body(status, typeJSON, body)
}

func marshal(v any) ([]byte, error) {
	return json.Marshal(v, jsontext.PreserveRawStrings(true), json.Deterministic(true))
}

// brokenAnswer is what is left to say when nothing else can be said.
func brokenAnswer() []byte {
	return []byte(`{"decision":"refuse","reason":"unavailable","message":"the answer could not be given"}`)
}

func (w *reply) body(status int, contentType string, body []byte) {
	h := w.Header()
	h.Set("Content-Type", contentType)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.harden()
	w.limitWrite()
	w.WriteHeader(status)
	_, _ = w.Write(body) // a client that is gone gets no answer
}

func (w *reply) harden() {
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
}

// limitWrite gives the client its time to take what is written next.
func (w *reply) limitWrite() {
	_ = http.NewResponseController(w.ResponseWriter).SetWriteDeadline(time.Now().Add(w.srv.cfg.WriteTimeout)) // not every writer has one
}
