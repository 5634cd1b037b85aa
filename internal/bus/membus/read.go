package membus

import (
	"context"
	"sync"
	"time"

	"github.com/aspis-rv/aspis/internal/bus"
)

// Read implements bus.Reader.
func (b *Bus) Read(ctx context.Context, t bus.Topic, partition uint32, start bus.Start) (bus.Cursor, error) {
	if err := b.ready(ctx); err != nil {
		return nil, err
	}
	if err := bus.CheckLane(t, partition, b.Partitions()); err != nil {
		return nil, err
	}
	offset, err := b.log.topic(t).position(partition, start)
	if err != nil {
		return nil, err
	}
	c := &cursor{
		topic: b.log.topic(t), partition: partition, offset: offset,
		busClosed: b.closed, closed: make(chan struct{}),
	}
	if start.Kind == bus.AtTime {
		c.notBefore = start.Time // it may lie beyond the end of the log
	}
	return c, nil
}

// Bounds implements bus.Reader.
func (b *Bus) Bounds(ctx context.Context, t bus.Topic, partition uint32) (first, next uint64, err error) {
	if err := b.ready(ctx); err != nil {
		return 0, 0, err
	}
	if err := bus.CheckLane(t, partition, b.Partitions()); err != nil {
		return 0, 0, err
	}
	first, next = b.log.topic(t).bounds(partition)
	return first, next, nil
}

// cursor implements bus.Cursor. Only Next touches offset.
type cursor struct {
	topic     *topic
	partition uint32
	offset    uint64
	notBefore time.Time
	busClosed <-chan struct{}
	once      sync.Once
	closed    chan struct{}
}

// Next implements bus.Cursor.
func (c *cursor) Next(ctx context.Context) (bus.Record, error) {
	for {
		select {
		case <-c.closed:
			return bus.Record{}, bus.ErrClosed
		case <-c.busClosed:
			return bus.Record{}, bus.ErrClosed
		default:
		}
		if err := ctx.Err(); err != nil {
			return bus.Record{}, err
		}
		r, wake, err := c.topic.read(c.partition, c.offset)
		if err != nil {
			return bus.Record{}, err
		}
		if wake == nil {
			c.offset++
			if r.Time.Before(c.notBefore) {
				continue
			}
			return r, nil
		}
		select {
		case <-wake:
		case <-c.closed:
		case <-c.busClosed:
		case <-ctx.Done():
		}
	}
}

// Close implements bus.Cursor.
func (c *cursor) Close() error {
	c.once.Do(func() { close(c.closed) })
	return nil
}
