package membus_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aspis-rv/aspis/internal/bus"
	"github.com/aspis-rv/aspis/internal/bus/bustest"
	"github.com/aspis-rv/aspis/internal/bus/membus"
)

func features() bustest.Features {
	again := func(t *testing.T, b bus.Bus) bus.Bus {
		t.Helper()
		n := b.(*membus.Bus).Connect()
		t.Cleanup(func() { _ = n.Close() })
		return n
	}
	return bustest.Features{
		Lacks:    map[bustest.Capability]string{bustest.Resume: "there is no broker to restart"},
		NewSmall: func(_ *testing.T, n int64) bus.Bus { return membus.New(membus.Config{TopicBytes: n}) },
		Connect:  again,
		Reopen:   again,
		Trim: func(t *testing.T, b bus.Bus, topic bus.Topic, p uint32, before uint64) {
			t.Helper()
			if err := b.(*membus.Bus).Trim(topic, p, before); err != nil {
				t.Fatal(err)
			}
		},
	}
}

func TestConformance(t *testing.T) {
	for name, zero := range map[string]bool{"offsets from 1": false, "offsets from 0": true} {
		t.Run(name, func(t *testing.T) {
			bustest.Run(t, func(t *testing.T) bus.Bus {
				t.Helper()
				b := membus.New(membus.Config{ZeroBased: zero})
				t.Cleanup(func() { _ = b.Close() })
				return b
			}, features())
		})
	}
}

// TestBubble shows that every wait is durably blocking: time moves on only when the
// reader and the writer both wait.
func TestBubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := membus.New(membus.Config{})
		begin := time.Now()
		go func() {
			for range 3 {
				time.Sleep(time.Hour)
				if _, err := b.Publish(t.Context(), bus.Message{Data: []byte("tick")}); err != nil {
					t.Error(err)
				}
			}
		}()
		c, err := b.Read(t.Context(), bus.Events, 0, bus.Start{})
		if err != nil {
			t.Fatal(err)
		}
		for i := range 3 {
			r, err := c.Next(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if want := begin.Add(time.Duration(i+1) * time.Hour); !r.Time.Equal(want) || !time.Now().Equal(want) {
				t.Errorf("record %d of %v read at %v, want %v", i, r.Time, time.Now(), want)
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if _, err := c.Next(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Next at the end: %v", err)
		}
	})
}

func TestDuplicateWindow(t *testing.T) {
	now := time.Unix(1000, 0)
	b := membus.New(membus.Config{Now: func() time.Time { return now }})
	m := bus.Message{ID: "a"}
	put := func() uint64 {
		o, err := b.Publish(t.Context(), m)
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	first := put()
	now = now.Add(2 * time.Minute)
	if o := put(); o != first {
		t.Errorf("at the window's end: offset %d, want %d", o, first)
	}
	now = now.Add(time.Nanosecond)
	if o := put(); o == first {
		t.Errorf("after the window the record was still taken for a duplicate")
	}
}

func TestTimesNeverGoBack(t *testing.T) {
	now := time.Unix(1000, 0)
	b := membus.New(membus.Config{Now: func() time.Time { now = now.Add(-time.Second); return now }})
	c, err := b.Read(t.Context(), bus.Events, 0, bus.Start{})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := b.Publish(t.Context(), bus.Message{}); err != nil {
			t.Fatal(err)
		}
		if r, err := c.Next(t.Context()); err != nil || !r.Time.Equal(time.Unix(999, 0)) {
			t.Errorf("append time %v, %v", r.Time, err)
		}
	}
}

func TestFaults(t *testing.T) {
	broken := errors.New("broken")
	var answer error
	var asked []membus.Op
	b := membus.New(membus.Config{Fault: func(op membus.Op, _ bus.Message) error {
		asked = append(asked, op)
		return answer
	}})
	ctx := t.Context()
	next := func() uint64 {
		_, n, err := b.Bounds(ctx, bus.Events, 0)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	answer = broken
	_, e1 := b.Publish(ctx, bus.Message{})
	_, e2 := b.Create(ctx, "k", bus.Message{})
	_, e3 := b.PutSnapshot(ctx, "k", 0, nil)
	emitted := b.Emit(bus.Message{})
	e4 := b.Sync(ctx)
	for i, err := range []error{e1, e2, e3, e4} {
		if !errors.Is(err, broken) {
			t.Errorf("case %d: %v", i+1, err)
		}
	}
	if emitted != nil {
		t.Errorf("Emit reported a late failure at once: %v", emitted)
	}
	if n := next(); n != 1 {
		t.Errorf("a failed append was written: next offset %d", n)
	}
	answer = membus.ErrAckLost
	if _, err := b.Publish(ctx, bus.Message{}); !errors.Is(err, bus.ErrUnavailable) {
		t.Errorf("lost acknowledgement: %v", err)
	}
	if err := errors.Join(b.Emit(bus.Message{}), b.Sync(ctx)); !errors.Is(err, bus.ErrUnavailable) {
		t.Errorf("lost acknowledgement of an emitted record: %v", err)
	}
	if n := next(); n != 3 {
		t.Errorf("records whose acknowledgement was lost are not there: next offset %d", n)
	}
	answer = nil
	if _, err := b.Create(ctx, "k", bus.Message{}); err != nil {
		t.Errorf("a failed Create took the key: %v", err)
	}
	want := []membus.Op{membus.OpPublish, membus.OpCreate, membus.OpSnapshot, membus.OpEmit, membus.OpPublish, membus.OpEmit, membus.OpCreate}
	if len(asked) != len(want) {
		t.Fatalf("the hook was asked about %v", asked)
	}
	for i := range want {
		if asked[i] != want[i] {
			t.Errorf("question %d was about %v, want %v", i, asked[i], want[i])
		}
	}
}

func TestSnapshotCapacity(t *testing.T) {
	b := membus.New(membus.Config{SnapshotBytes: 10})
	rev, err := b.PutSnapshot(t.Context(), "a", 0, make([]byte, 10))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.PutSnapshot(t.Context(), "b", 0, make([]byte, 1)); !errors.Is(err, bus.ErrFull) {
		t.Errorf("one byte over the capacity: %v", err)
	}
	if _, err := b.PutSnapshot(t.Context(), "a", rev, make([]byte, 9)); err != nil {
		t.Errorf("replacing by a smaller value: %v", err)
	}
	if _, err := b.PutSnapshot(t.Context(), "b", 0, make([]byte, 1)); err != nil {
		t.Errorf("the room that became free: %v", err)
	}
}
