package natsbus

import (
	"bytes"
	"time"

	"github.com/aspis-rv/aspis/internal/bus"
)

// appended is a record that this connection has sent, kept until it is acknowledged
// where a cursor of the same connection waits for it. A sole writer's records are in
// the cursors with their acknowledgement, which comes before the consumer's delivery.
type appended struct {
	tail   *tail // nil: nobody waits for it
	record bus.Record
}

// appended prepares the delivery of a record about to be sent. Its time is that of
// sending, on the wall clock: the acknowledgement does not tell the broker's.
func (b *Bus) appended(m *bus.Message) appended {
	l := b.topicOf(m.Topic).tail
	if !l.follows(m.Partition) {
		return appended{}
	}
	return appended{l, bus.Record{Partition: m.Partition, Time: time.Now().Round(0), Data: bytes.Clone(m.Data)}}
}

// deliver hands the record, acknowledged as the one at offset, to the cursors.
func (a *appended) deliver(offset uint64) {
	if a.tail != nil {
		a.record.Offset = offset
		a.tail.appended(a.record)
	}
}

// follows reports whether a cursor waits for the records of a partition.
func (l *tail) follows(p uint32) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.mu.buffers[p]) > 0
}

// appended delivers a record of this connection if it is the next of the stream and of
// a partition of the feed. Any other is left to the feed, which has the records of other
// writers too: in between there may be one of theirs, and the buffers of a partition that
// is not in the feed yet were promised nothing.
func (l *tail) appended(r bus.Record) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if f := l.mu.feed; f == nil || !f.covers(r.Partition) || r.Offset != l.mu.position+1 {
		return
	}
	l.putLocked(r)
}
