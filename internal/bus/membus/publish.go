package membus

import (
	"context"
	"fmt"
	"sync"

	"github.com/aspis-rv/aspis/internal/bus"
)

// firstError keeps the first failure since it was last taken.
type firstError struct {
	mu  sync.Mutex
	err error
}

func (f *firstError) set(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err == nil {
		f.err = err
	}
}

func (f *firstError) take() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	err := f.err
	f.err = nil
	return err
}

// publisher implements bus.Publisher. An append is complete when it returns, so Sync
// has nothing to wait for.
type publisher struct {
	bus    *Bus
	failed *firstError
}

// Publish implements bus.Publisher.
func (p *publisher) Publish(ctx context.Context, m bus.Message) (uint64, error) {
	if err := p.bus.ready(ctx); err != nil {
		return 0, err
	}
	return p.append(OpPublish, "", m)
}

// Create implements bus.Publisher.
func (p *publisher) Create(ctx context.Context, key string, m bus.Message) (uint64, error) {
	if err := p.bus.ready(ctx); err != nil {
		return 0, err
	}
	if key == "" {
		return 0, fmt.Errorf("%w: create needs a key", bus.ErrInvalid)
	}
	m.ID = ""
	return p.append(OpCreate, key, m)
}

// Emit implements bus.Publisher.
func (p *publisher) Emit(m bus.Message) error {
	if err := p.bus.ready(context.Background()); err != nil {
		return err
	}
	if err := m.Check(p.bus.Partitions()); err != nil {
		return err
	}
	appended, late := p.bus.fault(OpEmit, m)
	if late != nil {
		p.failed.set(late)
	}
	if !appended {
		return nil
	}
	_, err := p.bus.log.append("", m)
	return err
}

// Sync implements bus.Publisher.
func (p *publisher) Sync(ctx context.Context) error {
	if err := p.bus.ready(ctx); err != nil {
		return err
	}
	return p.failed.take()
}

func (p *publisher) append(op Op, key string, m bus.Message) (uint64, error) {
	if err := m.Check(p.bus.Partitions()); err != nil {
		return 0, err
	}
	appended, lost := p.bus.fault(op, m)
	if !appended {
		return 0, lost
	}
	offset, err := p.bus.log.append(key, m)
	if err != nil {
		return 0, err
	}
	if lost != nil {
		return 0, lost
	}
	return offset, nil
}
