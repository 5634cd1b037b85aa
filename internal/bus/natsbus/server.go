package natsbus

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/aspis-rv/aspis/internal/bus"
)

// Durability says when an acknowledged record is safe from what.
type Durability uint8

// The durabilities. All survive the death of the process, by kill -9 too.
const (
	// DurableProcess leaves writing to the operating system, with a sync every two
	// minutes: a power cut may lose that much.
	DurableProcess Durability = iota
	// DurableInterval syncs every second: a power cut may lose a second.
	DurableInterval
	// DurablePower syncs before each acknowledgement: a power cut loses nothing. It
	// costs a factor of ten or more in throughput, as there is no group commit.
	DurablePower
)

// String is the name of the durability in configurations.
func (d Durability) String() string {
	switch d {
	case DurableProcess:
		return "process"
	case DurableInterval:
		return "interval"
	case DurablePower:
		return "power"
	}
	return fmt.Sprintf("durability(%d)", uint8(d))
}

// ParseDurability reads the name of a durability.
func ParseDurability(s string) (Durability, error) {
	for _, d := range []Durability{DurableProcess, DurableInterval, DurablePower} {
		if s == d.String() {
			return d, nil
		}
	}
	return 0, fmt.Errorf("durability %q is unknown: use process, interval or power", s)
}

const (
	// syncProcess and syncInterval are the pauses between syncs of the file store.
	syncProcess  = 2 * time.Minute
	syncInterval = time.Second
	// readyTimeout is how long a server may take to recover its streams; about a
	// second per million records.
	readyTimeout = 2 * time.Minute
	// storeLimit is what all streams may use together. The topics' own limits are what
	// binds; the server's default, three quarters of the free disk, would refuse to
	// create streams whose limits are larger.
	storeLimit = 1 << 44
)

// ServerConfig configures an embedded server.
type ServerConfig struct {
	// Dir is the data directory. It is created if it does not exist, and one server
	// uses it at a time.
	Dir string
	// Host is the address to listen on; "" means 127.0.0.1.
	Host string
	// Port is the port to listen on; 0 means a free one.
	Port int
	// DontListen makes the server reachable from this process only.
	DontListen bool
	// Durability says when acknowledged records are safe.
	Durability Durability
	// Name is the server's name; "" means "aspis".
	Name string
	// Configure, when set, changes the server's options before it starts: accounts,
	// TLS, a cluster. What this struct says is set already.
	Configure func(*server.Options)
	// Logger receives the server's messages; nil discards them.
	Logger *slog.Logger
}

// Server is a NATS server with JetStream in this process.
type Server struct {
	server *server.Server
	lock   *os.File
	once   sync.Once
}

// StartServer starts a server and returns when it is ready. It fails with
// bus.ErrUnavailable, wrapped, when another server uses the directory or the port.
func StartServer(cfg ServerConfig) (*Server, error) {
	if cfg.Dir == "" {
		return nil, errors.New("natsbus: the embedded server needs a data directory")
	}
	if err := os.MkdirAll(cfg.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("natsbus: data directory: %w", err)
	}
	lock, err := lockFile(filepath.Join(cfg.Dir, "lock"))
	if err != nil {
		return nil, fmt.Errorf("natsbus: data directory %s: %w: %w; stop the other process or choose another directory", cfg.Dir, bus.ErrUnavailable, err)
	}
	s := &Server{lock: lock}
	if s.server, err = server.NewServer(cfg.options()); err != nil {
		s.unlock()
		return nil, fmt.Errorf("natsbus: server: %w", err)
	}
	if cfg.Logger != nil {
		s.server.SetLoggerV2(serverLog{cfg.Logger}, false, false, false)
	}
	s.server.Start()
	if !s.server.ReadyForConnections(readyTimeout) || !s.server.JetStreamEnabled() {
		s.Shutdown()
		return nil, fmt.Errorf("natsbus: %w: the server on %s did not become ready; is port %d in use, is the directory writable?",
			bus.ErrUnavailable, cfg.Dir, cfg.Port)
	}
	return s, nil
}

func (c ServerConfig) options() *server.Options {
	o := &server.Options{
		ServerName:        c.Name,
		Host:              c.Host,
		Port:              c.Port,
		DontListen:        c.DontListen,
		JetStream:         true,
		StoreDir:          c.Dir,
		JetStreamMaxStore: storeLimit,
		NoSigs:            true,
		NoLog:             c.Logger == nil,
	}
	if o.ServerName == "" {
		o.ServerName = "aspis"
	}
	if o.Host == "" {
		o.Host = "127.0.0.1"
	}
	if o.Port == 0 {
		o.Port = server.RANDOM_PORT
	}
	switch c.Durability {
	case DurableProcess:
		o.SyncInterval = syncProcess
	case DurableInterval:
		o.SyncInterval = syncInterval
	case DurablePower:
		o.SyncInterval, o.SyncAlways = syncProcess, true
	}
	if c.Configure != nil {
		c.Configure(o)
	}
	return o
}

// URL is the address to connect to, "" if the server does not listen.
func (s *Server) URL() string {
	if s.server.Addr() == nil {
		return ""
	}
	return s.server.ClientURL()
}

// InProcessConn returns a connection to the server that does not use the network. It
// makes a Server a Config.InProcess.
func (s *Server) InProcessConn() (net.Conn, error) {
	c, err := s.server.InProcessConn()
	if err != nil {
		return nil, fmt.Errorf("natsbus: %w", err)
	}
	return c, nil
}

// Shutdown stops the server and returns when it has closed its files. Connections
// break; what was acknowledged is on disk.
func (s *Server) Shutdown() {
	s.once.Do(func() {
		s.server.Shutdown()
		s.server.WaitForShutdown()
		s.unlock()
	})
}

func (s *Server) unlock() {
	_ = s.lock.Close() // closing gives the lock up
}

// serverLog passes the server's messages on. Traces and debug messages are off.
type serverLog struct{ log *slog.Logger }

func (l serverLog) write(level slog.Level, format string, v []any) {
	l.log.Log(context.Background(), level, "server", slog.String("text", fmt.Sprintf(format, v...)))
}

// Noticef implements server.Logger.
func (l serverLog) Noticef(format string, v ...any) { l.write(slog.LevelInfo, format, v) }

// Warnf implements server.Logger.
func (l serverLog) Warnf(format string, v ...any) { l.write(slog.LevelWarn, format, v) }

// Fatalf implements server.Logger.
func (l serverLog) Fatalf(format string, v ...any) { l.write(slog.LevelError, format, v) }

// Errorf implements server.Logger.
func (l serverLog) Errorf(format string, v ...any) { l.write(slog.LevelError, format, v) }

// Debugf implements server.Logger.
func (l serverLog) Debugf(format string, v ...any) { l.write(slog.LevelDebug, format, v) }

// Tracef implements server.Logger.
func (l serverLog) Tracef(format string, v ...any) { l.write(slog.LevelDebug, format, v) }
