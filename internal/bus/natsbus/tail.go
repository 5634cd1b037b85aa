package natsbus

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/aspis-rv/aspis/internal/bus"
)

// Times of the tail.
const (
	// heartbeat is how often the server says that it has nothing to say. Breaks of the
	// connection are noticed at once; this is for a consumer that is lost on a healthy
	// one.
	heartbeat = 5 * time.Second
	// silence is how long a feed may be silent: two heartbeats and some slack.
	silence = 12 * time.Second
	// inactive is when the server removes a consumer nobody listens to.
	inactive = 30 * time.Second
	// The pauses between attempts to get a feed.
	firstPause, longestPause = 10 * time.Millisecond, time.Second
)

// tail delivers the live records of a topic to the cursors of one connection. It keeps
// one push consumer for all partitions that are read.
//
// Invariant: every record of a joined partition after the position of the moment of
// joining is put into the buffer of its cursors, in order, until the buffer is cut.
// deliver keeps it: it accepts only the next delivery of the current feed, and a new
// feed begins right after position. What this connection appended itself need not wait
// for the feed: where it is acknowledged as the next record of the stream, appended
// puts it into the buffers, and the feed's copy is passed over.
type tail struct {
	bus   *Bus
	topic bus.Topic
	kick  chan struct{} // of capacity 1: look at the state again
	mu    struct {
		sync.Mutex
		buffers  map[uint32][]*buffer
		lanes    uint32
		feed     *feed
		position uint64 // every record of the feed up to here was delivered
	}
}

// feed is one push consumer.
type feed struct {
	name     string
	lanes    map[uint32]bool // nil: all
	sub      *nats.Subscription
	sequence uint64 // of the last delivery
	heard    time.Time
}

func (f *feed) covers(p uint32) bool { return f.lanes == nil || f.lanes[p] }

func newTail(b *Bus, t bus.Topic) *tail {
	l := &tail{bus: b, topic: t, kick: make(chan struct{}, 1)}
	l.mu.buffers = make(map[uint32][]*buffer)
	return l
}

func (l *tail) configure(partitions uint32) { l.mu.lanes = partitions }

// join returns a buffer that receives every record of p from now on. The buffer's
// joined channel is closed when that holds.
func (l *tail) join(p uint32) *buffer {
	b := newBuffer()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.mu.buffers[p] = append(l.mu.buffers[p], b)
	if f := l.mu.feed; f != nil && f.covers(p) {
		close(b.joined)
	} else {
		l.wake()
	}
	return b
}

// leave ends a buffer.
func (l *tail) leave(p uint32, b *buffer) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.removeLocked(p, b)
	l.wake()
}

func (l *tail) removeLocked(p uint32, b *buffer) {
	rest := slices.DeleteFunc(l.mu.buffers[p], func(x *buffer) bool { return x == b })
	if len(rest) == 0 {
		delete(l.mu.buffers, p)
	} else {
		l.mu.buffers[p] = rest
	}
}

func (l *tail) wake() {
	select {
	case l.kick <- struct{}{}:
	default:
	}
}

// interrupt gives up the feed, after a break of the connection.
func (l *tail) interrupt() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.dropLocked()
	l.wake()
}

// dropLocked ends the current feed. The consumer is removed by the server in time.
func (l *tail) dropLocked() {
	if f := l.mu.feed; f != nil {
		l.mu.feed = nil
		l.bus.spawn(func() { l.discard(f) })
	}
}

// discard removes a feed from client and server. Failing is harmless: the server
// removes a consumer without listener by itself.
func (l *tail) discard(f *feed) {
	_ = f.sub.Unsubscribe()
	ctx, cancel := l.bus.bounded(context.Background())
	defer cancel()
	_ = l.bus.js.DeleteConsumer(ctx, streamName(l.topic), f.name)
}

