package httpapi

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// ErrListen is wrapped by every error about an address to listen on.
var ErrListen = errors.New("httpapi: listen address")

// unixScheme begins the address of a Unix socket.
const unixScheme = "unix:"

// CheckListen reports why a server must not start on addr, which is `host:port` or
// `unix:/path`. Tokens would cross the network in the clear on an address that is not
// a loopback one, unless the server has TLS. Names other than localhost are not
// resolved: what they mean is not ours to know.
func CheckListen(addr string, tls bool) error {
	if path, ok := strings.CutPrefix(addr, unixScheme); ok {
		if !filepath.IsAbs(path) {
			return fmt.Errorf("%w: %q names no absolute path; write unix:/run/aspis/gate.sock", ErrListen, addr)
		}
		return nil
	}
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return fmt.Errorf("%w: %q is neither host:port nor unix:/path", ErrListen, addr)
	}
	if tls || isLoopback(host) {
		return nil
	}
	return fmt.Errorf("%w: %q can be reached from other machines, and tokens would cross the network in the clear; "+
		"use 127.0.0.1, a unix: socket, or configure TLS", ErrListen, addr)
}

func isLoopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}

// Listen checks addr and listens on it. A Unix socket has mode 0600 from the moment it
// can be reached; one that was left behind by a dead process is replaced, one that
// answers is an error.
func Listen(ctx context.Context, addr string, tls bool) (net.Listener, error) {
	if err := CheckListen(addr, tls); err != nil {
		return nil, err
	}
	if path, ok := strings.CutPrefix(addr, unixScheme); ok {
		return listenUnix(ctx, path)
	}
	var lc net.ListenConfig
	ln, err := lc.Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrListen, err)
	}
	return ln, nil
}

// listenUnix binds in a directory that nobody else can enter, sets the mode there, and
// moves the socket to its place.
func listenUnix(ctx context.Context, path string) (net.Listener, error) {
	if err := replaceable(ctx, path); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(filepath.Dir(path), ".s")
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrListen, err)
	}
	defer os.RemoveAll(dir) //nolint:errcheck // an empty directory is left at worst
	bound := filepath.Join(dir, "s")
	var lc net.ListenConfig
	ln, err := lc.Listen(ctx, "unix", bound)
	if err != nil {
		return nil, fmt.Errorf("%w: %w; the path of a socket has about 100 characters at most", ErrListen, err)
	}
	un := ln.(*net.UnixListener) //nolint:forcetypeassert // of network unix
	un.SetUnlinkOnClose(false)   // its name changes below
	if err := errors.Join(os.Chmod(bound, 0o600), os.Rename(bound, path)); err != nil {
		return nil, errors.Join(fmt.Errorf("%w: %w", ErrListen, err), ln.Close())
	}
	return &unixListener{UnixListener: un, path: path}, nil
}

// replaceable reports why path cannot become our socket: something else is there, or
// somebody answers at it.
func replaceable(ctx context.Context, path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("%w: %w", ErrListen, err)
	case info.Mode().Type() != os.ModeSocket:
		return fmt.Errorf("%w: %s exists and is no socket; choose another path", ErrListen, path)
	}
	d := net.Dialer{Timeout: time.Second}
	conn, err := d.DialContext(ctx, "unix", path)
	switch {
	case err == nil:
		return errors.Join(fmt.Errorf("%w: a server answers at %s already", ErrListen, path), conn.Close())
	case errors.Is(err, syscall.ECONNREFUSED):
		return nil // nobody has it open any more
	}
	return fmt.Errorf("%w: %s exists, and whether it is in use cannot be told: %w", ErrListen, path, err)
}

// unixListener removes its socket when it is closed.
type unixListener struct {
	*net.UnixListener
	path string
	once sync.Once
}

// Addr is the address at which clients find the socket.
func (l *unixListener) Addr() net.Addr { return &net.UnixAddr{Name: l.path, Net: "unix"} }

// Close stops listening and removes the socket.
func (l *unixListener) Close() error {
	err := l.UnixListener.Close()
	l.once.Do(func() { err = errors.Join(err, os.Remove(l.path)) })
	return err
}
