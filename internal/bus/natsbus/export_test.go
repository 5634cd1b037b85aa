package natsbus

import (
	"context"

	"github.com/nats-io/nats.go/jetstream"
)

// JetStream gives tests the administration of the streams.
func JetStream(b *Bus) jetstream.JetStream { return b.js }

// Again opens another connection with the configuration of b.
func Again(ctx context.Context, b *Bus) *Bus {
	n, err := Connect(ctx, b.cfg)
	if err != nil {
		panic(err)
	}
	return n
}
