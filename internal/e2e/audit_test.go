package e2e_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/aspis-rv/aspis/internal/bus"
	"github.com/aspis-rv/aspis/internal/bus/natsbus"
	"github.com/aspis-rv/aspis/internal/protocol"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// place is where a record stands: partition/offset, as gates write it.
type place struct {
	partition uint32
	offset    uint64
}

func (p place) String() string { return fmt.Sprintf("%d/%d", p.partition, p.offset) }

// callName names a call as its client does.
type callName struct{ session, call string }

// settlement is a terminal resolution that stands.
type settlement struct {
	call    callName
	record  string // id of the call's record
	outcome schema.SettledAs
	digest  string
}

// ledger is what a reader of the log knows: it folds records as every role does, and
// keeps every settlement. Safe for concurrent use.
type ledger struct {
	mu struct {
		sync.Mutex
		folds   map[uint32]*protocol.Partition
		settled map[place]settlement
		calls   map[callName][]place // settlements by call
		status  map[callName]protocol.CallStatus
		odd     []string // what must not be in a log
		records int
	}
}

func newLedger() *ledger {
	l := &ledger{}
	l.mu.folds = map[uint32]*protocol.Partition{}
	l.mu.settled = map[place]settlement{}
	l.mu.calls = map[callName][]place{}
	l.mu.status = map[callName]protocol.CallStatus{}
	return l
}

func (l *ledger) take(rec bus.Record) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.mu.records++
	ev, err := schema.DecodeEvent(rec.Data)
	if err != nil {
		l.mu.odd = append(l.mu.odd, fmt.Sprintf("record %d: %v", rec.Offset, err))
		return
	}
	fold := l.mu.folds[rec.Partition]
	if fold == nil {
		fold = protocol.New(rec.Partition, protocol.DefaultRules())
		l.mu.folds[rec.Partition] = fold
	}
	for _, e := range fold.Step(rec.Offset, ev) {
		l.effectLocked(place{rec.Partition, rec.Offset}, &e)
	}
}

func (l *ledger) effectLocked(at place, e *protocol.Effect) {
	if e.Call != nil {
		l.mu.status[callName{e.Call.Session, e.Call.CallID}] = e.Call.Status
	}
	switch e.Kind {
	case protocol.Settled:
		name := callName{e.Call.Session, e.Call.CallID}
		// One record may settle several calls: a tick, say. Each has its own place then.
		if e.Resolution.Writer != "" {
			l.mu.settled[at] = settlement{name, e.Call.ID, e.Resolution.Outcome, fmt.Sprintf("%x", e.Call.Digest)}
		}
		l.mu.calls[name] = append(l.mu.calls[name], at)
	case protocol.Violated:
		l.mu.odd = append(l.mu.odd, fmt.Sprintf("record %s: %s", at, e.Detail))
	case protocol.Opened, protocol.Closed, protocol.Adopted, protocol.Dropped, protocol.Stepped, protocol.Interim,
		protocol.Voided, protocol.Repeated, protocol.Finished, protocol.Advanced, protocol.Activated, protocol.Evicted:
	}
}

// seen returns the settlements known by now.
func (l *ledger) seen() map[place]settlement {
	l.mu.Lock()
	defer l.mu.Unlock()
	return maps.Clone(l.mu.settled)
}

// unresolved counts the calls that have no settlement.
func (l *ledger) unresolved() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := 0
	for _, f := range l.mu.folds {
		f.Unresolved(func(protocol.TraceID, *protocol.Call) bool { n++; return true })
	}
	return n
}

// connect opens a connection of the test's own to the broker.
func (d *deployment) connect() bus.Bus {
	d.tb.Helper()
	b, err := natsbus.Connect(d.tb.Context(), natsbus.Config{URL: d.nats, Name: "e2e"})
	if err != nil {
		d.tb.Fatal(err)
	}
	d.tb.Cleanup(func() { _ = b.Close() })
	return b
}

// follow keeps a ledger of what comes into the log until stop is called.
func follow(tb testing.TB, b bus.Bus) (l *ledger, stop func()) {
	tb.Helper()
	l = newLedger()
	ctx, cancel := context.WithCancel(tb.Context())
	g, ctx := errgroup.WithContext(ctx)
	for p := range b.Partitions() {
		g.Go(func() error { return read(ctx, b, p, l, func(bus.Record) bool { return false }) })
	}
	return l, func() {
		cancel()
		if err := g.Wait(); err != nil && !errors.Is(err, context.Canceled) {
			tb.Error(err)
		}
	}
}

// audit folds the log from its beginning to its present end.
func audit(tb testing.TB, b bus.Bus) *ledger {
	tb.Helper()
	l := newLedger()
	ctx, cancel := context.WithTimeout(tb.Context(), 30*time.Second)
	defer cancel()
	for p := range b.Partitions() {
		first, next, err := b.Bounds(ctx, bus.Events, p)
		if err != nil {
			tb.Fatal(err)
		}
		if first == next {
			continue
		}
		if err := read(ctx, b, p, l, func(r bus.Record) bool { return r.Offset+1 >= next }); err != nil {
			tb.Fatal(err)
		}
	}
	return l
}

func read(ctx context.Context, b bus.Bus, p uint32, l *ledger, last func(bus.Record) bool) error {
	cur, err := b.Read(ctx, bus.Events, p, bus.Start{Kind: bus.Earliest})
	if err != nil {
		return err
	}
	defer func() { _ = cur.Close() }()
	for {
		rec, err := cur.Next(ctx)
		if err != nil {
			return err
		}
		l.take(rec)
		if last(rec) {
			return nil
		}
	}
}
