package natsbus

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/aspis-rv/aspis/internal/bus"
)

// usageAge is how old the server's count may be before it is asked for again.
const usageAge = time.Second

// usage knows how full a topic is without asking for every record: the server's count,
// at most a second old, and what this connection has sent since. What others sent in
// that second is not in it; the stream's own limit holds in any case.
type usage struct {
	bus   *Bus
	topic bus.Topic
	mu    struct {
		sync.Mutex
		limit      int64 // of the stream; not positive: none
		counted    int64 // by the server, when it was last asked
		sent       int64 // by this connection ever, without what failed
		mark       int64 // sent at that time, without what was in flight
		inFlight   int64
		asked      time.Time
		refreshing bool
	}
}

func (u *usage) init(b *Bus, t bus.Topic) { u.bus, u.topic = b, t }

// configure takes over the state of the stream at the start.
func (u *usage) configure(info *jetstream.StreamInfo) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.mu.limit = info.Config.MaxBytes
	u.mu.counted = int64(info.State.Bytes)
	u.mu.asked = time.Now()
}

// usedLocked is the number of bytes in use, counting what is in flight.
func (u *usage) usedLocked() int64 { return u.mu.counted + u.mu.sent - u.mu.mark }

// fitsLocked says whether a record may be sent. Reserved records may always: the server
// refuses what does not fit.
func (u *usage) fitsLocked(c bus.Class, size int64) bool {
	if u.mu.limit <= 0 || c == bus.Reserved {
		return true
	}
	return float64(u.usedLocked()+size) <= bus.OrdinaryShare*float64(u.mu.limit)
}

// admit takes room for a record, which landed settles, or fails with bus.ErrFull. It
// asks the server only if the topic seems full and the count is old; otherwise an old
// count is renewed in the background.
func (u *usage) admit(ctx context.Context, c bus.Class, size int64) error {
	u.mu.Lock()
	fits, old := u.fitsLocked(c, size), time.Since(u.mu.asked) > usageAge
	if !fits && old {
		u.mu.Unlock()
		if err := u.refresh(ctx); err != nil {
			return err
		}
		u.mu.Lock()
		fits, old = u.fitsLocked(c, size), false
	}
	defer u.mu.Unlock()
	if !fits {
		return fmt.Errorf("%w: %v holds %d of %d bytes, %v records may fill %.0f %%",
			bus.ErrFull, u.topic, u.usedLocked(), u.mu.limit, c, 100*bus.OrdinaryShare)
	}
	u.mu.sent += size
	u.mu.inFlight += size
	if old && !u.mu.refreshing {
		u.mu.refreshing = true
		u.bus.spawn(u.refreshInBackground)
	}
	return nil
}

// landed settles a record that was admitted.
func (u *usage) landed(size int64, written bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.mu.inFlight -= size
	if !written {
		u.mu.sent -= size
	}
}

// share returns how full the topic is.
func (u *usage) share(ctx context.Context) (float64, error) {
	u.mu.Lock()
	old := time.Since(u.mu.asked) > usageAge
	u.mu.Unlock()
	if old {
		if err := u.refresh(ctx); err != nil {
			return 0, err
		}
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.mu.limit <= 0 {
		return 0, nil
	}
	return min(1, float64(u.usedLocked())/float64(u.mu.limit)), nil
}

// refresh asks the server for its count.
func (u *usage) refresh(ctx context.Context) error {
	u.mu.Lock()
	mark := u.mu.sent - u.mu.inFlight
	u.mu.Unlock()
	info, err := u.bus.streamInfo(ctx, streamName(u.topic))
	if err != nil {
		return err
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.mu.limit = info.Config.MaxBytes
	u.mu.counted = int64(info.State.Bytes)
	u.mu.mark = mark
	u.mu.asked = time.Now()
	return nil
}

// refreshInBackground is refresh with nobody to tell of a failure: the next record
// tries again.
func (u *usage) refreshInBackground() {
	err := u.refresh(context.Background())
	u.mu.Lock()
	defer u.mu.Unlock()
	u.mu.refreshing = false
	if err != nil {
		u.mu.asked = time.Now() // try again in a second, not with every record
	}
}
