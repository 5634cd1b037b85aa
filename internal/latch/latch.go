// Package latch is a count-down that any number of goroutines can wait for with a
// context.
package latch

import (
	"context"
	"sync/atomic"
)

// Latch opens when Done was called as often as it was made for. Safe for concurrent
// use.
type Latch struct {
	left atomic.Int64
	open chan struct{}
}

// New returns a latch for n calls of Done; for none it is open at once.
func New(n int) *Latch {
	l := &Latch{open: make(chan struct{})}
	l.left.Store(int64(n))
	if n <= 0 {
		close(l.open)
	}
	return l
}

// Done counts down once. It must not be called more often than the latch was made for.
func (l *Latch) Done() {
	if l.left.Add(-1) == 0 {
		close(l.open)
	}
}

// Wait returns nil when the latch is open, or the error of ctx.
func (l *Latch) Wait(ctx context.Context) error {
	select {
	case <-l.open:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
