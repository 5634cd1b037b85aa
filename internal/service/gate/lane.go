package gate

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aspis-rv/aspis/internal/appender"
	"github.com/aspis-rv/aspis/internal/bus"
	"github.com/aspis-rv/aspis/internal/compose"
	"github.com/aspis-rv/aspis/internal/latch"
	"github.com/aspis-rv/aspis/internal/obs"
	"github.com/aspis-rv/aspis/internal/protocol"
	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// lane is one partition as a gate sees it. Its run goroutine follows the log; the
// fold is guarded so that requests can look at it.
type lane struct {
	*Service
	partition   uint32
	appender    *appender.Appender
	pending     *pendingTable
	watches     *watchTable
	owed        *owedTable
	lastTick    atomic.Int64 // log time of the last tick folded, ns
	caughtUp    atomic.Bool
	head        uint64
	swept       time.Time
	foreignSaid atomic.Bool

	mu struct {
		sync.Mutex
		fold  *protocol.Partition
		marks latch.Marks // requests that wait for the end of the log
	}
}

func newLane(s *Service, p uint32, incarnation uint64) *lane {
	l := &lane{
		Service: s, partition: p,
		appender: appender.New(s.cfg.Bus, p, s.cfg.Name, incarnation, s.cfg.AppendTimeout),
		pending:  newPendingTable(s.cfg.MaxPending), watches: newWatchTable(), owed: newOwedTable(),
	}
	l.mu.fold = protocol.New(p, s.cfg.Rules)
	return l
}

// run follows the log from the composer's last snapshot of the protocol state.
func (l *lane) run(ctx context.Context) error {
	cur, err := l.open(ctx)
	if err != nil {
		return fmt.Errorf("gate: partition %d: %w", l.partition, err)
	}
	defer cur.Close() //nolint:errcheck // nothing is lost with a cursor
	l.checkCaughtUp()
	for {
		rec, err := cur.Next(ctx)
		if err != nil {
			return fmt.Errorf("gate: partition %d: %w", l.partition, err)
		}
		l.step(rec)
		l.checkCaughtUp()
	}
}

func (l *lane) open(ctx context.Context) (bus.Cursor, error) {
	l.restore(ctx)
	first, next, err := l.cfg.Bus.Bounds(ctx, bus.Events, l.partition)
	if err != nil {
		return nil, err
	}
	if first < next {
		l.head = next
	}
	start := bus.Start{Kind: bus.Earliest}
	if n := l.mu.fold.Next(); n > 0 {
		start = bus.Start{Kind: bus.AtOffset, Offset: n}
	}
	cur, err := l.cfg.Bus.Read(ctx, bus.Events, l.partition, start)
	if errors.Is(err, bus.ErrTrimmed) {
		l.setFold(protocol.New(l.partition, l.cfg.Rules))
		cur, err = l.cfg.Bus.Read(ctx, bus.Events, l.partition, bus.Start{Kind: bus.Earliest})
	}
	return cur, err
}

// setFold replaces the fold, which requests may be looking at.
func (l *lane) setFold(p *protocol.Partition) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.mu.fold = p
}

func (l *lane) restore(ctx context.Context) {
	data, _, err := l.cfg.Bus.GetSnapshot(ctx, protocol.SnapshotKey(l.partition))
	if err != nil {
		return // the retained log has everything
	}
	snap, err := protocol.DecodeSnapshot(data, l.cfg.Rules)
	if err != nil {
		l.log.LogAttrs(ctx, slog.LevelWarn, "snapshot does not fit; folding the retained log", obs.Partition(l.partition), obs.Err(err))
		return
	}
	l.setFold(snap.Partition)
	l.lastTick.Store(snap.Partition.LastTick().Time)
}

func (l *lane) checkCaughtUp() {
	if l.caughtUp.Load() || l.mu.fold.Next() < l.head || l.lastTick.Load() == 0 {
		return
	}
	l.caughtUp.Store(true)
	l.ready.Done()
}

