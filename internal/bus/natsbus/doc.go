// Package natsbus is the log on NATS JetStream, over a connection to a cluster or to
// the server embedded in this process.
//
// # What is stored
//
// Each topic is one stream with file storage that refuses new records when it is full.
// A record of partition p has the subject ev.<p>.r, or ev.<p>.c.<k> when it was
// created once, where k is a hash of its key; verdicts have vd in place of ev. No
// string of a caller is ever a subject token or a message id. Offsets are stream
// sequences: they begin at 1, ascend over all partitions of a topic, and have holes
// within one.
//
// # Appending
//
// Records are sent without waiting and acknowledgements come back on one
// subscription, so concurrent callers pipeline on one connection and the server sees
// appends in call order. Nothing is sent twice by the driver: a record whose
// acknowledgement is lost fails with bus.ErrUnavailable and the caller, who knows what
// it means, repeats it under the same id or key.
//
// # Reading
//
// A live cursor is fed by a tail that all cursors of one connection and topic share:
// one push consumer for the partitions read, so an idle cursor costs the server
// nothing and a record is delivered once per connection whatever the number of its
// readers. The tail never waits for a cursor: one that is slow is cut off after a
// bounded buffer, reads what it missed from the stream at its own pace, and joins
// again. The same path serves replay, reconnects and the first read, see cursor.go.
package natsbus
