package natsbus

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/aspis-rv/aspis/internal/bus"
)

// nearEnough is how short a replay must be for the cursor to join the tail afterwards:
// what arrives during one more replay of that length fits into the buffer.
const nearEnough = bufferRecords / 4

// cursor implements bus.Cursor. It is behind, then near, then live:
//
//   - Behind, it replays from its position to what was the end when it looked.
//   - When that was short, or there was nothing, it joins the tail and replays once more
//     to the end as it is after joining. What comes later is in the buffer.
//   - Live, it takes records from the buffer, skipping those it has read.
//
// Whatever breaks, a replay, the buffer by being slow, or the connection, sends it back
// to the beginning with its position. No record is skipped, because each replay and
// each buffer is complete, and none repeated, because position only grows.
type cursor struct {
	bus       *Bus
	topic     bus.Topic
	partition uint32
	closing   sync.Once
	closed    chan struct{}

	// mu is held by Next, and by Close once Next has seen that the cursor is closed. It
	// guards everything below.
	mu        sync.Mutex
	position  uint64    // every record up to here was read or is not wanted
	notBefore time.Time // records before it are not wanted
	latest    time.Time // of the record at position; zero if none was read
	sure      time.Time // no record appended before it is unread
	failed    error     // what Next returns for ever
	near      bool
	live      bool
	buffer    *buffer // after joining
	replay    *replay
	replayed  int
	batch     []bus.Record // from the replay, complete
	maxAge    time.Duration
	pause     time.Duration
}

// Read implements bus.Reader. Offsets are shared by all partitions of a topic, so
// bus.ErrTrimmed is reported when any record at or after the offset is gone.
func (b *Bus) Read(ctx context.Context, t bus.Topic, partition uint32, start bus.Start) (bus.Cursor, error) {
	if err := b.ready(ctx); err != nil {
		return nil, err
	}
	if err := bus.CheckLane(t, partition, b.partitions); err != nil {
		return nil, err
	}
	c := &cursor{bus: b, topic: t, partition: partition, closed: make(chan struct{})}
	if err := c.place(ctx, start); err != nil {
		return nil, err
	}
	return c, nil
}

// place sets the position the cursor starts from.
func (c *cursor) place(ctx context.Context, start bus.Start) error {
	switch start.Kind {
	case bus.Earliest:
		return nil
	case bus.Latest, bus.AtOffset, bus.AtTime:
	default: // a number that is no kind
		return fmt.Errorf("%w: start kind %d", bus.ErrInvalid, start.Kind)
	}
	st, err := c.bus.streamState(ctx, c.topic)
	if err != nil {
		return err
	}
	c.sure = time.Now()
	if start.Kind == bus.Latest {
		c.position = st.last
		return nil
	}
	if start.Kind == bus.AtOffset {
		offset := max(start.Offset, 1)
		if offset < st.first {
			return fmt.Errorf("%w: offset %d, the first retained of %v is %d", bus.ErrTrimmed, offset, c.topic, st.first)
		}
		c.position = offset - 1
		return c.checkEnd(st)
	}
	c.notBefore = start.Time
	first, err := c.bus.firstAfter(ctx, c.topic, c.partition, start.Time)
	if err != nil {
		return err
	}
	c.position = st.last
	if first != 0 {
		c.position = first - 1
	}
	return nil
}

// checkEnd fails when the log does not reach the position.
func (c *cursor) checkEnd(st state) error {
	if c.position > st.last {
		return fmt.Errorf("%w: %v ends at offset %d, before %d which was read already; it lost its tail",
			bus.ErrTrimmed, c.topic, st.last, c.position)
	}
	return nil
}

// Next implements bus.Cursor.
func (c *cursor) Next(ctx context.Context) (bus.Record, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		if err := c.ready(ctx); err != nil {
			return bus.Record{}, err
		}
		var r bus.Record
		var ok bool
		var err error
		if c.live {
			r, ok = c.fromBuffer(ctx)
		} else {
			r, ok, err = c.fromStream(ctx)
		}
		switch {
		case err != nil:
			if err := c.recover(ctx, err); err != nil {
				return bus.Record{}, err
			}
		case ok && c.accept(&r):
			return r, nil
		}
	}
}