// run keeps a feed for the partitions that are read. It ends when the bus is closed.
func (l *tail) run() {
	check := time.NewTicker(heartbeat)
	defer check.Stop()
	pause := time.Duration(0)
	var again <-chan time.Time
	for {
		select {
		case <-l.bus.closed:
			l.end()
			return
		case <-l.kick:
		case <-again:
		case now := <-check.C:
			l.checkHeard(now)
		}
		again = nil
		if err := l.settle(); err != nil {
			pause = min(max(2*pause, firstPause), longestPause)
			again = time.After(pause)
			l.bus.cfg.Logger.Warn("no live tail", slog.String("topic", l.topic.String()),
				slog.Duration("pause", pause), slog.Any("cause", err))
			continue
		}
		pause = 0
	}
}

// end cuts all buffers.
func (l *tail) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.mu.feed = nil // its subscription ends with the connection
	l.cutLocked()
}

// cutLocked ends all buffers, so that their cursors look for themselves.
func (l *tail) cutLocked() {
	for _, bs := range l.mu.buffers {
		for _, b := range bs {
			b.cut()
		}
	}
	clear(l.mu.buffers)
}

// checkHeard gives up a feed that has been silent for too long.
func (l *tail) checkHeard(now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if f := l.mu.feed; f != nil && now.Sub(f.heard) > silence {
		l.bus.cfg.Logger.Warn("consumer is silent", slog.String("topic", l.topic.String()))
		l.dropLocked()
	}
}

// wantedLocked returns whether the feed has to change, and the partitions of the next
// one (none: no feed). A feed may cover more than is wanted, up to four times as
// much, so that cursors that come and go do not change it each time.
func (l *tail) wantedLocked() (change bool, lanes map[uint32]bool) {
	lanes = make(map[uint32]bool, len(l.mu.buffers))
	for p := range l.mu.buffers {
		lanes[p] = true
	}
	f := l.mu.feed
	switch {
	case len(lanes) == 0:
		return f != nil, lanes
	case f == nil:
		return true, lanes
	}
	covered := int(l.mu.lanes)
	if f.lanes != nil {
		covered = len(f.lanes)
	}
	if covered > 4*len(lanes) {
		return true, lanes
	}
	for p := range lanes {
		if !f.covers(p) {
			return true, lanes
		}
	}
	return false, lanes
}

// settle brings the feed in line with the partitions that are read.
func (l *tail) settle() error {
	l.mu.Lock()
	change, lanes := l.wantedLocked()
	if change && len(lanes) == 0 {
		l.dropLocked()
		l.mu.position = 0
		change = false
	}
	resume := l.mu.feed == nil
	l.mu.Unlock()
	if !change {
		return nil
	}
	ctx, cancel := l.bus.bounded(context.Background())
	defer cancel()
	st, err := l.bus.streamState(ctx, l.topic)
	if err != nil {
		return err
	}
	return l.replace(ctx, st, resume)
}

// errFeedBroke makes run settle again.
var errFeedBroke = errors.New("natsbus: the feed broke meanwhile")

// replace makes a new feed that continues where the last one stopped, or begins at the
// end of the stream. The old feed's deliveries count until the moment of change, and
// the new consumer is created after it, so nothing is missed in between.
func (l *tail) replace(ctx context.Context, st state, resume bool) error {
	f := &feed{name: "tail-" + nats.NewInbox()[len("_INBOX."):], heard: time.Now()}
	inbox := l.bus.sub.NewInbox()
	sub, err := l.bus.sub.Subscribe(inbox, func(m *nats.Msg) { l.receive(f, m) })
	if err != nil {
		return err
	}
	f.sub = sub
	// Flow control bounds what the server sends ahead.
	if err := sub.SetPendingLimits(-1, -1); err != nil {
		return err
	}
	l.mu.Lock()
	_, lanes := l.wantedLocked()
	if len(lanes) == 0 {
		l.mu.Unlock()
		return sub.Unsubscribe()
	}
	if 2*len(lanes) < int(l.mu.lanes) {
		f.lanes = lanes
	}
	if l.mu.feed == nil && !resume {
		l.mu.Unlock() // it broke while the state was asked for: ask again
		return errors.Join(errFeedBroke, sub.Unsubscribe())
	}
	l.dropLocked()
	switch p := l.mu.position; {
	case p == 0:
		l.mu.position = st.last
	case p > st.last && resume, p+1 < st.first:
		// The stream lost its tail, or retention overtook us: every cursor must see
		// for itself what that means at its own position.
		l.cutJoinedLocked()
		l.mu.position = st.last
	}
	l.mu.feed = f
	start := l.mu.position + 1
	for p := range lanes {
		for _, b := range l.mu.buffers[p] {
			b.join()
		}
	}
	l.mu.Unlock()
	if err := l.create(ctx, f, inbox, start); err != nil {
		l.mu.Lock()
		if l.mu.feed == f {
			l.dropLocked()
		}
		l.mu.Unlock()
		return err
	}
	return nil
}