func (l *lane) step(rec bus.Record) {
	ev, err := schema.DecodeEvent(rec.Data)
	if err != nil {
		l.cfg.Metrics.undecodable()
		return
	}
	ev.Position = schema.Position{Partition: rec.Partition, Offset: rec.Offset}
	l.mu.Lock()
	effects := l.mu.fold.Step(rec.Offset, ev)
	for i := range effects {
		l.apply(&effects[i], rec.Offset)
	}
	l.mu.marks.Reach(l.mu.fold.Next())
	l.mu.Unlock()
	l.tell(ev, effects)
}

// tell tells those who posted a record what became of it. A record that waits behind
// an open attempt is told of when its turn comes: only then is it known whether a
// result belongs to a permitted call.
func (l *lane) tell(ev *schema.Event, effects []protocol.Effect) {
	queued := ev.Kind == schema.KindResult || ev.Kind == schema.KindMessage || ev.Kind == schema.KindObservation
	for i := range effects {
		e := &effects[i]
		switch e.Kind {
		case protocol.Stepped:
			l.seen(e.Event.ID, "")
		case protocol.Violated:
			l.seen(e.Event.ID, e.Detail)
		case protocol.Voided:
			queued = queued && e.Event != ev
		case protocol.Opened, protocol.Closed, protocol.Adopted, protocol.Dropped, protocol.Settled, protocol.Interim,
			protocol.Repeated, protocol.Finished, protocol.Advanced, protocol.Activated, protocol.Evicted:
		}
	}
	if !queued {
		l.seen(ev.ID, "")
	}
}

func (l *lane) seen(id, violated string) {
	if w := l.watches.take(id); w != nil {
		w <- seen{violated: violated}
	}
}

// apply reacts to one effect. It is called with the fold locked and must not wait.
func (l *lane) apply(e *protocol.Effect, offset uint64) {
	switch e.Kind {
	case protocol.Settled:
		l.settled(e, offset)
	case protocol.Interim:
		if e.Resolution.Outcome == schema.SettledEscalate {
			l.answer(e.Call.ID, fromResolution(e.Resolution))
		}
	case protocol.Repeated:
		l.repeated(e)
	case protocol.Voided:
		if e.Event.Kind == schema.KindCall {
			l.voided(e)
		}
	case protocol.Advanced:
		l.lastTick.Store(e.Timestamp)
		l.sweep()
		l.payOwed()
	case protocol.Violated:
		l.cfg.Metrics.violated()
		l.log.LogAttrs(context.Background(), slog.LevelError, "integrity violation", obs.Partition(l.partition), obs.Offset(offset), obs.Detail(e.Detail))
	case protocol.Opened:
		if p := l.pending.get(e.Call.ID); p != nil {
			p.tellOpened(ground{e.Attempt, e.Policy})
		}
	case protocol.Closed, protocol.Adopted, protocol.Dropped, protocol.Stepped, protocol.Finished,
		protocol.Activated, protocol.Evicted:
	}
}

func (l *lane) answer(id string, a *Answer) {
	if p := l.pending.get(id); p != nil {
		l.pending.resolve(p, a)
	}
}

// voided answers a call whose record changed nothing, unless the record is only a
// second copy of the one that counts.
func (l *lane) voided(e *protocol.Effect) {
	switch c := l.mu.fold.Lookup(e.Trace, e.Event.SessionID, e.Event.CallID); {
	case c == nil:
		l.answer(e.Event.ID, refusal(verdict.Unrecorded, "the call came into the log too late; propose it again"))
	case !slices.Equal(c.Digest, e.Event.Digest):
		l.answer(e.Event.ID, refusal(verdict.Invalid, "this call_id was used for another call; use a new one"))
	}
}

