package httpapi

import (
	"context"
	_ "embed"
	"net/http"
	"time"

	"github.com/aspis-rv/aspis/internal/service/gate"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// openapi is the description of the surface. A test holds it against the routes, the
// statuses and the Go structs.
//
//go:embed openapi.json
var openapi []byte

// Status is the answer of the probes.
type Status struct {
	// Status is ok (alive), ready, observing (ready, but answers do not enforce the
	// policy), starting, stalled (calls would be refused now) or draining.
	Status  string         `json:"status"`
	Reason  verdict.Reason `json:"reason,omitempty"`
	Message string         `json:"message,omitempty"`
}

// readyWait is how long a probe waits for a gate that is about to be ready; probes
// themselves give up after a second.
const readyWait = 100 * time.Millisecond

func (s *Server) getHealth(w *reply, _ *http.Request, _ gate.Principal) {
	w.json(http.StatusOK, &Status{Status: "ok"})
}

func (s *Server) getReady(w *reply, r *http.Request, _ gate.Principal) {
	st := s.readiness(r.Context())
	status := http.StatusOK
	if st.Reason != verdict.NotAdmitted {
		status = http.StatusServiceUnavailable
	}
	w.json(status, &st)
}

func (s *Server) readiness(ctx context.Context) Status {
	if s.draining.Err() != nil {
		return Status{"draining", verdict.NoAnswer, "the server shuts down"}
	}
	now, cancel := context.WithTimeout(ctx, readyWait)
	defer cancel()
	if err := s.cfg.Backend.Health.Ready(now); err != nil {
		return Status{"starting", verdict.NoAnswer, "the log is being read"}
	}
	if err := s.cfg.Backend.Health.Check(); err != nil {
		return Status{"stalled", verdict.NoAnswer, err.Error()}
	}
	if s.cfg.Observing != nil && s.cfg.Observing() {
		return Status{Status: "observing"}
	}
	return Status{Status: "ready"}
}

func (s *Server) getMetrics(w *reply, r *http.Request, _ gate.Principal) {
	w.harden()
	w.limitWrite()
	s.metrics.ServeHTTP(w, r)
}

func (s *Server) getOpenAPI(w *reply, _ *http.Request, _ gate.Principal) {
	w.body(http.StatusOK, typeJSON, openapi)
}
