package natsbus_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/aspis-rv/aspis/internal/bus"
	"github.com/aspis-rv/aspis/internal/bus/natsbus"
)

// childDir, in the environment, makes the test binary a server on that directory.
const childDir = "ASPIS_TEST_SERVER_DIR"

// childServer runs a server until its standard input is closed or it is killed. It
// returns false in an ordinary test process.
func childServer() bool {
	dir := os.Getenv(childDir)
	if dir == "" {
		return false
	}
	s, err := natsbus.StartServer(natsbus.ServerConfig{Dir: dir, Durability: natsbus.DurableProcess})
	if err != nil {
		_, _ = fmt.Fprintln(os.Stdout, err) // no address: the parent fails and shows it
		return true
	}
	_, _ = fmt.Fprintln(os.Stdout, s.URL())
	_, _ = io.Copy(io.Discard, os.Stdin)
	s.Shutdown()
	return true
}

// startChild starts a server in a process of its own and returns its address.
func startChild(t *testing.T, dir string) (string, *exec.Cmd) {
	t.Helper()
	c := exec.CommandContext(context.WithoutCancel(t.Context()), os.Args[0])
	c.Env = append(os.Environ(), childDir+"="+dir)
	c.Stderr = os.Stderr
	if _, err := c.StdinPipe(); err != nil { // closed when this process ends
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Process.Kill()
		_ = c.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("the server process said %q: %v", line, err)
	}
	return strings.TrimSpace(line), c
}

// TestKill kills the server with SIGKILL under load, three times, and finds every
// acknowledged record after each restart.
func TestKill(t *testing.T) {
	dir := t.TempDir()
	acked := map[uint64]string{}
	for round := range 3 {
		url, child := startChild(t, dir)
		b, err := natsbus.Connect(t.Context(), natsbus.Config{URL: url, Partitions: 4})
		if err != nil {
			t.Fatal(err)
		}
		publishUntilDeath(t, b, round, 2000, acked, func() { _ = child.Process.Kill() })
		_ = child.Wait()
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
	}
	r := &broker{cfg: natsbus.ServerConfig{Dir: dir, DontListen: true}}
	r.start(t)
	t.Cleanup(r.stop)
	b := r.connect(t, natsbus.Config{})
	kept := map[uint64]string{}
	for p := range b.Partitions() {
		for _, rec := range readAll(t, b, p) {
			kept[rec.Offset] = string(rec.Data)
		}
	}
	for o, data := range acked {
		if kept[o] != data {
			t.Errorf("offset %d was acknowledged for %q, the log has %q", o, data, kept[o])
		}
	}
	for round := range 3 {
		if _, err := b.Create(t.Context(), fmt.Sprint("round ", round), bus.Message{}); !errors.Is(err, bus.ErrExists) {
			t.Errorf("the key of round %d can be created again: %v", round, err)
		}
	}
	t.Logf("%d records acknowledged, %d in the log", len(acked), len(kept))
}

// publishUntilDeath publishes from 16 goroutines; after n acknowledgements kill is
// called, and they go on until the server does not answer.
func publishUntilDeath(t *testing.T, b *natsbus.Bus, round, n int, acked map[uint64]string, kill func()) {
	t.Helper()
	if _, err := b.Create(t.Context(), fmt.Sprint("round ", round), bus.Message{}); err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var wg sync.WaitGroup
	count := 0
	for w := range 16 {
		wg.Go(func() {
			for i := 0; ; i++ {
				data := fmt.Sprintf("%d/%d/%d", round, w, i)
				o, err := b.Publish(t.Context(), bus.Message{Partition: uint32(w % 4), Data: []byte(data)})
				if errors.Is(err, bus.ErrUnavailable) {
					return
				}
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				acked[o] = data
				if count++; count == n {
					kill()
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
}

// readAll reads what a partition of events retains.
func readAll(t *testing.T, b bus.Bus, p uint32) []bus.Record {
	t.Helper()
	first, next, err := b.Bounds(t.Context(), bus.Events, p)
	if err != nil {
		t.Fatal(err)
	}
	if first == next {
		return nil
	}
	c, err := b.Read(t.Context(), bus.Events, p, bus.Start{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	var rs []bus.Record
	for {
		r, err := c.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		rs = append(rs, r)
		if r.Offset+1 >= next {
			return rs
		}
	}
}
