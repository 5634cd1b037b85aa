package aspectd

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"sync"

	"github.com/aspis-rv/aspis/internal/bus"
	"github.com/aspis-rv/aspis/internal/latch"
)

// folded lets others than the worker's own goroutine look at its judge between two
// records, and wait for a record. Safe for concurrent use.
type folded struct {
	mu struct {
		sync.Mutex
		marks latch.Marks
	}
}

// StateHash is the SHA-256 over the committed monitor states of the service's
// partitions, in their order, once all that was in the log at the time of the call is
// folded. It does not depend on which calls are pending. It fails when ctx ends
// before, or the log cannot be asked. The cost is that of encoding all states; it is
// meant for audits and tests.
func (s *Service) StateHash(ctx context.Context) ([sha256.Size]byte, error) {
	if err := s.Ready(ctx); err != nil {
		return [sha256.Size]byte{}, fmt.Errorf("aspectd: state hash: %w", err)
	}
	h := sha256.New()
	for _, w := range s.parts {
		part, err := w.stateHash(ctx)
		if err != nil {
			return [sha256.Size]byte{}, fmt.Errorf("aspectd: state hash of partition %d: %w", w.partition, err)
		}
		h.Write(binary.BigEndian.AppendUint32(nil, w.partition))
		h.Write(part[:])
	}
	return [sha256.Size]byte(h.Sum(nil)), nil
}

func (w *worker) stateHash(ctx context.Context) ([sha256.Size]byte, error) {
	_, next, err := w.cfg.Bus.Bounds(ctx, bus.Events, w.partition)
	if err != nil {
		return [sha256.Size]byte{}, err
	}
	w.folded.mu.Lock()
	reached := w.folded.mu.marks.Wait(next)
	w.folded.mu.marks.Reach(w.judge.Next())
	w.folded.mu.Unlock()
	select {
	case <-reached:
	case <-ctx.Done():
		return [sha256.Size]byte{}, ctx.Err()
	}
	w.folded.mu.Lock()
	defer w.folded.mu.Unlock()
	return w.judge.StateHash(), nil
}
