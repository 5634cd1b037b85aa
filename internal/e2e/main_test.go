package e2e_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/aspis-rv/aspis/internal/bus/natsbus"
)

// The environment in which the test binary is a NATS server.
const (
	brokerDir  = "ASPIS_E2E_BROKER_DIR"
	brokerPort = "ASPIS_E2E_BROKER_PORT"
)

func TestMain(m *testing.M) {
	if broker() {
		return
	}
	code := m.Run()
	if built.dir != "" {
		_ = os.RemoveAll(built.dir)
	}
	os.Exit(code)
}

// broker runs a server until its standard input ends or it is killed. It returns
// false in an ordinary test process.
func broker() bool {
	dir := os.Getenv(brokerDir)
	if dir == "" {
		return false
	}
	port, err := strconv.Atoi(os.Getenv(brokerPort))
	if err != nil {
		_, _ = fmt.Fprintln(os.Stdout, err)
		return true
	}
	s, err := natsbus.StartServer(natsbus.ServerConfig{Dir: dir, Port: port})
	if err != nil {
		_, _ = fmt.Fprintln(os.Stdout, err) // not what the parent waits for: it shows it
		return true
	}
	_, _ = fmt.Fprintln(os.Stdout, brokerReady)
	_, _ = io.Copy(io.Discard, os.Stdin)
	s.Shutdown()
	return true
}

// brokerReady is what a broker prints once it can be connected to.
const brokerReady = "broker ready"

// built holds the binaries, made once for all tests.
var built struct { //nolint:gochecknoglobals // what TestMain removes
	once sync.Once
	dir  string
	err  error
}

// binary returns the path of a command, building all of them at the first call.
func binary(tb testing.TB, name string) string {
	tb.Helper()
	built.once.Do(func() { built.dir, built.err = build(tb) })
	if built.err != nil {
		tb.Fatal(built.err)
	}
	return filepath.Join(built.dir, name)
}

func build(tb testing.TB) (string, error) {
	tb.Helper()
	dir, err := os.MkdirTemp("", "aspis-e2e-") //nolint:usetesting // outlives the test that comes first
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	start := time.Now()
	c := exec.CommandContext(ctx, "go", "build", "-o", dir+"/", "./cmd/...")
	c.Dir = "../.."
	if out, err := c.CombinedOutput(); err != nil {
		return dir, fmt.Errorf("go build: %w\n%s", err, out)
	}
	tb.Logf("built in %s", time.Since(start).Round(time.Millisecond))
	return dir, nil
}
