package deploy

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"
)

// child is a process of the deployment. What it writes is kept to say why it failed.
type child struct {
	name  string
	cmd   *exec.Cmd
	stdin io.Closer
	out   *lines
	done  chan struct{} // closed when it has ended
	err   error         // of Wait, after done
}

// stopTimeout is how long an orderly stop may take: a last snapshot of every
// partition.
const stopTimeout = 10 * time.Second

// spawn starts a process that is ended by closing the deployment. Its standard input
// stays open until then, so that a child which reads it ends with this process.
func (d *Deployment) spawn(ctx context.Context, name, path string, args ...string) (*child, error) {
	c := &child{name: name, out: newLines(), done: make(chan struct{})}
	c.cmd = exec.CommandContext(ctx, path, args...) //nolint:gosec // built by this program
	c.cmd.Stdout, c.cmd.Stderr = c.out, c.out
	c.cmd.Cancel = func() error { return c.cmd.Process.Signal(syscall.SIGTERM) }
	c.cmd.WaitDelay = stopTimeout
	stdin, err := c.cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("deploy: %s: %w", name, err)
	}
	c.stdin = stdin
	if err := c.cmd.Start(); err != nil {
		return nil, fmt.Errorf("deploy: %s: %w", name, err)
	}
	go func() {
		c.err = c.cmd.Wait()
		close(c.done)
	}()
	d.process(name, c.cmd.Process.Pid)
	d.onClose(c.stop)
	return c, nil
}

// stop asks the process to end and ends it when it does not.
func (c *child) stop() error {
	_ = c.stdin.Close()
	_ = c.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-c.done:
	case <-time.After(stopTimeout):
		_ = c.cmd.Process.Kill()
		<-c.done
		return fmt.Errorf("deploy: %s did not stop and was killed", c.name)
	}
	var exit *exec.ExitError
	if errors.As(c.err, &exit) && exit.ExitCode() > 0 {
		return c.failure()
	}
	return nil
}

// await returns the first line's value that find accepts, or fails when the process
// ends before.
func (c *child) await(ctx context.Context, find func(line string) string) (string, error) {
	for {
		more, found := c.out.search(find)
		if found != "" {
			return found, nil
		}
		select {
		case <-more:
		case <-c.done:
			return "", c.failure()
		case <-ctx.Done():
			return "", fmt.Errorf("%w: %w", c.failure(), ctx.Err())
		}
	}
}

// errChild is wrapped when a process does not do what it should.
var errChild = errors.New("deploy: a process failed")

func (c *child) failure() error {
	return fmt.Errorf("%w: %s; it wrote:\n%s", errChild, c.name, c.out.tail())
}

// listeningAt finds the base URL in a daemon's log line about its address.
func listeningAt(line string) string {
	var l struct {
		Message string `json:"msg"`
		Address string `json:"address"`
	}
	if json.Unmarshal([]byte(line), &l) != nil || l.Message != "listening" {
		return ""
	}
	if strings.Contains(l.Address, "://") {
		return l.Address
	}
	return "http://" + l.Address
}

// maxLines is how much of a child's output is kept.
const maxLines = 200

// lines keeps the last lines written to it. Safe for concurrent use.
type lines struct {
	mu struct {
		sync.Mutex
		kept    []string
		partial []byte
		changed chan struct{}
	}
}

func newLines() *lines {
	l := &lines{}
	l.mu.changed = make(chan struct{})
	return l
}

// Write implements io.Writer.
func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.mu.partial = append(l.mu.partial, p...)
	for {
		line, rest, ok := bytes.Cut(l.mu.partial, []byte("\n"))
		if !ok {
			return len(p), nil
		}
		l.mu.kept = append(l.mu.kept, string(line))
		if len(l.mu.kept) > maxLines {
			l.mu.kept = l.mu.kept[1:]
		}
		l.mu.partial = bytes.Clone(rest)
		close(l.mu.changed)
		l.mu.changed = make(chan struct{})
	}
}

// search returns what find makes of the kept lines, and a channel that is closed when
// there are more.
func (l *lines) search(find func(string) string) (<-chan struct{}, string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, line := range l.mu.kept {
		if found := find(line); found != "" {
			return l.mu.changed, found
		}
	}
	return l.mu.changed, ""
}

func (l *lines) tail() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.mu.kept[max(0, len(l.mu.kept)-10):], "\n")
}