// settled answers a pending call by the resolution that stands (rule 12). A permit
// that the gate can no longer deliver is withdrawn. It delivers or withdraws only
// where its own record was the last to propose the call (rule 17).
func (l *lane) settled(e *protocol.Effect, offset uint64) {
	p := l.pending.get(e.Call.ID)
	if p == nil {
		return
	}
	permit := e.Resolution.Outcome == schema.SettledPermit
	if permit && e.Call.Claim != p.event.ID {
		l.pending.resolve(p, refusal(verdict.Invalid, issuedMessage))
		return
	}
	a := l.answerFor(e, p.event, offset)
	if taken := l.pending.resolve(p, a); permit && (!taken || !a.permits()) {
		l.withdraw(p.event)
	}
}

func (l *lane) answerFor(e *protocol.Effect, call *schema.Event, offset uint64) *Answer {
	a := fromResolution(e.Resolution)
	a.CallID = call.CallID
	a.Position = positionString(schema.Position{Partition: l.partition, Offset: offset})
	if e.Resolution.Outcome != schema.SettledPermit {
		return a
	}
	a.Args, a.resolution, a.ground = call.Args.Canon, e.Resolution, ground{e.Attempt, e.Resolution.Policy}
	if slices.Contains(e.Resolution.Flags, compose.ObserveMark) {
		a.Unchecked = "observe"
	}
	return a
}

// repeated handles a record of ours that repeats a call known to the log, from an
// earlier process of this gate or through another gate: it waits for the same answer
// until the call is settled, and is never given a fresh permit afterwards.
func (l *lane) repeated(e *protocol.Effect) {
	if p := l.pending.get(e.Event.ID); p != nil && e.Call.Status.Unresolved() {
		l.pending.alias(p, e.Call.ID)
		return
	}
	l.answer(e.Event.ID, refusal(verdict.Invalid, issuedMessage))
}

const issuedMessage = "this call was proposed before and its answer is already issued; propose it under a new call_id"

// sweep withdraws permits that nobody fetched while they were valid. It goes by the
// log's clock: a gate that reads late may still come to the permit of a call that it
// has long given up.
func (l *lane) sweep() {
	now := time.Now()
	if now.Sub(l.swept) < time.Second {
		return
	}
	l.swept = now
	for _, p := range l.pending.sweep(time.Unix(0, l.lastTick.Load()).Add(-l.cfg.NotAfter)) {
		if p.answer.permits() {
			l.withdraw(p.event)
		}
	}
}

// probeTime bounds the question whether the log can be written at all.
const probeTime = 500 * time.Millisecond

// unfit returns the refusal to give when nothing can be recorded in time now, or nil.
// A log that cannot be written stops the clock too, and is the reason to give then.
func (l *lane) unfit(ctx context.Context, now time.Time, left time.Duration) *Answer {
	if !l.caughtUp.Load() {
		return refusal(verdict.NoAnswer, "the gate has just started and is reading the log")
	}
	err := l.clockError(now)
	if err == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, min(probeTime, left))
	defer cancel()
	full, lost := l.cfg.Bus.Usage(ctx, bus.Events)
	switch {
	case lost != nil:
		return appendRefusal(lost)
	case full >= bus.OrdinaryShare:
		return appendRefusal(bus.ErrFull)
	case l.appender.Failing():
		return appendRefusal(appender.ErrUnrecorded)
	}
	return refusal(verdict.NoAnswer, err.Error())
}

// errClock is wrapped by clockError.
var errClock = errors.New("no composer keeps the clock")

// silent says that the clock of the partition stands still, which it does when the
// composer is down or the log cannot be written: the last tick is older than a tick
// and a third, where MaxSkew is two.
func (l *lane) silent(now time.Time) bool {
	return now.UnixNano()-l.lastTick.Load() > l.cfg.Rules.MaxSkew*2/3
}

// clockError says that the logical clock of the partition is too old for a call to
// be placed in time: the composer is down or out of reach.
func (l *lane) clockError(now time.Time) error {
	age := now.UnixNano() - l.lastTick.Load()
	if age <= l.cfg.Rules.MaxSkew {
		return nil
	}
	return fmt.Errorf("%w of partition %d", errClock, l.partition)
}
