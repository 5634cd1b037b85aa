//nolint:thelper // the functions here are tests: a failure is reported at its own line
package bustest

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/aspis-rv/aspis/internal/bus"
)

func cursorTests() []test {
	return []test{
		{"earliest, offset and time", nil, testStarts},
		{"an offset beyond the end", nil, testBeyond},
		{"latest starts after Read", nil, testLatest},
		{"the tail blocks and wakes", nil, testTail},
		{"many cursors on many partitions", nil, testManyCursors},
		{"a slow cursor loses nothing", nil, testSlow},
		{"Next honours its context", nil, testNextContext},
		{"Close unblocks Next", nil, testCloseUnblocks},
		{"bounds", nil, testBounds},
		{"trimmed positions", []Capability{Retention}, testTrimmed},
	}
}

func testStarts(t *testing.T, s *suite) {
	b := s.newBus(t)
	for i := range 30 {
		publish(t, b, ordinary(uint32(i%3), "%d", i))
	}
	rs := all(t, b, bus.Events, 1)
	if len(rs) != 10 {
		t.Fatalf("%d records, want 10", len(rs))
	}
	for i, r := range rs {
		c := open(t, b, bus.Events, 1, bus.Start{Kind: bus.AtOffset, Offset: r.Offset})
		if got := next(t, c); got.Offset != r.Offset || string(got.Data) != string(r.Data) || !got.Time.Equal(r.Time) {
			t.Errorf("at offset %d: got offset %d %q", r.Offset, got.Offset, got.Data)
		}
		// Resuming after a record continues with the one that follows it.
		if i+1 < len(rs) {
			c = open(t, b, bus.Events, 1, bus.Start{Kind: bus.AtOffset, Offset: r.Offset + 1})
			if got := next(t, c); got.Offset != rs[i+1].Offset {
				t.Errorf("after offset %d: got %d, want %d", r.Offset, got.Offset, rs[i+1].Offset)
			}
		}
		want := slices.IndexFunc(rs, func(x bus.Record) bool { return !x.Time.Before(r.Time) })
		c = open(t, b, bus.Events, 1, bus.Start{Kind: bus.AtTime, Time: r.Time})
		if got := next(t, c); got.Offset != rs[want].Offset {
			t.Errorf("at time of offset %d: got %d, want %d", r.Offset, got.Offset, rs[want].Offset)
		}
	}
	c := open(t, b, bus.Events, 1, bus.Start{Kind: bus.AtTime, Time: rs[0].Time.Add(-time.Hour)})
	if got := next(t, c); got.Offset != rs[0].Offset {
		t.Errorf("an hour before: got %d, want %d", got.Offset, rs[0].Offset)
	}
	// A time that has not come yet waits for it: none of these records qualify.
	c = open(t, b, bus.Events, 1, bus.Start{Kind: bus.AtTime, Time: rs[9].Time.Add(time.Hour)})
	publish(t, b, ordinary(1, "too early"))
	blocked(t, c)
}

func testBeyond(t *testing.T, s *suite) {
	b := s.newBus(t)
	last := publish(t, b, ordinary(0, "x"))
	c := open(t, b, bus.Events, 0, bus.Start{Kind: bus.AtOffset, Offset: last + 1})
	want := publish(t, b, ordinary(0, "y"))
	if got := next(t, c); got.Offset != want {
		t.Errorf("got offset %d, want %d", got.Offset, want)
	}
	if _, err := b.Read(guard(t), bus.Events, 0, bus.Start{Kind: bus.AtOffset, Offset: want + 1000}); !errors.Is(err, bus.ErrTrimmed) {
		t.Errorf("reading from beyond the end: %v, want ErrTrimmed", err)
	}
}

func testLatest(t *testing.T, s *suite) {
	b := s.newBus(t)
	for round := range 20 {
		publish(t, b, ordinary(0, "before"))
		c := open(t, b, bus.Events, 0, bus.Start{Kind: bus.Latest})
		want := publish(t, b, ordinary(0, "after"))
		if got := next(t, c); got.Offset != want {
			t.Fatalf("round %d: got offset %d %q, want %d", round, got.Offset, got.Data, want)
		}
	}
}

