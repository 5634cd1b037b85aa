// Package bus is the log as the roles see it: ordered partitions of opaque
// records, durable on acknowledgement, read from any position to the live tail.
// It knows nothing about payloads.
//
// What leaks from the drivers underneath is part of the contract: offsets ascend
// within a partition but may have holes and may start at 0 or 1; record times are
// the broker's append time, in the broker's resolution.
package bus

import (
	"context"
	"errors"
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
	// ErrTrimmed is returned when reading from an offset that retention has removed.
	ErrTrimmed = errors.New("bus: position no longer retained")
	// ErrClosed is returned by every operation after Close.
	ErrClosed = errors.New("bus: closed")
)

// Topic is one of the log's two topics.
type Topic uint8

// The topics.
const (
	Events   Topic = iota // everything that can influence a verdict
	Verdicts              // what aspects say
)

// Class decides which part of a topic's capacity a record may use.
type Class uint8

// The classes.
const (
	Ordinary Class = iota // calls and whatever else can be refused
	Reserved              // resolutions, results, authority records, ticks
)

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

// Record is a record read from the log.
type Record struct {
	Partition uint32
	Offset    uint64
	Time      time.Time // the broker's append time
	Data      []byte    // read-only, valid for ever
}

// StartKind says where a cursor starts.
type StartKind uint8

// The starts.
const (
	Earliest StartKind = iota // the first retained record
	Latest                    // only records appended after Read returned
	AtOffset                  // the first record at or after Offset
	AtTime                    // the first record appended at or after Time
)

// Start is the position at which Read begins.
type Start struct {
	Kind   StartKind
	Offset uint64
	Time   time.Time
}

// Publisher appends records.
type Publisher interface {
	// Publish appends m and returns its offset once it is durable.
	Publish(ctx context.Context, m Message) (offset uint64, err error)
	// Create appends m unless key was already created in the same topic and
	// partition, in which case it fails with ErrExists. It holds for as long as the
	// first record is retained.
	Create(ctx context.Context, key string, m Message) (offset uint64, err error)
	// Emit appends m without waiting. Records emitted by one Publisher to one
	// partition keep their order. A failure is reported by the next Sync.
	Emit(m Message) error
	// Sync returns when everything emitted before it is durable, or with the first
	// failure since the last Sync.
	Sync(ctx context.Context) error
}

// Reader opens cursors.
type Reader interface {
	// Read returns a cursor over one partition in log order. It fails with
	// ErrTrimmed when start is AtOffset and records at or after it are gone.
	Read(ctx context.Context, t Topic, partition uint32, start Start) (Cursor, error)
	// Bounds returns the offset of the first retained record and the offset that
	// follows the last one; equal when the partition is empty.
	Bounds(ctx context.Context, t Topic, partition uint32) (first, next uint64, err error)
}

// Cursor reads one partition. The live tail is the replay: Next blocks at the end
// until a record arrives. A cursor is used by one goroutine; Close may be called
// from another and unblocks Next with ErrClosed.
type Cursor interface {
	Next(ctx context.Context) (Record, error)
	Close() error
}

// Snapshots keeps one opaque value per key with compare-and-set.
type Snapshots interface {
	// PutSnapshot stores data under key if revision is the current revision of the
	// key (0: the key has none) and returns the new revision; else ErrStale. Values
	// of at least 64 MiB are accepted.
	PutSnapshot(ctx context.Context, key string, revision uint64, data []byte) (uint64, error)
	// GetSnapshot returns the value and its revision, or ErrNoSnapshot.
	GetSnapshot(ctx context.Context, key string) (data []byte, revision uint64, err error)
}

// Bus is a driver: all of the above over one deployment. Safe for concurrent use.
type Bus interface {
	Publisher
	Reader
	Snapshots
	// Partitions is the number of partitions, fixed at creation.
	Partitions() uint32
	// Usage returns how full a topic is, from 0 to 1, against its nearest limit. It
	// may be up to a second old.
	Usage(ctx context.Context, t Topic) (float64, error)
	// Close ends the connection. It does not stop or remove anything in the broker.
	Close() error
}