// accept moves the position to a record and reports whether it is wanted. Times are those
// of several clocks: the broker's, and this machine's for what it appended itself. So a
// time before that of the record before it becomes that one.
func (c *cursor) accept(r *bus.Record) bool {
	if r.Offset <= c.position {
		return false
	}
	if r.Time.Before(c.latest) {
		r.Time = c.latest
	}
	c.position, c.latest, c.sure = r.Offset, r.Time, r.Time
	return !r.Time.Before(c.notBefore)
}

// ready returns why Next cannot go on, or nil.
func (c *cursor) ready(ctx context.Context) error {
	select {
	case <-c.closed:
		return bus.ErrClosed
	case <-c.bus.closed:
		return bus.ErrClosed
	default:
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return c.failed
}

// fromBuffer takes a live record or waits for one.
func (c *cursor) fromBuffer(ctx context.Context) (bus.Record, bool) {
	r, ok, ended := c.buffer.take()
	switch {
	case ok:
		return r, true
	case ended:
		c.buffer, c.live, c.near = nil, false, false
		return bus.Record{}, false
	}
	c.sure = time.Now()
	select {
	case <-c.buffer.wake:
	case <-c.closed:
	case <-c.bus.closed:
	case <-ctx.Done():
	}
	return bus.Record{}, false
}

// fromStream brings the cursor one step further towards the live tail.
func (c *cursor) fromStream(ctx context.Context) (bus.Record, bool, error) {
	if c.replay == nil && len(c.batch) == 0 {
		if c.near && c.buffer == nil {
			if err := c.join(ctx); err != nil {
				return bus.Record{}, false, err
			}
		}
		end, err := c.end(ctx)
		if err != nil {
			return bus.Record{}, false, err
		}
		c.pause = 0
		if end <= c.position {
			c.live, c.near = c.buffer != nil, true
			return bus.Record{}, false, nil
		}
		c.replay, err = c.bus.openReplay(ctx, streamName(c.topic), laneFilter(c.topic, c.partition), c.position+1, end)
		if err != nil {
			return bus.Record{}, false, err
		}
		c.replayed = 0
	}
	return c.fromReplay(ctx)
}

// fromReplay takes the next record of the replay. What a request brings is checked
// against retention after it has come: if nothing after the position was removed by
// then, nothing is missing in between.
func (c *cursor) fromReplay(ctx context.Context) (bus.Record, bool, error) {
	if len(c.batch) == 0 {
		over, err := c.replay.fill(ctx)
		if err == nil {
			err = c.checkBatch(ctx)
		}
		if err != nil {
			return bus.Record{}, false, err
		}
		c.batch = c.replay.take()
		c.replayed += len(c.batch)
		if over {
			c.replay.close()
			c.replay = nil
			c.near = c.replayed <= nearEnough
		}
	}
	r := c.batch[0]
	c.batch[0] = bus.Record{}
	c.batch = c.batch[1:]
	return r, true, nil
}

// checkBatch asks for the state of the stream if a record after the position can have
// been removed.
func (c *cursor) checkBatch(ctx context.Context) error {
	if c.position == 0 || !c.stale(c.maxAge) {
		return nil
	}
	st, err := c.bus.streamState(ctx, c.topic)
	if err != nil {
		return err
	}
	return c.checkRetained(st)
}

// join joins the tail.
func (c *cursor) join(ctx context.Context) error {
	b := c.bus.topicOf(c.topic).tail.join(c.partition)
	c.buffer = b
	select {
	case <-b.joined:
		return nil
	case <-c.closed:
	case <-c.bus.closed:
	case <-ctx.Done():
	}
	c.leave()
	return errNotJoined
}

// errNotJoined says that joining was given up because Next has to end.
var errNotJoined = errors.New("natsbus: not joined")

// end returns the sequence of the partition's last record, after checking that nothing
// between the position and the stream's first record can have been missed.
func (c *cursor) end(ctx context.Context) (uint64, error) {
	st, err := c.bus.streamState(ctx, c.topic)
	if err != nil {
		return 0, err
	}
	c.maxAge = st.maxAge
	if err := c.checkEnd(st); err != nil {
		return 0, err
	}
	if err := c.checkRetained(st); err != nil {
		return 0, err
	}
	return c.bus.lastOf(ctx, c.topic, c.partition)
}

// checkRetained fails when retention may have removed a record after the position that
// was not read: everything before st.first is gone, and the cursor is not sure to have
// read all that is old enough to be removed.
func (c *cursor) checkRetained(st state) error {
	if c.position == 0 || st.first <= c.position+1 || !c.stale(st.maxAge) {
		return nil
	}
	return fmt.Errorf("%w: the next offset to read is %d, the first retained of %v is %d",
		bus.ErrTrimmed, c.position+1, c.topic, st.first)
}

// stale says whether records that the cursor has not read may be as old as maxAge, with
// a tenth for the difference of clocks. Without a retention by age only an operator
// removes records, and then any position may be concerned.
func (c *cursor) stale(maxAge time.Duration) bool {
	return maxAge == 0 || time.Since(c.sure) > maxAge-maxAge/10
}

// recover decides what an error means: nil lets Next try again after a pause.
func (c *cursor) recover(ctx context.Context, err error) error {
	if errors.Is(err, bus.ErrTrimmed) {
		c.failed = err
		c.release()
		return err
	}
	if ready := c.ready(ctx); ready != nil {
		return ready
	}
	c.endReplay()
	c.pause = min(max(2*c.pause, firstPause), longestPause)
	c.bus.cfg.Logger.DebugContext(ctx, "cursor starts over", slog.String("topic", c.topic.String()),
		slog.Uint64("offset", c.position), slog.Duration("pause", c.pause), slog.Any("cause", err))
	t := time.NewTimer(c.pause)
	defer t.Stop()
	select {
	case <-t.C:
	case <-c.closed:
	case <-c.bus.closed:
	case <-ctx.Done():
	}
	return nil
}

func (c *cursor) endReplay() {
	if c.replay != nil {
		c.replay.close()
		c.replay = nil
	}
}

func (c *cursor) leave() {
	if c.buffer != nil {
		c.bus.topicOf(c.topic).tail.leave(c.partition, c.buffer)
		c.buffer, c.live = nil, false
	}
}

// release gives up what the cursor holds in the broker.
func (c *cursor) release() {
	c.endReplay()
	c.leave()
}

// Close implements bus.Cursor. It waits for a Next under way to return.
func (c *cursor) Close() error {
	c.closing.Do(func() {
		close(c.closed)
		c.mu.Lock()
		defer c.mu.Unlock()
		c.release()
	})
	return nil
}

// Bounds implements bus.Reader. For a partition without records both bounds are the
// offset after the last record of the whole topic.
func (b *Bus) Bounds(ctx context.Context, t bus.Topic, partition uint32) (first, next uint64, err error) {
	if err := b.ready(ctx); err != nil {
		return 0, 0, err
	}
	if err := bus.CheckLane(t, partition, b.partitions); err != nil {
		return 0, 0, err
	}
	// In this order: a record appended meanwhile is at or after the end of before.
	st, err := b.streamState(ctx, t)
	if err != nil {
		return 0, 0, err
	}
	last, err := b.lastOf(ctx, t, partition)
	if err != nil {
		return 0, 0, err
	}
	if last == 0 {
		return st.last + 1, st.last + 1, nil
	}
	first, err = b.firstOf(ctx, t, partition)
	if err != nil {
		return 0, 0, err
	}
	if first == 0 { // removed since
		return last + 1, last + 1, nil
	}
	return first, last + 1, nil
}
