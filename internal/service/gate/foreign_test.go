package gate

import (
	"bytes"
	"crypto/ed25519"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
)

// lockedBuffer is written by the service while the test reads.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// TestPermitOfAnotherComposerIsNamed: a gate with another key than the composer's
// refuses, counts every such permit, and names the cause once.
func TestPermitOfAnotherComposerIsNamed(t *testing.T) {
	other, _, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	var logged lockedBuffer
	reg := prometheus.NewRegistry()
	m := NewMetrics(reg)
	r := start(t, "session", func(cfg *Config) {
		cfg.ComposerKeys = []ed25519.PublicKey{other}
		cfg.Logger, cfg.Metrics = slog.New(slog.NewTextHandler(&logged, nil)), m
	})
	s := r.session(t)
	for range 2 {
		if a := r.call(t, s, "get_time", "{}"); a.permits() {
			t.Fatalf("%+v", a)
		}
	}
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var counted float64
	for _, f := range families {
		if f.GetName() == "aspis_gate_unsigned_decisions_total" {
			counted = f.GetMetric()[0].GetCounter().GetValue()
		}
	}
	if counted != 2 {
		t.Errorf("counted %v, want 2", counted)
	}
	if n := strings.Count(logged.String(), "none of this gate's composer keys"); n != 1 {
		t.Errorf("said %d times, want once:\n%s", n, logged.String())
	}
}
