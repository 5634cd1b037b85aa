package aspectd

import (
	"context"
	"errors"
	"testing"

	"github.com/aspis-rv/aspis/internal/bus/membus"
	"github.com/aspis-rv/aspis/internal/protocol"
	"github.com/aspis-rv/aspis/pkg/aspects"
	"github.com/aspis-rv/aspis/pkg/policy"
)

// idle is an engine that is never asked for a monitor.
type idle struct{ aspects.Engine }

func (idle) Kind() aspects.Kind { return aspects.Temporal }

// TestStateHashEndsWithItsContext asks a service that does not run.
func TestStateHashEndsWithItsContext(t *testing.T) {
	s := New(Config{Bus: membus.New(membus.Config{}), Bundle: &policy.Bundle{}, Engine: idle{}, Rules: protocol.DefaultRules()})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.StateHash(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestFoldedWakesThoseItReached(t *testing.T) {
	var f folded
	waits := map[uint64]chan struct{}{3: make(chan struct{}), 5: make(chan struct{}), 9: make(chan struct{})}
	for next, reached := range waits {
		f.mu.waiting = append(f.mu.waiting, waiter{next, reached})
	}
	for _, at := range []uint64{2, 3, 7, 7, 9} {
		f.reachedLocked(at)
		for next, reached := range waits {
			select {
			case <-reached:
				if next > at {
					t.Errorf("at %d: woken although it waits for %d", at, next)
				}
			default:
				if next <= at {
					t.Errorf("at %d: not woken although it waits for %d", at, next)
				}
			}
		}
	}
	if len(f.mu.waiting) != 0 {
		t.Errorf("%d waiters are left", len(f.mu.waiting))
	}
}
