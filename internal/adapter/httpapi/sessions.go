package httpapi

import (
	"net/http"

	"github.com/aspis-rv/aspis/internal/service/gate"
)

// sessionBody is the optional body of POST /v1/sessions.
type sessionBody struct {
	Labels map[string]string `json:"labels"`
}

// emptyBody is the body of requests that need none.
type emptyBody struct{}

func (s *Server) postSession(w *reply, r *http.Request, who gate.Principal) {
	var b sessionBody
	if f := s.into(r, w, &b, true); f != nil {
		w.fail(f)
		return
	}
	receipt, err := s.cfg.Backend.Sessions.OpenSession(r.Context(), who, b.Labels)
	w.receipt(r, receipt, err)
}

func (s *Server) postSessionEnd(w *reply, r *http.Request, who gate.Principal) {
	if f := s.into(r, w, &emptyBody{}, true); f != nil {
		w.fail(f)
		return
	}
	receipt, err := s.cfg.Backend.Sessions.EndSession(r.Context(), who, r.PathValue("id"))
	w.receipt(r, receipt, err)
}

func (s *Server) getSession(w *reply, r *http.Request, who gate.Principal) {
	if f := query(r, nil); f != nil {
		w.fail(f)
		return
	}
	view, err := s.cfg.Backend.Sessions.Session(r.Context(), who, r.PathValue("id"))
	if err != nil {
		w.problem(r, err)
		return
	}
	w.json(http.StatusOK, view)
}

func (w *reply) receipt(r *http.Request, receipt gate.Receipt, err error) {
	if err != nil {
		w.problem(r, err)
		return
	}
	w.json(http.StatusOK, receipt)
}
