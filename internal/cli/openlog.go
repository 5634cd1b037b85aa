package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/aspis-rv/aspis/internal/bus"
	"github.com/aspis-rv/aspis/internal/bus/natsbus"
)

// openLog connects to a running server, or opens the data directory of a stopped
// deployment with a server of its own that listens nowhere.
func openLog(ctx context.Context, where string) (bus.Bus, func(), error) {
	if strings.Contains(where, "://") {
		b, err := natsbus.Connect(ctx, natsbus.Config{URL: where, Name: "aspis-replay"})
		if err != nil {
			return nil, nil, hint(err, "is a NATS server with JetStream running at %s?", where)
		}
		return b, func() { _ = b.Close() }, nil
	}
	if _, err := os.Stat(storeDir(where)); err != nil {
		return nil, nil, hint(fmt.Errorf("%s holds no log", where), "name the --data directory of an `aspis up`")
	}
	unlock, err := lockData(where)
	if err != nil {
		return nil, nil, err
	}
	srv, err := natsbus.StartServer(natsbus.ServerConfig{Dir: storeDir(where), DontListen: true})
	if err != nil {
		unlock()
		return nil, nil, err
	}
	b, err := natsbus.Connect(ctx, natsbus.Config{InProcess: srv, Name: "aspis-replay"})
	if err != nil {
		srv.Shutdown()
		unlock()
		return nil, nil, err
	}
	return b, func() { _ = b.Close(); srv.Shutdown(); unlock() }, nil
}

func storeDir(data string) string { return filepath.Join(data, "log") }

// lockData makes sure that one process at a time works on a data directory.
func lockData(dir string) (func(), error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("data directory: %w", err)
	}
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600) //nolint:gosec // the path is the operator's
	if err != nil {
		return nil, fmt.Errorf("data directory: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil { //nolint:gosec // a file descriptor
		_ = f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, hint(fmt.Errorf("another process works on %s", dir), "stop it first, or name its server by URL")
		}
		return nil, fmt.Errorf("data directory: %w", err)
	}
	return func() { _ = f.Close() }, nil
}
