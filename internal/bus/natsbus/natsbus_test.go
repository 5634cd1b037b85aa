package natsbus_test

import (
	"errors"
	"net"
	"net/url"
	"strconv"
	"sync"
	"testing"

	"github.com/nats-io/nats.go/jetstream"
	"go.uber.org/goleak"

	"github.com/aspis-rv/aspis/internal/bus"
	"github.com/aspis-rv/aspis/internal/bus/bustest"
	"github.com/aspis-rv/aspis/internal/bus/natsbus"
)

func TestMain(m *testing.M) {
	if childServer() {
		return
	}
	goleak.VerifyTestMain(m)
}

// broker is an embedded server that tests restart on the same directory and port.
type broker struct {
	mu     sync.Mutex
	server *natsbus.Server
	cfg    natsbus.ServerConfig
}

// InProcessConn connects to whichever server runs now.
func (r *broker) InProcessConn() (net.Conn, error) {
	r.mu.Lock()
	s := r.server
	r.mu.Unlock()
	if s == nil {
		return nil, errors.New("the server is down")
	}
	return s.InProcessConn()
}

// stop shuts the server down. The lock is not held meanwhile: connections break.
func (r *broker) stop() {
	r.mu.Lock()
	s := r.server
	r.server = nil
	r.mu.Unlock()
	if s != nil {
		s.Shutdown()
	}
}

func (r *broker) start(tb testing.TB) {
	tb.Helper()
	s, err := natsbus.StartServer(r.cfg)
	if err != nil {
		tb.Error(err)
		return
	}
	r.mu.Lock()
	r.server = s
	r.mu.Unlock()
	if u, err := url.Parse(s.URL()); err == nil && u.Port() != "" {
		r.cfg.Port, _ = strconv.Atoi(u.Port())
	}
}

func newBroker(tb testing.TB, tcp bool) *broker {
	tb.Helper()
	r := &broker{cfg: natsbus.ServerConfig{Dir: tb.TempDir(), DontListen: !tcp}}
	r.start(tb)
	tb.Cleanup(r.stop)
	return r
}

// connect opens a bus on r with cfg.
func (r *broker) connect(tb testing.TB, cfg natsbus.Config) *natsbus.Bus {
	tb.Helper()
	if r.cfg.DontListen {
		cfg.InProcess = r
	} else {
		cfg.URL = r.server.URL()
	}
	b, err := natsbus.Connect(tb.Context(), cfg)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = b.Close() })
	return b
}

// brokers remembers which bus is on which broker.
type brokers struct {
	mu sync.Mutex
	of map[bus.Bus]*broker
}

func (m *brokers) add(b bus.Bus, r *broker) bus.Bus {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.of[b] = r
	return b
}

func (m *brokers) get(b bus.Bus) *broker {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.of[b]
}

func TestConformance(t *testing.T) {
	for name, tcp := range map[string]bool{"in process": false, "tcp": true} {
		t.Run(name, func(t *testing.T) {
			m := &brokers{of: map[bus.Bus]*broker{}}
			open := func(t *testing.T, cfg natsbus.Config) bus.Bus {
				t.Helper()
				cfg.Partitions = 8
				r := newBroker(t, tcp)
				return m.add(r.connect(t, cfg), r)
			}
			bustest.Run(t, func(t *testing.T) bus.Bus { t.Helper(); return open(t, natsbus.Config{}) }, bustest.Features{
				NewSmall: func(t *testing.T, n int64) bus.Bus {
					t.Helper()
					return open(t, natsbus.Config{EventsBytes: n, VerdictsBytes: n})
				},
				Connect: func(t *testing.T, b bus.Bus) bus.Bus {
					t.Helper()
					return m.get(b).connect(t, natsbus.Config{})
				},
				Reopen: func(t *testing.T, b bus.Bus) bus.Bus {
					t.Helper()
					r := m.get(b)
					r.stop()
					r.start(t)
					return m.add(r.connect(t, natsbus.Config{}), r)
				},
				Restart: func(t *testing.T, b bus.Bus) {
					t.Helper()
					m.get(b).stop()
					m.get(b).start(t)
				},
				Trim: func(t *testing.T, b bus.Bus, topic bus.Topic, _ uint32, before uint64) {
					t.Helper()
					purge(t, b.(*natsbus.Bus), topic, before)
				},
			})
		})
	}
}

// purge removes the records of a topic below a sequence, as retention would.
func purge(tb testing.TB, b *natsbus.Bus, topic bus.Topic, before uint64) {
	tb.Helper()
	s, err := natsbus.JetStream(b).Stream(tb.Context(), map[bus.Topic]string{bus.Events: "EVENTS", bus.Verdicts: "VERDICTS"}[topic])
	if err != nil {
		tb.Fatal(err)
	}
	if err := s.Purge(tb.Context(), jetstream.WithPurgeSequence(before)); err != nil {
		tb.Fatal(err)
	}
}
