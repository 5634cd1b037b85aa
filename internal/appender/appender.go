// Package appender numbers events and appends them to one partition in order. It is
// shared by the roles that are producers of the events topic: gates and ingests.
package appender

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/aspis-rv/aspis/internal/bus"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// ErrUnrecorded is wrapped by every failure to append; the record may or may not be
// in the log.
var ErrUnrecorded = errors.New("appender: the record could not be written to the log")

// Appender appends to one partition. Sequence numbers ascend without gaps within an
// incarnation; after a failure a new incarnation begins, because it is not known
// what of the old one was written (protocol, rule 3). Safe for concurrent use.
type Appender struct {
	partition uint32
	producer  string
	pub       bus.Publisher
	timeout   time.Duration
	dirty     chan struct{}

	mu struct {
		sync.Mutex
		incarnation uint64
		seq         uint64
		waiting     []*Ticket
		failing     bool
	}
}

// recordSize is room for an ordinary event, so that encoding one allocates once.
const recordSize = 512

// Ticket is an append under way.
type Ticket struct {
	done chan struct{}
	err  error
}

// Done is closed when the fate of the append is known.
func (t *Ticket) Done() <-chan struct{} { return t.done }

// Err returns the failure, or nil when the record is durable; only after Done.
func (t *Ticket) Err() error { return t.err }

// Wait returns when the record is durable, with the failure, or with the error of
// ctx; the append goes on in that case.
func (t *Ticket) Wait(ctx context.Context) error {
	select {
	case <-t.done:
		return t.err
	case <-ctx.Done():
		return fmt.Errorf("%w: %w", ErrUnrecorded, ctx.Err())
	}
}

// New returns an appender for one partition. The incarnation must be larger than
// that of any earlier process of this producer; a start time in ns serves.
// Run has to be running for tickets to be resolved.
func New(b bus.Bus, partition uint32, producer string, incarnation uint64, timeout time.Duration) *Appender {
	a := &Appender{
		partition: partition, producer: producer, pub: b.NewPublisher(), timeout: timeout,
		dirty: make(chan struct{}, 1),
	}
	a.mu.incarnation = incarnation
	return a
}

// Append numbers ev and hands it to the bus. The order of calls is the order in the
// log. An error means that it was not accepted and nothing was written: it wraps
// bus.ErrFull when the log takes no more records of this class. Otherwise the
// ticket tells the fate. ev must not be modified until then.
func (a *Appender) Append(ev *schema.Event, class bus.Class) (*Ticket, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	ev.Producer, ev.Incarnation, ev.Seq = a.producer, a.mu.incarnation, a.mu.seq+1
	data, err := ev.AppendBinary(make([]byte, 0, recordSize))
	if err != nil {
		return nil, fmt.Errorf("appender: %w", err)
	}
	err = a.pub.Emit(bus.Message{Topic: bus.Events, Partition: a.partition, Class: class, Data: data})
	defer a.wake() // also to hear of earlier failures, after which nothing is accepted
	if err != nil {
		a.mu.failing = true
		return nil, fmt.Errorf("%w: %w", ErrUnrecorded, err)
	}
	a.mu.seq++
	t := &Ticket{done: make(chan struct{})}
	a.mu.waiting = append(a.mu.waiting, t)
	return t, nil
}

func (a *Appender) wake() {
	select {
	case a.dirty <- struct{}{}:
	default:
	}
}

// Run resolves tickets until ctx ends; tickets still open then fail.
func (a *Appender) Run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			a.resolve(a.take(), ctx.Err())
			return
		case <-a.dirty:
			a.sync(ctx)
		}
	}
}

func (a *Appender) take() []*Ticket {
	a.mu.Lock()
	defer a.mu.Unlock()
	waiting := a.mu.waiting
	a.mu.waiting = nil
	return waiting
}

// sync waits for what was emitted. A failure is charged to every append since the
// last sync, also to those emitted meanwhile: which of them failed is not known.
func (a *Appender) sync(ctx context.Context) {
	waiting := a.take()
	ctx, cancel := context.WithTimeout(ctx, a.timeout)
	defer cancel()
	err := a.pub.Sync(ctx)
	if err != nil {
		waiting = append(waiting, a.renew()...)
		a.wake() // the bus accepts again once a Sync comes without a failure
	}
	if err != nil || len(waiting) > 0 {
		a.mu.Lock()
		a.mu.failing = err != nil
		a.mu.Unlock()
	}
	a.resolve(waiting, err)
}

// Failing reports whether the last append whose fate is known was a failure.
func (a *Appender) Failing() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.mu.failing
}

// renew begins a new incarnation and returns the tickets of the old one.
func (a *Appender) renew() []*Ticket {
	a.mu.Lock()
	defer a.mu.Unlock()
	waiting := a.mu.waiting
	a.mu.waiting = nil
	a.mu.incarnation++
	a.mu.seq = 0
	return waiting
}

func (a *Appender) resolve(tickets []*Ticket, err error) {
	for _, t := range tickets {
		if err != nil {
			t.err = fmt.Errorf("%w: %w", ErrUnrecorded, err)
		}
		close(t.done)
	}
}
