package judge

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"testing"
	"testing/fstest"

	"github.com/aspis-rv/aspis/internal/protocol"
	"github.com/aspis-rv/aspis/pkg/aspects"
	"github.com/aspis-rv/aspis/pkg/policy"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// fake is an engine whose verdicts show everything that they may depend on: the
// state is a digest of all inputs adopted, and judging gives a row with a digest of
// state and input. Any difference in what a judge feeds it shows in the bytes.
type fake struct{ kind aspects.Kind }

type fakeMonitor struct{ state [32]byte }

var errFake = errors.New("not a state of the fake engine")

func (f fake) Kind() aspects.Kind { return f.kind }

func (f fake) New() aspects.Monitor { return &fakeMonitor{} }

func (f fake) Restore(state []byte) (aspects.Monitor, error) {
	if len(state) != 32 {
		return nil, errFake
	}
	return &fakeMonitor{state: [32]byte(state)}, nil
}

func (m *fakeMonitor) digest(in aspects.Input) [32]byte {
	return sha256.Sum256(fmt.Appendf(nil, "%x %d %d %d %s %s %v %v %s %s %v",
		m.state, in.TimePoint, in.Timestamp, in.Offset, in.Event.Kind, in.Event.CallID, in.Facts, in.Uncertain, in.Evidence,
		in.Call, in.Ended))
}

func (m *fakeMonitor) Judge(in aspects.Input) []schema.Part {
	sum := m.digest(in)
	return []schema.Part{{
		Clause: "C", Columns: []string{"digest"}, Completeness: in.Evidence,
		Rows: []schema.Row{{Values: []schema.Value{schema.StringValue(fmt.Sprintf("%x", sum))}, Witness: []uint64{in.Offset}}},
	}}
}

func (m *fakeMonitor) Adopt(in aspects.Input) { m.state = m.digest(in) }

func (m *fakeMonitor) Advance(int64) {}

func (m *fakeMonitor) Settle(end aspects.Ended) {
	m.state = sha256.Sum256(fmt.Appendf(nil, "%x %s %d", m.state, end.Call, end.Outcome))
}

func (m *fakeMonitor) AppendState(dst []byte) []byte { return append(dst, m.state[:]...) }

const second = int64(1_000_000_000)

func bundle(t *testing.T, revision int) *policy.Bundle {
	t.Helper()
	b, found := policy.LoadFS(fstest.MapFS{"policy.yaml": {Data: fmt.Appendf(nil, `policy: judged
revision: %d
trace: session
facts:
  sent: [to]
  known: [address]
  divided: [n:int]
tools:
  send: {args: {to: string}, facts: [sent(to)]}
  look: {args: {name: string}, facts: [{emit: 'known(name + result.address)', at: result}]}
  divide: {args: {n: int}, facts: [divided(10 / n)]}
clauses:
  C: {text: Nothing is sent., forbid: {temporal: 'sent(a)'}}
`, revision)}})
	if b == nil {
		t.Fatal(found)
	}
	return b
}

func config(b *policy.Bundle) Config {
	rules := protocol.DefaultRules()
	rules.IdleTTL, rules.EndedTTL, rules.ResultTTL, rules.QueueLimit = 60*second, 30*second, 20*second, 2
	return Config{Bundle: b, Engine: fake{aspects.Temporal}, Rules: rules}
}

// log builds records and gives them to judges.
type log struct {
	t      *testing.T
	offset uint64
	fold   *protocol.Partition // to name attempts
	rules  protocol.Rules
}

func newLog(t *testing.T, cfg Config) *log {
	t.Helper()
	return &log{t: t, fold: protocol.New(3, cfg.Rules), rules: cfg.Rules}
}

func (l *log) give(ev *schema.Event, judges ...*Judge) [][]*schema.Verdict {
	l.offset += 2
	if ev.ID == "" {
		ev.ID = fmt.Sprintf("r%d", l.offset)
	}
	ev.Position = schema.Position{Partition: 3, Offset: l.offset}
	l.fold.Step(l.offset, ev)
	var out [][]*schema.Verdict
	for _, j := range judges {
		var list []*schema.Verdict
		out = append(out, append(list, j.Step(l.offset, ev)...))
	}
	return out
}

func activation(n uint64, b *policy.Bundle) *schema.Event {
	return &schema.Event{Kind: schema.KindPolicy, Activation: &schema.Activation{Number: n, Digest: b.Digest[:]}}
}

func tick(n uint64, at int64) *schema.Event {
	return &schema.Event{Kind: schema.KindTick, Tick: &schema.Tick{N: n, Time: at * second}}
}

func record(k schema.Kind, session, call, tool, args string) *schema.Event {
	ev := &schema.Event{
		Kind: k, Tenant: "acme", Trace: session, SessionID: session, CallID: call, Tool: tool, ClaimedTS: 100 * second,
		Actor: schema.Actor{ID: "agent", Class: schema.ClassAgent},
	}
	switch k {
	case schema.KindCall:
		ev.Args = schema.Payload{Status: schema.PayloadOK, Canon: []byte(args)}
		ev.Digest = schema.CallDigest("acme", "agent", "", tool, nil, ev.Args.Canon)
		ev.Deadline = 110 * second
	case schema.KindResult:
		ev.Result = schema.Payload{Status: schema.PayloadOK, Canon: []byte(args)}
	case schema.KindGrant:
		ev.Grant = &schema.Grant{}
	case schema.KindSession:
		ev.Session = &schema.SessionMark{}
	case schema.KindMessage, schema.KindObservation, schema.KindResolution, schema.KindTick, schema.KindPolicy, schema.KindWithdrawn:
	}
	return ev
}

// resolution settles the last attempt of a call.
func (l *log) resolution(session, call string, as schema.SettledAs, awaits ...string) *schema.Event {
	ev := record(schema.KindResolution, session, call, "", "")
	ev.Resolution = &schema.Resolution{CallID: call, Outcome: as, Awaits: awaits}
	if c := l.fold.Lookup(protocol.TraceID{Tenant: "acme", Trace: session}, session, call); c != nil {
		ev.Resolution.Attempt, ev.Resolution.CallDigest = c.Attempt, c.Digest
	}
	return ev
}
