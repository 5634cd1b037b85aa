package natsbus_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/aspis-rv/aspis/internal/bus"
	"github.com/aspis-rv/aspis/internal/bus/natsbus"
)

// TestOwnRecordsAmongForeign reads along while two connections write: each of them has
// its own records from the acknowledgement where they are next, and the other's from
// the feed. Every reader sees every record once, in the order of the log.
func TestOwnRecordsAmongForeign(t *testing.T) {
	const partitions, each = 3, 300
	r := newBroker(t, false)
	here := r.connect(t, natsbus.Config{Partitions: partitions})
	there := r.connect(t, natsbus.Config{})
	var cursors []bus.Cursor
	for _, b := range []*natsbus.Bus{here, there, here} {
		for p := range uint32(partitions) {
			c, err := b.Read(t.Context(), bus.Events, p, bus.Start{Kind: bus.Earliest})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close() //nolint:errcheck // nothing is lost with a cursor
			cursors = append(cursors, c)
		}
	}
	publishN(t, here, 0, 1, 10) // so that the cursors join the tail
	next(t, cursors[0])
	done := make(chan error, 2)
	for i, b := range []*natsbus.Bus{here, there} {
		go func() { done <- write(t.Context(), b, i, partitions, each) }()
	}
	for i, c := range cursors {
		p := uint32(i % partitions) //nolint:gosec // small
		want := 2 * each
		if p == 0 && i > 0 {
			want++
		}
		checkOrder(t, c, want)
	}
	for range 2 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// write appends to all partitions in turn, by every way there is.
func write(ctx context.Context, b *natsbus.Bus, who, partitions, each int) error {
	pub := b.NewPublisher()
	for n := range each * partitions {
		m := bus.Message{
			Topic: bus.Events, Partition: uint32(n % partitions), Class: bus.Reserved, //nolint:gosec // small
			Data: fmt.Appendf(nil, "%d/%d", who, n),
		}
		var err error
		switch n / partitions % 3 {
		case 0:
			_, err = pub.Publish(ctx, m)
		case 1:
			_, err = pub.Create(ctx, string(m.Data), m)
		default:
			err = pub.Emit(m)
		}
		if err != nil {
			return err
		}
	}
	return pub.Sync(ctx)
}

// checkOrder reads n records: offsets ascend, times do not fall, each writer's come in
// the order of writing.
func checkOrder(t *testing.T, c bus.Cursor, n int) {
	t.Helper()
	var offset uint64
	var at time.Time
	last := map[int]int{0: -1, 1: -1}
	for range n {
		rec := next(t, c)
		if rec.Offset <= offset || rec.Time.Before(at) {
			t.Fatalf("record %d of %v after record %d of %v", rec.Offset, rec.Time, offset, at)
		}
		offset, at = rec.Offset, rec.Time
		var who, k int
		if _, err := fmt.Sscanf(string(rec.Data), "%d/%d", &who, &k); err != nil {
			continue // the first one
		}
		if k <= last[who] {
			t.Fatalf("writer %d: record %d after %d", who, k, last[who])
		}
		last[who] = k
	}
}

// TestOwnRecordIsNotShared changes the bytes of an emitted record after the call.
func TestOwnRecordIsNotShared(t *testing.T) {
	b := newBroker(t, false).connect(t, natsbus.Config{Partitions: 1})
	c, err := b.Read(t.Context(), bus.Events, 0, bus.Start{Kind: bus.Earliest})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close() //nolint:errcheck // nothing is lost with a cursor
	publishN(t, b, 0, 1, 10)
	next(t, c)
	for n := range byte(100) {
		data := []byte{n}
		if err := b.Emit(bus.Message{Topic: bus.Events, Class: bus.Reserved, Data: data}); err != nil {
			t.Fatal(err)
		}
		data[0] = 255
		if rec := next(t, c); rec.Data[0] != n {
			t.Fatalf("record %d holds %d", n, rec.Data[0])
		}
	}
}
