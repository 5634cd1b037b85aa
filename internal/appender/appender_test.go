package appender

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/aspis-rv/aspis/internal/bus"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// lossy is a bus whose connection breaks now and then: what is emitted until the next
// Sync is lost then, and refused as soon as that is known.
type lossy struct {
	bus.Bus
	mu struct {
		sync.Mutex
		rng    *rand.Rand
		log    []*schema.Event
		broken int // records that are still lost without anybody knowing
		failed error
		refuse error
	}
	told func() // called by Sync when it is about to return a failure
}

func (l *lossy) NewPublisher() bus.Publisher { return l }

// Emit implements bus.Publisher.
func (l *lossy) Emit(m bus.Message) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.mu.refuse != nil {
		return l.mu.refuse
	}
	if l.mu.broken == 0 && l.mu.rng.IntN(40) == 0 {
		l.mu.broken = 1 + l.mu.rng.IntN(4)
	}
	if l.mu.broken > 0 {
		if l.mu.broken--; l.mu.broken == 0 {
			l.mu.failed = fmt.Errorf("%w: the connection broke", bus.ErrUnavailable)
			l.mu.refuse = l.mu.failed
		}
		return nil
	}
	ev, err := schema.DecodeEvent(m.Data)
	l.mu.log = append(l.mu.log, ev)
	return err
}

// Sync implements bus.Publisher.
func (l *lossy) Sync(context.Context) error {
	err := l.settle()
	if err != nil && l.told != nil {
		l.told()
	}
	return err
}

func (l *lossy) settle() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.mu.broken > 0 {
		l.mu.broken = 0
		l.mu.failed = fmt.Errorf("%w: the connection broke", bus.ErrUnavailable)
		l.mu.refuse = l.mu.failed
	}
	err := l.mu.failed
	l.mu.failed = nil
	if err == nil {
		l.mu.refuse = nil
	}
	return err
}

// TestNoGapWithinAnIncarnation: whatever is lost, what is in the log of one incarnation
// has no gap, since a gap makes readers doubt every trace of the producer; and a ticket
// without an error means that its record is there.
func TestNoGapWithinAnIncarnation(t *testing.T) {
	const seed, writers, each = 7, 8, 400
	l := &lossy{}
	l.mu.rng = rand.New(rand.NewPCG(seed, 0))
	a := New(l, 3, "gate", 1000, time.Second)
	l.told = func() { // somebody appends before the appender has taken notice
		_, _ = a.Append(&schema.Event{ID: "hasty", Tenant: "acme", Trace: "t", SessionID: "t", Kind: schema.KindMessage}, bus.Ordinary)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); a.Run(ctx) }()
	var durable sync.Map
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				ev := &schema.Event{ID: fmt.Sprintf("%d-%d", w, i), Tenant: "acme", Trace: "t", SessionID: "t", Kind: schema.KindMessage}
				ticket, err := a.Append(ev, bus.Ordinary)
				if err != nil {
					if !errors.Is(err, ErrUnrecorded) {
						t.Errorf("Append: %v", err)
					}
					continue
				}
				if err := ticket.Wait(t.Context()); err == nil {
					durable.Store(ev.ID, true)
				}
			}
		})
	}
	wg.Wait()
	cancel()
	<-done
	last := map[uint64]uint64{}
	written := map[string]bool{}
	for _, ev := range l.mu.log {
		if ev.Seq != last[ev.Incarnation]+1 {
			t.Fatalf("incarnation %d goes from %d to %d (seed %d)", ev.Incarnation, last[ev.Incarnation], ev.Seq, seed)
		}
		last[ev.Incarnation] = ev.Seq
		written[ev.ID] = true
	}
	n := 0
	durable.Range(func(id, _ any) bool {
		n++
		if !written[id.(string)] {
			t.Errorf("record %s is said to be durable and is not in the log (seed %d)", id, seed)
		}
		return true
	})
	if len(last) < 3 || n < 50 {
		t.Errorf("%d incarnations, %d durable records: the test has lost its subject", len(last), n)
	}
}

// TestFailing: it tells of the last append whose fate is known.
func TestFailing(t *testing.T) {
	l := &lossy{}
	l.mu.rng = rand.New(rand.NewPCG(1, 0))
	a := New(l, 3, "gate", 1000, time.Second)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); a.Run(ctx) }()
	defer func() { cancel(); <-done }()
	failed, fine := false, false
	for i := range 1000 {
		ev := &schema.Event{ID: fmt.Sprint(i), Tenant: "acme", Trace: "t", SessionID: "t", Kind: schema.KindMessage}
		ticket, err := a.Append(ev, bus.Ordinary)
		if err == nil {
			err = ticket.Wait(t.Context())
		}
		if a.Failing() != (err != nil) {
			t.Fatalf("append %d ended with %v, Failing is %t", i, err, a.Failing())
		}
		failed, fine = failed || err != nil, fine || err == nil
	}
	if !failed || !fine {
		t.Errorf("failed %t, fine %t: want both", failed, fine)
	}
}
