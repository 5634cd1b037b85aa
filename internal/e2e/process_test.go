package e2e_test

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// process is one of the processes of a deployment. It can be killed and started
// again with the same arguments.
type process struct {
	tb      testing.TB
	name    string
	command func() *exec.Cmd
	ready   func(output string) bool // nil: at once
	output  string                   // file to which all its runs write

	mu struct {
		sync.Mutex
		cmd  *exec.Cmd
		done chan struct{} // closed when it has ended
		kill bool          // that it ends is wanted
	}
}

// newProcess describes a process that writes to a file in dir, and sees to its end.
func newProcess(tb testing.TB, name, dir string, command func() *exec.Cmd) *process {
	tb.Helper()
	p := &process{tb: tb, name: name, command: command, output: filepath.Join(dir, name+".log")}
	tb.Cleanup(func() {
		p.kill()
		if tb.Failed() {
			tb.Logf("%s said at the end:\n%s", name, p.tail(25))
		}
	})
	return p
}

// start starts the process and returns when it is ready.
func (p *process) start() {
	p.tb.Helper()
	out, err := os.OpenFile(p.output, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		p.tb.Fatal(err)
	}
	defer func() { _ = out.Close() }() // the process has its own
	from, err := out.Seek(0, 2)
	if err != nil {
		p.tb.Fatal(err)
	}
	cmd := p.command()
	cmd.Stdout, cmd.Stderr = out, out
	if _, err := cmd.StdinPipe(); err != nil { // ends when this process does
		p.tb.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		p.tb.Fatalf("%s: %v", p.name, err)
	}
	done := make(chan struct{})
	p.mu.Lock()
	p.mu.cmd, p.mu.done, p.mu.kill = cmd, done, false
	p.mu.Unlock()
	go p.reap(cmd, done)
	p.awaitReady(from, done)
}

// reap waits for the process; one that ends by itself fails the test.
func (p *process) reap(cmd *exec.Cmd, done chan struct{}) {
	err := cmd.Wait()
	p.mu.Lock()
	wanted := p.mu.kill
	p.mu.Unlock()
	if !wanted {
		p.tb.Errorf("%s ended by itself: %v\n%s", p.name, err, p.tail(10))
	}
	close(done)
}

func (p *process) awaitReady(from int64, done <-chan struct{}) {
	p.tb.Helper()
	if p.ready == nil {
		return
	}
	for range 600 {
		text, _ := os.ReadFile(p.output)
		if p.ready(string(text[min(from, int64(len(text))):])) {
			return
		}
		select {
		case <-done:
			p.tb.Fatalf("%s did not start:\n%s", p.name, p.tail(20))
		case <-time.After(25 * time.Millisecond):
		}
	}
	p.tb.Fatalf("%s is not ready after 15 s:\n%s", p.name, p.tail(20))
}

// kill ends the process with SIGKILL and returns when it has ended.
func (p *process) kill() { p.end(syscall.SIGKILL) }

// interrupt asks the process to end and returns when it has.
func (p *process) interrupt() { p.end(syscall.SIGTERM) }

func (p *process) end(sig syscall.Signal) {
	p.mu.Lock()
	cmd, done := p.mu.cmd, p.mu.done
	p.mu.kill = true
	p.mu.Unlock()
	if cmd == nil {
		return
	}
	_ = cmd.Process.Signal(sig) // it may have ended
	if sig == syscall.SIGKILL {
		_ = cmd.Process.Signal(syscall.SIGCONT)
	}
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		p.tb.Errorf("%s did not end after %s", p.name, sig)
		_ = cmd.Process.Kill()
		<-done
	}
	p.mu.Lock()
	p.mu.cmd = nil
	p.mu.Unlock()
}

// pause stops the process as it is; resume lets it go on.
func (p *process) pause()  { p.signal(syscall.SIGSTOP) }
func (p *process) resume() { p.signal(syscall.SIGCONT) }

func (p *process) signal(sig syscall.Signal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.mu.cmd != nil {
		if err := p.mu.cmd.Process.Signal(sig); err != nil {
			p.tb.Errorf("%s: %v", p.name, err)
		}
	}
}

// tail returns the last lines of what the process wrote.
func (p *process) tail(n int) string {
	text, err := os.ReadFile(p.output)
	if err != nil {
		return err.Error()
	}
	lines := bytes.Split(bytes.TrimRight(text, "\n"), []byte("\n"))
	var out strings.Builder
	for _, l := range lines[max(0, len(lines)-n):] {
		fmt.Fprintf(&out, "\t%.300s\n", l)
	}
	return out.String()
}

// freePort returns a port of the loopback interface that nobody listens on.
func freePort(tb testing.TB) int {
	tb.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // at once
	if err != nil {
		tb.Fatal(err)
	}
	defer func() { _ = ln.Close() }()
	return ln.Addr().(*net.TCPAddr).Port
}
