package sim

import (
	"fmt"
	"strings"

	"github.com/aspis-rv/aspis/internal/protocol"
	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// sessionName is the script's name of a session id.
func (w *world) sessionName(id string) string {
	w.ledger.mu.Lock()
	defer w.ledger.mu.Unlock()
	for name, s := range w.ledger.mu.sessions {
		if s.id == id {
			return name
		}
	}
	return "?"
}

// label names a record.
func (w *world) label(ev *schema.Event) string {
	in := w.sessionName(ev.SessionID)
	switch ev.Kind {
	case schema.KindCall:
		return fmt.Sprintf("call %s/%s %s", in, ev.CallID, ev.Tool)
	case schema.KindResult:
		return fmt.Sprintf("result %s/%s %s", in, ev.CallID, ev.Status)
	case schema.KindResolution:
		return fmt.Sprintf("resolution %s/%s %s", in, ev.CallID, resolution(ev.Resolution))
	case schema.KindMessage, schema.KindObservation:
		return fmt.Sprintf("%s %s", ev.Kind, in)
	case schema.KindGrant:
		return fmt.Sprintf("grant %s %s by %s", in, ev.Tool, ev.Actor.ID)
	case schema.KindTick:
		return "tick"
	case schema.KindPolicy:
		return fmt.Sprintf("policy %d", ev.Activation.Number)
	case schema.KindSession:
		if ev.Session.End {
			return "session " + in + " ends"
		}
		return "session " + in + " starts"
	case schema.KindWithdrawn:
		return fmt.Sprintf("withdrawn %s/%s", in, ev.CallID)
	}
	return ev.Kind.String()
}

// resolution describes what a resolution says.
func resolution(r *schema.Resolution) string {
	out := r.Outcome.String()
	if r.Reason != "" {
		out += " " + string(r.Reason)
	}
	if r.Clause != "" {
		out += " " + r.Clause
	}
	if len(r.Flags) > 0 {
		out += " flags " + strings.Join(r.Flags, ",")
	}
	if len(r.Missing) > 0 && r.Reason != verdict.Violation { // a violation may be decided before all have answered
		out += " missing " + strings.Join(r.Missing, ",")
	}
	if len(r.Awaits) > 0 {
		out += " awaits " + strings.Join(r.Awaits, ",")
	}
	return out
}

// consequence describes one effect of a record. Other records and calls are named,
// the record's own are not.
func (w *world) consequence(ev *schema.Event, e *effect) string {
	out := e.Kind.String()
	subject := ""
	switch {
	case e.Call != nil:
		subject = e.call.CallID
	case e.Event != nil && e.Event != ev:
		subject = w.label(e.Event)
	}
	if subject != "" && subject != ev.CallID {
		out += " " + subject
	}
	switch e.Kind {
	case protocol.Settled:
		if e.Resolution.Writer == "" {
			out += fmt.Sprintf(" (%s: %s)", resolution(e.Resolution), e.Resolution.Detail)
		}
	case protocol.Voided, protocol.Violated:
		out += " (" + e.Detail + ")"
	case protocol.Finished:
		if e.call.Status != protocol.CallDone {
			out += " as " + e.call.Status.String()
		}
	case protocol.Opened, protocol.Closed, protocol.Adopted, protocol.Dropped, protocol.Stepped, protocol.Interim,
		protocol.Repeated, protocol.Advanced, protocol.Activated, protocol.Evicted:
	}
	return out
}

// line describes a record and what it did.
func (w *world) line(e *entry) string {
	var did []string
	for i := range e.effects {
		did = append(did, w.consequence(e.event, &e.effects[i]))
	}
	out := w.label(e.event)
	if len(did) > 0 {
		out += ": " + strings.Join(did, ", ")
	}
	return out
}

// String describes the whole history.
func (h *history) String(w *world) string {
	var b strings.Builder
	for _, e := range h.entries {
		fmt.Fprintf(&b, "%d/%d %s\n", e.partition, e.record.Offset, w.line(e))
		for i := range e.effects {
			x := &e.effects[i]
			fmt.Fprintf(&b, "  %s %s tp %d at %d %s %v\n", x.Kind, x.Trace.Trace, x.TimePoint, x.Timestamp, x.Evidence, x.Distrusted)
		}
	}
	return b.String()
}

// firstDifference returns the first line at which two texts differ.
func firstDifference(a, b string) string {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range x {
		if i >= len(y) || x[i] != y[i] {
			have := "the end"
			if i < len(y) {
				have = y[i]
			}
			return fmt.Sprintf("line %d\n  %s\n  %s", i+1, x[i], have)
		}
	}
	return fmt.Sprintf("line %d: the second goes on", len(x)+1)
}
