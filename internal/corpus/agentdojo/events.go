package agentdojo

import (
	"crypto/sha256"
	"encoding/json"
	"strconv"

	"github.com/aspis-rv/aspis/pkg/schema"
)

// Tenant is the tenant of all events of the corpus.
const Tenant = "agentdojo"

// MessageTool is the tool of a message, and of a result that belongs to no recorded
// call: the entry of a bundle that types texts nobody asked for.
const MessageTool = "message"

// Events returns the run as canonical events, in recorded order: one trace and one
// session with the run's ID, whose events are numbered from 0 in their own IDs.
// They count as observed and claim no time, since none was recorded. Arguments and
// results are canonical JSON, a result being the JSON string of its text; what
// cannot be canonical (arguments nested too deep, say) is malformed, with the
// digest of the recorded bytes. The events are new on every call and the caller's.
//
// Nothing but the run's ID, in ids and names, tells attacked runs from benign ones.
func (r *Run) Events() []*schema.Event {
	out := make([]*schema.Event, len(r.Steps))
	for i := range r.Steps {
		ev := &schema.Event{
			ID: r.ID + "/" + strconv.Itoa(i), Tenant: Tenant, Trace: r.ID, SessionID: r.ID,
			Vantage: schema.Observed, CallID: r.Steps[i].CallID, Tool: r.Steps[i].Tool,
			Labels: map[string]string{"suite": r.Suite},
		}
		r.Steps[i].fill(ev)
		out[i] = ev
	}
	return out
}

// fill adds what depends on the kind of step.
func (s *Step) fill(ev *schema.Event) {
	switch s.Kind {
	case StepMessage:
		ev.Kind, ev.Actor, ev.Text, ev.Tool = schema.KindMessage, actor(s.Role), s.Text, MessageTool
	case StepCall:
		ev.Kind, ev.Actor, ev.Issuer = schema.KindCall, actor(s.Role), schema.IssuerModel
		ev.Args = s.arguments()
	case StepResult:
		ev.Kind, ev.Actor = schema.KindResult, schema.Actor{ID: "tool", Class: schema.ClassTool}
		ev.Tool = or(s.Tool, MessageTool)
		if s.Error != "" {
			ev.Status = schema.ResultError
		}
		ev.Result = text(or(s.Error, s.Text))
	}
}

// arguments returns the canonical arguments of a call.
func (s *Step) arguments() schema.Payload {
	switch s.ArgsStatus {
	case schema.PayloadOK:
		return payload(s.Args)
	case schema.PayloadMalformed:
		return schema.Payload{Status: schema.PayloadMalformed, RawDigest: digest([]byte(s.Text))}
	case schema.PayloadAbsent, schema.PayloadWithheld:
		return schema.Payload{Status: s.ArgsStatus}
	}
	return schema.Payload{}
}

// payload canonicalises recorded JSON.
func payload(raw []byte) schema.Payload {
	canon, err := schema.Canonical(raw)
	if err != nil {
		return schema.Payload{Status: schema.PayloadMalformed, RawDigest: digest(raw)}
	}
	return schema.Payload{Status: schema.PayloadOK, Canon: canon, RawDigest: digest(raw)}
}

// text makes the payload of a result recorded as text: a JSON string.
func text(s string) schema.Payload {
	raw, err := json.Marshal(s)
	if err != nil {
		return schema.Payload{Status: schema.PayloadMalformed, RawDigest: digest([]byte(s))}
	}
	return payload(raw)
}

func digest(raw []byte) []byte {
	sum := sha256.Sum256(raw)
	return sum[:]
}

// actor maps a recorded role to a principal. A role outside the format is the
// environment's, the weakest that is not the agent's own.
func actor(role string) schema.Actor {
	switch role {
	case "system":
		return schema.Actor{ID: role, Class: schema.ClassSystem}
	case "user":
		return schema.Actor{ID: role, Class: schema.ClassUser}
	case "assistant":
		return schema.Actor{ID: "agent", Class: schema.ClassAgent}
	}
	return schema.Actor{ID: "environment", Class: schema.ClassEnv}
}
