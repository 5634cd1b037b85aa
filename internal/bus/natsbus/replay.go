package natsbus

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
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
	inbox    string
	until    uint64 // the last sequence wanted; it exists when the replay is opened
	sub      *nats.Subscription
	sequence uint64 // of the consumer's last delivery
	pending  int    // records of the request under way that have not come
}

// openReplay opens a replay of the records that match filter, from sequence from to
// sequence until.
func (b *Bus) openReplay(ctx context.Context, stream, filter string, from, until uint64) (*replay, error) {
	inbox := b.sub.NewInbox()
	r := &replay{bus: b, stream: stream, name: "replay-" + nats.NewInbox()[len("_INBOX."):], inbox: inbox, until: until}
	bounded, cancel := b.bounded(ctx)
	defer cancel()
	sub, err := b.sub.SubscribeSync(inbox)
	if err != nil {
		return nil, b.requestError("open replay", err)
	}
	r.sub = sub
	// A request bounds what the server sends.
	if err := sub.SetPendingLimits(-1, -1); err != nil {
		r.close()
		return nil, b.requestError("open replay", err)
	}
	_, err = b.js.CreateConsumer(bounded, stream, jetstream.ConsumerConfig{
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
		return nil, b.requestError("open replay", err)
	}
	return r, nil
}

// errReplayBroken says that the replay cannot go on; a new one from the last position
// can.
var errReplayBroken = errors.New("natsbus: replay broken")

// fresh says that the next record is the first of a new request.
func (r *replay) fresh() bool { return r.pending == 0 }

// next returns the next record as the consumer delivers it. ctx may end and next be
// called again.
func (r *replay) next(ctx context.Context) (*nats.Msg, delivery, error) {
	bounded, cancel := r.bus.bounded(ctx)
	defer cancel()
	for {
		if r.pending == 0 {
			if err := r.request(); err != nil {
				return nil, delivery{}, err
			}
		}
		m, err := r.sub.NextMsgWithContext(bounded)
		switch {
		case ctx.Err() != nil:
			return nil, delivery{}, ctx.Err()
		case err != nil:
			return nil, delivery{}, fmt.Errorf("%w: %w", errReplayBroken, err)
		}
		if s := status(m); s != "" {
			if s == statusNoResponders {
				return nil, delivery{}, fmt.Errorf("%w: the consumer is gone", errReplayBroken)
			}
			r.pending = 0 // the request is used up, by bytes or by time
			continue
		}
		d, ok := parseDelivery(m.Reply)
		if !ok || d.consumer != r.sequence+1 {
			return nil, delivery{}, fmt.Errorf("%w: delivery %q does not follow %d", errReplayBroken, m.Reply, r.sequence)
		}
		r.sequence = d.consumer
		r.pending--
		return m, d, nil
	}
}

// request asks for the next records.
func (r *replay) request() error {
	body := fmt.Appendf(nil, `{"batch":%d,"max_bytes":%d,"expires":%d}`, replayRecords, replayBytes, r.bus.cfg.Timeout)
	subject := "$JS.API.CONSUMER.MSG.NEXT." + r.stream + "." + r.name
	if err := r.bus.sub.PublishRequest(subject, r.inbox, body); err != nil {
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
