//nolint:thelper // the functions here are tests: a failure is reported at its own line
package bustest

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/aspis-rv/aspis/internal/bus"
)

func createTests() []test {
	return []test{
		{"create once under contention", []Capability{CreateOnce, Connections}, testCreateRace},
		{"create once per key, topic and partition", []Capability{CreateOnce}, testCreateKeys},
		{"a created key lasts as long as its record", []Capability{CreateOnce, Retention}, testCreateTrimmed},
	}
}

func testCreateRace(t *testing.T, s *suite) {
	b := s.newBus(t)
	other := s.Connect(t, b)
	ctx := guard(t)
	const keys, writers = 20, 8
	for k := range keys {
		var won atomic.Int32
		var offset atomic.Uint64
		var wg sync.WaitGroup
		for w := range writers {
			from := b
			if w%2 == 1 {
				from = other
			}
			wg.Go(func() {
				m := ordinary(0, "%d", w)
				m.ID = fmt.Sprint("the same for all writers of ", k) // must not matter
				o, err := from.Create(ctx, fmt.Sprint("key ", k), m)
				switch {
				case err == nil:
					won.Add(1)
					offset.Store(o)
				case !errors.Is(err, bus.ErrExists):
					t.Errorf("Create: %v, want nil or ErrExists", err)
				}
			})
		}
		wg.Wait()
		if won.Load() != 1 {
			t.Fatalf("key %d: %d creators won", k, won.Load())
		}
		rs := all(t, b, bus.Events, 0)
		if len(rs) != k+1 || rs[k].Offset != offset.Load() {
			t.Fatalf("after key %d: %d records, the last at %d, the winner was told %d", k, len(rs), rs[len(rs)-1].Offset, offset.Load())
		}
	}
}

func testCreateKeys(t *testing.T, s *suite) {
	b := s.newBus(t)
	ctx := guard(t)
	keys := []string{"*", ">", "a.b", "a b", "", "\x00\xff\r\n", "ä", "r", "c.r"}
	for _, k := range keys {
		if k == "" {
			continue
		}
		for _, lane := range []bus.Message{{Topic: bus.Events}, {Topic: bus.Events, Partition: 1}, {Topic: bus.Verdicts}} {
			lane.Data = []byte(k)
			if _, err := b.Create(ctx, k, lane); err != nil {
				t.Errorf("key %q in %v/%d: %v", k, lane.Topic, lane.Partition, err)
			}
			if _, err := b.Create(ctx, k, lane); !errors.Is(err, bus.ErrExists) {
				t.Errorf("key %q in %v/%d again: %v", k, lane.Topic, lane.Partition, err)
			}
		}
	}
	// Created and published records share one order.
	publish(t, b, ordinary(0, "plain"))
	got := texts(all(t, b, bus.Events, 0))
	want := append(slices.DeleteFunc(slices.Clone(keys), func(k string) bool { return k == "" }), "plain")
	if !slices.Equal(got, want) {
		t.Errorf("the partition holds %q, want %q", got, want)
	}
}

func testCreateTrimmed(t *testing.T, s *suite) {
	b := s.newBus(t)
	o, err := b.Create(guard(t), "k", ordinary(0, "first"))
	if err != nil {
		t.Fatal(err)
	}
	publish(t, b, ordinary(0, "x"))
	s.Trim(t, b, bus.Events, 0, o+1)
	again, err := b.Create(guard(t), "k", ordinary(0, "second"))
	if err != nil || again <= o {
		t.Errorf("after the record is gone: offset %d, %v", again, err)
	}
}
