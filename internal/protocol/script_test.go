package protocol

import (
	"fmt"
	"sort"
	"strconv"
	"strings"
	"testing"

	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

const second = int64(1_000_000_000)

func number(t *testing.T, s string) int64 {
	t.Helper()
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// event builds the record of a script line.
func (p *player) event(cmd string, names []string, opts map[string]string) *schema.Event {
	p.t.Helper()
	arg := func(i int) string {
		if i < len(names) {
			return names[i]
		}
		return ""
	}
	switch cmd {
	case "policy":
		n := uint64(number(p.t, arg(0)))
		digest := "bundle " + arg(0)
		if d, ok := opts["bundle"]; ok {
			digest = "bundle " + d
		}
		return &schema.Event{ID: "policy/" + arg(0), Kind: schema.KindPolicy, Activation: &schema.Activation{Number: n, Digest: []byte(digest)}}
	case "tick":
		n := uint64(number(p.t, arg(0)))
		return &schema.Event{ID: "tick/" + arg(0), Kind: schema.KindTick, Tick: &schema.Tick{N: n, Time: number(p.t, arg(1)) * second}}
	}
	ev := p.traced(arg(0), arg(1), opts)
	switch cmd {
	case "session":
		ev.Kind, ev.CallID, ev.Session = schema.KindSession, "", &schema.SessionMark{End: arg(1) == "end"}
	case "call":
		ev.Kind, ev.Digest = schema.KindCall, []byte(ev.CallID+" "+opts["args"])
		if d, ok := opts["deadline"]; ok {
			ev.Deadline = number(p.t, d) * second
		}
	case "result":
		ev.Kind = schema.KindResult
	case "message":
		ev.Kind, ev.CallID = schema.KindMessage, ""
	case "observation":
		ev.Kind, ev.CallID = schema.KindObservation, ""
	case "grant":
		ev.Kind, ev.CallID, ev.Grant = schema.KindGrant, "", &schema.Grant{}
		if c, ok := opts["for"]; ok {
			ev.Grant.CallDigest = []byte(c + " ")
		}
	case "withdrawn":
		ev.Kind = schema.KindWithdrawn
	default:
		p.resolution(ev, cmd, opts)
	}
	return ev
}

// traced is a record of a session, by default the trace too. A producer numbers its
// records unless the script does.
func (p *player) traced(session, call string, opts map[string]string) *schema.Event {
	ev := &schema.Event{
		Tenant: "acme", Trace: session, SessionID: session, CallID: call, ID: fmt.Sprintf("r%d", p.offset+1),
		Actor: schema.Actor{ID: "agent of " + session, Class: schema.ClassAgent},
	}
	if v, ok := opts["id"]; ok {
		ev.ID = v
	}
	if v, ok := opts["trace"]; ok {
		ev.Trace = v
	}
	if v, ok := opts["actor"]; ok {
		ev.Actor.ID = v
	}
	if v, ok := opts["at"]; ok {
		ev.ClaimedTS = number(p.t, v) * second
	}
	if v, ok := opts["by"]; ok {
		ev.Producer, ev.Incarnation = v, 1
		name, inc, found := strings.Cut(v, ".")
		if found {
			ev.Producer, ev.Incarnation = name, uint64(number(p.t, inc))
		}
		p.seqs[v]++
		if n, ok := opts["n"]; ok {
			p.seqs[v] = uint64(number(p.t, n))
		}
		ev.Seq = p.seqs[v]
	}
	return ev
}

// resolution makes ev a resolution of the call's attempt: the last one, or that
// opened at the offset given by `of`.
func (p *player) resolution(ev *schema.Event, cmd string, opts map[string]string) {
	p.t.Helper()
	outcome, ok := map[string]schema.SettledAs{
		"permit": schema.SettledPermit, "refuse": schema.SettledRefuse, "redirect": schema.SettledRedirect,
		"hold": schema.SettledHold, "escalate": schema.SettledEscalate, "expired": schema.SettledExpired,
	}[cmd]
	if !ok {
		p.t.Fatalf("no command %q", cmd)
	}
	r := &schema.Resolution{CallID: ev.CallID, Outcome: outcome, Reason: verdict.Violation, Writer: "composer"}
	if c := p.part.Lookup(TraceID{ev.Tenant, ev.Trace}, ev.SessionID, ev.CallID); c != nil {
		r.Attempt, r.CallDigest = c.Attempt, c.Digest
		r.Attempt.CallID = c.ID
	}
	if v, ok := opts["of"]; ok {
		r.Attempt.Opening = uint64(number(p.t, v))
	}
	if v, ok := opts["args"]; ok {
		r.CallDigest = []byte(ev.CallID + " " + v)
	}
	if v, ok := opts["awaits"]; ok {
		r.Awaits = strings.Split(v, ",")
	}
	ev.Kind, ev.Resolution = schema.KindResolution, r
}

func sortedCalls(t *trace) []*Call {
	var list []*Call
	for _, c := range t.calls {
		list = append(list, c)
	}
	sort.Slice(list, func(i, j int) bool { return list[i].Offset < list[j].Offset })
	return list
}

// effectText prints an effect: what, of which call or record, and where.
func effectText(e *Effect) string {
	var b strings.Builder
	b.WriteString(e.Kind.String())
	if e.Call != nil {
		b.WriteString(" " + e.Call.CallID)
	}
	switch e.Kind {
	case Opened:
		fmt.Fprintf(&b, " as attempt %d, %s", e.Attempt.Opening, placeText(e))
		if e.Distrusted {
			b.WriteString(", distrusted")
		}
		if len(e.Policy) > 0 && string(e.Policy) != "bundle 1" {
			fmt.Fprintf(&b, ", under %s", e.Policy)
		}
	case Adopted, Stepped:
		fmt.Fprintf(&b, " record %d as %s", e.Offset, placeText(e))
	case Closed, Dropped:
		fmt.Fprintf(&b, " attempt %d", e.Attempt.Opening)
	case Settled, Interim:
		fmt.Fprintf(&b, " as %s", e.Resolution.Outcome)
		if e.Resolution.Writer == "" {
			fmt.Fprintf(&b, " by the log, %s: %s", e.Resolution.Reason, e.Resolution.Detail)
		}
	case Voided, Violated:
		b.WriteString(": " + e.Detail)
	case Repeated:
		fmt.Fprintf(&b, ", claimed by %s", e.Call.Claim)
	case Finished:
		fmt.Fprintf(&b, ", %s", e.Call.Status)
	case Advanced:
		fmt.Fprintf(&b, " to %ds", e.Timestamp/second)
	case Activated:
		fmt.Fprintf(&b, " number %d, %s", e.Activation.Number, e.Activation.Digest)
	case Evicted:
		b.WriteString(" " + e.Trace.Trace)
	}
	return b.String()
}

func placeText(e *Effect) string {
	return fmt.Sprintf("time point %d, %ds, %s", e.TimePoint, e.Timestamp/second, e.Evidence)
}
