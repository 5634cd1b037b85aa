//nolint:thelper // the functions here are tests: a failure is reported at its own line
package bustest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/aspis-rv/aspis/internal/bus"
)

func brokerTests() []test {
	return []test{
		{"connections share the log", []Capability{Connections}, testConnections},
		{"the log survives reopening", []Capability{Durable}, testReopen},
		{"a cursor resumes over a restart of the broker", []Capability{Resume}, testRestart},
	}
}

func testConnections(t *testing.T, s *suite) {
	b := s.newBus(t)
	other := s.Connect(t, b)
	if other.Partitions() != b.Partitions() {
		t.Errorf("%d partitions here, %d there", b.Partitions(), other.Partitions())
	}
	c := open(t, other, bus.Events, 0, bus.Start{Kind: bus.Latest})
	want := publish(t, b, ordinary(0, "x"))
	if got := next(t, c); got.Offset != want {
		t.Errorf("got offset %d, want %d", got.Offset, want)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	want = publish(t, other, ordinary(0, "y"))
	if got := next(t, c); got.Offset != want {
		t.Errorf("after the other connection closed: offset %d, want %d", got.Offset, want)
	}
}

func testReopen(t *testing.T, s *suite) {
	b := s.newBus(t)
	ctx := guard(t)
	var want []string
	for i := range 20 {
		want = append(want, fmt.Sprint(i))
		publish(t, b, ordinary(0, "%d", i))
	}
	last, err := b.Create(ctx, "k", ordinary(0, "created"))
	if err != nil {
		t.Fatal(err)
	}
	want = append(want, "created")
	small, big := []byte("small"), make([]byte, 2_000_000)
	big[1_999_999] = 1
	if _, err := b.PutSnapshot(ctx, "small", 0, small); err != nil {
		t.Fatal(err)
	}
	rev, err := b.PutSnapshot(ctx, "big", 0, big)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	b = s.Reopen(t, b)
	if got := texts(all(t, b, bus.Events, 0)); !slices.Equal(got, want) {
		t.Errorf("after reopening the partition holds %q", got)
	}
	if _, err := b.Create(ctx, "k", ordinary(0, "again")); !errors.Is(err, bus.ErrExists) {
		t.Errorf("Create after reopening: %v, want ErrExists", err)
	}
	if o := publish(t, b, ordinary(0, "after")); o <= last {
		t.Errorf("offset %d after reopening, %d before", o, last)
	}
	if got, _, err := b.GetSnapshot(ctx, "small"); err != nil || string(got) != "small" {
		t.Errorf("the small snapshot: %q, %v", got, err)
	}
	if got, r, err := b.GetSnapshot(ctx, "big"); err != nil || r != rev || !slices.Equal(got, big) {
		t.Errorf("the big snapshot: %d bytes at revision %d, %v, want revision %d", len(got), r, err, rev)
	}
}

// testRestart reads one partition while the broker goes down and comes back under
// writers that retry. Every acknowledged record is delivered once, in order.
func testRestart(t *testing.T, s *suite) {
	b := s.newBus(t)
	live := open(t, b, bus.Events, 0, bus.Start{})
	idle := open(t, b, bus.Events, 1, bus.Start{})
	blocked(t, idle)
	ctx := guard(t)
	const n = 300
	var mu sync.Mutex
	acked := map[uint64]string{}
	reached := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := range n {
			if i == n/3 {
				close(reached)
			}
			m := ordinary(0, "%d", i)
			m.ID = fmt.Sprint(i)
			o := retry(ctx, t, b, m)
			mu.Lock()
			acked[o] = string(m.Data)
			mu.Unlock()
		}
	})
	wg.Go(func() {
		<-reached
		s.Restart(t, b)
	})
	prev := uint64(0)
	for i := range n {
		r := next(t, live)
		if want := fmt.Sprint(i); string(r.Data) != want || r.Offset <= prev {
			t.Fatalf("record %q at offset %d after %d, want %q", r.Data, r.Offset, prev, want)
		}
		prev = r.Offset
	}
	wg.Wait()
	for _, r := range all(t, b, bus.Events, 0) {
		if acked[r.Offset] != string(r.Data) {
			t.Errorf("offset %d holds %q, acknowledged was %q", r.Offset, r.Data, acked[r.Offset])
		}
	}
	m := ordinary(1, "to the idle one")
	m.ID = "idle"
	want := retry(ctx, t, b, m)
	if got := next(t, idle); got.Offset != want {
		t.Errorf("the idle cursor got offset %d, want %d", got.Offset, want)
	}
}

// retry publishes m, which has an ID, until it is acknowledged.
func retry(ctx context.Context, t *testing.T, b bus.Bus, m bus.Message) uint64 {
	t.Helper()
	for {
		o, err := b.Publish(ctx, m)
		if err == nil {
			return o
		}
		if !errors.Is(err, bus.ErrUnavailable) || ctx.Err() != nil {
			t.Errorf("Publish while the broker restarts: %v, want ErrUnavailable", err)
			return 0
		}
		select {
		case <-time.After(5 * time.Millisecond):
		case <-ctx.Done():
		}
	}
}
