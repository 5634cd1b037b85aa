package e2e_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aspis-rv/aspis/internal/bus"
	"github.com/aspis-rv/aspis/internal/bus/natsbus"
	"github.com/aspis-rv/aspis/pkg/client"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// slack is how much later than a call's deadline its answer may arrive: the way back,
// on a machine that does much else.
const slack = 400 * time.Millisecond

// pauseTime is when all threads of a process have noticed that it is paused.
const pauseTime = 50 * time.Millisecond

// patient is a client of one session that asks for calls which the policy permits.
type patient struct {
	t       *testing.T
	client  *client.Client
	session string
	calls   int
}

func newPatient(t *testing.T, d *deployment) *patient {
	t.Helper()
	p := &patient{t: t, client: d.client(0)}
	var err error
	if p.session, err = p.client.OpenSession(t.Context()); err != nil {
		t.Fatal(err)
	}
	return p
}

// ask proposes a harmless call and checks that it is answered by its deadline.
func (p *patient) ask(deadline time.Duration) *client.Decision {
	p.t.Helper()
	p.calls++
	began := time.Now()
	ctx, cancel := context.WithTimeout(p.t.Context(), askTimeout)
	defer cancel()
	d, err := p.client.Propose(ctx, client.Call{
		Session: p.session, Tool: "get_balance", Args: json.RawMessage(`{}`), CallID: fmt.Sprint(p.calls), DeadlineMS: deadline.Milliseconds(),
	})
	took := time.Since(began)
	if err != nil {
		p.t.Fatalf("no answer after %s: %v", took, err)
	}
	if took > deadline+slack {
		p.t.Errorf("the answer %s came after %s, the deadline was %s", decisionOf(d), took, deadline)
	}
	return d
}

// refused asks once and wants a refusal for a reason.
func (p *patient) refused(what, reason string, status int) {
	p.t.Helper()
	d := p.ask(2 * time.Second)
	if decisionOf(d) != reason || d.Status != status {
		p.t.Errorf("%s: %s, status %d, %q; want %s, status %d", what, decisionOf(d), d.Status, d.Message, reason, status)
	}
}

// recovers asks until a call is permitted.
func (p *patient) recovers(what string) {
	p.t.Helper()
	began := time.Now()
	last := ""
	for time.Since(began) < 20*time.Second {
		d := p.ask(2 * time.Second)
		if d.Permitted() {
			p.t.Logf("%s: calls are permitted again after %s", what, time.Since(began).Round(time.Millisecond))
			return
		}
		last = d.Reason + " " + d.Message
		time.Sleep(100 * time.Millisecond)
	}
	p.t.Errorf("%s: no call is permitted after 20 s: %s", what, last)
}

// TestFailureClasses breaks one thing after the other: every call is refused by its
// deadline with the reason class of what is broken, and everything recovers by itself.
func TestFailureClasses(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for many deadlines")
	}
	d := startSeparate(t, history)
	p := newPatient(t, d)
	p.recovers("the start")

	d.procs[roleAspect].pause()
	time.Sleep(pauseTime)
	p.refused("the aspect worker is paused", "unavailable", http.StatusServiceUnavailable)
	d.procs[roleAspect].resume()
	p.recovers("the aspect worker goes on")

	d.procs[roleAspect].kill()
	p.refused("the aspect worker is dead", "unavailable", http.StatusServiceUnavailable)
	d.procs[roleAspect].start()
	p.recovers("the aspect worker is back")

	d.procs[roleComposer].pause()
	time.Sleep(pauseTime)
	p.refused("the composer is paused", "unavailable", http.StatusServiceUnavailable)
	p.refused("the composer is paused, for long", "unavailable", http.StatusServiceUnavailable)
	d.procs[roleComposer].resume()
	p.recovers("the composer goes on")

	d.procs[roleComposer].kill()
	p.refused("the composer is dead", "unavailable", http.StatusServiceUnavailable)
	p.refused("the composer is dead, for long", "unavailable", http.StatusServiceUnavailable)
	d.procs[roleComposer].start()
	p.recovers("the composer is back")

	d.procs[roleBroker].pause()
	time.Sleep(pauseTime)
	p.refused("the broker is paused", "unrecorded", http.StatusServiceUnavailable)
	p.refused("the broker is paused, for long", "unrecorded", http.StatusServiceUnavailable)
	d.procs[roleBroker].resume()
	p.recovers("the broker goes on")

	d.procs[roleBroker].kill()
	p.refused("the broker is dead", "unrecorded", http.StatusServiceUnavailable)
	time.Sleep(3 * time.Second)
	p.refused("the broker is dead, for long", "unrecorded", http.StatusServiceUnavailable)
	d.procs[roleBroker].start()
	p.recovers("the broker is back")

	d.stopAll()
	replayed(t, d)
}

// TestFullLog fills the log: calls are refused `busy` while it takes nothing but what
// is reserved, and when it takes nothing at all.
func TestFullLog(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for many deadlines")
	}
	d := startSeparate(t, history)
	p := newPatient(t, d)
	p.recovers("the start")
	resize := func(limit int64) {
		t.Helper()
		b, err := natsbus.Connect(t.Context(), natsbus.Config{URL: d.nats, EventsBytes: limit})
		if err != nil {
			t.Fatal(err)
		}
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(1500 * time.Millisecond) // a gate's view of it is a second old at most
	}
	const room = 256 << 10
	resize(room)
	fill(t, d, 0.92)
	p.ask(2 * time.Second) // has the gate look again how full the log is
	time.Sleep(200 * time.Millisecond)
	p.refused("nine tenths are in use", "busy", http.StatusTooManyRequests)
	resize(4 * room)
	p.recovers("there is room again")

	fill(t, d, 1)
	time.Sleep(3 * time.Second) // the clock stands still: no tick fits
	p.refused("everything is in use", "busy", http.StatusTooManyRequests)
	p.refused("everything is in use, still", "busy", http.StatusTooManyRequests)
	resize(16 * room)
	p.recovers("there is room again")
	d.stopAll()
	replayed(t, d)
}

// fill appends reserved records of a session of their own until a share of the topic is
// in use.
func fill(t *testing.T, d *deployment, share float64) {
	t.Helper()
	b := d.connect()
	for i := range 20_000 {
		ev := schema.Event{
			ID: fmt.Sprintf("fill-%d-%f", i, share), Tenant: "default", Trace: "fill", SessionID: "fill", Kind: schema.KindMessage,
			Actor: schema.Actor{ID: "fill", Class: schema.ClassEnv}, Text: strings.Repeat("x", 400),
		}
		data, err := ev.AppendBinary(nil)
		if err != nil {
			t.Fatal(err)
		}
		_, err = b.Publish(t.Context(), bus.Message{Topic: bus.Events, Class: bus.Reserved, Data: data})
		if errors.Is(err, bus.ErrFull) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		used, err := b.Usage(t.Context(), bus.Events)
		if err != nil {
			t.Fatal(err)
		}
		if share < 1 && used >= share {
			return
		}
	}
	t.Fatal("the log does not fill")
}