// blocked checks that c has nothing to deliver.
func blocked(t *testing.T, c bus.Cursor) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if r, err := c.Next(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("Next at the end: offset %d %q, %v; want it to block", r.Offset, r.Data, err)
	}
}

func testTail(t *testing.T, s *suite) {
	b := s.newBus(t)
	c := open(t, b, bus.Events, 2, bus.Start{Kind: bus.Earliest})
	blocked(t, c)
	for range 200 {
		want := publish(t, b, ordinary(2, "x"))
		publish(t, b, ordinary(3, "not for this cursor"))
		if got := next(t, c); got.Offset != want {
			t.Fatalf("got offset %d, want %d", got.Offset, want)
		}
	}
	blocked(t, c)
	// Read after Close fails, and closing twice does not.
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Next(guard(t)); !errors.Is(err, bus.ErrClosed) {
		t.Errorf("Next after Close: %v", err)
	}
}

// testManyCursors opens three cursors on every partition while records are written
// and checks that each sees its whole partition in order.
func testManyCursors(t *testing.T, s *suite) {
	b := s.newBus(t)
	lanes, each := b.Partitions(), 40
	ctx := guard(t)
	var wg sync.WaitGroup
	for p := range lanes {
		for role := range 3 {
			wg.Go(func() {
				c, err := b.Read(ctx, bus.Events, p, bus.Start{})
				if err != nil {
					t.Errorf("role %d partition %d: %v", role, p, err)
					return
				}
				defer func() { _ = c.Close() }()
				for i := range each {
					r, err := c.Next(ctx)
					if err != nil || r.Partition != p || len(r.Data) != 1 || int(r.Data[0]) != i {
						t.Errorf("role %d partition %d: record %d is %v %v of partition %d, %v", role, p, i, r.Offset, r.Data, r.Partition, err)
						return
					}
				}
			})
		}
	}
	pub := b.NewPublisher()
	for i := range each {
		for p := range lanes {
			if err := pub.Emit(bus.Message{Topic: bus.Events, Partition: p, Data: []byte{byte(i)}}); err != nil {
				t.Error(err)
			}
		}
	}
	if err := pub.Sync(ctx); err != nil {
		t.Error(err)
	}
	wg.Wait()
}

// testSlow writes far more than any buffer of a live cursor holds, before the cursor
// reads on.
func testSlow(t *testing.T, s *suite) {
	b := s.newBus(t)
	c := open(t, b, bus.Events, 0, bus.Start{})
	publish(t, b, ordinary(0, "first"))
	next(t, c)
	blocked(t, c)
	const n, size = 6000, 2000
	data := make([]byte, size)
	for i := range n {
		data[0], data[1] = byte(i), byte(i>>8)
		if err := b.Emit(bus.Message{Topic: bus.Events, Class: bus.Reserved, Data: data}); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.Sync(guard(t)); err != nil {
		t.Fatal(err)
	}
	for i := range n {
		r := next(t, c)
		if got := int(r.Data[0]) | int(r.Data[1])<<8; got != i || len(r.Data) != size {
			t.Fatalf("record %d of %d bytes at place %d", got, len(r.Data), i)
		}
	}
	want := publish(t, b, ordinary(0, "last"))
	if got := next(t, c); got.Offset != want {
		t.Errorf("after the backlog: offset %d, want %d", got.Offset, want)
	}
}

func testNextContext(t *testing.T, s *suite) {
	b := s.newBus(t)
	c := open(t, b, bus.Events, 0, bus.Start{})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		_, err := c.Next(ctx)
		done <- err
	}()
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled Next: %v", err)
	}
	if _, err := c.Next(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Next with a dead context: %v", err)
	}
	// The cursor is none the worse for it.
	want := publish(t, b, ordinary(0, "x"))
	if got := next(t, c); got.Offset != want {
		t.Errorf("got offset %d, want %d", got.Offset, want)
	}
}

