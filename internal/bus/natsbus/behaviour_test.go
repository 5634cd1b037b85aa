package natsbus_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/aspis-rv/aspis/internal/bus"
	"github.com/aspis-rv/aspis/internal/bus/natsbus"
)

// publishN appends n records to a partition of events and returns the last offset.
func publishN(t *testing.T, b bus.Bus, p uint32, n, size int) uint64 {
	t.Helper()
	var last uint64
	for i := range n {
		o, err := b.Publish(t.Context(), bus.Message{Partition: p, Class: bus.Reserved, Data: append(make([]byte, size), fmt.Sprint(i)...)})
		if err != nil {
			t.Fatal(err)
		}
		last = o
	}
	return last
}

// TestManyIdleCursors opens the cursors of three roles over 64 partitions and shows that
// they are one consumer for the server.
func TestManyIdleCursors(t *testing.T) {
	b := newBroker(t, false).connect(t, natsbus.Config{})
	if b.Partitions() != natsbus.DefaultPartitions {
		t.Fatalf("%d partitions", b.Partitions())
	}
	var cs []bus.Cursor
	for range 3 {
		for p := range b.Partitions() {
			c, err := b.Read(t.Context(), bus.Events, p, bus.Start{})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = c.Close() }()
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
			_, err = c.Next(ctx) // joins the tail, or is on its way
			cancel()
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Fatalf("Next: %v", err)
			}
			cs = append(cs, c)
		}
	}
	for p := range b.Partitions() {
		publishN(t, b, p, 1, 0)
	}
	for i, c := range cs {
		if r, err := c.Next(t.Context()); err != nil || r.Partition != uint32(i%64) {
			t.Fatalf("cursor %d: record of partition %d, %v", i, r.Partition, err)
		}
	}
	eventually(t, "one consumer", func() bool { return len(consumers(t, b)) == 1 })
	for _, c := range cs {
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "no consumer", func() bool { return len(consumers(t, b)) == 0 })
}

func consumers(t *testing.T, b *natsbus.Bus) []string {
	t.Helper()
	s, err := natsbus.JetStream(b).Stream(t.Context(), "EVENTS")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	l := s.ConsumerNames(t.Context())
	for n := range l.Name() {
		names = append(names, n)
	}
	return names
}

// eventually waits for something that happens by itself.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for range 3000 {
		if ok() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("%s: not within 30 s", what)
}

// TestTrimmedUnderCursor removes records that a lagging cursor has not read: it must
// not jump over them, whether it replays or was live.
func TestTrimmedUnderCursor(t *testing.T) {
	for _, live := range []bool{false, true} {
		t.Run(fmt.Sprint("live ", live), func(t *testing.T) {
			b := newBroker(t, false).connect(t, natsbus.Config{Partitions: 2})
			if !live {
				publishN(t, b, 0, 3000, 4000)
			}
			c, err := b.Read(t.Context(), bus.Events, 0, bus.Start{})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = c.Close() }()
			if live {
				publishN(t, b, 0, 1, 0)
				next(t, c)
				ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
				_, err := c.Next(ctx)
				cancel()
				if !errors.Is(err, context.DeadlineExceeded) {
					t.Fatal(err)
				}
				publishN(t, b, 0, 3000, 4000)
			}
			before := next(t, c)
			purge(t, b, bus.Events, before.Offset+2500)
			for {
				r, err := c.Next(t.Context())
				if errors.Is(err, bus.ErrTrimmed) {
					break
				}
				if err != nil || r.Offset != before.Offset+1 {
					t.Fatalf("offset %d after %d, %v", r.Offset, before.Offset, err)
				}
				before = r
			}
		})
	}
}

