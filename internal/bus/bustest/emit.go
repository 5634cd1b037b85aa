//nolint:thelper // the functions here are tests: a failure is reported at its own line
package bustest

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/aspis-rv/aspis/internal/bus"
)

func emitTests() []test {
	return []test{
		{"emitted records keep their order", nil, testEmitOrder},
		{"emit, publish and create share one order", []Capability{CreateOnce}, testMixedOrder},
		{"Emit does not keep the data", nil, testEmitCopies},
		{"Sync reports failures to their publisher, once", []Capability{Limits}, testSyncFailure},
	}
}

func testEmitOrder(t *testing.T, s *suite) {
	b := s.newBus(t)
	const n = 3000
	for i := range n {
		if err := b.Emit(bus.Message{Topic: bus.Verdicts, Partition: uint32(i % 2), Class: bus.Reserved, Data: fmt.Append(nil, i)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.Sync(guard(t)); err != nil {
		t.Fatal(err)
	}
	for p := range uint32(2) {
		// Sync is the barrier: everything is there now.
		rs := all(t, b, bus.Verdicts, p)
		if len(rs) != n/2 {
			t.Fatalf("partition %d: %d records, want %d", p, len(rs), n/2)
		}
		for i, r := range rs {
			if want := fmt.Sprint(2*i + int(p)); string(r.Data) != want {
				t.Fatalf("partition %d: record %s at the place of %s", p, r.Data, want)
			}
		}
	}
	if err := b.Sync(guard(t)); err != nil {
		t.Errorf("a second Sync: %v", err)
	}
}

func testMixedOrder(t *testing.T, s *suite) {
	b := s.newBus(t)
	var want []string
	for i := range 60 {
		m := ordinary(0, "%d", i)
		want = append(want, string(m.Data))
		var err error
		switch i % 3 {
		case 0:
			err = b.Emit(m)
		case 1:
			_, err = b.Publish(guard(t), m)
		case 2:
			_, err = b.Create(guard(t), fmt.Sprint(i), m)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if got := texts(all(t, b, bus.Events, 0)); !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

func testEmitCopies(t *testing.T, s *suite) {
	b := s.newBus(t)
	data := []byte("original")
	if err := b.Emit(bus.Message{Topic: bus.Events, Data: data}); err != nil {
		t.Fatal(err)
	}
	copy(data, "changed!")
	if err := b.Sync(guard(t)); err != nil {
		t.Fatal(err)
	}
	if got := texts(all(t, b, bus.Events, 0)); !slices.Equal(got, []string{"original"}) {
		t.Errorf("the log holds %q", got)
	}
}

// testSyncFailure overfills a topic by Emit. Every emitted record is either in the log
// or accounted for, by Emit itself or by the one failure of Sync.
func testSyncFailure(t *testing.T, s *suite) {
	b := s.NewSmall(t, 200_000)
	mine, other := b.NewPublisher(), b.NewPublisher()
	data := bytes.Repeat([]byte{1}, 1000)
	emitted, refused := 0, 0
	for range 400 {
		switch err := mine.Emit(bus.Message{Topic: bus.Verdicts, Class: bus.Reserved, Data: data}); {
		case err == nil:
			emitted++
		case errors.Is(err, bus.ErrFull):
			refused++
		default:
			t.Fatal(err)
		}
	}
	if err := other.Sync(guard(t)); err != nil {
		t.Errorf("Sync of a publisher that emitted nothing: %v", err)
	}
	err := mine.Sync(guard(t))
	kept := len(all(t, b, bus.Verdicts, 0))
	if kept == 400 || kept == 0 {
		t.Fatalf("%d of 400 records were kept; the topic was to fill up", kept)
	}
	if lost := emitted - kept; (lost > 0) != errors.Is(err, bus.ErrFull) {
		t.Errorf("%d accepted records are missing, %d were refused at once, and Sync said: %v", lost, refused, err)
	}
	if err := mine.Sync(guard(t)); err != nil {
		t.Errorf("the next Sync repeats the failure: %v", err)
	}
}
