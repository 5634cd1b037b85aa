// Package membus is the log in memory: bounded, deterministic and safe for
// concurrent use, for tests and for processes that keep nothing.
//
// A record's offset depends on its own partition alone, so a test that appends to
// each partition in a fixed order sees fixed offsets whatever the scheduling. Nothing
// waits while it holds a lock, so every wait is durably blocking in the sense of
// testing/synctest, and a whole pipeline over this bus runs in a bubble.
package membus

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/aspis-rv/aspis/internal/bus"
)

// ErrAckLost is for a Fault hook to return, wrapped or not: the record is appended all
// the same and only its acknowledgement is lost, so the call fails with
// bus.ErrUnavailable and the record is in the log.
var ErrAckLost = errors.New("membus: acknowledgement lost")

// Op names the operation a Fault hook is asked about.
type Op uint8

// The operations.
const (
	OpPublish Op = iota
	OpCreate
	OpEmit
	OpSnapshot // m carries the value in Data and nothing else
)

// Defaults of Config.
const (
	// DefaultPartitions is few enough to keep a failing test readable and enough to
	// show a mistaken partition.
	DefaultPartitions = 8
	// DefaultTopicBytes holds some hundred thousand calls of ordinary size, more than
	// a test writes.
	DefaultTopicBytes = 64 << 20
	// DefaultSnapshotBytes bounds all snapshot values together: four of the largest.
	DefaultSnapshotBytes = 4 * bus.MaxSnapshotBytes
	// recordOverhead is what a record costs beyond its bytes: its header in the lane
	// and its entry in the key and duplicate tables.
	recordOverhead = 64
	// dedupWindow is how long an ID is remembered: the least bus.Message promises.
	dedupWindow = 2 * time.Minute
)

// Config configures a log. The zero value is usable.
type Config struct {
	// Partitions is the number of partitions; 0 means DefaultPartitions.
	Partitions uint32
	// TopicBytes is the capacity of each topic, counting 64 bytes for every record
	// besides its data, key and ID; 0 means DefaultTopicBytes.
	TopicBytes int64
	// SnapshotBytes is the capacity for all snapshot values together; 0 means
	// DefaultSnapshotBytes.
	SnapshotBytes int64
	// ZeroBased makes offsets start at 0, as Kafka's do; otherwise they start at 1,
	// as those of NATS do.
	ZeroBased bool
	// Now gives the append time; nil means time.Now. Times within a partition never
	// go back even if Now does.
	Now func() time.Time
	// Fault, when set, is asked before every append and snapshot; an error makes the
	// operation fail without effect (but see ErrAckLost). For Emit the failure is
	// reported by the next Sync. It is called from the caller's goroutine, without a
	// lock held.
	Fault func(op Op, m bus.Message) error
}

// Bus is a connection to a log in memory. It implements bus.Bus.
type Bus struct {
	publisher
	log    *log
	once   sync.Once
	closed chan struct{}
}

var _ bus.Bus = (*Bus)(nil)

// New returns a connection to a new, empty log.
func New(cfg Config) *Bus {
	return connect(newLog(cfg))
}

func connect(l *log) *Bus {
	b := &Bus{log: l, closed: make(chan struct{})}
	b.publisher = publisher{bus: b, failed: new(firstError)}
	return b
}

// Connect returns another connection to the same log, as another process would hold
// one. It works on a closed Bus too: the log lives as long as anyone holds it.
func (b *Bus) Connect() *Bus { return connect(b.log) }

// NewPublisher implements bus.Bus.
func (b *Bus) NewPublisher() bus.Publisher {
	return &publisher{bus: b, failed: new(firstError)}
}

// Partitions implements bus.Bus.
func (b *Bus) Partitions() uint32 { return b.log.cfg.Partitions }

// Usage implements bus.Bus; it is exact.
func (b *Bus) Usage(ctx context.Context, t bus.Topic) (float64, error) {
	if err := b.ready(ctx); err != nil {
		return 0, err
	}
	if err := bus.CheckLane(t, 0, b.Partitions()); err != nil {
		return 0, err
	}
	return b.log.topic(t).usage(), nil
}

// Trim removes the records of one partition below before, as retention would. A
// cursor that has not read them yet fails with bus.ErrTrimmed.
func (b *Bus) Trim(t bus.Topic, partition uint32, before uint64) error {
	if err := bus.CheckLane(t, partition, b.Partitions()); err != nil {
		return err
	}
	b.log.topic(t).trim(partition, before)
	return nil
}

// Close implements bus.Bus. Cursors of this connection end with bus.ErrClosed; other
// connections and the records stay.
func (b *Bus) Close() error {
	b.once.Do(func() { close(b.closed) })
	return nil
}

// ready returns the reason why an operation cannot start, or nil.
func (b *Bus) ready(ctx context.Context) error {
	select {
	case <-b.closed:
		return bus.ErrClosed
	default:
	}
	return ctx.Err()
}

// fault asks the hook. It returns whether the record is to be appended and the error
// the caller is to see.
func (b *Bus) fault(op Op, m bus.Message) (appended bool, err error) {
	if b.log.cfg.Fault == nil {
		return true, nil
	}
	err = b.log.cfg.Fault(op, m)
	switch {
	case err == nil:
		return true, nil
	case errors.Is(err, ErrAckLost):
		return true, fmt.Errorf("%w: %w", bus.ErrUnavailable, err)
	}
	return false, err
}
