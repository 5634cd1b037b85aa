//nolint:thelper // the functions here are tests: a failure is reported at its own line
package bustest

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/aspis-rv/aspis/internal/bus"
)

func snapshotTests() []test {
	return []test{
		{"snapshot round trip and revisions", []Capability{CompareAndSet}, testSnapshot},
		{"snapshots large and small", []Capability{CompareAndSet}, testSnapshotSizes},
		{"snapshot size over the limit", nil, testSnapshotLimit},
		{"one snapshot writer wins per revision", []Capability{CompareAndSet, Connections}, testSnapshotRace},
	}
}

func testSnapshot(t *testing.T, s *suite) {
	b := s.newBus(t)
	ctx := guard(t)
	if _, _, err := b.GetSnapshot(ctx, "k"); !errors.Is(err, bus.ErrNoSnapshot) {
		t.Errorf("a key without value: %v", err)
	}
	if _, err := b.PutSnapshot(ctx, "k", 7, []byte("x")); !errors.Is(err, bus.ErrStale) {
		t.Errorf("a revision that never was: %v", err)
	}
	r1, err := b.PutSnapshot(ctx, "k", 0, []byte("one"))
	if err != nil || r1 == 0 {
		t.Fatalf("the first put: revision %d, %v", r1, err)
	}
	if _, err := b.PutSnapshot(ctx, "k", 0, []byte("x")); !errors.Is(err, bus.ErrStale) {
		t.Errorf("a second first put: %v", err)
	}
	r2, err := b.PutSnapshot(ctx, "k", r1, []byte("two"))
	if err != nil || r2 <= r1 {
		t.Fatalf("the second put: revision %d after %d, %v", r2, r1, err)
	}
	if _, err := b.PutSnapshot(ctx, "k", r1, []byte("x")); !errors.Is(err, bus.ErrStale) {
		t.Errorf("an old revision: %v", err)
	}
	for _, key := range []string{"*", ">", "a.b", "a b/ä\n", "K"} {
		if _, err := b.PutSnapshot(ctx, key, 0, []byte(key)); err != nil {
			t.Errorf("key %q: %v", key, err)
		}
		if data, _, err := b.GetSnapshot(ctx, key); err != nil || string(data) != key {
			t.Errorf("key %q: %q, %v", key, data, err)
		}
	}
	if data, rev, err := b.GetSnapshot(ctx, "k"); err != nil || string(data) != "two" || rev != r2 {
		t.Errorf("got %q at revision %d, %v", data, rev, err)
	}
}

// testSnapshotSizes writes one key with values from empty to 20 MB and back, so that a
// driver that stores large values elsewhere goes through every change.
func testSnapshotSizes(t *testing.T, s *suite) {
	b := s.newBus(t)
	ctx := guard(t)
	random := rand.NewChaCha8([32]byte{1})
	rev := uint64(0)
	for _, size := range []int{0, 1, 20_000_000, 899_999, 900_001, 5, 1 << 20, 3_000_000, 900_000} {
		value := make([]byte, size)
		_, _ = random.Read(value)
		var err error
		if rev, err = b.PutSnapshot(ctx, "k", rev, value); err != nil {
			t.Fatalf("%d bytes: %v", size, err)
		}
		got, at, err := b.GetSnapshot(ctx, "k")
		if err != nil || at != rev || !bytes.Equal(got, value) {
			t.Fatalf("%d bytes: got %d at revision %d, %v, want revision %d", size, len(got), at, err, rev)
		}
		if _, err := b.PutSnapshot(ctx, "k", rev+1, value); !errors.Is(err, bus.ErrStale) {
			t.Fatalf("%d bytes at a wrong revision: %v", size, err)
		}
		if got, _, err := b.GetSnapshot(ctx, "k"); err != nil || !bytes.Equal(got, value) {
			t.Fatalf("%d bytes after a failed put: %d bytes, %v", size, len(got), err)
		}
	}
}

func testSnapshotLimit(t *testing.T, s *suite) {
	b := s.newBus(t)
	if _, err := b.PutSnapshot(guard(t), "k", 0, make([]byte, bus.MaxSnapshotBytes+1)); !errors.Is(err, bus.ErrTooLarge) {
		t.Errorf("one byte too many: %v", err)
	}
	value := make([]byte, bus.MaxSnapshotBytes)
	value[len(value)-1] = 1
	if _, err := b.PutSnapshot(guard(t), "k", 0, value); err != nil {
		t.Fatalf("the largest value: %v", err)
	}
	if got, _, err := b.GetSnapshot(guard(t), "k"); err != nil || !bytes.Equal(got, value) {
		t.Errorf("the largest value: %d bytes, %v", len(got), err)
	}
}

func testSnapshotRace(t *testing.T, s *suite) {
	b := s.newBus(t)
	other := s.Connect(t, b)
	ctx := guard(t)
	rev := uint64(0)
	for round := range 8 {
		size := 100
		if round%2 == 1 {
			size = 1_500_000
		}
		var won atomic.Int32
		var wg sync.WaitGroup
		for w := range 4 {
			from := []bus.Bus{b, other}[w%2]
			wg.Go(func() {
				value := append(make([]byte, size), fmt.Sprint(round, w)...)
				_, err := from.PutSnapshot(ctx, "k", rev, value)
				switch {
				case err == nil:
					won.Add(1)
				case !errors.Is(err, bus.ErrStale):
					t.Errorf("PutSnapshot: %v, want nil or ErrStale", err)
				}
			})
		}
		wg.Wait()
		data, now, err := b.GetSnapshot(ctx, "k")
		if won.Load() != 1 || err != nil || now <= rev || len(data) != size+len(fmt.Sprint(round, 0)) {
			t.Fatalf("round %d: %d writers won, then %d bytes at revision %d after %d, %v", round, won.Load(), len(data), now, rev, err)
		}
		rev = now
	}
}
