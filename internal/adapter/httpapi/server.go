package httpapi

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"path"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/aspis-rv/aspis/internal/obs"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// Server is the surface. It is an http.Handler, safe for concurrent use.
type Server struct {
	cfg     Config
	log     *slog.Logger
	decoder decoder
	mux     *http.ServeMux
	hosts   []string
	origins *http.CrossOriginProtection
	metrics http.Handler

	draining context.Context    //nolint:containedctx // ends at the orderly end of Serve; requests look at it
	drain    context.CancelFunc // begins the orderly end
	inFlight sync.WaitGroup
}

var _ http.Handler = (*Server)(nil)

// New returns a server.
func New(cfg Config) (*Server, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	cfg.complete()
	s := &Server{
		cfg: cfg, log: obs.Logger(cfg.Logger), decoder: newDecoder(), hosts: loopbackHosts(),
		origins: http.NewCrossOriginProtection(),
		metrics: promhttp.HandlerFor(cfg.Gatherer, promhttp.HandlerOpts{EnableOpenMetrics: true}),
	}
	for _, h := range cfg.Hosts {
		s.hosts = append(s.hosts, strings.TrimSuffix(strings.ToLower(h), "."))
	}
	for _, o := range cfg.Origins {
		if err := s.origins.AddTrustedOrigin(o); err != nil {
			return nil, fmt.Errorf("httpapi: Origins: %w", err)
		}
	}
	s.draining, s.drain = context.WithCancel(context.Background())
	s.mux = s.newMux()
	return s, nil
}

// ServeHTTP answers one request. A panic of a handler is answered as a refusal.
func (s *Server) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	s.inFlight.Add(1)
	defer s.inFlight.Done()
	start := time.Now()
	w := &reply{ResponseWriter: out, srv: s}
	defer func() {
		if p := recover(); p != nil {
			s.panicked(w, r, p)
		}
		s.cfg.Metrics.served(w, time.Since(start))
	}()
	if f := s.admit(r); f != nil {
		w.fail(f)
		return
	}
	s.mux.ServeHTTP(w, r)
}

// admit refuses what no client of ours sends.
func (s *Server) admit(r *http.Request) *failure {
	if !isProbe(r.URL.Path) && !overSocket(r) && !s.hostAllowed(r) {
		return &failure{http.StatusForbidden, verdict.Invalid, "Host: this server does not go by that name; use a loopback name, or have it configured"}
	}
	if err := s.origins.Check(r); err != nil {
		return &failure{http.StatusForbidden, verdict.Invalid, "Origin: pages of other sites may not send this request"}
	}
	if r.URL.Path != path.Clean(r.URL.Path) || r.Method == http.MethodConnect {
		return &failure{http.StatusNotFound, verdict.Invalid, "there is nothing at this path; GET /v1/openapi.json lists what there is"}
	}
	return nil
}

// isProbe reports whether a path is that of a probe, which orchestrators address by
// whatever name they like; it says nothing and changes nothing.
func isProbe(path string) bool { return path == "/healthz" || path == "/readyz" }

// overSocket reports whether a request came over a Unix socket, where names mean
// nothing and no page can connect.
func overSocket(r *http.Request) bool {
	_, ok := r.Context().Value(http.LocalAddrContextKey).(*net.UnixAddr)
	return ok
}

func (s *Server) panicked(w *reply, r *http.Request, p any) {
	if p == http.ErrAbortHandler { //nolint:errorlint,err113 // the documented comparison
		panic(p)
	}
	s.cfg.Metrics.panicked()
	s.log.LogAttrs(r.Context(), slog.LevelError, "handler panicked", obs.Detail(fmt.Sprintf("%.200q", fmt.Sprint(p))), obs.Detail(string(debug.Stack())))
	if w.status != 0 {
		panic(http.ErrAbortHandler) // part of an answer is out: break the connection off
	}
	w.decided(http.StatusInternalServerError, refusal(verdict.NoAnswer, "the server failed at this request"))
}

// Serve answers requests on ln until ctx ends. Then it takes no new connections, lets
// pending requests finish within Drain, breaks off what is left, and returns when all
// of its goroutines have. The gate has to go on running until then. It closes ln. The
// error is nil after an orderly end, and says what broke otherwise. A Server serves
// once.
func (s *Server) Serve(ctx context.Context, ln net.Listener) error {
	srv := s.httpServer()
	failed := make(chan error, 1)
	go func() { failed <- s.serveOn(srv, ln) }()
	s.log.LogAttrs(ctx, slog.LevelInfo, "listening", obs.Address(ln.Addr().String()))
	var broken error
	select {
	case broken = <-failed:
		failed <- broken
	case <-ctx.Done():
	}
	s.drain()
	pending := s.shutdown(ctx, srv)
	if broken = <-failed; errors.Is(broken, http.ErrServerClosed) {
		broken = nil // by us
	}
	_ = ln.Close() // closed already, unless the server could not begin
	s.inFlight.Wait()
	s.log.LogAttrs(ctx, slog.LevelInfo, "stopped listening", obs.Address(ln.Addr().String()))
	return errors.Join(broken, pending)
}

func (s *Server) serveOn(srv *http.Server, ln net.Listener) error {
	if s.cfg.TLS != nil {
		return fmt.Errorf("httpapi: %w", srv.ServeTLS(ln, "", ""))
	}
	return fmt.Errorf("httpapi: %w", srv.Serve(ln))
}

// shutdown ends srv within Drain; requests pending then are broken off.
func (s *Server) shutdown(ctx context.Context, srv *http.Server) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.cfg.Drain)
	defer cancel()
	err := srv.Shutdown(ctx)
	if err == nil {
		return nil
	}
	return errors.Join(fmt.Errorf("httpapi: requests were still pending after %s: %w", s.cfg.Drain, err), srv.Close())
}

func (s *Server) httpServer() *http.Server {
	return &http.Server{
		Handler: s, TLSConfig: s.cfg.TLS, ErrorLog: slog.NewLogLogger(s.log.Handler(), slog.LevelWarn),
		ReadTimeout: s.cfg.ReadTimeout, ReadHeaderTimeout: min(readHeaderTimeout, s.cfg.ReadTimeout),
		WriteTimeout: longestResponse, IdleTimeout: idleTimeout, MaxHeaderBytes: MaxHeaderBytes,
	}
}
