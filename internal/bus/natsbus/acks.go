package natsbus

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/aspis-rv/aspis/internal/bus"
)

// flight is a record that was sent and waits for its acknowledgement. Either result
// or emits is set.
type flight struct {
	subject  string
	appended appended
	deadline time.Time
	size     int64
	usage    *usage
	result   chan outcome // of capacity 1
	emits    *emits
	emitted  uint64  // number within emits
	window   *window // with emits
}

// outcome is what became of a record.
type outcome struct {
	offset    uint64
	duplicate bool
	err       error
}

// acks matches acknowledgements to records. Every flight ends exactly once: by its
// acknowledgement, its time-out, a lost connection, a failed send, or Close.
type acks struct {
	bus    *Bus
	prefix string // of reply subjects: an inbox and a dot
	mu     struct {
		sync.Mutex
		last    uint64
		waiting map[uint64]*flight
		closed  bool
	}
}

func newAcks(b *Bus) *acks {
	a := &acks{bus: b}
	a.mu.waiting = make(map[uint64]*flight)
	return a
}

// start subscribes to the acknowledgements.
func (a *acks) start() error {
	a.prefix = a.bus.pub.NewInbox() + "."
	s, err := a.bus.pub.Subscribe(a.prefix+"*", a.received)
	if err == nil {
		// Acknowledgements are small and bounded by what is in flight.
		err = s.SetPendingLimits(-1, -1)
	}
	if err == nil {
		err = a.bus.pub.FlushTimeout(a.bus.cfg.Timeout)
	}
	if err != nil {
		return a.bus.requestError(context.Background(), "subscribe to acknowledgements", err)
	}
	return nil
}

// send sends m and registers f, whose outcome comes later; an error says that nothing
// was sent and f is done.
func (a *acks) send(m *nats.Msg, f *flight) error {
	a.mu.Lock()
	if a.mu.closed {
		a.mu.Unlock()
		return bus.ErrClosed
	}
	a.mu.last++
	id := a.mu.last
	a.mu.waiting[id] = f
	a.mu.Unlock()
	m.Reply = a.prefix + strconv.FormatUint(id, 36)
	if err := a.bus.pub.PublishMsg(m); err != nil {
		if a.take(id) == nil {
			return nil // a lost connection has ended it already
		}
		if a.bus.life.Err() != nil {
			return bus.ErrClosed
		}
		return sendError(err)
	}
	return nil
}

// take removes and returns a flight, or nil if it has ended.
func (a *acks) take(id uint64) *flight {
	a.mu.Lock()
	defer a.mu.Unlock()
	f := a.mu.waiting[id]
	delete(a.mu.waiting, id)
	return f
}

// received handles an acknowledgement.
func (a *acks) received(m *nats.Msg) {
	id, err := strconv.ParseUint(m.Subject[len(a.prefix):], 36, 64)
	if err != nil {
		return
	}
	if f := a.take(id); f != nil {
		o := parseAck(m)
		if o.err == nil && !o.duplicate {
			f.appended.deliver(o.offset)
		}
		f.end(o)
	}
}

// end tells everyone concerned what became of the record.
func (f *flight) end(o outcome) {
	f.usage.landed(f.size, o.err == nil && !o.duplicate)
	if f.emits != nil {
		f.window.leave(f.size)
		f.emits.landed(f.emitted, o.err)
		return
	}
	f.result <- o
}

// parseAck reads an acknowledgement.
func parseAck(m *nats.Msg) outcome {
	if seq, ok := plainAck(m.Data); ok {
		return outcome{offset: seq}
	}
	if status(m) == statusNoResponders {
		return outcome{err: fmt.Errorf("%w: no stream takes the record; is JetStream enabled and the log created?", bus.ErrUnavailable)}
	}
	var ack struct {
		Seq       uint64 `json:"seq"`
		Duplicate bool   `json:"duplicate"`
		Error     *struct {
			Code        int    `json:"err_code"`
			Description string `json:"description"`
		} `json:"error"`
	}
	if err := json.Unmarshal(m.Data, &ack); err != nil {
		return outcome{err: fmt.Errorf("%w: unreadable acknowledgement: %w", bus.ErrUnavailable, err)}
	}
	if ack.Error != nil {
		return outcome{err: apiError(ack.Error.Code, ack.Error.Description)}
	}
	if ack.Seq == 0 {
		return outcome{err: fmt.Errorf("%w: acknowledgement without a sequence", bus.ErrUnavailable)}
	}
	return outcome{offset: ack.Seq, duplicate: ack.Duplicate}
}

// plainAck reads the usual acknowledgement, {"stream":"EVENTS","seq":123} perhaps with
// spaces, without the cost of a JSON decoder. Anything else is left to parseAck.
func plainAck(data []byte) (uint64, bool) {
	_, rest, ok := bytes.Cut(data, []byte(`,"seq":`))
	if !ok {
		_, rest, ok = bytes.Cut(data, []byte(`, "seq":`))
	}
	if !ok || !bytes.HasPrefix(data, []byte(`{"stream":"`)) {
		return 0, false
	}
	seq, i := uint64(0), 0
	for ; i < len(rest) && rest[i] >= '0' && rest[i] <= '9' && i < 19; i++ {
		seq = seq*10 + uint64(rest[i]-'0')
	}
	return seq, i > 0 && seq > 0 && len(rest) == i+1 && rest[i] == '}'
}

// expire ends flights that have waited too long. It runs until the bus is closed.
func (a *acks) expire() {
	t := time.NewTicker(max(a.bus.cfg.Timeout/20, time.Millisecond))
	defer t.Stop()
	for {
		select {
		case <-a.bus.closed:
			return
		case now := <-t.C:
			for _, f := range a.remove(func(f *flight) bool { return now.After(f.deadline) }) {
				f.end(outcome{err: fmt.Errorf("%w: no acknowledgement of %s within %v; the record may have been written",
					bus.ErrUnavailable, f.subject, a.bus.cfg.Timeout)})
			}
		}
	}
}

// disconnected ends all flights: their acknowledgements went to the connection that is
// gone.
func (a *acks) disconnected() {
	for _, f := range a.remove(func(*flight) bool { return true }) {
		f.end(outcome{err: fmt.Errorf("%w: the connection broke before %s was acknowledged; the record may have been written",
			bus.ErrUnavailable, f.subject)})
	}
}

// abort ends all flights with err and refuses new ones.
func (a *acks) abort(err error) {
	a.mu.Lock()
	a.mu.closed = true
	a.mu.Unlock()
	for _, f := range a.remove(func(*flight) bool { return true }) {
		f.end(outcome{err: err})
	}
}

// remove takes out the flights that match.
func (a *acks) remove(match func(*flight) bool) []*flight {
	a.mu.Lock()
	defer a.mu.Unlock()
	var fs []*flight
	for id, f := range a.mu.waiting {
		if match(f) {
			fs = append(fs, f)
			delete(a.mu.waiting, id)
		}
	}
	return fs
}
