package composer

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"time"

	"github.com/aspis-rv/aspis/internal/bus"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// pending is a create-once append.
type pending struct {
	key     string
	event   *schema.Event
	attempt schema.Attempt // of a resolution; zero otherwise
	// notAfter is the time in ns after which a permit is not appended; 0: none.
	notAfter int64
	err      error // why it failed
}

// writers is the number of appends a partition may have under way. Resolutions of
// one partition belong to different traces, so their order does not matter.
const writers = 4

// recordSize is room for an ordinary resolution or tick, so that encoding one
// allocates once.
const recordSize = 768

// errQueue is the cause of a failed append that no writer took.
var errQueue = errors.New("composer: too many appends are under way")

// enqueueLocked hands an append to the writers. A full queue is a failed append: it is
// tried again by the clock.
func (w *worker) enqueueLocked(p pending) {
	select {
	case w.appends <- p:
	default:
		p.err = errQueue
		w.retryLocked(p)
	}
}

// write appends what was proposed. That a record exists already means that another
// composer was first.
func (w *worker) write(ctx context.Context) {
	for {
		var p pending
		select {
		case <-ctx.Done():
			return
		case p = <-w.appends:
		}
		err := w.create(ctx, p)
		if err == nil || errors.Is(err, bus.ErrExists) || ctx.Err() != nil {
			continue
		}
		p.err = err
		w.mu.Lock()
		w.retryLocked(p)
		w.mu.Unlock()
	}
}

func (w *worker) create(ctx context.Context, p pending) error {
	p.event.ClaimedTS = time.Now().UnixNano()
	r := p.event.Resolution
	if r != nil && r.Outcome == schema.SettledPermit && p.notAfter != 0 && p.event.ClaimedTS > p.notAfter {
		return nil // rule 11: the call ends by its deadline
	}
	if r != nil && w.cfg.Key != nil {
		signed := r.SigningBytes()
		r.Signature = ed25519.Sign(w.cfg.Key, signed)
		if w.cfg.Vouch != nil {
			w.cfg.Vouch(r.Signature, signed)
		}
	}
	data, err := p.event.AppendBinary(make([]byte, 0, recordSize))
	if err != nil {
		return fmt.Errorf("composer: %w", err)
	}
	_, err = w.cfg.Bus.Create(ctx, p.key, bus.Message{Topic: bus.Events, Partition: w.partition, Class: bus.Reserved, Data: data})
	return err
}