func next(t *testing.T, c bus.Cursor) bus.Record {
	t.Helper()
	r, err := c.Next(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestLostTail restarts the server without its data: offsets begin anew, and a cursor
// that has read beyond them must say so instead of waiting for its offset to come.
func TestLostTail(t *testing.T) {
	r := newBroker(t, false)
	b := r.connect(t, natsbus.Config{Partitions: 2})
	last := publishN(t, b, 0, 10, 0)
	c, err := b.Read(t.Context(), bus.Events, 0, bus.Start{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	for r := next(t, c); r.Offset < last; {
		r = next(t, c)
	}
	r.stop()
	if err := os.RemoveAll(r.cfg.Dir); err != nil {
		t.Fatal(err)
	}
	r.start(t)
	other := r.connect(t, natsbus.Config{Partitions: 2})
	publishN(t, other, 0, 3, 0)
	if rec, err := c.Next(t.Context()); !errors.Is(err, bus.ErrTrimmed) {
		t.Errorf("Next: offset %d, %v, want ErrTrimmed", rec.Offset, err)
	}
}

// TestUnavailable shows what callers see while the server is down.
func TestUnavailable(t *testing.T) {
	r := newBroker(t, true)
	b := r.connect(t, natsbus.Config{Partitions: 2, Timeout: 200 * time.Millisecond})
	r.stop()
	check := func(what string, err error) {
		t.Helper()
		if !errors.Is(err, bus.ErrUnavailable) {
			t.Errorf("%s: %v, want ErrUnavailable", what, err)
		}
	}
	_, err := b.Publish(t.Context(), bus.Message{})
	check("Publish", err)
	_, err = b.Create(t.Context(), "k", bus.Message{})
	check("Create", err)
	check("Emit and Sync", errors.Join(b.Emit(bus.Message{}), b.Sync(t.Context())))
	_, err = b.Read(t.Context(), bus.Events, 0, bus.Start{Kind: bus.Latest})
	check("Read", err)
	_, _, err = b.Bounds(t.Context(), bus.Events, 0)
	check("Bounds", err)
	_, err = b.PutSnapshot(t.Context(), "k", 0, nil)
	check("PutSnapshot", err)
	_, _, err = b.GetSnapshot(t.Context(), "k")
	check("GetSnapshot", err)
	_, err = natsbus.Connect(t.Context(), natsbus.Config{URL: "nats://127.0.0.1:1", Timeout: 200 * time.Millisecond})
	check("Connect", err)
	// A cursor waits, and ends with its context.
	c, err := b.Read(t.Context(), bus.Events, 0, bus.Start{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if _, err := c.Next(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Next: %v", err)
	}
}

// TestNoAnswer removes the stream under a bus: nobody answers a publisher.
func TestNoAnswer(t *testing.T) {
	b := newBroker(t, false).connect(t, natsbus.Config{Partitions: 2})
	if err := natsbus.JetStream(b).DeleteStream(t.Context(), "EVENTS"); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Publish(t.Context(), bus.Message{}); !errors.Is(err, bus.ErrUnavailable) {
		t.Errorf("Publish: %v, want ErrUnavailable", err)
	}
	if err := b.Emit(bus.Message{}); err != nil {
		t.Fatal(err)
	}
	if err := b.Sync(t.Context()); !errors.Is(err, bus.ErrUnavailable) {
		t.Errorf("Sync: %v, want ErrUnavailable", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := b.Publish(ended, bus.Message{}); !errors.Is(err, context.Canceled) {
		t.Errorf("Publish with an ended context: %v", err)
	}
}

// TestChunksAreRemoved shows that one key leaves the chunks of its current value only,
// whatever was put before, failed, or was left by a writer that died.
func TestChunksAreRemoved(t *testing.T) {
	b := newBroker(t, false).connect(t, natsbus.Config{Partitions: 2})
	js := natsbus.JetStream(b)
	count := func() uint64 {
		s, err := js.Stream(t.Context(), "SNAPCHUNKS")
		if err != nil {
			t.Fatal(err)
		}
		return s.CachedInfo().State.Msgs
	}
	put := func(rev uint64, size int) uint64 {
		t.Helper()
		now, err := b.PutSnapshot(t.Context(), "k", rev, make([]byte, size))
		if err != nil {
			t.Fatal(err)
		}
		return now
	}
	const chunk = 512 << 10
	rev := put(0, 5*chunk)
	if _, err := b.PutSnapshot(t.Context(), "other", 0, make([]byte, 2*chunk)); err != nil {
		t.Fatal(err)
	}
	if n := count(); n != 5+2 {
		t.Errorf("%d chunks after the first put, want 7", n)
	}
	rev = put(rev, 3*chunk+1)
	if n := count(); n != 4+2 {
		t.Errorf("%d chunks after a smaller value, want 6", n)
	}
	if _, err := b.PutSnapshot(t.Context(), "k", rev+100, make([]byte, 3*chunk)); !errors.Is(err, bus.ErrStale) {
		t.Error(err)
	}
	if n := count(); n != 4+2 {
		t.Errorf("%d chunks after a stale put, want 6", n)
	}
	rev = put(rev, 10)
	if n := count(); n != 2 {
		t.Errorf("%d chunks after a small value, want those of the other key", n)
	}
	put(rev, 10)
}

func TestDamagedSnapshot(t *testing.T) {
	b := newBroker(t, false).connect(t, natsbus.Config{Partitions: 2})
	rev, err := b.PutSnapshot(t.Context(), "k", 0, make([]byte, 2_000_000))
	if err != nil {
		t.Fatal(err)
	}
	s, err := natsbus.JetStream(b).Stream(t.Context(), "SNAPCHUNKS")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.DeleteMsg(t.Context(), 2); err != nil {
		t.Fatal(err)
	}
	_, now, err := b.GetSnapshot(t.Context(), "k")
	if !errors.Is(err, bus.ErrDamaged) || now != rev {
		t.Errorf("GetSnapshot: revision %d, %v, want %d and ErrDamaged", now, err, rev)
	}
	if _, err := b.PutSnapshot(t.Context(), "k", now, []byte("new")); err != nil {
		t.Errorf("writing over it: %v", err)
	}
}

// TestUsageIsExact compares the running count with the server's.
func TestUsageIsExact(t *testing.T) {
	b := newBroker(t, false).connect(t, natsbus.Config{Partitions: 2, EventsBytes: 1 << 20})
	for i := range 50 {
		m := bus.Message{Partition: uint32(i % 2), Data: make([]byte, 17*i)}
		var err error
		switch i % 3 {
		case 0:
			_, err = b.Publish(t.Context(), m)
		case 1:
			m.ID = fmt.Sprint(i)
			_, err = b.Publish(t.Context(), m)
		case 2:
			_, err = b.Create(t.Context(), fmt.Sprint(i), m)
			_, again := b.Create(t.Context(), fmt.Sprint(i), m) // counts nothing
			err = errors.Join(err, map[bool]error{false: again}[errors.Is(again, bus.ErrExists)])
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	u, err := b.Usage(t.Context(), bus.Events)
	if err != nil {
		t.Fatal(err)
	}
	s, err := natsbus.JetStream(b).Stream(t.Context(), "EVENTS")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := int64(u*(1<<20)+0.5), int64(s.CachedInfo().State.Bytes); got != want {
		t.Errorf("counted %d bytes, the server says %d", got, want)
	}
}

func TestConnectChecksPartitions(t *testing.T) {
	r := newBroker(t, false)
	r.connect(t, natsbus.Config{Partitions: 3})
	if b := r.connect(t, natsbus.Config{}); b.Partitions() != 3 {
		t.Errorf("an existing log of 3 partitions has %d", b.Partitions())
	}
	_, err := natsbus.Connect(t.Context(), natsbus.Config{InProcess: r, Partitions: 4})
	if err == nil || !strings.Contains(err.Error(), "has 3 partitions, wanted are 4") {
		t.Errorf("another number: %v", err)
	}
}

func TestConnectToForeignStream(t *testing.T) {
	r := newBroker(t, false)
	b := r.connect(t, natsbus.Config{Partitions: 3})
	js := natsbus.JetStream(b)
	if err := js.DeleteStream(t.Context(), "EVENTS"); err != nil {
		t.Fatal(err)
	}
	if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "EVENTS", Subjects: []string{"ev.>"}}); err != nil {
		t.Fatal(err)
	}
	_, err := natsbus.Connect(t.Context(), natsbus.Config{InProcess: r})
	if err == nil || !strings.Contains(err.Error(), "not made by this program") {
		t.Errorf("a stream without metadata: %v", err)
	}
}

func TestConnectChangesLimits(t *testing.T) {
	r := newBroker(t, false)
	r.connect(t, natsbus.Config{Partitions: 2, EventsBytes: 1 << 20, VerdictsBytes: 1 << 20})
	b := r.connect(t, natsbus.Config{EventsBytes: 2 << 20, MaxAge: time.Hour})
	for name, want := range map[string]int64{"EVENTS": 2 << 20, "VERDICTS": 1 << 20} {
		s, err := natsbus.JetStream(b).Stream(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		cfg := s.CachedInfo().Config
		if cfg.MaxBytes != want || cfg.MaxAge != time.Hour || cfg.Discard != jetstream.DiscardNew {
			t.Errorf("%s: %d bytes, %v, %v", name, cfg.MaxBytes, cfg.MaxAge, cfg.Discard)
		}
	}
}

func TestValidate(t *testing.T) {
	good := natsbus.Config{URL: "nats://x", Partitions: natsbus.MaxPartitions}
	if err := good.Validate(); err != nil {
		t.Error(err)
	}
	bad := natsbus.Config{Partitions: natsbus.MaxPartitions + 1, EventsBytes: -1, MaxAge: time.Second, Replicas: 6, Timeout: -1}
	err := bad.Validate()
	if err == nil {
		t.Fatal("accepted")
	}
	for _, want := range []string{"URL and InProcess", "Partitions is 1025", "capacity", "MaxAge is 1s", "Replicas is 6", "time-out"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not speak of %q", err, want)
		}
	}
}

func TestServerDirectoryIsLocked(t *testing.T) {
	r := newBroker(t, false)
	if _, err := natsbus.StartServer(natsbus.ServerConfig{Dir: r.cfg.Dir, DontListen: true}); !errors.Is(err, bus.ErrUnavailable) {
		t.Errorf("a second server on the directory: %v", err)
	}
	r.stop()
	r.start(t)
	if _, err := natsbus.StartServer(natsbus.ServerConfig{}); err == nil {
		t.Error("a server without a directory")
	}
}

func TestDurabilityNames(t *testing.T) {
	var names []string
	for _, d := range []natsbus.Durability{natsbus.DurableProcess, natsbus.DurableInterval, natsbus.DurablePower} {
		names = append(names, d.String())
		if got, err := natsbus.ParseDurability(d.String()); err != nil || got != d {
			t.Errorf("%v: %v, %v", d, got, err)
		}
	}
	if !slices.Equal(names, []string{"process", "interval", "power"}) {
		t.Errorf("names %q", names)
	}
	if _, err := natsbus.ParseDurability("none"); err == nil {
		t.Error("an unknown durability")
	}
}
