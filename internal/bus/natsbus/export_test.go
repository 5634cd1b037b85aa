package natsbus

import "github.com/nats-io/nats.go/jetstream"

// JetStream gives tests the administration of the streams.
func JetStream(b *Bus) jetstream.JetStream { return b.js }
