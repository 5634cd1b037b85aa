package policy

import "github.com/aspis-rv/aspis/pkg/schema"

// TraceOf returns the value of the bundle's trace key for an event: what the event's
// Trace field holds. Events without a session share the trace of their principal.
func (b *Bundle) TraceOf(ev *schema.Event) string {
	switch b.Trace {
	case TraceTenant:
		return "tenant"
	case TraceAgent:
		return "agent:" + ev.Actor.ID
	case TraceSession:
	}
	if ev.SessionID == "" {
		return "agent:" + ev.Actor.ID
	}
	return ev.SessionID
}
