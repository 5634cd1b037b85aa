package aspectd

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"sync"

	"github.com/aspis-rv/aspis/internal/bus"
)

// folded lets others than the worker's own goroutine look at its judge between two
// records, and wait for a record. Safe for concurrent use.
type folded struct {
	mu struct {
		sync.Mutex
		waiting []waiter
	}
}

// waiter waits until everything before next is folded.
type waiter struct {
	next    uint64
	reached chan struct{}
}

// reachedLocked wakes those who waited for no more than next.
func (f *folded) reachedLocked(next uint64) {
	if len(f.mu.waiting) == 0 {
		return
	}
	rest := f.mu.waiting[:0]
	for _, w := range f.mu.waiting {
		if w.next <= next {
			close(w.reached)
			continue
		}
		rest = append(rest, w)
	}
	clear(f.mu.waiting[len(rest):])
	f.mu.waiting = rest
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
	reached := make(chan struct{})
	w.folded.mu.Lock()
	w.folded.mu.waiting = append(w.folded.mu.waiting, waiter{next, reached})
	w.folded.reachedLocked(w.judge.Next())
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
