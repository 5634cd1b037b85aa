package gate

import (
	"context"
	"time"

	"github.com/aspis-rv/aspis/internal/bus"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// readOn returns once all that is in the partition at the time of the call is folded,
// or with a Problem when that cannot be told or takes too long. What the caller asks
// afterwards is as fresh as if the log itself were asked.
func (l *lane) readOn(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readOnTime)
	defer cancel()
	first, next, err := l.cfg.Bus.Bounds(ctx, bus.Events, l.partition)
	if err != nil {
		return &Problem{Reason: verdict.NoAnswer, Message: "the log cannot be read now; ask again"}
	}
	if first == next {
		return nil // nothing was ever written
	}
	l.mu.Lock()
	reached := l.mu.marks.Wait(next)
	l.mu.marks.Reach(l.mu.fold.Next())
	l.mu.Unlock()
	select {
	case <-reached:
		return nil
	case <-ctx.Done():
		return &Problem{Reason: verdict.NoAnswer, Message: "the gate has not read the end of the log yet; ask again"}
	}
}

// readOnTime bounds the wait of a reader. A gate is behind by milliseconds, or is cut
// off.
const readOnTime = 2 * time.Second
