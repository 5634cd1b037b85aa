package natsbus

import (
	"sync"

	"github.com/aspis-rv/aspis/internal/bus"
)

// Limits of a live cursor's buffer. At 10,000 records a second in one partition a
// reader may pause for a tenth of a second before it is cut off and has to read from
// the stream, which costs it a few hundred microseconds and no record. 200 cursors
// that all lag hold 200 MiB at most.
const (
	bufferRecords = 1024
	bufferBytes   = 1 << 20
)

// buffer is what the tail has delivered and a cursor has not read. The tail never
// waits for it: when it is full it is cut, and the cursor reads on from the stream.
type buffer struct {
	joined chan struct{} // closed when every record from then on is put in
	wake   chan struct{} // of capacity 1: there is something to see
	mu     struct {
		sync.Mutex
		records []bus.Record // a queue from head
		head    int
		bytes   int
		ended   bool
	}
}

func newBuffer() *buffer {
	return &buffer{joined: make(chan struct{}), wake: make(chan struct{}, 1)}
}

// join marks the buffer as joined; the tail's lock is held.
func (b *buffer) join() {
	if !b.isJoined() {
		close(b.joined)
	}
}

func (b *buffer) isJoined() bool {
	select {
	case <-b.joined:
		return true
	default:
		return false
	}
}

// put adds a record, or cuts the buffer and returns false. A single record always
// fits.
func (b *buffer) put(r bus.Record) bool {
	b.mu.Lock()
	waiting := len(b.mu.records) - b.mu.head
	ok := waiting == 0 || waiting < bufferRecords && b.mu.bytes+len(r.Data) <= bufferBytes
	if ok {
		if b.mu.head > 0 && len(b.mu.records) == cap(b.mu.records) {
			n := copy(b.mu.records, b.mu.records[b.mu.head:])
			clear(b.mu.records[n:])
			b.mu.records, b.mu.head = b.mu.records[:n], 0
		}
		b.mu.records = append(b.mu.records, r)
		b.mu.bytes += len(r.Data)
	} else {
		b.mu.ended = true
	}
	b.mu.Unlock()
	b.signal()
	return ok
}

// cut ends the buffer: what is in it can still be taken, nothing comes any more.
func (b *buffer) cut() {
	b.mu.Lock()
	b.mu.ended = true
	b.mu.Unlock()
	b.signal()
}

func (b *buffer) signal() {
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// take returns the next record, or whether the buffer has ended.
func (b *buffer) take() (r bus.Record, ok, ended bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.mu.head == len(b.mu.records) {
		return bus.Record{}, false, b.mu.ended
	}
	r = b.mu.records[b.mu.head]
	b.mu.records[b.mu.head] = bus.Record{}
	b.mu.head++
	b.mu.bytes -= len(r.Data)
	if b.mu.head == len(b.mu.records) {
		b.mu.records, b.mu.head = b.mu.records[:0], 0
	}
	return r, true, false
}
