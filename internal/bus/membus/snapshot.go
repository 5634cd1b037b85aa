package membus

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/aspis-rv/aspis/internal/bus"
)

// snapshots is the store of snapshot values. Revisions count over all keys, so a
// revision of one key is never valid for another by accident.
type snapshots struct {
	mu struct {
		sync.Mutex
		revision uint64
		used     int64
		byKey    map[string]snapshot
	}
}

// snapshot is one value; its data is never written again.
type snapshot struct {
	revision uint64
	data     []byte
}

func (s *snapshots) init() { s.mu.byKey = make(map[string]snapshot) }

// PutSnapshot implements bus.Snapshots. Values that do not fit into
// Config.SnapshotBytes are refused with bus.ErrFull.
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
	stored, lost := b.fault(OpSnapshot, bus.Message{Data: data})
	if !stored {
		return 0, lost
	}
	current, err := b.log.snaps.put(key, revision, data, b.log.cfg.SnapshotBytes)
	if err != nil {
		return 0, err
	}
	if lost != nil {
		return 0, lost
	}
	return current, nil
}

// GetSnapshot implements bus.Snapshots.
func (b *Bus) GetSnapshot(ctx context.Context, key string) ([]byte, uint64, error) {
	if err := b.ready(ctx); err != nil {
		return nil, 0, err
	}
	s := &b.log.snaps
	s.mu.Lock()
	defer s.mu.Unlock()
	v, ok := s.mu.byKey[key]
	if !ok {
		return nil, 0, bus.ErrNoSnapshot
	}
	return slices.Clone(v.data), v.revision, nil
}

func (s *snapshots) put(key string, revision uint64, data []byte, limit int64) (uint64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.mu.byKey[key]
	if old.revision != revision {
		return 0, fmt.Errorf("%w: %d, the current one is %d", bus.ErrStale, revision, old.revision)
	}
	used := s.mu.used + int64(len(data)) - int64(len(old.data))
	if used > limit {
		return 0, fmt.Errorf("%w: snapshots would hold %d of %d bytes", bus.ErrFull, used, limit)
	}
	s.mu.used = used
	s.mu.revision++
	s.mu.byKey[key] = snapshot{revision: s.mu.revision, data: slices.Clone(data)}
	return s.mu.revision, nil
}
