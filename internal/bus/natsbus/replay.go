package natsbus

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/aspis-rv/aspis/internal/bus"
)

// Limits of one request of a replay. Larger ones gain nothing measurable; a record of
// the greatest size fits several times.
const (
	replayRecords = 512
	replayBytes   = 4 << 20
)

// replay reads a bounded, past stretch of a stream through a pull consumer, at the pace
// of its reader.
type replay struct {
	bus      *Bus
	stream   string
	name     string
	inbox    string // prefix of the replies; each request has its own
	reply    string // of the request under way
	requests int
	until    uint64 // the last sequence wanted; it exists when the replay is opened
	matching uint64 // records from the first on when it was opened
	sub      *nats.Subscription
	messages chan *nats.Msg // never full: a request is smaller
	sequence uint64         // of the consumer's last delivery
	pending  int            // records of the request under way that have not come
	filled   []bus.Record
	full     bool // filled is all of a request
	over     bool // the record until has come
}

// openReplay opens a replay of the records that match filter, from sequence from to
// sequence until.
func (b *Bus) openReplay(ctx context.Context, stream, filter string, from, until uint64) (*replay, error) {
	inbox := b.sub.NewInbox() + "."
	r := &replay{
		bus: b, stream: stream, name: "replay-" + nats.NewInbox()[len("_INBOX."):], inbox: inbox, until: until,
		messages: make(chan *nats.Msg, 2*replayRecords),
	}
	bounded, cancel := b.bounded(ctx)
	defer cancel()
	sub, err := b.sub.ChanSubscribe(inbox+"*", r.messages)
	if err != nil {
		return nil, b.requestError(ctx, "open replay", err)
	}
	r.sub = sub
	consumer, err := b.js.CreateConsumer(bounded, stream, jetstream.ConsumerConfig{
		Name:              r.name,
		FilterSubject:     filter,
		DeliverPolicy:     jetstream.DeliverByStartSequencePolicy,
		OptStartSeq:       from,
		AckPolicy:         jetstream.AckNonePolicy,
		MaxDeliver:        1,
		InactiveThreshold: inactive,
		MemoryStorage:     true,
		Replicas:          1,
	})
	if err != nil {
		r.close()
		return nil, b.requestError(ctx, "open replay", err)
	}
	r.matching = consumer.CachedInfo().NumPending
	return r, nil
}

// errReplayBroken says that the replay cannot go on; a new one from the last position
// can.
var errReplayBroken = errors.New("natsbus: replay broken")

// errRequestOver says that a request is used up, by bytes or by time.
var errRequestOver = errors.New("natsbus: request is over")

// next returns the next record as the consumer delivers it. ctx may end and next be
// called again; after errRequestOver the next call makes a new request.
func (r *replay) next(ctx context.Context) (*nats.Msg, delivery, error) {
	if r.pending == 0 {
		if err := r.request(); err != nil {
			return nil, delivery{}, err
		}
	}
	m, err := r.receive(ctx)
	if err != nil {
		return nil, delivery{}, err
	}
	for status(m) != "" && m.Subject != r.reply {
		// The end of an earlier request, which had brought all it was to bring.
		if m, err = r.receive(ctx); err != nil {
			return nil, delivery{}, err
		}
	}
	if s := status(m); s != "" {
		if s == statusNoResponders {
			return nil, delivery{}, fmt.Errorf("%w: the consumer is gone", errReplayBroken)
		}
		r.pending = 0
		r.pending = 0
		return nil, delivery{}, errRequestOver
	}
	d, ok := parseDelivery(m.Reply)
	if !ok || d.consumer != r.sequence+1 {
		return nil, delivery{}, fmt.Errorf("%w: delivery %q does not follow %d", errReplayBroken, m.Reply, r.sequence)
	}
	r.sequence = d.consumer
	r.pending--
	return m, d, nil
}

// fill collects what one request brings. ctx may end and fill be called again. over says
// that the last record wanted is among it.
func (r *replay) fill(ctx context.Context) (over bool, err error) {
	for !r.over && !r.full {
		m, d, err := r.next(ctx)
		if errors.Is(err, errRequestOver) {
			if len(r.filled) == 0 {
				return false, fmt.Errorf("%w: no record up to %d came", errReplayBroken, r.until)
			}
			r.full = true
			continue
		}
		if err != nil {
			return false, err
		}
		if rec, ok := record(m, d); ok {
			r.filled = append(r.filled, rec)
		}
		r.over = d.stream >= r.until
		r.full = r.pending == 0
	}
	return r.over, nil
}

// take returns what fill has collected. What follows is asked for at once, so that it
// comes while the reader is busy.
func (r *replay) take() []bus.Record {
	rs := r.filled
	r.filled, r.full = nil, false
	if !r.over && r.pending == 0 {
		_ = r.request() // if it fails, fill tries again and reports it
	}
	return rs
}

// receive returns the next message. Only waiting costs a timer.
func (r *replay) receive(ctx context.Context) (*nats.Msg, error) {
	select {
	case m := <-r.messages:
		return m, nil
	default:
	}
	bounded, cancel := r.bus.bounded(ctx)
	defer cancel()
	select {
	case m := <-r.messages:
		return m, nil
	case <-bounded.Done():
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return nil, fmt.Errorf("%w: nothing came: %v", errReplayBroken, bounded.Err()) //nolint:errorlint // not the caller's context
}

// request asks for the next records.
func (r *replay) request() error {
	body := fmt.Appendf(nil, `{"batch":%d,"max_bytes":%d,"expires":%d}`, replayRecords, replayBytes, r.bus.cfg.Timeout)
	subject := "$JS.API.CONSUMER.MSG.NEXT." + r.stream + "." + r.name
	r.requests++
	r.reply = r.inbox + strconv.Itoa(r.requests)
	if err := r.bus.sub.PublishRequest(subject, r.reply, body); err != nil {
		return fmt.Errorf("%w: %w", errReplayBroken, err)
	}
	r.pending = replayRecords
	return nil
}

// close removes the replay. The server need not answer: it removes an unused consumer
// by itself.
func (r *replay) close() {
	_ = r.sub.Unsubscribe()
	_ = r.bus.sub.Publish("$JS.API.CONSUMER.DELETE."+r.stream+"."+r.name, nil)
}
