// Package bus is the log as the roles see it: ordered partitions of opaque
// records, durable on acknowledgement, read from any position to the live tail.
// It knows nothing about payloads.
//
// One Bus is one connection. Roles that share a process may share a Bus, but each
// owner of a partition takes a publisher of its own from NewPublisher, because Emit
// and Sync belong together: a failure is reported once, to whoever calls Sync next.
//
// What leaks from the drivers underneath is part of the contract: offsets ascend
// within a partition but may have holes and may start at 0 or 1; record times are
// the broker's append time, in the broker's resolution.
package bus

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// The errors of a log. Drivers wrap them, so that errors.Is finds them.
var (
	// ErrExists is returned by Create when the key was already written.
	ErrExists = errors.New("bus: key already exists")
	// ErrFull is returned for Ordinary records when the topic is filled to the level
	// at which only reserved records are accepted, and for any record beyond that.
	ErrFull = errors.New("bus: topic is full")
	// ErrUnavailable is returned when the broker cannot be reached or does not answer
	// in time. The record may or may not have been written.
	ErrUnavailable = errors.New("bus: broker unavailable")
	// ErrTooLarge is returned for a record over the broker's size limit.
	ErrTooLarge = errors.New("bus: record too large")
	// ErrStale is returned by PutSnapshot when the revision is not the current one.
	ErrStale = errors.New("bus: snapshot revision is stale")
	// ErrNoSnapshot is returned by GetSnapshot when the key has none.
	ErrNoSnapshot = errors.New("bus: no snapshot")
	// ErrDamaged is returned by GetSnapshot, with the revision, when what is stored is
	// not what was put. The key can be written again with that revision.
	ErrDamaged = errors.New("bus: snapshot is damaged")
	// ErrTrimmed is returned when reading from an offset that retention has removed
	// or that the log does not reach. The reader has to start over.
	ErrTrimmed = errors.New("bus: position no longer retained")
	// ErrClosed is returned by every operation after Close.
	ErrClosed = errors.New("bus: closed")
	// ErrInvalid is returned for an argument that no bus of this size accepts: an
	// unknown topic or class, a partition that does not exist, an empty key.
	ErrInvalid = errors.New("bus: invalid argument")
)

// Limits that hold for every driver, so that a record accepted by one is accepted by
// all.
const (
	// MaxRecordBytes is the largest Data of a record. The brokers' default message
	// limit is 1 MiB; 64 KiB of it are left to subject, headers and framing.
	MaxRecordBytes = 1<<20 - 64<<10
	// MaxSnapshotBytes is the largest snapshot value. The state of a partition with
	// 10,000 idle sessions is a few MiB; a hundred times the median is room enough,
	// and a value is held in memory twice while it is written.
	MaxSnapshotBytes = 64 << 20
	// OrdinaryShare is the part of a topic's capacity that Ordinary records may fill.
	OrdinaryShare = 0.9
)

// Topic is one of the log's two topics.
type Topic uint8

// The topics.
const (
	Events   Topic = iota // everything that can influence a verdict
	Verdicts              // what aspects say
)

// String names the topic as logs and errors show it.
func (t Topic) String() string {
	switch t {
	case Events:
		return "events"
	case Verdicts:
		return "verdicts"
	}
	return fmt.Sprintf("topic(%d)", uint8(t))
}

// Class decides which part of a topic's capacity a record may use.
type Class uint8

// The classes.
const (
	Ordinary Class = iota // calls and whatever else can be refused
	Reserved              // resolutions, results, authority records, ticks
)

// String names the class as logs and errors show it.
func (c Class) String() string {
	switch c {
	case Ordinary:
		return "ordinary"
	case Reserved:
		return "reserved"
	}
	return fmt.Sprintf("class(%d)", uint8(c))
}

// Message is a record to be appended.
type Message struct {
	Topic     Topic
	Partition uint32
	Class     Class
	// ID, when set, makes a repeated append of the same record within the broker's
	// window (at least two minutes) a no-op that returns the first offset.
	ID   string
	Data []byte // owned by the bus until the call returns
}

// Check reports what is wrong with m for a bus of the given number of partitions:
// ErrInvalid or ErrTooLarge, wrapped, or nil. Every driver calls it before anything
// else.
func (m Message) Check(partitions uint32) error {
	if err := CheckLane(m.Topic, m.Partition, partitions); err != nil {
		return err
	}
	switch m.Class {
	case Ordinary, Reserved:
	default: // a number that is no class
		return fmt.Errorf("%w: %v", ErrInvalid, m.Class)
	}
	if len(m.Data) > MaxRecordBytes {
		return fmt.Errorf("%w: %d bytes, at most %d are accepted", ErrTooLarge, len(m.Data), MaxRecordBytes)
	}
	return nil
}

