package model

import (
	"errors"
	"fmt"
	"strings"

	"github.com/aspis-rv/aspis/internal/protocol"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// tie folds every nth distinct log that it is given by the real protocol.Partition
// too.
type tie struct {
	nth    int
	seen   map[[maxLog]record]struct{}
	folded int
	err    error
}

func (t *tie) log(r *reader) {
	if _, known := t.seen[r.log]; known {
		return
	}
	t.seen[r.log] = struct{}{}
	if len(t.seen)%t.nth != 0 || t.err != nil {
		return
	}
	t.folded++
	if err := compare(r); err != nil {
		t.err = fmt.Errorf("%w\n%s", err, listing(r))
	}
}

func listing(r *reader) string {
	var b strings.Builder
	for i, rec := range r.log[:r.n] {
		fmt.Fprintf(&b, "  %2d %s\n", i, describe(rec))
	}
	return b.String()
}

// Log time of the real records, in ns, and their offsets: they have holes, as those
// of NATS streams do.
const (
	unit  = 1_000_000_000
	epoch = 1_700_000_000 * unit
)

func offset(i int) uint64 { return 5 + 3*uint64(i) }

func traceID() protocol.TraceID { return protocol.TraceID{Tenant: "acme", Trace: "fleet"} }

// actual is what the fold of internal/protocol makes of a log.
type actual struct {
	part     *protocol.Partition
	attempts []schema.Attempt
	points   []uint64 // time points of the attempts
	adopted  []uint64 // offsets of what became a time point
	permits  [calls]bool
	settled  [calls]int
	violated bool
}

// compare folds the log of r by the real code, with a snapshot and a restart on the
// way, and reports the first difference.
func compare(r *reader) error {
	rules := protocol.DefaultRules()
	rules.ResultTTL = 0
	x := actual{part: protocol.New(3, rules)}
	x.part.Step(1, &schema.Event{ID: "policy/1", Kind: schema.KindPolicy, Activation: &schema.Activation{Number: 1, Digest: []byte("bundle")}})
	restart := int(r.log[0]^r.log[1]<<1^r.log[2]<<2) % int(r.n)
	for i := range int(r.n) {
		if i == restart {
			if err := x.restart(rules); err != nil {
				return err
			}
		}
		ev := x.event(r, i)
		for _, e := range x.part.Step(offset(i), ev) {
			x.effect(&e)
		}
	}
	return x.agrees(r)
}

func (x *actual) restart(rules protocol.Rules) error {
	b, err := x.part.AppendState(nil)
	if err != nil {
		return err
	}
	x.part, err = protocol.Restore(b, rules)
	return err
}

func (x *actual) effect(e *protocol.Effect) {
	switch e.Kind {
	case protocol.Opened:
		x.attempts = append(x.attempts, e.Attempt)
		x.points = append(x.points, e.TimePoint)
	case protocol.Adopted, protocol.Stepped:
		x.adopted = append(x.adopted, e.Offset)
	case protocol.Settled:
		c := e.Call.CallID[0] - 'a'
		x.settled[c]++
		x.permits[c] = e.Resolution.Outcome == schema.SettledPermit
	case protocol.Violated:
		x.violated = true
	case protocol.Closed, protocol.Dropped, protocol.Interim, protocol.Voided, protocol.Repeated,
		protocol.Finished, protocol.Advanced, protocol.Activated, protocol.Evicted:
	}
}

func callID(c uint8) string { return string(rune('a' + c)) }

func recordID(rec record) string { return fmt.Sprintf("record-%02x", rec) }

func digest(c uint8) []byte { return []byte("digest of " + callID(c)) }

// event is record i of the log as the roles would have written it.
func (x *actual) event(r *reader, i int) *schema.Event {
	rec := r.log[i]
	ev := &schema.Event{
		ID: recordID(rec), Tenant: traceID().Tenant, Trace: traceID().Trace, SessionID: "session",
		Actor: schema.Actor{ID: "agent", Class: schema.ClassAgent}, ClaimedTS: epoch,
		Position: schema.Position{Partition: 3, Offset: offset(i)},
	}
	switch {
	case isResolve(rec):
		x.resolution(r, ev, rec)
	case rec == recGrant:
		ev.Kind, ev.Grant = schema.KindGrant, &schema.Grant{}
		ev.Producer, ev.Incarnation, ev.Seq = "authority", 1, 1
	case isTick(rec):
		n := rec - recTick
		*ev = schema.Event{ID: recordID(rec), Kind: schema.KindTick, Tick: &schema.Tick{N: uint64(n), Time: epoch + int64(n)*unit}}
	case isResult(rec):
		ev.Kind, ev.CallID = schema.KindResult, callID(callOf(rec))
		ev.Producer, ev.Incarnation, ev.Seq = "harness", 1, 1+uint64(callOf(rec))
	default:
		x.gate(r, ev, rec)
	}
	return ev
}

// gate fills in a record of a gate. Its numbers are fixed by its content, so that
// records written late are gaps that are filled, and doubled ones duplicates.
func (x *actual) gate(r *reader, ev *schema.Event, rec record) {
	c, w := callOf(rec), writerOf(rec)
	ev.CallID = callID(c)
	ev.Producer, ev.Incarnation = fmt.Sprintf("gate-%d", w>>1), 1+uint64(w&1)
	ev.Seq = 1 + uint64(c)
	ev.Digest = digest(c)
	switch kind(rec) {
	case recCall:
		ev.Kind, ev.Deadline = schema.KindCall, epoch+int64(deadline(c))*unit
	case recExpired:
		ev.Kind, ev.Seq = schema.KindResolution, ev.Seq+2
		ev.Resolution = &schema.Resolution{
			CallID: ev.CallID, Outcome: schema.SettledExpired, CallDigest: digest(c),
			Attempt: schema.Attempt{Partition: 3, CallID: r.firstID(c)},
		}
	case recWithdrawn:
		ev.Kind, ev.Seq = schema.KindWithdrawn, ev.Seq+4
	}
}

// firstID is the id of the record that proposed a call.
func (r *reader) firstID(c uint8) string {
	if r.first[c] < 0 {
		return "none"
	}
	return recordID(r.log[r.first[c]])
}

// resolution fills in a resolution. It names an attempt that the real fold opened.
func (x *actual) resolution(r *reader, ev *schema.Event, rec record) {
	o := attemptOf(rec)
	c := r.attempts[o].call
	res := &schema.Resolution{CallID: callID(c), CallDigest: digest(c), Writer: "composer"}
	if int(o) < len(x.attempts) {
		res.Attempt = x.attempts[o]
	}
	switch outcomeOf(rec) {
	case permit:
		res.Outcome = schema.SettledPermit
	case refuse:
		res.Outcome = schema.SettledRefuse
	case hold:
		res.Outcome, res.Awaits = schema.SettledHold, []string{callID(1 - c)}
	}
	ev.Kind, ev.CallID, ev.Resolution = schema.KindResolution, callID(c), res
}

var errDiffers = errors.New("the real fold differs from the model's reader")

func (x *actual) agrees(r *reader) error {
	if len(x.attempts) != int(r.judged) || len(x.adopted) != int(r.points) || x.violated != r.accused {
		return fmt.Errorf("%w: %d attempts, %d adopted, violation %t; want %d, %d, %t", errDiffers,
			len(x.attempts), len(x.adopted), x.violated, r.judged, r.points, r.accused)
	}
	for o, a := range x.attempts {
		want := r.attempts[o]
		if a.Opening != offset(int(want.at)) || a.CallID != r.firstID(want.call) || x.points[o] != uint64(want.timePoint) {
			return fmt.Errorf("%w: attempt %d is %v at time point %d, want %+v", errDiffers, o, a, x.points[o], want)
		}
	}
	for k, at := range x.adopted {
		if want := offset(int(r.adopted[k])); at != want {
			return fmt.Errorf("%w: time point %d is the record at %d, want %d", errDiffers, k, at, want)
		}
	}
	for c := range uint8(calls) {
		if err := x.agreesOn(r, c); err != nil {
			return err
		}
	}
	return nil
}

func (x *actual) agreesOn(r *reader, c uint8) error {
	got := x.part.Lookup(traceID(), "session", callID(c))
	if got == nil || r.status[c] == absent {
		if got != nil || r.status[c] != absent {
			return fmt.Errorf("%w: call %s known to one only", errDiffers, callID(c))
		}
		return nil
	}
	if s := realStatus(r.status[c]); got.Status != s {
		return fmt.Errorf("%w: call %s is %s, want %s", errDiffers, callID(c), got.Status, s)
	}
	if got.Claim != recordID(r.claim[c]) {
		return fmt.Errorf("%w: call %s is claimed by %s, want %s", errDiffers, callID(c), got.Claim, recordID(r.claim[c]))
	}
	settled := r.settled[c] >= 0
	switch {
	case settled != (x.settled[c] == 1) || x.settled[c] > 1 || x.permits[c] != r.permit[c]:
		return fmt.Errorf("%w: call %s was settled %d times, permit %t; want %t, %t", errDiffers, callID(c), x.settled[c], x.permits[c], settled, r.permit[c])
	case settled && got.SettledAt != offset(int(r.settled[c])):
		return fmt.Errorf("%w: call %s was settled at %d, want record %d", errDiffers, callID(c), got.SettledAt, r.settled[c])
	}
	return nil
}

func realStatus(s uint8) protocol.CallStatus {
	return [...]protocol.CallStatus{
		queued: protocol.CallQueued, open: protocol.CallOpen, held: protocol.CallHeld, permitted: protocol.CallPermitted,
		done: protocol.CallDone, unknown: protocol.CallUnknown, withdrawn: protocol.CallWithdrawn,
		refused: protocol.CallRefused, expired: protocol.CallExpired,
	}[s]
}
