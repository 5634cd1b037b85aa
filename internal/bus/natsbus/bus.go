package natsbus

import (
	"context"
	"fmt"
	"log/slog"
	"sync"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/aspis-rv/aspis/internal/bus"
)

// Bus is a connection to a log on JetStream. It implements bus.Bus.
//
// It holds two client connections: one appends, the other reads and administers, so
// that a replay never stands in the way of an acknowledgement.
type Bus struct {
	publisher
	cfg        Config
	partitions uint32
	pub, sub   *nats.Conn
	js         jetstream.JetStream // over sub
	acks       *acks
	window     *window
	events     topic
	verdicts   topic
	snaps      snapshots

	life   context.Context //nolint:containedctx // ends with Close, for requests that outlast their caller
	end    context.CancelFunc
	closed <-chan struct{} // life.Done()
	// mu guards starting goroutines against Close, and the two below. It is taken last.
	mu        sync.Mutex
	link      context.Context //nolint:containedctx // ends when sub breaks, then the next begins
	breakLink context.CancelFunc
	running   sync.WaitGroup
}

var _ bus.Bus = (*Bus)(nil)

// topic is what the bus knows about one topic.
type topic struct {
	topic  bus.Topic
	stream string
	usage  usage
	tail   *tail
}

// Connect connects to the broker and creates the log where it does not exist. ctx
// bounds the whole.
func Connect(ctx context.Context, cfg Config) (*Bus, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	cfg = cfg.withDefaults()
	b := &Bus{cfg: cfg, window: newWindow()}
	b.life, b.end = context.WithCancel(context.Background())
	b.link, b.breakLink = context.WithCancel(b.life)
	b.closed = b.life.Done()
	b.publisher = publisher{bus: b, emits: newEmits()}
	b.acks = newAcks(b)
	for _, t := range []bus.Topic{bus.Events, bus.Verdicts} {
		*b.topicOf(t) = topic{topic: t, stream: streamName(t), tail: newTail(b, t)}
		b.topicOf(t).usage.init(b, t)
	}
	if err := b.dial(); err != nil {
		b.shutdown()
		return nil, err
	}
	if err := b.openStreams(ctx); err != nil {
		b.shutdown()
		return nil, err
	}
	if err := b.acks.start(); err != nil {
		b.shutdown()
		return nil, err
	}
	for _, t := range []bus.Topic{bus.Events, bus.Verdicts} {
		b.spawn(b.topicOf(t).tail.run)
	}
	b.spawn(b.acks.expire)
	return b, nil
}

// dial opens both connections.
func (b *Bus) dial() error {
	var err error
	if b.pub, err = b.dialOne("pub", nats.DisconnectErrHandler(func(_ *nats.Conn, cause error) {
		b.cfg.Logger.Warn("disconnected", slog.String("connection", "pub"), slog.Any("cause", cause))
		b.acks.disconnected()
	})); err != nil {
		return err
	}
	b.sub, err = b.dialOne("sub",
		nats.DisconnectErrHandler(func(_ *nats.Conn, cause error) {
			b.cfg.Logger.Warn("disconnected", slog.String("connection", "sub"), slog.Any("cause", cause))
			b.linkBroke()
			b.events.tail.interrupt()
			b.verdicts.tail.interrupt()
		}),
		nats.ReconnectHandler(func(*nats.Conn) {
			b.events.tail.interrupt()
			b.verdicts.tail.interrupt()
		}))
	if err != nil {
		return err
	}
	b.js, err = jetstream.New(b.sub, jetstream.WithDefaultTimeout(b.cfg.Timeout))
	if err != nil {
		return fmt.Errorf("natsbus: %w", err)
	}
	return nil
}

func (b *Bus) dialOne(name string, more ...nats.Option) (*nats.Conn, error) {
	options := []nats.Option{
		nats.Name(b.cfg.Name + " " + name),
		nats.Timeout(b.cfg.Timeout),
		nats.MaxReconnects(-1),
		nats.ReconnectWait(b.cfg.ReconnectWait),
		nats.ReconnectJitter(b.cfg.ReconnectWait/2, b.cfg.ReconnectWait),
		nats.ReconnectBufSize(-1), // while there is no connection, fail at once
		nats.SkipSubjectValidation(),
		nats.IgnoreAuthErrorAbort(), // credentials may be renewed while we try
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
			b.cfg.Logger.Warn("asynchronous error", slog.String("connection", name), slog.Any("cause", err))
		}),
	}
	if b.cfg.InProcess != nil {
		options = append(options, nats.InProcessServer(b.cfg.InProcess))
	}
	options = append(append(options, b.cfg.Options...), more...)
	nc, err := nats.Connect(b.cfg.URL, options...)
	if err != nil {
		return nil, fmt.Errorf("natsbus: connect: %w: %w", bus.ErrUnavailable, err)
	}
	return nc, nil
}

// NewPublisher implements bus.Bus.
func (b *Bus) NewPublisher() bus.Publisher {
	return &publisher{bus: b, emits: newEmits()}
}

// Partitions implements bus.Bus.
func (b *Bus) Partitions() uint32 { return b.partitions }

// Usage implements bus.Bus. It costs a round trip when the last one is older than a
// second.
func (b *Bus) Usage(ctx context.Context, t bus.Topic) (float64, error) {
	if err := b.ready(ctx); err != nil {
		return 0, err
	}
	if err := bus.CheckLane(t, 0, b.partitions); err != nil {
		return 0, err
	}
	return b.topicOf(t).usage.share(ctx)
}

// Close implements bus.Bus. What was sent and not acknowledged may or may not be
// written; cursors end with bus.ErrClosed. It returns when all goroutines have ended.
func (b *Bus) Close() error {
	b.shutdown()
	return nil
}

func (b *Bus) shutdown() {
	b.mu.Lock()
	b.end()
	b.mu.Unlock()
	b.acks.abort(bus.ErrClosed)
	for _, nc := range []*nats.Conn{b.pub, b.sub} {
		if nc != nil {
			nc.Close()
		}
	}
	b.running.Wait()
}

// topicOf returns the topic t, which the caller has checked.
func (b *Bus) topicOf(t bus.Topic) *topic {
	if t == bus.Verdicts {
		return &b.verdicts
	}
	return &b.events
}

// ready returns the reason why an operation cannot start, or nil.
func (b *Bus) ready(ctx context.Context) error {
	select {
	case <-b.closed:
		return bus.ErrClosed
	default:
	}
	return ctx.Err()
}

// bounded returns ctx with the time-out of one exchange with the broker. It ends also
// with Close and when the connection breaks: the answer would not come any more.
func (b *Bus) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(ctx, b.cfg.Timeout)
	b.mu.Lock()
	link := b.link
	b.mu.Unlock()
	stop := context.AfterFunc(link, cancel)
	return ctx, func() {
		stop()
		cancel()
	}
}

// linkBroke ends what waits for an answer on the connection that broke.
func (b *Bus) linkBroke() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.breakLink()
	b.link, b.breakLink = context.WithCancel(b.life)
}

// spawn runs f in a goroutine that Close waits for, unless the bus is closed.
func (b *Bus) spawn(f func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.life.Err() == nil {
		b.running.Go(f)
	}
}
