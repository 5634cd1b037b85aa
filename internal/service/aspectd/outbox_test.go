package aspectd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aspis-rv/aspis/internal/bus"
)

// broker is a publisher whose broker breaks: what is emitted meanwhile is refused or
// lost, and the next Sync reports it.
type broker struct {
	mu struct {
		sync.Mutex
		log    []string
		refuse bool // Emit fails
		lose   bool // Emit does not, and the record is lost
		failed error
	}
}

var errBroken = fmt.Errorf("%w: the connection broke", bus.ErrUnavailable)

func (b *broker) set(refuse, lose bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.mu.refuse, b.mu.lose = refuse, lose
}

func (b *broker) written() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.mu.log)
}

// Emit implements bus.Publisher.
func (b *broker) Emit(m bus.Message) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	err := m.Check(m.Partition + 1)
	switch {
	case err != nil:
		return err
	case b.mu.refuse:
		return errBroken
	case b.mu.lose:
		b.mu.failed = errBroken
	default:
		b.mu.log = append(b.mu.log, string(m.Data))
	}
	return nil
}

// Sync implements bus.Publisher.
func (b *broker) Sync(context.Context) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	err := b.mu.failed
	b.mu.failed = nil
	return err
}

// Publish implements bus.Publisher.
func (b *broker) Publish(context.Context, bus.Message) (uint64, error) {
	return 0, errors.ErrUnsupported
}

// Create implements bus.Publisher.
func (b *broker) Create(context.Context, string, bus.Message) (uint64, error) {
	return 0, errors.ErrUnsupported
}

// outboxRig runs an outbox over a broker in a bubble.
func outboxRig(t *testing.T) (o *outbox, b *broker, failures *int) {
	t.Helper()
	b, failures = &broker{}, new(int)
	o = newOutbox(b, 3)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		o.run(ctx, func(error) { *failures++ })
	}()
	t.Cleanup(func() { cancel(); <-done })
	return o, b, failures
}

func put(t *testing.T, o *outbox, from, to int) {
	t.Helper()
	for i := from; i < to; i++ {
		if err := o.put(t.Context(), fmt.Append(nil, i)); err != nil {
			t.Fatal(err)
		}
	}
}

// distinct sorts a log and drops second copies.
func distinct(log []string) []string {
	slices.Sort(log)
	return slices.Compact(log)
}

// numbers are the records that put puts, sorted.
func numbers(n int) []string {
	var out []string
	for i := range n {
		out = append(out, fmt.Sprint(i))
	}
	slices.Sort(out)
	return out
}

// TestOutboxLosesNothing: whatever the broker refuses or loses is published again, and
// a flush waits for it.
func TestOutboxLosesNothing(t *testing.T) {
	for name, broken := range map[string][2]bool{"refuses": {true, false}, "loses": {false, true}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o, b, failures := outboxRig(t)
				put(t, o, 0, 10)
				if err := o.flush(t.Context()); err != nil {
					t.Fatal(err)
				}
				b.set(broken[0], broken[1])
				put(t, o, 10, 20)
				short, cancel := context.WithTimeout(t.Context(), 10*time.Second)
				defer cancel()
				if err := o.flush(short); !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("the flush of what is lost: %v", err)
				}
				if got := b.written(); len(got) != 10 {
					t.Fatalf("%d records were written by a broken broker", len(got))
				}
				b.set(false, false)
				put(t, o, 20, 25)
				if err := o.flush(t.Context()); err != nil {
					t.Fatal(err)
				}
				if got := distinct(b.written()); !slices.Equal(got, numbers(25)) {
					t.Errorf("written: %q", got)
				}
				if *failures != 1 {
					t.Errorf("%d failures were told, want the first one", *failures)
				}
			})
		})
	}
}

// TestOutboxKeepsNothingTooLarge: a part verdict that no broker takes is lost, and not in the
// way of those behind it.
func TestOutboxKeepsNothingTooLarge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, b, _ := outboxRig(t)
		if err := o.put(t.Context(), make([]byte, bus.MaxRecordBytes+1)); !errors.Is(err, bus.ErrTooLarge) {
			t.Errorf("too large: %v", err)
		}
		put(t, o, 0, 10)
		short, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		if err := o.flush(short); err != nil {
			t.Fatal(err)
		}
		if got := distinct(b.written()); !slices.Equal(got, numbers(10)) {
			t.Errorf("got %v", got)
		}
	})
}

// TestOutboxIsBounded: with outboxRecords in it, an outbox takes the next one only once
// the broker has taken some.
func TestOutboxIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, b, _ := outboxRig(t)
		b.set(true, false)
		put(t, o, 0, outboxRecords)
		short, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := o.put(short, []byte("too many")); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("one more than fits: %v", err)
		}
		b.set(false, false)
		put(t, o, outboxRecords, outboxRecords+1)
		if err := o.flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := distinct(b.written()); !slices.Equal(got, numbers(outboxRecords+1)) {
			t.Errorf("%d records written", len(got))
		}
	})
}
