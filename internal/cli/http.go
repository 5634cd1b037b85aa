package cli

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/cobra"

	"github.com/aspis-rv/aspis/internal/adapter/httpapi"
	"github.com/aspis-rv/aspis/internal/service/gate"
)

// httpFlags are the flags of the agent-facing surface.
type httpFlags struct {
	listen, tokens  string
	tlsCert, tlsKey string
	hosts           []string
	allowOpenTokens bool
}

func (f *httpFlags) register(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.StringVar(&f.listen, "listen", "127.0.0.1:8473", "address of the agent-facing HTTP surface, host:port or unix:/path")
	fs.StringVar(&f.tokens, "tokens", "", "tokens file, a line of token, principal, class and tenant for each credential")
	fs.StringVar(&f.tlsCert, "tls-cert", "", "certificate of the HTTP surface, PEM")
	fs.StringVar(&f.tlsKey, "tls-key", "", "key of the certificate, PEM")
	fs.StringSliceVar(&f.hosts, "host", nil, "name under which clients address the surface, besides loopback ones; may be repeated")
	fs.BoolVar(&f.allowOpenTokens, "allow-readable-tokens", false, "accept a tokens file that others can read")
}

// tokensFile returns the tokens file; without one, that of the data directory, which
// is made with random tokens for development.
func (f *httpFlags) tokensFile(data string) (string, error) {
	if f.tokens == "" {
		f.tokens = filepath.Join(data, "tokens")
		if err := makeTokens(f.tokens); err != nil {
			return "", err
		}
	}
	return f.tokens, nil
}

// serve serves the surface until ctx ends. It tells the base URL on listening, when
// that is not nil.
func (f *httpFlags) serve(ctx context.Context, s *gate.Service, reg *prometheus.Registry, log *slog.Logger, listening chan<- string) error {
	if f.tokens == "" {
		return hint(errors.New("no tokens file was given"), "--tokens FILE, with a line `token principal class tenant` for each credential")
	}
	tokens, err := httpapi.LoadTokens(f.tokens, f.allowOpenTokens)
	if err != nil {
		return err
	}
	conf, err := f.tls()
	if err != nil {
		return err
	}
	srv, err := httpapi.New(httpapi.Config{
		Backend: httpapi.FromGate(s), Auth: tokens, Hosts: f.hosts, TLS: conf, Observing: s.Observing,
		Gatherer: reg, Logger: log, Metrics: httpapi.NewMetrics(reg),
	})
	if err != nil {
		return err
	}
	ln, err := httpapi.Listen(ctx, f.listen, conf != nil)
	if err != nil {
		return err
	}
	base := "http://" + ln.Addr().String()
	if conf != nil {
		base = "https://" + ln.Addr().String()
	}
	if listening != nil {
		listening <- base
	}
	return srv.Serve(ctx, ln)
}

func (f *httpFlags) tls() (*tls.Config, error) {
	if f.tlsCert == "" && f.tlsKey == "" {
		return nil, nil
	}
	cert, err := tls.LoadX509KeyPair(f.tlsCert, f.tlsKey)
	if err != nil {
		return nil, fmt.Errorf("TLS certificate: %w", err)
	}
	return &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS13}, nil
}
