package natsbus

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/aspis-rv/aspis/internal/bus"
)

// metaPartitions is the stream metadata that holds the number of partitions.
const metaPartitions = "aspis-partitions"

// openStreams finds or creates the streams and learns the number of partitions.
func (b *Bus) openStreams(ctx context.Context) error {
	for _, t := range []bus.Topic{bus.Events, bus.Verdicts} {
		info, err := b.openStream(ctx, b.topicConfig(t), b.limitOf(t))
		if err != nil {
			return err
		}
		n, err := strconv.ParseUint(info.Config.Metadata[metaPartitions], 10, 32)
		if err != nil || n == 0 || n > MaxPartitions {
			return fmt.Errorf("natsbus: stream %s was not made by this program: its metadata %s is %q; use another server, account or data directory",
				info.Config.Name, metaPartitions, info.Config.Metadata[metaPartitions])
		}
		if b.cfg.Partitions != 0 && uint32(n) != b.cfg.Partitions || b.partitions != 0 && uint32(n) != b.partitions {
			return fmt.Errorf("natsbus: stream %s has %d partitions, wanted are %d; the number is fixed at creation, a change needs a new log",
				info.Config.Name, n, max(b.cfg.Partitions, b.partitions))
		}
		b.partitions = uint32(n)
		b.topicOf(t).usage.configure(info)
		b.topicOf(t).tail.configure(uint32(n))
	}
	return b.snaps.open(ctx, b)
}

// topicConfig is the configuration of a topic's stream that is created now.
func (b *Bus) topicConfig(t bus.Topic) jetstream.StreamConfig {
	partitions, limit := b.cfg.Partitions, b.limitOf(t)
	if partitions == 0 {
		partitions = DefaultPartitions
	}
	if limit == 0 {
		limit = DefaultEventsBytes
		if t == bus.Verdicts {
			limit = DefaultVerdictsBytes
		}
	}
	return jetstream.StreamConfig{
		Name:        streamName(t),
		Description: "log of " + t.String(),
		Subjects:    []string{subjectPrefix(t) + ">"},
		Retention:   jetstream.LimitsPolicy,
		Storage:     jetstream.FileStorage,
		Discard:     jetstream.DiscardNew,
		MaxBytes:    limit,
		MaxAge:      b.cfg.MaxAge,
		MaxMsgSize:  -1,
		Duplicates:  dedupWindow,
		Replicas:    b.cfg.Replicas,
		AllowDirect: true,
		Metadata:    map[string]string{metaPartitions: strconv.FormatUint(uint64(partitions), 10)},
	}
}

// limitOf is the capacity the configuration asks for, 0 for none in particular.
func (b *Bus) limitOf(t bus.Topic) int64 {
	if t == bus.Verdicts {
		return b.cfg.VerdictsBytes
	}
	return b.cfg.EventsBytes
}

// openStream returns the stream of that name, created as want says where it does not
// exist, and with its limits changed where the configuration asks for others.
func (b *Bus) openStream(ctx context.Context, want jetstream.StreamConfig, limit int64) (*jetstream.StreamInfo, error) {
	s, err := b.js.Stream(ctx, want.Name)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		s, err = b.js.CreateStream(ctx, want)
		if errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) { // another process was faster
			s, err = b.js.Stream(ctx, want.Name)
		}
	}
	if err != nil {
		return nil, b.requestError(ctx, "open stream "+want.Name, err)
	}
	cfg := s.CachedInfo().Config
	changed := false
	if limit != 0 && cfg.MaxBytes != limit {
		cfg.MaxBytes, changed = limit, true
	}
	if b.cfg.MaxAge != 0 && want.MaxAge != 0 && cfg.MaxAge != b.cfg.MaxAge {
		cfg.MaxAge, changed = b.cfg.MaxAge, true
	}
	if changed {
		if s, err = b.js.UpdateStream(ctx, cfg); err != nil {
			return nil, b.requestError(ctx, "change the limits of stream "+want.Name, err)
		}
	}
	return s.CachedInfo(), nil
}

// state is what a stream says about its ends.
type state struct {
	first, last uint64 // of the stream; last is first-1 when it is empty
	maxAge      time.Duration
}

// streamState asks for the ends of a topic's stream.
func (b *Bus) streamState(ctx context.Context, t bus.Topic) (state, error) {
	info, err := b.streamInfo(ctx, streamName(t))
	if err != nil {
		return state{}, err
	}
	return state{first: info.State.FirstSeq, last: info.State.LastSeq, maxAge: info.Config.MaxAge}, nil
}

func (b *Bus) streamInfo(ctx context.Context, name string) (*jetstream.StreamInfo, error) {
	bounded, cancel := b.bounded(ctx)
	defer cancel()
	s, err := b.js.Stream(bounded, name)
	if err != nil {
		return nil, b.requestError(ctx, "state of stream "+name, err)
	}
	return s.CachedInfo(), nil
}
