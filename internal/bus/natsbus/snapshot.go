package natsbus

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/aspis-rv/aspis/internal/bus"
)

// inlineBytes is the largest value kept in the key-value bucket itself; with its head it
// stays below the server's default message limit of 1 MiB.
const inlineBytes = 900_000

// The first byte of an entry of the bucket says what follows.
const (
	entryInline  = 1 // the value
	entryChunked = 2 // a manifest as JSON
)

// manifest names a value kept as chunks: the records from First to Last of one subject
// of the chunk stream.
type manifest struct {
	Object string `json:"object"`
	First  uint64 `json:"first"`
	Last   uint64 `json:"last"`
	Size   int    `json:"size"`
	Digest []byte `json:"sha256"`
}

// snapshots stores values by compare-and-set in a key-value bucket. A large value is
// written as chunks first; the entry that names them is the switch; what the key had
// before is removed after it.
type snapshots struct {
	kv jetstream.KeyValue
	mu struct {
		sync.Mutex
		// inline names the keys whose current value was seen to be inline, so that
		// replacing it has nothing to clean up. At most inlineKnown are kept.
		inline map[string]uint64 // token to revision
	}
}

// inlineKnown bounds the memory of snapshots.inline; a process that owns more keys pays
// a round trip more.
const inlineKnown = 4096

func (s *snapshots) open(ctx context.Context, b *Bus) error {
	s.mu.inline = make(map[string]uint64)
	kv, err := b.js.KeyValue(ctx, snapshotBucket)
	if errors.Is(err, jetstream.ErrBucketNotFound) {
		kv, err = b.js.CreateKeyValue(ctx, jetstream.KeyValueConfig{
			Bucket:      snapshotBucket,
			Description: "snapshots of the roles' state",
			History:     1,
			MaxBytes:    b.cfg.snapshotLimit(),
			Storage:     jetstream.FileStorage,
			Replicas:    b.cfg.Replicas,
		})
		if errors.Is(err, jetstream.ErrBucketExists) {
			kv, err = b.js.KeyValue(ctx, snapshotBucket)
		}
	}
	if err != nil {
		return b.requestError(ctx, "open bucket "+snapshotBucket, err)
	}
	s.kv = kv
	_, err = b.openStream(ctx, jetstream.StreamConfig{
		Name:        chunkStream,
		Description: "chunks of large snapshots",
		Subjects:    []string{"sc.>"},
		Storage:     jetstream.FileStorage,
		Discard:     jetstream.DiscardNew,
		MaxBytes:    b.cfg.snapshotLimit(),
		MaxMsgSize:  -1,
		Replicas:    b.cfg.Replicas,
		AllowDirect: true,
	}, b.cfg.SnapshotBytes)
	return err
}

// snapshotLimit is the capacity of a stream of snapshots, -1 for none.
func (c Config) snapshotLimit() int64 {
	if c.SnapshotBytes == 0 {
		return -1
	}
	return c.SnapshotBytes
}

// PutSnapshot implements bus.Snapshots.
func (b *Bus) PutSnapshot(ctx context.Context, key string, revision uint64, data []byte) (uint64, error) {
	if err := b.ready(ctx); err != nil {
		return 0, err
	}
	if key == "" {
		return 0, fmt.Errorf("%w: a snapshot needs a key", bus.ErrInvalid)
	}
	if len(data) > bus.MaxSnapshotBytes {
		return 0, fmt.Errorf("%w: snapshot of %d bytes, at most %d are accepted", bus.ErrTooLarge, len(data), bus.MaxSnapshotBytes)
	}
	k := token(useSnapshot, 0, key)
	if len(data) <= inlineBytes {
		return b.putInline(ctx, k, revision, data)
	}
	return b.putChunked(ctx, k, revision, data)
}

func (b *Bus) putInline(ctx context.Context, k string, revision uint64, data []byte) (uint64, error) {
	// What the key had as chunks lies below this sequence.
	var below uint64
	if revision != 0 && !b.snaps.wasInline(k, revision) {
		info, err := b.streamInfo(ctx, chunkStream)
		if err != nil {
			return 0, err
		}
		below = info.State.LastSeq + 1
	}
	entry := append(make([]byte, 0, 1+len(data)), entryInline)
	now, err := b.switchEntry(ctx, k, revision, append(entry, data...))
	if err != nil {
		return 0, err
	}
	b.snaps.sawInline(k, now)
	if below > 1 {
		b.purgeChunks(ctx, k, below)
	}
	return now, nil
}