// cutJoinedLocked ends the buffers that were promised an unbroken sequence.
func (l *tail) cutJoinedLocked() {
	for p, bs := range maps.Clone(l.mu.buffers) {
		for _, b := range slices.Clone(bs) {
			if b.isJoined() {
				b.cut()
				l.removeLocked(p, b)
			}
		}
	}
}

// create creates the consumer of f.
func (l *tail) create(ctx context.Context, f *feed, inbox string, start uint64) error {
	cfg := jetstream.ConsumerConfig{
		Name:              f.name,
		DeliverSubject:    inbox,
		DeliverPolicy:     jetstream.DeliverByStartSequencePolicy,
		OptStartSeq:       start,
		AckPolicy:         jetstream.AckNonePolicy,
		MaxDeliver:        1,
		FlowControl:       true,
		IdleHeartbeat:     heartbeat,
		InactiveThreshold: inactive,
		MemoryStorage:     true,
		Replicas:          1,
	}
	for _, p := range slices.Sorted(maps.Keys(f.lanes)) {
		cfg.FilterSubjects = append(cfg.FilterSubjects, laneFilter(l.topic, p))
	}
	if _, err := l.bus.js.CreatePushConsumer(ctx, streamName(l.topic), cfg); err != nil {
		return l.bus.requestError(ctx, "create consumer", err)
	}
	return nil
}

// receive handles a message of feed f, in the goroutine of its subscription.
func (l *tail) receive(f *feed, m *nats.Msg) {
	if s := status(m); s != "" {
		l.control(f, m, s)
		return
	}
	d, ok := parseDelivery(m.Reply)
	if !ok {
		return
	}
	r, ok := record(m, d)
	if ok {
		l.deliver(f, d, r)
	}
}

// control handles heartbeats and flow control.
func (l *tail) control(f *feed, m *nats.Msg, s string) {
	if s == statusControl && m.Reply != "" { // flow control: all before it is handled
		_ = m.Respond(nil)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.mu.feed != f {
		return
	}
	f.heard = time.Now()
	if stalled := m.Header.Get(headerStalled); stalled != "" {
		_ = l.bus.sub.Publish(stalled, nil)
	}
	broken := s != statusControl // the consumer was deleted, or so
	if last := m.Header.Get(headerLastConsumer); last != "" {
		n, err := strconv.ParseUint(last, 10, 64)
		broken = broken || err != nil || n != f.sequence
	}
	if broken {
		l.dropLocked()
		l.wake()
	}
}

// deliver puts a record into the buffers of its partition.
func (l *tail) deliver(f *feed, d delivery, r bus.Record) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.mu.feed != f {
		return
	}
	f.heard = time.Now()
	if d.consumer != f.sequence+1 {
		l.dropLocked()
		l.wake()
		return
	}
	f.sequence = d.consumer
	if d.stream > l.mu.position {
		l.putLocked(r)
	}
}

// putLocked delivers the next record of the feed. The first reader is woken last: the
// scheduler runs first whom a goroutine woke last, and the roles that others wait for
// begin to read first.
func (l *tail) putLocked(r bus.Record) {
	l.mu.position = r.Offset
	for _, b := range slices.Backward(l.mu.buffers[r.Partition]) {
		if !b.put(r) {
			l.removeLocked(r.Partition, b)
		}
	}
}
