package natsbus

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/aspis-rv/aspis/internal/bus"
)

// chunkBytes is the size of a chunk: half the server's message limit, so that a chunk
// does not hold up other traffic for more than a millisecond or so.
const chunkBytes = 512 << 10

// chunkSubject is the subject of all chunks of one object. Object is a random name.
func chunkSubject(k, object string) string { return "sc." + k + "." + object }

// writeChunks writes data as chunks and completes man.
func (b *Bus) writeChunks(ctx context.Context, k string, man *manifest, data []byte) error {
	man.Object = nats.NewInbox()[len("_INBOX."):]
	subject := chunkSubject(k, man.Object)
	for i := 0; i < len(data); i += chunkBytes {
		if err := b.ready(ctx); err != nil {
			return err
		}
		ack, err := b.publishChunk(ctx, subject, data[i:min(i+chunkBytes, len(data))])
		if err != nil {
			return b.requestError(ctx, "put snapshot", err)
		}
		if i == 0 {
			man.First = ack.Sequence
		}
		man.Last = ack.Sequence
	}
	return nil
}

func (b *Bus) publishChunk(ctx context.Context, subject string, data []byte) (*jetstream.PubAck, error) {
	bounded, cancel := b.bounded(ctx)
	defer cancel()
	return b.js.Publish(bounded, subject, data)
}

// readChunks returns the value man describes, or bus.ErrDamaged, or errReplayBroken when
// the connection broke or the chunks were removed while they were read.
func (b *Bus) readChunks(ctx context.Context, k string, man manifest) ([]byte, error) {
	if man.Size < 0 || man.Size > bus.MaxSnapshotBytes || man.First == 0 || man.Last < man.First {
		return nil, fmt.Errorf("%w: impossible manifest", bus.ErrDamaged)
	}
	r, err := b.openReplay(ctx, chunkStream, chunkSubject(k, man.Object), man.First, man.Last)
	if err != nil {
		return nil, err
	}
	defer r.close()
	if want := (man.Size + chunkBytes - 1) / chunkBytes; r.matching < uint64(want) {
		return nil, fmt.Errorf("%w: %d of its %d chunks are left", bus.ErrDamaged, r.matching, want)
	}
	data := make([]byte, 0, man.Size)
	for len(data) < man.Size {
		m, _, err := r.next(ctx)
		switch {
		case errors.Is(err, errRequestOver):
			continue
		case err != nil:
			return nil, err
		case len(data)+len(m.Data) > man.Size:
			return nil, fmt.Errorf("%w: more than %d bytes", bus.ErrDamaged, man.Size)
		}
		data = append(data, m.Data...)
	}
	if digest := sha256.Sum256(data); !bytes.Equal(digest[:], man.Digest) {
		return nil, fmt.Errorf("%w: its digest does not match", bus.ErrDamaged)
	}
	return data, nil
}

// purgeChunks removes the chunks of a key below a sequence: what earlier values and
// writers that died left behind. A writer that began after the switch is above it.
// Failing is harmless, the next put does it again.
func (b *Bus) purgeChunks(ctx context.Context, k string, below uint64) {
	b.purge(ctx, jetstream.WithPurgeSubject("sc."+k+".>"), jetstream.WithPurgeSequence(below))
}

// removeChunks removes one object.
func (b *Bus) removeChunks(ctx context.Context, k, object string) {
	if object != "" {
		b.purge(ctx, jetstream.WithPurgeSubject(chunkSubject(k, object)))
	}
}

func (b *Bus) purge(ctx context.Context, options ...jetstream.StreamPurgeOpt) {
	// What is to be removed is to be removed even if the caller is in a hurry.
	ctx, cancel := b.bounded(context.WithoutCancel(ctx))
	defer cancel()
	s, err := b.js.Stream(ctx, chunkStream)
	if err == nil {
		err = s.Purge(ctx, options...)
	}
	if err != nil {
		b.cfg.Logger.WarnContext(ctx, "old snapshot chunks stay", slog.Any("cause", err))
	}
}
