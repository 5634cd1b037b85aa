package aspectd

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/aspis-rv/aspis/internal/bus"
)

// Limits of an outbox.
const (
	// outboxRecords bounds the part verdicts that are not known to be durable. The bus
	// lets no more than a quarter of it be under way per connection; the rest is room
	// for what is folded while a broker is away.
	outboxRecords = 16384
	// The wait for the broker's acknowledgements, and the pauses before part verdicts
	// that may be lost are published again.
	syncTime                 = 6 * time.Second
	firstPause, longestPause = 20 * time.Millisecond, time.Second
	// lull is the time for which part verdicts are collected before their
	// acknowledgements are looked at, all at once.
	lull = 3 * time.Millisecond
)

// outbox publishes the part verdicts of one partition and keeps them until they are
// durable. What may have been lost is published again: a second copy of a verdict says
// the same, and verdicts are joined by key, so that neither copies nor their order do
// any harm. put and flush are called by the partition's goroutine, run by another.
type outbox struct {
	partition uint32
	pub       bus.Publisher
	dirty     chan struct{} // of capacity 1: there is something to wait for

	mu struct {
		sync.Mutex
		kept    [][]byte      // not known to be durable, oldest first
		emitted int           // of kept; the rest could not be
		changed chan struct{} // closed when kept shrinks; nil while nobody waits
	}
}

func newOutbox(pub bus.Publisher, partition uint32) *outbox {
	return &outbox{partition: partition, pub: pub, dirty: make(chan struct{}, 1)}
}

// put publishes data, which the outbox owns from then on. It waits only while the
// outbox is full. What no broker takes it does not keep: nothing behind it would ever be
// published.
func (o *outbox) put(ctx context.Context, data []byte) error {
	if err := o.message(data).Check(o.partition + 1); err != nil {
		return fmt.Errorf("aspectd: a part verdict: %w", err)
	}
	for {
		o.mu.Lock()
		if len(o.mu.kept) < outboxRecords {
			o.mu.kept = append(o.mu.kept, data)
			o.emitLocked()
			o.mu.Unlock()
			o.wake()
			return nil
		}
		if err := o.waitUnlock(ctx); err != nil {
			return err
		}
	}
}

func (o *outbox) message(data []byte) bus.Message {
	return bus.Message{Topic: bus.Verdicts, Partition: o.partition, Class: bus.Reserved, Data: data}
}

// flush returns when all that was put is durable.
func (o *outbox) flush(ctx context.Context) error {
	for {
		o.mu.Lock()
		if len(o.mu.kept) == 0 {
			o.mu.Unlock()
			return nil
		}
		if err := o.waitUnlock(ctx); err != nil {
			return err
		}
	}
}

// waitUnlock unlocks and waits for something to become durable.
func (o *outbox) waitUnlock(ctx context.Context) error {
	if o.mu.changed == nil {
		o.mu.changed = make(chan struct{})
	}
	changed := o.mu.changed
	o.mu.Unlock()
	select {
	case <-changed:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("aspectd: part verdicts are not durable yet: %w", ctx.Err())
	}
}

func (o *outbox) wake() {
	select {
	case o.dirty <- struct{}{}:
	default:
	}
}

// emitLocked publishes what was not yet, up to the first that the bus does not take.
func (o *outbox) emitLocked() {
	for _, data := range o.mu.kept[o.mu.emitted:] {
		if o.pub.Emit(o.message(data)) != nil {
			return
		}
		o.mu.emitted++
	}
}

// run waits for acknowledgements, and publishes again what may be lost, until ctx
// ends. failed is told of the first of several failures in a row.
func (o *outbox) run(ctx context.Context, failed func(error)) {
	var pause time.Duration // after a failure
	for {
		if pause == 0 {
			select {
			case <-ctx.Done():
				return
			case <-o.dirty:
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(max(pause, lull)):
		}
		switch err := o.sync(ctx); {
		case err == nil:
			pause = 0
			continue
		case pause == 0 && ctx.Err() == nil:
			failed(err)
		}
		pause = min(max(2*pause, firstPause), longestPause)
	}
}

// sync waits until what was published before is durable. When some of it may be lost,
// all of it is to be published again; that begins here.
func (o *outbox) sync(ctx context.Context) error {
	o.mu.Lock()
	n := o.mu.emitted
	o.mu.Unlock()
	bounded, cancel := context.WithTimeout(ctx, syncTime)
	err := o.pub.Sync(bounded)
	cancel()
	o.mu.Lock()
	defer o.mu.Unlock()
	if err != nil {
		o.mu.emitted = 0
		o.emitLocked()
		return fmt.Errorf("aspectd: publishing part verdicts: %w", err)
	}
	o.mu.kept = append(o.mu.kept[:0:0], o.mu.kept[n:]...)
	o.mu.emitted -= n
	if n > 0 && o.mu.changed != nil {
		close(o.mu.changed)
		o.mu.changed = nil
	}
	o.emitLocked()
	if o.mu.emitted > 0 {
		o.wake()
	}
	if o.mu.emitted < len(o.mu.kept) {
		return fmt.Errorf("aspectd: %w: the bus takes no part verdicts", bus.ErrUnavailable)
	}
	return nil
}