func testCloseUnblocks(t *testing.T, s *suite) {
	for _, closer := range []string{"cursor", "bus"} {
		b := s.newBus(t)
		c := open(t, b, bus.Events, 0, bus.Start{})
		blocked(t, c)
		done := make(chan error)
		go func() {
			_, err := c.Next(context.WithoutCancel(t.Context()))
			done <- err
		}()
		time.Sleep(time.Millisecond) // likely inside Next; right either way
		closing := c.Close
		if closer == "bus" {
			closing = b.Close
		}
		if err := closing(); err != nil {
			t.Fatal(err)
		}
		select {
		case err := <-done:
			if !errors.Is(err, bus.ErrClosed) {
				t.Errorf("Next after Close of the %s: %v", closer, err)
			}
		case <-time.After(patience):
			t.Fatalf("Next still blocks after Close of the %s", closer)
		}
	}
}

func testBounds(t *testing.T, s *suite) {
	b := s.newBus(t)
	first, end, err := b.Bounds(guard(t), bus.Events, 1)
	if err != nil || first != end {
		t.Fatalf("an empty partition: [%d, %d), %v", first, end, err)
	}
	// The end of an empty partition is a position to read from.
	c := open(t, b, bus.Events, 1, bus.Start{Kind: bus.AtOffset, Offset: end})
	publish(t, b, ordinary(0, "elsewhere"))
	a := publish(t, b, ordinary(1, "a"))
	z := publish(t, b, ordinary(1, "z"))
	publish(t, b, ordinary(0, "elsewhere"))
	first, end, err = b.Bounds(guard(t), bus.Events, 1)
	if err != nil || first != a || end != z+1 {
		t.Errorf("bounds [%d, %d), %v, want [%d, %d)", first, end, err, a, z+1)
	}
	if got := next(t, c); got.Offset != a {
		t.Errorf("reading from the end of the empty partition: %d, want %d", got.Offset, a)
	}
}

func testTrimmed(t *testing.T, s *suite) {
	b := s.newBus(t)
	var offsets []uint64
	for i := range 10 {
		offsets = append(offsets, publish(t, b, ordinary(0, "%d", i)))
	}
	lagging := open(t, b, bus.Events, 0, bus.Start{})
	next(t, lagging)
	s.Trim(t, b, bus.Events, 0, offsets[5])
	if _, err := b.Read(guard(t), bus.Events, 0, bus.Start{Kind: bus.AtOffset, Offset: offsets[4]}); !errors.Is(err, bus.ErrTrimmed) {
		t.Errorf("reading from a trimmed offset: %v", err)
	}
	first, _, err := b.Bounds(guard(t), bus.Events, 0)
	if err != nil || first != offsets[5] {
		t.Errorf("the first retained offset is %d, %v, want %d", first, err, offsets[5])
	}
	for _, start := range []bus.Start{{Kind: bus.Earliest}, {Kind: bus.AtOffset, Offset: offsets[5]}} {
		if got := next(t, open(t, b, bus.Events, 0, start)); got.Offset != offsets[5] {
			t.Errorf("start %v: offset %d, want %d", start.Kind, got.Offset, offsets[5])
		}
	}
	// The lagging cursor may have records in hand; it must not jump over the others.
	at := 1
	for {
		r, err := lagging.Next(guard(t))
		if errors.Is(err, bus.ErrTrimmed) {
			if _, err := lagging.Next(guard(t)); !errors.Is(err, bus.ErrTrimmed) {
				t.Errorf("after ErrTrimmed: %v", err)
			}
			break
		}
		if err != nil || r.Offset != offsets[at] {
			t.Fatalf("the lagging cursor: offset %d, %v, want %d", r.Offset, err, offsets[at])
		}
		at++
		if at == len(offsets) {
			break
		}
	}
}
