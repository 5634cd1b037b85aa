package sim

import (
	"context"
	"fmt"
	"sync"

	"github.com/aspis-rv/aspis/internal/bus"
)

// linkPublisher is a publisher of a link. Emitted records are appended in order, by a
// goroutine that lives while some are under way.
type linkPublisher struct {
	link *link
	mu   struct {
		sync.Mutex
		queue  []flight
		flying bool
		err    error
		idle   chan struct{} // closed when the queue is empty; nil while nobody waits
	}
}

// flight is an emitted record under way.
type flight struct {
	message bus.Message
	fate    fate
}

// window bounds what one publisher may have under way.
const window = 4096

// Publish implements bus.Publisher.
func (p *linkPublisher) Publish(ctx context.Context, m bus.Message) (uint64, error) {
	if err := p.link.awake(ctx); err != nil {
		return 0, err
	}
	return p.link.append(ctx, "", p.link.stamp(m), p.link.weather.appending(p.link.role, m))
}

// Create implements bus.Publisher.
func (p *linkPublisher) Create(ctx context.Context, key string, m bus.Message) (uint64, error) {
	if err := p.link.awake(ctx); err != nil {
		return 0, err
	}
	offset, err := p.link.append(ctx, key, p.link.stamp(m), p.link.weather.appending(p.link.role, m))
	if err != nil {
		return 0, err
	}
	return offset, p.link.awake(ctx) // the writer learns of it when it runs again
}

// Emit implements bus.Publisher.
func (p *linkPublisher) Emit(m bus.Message) error {
	select {
	case <-p.link.dead:
		return bus.ErrClosed
	default:
	}
	if err := m.Check(p.link.Partitions()); err != nil {
		return err
	}
	m = p.link.stamp(m)
	m.Data = append([]byte(nil), m.Data...)
	f := flight{m, p.link.weather.appending(p.link.role, m)}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case f.fate.full && m.Class == bus.Ordinary:
		return fmt.Errorf("%w: by the script", bus.ErrFull)
	case len(p.mu.queue) >= window:
		return fmt.Errorf("%w: too many records are under way", bus.ErrUnavailable)
	case !p.mu.flying && f.fate.delay == 0 && p.link.pausing() == nil:
		return p.nowLocked(f)
	}
	p.mu.queue = append(p.mu.queue, f)
	if !p.mu.flying {
		p.mu.flying = true
		p.link.flights.Go(p.fly)
	}
	return nil
}

// nowLocked appends at once: a full log is told at once too.
func (p *linkPublisher) nowLocked(f flight) error {
	_, err := p.link.append(context.Background(), "", f.message, f.fate)
	if err != nil && !f.fate.fail && !f.fate.loseAck {
		return err
	}
	p.failedLocked(err)
	return nil
}

func (p *linkPublisher) failedLocked(err error) {
	if p.mu.err == nil {
		p.mu.err = err
	}
}

// fly appends what is queued, in order. A killed role's records still land when they
// were under way; what waited for the role to wake up is gone with it.
func (p *linkPublisher) fly() {
	for {
		p.mu.Lock()
		if len(p.mu.queue) == 0 {
			p.mu.flying = false
			if p.mu.idle != nil {
				close(p.mu.idle)
				p.mu.idle = nil
			}
			p.mu.Unlock()
			return
		}
		f := p.mu.queue[0]
		p.mu.queue = p.mu.queue[1:]
		p.mu.Unlock()
		var err error
		if p.link.pausing() != nil {
			err = p.link.awake(context.Background())
		}
		if err == nil {
			_, err = p.link.append(context.Background(), "", f.message, f.fate)
		}
		p.mu.Lock()
		p.failedLocked(err)
		p.mu.Unlock()
	}
}

// Sync implements bus.Publisher.
func (p *linkPublisher) Sync(ctx context.Context) error {
	if err := p.link.awake(ctx); err != nil {
		return err
	}
	for {
		p.mu.Lock()
		if !p.mu.flying {
			err := p.mu.err
			p.mu.err = nil
			p.mu.Unlock()
			return err
		}
		if p.mu.idle == nil {
			p.mu.idle = make(chan struct{})
		}
		idle := p.mu.idle
		p.mu.Unlock()
		select {
		case <-idle:
		case <-p.link.dead:
			return bus.ErrClosed
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", bus.ErrUnavailable, ctx.Err())
		}
	}
}
