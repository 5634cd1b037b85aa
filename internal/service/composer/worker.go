package composer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/aspis-rv/aspis/internal/bus"
	"github.com/aspis-rv/aspis/internal/compose"
	"github.com/aspis-rv/aspis/internal/obs"
	"github.com/aspis-rv/aspis/internal/protocol"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// worker owns one partition.
type worker struct {
	*Service
	partition uint32
	joiner    *compose.Joiner
	revision  uint64

	events   chan bus.Record
	verdicts chan bus.Record
	offered  chan *schema.Verdict
	appends  chan pending
	failed   chan pending

	head     uint64 // of the events topic when the worker started
	nextVerd uint64 // offset after the last verdict read
	caughtUp bool
	active   bool // the loaded policy was found or proposed
	since    int
	saved    time.Time
	proposed map[string]time.Time // create-once records under way, by key
	again    bool                 // some resolution has to be proposed once more
	wake     time.Time            // when the clock is next looked at
	// After a failed append nothing is proposed before notBefore; the log is told of it
	// once a second.
	notBefore, told time.Time
}

// pending is a create-once append.
type pending struct {
	key     string
	event   *schema.Event
	attempt schema.Attempt // of a resolution; zero otherwise
	// notAfter is the time in ns after which a permit is not appended; 0: none.
	notAfter int64
	err      error // why it failed
}

// writers is the number of appends a partition may have under way. Resolutions of
// one partition belong to different traces, so their order does not matter.
const writers = 4

// recordSize is room for an ordinary resolution or tick, so that encoding one
// allocates once.
const recordSize = 768

func newWorker(s *Service, p uint32) *worker {
	return &worker{
		Service: s, partition: p,
		events: make(chan bus.Record, 256), verdicts: make(chan bus.Record, 256),
		offered: make(chan *schema.Verdict, 256),
		appends: make(chan pending, 4096), failed: make(chan pending, 4096),
		proposed: map[string]time.Time{},
	}
}

func (w *worker) run(ctx context.Context) error {
	snap, rev, err := load(ctx, w.cfg.Bus, w.partition, w.cfg.Rules)
	if err != nil {
		return err
	}
	w.revision, w.saved, w.nextVerd = rev, time.Now(), snap.verdicts
	events, verdicts, err := w.open(ctx, &snap)
	if err != nil {
		return fmt.Errorf("composer: partition %d: %w", w.partition, err)
	}
	defer events.Close()   //nolint:errcheck // nothing is lost with a cursor
	defer verdicts.Close() //nolint:errcheck // nothing is lost with a cursor
	w.joiner = compose.RestoreJoiner(snap.part, compose.Config{
		Bundle: w.cfg.Bundle, Rules: w.cfg.Rules, Options: w.cfg.Options, Observe: w.cfg.Observe,
		Writer: w.cfg.Name, Margin: int64(w.cfg.Margin),
	})
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return pump(ctx, events, w.events) })
	g.Go(func() error { return pump(ctx, verdicts, w.verdicts) })
	for range writers {
		g.Go(func() error { w.write(ctx); return nil })
	}
	g.Go(func() error { w.own(ctx); return nil })
	return g.Wait()
}

// open opens both cursors; where retention removed what follows the snapshot, the
// partition starts again from what is retained.
func (w *worker) open(ctx context.Context, snap *snapshot) (events, verdicts bus.Cursor, err error) {
	first, next, err := w.cfg.Bus.Bounds(ctx, bus.Events, w.partition)
	if err != nil {
		return nil, nil, err
	}
	if first < next {
		w.head = next
	}
	start := bus.Start{Kind: bus.Earliest}
	if n := snap.part.Next(); n > 0 {
		start = bus.Start{Kind: bus.AtOffset, Offset: n}
	}
	events, err = w.cfg.Bus.Read(ctx, bus.Events, w.partition, start)
	if errors.Is(err, bus.ErrTrimmed) {
		w.log.LogAttrs(ctx, slog.LevelWarn, "the log after the snapshot is gone; starting incomplete", obs.Partition(w.partition))
		snap.part = protocol.New(w.partition, w.cfg.Rules)
		events, err = w.cfg.Bus.Read(ctx, bus.Events, w.partition, bus.Start{Kind: bus.Earliest})
	}
	if err != nil {
		return nil, nil, err
	}
	start = bus.Start{Kind: bus.Earliest}
	if snap.verdicts > 0 {
		start = bus.Start{Kind: bus.AtOffset, Offset: snap.verdicts}
	}
	verdicts, err = w.cfg.Bus.Read(ctx, bus.Verdicts, w.partition, start)
	if errors.Is(err, bus.ErrTrimmed) {
		verdicts, err = w.cfg.Bus.Read(ctx, bus.Verdicts, w.partition, bus.Start{Kind: bus.Earliest})
	}
	if err != nil {
		_ = events.Close()
		return nil, nil, err
	}
	return events, verdicts, nil
}

func pump(ctx context.Context, cur bus.Cursor, to chan<- bus.Record) error {
	for {
		rec, err := cur.Next(ctx)
		if err != nil {
			return ended(ctx, err)
		}
		select {
		case to <- rec:
		case <-ctx.Done():
			return nil
		}
	}
}

