package monpoly

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"syscall"
	"time"

	"github.com/aspis-rv/aspis/pkg/schema"
)

// The limits of a process.
const (
	// maxLine bounds a line of output, in bytes: some ten thousand rows. A call that
	// violates a clause in more ways than that is refused as unavailable.
	maxLine = 1 << 20
	// maxSaid is how much of what a process wrote to standard error is kept, in bytes.
	maxSaid = 2048
	// reapTime is how long a killed process may take to let go of its pipes. A wrapper
	// may have left a child that holds them.
	reapTime = time.Second
)

// process is a running binary that has read the beginning of some trace. It is used
// by one goroutine at a time, and never again after an error.
type process struct {
	asked *question
	cmd   *exec.Cmd
	in    io.WriteCloser
	out   *bufio.Reader
	said  *said

	next  uint64           // index of the next time point, as it counts
	ts    int64            // time stamp of the last one
	chain chain            // of the history that it has read
	rows  [][]schema.Value // its last answer
}

// start runs the binary on a question.
func start(binary string, q *question) (*process, error) {
	// Its life ends with stop: it serves many requests.
	cmd := exec.CommandContext(context.Background(), binary, q.files.arguments(
		"-verbose", "-no_rw", "-nofilteremptytp", "-nofilterrel", "-stop_at_out_of_order_ts")...)
	p := &process{asked: q, cmd: cmd, said: &said{}}
	cmd.Stderr, cmd.WaitDelay = p.said, reapTime
	// An interrupt from the terminal is for this program, which still answers what is
	// pending. When this program dies, the process reads the end of its log and ends too.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var err error
	if p.in, err = cmd.StdinPipe(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrProcess, err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrProcess, err)
	}
	p.out = bufio.NewReaderSize(out, 64<<10)
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrProcess, err)
	}
	if _, err := io.WriteString(p.in, "@"); err != nil {
		return nil, p.fail(err)
	}
	return p, nil
}

// step sends a time point and keeps the rows of the answer. The process is killed when
// ctx ends. After an error it has been stopped.
func (p *process) step(ctx context.Context, m *moment) error {
	line, err := p.asked.line(m)
	if err != nil {
		p.stop()
		return err
	}
	spare := context.AfterFunc(ctx, func() { _ = p.cmd.Process.Kill() }) // it may have ended: as good
	rows, err := p.exchange(line, m.ts)
	switch {
	case !spare():
		return p.fail(fmt.Errorf("no answer in time: %w", context.Cause(ctx)))
	case err != nil:
		return p.fail(err)
	}
	p.next, p.ts, p.rows = p.next+1, m.ts, rows
	return nil
}

// exchange sends a line and reads the answer, no more and no less.
func (p *process) exchange(line string, ts int64) ([][]schema.Value, error) {
	if p.out.Buffered() > 0 {
		return nil, fmt.Errorf("%w: output before it was asked", ErrAnswer)
	}
	if _, err := io.WriteString(p.in, line+"\n"); err != nil {
		return nil, err
	}
	head, err := p.readLine()
	if err != nil {
		return nil, err
	}
	if want := header(p.next); head != want {
		return nil, fmt.Errorf("%w: %s where %q was expected", ErrAnswer, excerpt(head), want)
	}
	body, err := p.readLine()
	if err != nil {
		return nil, err
	}
	rows, err := p.asked.parseAnswer(body, p.next, ts)
	if err == nil && p.out.Buffered() > 0 {
		err = fmt.Errorf("%w: more than one answer to time point %d", ErrAnswer, p.next)
	}
	return rows, err
}

// readLine reads a line without its end.
func (p *process) readLine() (string, error) {
	var line []byte
	for {
		part, err := p.out.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case err == nil:
			return string(line[:len(line)-1]), nil
		case len(line) > maxLine:
			return "", fmt.Errorf("%w: a line of more than %d bytes", ErrAnswer, maxLine)
		case errors.Is(err, bufio.ErrBufferFull):
		case len(line) > 0:
			return "", fmt.Errorf("%w: it ends within a line: %s", ErrAnswer, excerpt(string(line)))
		default:
			return "", err
		}
	}
}

// fail stops the process and says why, with what it said itself.
func (p *process) fail(err error) error {
	p.stop()
	if text := p.said.String(); text != "" {
		return fmt.Errorf("%w: %w; it said %s", ErrProcess, err, text)
	}
	return fmt.Errorf("%w: %w", ErrProcess, err)
}

// stop kills the process and waits for its end.
func (p *process) stop() {
	_ = p.in.Close()
	_ = p.cmd.Process.Kill() // it may have ended by itself
	_ = p.cmd.Wait()         // killed, as asked
}

// said keeps the end of what a process wrote to standard error. It may be read after
// the process was waited for.
type said struct{ text []byte }

// Write never fails.
func (s *said) Write(b []byte) (int, error) {
	s.text = append(s.text, b...)
	if n := len(s.text) - maxSaid; n > 0 {
		s.text = s.text[n:]
	}
	return len(b), nil
}

// String is the text in quotes, so that it stays one line; empty if there is none.
func (s *said) String() string {
	text := bytes.TrimSpace(s.text)
	if len(text) == 0 {
		return ""
	}
	return fmt.Sprintf("%q", text)
}
