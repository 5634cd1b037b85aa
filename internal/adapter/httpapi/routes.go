package httpapi

import (
	"net/http"
	"slices"
	"strings"

	"github.com/aspis-rv/aspis/internal/service/gate"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// handler answers an authenticated request; who is zero on open routes.
type handler func(w *reply, r *http.Request, who gate.Principal)

// route is one method of one path.
type route struct {
	method, path string
	serve        handler
	open         bool // needs no credential
	decides      bool // is answered with a decision object in every case
}

func (s *Server) routes() []*route {
	const get, post = http.MethodGet, http.MethodPost
	return []*route{
		{method: post, path: "/v1/sessions", serve: s.postSession},
		{method: get, path: "/v1/sessions/{id}", serve: s.getSession},
		{method: post, path: "/v1/sessions/{id}/end", serve: s.postSessionEnd},
		{method: post, path: "/v1/calls", serve: s.postCall, decides: true},
		{method: post, path: "/v1/results", serve: s.postResult},
		{method: post, path: "/v1/events", serve: s.postEvents},
		{method: post, path: "/v1/grants", serve: s.postGrant},
		{method: get, path: "/v1/decisions", serve: s.getDecisions},
		{method: get, path: "/v1/openapi.json", serve: s.getOpenAPI, open: true},
		{method: get, path: "/healthz", serve: s.getHealth, open: true},
		{method: get, path: "/readyz", serve: s.getReady, open: true},
		{method: get, path: "/metrics", serve: s.getMetrics, open: true},
	}
}

// newMux routes by path alone: that a method is wrong is ours to say.
func (s *Server) newMux() *http.ServeMux {
	mux := http.NewServeMux()
	for _, rt := range s.routes() {
		mux.HandleFunc(rt.path, func(w http.ResponseWriter, r *http.Request) { s.serve(w.(*reply), r, rt) }) //nolint:forcetypeassert // ServeHTTP passes nothing else
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		w.(*reply).fail(&failure{http.StatusNotFound, verdict.Invalid, "there is nothing at this path; GET /v1/openapi.json lists what there is"}) //nolint:forcetypeassert // see above
	})
	return mux
}

func (s *Server) serve(w *reply, r *http.Request, rt *route) {
	w.route = rt
	if r.Method != rt.method && (r.Method != http.MethodHead || rt.method != http.MethodGet) {
		w.Header().Set("Allow", allowed(rt))
		w.fail(&failure{http.StatusMethodNotAllowed, verdict.Invalid, "this path wants " + rt.method})
		return
	}
	var who gate.Principal
	if !rt.open {
		var ok bool
		if who, ok = s.cfg.Auth.Authenticate(r); !ok {
			s.cfg.Metrics.unauthenticated()
			w.Header().Set("WWW-Authenticate", "Bearer")
			w.fail(&failure{http.StatusUnauthorized, verdict.Invalid, "a valid credential is needed"})
			return
		}
	}
	rt.serve(w, r, who)
}

func allowed(rt *route) string {
	if rt.method == http.MethodGet {
		return "GET, HEAD"
	}
	return rt.method
}

// hostAllowed reports whether the Host header names this server. It guards against
// DNS rebinding: a page of a foreign site whose name resolves to this address.
func (s *Server) hostAllowed(r *http.Request) bool {
	name := hostName(r.Host)
	return slices.Contains(s.hosts, strings.TrimSuffix(strings.ToLower(name), "."))
}

// hostName cuts the port and the brackets of an IPv6 address off.
func hostName(host string) string {
	if rest, ok := strings.CutPrefix(host, "["); ok {
		name, _, _ := strings.Cut(rest, "]")
		return name
	}
	if i := strings.LastIndexByte(host, ':'); i >= 0 {
		return host[:i]
	}
	return host
}

// loopbackHosts are the names that only ever mean this machine.
func loopbackHosts() []string { return []string{"localhost", "127.0.0.1", "::1"} }
