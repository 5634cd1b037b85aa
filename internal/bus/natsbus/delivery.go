package natsbus

import (
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/aspis-rv/aspis/internal/bus"
)

// delivery is what a consumer says about a record it delivers, in the reply subject:
// $JS.ACK.<stream>.<consumer>.<delivered>.<stream seq>.<consumer seq>.<time>.<pending>
// or the same with domain and account hash before the stream and perhaps a token at
// the end (ADR-15 of the NATS architecture notes).
type delivery struct {
	stream   uint64 // sequence in the stream: the offset
	consumer uint64 // sequence in the consumer: gap-free
	at       time.Time
}

// parseDelivery reads a reply subject.
func parseDelivery(reply string) (delivery, bool) {
	const prefix = "$JS.ACK."
	if !strings.HasPrefix(reply, prefix) {
		return delivery{}, false
	}
	at := 5 // of the stream sequence
	switch n := strings.Count(reply, ".") + 1; {
	case n == 9:
	case n >= 11:
		at = 7
	default:
		return delivery{}, false
	}
	rest := reply
	for range at {
		_, rest, _ = strings.Cut(rest, ".")
	}
	var v [3]uint64
	for i := range v {
		var digits string
		digits, rest, _ = strings.Cut(rest, ".")
		n, err := strconv.ParseUint(digits, 10, 64)
		if err != nil {
			return delivery{}, false
		}
		v[i] = n
	}
	return delivery{stream: v[0], consumer: v[1], at: time.Unix(0, int64(v[2]))}, true
}

// record returns the record of a delivered message. The client allocates the data of
// every message anew, so it is the record's for ever.
func record(m *nats.Msg, d delivery) (bus.Record, bool) {
	p, ok := partitionOf(m.Subject)
	return bus.Record{Partition: p, Offset: d.stream, Time: d.at, Data: m.Data}, ok
}

// Headers and codes of control messages.
const (
	headerStatus       = "Status"
	headerLastConsumer = "Nats-Last-Consumer"
	headerStalled      = "Nats-Consumer-Stalled"
	statusControl      = "100" // heartbeat or flow control
	statusNoResponders = "503"
)

// status returns the status of a control message, or "" for a record. The header keys
// are written as the server sends them, which spares canonicalisation.
func status(m *nats.Msg) string {
	if len(m.Data) != 0 || len(m.Header) == 0 {
		return ""
	}
	return m.Header.Get(headerStatus)
}