// own is the one goroutine that touches the joiner.
func (w *worker) own(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		verdicts, offered := w.verdicts, w.offered
		if !w.joiner.WantsVerdicts() {
			verdicts, offered = nil, nil
		}
		select {
		case <-ctx.Done():
			w.leave()
			return
		case rec := <-w.events:
			w.event(rec)
		case rec := <-verdicts:
			w.verdict(rec)
		case v := <-offered:
			// Its durable copy is not read yet, so it is not before nextVerd.
			w.take(w.nextVerd, v)
		case p := <-w.failed:
			w.retry(p)
		case <-timer.C:
			w.clock(ctx)
			w.setClock(timer, w.untilClock())
		}
		w.checkCaughtUp()
		if at, ok := w.joiner.NextDue(); ok && at < w.wake.UnixNano() {
			w.setClock(timer, time.Until(time.Unix(0, at)))
		}
	}
}

func (w *worker) event(rec bus.Record) {
	ev, err := schema.DecodeEvent(rec.Data)
	if err != nil {
		w.cfg.Metrics.undecodable()
		w.log.LogAttrs(context.Background(), slog.LevelError, "record cannot be decoded", obs.Partition(w.partition), obs.Offset(rec.Offset), obs.Err(err))
		return
	}
	ev.Position = schema.Position{Partition: rec.Partition, Offset: rec.Offset}
	w.since++
	if ev.Tick != nil {
		delete(w.proposed, tickKey(ev.Tick.N))
	}
	if ev.Activation != nil {
		delete(w.proposed, policyKey(ev.Activation.Number))
	}
	w.propose(w.joiner.Step(rec.Offset, ev))
}

func (w *worker) verdict(rec bus.Record) {
	w.nextVerd = rec.Offset + 1
	v, err := schema.DecodeVerdict(rec.Data)
	if err != nil {
		w.cfg.Metrics.undecodable()
		w.log.LogAttrs(context.Background(), slog.LevelError, "verdict cannot be decoded", obs.Partition(w.partition), obs.Offset(rec.Offset), obs.Err(err))
		return
	}
	w.take(rec.Offset, v)
}

// take joins a part verdict.
func (w *worker) take(offset uint64, v *schema.Verdict) {
	w.propose(w.joiner.Verdict(offset, v))
	for _, f := range w.joiner.Faults() {
		w.cfg.Metrics.fault()
		w.log.LogAttrs(context.Background(), slog.LevelError, "verdicts contradict each other", obs.Partition(w.partition), obs.Detail(f))
	}
}

// propose has resolutions appended. While the worker folds what was in the log when it
// started, it keeps them back: most are there already.
func (w *worker) propose(list []compose.Proposal) {
	current := w.current()
	for i := range list {
		p := &list[i]
		if !current {
			w.joiner.Retry(p.Attempt)
			w.again = true
			continue
		}
		w.cfg.Metrics.decided(p.Event.Resolution)
		w.enqueue(pending{key: p.Event.ID, event: p.Event, attempt: p.Attempt, notAfter: p.NotAfter})
	}
}

// current reports whether what was in the log when the worker started is folded.
func (w *worker) current() bool { return w.joiner.Partition().Next() >= w.head }

// enqueue hands an append to the writers. A full queue is a failed append: it is
// tried again by the clock.
func (w *worker) enqueue(p pending) {
	select {
	case w.appends <- p:
	default:
		p.err = errQueue
		w.retry(p)
	}
}

// errQueue is the cause of a failed append that no writer took.
var errQueue = errors.New("composer: too many appends are under way")

// retry has the clock propose again, a little later, what could not be appended: a log
// that cannot be written is not asked without pause.
func (w *worker) retry(p pending) {
	now := time.Now()
	w.notBefore = now.Add(w.cfg.Tick / 20)
	w.cfg.Metrics.unwritten()
	if now.Sub(w.told) >= time.Second {
		w.told = now
		w.log.LogAttrs(context.Background(), slog.LevelError, "records could not be appended", obs.Partition(w.partition), obs.Err(p.err))
	}
	delete(w.proposed, p.key)
	if p.attempt != (schema.Attempt{}) {
		w.joiner.Retry(p.attempt)
		w.again = true
	}
}

func (w *worker) setClock(timer *time.Timer, wait time.Duration) {
	wait = max(wait, time.Millisecond, time.Until(w.notBefore))
	w.wake = time.Now().Add(wait)
	timer.Reset(wait)
}

// write appends what the owner proposed. That a record exists already means that
// another composer was first.
func (w *worker) write(ctx context.Context) {
	for {
		var p pending
		select {
		case <-ctx.Done():
			return
		case p = <-w.appends:
		}
		err := w.create(ctx, p)
		if err == nil || errors.Is(err, bus.ErrExists) {
			continue
		}
		p.err = err
		select {
		case w.failed <- p:
		case <-ctx.Done():
			return
		}
	}
}

func (w *worker) create(ctx context.Context, p pending) error {
	p.event.ClaimedTS = time.Now().UnixNano()
	r := p.event.Resolution
	if r != nil && r.Outcome == schema.SettledPermit && p.notAfter != 0 && p.event.ClaimedTS > p.notAfter {
		return nil // rule 11: the call ends by its deadline
	}
	if r != nil && w.cfg.Key != nil {
		r.Signature = signResolution(w.cfg.Key, r)
	}
	data, err := p.event.AppendBinary(make([]byte, 0, recordSize))
	if err != nil {
		return fmt.Errorf("composer: %w", err)
	}
	_, err = w.cfg.Bus.Create(ctx, p.key, bus.Message{Topic: bus.Events, Partition: w.partition, Class: bus.Reserved, Data: data})
	return err
}

func (w *worker) checkCaughtUp() {
	if w.caughtUp || !w.current() {
		return
	}
	if bytes.Equal(w.joiner.Partition().Policy().Digest, w.cfg.Bundle.Digest[:]) {
		w.caughtUp = true
		w.ready.Done()
	}
}
