package natsbus

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/aspis-rv/aspis/internal/bus"
)

// emits follows the emitted records of one publisher. Records are numbered from 1.
type emits struct {
	mu struct {
		sync.Mutex
		sent    uint64
		link    uint64          // number of the connection the last one was sent on
		settled uint64          // all up to here have landed
		landed  map[uint64]bool // those beyond, out of order: two streams interleave
		failed  error           // the first since the last Sync
		refuse  error           // set by a failure, until a Sync without one
		changed chan struct{}   // closed when settled grows; nil while nobody waits
	}
}

func newEmits() *emits {
	e := &emits{}
	e.mu.landed = make(map[uint64]bool)
	return e
}

// next returns the number of a record about to be sent on a connection. It refuses after
// an earlier record was lost, or may have been because the connection is another by now,
// until a Sync has told of it and another has found everything settled: what follows a
// lost record must not be written before its emitter has taken notice.
func (e *emits) next(link uint64) (uint64, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.mu.refuse != nil:
		return 0, fmt.Errorf("natsbus: an earlier record was lost: %w", e.mu.refuse)
	case e.mu.settled < e.mu.sent && e.mu.link != link:
		return 0, fmt.Errorf("%w: the connection broke with records under way", bus.ErrUnavailable)
	}
	e.mu.link = link
	e.mu.sent++
	return e.mu.sent, nil
}

// landed settles record n. A record that was never sent is settled without error.
func (e *emits) landed(n uint64, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if err != nil && e.mu.failed == nil {
		e.mu.failed, e.mu.refuse = err, err
	}
	e.mu.landed[n] = true
	for e.mu.landed[e.mu.settled+1] {
		delete(e.mu.landed, e.mu.settled+1)
		e.mu.settled++
	}
	if e.mu.changed != nil {
		close(e.mu.changed)
		e.mu.changed = nil
	}
}

// wait returns when every record sent so far has landed, with the first failure since
// the last call. It needs no time-out of its own: every flight has one.
func (e *emits) wait(ctx context.Context, closed <-chan struct{}) error {
	e.mu.Lock()
	target := e.mu.sent
	for e.mu.settled < target {
		if e.mu.changed == nil {
			e.mu.changed = make(chan struct{})
		}
		changed := e.mu.changed
		e.mu.Unlock()
		select {
		case <-changed:
		case <-closed:
			return bus.ErrClosed
		case <-ctx.Done():
			return fmt.Errorf("natsbus: sync: %w", ctx.Err())
		}
		e.mu.Lock()
	}
	err := e.mu.failed
	e.mu.failed = nil
	if err == nil {
		e.mu.refuse = nil
	}
	e.mu.Unlock()
	return err
}

// Limits of what Emit leaves unacknowledged per connection. At 100,000 records a second
// and an acknowledgement within a few milliseconds some hundred are in flight; the
// server queues up to 100,000 records and 128 MiB per stream before it refuses.
const (
	windowRecords = 4096
	windowBytes   = 32 << 20
)

// window bounds what is in flight by Emit.
type window struct {
	mu struct {
		sync.Mutex
		records int
		bytes   int64
		freed   chan struct{} // closed when room becomes free; nil while nobody waits
	}
}

func newWindow() *window { return &window{} }

// enter takes room for a record, waiting up to timeout for it.
func (w *window) enter(size int64, timeout time.Duration, closed <-chan struct{}) error {
	var late <-chan time.Time
	for {
		w.mu.Lock()
		if w.mu.records == 0 || w.mu.records < windowRecords && w.mu.bytes+size <= windowBytes {
			w.mu.records++
			w.mu.bytes += size
			w.mu.Unlock()
			return nil
		}
		if w.mu.freed == nil {
			w.mu.freed = make(chan struct{})
		}
		freed := w.mu.freed
		w.mu.Unlock()
		if late == nil {
			t := time.NewTimer(timeout)
			defer t.Stop()
			late = t.C
		}
		select {
		case <-freed:
		case <-closed:
			return bus.ErrClosed
		case <-late:
			return fmt.Errorf("%w: %d emitted records wait for their acknowledgement and none came within %v; the record was not sent",
				bus.ErrUnavailable, windowRecords, timeout)
		}
	}
}

// leave gives the room back.
func (w *window) leave(size int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.mu.records--
	w.mu.bytes -= size
	if w.mu.freed != nil {
		close(w.mu.freed)
		w.mu.freed = nil
	}
}