func (b *Bus) putChunked(ctx context.Context, k string, revision uint64, data []byte) (uint64, error) {
	// A writer that is late should not upload first.
	if _, at, err := b.entry(ctx, k); err != nil && !errors.Is(err, bus.ErrNoSnapshot) {
		return 0, err
	} else if at != revision {
		return 0, stale(revision)
	}
	digest := sha256.Sum256(data)
	man := manifest{Size: len(data), Digest: digest[:]}
	err := b.writeChunks(ctx, k, &man, data)
	if err == nil {
		var entry []byte
		if entry, err = json.Marshal(man); err == nil {
			var now uint64
			now, err = b.switchEntry(ctx, k, revision, append([]byte{entryChunked}, entry...))
			if err == nil {
				b.purgeChunks(ctx, k, man.First)
				return now, nil
			}
		}
	}
	if !errors.Is(err, bus.ErrUnavailable) {
		// The entry does not name them. If that is not known, the next put removes them.
		b.removeChunks(ctx, k, man.Object)
	}
	return 0, err
}

// switchEntry writes the entry of a key if revision is current.
func (b *Bus) switchEntry(ctx context.Context, k string, revision uint64, entry []byte) (uint64, error) {
	bounded, cancel := b.bounded(ctx)
	defer cancel()
	now, err := b.snaps.kv.Update(bounded, k, entry, revision)
	if err != nil {
		err = b.requestError(ctx, "put snapshot", err)
		if errors.Is(err, bus.ErrExists) { // the wrong last sequence
			return 0, stale(revision)
		}
		return 0, err
	}
	return now, nil
}

func stale(revision uint64) error {
	return fmt.Errorf("%w: %d is not the current one", bus.ErrStale, revision)
}

// entry reads the entry of a key.
func (b *Bus) entry(ctx context.Context, k string) ([]byte, uint64, error) {
	bounded, cancel := b.bounded(ctx)
	defer cancel()
	e, err := b.snaps.kv.Get(bounded, k)
	switch {
	case errors.Is(err, jetstream.ErrKeyNotFound):
		return nil, 0, bus.ErrNoSnapshot
	case err != nil:
		return nil, 0, b.requestError(ctx, "get snapshot", err)
	}
	return e.Value(), e.Revision(), nil
}

// readTries is how often a large value is looked for: it may be replaced, and its chunks
// removed, while it is read, but hardly so often.
const readTries = 5

// GetSnapshot implements bus.Snapshots.
func (b *Bus) GetSnapshot(ctx context.Context, key string) ([]byte, uint64, error) {
	if err := b.ready(ctx); err != nil {
		return nil, 0, err
	}
	k := token(useSnapshot, 0, key)
	var revision uint64
	var failed error
	for range readTries {
		entry, now, err := b.entry(ctx, k)
		if err != nil {
			return nil, 0, err
		}
		if failed != nil && now == revision {
			break // not replaced meanwhile: that was not the reason
		}
		revision = now
		var data []byte
		data, failed = b.value(ctx, k, entry)
		if failed == nil {
			return data, revision, nil
		}
		if err := ctx.Err(); err != nil {
			return nil, 0, err
		}
	}
	if errors.Is(failed, bus.ErrDamaged) {
		return nil, revision, failed
	}
	return nil, 0, b.requestError(ctx, "get snapshot", failed)
}

// value returns the value an entry stands for.
func (b *Bus) value(ctx context.Context, k string, entry []byte) ([]byte, error) {
	if len(entry) == 0 {
		return nil, fmt.Errorf("%w: empty entry", bus.ErrDamaged)
	}
	switch entry[0] {
	case entryInline:
		return entry[1:], nil
	case entryChunked:
		var man manifest
		if err := json.Unmarshal(entry[1:], &man); err != nil {
			return nil, fmt.Errorf("%w: manifest: %w", bus.ErrDamaged, err)
		}
		return b.readChunks(ctx, k, man)
	}
	return nil, fmt.Errorf("%w: entry of unknown kind %d", bus.ErrDamaged, entry[0])
}

func (s *snapshots) wasInline(k string, revision uint64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.mu.inline[k] == revision
}

func (s *snapshots) sawInline(k string, revision uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.mu.inline) >= inlineKnown {
		clear(s.mu.inline)
	}
	s.mu.inline[k] = revision
}
