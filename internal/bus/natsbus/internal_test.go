package natsbus

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/aspis-rv/aspis/internal/bus"
)

func TestSubjects(t *testing.T) {
	plain := regexp.MustCompile(`^(ev|vd)\.[0-9]+\.(r|c\.[A-Z2-7]{32})$`)
	seen := map[string]string{}
	for _, key := range []string{"a", "b", "*", ">", "a.b", " ", "\r\n", "\xff"} {
		for _, topic := range []bus.Topic{bus.Events, bus.Verdicts} {
			s := createSubject(topic, 7, key)
			if !plain.MatchString(s) {
				t.Errorf("key %q: subject %q", key, s)
			}
			if other, ok := seen[s]; ok {
				t.Errorf("keys %q and %q share subject %q", key, other, s)
			}
			seen[s] = key
			if p, ok := partitionOf(s); !ok || p != 7 {
				t.Errorf("partition of %q: %d, %v", s, p, ok)
			}
		}
	}
	if s := appendSubject(bus.Verdicts, 63); s != "vd.63.r" || !plain.MatchString(s) {
		t.Errorf("append subject %q", s)
	}
	if a, b := token(useID, 1, "x"), token(useID, 2, "x"); a == b {
		t.Error("ids of two partitions collide")
	}
	for _, s := range []string{"", "ev", "ev.7", "ev.x.r", "ev.-1.r", "ev.4294967296.r"} {
		if p, ok := partitionOf(s); ok {
			t.Errorf("partition of %q: %d", s, p)
		}
	}
}

func TestParseDelivery(t *testing.T) {
	want := delivery{stream: 7, consumer: 3, at: time.Unix(0, 1700000000000000001)}
	for _, reply := range []string{
		"$JS.ACK.EVENTS.c.1.7.3.1700000000000000001.5",
		"$JS.ACK.dom.hash.EVENTS.c.1.7.3.1700000000000000001.5",
		"$JS.ACK._.hash.EVENTS.c.1.7.3.1700000000000000001.5.token",
	} {
		if got, ok := parseDelivery(reply); !ok || got != want {
			t.Errorf("%q: %+v, %v", reply, got, ok)
		}
	}
	for _, reply := range []string{"", "_INBOX.x", "$JS.ACK.", "$JS.ACK.EVENTS.c.1.7.3.170", "$JS.ACK.EVENTS.c.1.x.3.17.5"} {
		if got, ok := parseDelivery(reply); ok {
			t.Errorf("%q: %+v", reply, got)
		}
	}
}

func FuzzParseDelivery(f *testing.F) {
	f.Add("$JS.ACK.EVENTS.c.1.7.3.1700000000000000001.5")
	f.Add("$JS.ACK._.hash.EVENTS.c.1.7.3.1700000000000000001.5.token")
	f.Add("$JS.ACK.......")
	f.Fuzz(func(t *testing.T, reply string) {
		got, ok := parseDelivery(reply)
		m := nats.Msg{Reply: reply, Sub: &nats.Subscription{}}
		meta, err := m.Metadata()
		if ok && err == nil && (meta.Sequence.Stream != got.stream || meta.Sequence.Consumer != got.consumer || !meta.Timestamp.Equal(got.at)) {
			t.Errorf("%q: %+v, the client reads %+v", reply, got, meta)
		}
	})
}

func TestParseAck(t *testing.T) {
	for _, c := range []struct {
		data string
		want outcome
		is   error
	}{
		{data: `{"stream":"EVENTS","seq":123}`, want: outcome{offset: 123}},
		{data: `{"stream":"EVENTS", "seq":123}`, want: outcome{offset: 123}},
		{data: `{"stream":"EVENTS","domain":"d","seq":9,"duplicate":true}`, want: outcome{offset: 9, duplicate: true}},
		{data: `{"stream":"EVENTS","seq":0}`, is: bus.ErrUnavailable},
		{data: `{"error":{"code":400,"err_code":10071,"description":"wrong last sequence: 5"},"stream":"EVENTS","seq":0}`, is: bus.ErrExists},
		{data: `{"error":{"code":503,"err_code":10077,"description":"maximum bytes exceeded"},"stream":"EVENTS","seq":0}`, is: bus.ErrFull},
		{data: `{"error":{"code":503,"err_code":10077,"description":"disk on fire"},"stream":"EVENTS","seq":0}`, is: bus.ErrUnavailable},
		{data: `{"error":{"code":400,"err_code":10054,"description":"message size exceeds maximum allowed"},"stream":"EVENTS","seq":0}`, is: bus.ErrTooLarge},
		{data: `{"error":{"code":503,"err_code":10023,"description":"insufficient resources"},"stream":"EVENTS","seq":0}`, is: bus.ErrFull},
		{data: `{"error":{"code":429,"err_code":10167,"description":"too many requests"},"stream":"EVENTS","seq":0}`, is: bus.ErrUnavailable},
		{data: `nonsense`, is: bus.ErrUnavailable},
		{data: ``, is: bus.ErrUnavailable},
	} {
		got := parseAck(&nats.Msg{Data: []byte(c.data)})
		if !errors.Is(got.err, c.is) || got.offset != c.want.offset || got.duplicate != c.want.duplicate {
			t.Errorf("%s: %+v", c.data, got)
		}
	}
	none := parseAck(&nats.Msg{Header: nats.Header{"Status": []string{"503"}}})
	if !errors.Is(none.err, bus.ErrUnavailable) {
		t.Errorf("no responders: %v", none.err)
	}
}

