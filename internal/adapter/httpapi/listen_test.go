package httpapi

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestCheckListen(t *testing.T) {
	for _, tc := range []struct {
		addr         string
		plain, crypt bool // accepted without, with TLS
	}{
		{"127.0.0.1:8473", true, true},
		{"127.1.2.3:0", true, true},
		{"[::1]:8473", true, true},
		{"[::ffff:127.0.0.1]:8473", true, true},
		{"localhost:8473", true, true},
		{"LocalHost:8473", true, true},
		{"unix:/run/aspis/gate.sock", true, true},
		{":8473", false, true},
		{"0.0.0.0:8473", false, true},
		{"[::]:8473", false, true},
		{"10.0.0.7:8473", false, true},
		{"localhost.evil.example:8473", false, true},
		{"127.0.0.1.evil.example:8473", false, true},
		{"gate.example.org:443", false, true},
		{"unix:gate.sock", false, false},
		{"unix:", false, false},
		{"127.0.0.1", false, false},
		{"", false, false},
	} {
		for _, withTLS := range []bool{false, true} {
			want := tc.plain
			if withTLS {
				want = tc.crypt
			}
			if err := CheckListen(tc.addr, withTLS); want != (err == nil) || err != nil && !errors.Is(err, ErrListen) {
				t.Errorf("%q, TLS %v: %v", tc.addr, withTLS, err)
			}
		}
	}
	if _, err := Listen(t.Context(), "0.0.0.0:0", false); !errors.Is(err, ErrListen) {
		t.Errorf("Listen does not check: %v", err)
	}
}

// socketDir is a short one: the path of a socket has little room.
func socketDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "s") //nolint:usetesting // t.TempDir is too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func TestUnixSocket(t *testing.T) {
	path := filepath.Join(socketDir(t), "gate.sock")
	s := newServer(t, &fake{}, nil)
	ln, err := Listen(t.Context(), "unix:"+path, false)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, ln) }()
	info, err := os.Lstat(path)
	if err != nil || info.Mode().Perm() != 0o600 || info.Mode().Type() != os.ModeSocket {
		t.Errorf("socket %v, %v", info, err)
	}
	if left, err := os.ReadDir(filepath.Dir(path)); err != nil || len(left) != 1 {
		t.Errorf("beside the socket there is %v, %v", left, err)
	}
	hc := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", path)
	}}}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://any.name/v1/calls", strings.NewReader(validCall))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+agentToken)
	r.Header.Set("Content-Type", "application/json")
	resp, err := hc.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	if body := drainBody(t, resp.Body); resp.StatusCode != http.StatusOK {
		t.Errorf("%d %s", resp.StatusCode, body)
	}
	_ = resp.Body.Close()
	if _, err := Listen(t.Context(), "unix:"+path, false); !errors.Is(err, ErrListen) || !strings.Contains(err.Error(), "answers at") {
		t.Errorf("a second server: %v", err)
	}
	stop()
	if err := <-done; err != nil {
		t.Errorf("Serve: %v", err)
	}
	if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the socket stays behind: %v", err)
	}
}

func TestUnixSocketReplacesDeadOnesOnly(t *testing.T) {
	dir := socketDir(t)
	path := filepath.Join(dir, "gate.sock")
	dead, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	dead.SetUnlinkOnClose(false)
	if err := dead.Close(); err != nil {
		t.Fatal(err)
	}
	ln, err := Listen(t.Context(), "unix:"+path, false)
	if err != nil {
		t.Fatalf("a dead socket is not replaced: %v", err)
	}
	if err := ln.Close(); err != nil {
		t.Error(err)
	}
	if err := os.WriteFile(path, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Listen(t.Context(), "unix:"+path, false); !errors.Is(err, ErrListen) || !strings.Contains(err.Error(), "no socket") {
		t.Errorf("a file is in the way: %v", err)
	}
	if data, err := os.ReadFile(path); err != nil || string(data) != "precious" {
		t.Errorf("the file is %q, %v", data, err)
	}
	if _, err := Listen(t.Context(), "unix:"+filepath.Join(dir, "missing", "gate.sock"), false); !errors.Is(err, ErrListen) {
		t.Errorf("no directory: %v", err)
	}
}

func TestServeSaysWhatBroke(t *testing.T) {
	ln, err := Listen(t.Context(), "127.0.0.1:0", false)
	if err != nil {
		t.Fatal(err)
	}
	s := newServer(t, &fake{}, func(c *Config) { c.TLS = &tls.Config{MinVersion: tls.VersionTLS13} }) // no certificate
	if err := s.Serve(t.Context(), ln); err == nil || errors.Is(err, http.ErrServerClosed) {
		t.Errorf("Serve without a certificate: %v", err)
	}
	if _, err := ln.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("the listener is open: %v", err)
	}
}

func TestServeTLS(t *testing.T) {
	lender := httptest.NewUnstartedServer(http.NotFoundHandler()) // lends its certificate and client
	lender.EnableHTTP2 = true
	lender.StartTLS()
	defer lender.Close()
	s := newServer(t, &fake{}, func(c *Config) {
		c.TLS = &tls.Config{MinVersion: tls.VersionTLS12, Certificates: lender.TLS.Certificates}
	})
	url, _ := serving(t, s)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, strings.Replace(url, "http:", "https:", 1)+"/v1/calls", strings.NewReader(validCall))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+agentToken)
	r.Header.Set("Content-Type", "application/json")
	resp, err := lender.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close() //nolint:errcheck // read to the end
	if body := drainBody(t, resp.Body); resp.StatusCode != http.StatusOK || resp.ProtoMajor != 2 {
		t.Errorf("%s %d %s", resp.Proto, resp.StatusCode, body)
	}
}
