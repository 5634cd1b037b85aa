//go:build !linux

package pace

import "time"

// Sleeper waits by the runtime's timers.
type Sleeper struct{}

// NewSleeper returns a sleeper.
func NewSleeper() (*Sleeper, error) { return &Sleeper{}, nil }

// Sleep waits for d.
func (*Sleeper) Sleep(d time.Duration) { time.Sleep(d) }

// Close does nothing.
func (*Sleeper) Close() error { return nil }
