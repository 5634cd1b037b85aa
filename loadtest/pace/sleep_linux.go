package pace

import (
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// Sleeper waits with the precision of the kernel's timers, some ten microseconds,
// without holding a processor. The runtime's own timers are rounded up to a
// millisecond while a process is otherwise idle, which would be several times what
// is measured. Used by one goroutine.
type Sleeper struct {
	file *os.File
	fd   int
	buf  [8]byte
}

// NewSleeper returns a sleeper; Close frees it.
func NewSleeper() (*Sleeper, error) {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("pace: timer: %w", err)
	}
	return &Sleeper{file: os.NewFile(uintptr(fd), "timer"), fd: fd}, nil
}

// Sleep waits for d.
func (s *Sleeper) Sleep(d time.Duration) {
	if d <= 0 {
		return
	}
	spec := unix.ItimerSpec{Value: unix.NsecToTimespec(int64(d))}
	if err := unix.TimerfdSettime(s.fd, 0, &spec, nil); err != nil {
		time.Sleep(d)
		return
	}
	if _, err := s.file.Read(s.buf[:]); err != nil {
		time.Sleep(d)
	}
}

// Close frees the timer.
func (s *Sleeper) Close() error { return s.file.Close() }
