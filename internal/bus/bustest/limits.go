//nolint:thelper // the functions here are tests: a failure is reported at its own line
package bustest

import (
	"bytes"
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/aspis-rv/aspis/internal/bus"
)

func limitTests() []test {
	return []test{
		{"the reserved part of a topic", []Capability{Limits}, testReserved},
		{"a full topic under concurrency loses nothing", []Capability{Limits}, testFullRace},
		{"usage of an empty and a filling topic", []Capability{Limits}, testUsage},
	}
}

const smallTopic = 1 << 20

// fill publishes records of class c until one is refused with ErrFull and returns how
// many were accepted.
func fill(t *testing.T, b bus.Bus, c bus.Class) int {
	t.Helper()
	data := bytes.Repeat([]byte{1}, 4000)
	for n := range 2 * smallTopic / len(data) {
		_, err := b.Publish(guard(t), bus.Message{Topic: bus.Events, Partition: uint32(n % 2), Class: c, Data: data})
		if errors.Is(err, bus.ErrFull) {
			return n
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Fatalf("%v records of twice the topic's size were accepted", c)
	return 0
}

func testReserved(t *testing.T, s *suite) {
	b := s.NewSmall(t, smallTopic)
	ordinaries := fill(t, b, bus.Ordinary)
	if share := float64(ordinaries*4000) / smallTopic; share < 0.8 || share > 0.92 {
		t.Errorf("ordinary records filled %.0f %% of the topic, want about 90 %%", 100*share)
	}
	if u, err := b.Usage(guard(t), bus.Events); err != nil || u < 0.85 || u > 0.92 {
		t.Errorf("usage is %.2f, %v, want about 0.9", u, err)
	}
	reserved := fill(t, b, bus.Reserved)
	if share := float64((ordinaries+reserved)*4000) / smallTopic; reserved == 0 || share < 0.9 || share > 1 {
		t.Errorf("%d reserved records filled the topic to %.0f %%", reserved, 100*share)
	}
	if _, err := b.Publish(guard(t), ordinary(0, "x")); !errors.Is(err, bus.ErrFull) {
		t.Errorf("an ordinary record at the limit: %v", err)
	}
	// The other topic has a capacity of its own, and what was accepted is there.
	publish(t, b, bus.Message{Topic: bus.Verdicts, Data: []byte("v")})
	kept := len(all(t, b, bus.Events, 0)) + len(all(t, b, bus.Events, 1))
	if kept != ordinaries+reserved {
		t.Errorf("%d records were accepted, %d are in the log", ordinaries+reserved, kept)
	}
}

func testFullRace(t *testing.T, s *suite) {
	b := s.NewSmall(t, smallTopic)
	data := bytes.Repeat([]byte{1}, 4000)
	ctx := guard(t)
	var accepted atomic.Int64
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			for range smallTopic / len(data) / 4 {
				_, err := b.Publish(ctx, bus.Message{Topic: bus.Events, Class: bus.Class(w % 2), Data: data})
				switch {
				case err == nil:
					accepted.Add(1)
				case !errors.Is(err, bus.ErrFull):
					t.Errorf("Publish: %v, want nil or ErrFull", err)
					return
				}
			}
		})
	}
	wg.Wait()
	if kept := int64(len(all(t, b, bus.Events, 0))); kept != accepted.Load() || kept == 0 {
		t.Errorf("%d records were accepted, %d are in the log", accepted.Load(), kept)
	}
}

func testUsage(t *testing.T, s *suite) {
	b := s.NewSmall(t, smallTopic)
	last := -1.0
	for i := range 5 {
		u, err := b.Usage(guard(t), bus.Events)
		if err != nil || u <= last || u > 1 {
			t.Fatalf("after %d records: usage %.3f after %.3f, %v", i, u, last, err)
		}
		last = u
		publish(t, b, bus.Message{Topic: bus.Events, Data: make([]byte, 50_000)})
	}
	if last < 0.15 || last > 0.25 {
		t.Errorf("200 kB of 1 MiB are a usage of %.3f", last)
	}
}
