package natsbus

import (
	"context"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/aspis-rv/aspis/internal/bus"
)

// publisher implements bus.Publisher over the connection of its bus.
type publisher struct {
	bus   *Bus
	emits *emits
}

// Publish implements bus.Publisher. When it fails with bus.ErrUnavailable the text says
// whether the record may have been written.
func (p *publisher) Publish(ctx context.Context, m bus.Message) (uint64, error) {
	if err := p.check(ctx, m); err != nil {
		return 0, err
	}
	return p.sendAndWait(ctx, m, p.message(m))
}

// Create implements bus.Publisher by an append that expects the key's subject to be
// without a record.
func (p *publisher) Create(ctx context.Context, key string, m bus.Message) (uint64, error) {
	if err := p.check(ctx, m); err != nil {
		return 0, err
	}
	if key == "" {
		return 0, fmt.Errorf("%w: create needs a key", bus.ErrInvalid)
	}
	return p.sendAndWait(ctx, m, &nats.Msg{
		Subject: createSubject(m.Topic, m.Partition, key),
		Header:  nats.Header{jetstream.ExpectedLastSubjSeqHeader: []string{"0"}},
		Data:    m.Data,
	})
}

// Emit implements bus.Publisher.
func (p *publisher) Emit(m bus.Message) error {
	if err := p.check(context.Background(), m); err != nil {
		return err
	}
	b, msg := p.bus, p.message(m)
	u, size := &b.topicOf(m.Topic).usage, storedSize(msg)
	if err := u.admit(context.Background(), m.Class, size); err != nil {
		return err
	}
	if err := b.window.enter(size, b.cfg.Timeout, b.closed); err != nil {
		u.landed(size, false)
		return err
	}
	n, err := p.emits.next(b.pub.Stats().Reconnects)
	if err != nil {
		u.landed(size, false)
		b.window.leave(size)
		return err
	}
	f := &flight{
		subject: msg.Subject, deadline: time.Now().Add(b.cfg.Timeout), size: size, usage: u,
		emits: p.emits, emitted: n, window: b.window, appended: b.appended(&m),
	}
	if err := b.acks.send(msg, f); err != nil {
		u.landed(size, false)
		b.window.leave(size)
		p.emits.landed(n, nil)
		return err
	}
	return nil
}

// Sync implements bus.Publisher.
func (p *publisher) Sync(ctx context.Context) error {
	if err := p.bus.ready(ctx); err != nil {
		return err
	}
	return p.emits.wait(ctx, p.bus.closed)
}

func (p *publisher) check(ctx context.Context, m bus.Message) error {
	if err := p.bus.ready(ctx); err != nil {
		return err
	}
	return m.Check(p.bus.partitions)
}

// message is the message of an appended record.
func (p *publisher) message(m bus.Message) *nats.Msg {
	msg := &nats.Msg{Subject: appendSubject(m.Topic, m.Partition), Data: m.Data}
	if m.ID != "" {
		msg.Header = nats.Header{jetstream.MsgIDHeader: []string{token(useID, m.Partition, m.ID)}}
	}
	return msg
}

// sendAndWait sends msg and waits for its acknowledgement, the time-out, or ctx.
func (p *publisher) sendAndWait(ctx context.Context, m bus.Message, msg *nats.Msg) (uint64, error) {
	b := p.bus
	u, size := &b.topicOf(m.Topic).usage, storedSize(msg)
	if err := u.admit(ctx, m.Class, size); err != nil {
		return 0, err
	}
	f := &flight{
		subject: msg.Subject, deadline: time.Now().Add(b.cfg.Timeout), size: size, usage: u,
		result: make(chan outcome, 1), appended: b.appended(&m),
	}
	if err := b.acks.send(msg, f); err != nil {
		u.landed(size, false)
		return 0, err
	}
	select {
	case o := <-f.result:
		return o.offset, o.err
	case <-ctx.Done():
		return 0, fmt.Errorf("%w: no acknowledgement of %s yet; the record may be written: %w", bus.ErrUnavailable, msg.Subject, ctx.Err())
	}
}

// storedSize is what the server's file store counts for a message: 30 bytes of framing
// and, with headers, 4 more.
func storedSize(m *nats.Msg) int64 {
	n := int64(30 + len(m.Subject) + len(m.Data))
	if len(m.Header) > 0 {
		n += 4 + int64(len("NATS/1.0\r\n\r\n"))
		for k, vs := range m.Header {
			for _, v := range vs {
				n += int64(len(k) + len(v) + len(": \r\n"))
			}
		}
	}
	return n
}