// FuzzPlainAck holds the short cut against the JSON decoder.
func FuzzPlainAck(f *testing.F) {
	f.Add([]byte(`{"stream":"EVENTS","seq":123}`))
	f.Add([]byte(`{"stream":"EVENTS", "seq":123}`))
	f.Add([]byte(`{"stream":"EVENTS","seq":1,"duplicate":true}`))
	f.Add([]byte(`{"stream":"E","seq":99999999999999999999}`))
	f.Add([]byte(`{"stream":"E","seq":01}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		seq, ok := plainAck(data)
		if !ok {
			return
		}
		var ack struct {
			Seq       uint64 `json:"seq"`
			Duplicate bool   `json:"duplicate"`
			Error     any    `json:"error"`
		}
		if err := json.Unmarshal(data, &ack); err == nil && ack.Error == nil && !ack.Duplicate && ack.Seq != seq {
			t.Errorf("%s: %d, JSON says %d", data, seq, ack.Seq)
		}
	})
}

// TestWindow fills the window to its limits: one more waits until there is room, or
// fails after the time-out.
func TestWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, c := range map[string]struct {
			n    int
			size int64
		}{"records": {windowRecords, 1}, "bytes": {windowBytes / (1 << 20), 1 << 20}} {
			w, closed := newWindow(), make(chan struct{})
			for range c.n {
				if err := w.enter(c.size, 0, closed); err != nil {
					t.Fatalf("%s: within the limit: %v", name, err)
				}
			}
			begin := time.Now()
			if err := w.enter(c.size, time.Minute, closed); !errors.Is(err, bus.ErrUnavailable) || time.Since(begin) != time.Minute {
				t.Errorf("%s: one over the limit: %v after %v", name, err, time.Since(begin))
			}
			time.AfterFunc(time.Second, func() { w.leave(c.size) })
			if err := w.enter(c.size, time.Minute, closed); err != nil || time.Since(begin) != time.Minute+time.Second {
				t.Errorf("%s: when room becomes free: %v after %v", name, err, time.Since(begin))
			}
			time.AfterFunc(time.Second, func() { close(closed) })
			if err := w.enter(c.size, time.Minute, closed); !errors.Is(err, bus.ErrClosed) {
				t.Errorf("%s: after closing: %v", name, err)
			}
		}
	})
}

// TestBuffer fills a buffer to its limits; one more cuts it, and what is in it can
// still be taken.
func TestBuffer(t *testing.T) {
	for name, c := range map[string]struct{ n, size int }{
		"records": {bufferRecords, 0}, "bytes": {16, bufferBytes / 16}, "one large record": {1, 2 * bufferBytes},
	} {
		b := newBuffer()
		for i := range c.n {
			if !b.put(bus.Record{Offset: uint64(i), Data: make([]byte, c.size)}) {
				t.Fatalf("%s: record %d was refused", name, i)
			}
		}
		if b.put(bus.Record{Data: make([]byte, 1)}) {
			t.Errorf("%s: one over the limit was accepted", name)
		}
		for i := range c.n {
			if r, ok, _ := b.take(); !ok || r.Offset != uint64(i) {
				t.Fatalf("%s: took %d, %v, want %d", name, r.Offset, ok, i)
			}
		}
		if _, ok, ended := b.take(); ok || !ended {
			t.Errorf("%s: the empty, cut buffer says %v, %v", name, ok, ended)
		}
	}
}

// TestBufferWraps moves many records through a buffer that is never empty.
func TestBufferWraps(t *testing.T) {
	b := newBuffer()
	put := uint64(0)
	for taken := range uint64(5000) {
		for range 1 + taken%2 {
			if put-taken < bufferRecords-1 && !b.put(bus.Record{Offset: put}) {
				t.Fatalf("record %d was refused with %d waiting", put, put-taken)
			} else if put-taken < bufferRecords-1 {
				put++
			}
		}
		if r, ok, _ := b.take(); !ok || r.Offset != taken {
			t.Fatalf("took %d, %v, want %d", r.Offset, ok, taken)
		}
	}
	if cap(b.mu.records) > 4*bufferRecords {
		t.Errorf("the buffer has grown to %d", cap(b.mu.records))
	}
}

func send(t *testing.T, e *emits, link uint64) uint64 {
	t.Helper()
	n, err := e.next(link)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestNothingFollowsALoss: a record is not accepted behind one that is lost, or may be,
// until a Sync has told and another has come.
func TestNothingFollowsALoss(t *testing.T) {
	e, broken := newEmits(), errors.New("broken")
	one, two := send(t, e, 0), send(t, e, 0)
	e.landed(one, broken)
	if _, err := e.next(0); !errors.Is(err, broken) {
		t.Errorf("behind a lost record: %v", err)
	}
	e.landed(two, nil)
	if err := e.wait(t.Context(), nil); !errors.Is(err, broken) {
		t.Errorf("Sync: %v", err)
	}
	if _, err := e.next(0); !errors.Is(err, broken) {
		t.Errorf("when Sync has told, and its caller may not have taken notice: %v", err)
	}
	if err := e.wait(t.Context(), nil); err != nil {
		t.Errorf("the next Sync: %v", err)
	}
	e.landed(send(t, e, 1), nil) // all has landed: it does not matter that the connection is another

	three := send(t, e, 1)
	if _, err := e.next(2); !errors.Is(err, bus.ErrUnavailable) {
		t.Errorf("on another connection behind a record under way: %v", err)
	}
	e.landed(three, nil)
	e.landed(send(t, e, 2), nil)
	if err := e.wait(t.Context(), nil); err != nil {
		t.Errorf("Sync: %v", err)
	}
}

// TestEmitsOutOfOrder settles records in every order of three.
func TestEmitsOutOfOrder(t *testing.T) {
	broken := errors.New("broken")
	for _, order := range [][]uint64{{1, 2, 3}, {1, 3, 2}, {2, 1, 3}, {2, 3, 1}, {3, 1, 2}, {3, 2, 1}} {
		t.Run(fmt.Sprint(order), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := newEmits()
				for range 3 {
					send(t, e, 0)
				}
				done := make(chan error, 1)
				go func() { done <- e.wait(t.Context(), nil) }()
				for i, n := range order {
					synctest.Wait()
					if len(done) != 0 {
						t.Fatalf("Sync returned after %d of 3 records", i)
					}
					var err error
					if n == 2 {
						err = broken
					}
					e.landed(n, err)
				}
				if err := <-done; !errors.Is(err, broken) {
					t.Errorf("Sync: %v", err)
				}
				if err := e.wait(t.Context(), nil); err != nil {
					t.Errorf("the next Sync: %v", err)
				}
			})
		})
	}
}

func TestServerOptions(t *testing.T) {
	for d, want := range map[Durability]struct {
		every  time.Duration
		always bool
	}{
		DurableProcess:  {2 * time.Minute, false},
		DurableInterval: {time.Second, false},
		DurablePower:    {2 * time.Minute, true},
	} {
		o := ServerConfig{Dir: "x", Durability: d}.options()
		if o.SyncInterval != want.every || o.SyncAlways != want.always {
			t.Errorf("%v: every %v, always %v", d, o.SyncInterval, o.SyncAlways)
		}
		if o.Host != "127.0.0.1" || !o.JetStream || o.DontListen {
			t.Errorf("%v: options %+v", d, o)
		}
	}
}

// TestAppendedOutsideTheFeed appends more than a buffer holds to a partition that a
// cursor joins and the feed does not cover yet. The buffer must still be there when the
// feed changes: a cursor waits for it to be joined.
func TestAppendedOutsideTheFeed(t *testing.T) {
	l := newTail(nil, bus.Events)
	l.configure(8)
	l.mu.feed = &feed{lanes: map[uint32]bool{0: true}}
	inside, outside := l.join(0), l.join(1)
	for n := range uint64(3) {
		l.appended(bus.Record{Partition: 1, Offset: n + 1, Data: make([]byte, bufferBytes/2+1)})
	}
	if _, ok, ended := outside.take(); ok || ended || !l.follows(1) {
		t.Errorf("before it is joined the buffer has a record: %v, is cut: %v, is known: %v", ok, ended, l.follows(1))
	}
	l.appended(bus.Record{Partition: 0, Offset: 2}) // not the next: the feed has passed over nothing
	l.appended(bus.Record{Partition: 0, Offset: 1})
	if r, ok, _ := inside.take(); !ok || r.Offset != 1 {
		t.Errorf("record %d, %v; want the first of the feed's partition", r.Offset, ok)
	}
}

// TestCursorTimesDoNotFall reads records whose times come from two clocks.
func TestCursorTimesDoNotFall(t *testing.T) {
	begin := time.Unix(1000, 0)
	c := &cursor{notBefore: begin.Add(2 * time.Second)}
	for i, step := range []struct {
		offset     uint64
		time, want int // seconds from the beginning
		wanted     bool
	}{
		{offset: 5, time: 1, want: 1},
		{offset: 5, time: 9, want: 9}, // a repetition
		{offset: 6, time: 4, want: 4, wanted: true},
		{offset: 8, time: 3, want: 4, wanted: true}, // by the other clock
		{offset: 9, time: 1, want: 4, wanted: true},
		{offset: 10, time: 5, want: 5, wanted: true},
	} {
		r := bus.Record{Offset: step.offset, Time: begin.Add(time.Duration(step.time) * time.Second)}
		if wanted, at := c.accept(&r), r.Time.Sub(begin); wanted != step.wanted || at != time.Duration(step.want)*time.Second {
			t.Errorf("step %d: wanted %v at %v", i, wanted, at)
		}
	}
}
