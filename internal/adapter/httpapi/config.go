package httpapi

import (
	"crypto/tls"
	"errors"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/aspis-rv/aspis/pkg/schema"
)

// The defaults of Config.
const (
	// DefaultMaxBody holds a call whose arguments are at their limit of
	// schema.MaxJSON, sent as an object or as a JSON string in which every second
	// character needs an escape.
	DefaultMaxBody = 2 * schema.MaxJSON
	// DefaultReadTimeout is the time for one request to arrive. A body at its limit
	// then needs about 1 Mbit/s.
	DefaultReadTimeout = 10 * time.Second
	// DefaultWriteTimeout is the time for one response to be taken off our hands.
	DefaultWriteTimeout = 10 * time.Second
	// DefaultStreamIdle is the longest silence of an event stream.
	DefaultStreamIdle = 2 * time.Minute
	// DefaultDrain is the time that pending requests get at an orderly end: the
	// longest deadline a gate accepts, and a little to write the answer.
	DefaultDrain = 2*time.Minute + 5*time.Second
)

// The limits of a request.
const (
	// MaxBatch is the number of events of one batch. They are written one after
	// another, a millisecond or two each on a replicated log, and the client waits.
	MaxBatch = 1000
	// MaxNesting is how deep objects and arrays of a body may nest: arguments at their
	// own limit inside the envelope.
	MaxNesting = schema.MaxJSONDepth + 1
	// MaxHeaderBytes bounds request line and headers. A bearer token and what proxies
	// add stay far below.
	MaxHeaderBytes = 16 << 10
)

// The time-outs that nobody needs to choose.
const (
	readHeaderTimeout = 5 * time.Second // for a client that connects and says nothing
	idleTimeout       = 2 * time.Minute // between two requests of one connection
	// longestResponse outlasts the longest deadline of a call; each response sets a
	// closer limit when it is written.
	longestResponse = 10 * time.Minute
)

// Config is what a Server needs.
type Config struct {
	Backend Backend
	// Auth derives principals. There is no anonymous access to anything but the
	// probes, the metrics and the description of the surface.
	Auth Authenticator
	// Hosts lists the names under which clients may address the server, without port,
	// besides the loopback names. A browser that was tricked into resolving a foreign
	// name to this address is refused. Unix sockets need none.
	Hosts []string
	// Origins lists origins ("https://console.example.org") whose browser pages may
	// send requests that change something, besides the server's own.
	Origins []string
	// MaxBody bounds a request body, and a line of a stream, in bytes; 0 means
	// DefaultMaxBody. A larger one is answered 413.
	MaxBody int
	// ReadTimeout, WriteTimeout, StreamIdle and Drain default to the constants of the
	// same name.
	ReadTimeout, WriteTimeout, StreamIdle, Drain time.Duration
	// TLS is used by Serve when set.
	TLS *tls.Config
	// Observing, when not nil, tells /readyz whether answers do not enforce the policy.
	Observing func() bool
	// Gatherer is what /metrics shows.
	Gatherer prometheus.Gatherer
	Logger   *slog.Logger
	Metrics  *Metrics
}

// Validate returns every problem of the configuration at once.
func (c *Config) Validate() error {
	var errs []error
	b := c.Backend
	if b.Caller == nil || b.Sessions == nil || b.Recorder == nil || b.Journal == nil || b.Health == nil {
		errs = append(errs, errors.New("httpapi: Backend is incomplete; use FromGate"))
	}
	if c.Auth == nil {
		errs = append(errs, errors.New("httpapi: Auth is nil; load a tokens file with LoadTokens"))
	}
	if c.Gatherer == nil {
		errs = append(errs, errors.New("httpapi: Gatherer is nil; pass the registry that the services register with"))
	}
	if c.MaxBody < 0 || c.ReadTimeout < 0 || c.WriteTimeout < 0 || c.StreamIdle < 0 || c.Drain < 0 {
		errs = append(errs, errors.New("httpapi: limits and time-outs must not be negative; 0 means the default"))
	}
	return errors.Join(errs...)
}

func (c *Config) complete() {
	setDefault(&c.MaxBody, DefaultMaxBody)
	setDefault(&c.ReadTimeout, DefaultReadTimeout)
	setDefault(&c.WriteTimeout, DefaultWriteTimeout)
	setDefault(&c.StreamIdle, DefaultStreamIdle)
	setDefault(&c.Drain, DefaultDrain)
}

func setDefault[T int | time.Duration](v *T, to T) {
	if *v == 0 {
		*v = to
	}
}