// CheckLane reports ErrInvalid, wrapped, when t is no topic or partition is not below
// partitions.
func CheckLane(t Topic, partition, partitions uint32) error {
	switch t {
	case Events, Verdicts:
	default: // a number that is no topic
		return fmt.Errorf("%w: %v", ErrInvalid, t)
	}
	if partition >= partitions {
		return fmt.Errorf("%w: partition %d of a bus with %d partitions", ErrInvalid, partition, partitions)
	}
	return nil
}

// Record is a record read from the log.
type Record struct {
	Partition uint32
	Offset    uint64
	// Time is the broker's append time. To a cursor that follows the live tail over the
	// connection that appended the record, a driver may give the time of sending
	// instead. It never decreases along a cursor.
	Time time.Time
	Data []byte // read-only, valid for ever
}

// StartKind says where a cursor starts.
type StartKind uint8

// The starts.
const (
	Earliest StartKind = iota // the first retained record
	Latest                    // only records appended after Read returned
	AtOffset                  // the first record at or after Offset
	AtTime                    // the first record appended at or after Time, which is not in the future
)

// Start is the position at which Read begins.
type Start struct {
	Kind   StartKind
	Offset uint64
	Time   time.Time
}

// Publisher appends records. Appends to one partition whose calls follow one another
// keep their order, whichever of Publish, Create and Emit they are.
type Publisher interface {
	// Publish appends m and returns its offset once it is durable.
	Publish(ctx context.Context, m Message) (offset uint64, err error)
	// Create appends m unless key was already created in the same topic and
	// partition, in which case it fails with ErrExists. It holds for as long as the
	// first record is retained. The key is the identity: m.ID is ignored.
	Create(ctx context.Context, key string, m Message) (offset uint64, err error)
	// Emit appends m without waiting for the acknowledgement. Records emitted by one
	// Publisher to one partition keep their order. It waits only while the bounded
	// window of unacknowledged records is full, at most for the driver's time-out.
	// An error returned here says that m was not accepted and is not repeated by
	// Sync; a later failure is reported by the next Sync. Once a record is known to
	// be lost, a driver may accept nothing until a Sync has reported it and a further
	// one has returned nil, so that its emitter knows before anything follows it.
	Emit(m Message) error
	// Sync returns when everything emitted by this Publisher before it is durable, or
	// with the first failure since the last Sync.
	Sync(ctx context.Context) error
}

// Reader opens cursors.
type Reader interface {
	// Read returns a cursor over one partition in log order. It fails with
	// ErrTrimmed when start is AtOffset and records at or after it are gone, or may
	// be where the driver's offsets are shared by all partitions, and also when
	// Offset lies beyond the end of the log (a log that lost its tail; the offset
	// after the last record read is never beyond it). ctx governs the opening only.
	Read(ctx context.Context, t Topic, partition uint32, start Start) (Cursor, error)
	// Bounds returns the offset of the first retained record and the offset that
	// follows the last one; equal when the partition is empty.
	Bounds(ctx context.Context, t Topic, partition uint32) (first, next uint64, err error)
}

// Cursor reads one partition. The live tail is the replay: Next blocks at the end
// until a record arrives. A cursor is used by one goroutine; Close may be called
// from another and unblocks Next with ErrClosed.
//
// A cursor resumes after its last record by itself when the broker comes back; it
// never skips or repeats a record. When the records that follow were removed by
// retention before they were read, Next fails with ErrTrimmed and goes on failing.
type Cursor interface {
	// Next returns the next record, or the error of ctx; after that it may be called
	// again. An ended ctx is noticed even when records are waiting.
	Next(ctx context.Context) (Record, error)
	// Close releases the cursor. Closing twice is allowed.
	Close() error
}

// Snapshots keeps one opaque value per key with compare-and-set.
type Snapshots interface {
	// PutSnapshot stores data under key if revision is the current revision of the
	// key (0: the key has none) and returns the new revision; else ErrStale. Values
	// up to MaxSnapshotBytes are accepted, else ErrTooLarge.
	PutSnapshot(ctx context.Context, key string, revision uint64, data []byte) (uint64, error)
	// GetSnapshot returns the value and its revision, or ErrNoSnapshot, or ErrDamaged
	// and the revision. The caller owns the value.
	GetSnapshot(ctx context.Context, key string) (data []byte, revision uint64, err error)
}

// Bus is a driver: all of the above over one deployment. Safe for concurrent use.
//
//nolint:interfacebloat // its parts are small; this is what a driver is, and who needs a part takes that
type Bus interface {
	Publisher
	Reader
	Snapshots
	// NewPublisher returns a publisher over the same connection whose Emit and Sync
	// know nothing of those of others. It needs no closing.
	NewPublisher() Publisher
	// Partitions is the number of partitions, fixed at creation.
	Partitions() uint32
	// Usage returns how full a topic is, from 0 to 1, against its nearest limit. It
	// may be up to a second old.
	Usage(ctx context.Context, t Topic) (float64, error)
	// Close ends the connection. It does not stop or remove anything in the broker.
	Close() error
}
