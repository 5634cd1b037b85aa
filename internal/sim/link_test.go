package sim

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/aspis-rv/aspis/internal/bus"
	"github.com/aspis-rv/aspis/internal/bus/membus"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// link is the connection of one role to the log, with its faults. It implements
// bus.Bus. Nothing that a role may call while it holds a lock ever waits.
type link struct {
	*linkPublisher
	role    string
	inner   *membus.Bus
	weather *weather
	dead    chan struct{}
	flights sync.WaitGroup

	mu struct {
		sync.Mutex
		killed bool
		paused chan struct{} // closed on resume; nil while running
		skew   time.Duration // of the role's clock
	}
}

var _ bus.Bus = (*link)(nil)

func newLink(role string, log *membus.Bus, w *weather) *link {
	l := &link{role: role, inner: log.Connect(), weather: w, dead: make(chan struct{})}
	l.linkPublisher = &linkPublisher{link: l}
	return l
}

// kill cuts the role off: nothing it does from now on reaches the log, except what
// was under way.
func (l *link) kill() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.mu.killed {
		l.mu.killed = true
		close(l.dead)
	}
}

// settle returns once nothing of the role is under way any more.
func (l *link) settle() { l.flights.Wait() }

func (l *link) pause() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.mu.paused == nil {
		l.mu.paused = make(chan struct{})
	}
}

func (l *link) resume() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.mu.paused != nil {
		close(l.mu.paused)
		l.mu.paused = nil
	}
}

func (l *link) setSkew(d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.mu.skew = d
}

func (l *link) skew() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.mu.skew
}

func (l *link) pausing() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.mu.paused
}

// awake returns when the role may go on, or why it may not.
func (l *link) awake(ctx context.Context) error {
	for {
		select {
		case <-l.dead:
			return bus.ErrClosed
		default:
		}
		p := l.pausing()
		if p == nil {
			return ctx.Err()
		}
		select {
		case <-p:
		case <-l.dead:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// travel is the time that a record is under way.
func (l *link) travel(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%w: %w", bus.ErrUnavailable, ctx.Err())
	}
}

// append carries out the fate of one record.
func (l *link) append(ctx context.Context, key string, m bus.Message, f fate) (uint64, error) {
	if err := l.travel(ctx, f.delay); err != nil {
		return 0, err
	}
	switch {
	case f.full && m.Class == bus.Ordinary:
		return 0, fmt.Errorf("%w: by the script", bus.ErrFull)
	case f.fail:
		return 0, fmt.Errorf("%w: the append failed by the script", bus.ErrUnavailable)
	}
	write := func(key string) (uint64, error) {
		if key == "" {
			return l.inner.Publish(context.Background(), m)
		}
		return l.inner.Create(context.Background(), key, m)
	}
	offset, err := write(key)
	if err != nil {
		return 0, err
	}
	if f.double {
		_, _ = write("") // as a broker without create-once would hold it
	}
	if f.loseAck {
		return 0, fmt.Errorf("%w: the acknowledgement was lost by the script", bus.ErrUnavailable)
	}
	return offset, nil
}

// stamp turns the times of a record written by a role with a wrong clock into those
// that it would have written. The role does not notice: it goes on comparing the log's
// clock with the right time, as if its own had jumped just before each append.
func (l *link) stamp(m bus.Message) bus.Message { return shift(m, l.skew()) }

func shift(m bus.Message, d time.Duration) bus.Message {
	if d == 0 || m.Topic != bus.Events {
		return m
	}
	m.Data = shiftEvent(m.Data, int64(d))
	return m
}

// shiftEvent moves every time in an event by d ns.
func shiftEvent(data []byte, d int64) []byte {
	ev, err := schema.DecodeEvent(data)
	if err != nil {
		return data
	}
	for _, t := range []*int64{&ev.ClaimedTS, &ev.Deadline} {
		if *t != 0 {
			*t += d
		}
	}
	if ev.Tick != nil {
		ev.Tick.Time += d
	}
	out, err := ev.AppendBinary(nil)
	if err != nil {
		return data
	}
	return out
}

// Partitions implements bus.Bus.
func (l *link) Partitions() uint32 { return l.inner.Partitions() }

// Close implements bus.Bus.
func (l *link) Close() error {
	l.kill()
	return l.inner.Close()
}

// NewPublisher implements bus.Bus.
func (l *link) NewPublisher() bus.Publisher { return &linkPublisher{link: l} }

// Usage implements bus.Bus.
func (l *link) Usage(ctx context.Context, t bus.Topic) (float64, error) {
	if err := l.awake(ctx); err != nil {
		return 0, err
	}
	return l.inner.Usage(ctx, t)
}

// Bounds implements bus.Bus.
func (l *link) Bounds(ctx context.Context, t bus.Topic, p uint32) (first, next uint64, err error) {
	if err := l.awake(ctx); err != nil {
		return 0, 0, err
	}
	return l.inner.Bounds(ctx, t, p)
}

// PutSnapshot implements bus.Bus.
func (l *link) PutSnapshot(ctx context.Context, key string, revision uint64, data []byte) (uint64, error) {
	if err := l.awake(ctx); err != nil {
		return 0, err
	}
	f := l.weather.fate(l.role, "snapshot", key)
	if err := l.travel(ctx, f.delay); err != nil {
		return 0, err
	}
	if f.fail {
		return 0, fmt.Errorf("%w: the snapshot failed by the script", bus.ErrUnavailable)
	}
	rev, err := l.inner.PutSnapshot(ctx, key, revision, data)
	if err == nil && f.loseAck {
		return 0, fmt.Errorf("%w: the acknowledgement was lost by the script", bus.ErrUnavailable)
	}
	return rev, err
}

// GetSnapshot implements bus.Bus.
func (l *link) GetSnapshot(ctx context.Context, key string) ([]byte, uint64, error) {
	if err := l.awake(ctx); err != nil {
		return nil, 0, err
	}
	return l.inner.GetSnapshot(ctx, key)
}

// Read implements bus.Bus.
func (l *link) Read(ctx context.Context, t bus.Topic, p uint32, start bus.Start) (bus.Cursor, error) {
	if err := l.awake(ctx); err != nil {
		return nil, err
	}
	cur, err := l.inner.Read(ctx, t, p, start)
	if err != nil {
		return nil, err
	}
	return &linkCursor{link: l, inner: cur, topic: t}, nil
}

// linkCursor reads late and, now and then, the same record twice.
type linkCursor struct {
	link  *link
	inner bus.Cursor
	topic bus.Topic
	again *bus.Record
}

// Next implements bus.Cursor.
func (c *linkCursor) Next(ctx context.Context) (bus.Record, error) {
	if r := c.again; r != nil {
		c.again = nil
		return *r, nil
	}
	rec, err := c.inner.Next(ctx)
	if err != nil {
		return rec, err
	}
	f := c.link.weather.reading(c.link.role, c.topic, &rec)
	if err := c.link.travel(ctx, f.delay); err != nil {
		return rec, ctx.Err()
	}
	if err := c.link.awake(ctx); err != nil {
		return rec, err
	}
	if f.double {
		c.again = &rec
	}
	return rec, nil
}

// Close implements bus.Cursor.
func (c *linkCursor) Close() error { return c.inner.Close() }
