package protocol

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sort"

	"github.com/vmihailenco/msgpack/v5"

	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// stateVersion is written first in an encoded partition.
const stateVersion = 4

// ErrState is returned by Restore for bytes that are not a state of this version.
var ErrState = errors.New("protocol: not a partition state of this version")

type stateRecord struct {
	_msgpack struct{} `msgpack:",as_array"` //nolint:unused // read by the encoder

	Version    int
	ID         uint32
	Next       uint64
	Genesis    bool
	Lost       bool
	Evicted    bool
	EvictedAt  int64
	TickN      uint64
	TickTime   int64
	Policy     policyRecord
	Producers  []producerRecord
	Distrusted []distrustRecord
	Crowded    []string
	Calls      []callRecord
	Traces     []traceRecord
	Unresolved []int
	Unfinished []int
}

type policyRecord struct {
	_msgpack struct{} `msgpack:",as_array"` //nolint:unused // read by the encoder

	Number   uint64
	Digest   []byte
	Name     string
	Revision int64
	Blocking verdict.BlockingSet
	Until    int64
	Reason   string
	At       uint64
}

type producerRecord struct {
	_msgpack struct{} `msgpack:",as_array"` //nolint:unused // read by the encoder

	Name    string
	Number  uint64
	Last    uint64
	Missing []uint64
	Heard   int64
}

type distrustRecord struct {
	_msgpack struct{} `msgpack:",as_array"` //nolint:unused // read by the encoder

	Tenant, ID, Why string
}

type callRecord struct {
	_msgpack struct{} `msgpack:",as_array"` //nolint:unused // read by the encoder

	Event               []byte
	Offset              uint64
	ID, Session, CallID string
	Principal           string
	Digest              []byte
	Status              CallStatus
	Partition           uint32
	Opening             uint64
	Deadline            int64
	SettledAt           uint64
	SettledTime         int64
	Claim               string
	TimePoint           uint64
	Timestamp           int64
	Evidence            verdict.Completeness
	Weakened            int64
	Distrusted          bool
	Observe             bool
	Awaits              []string
	Escalated, Ready    bool
}

type queueRecord struct {
	_msgpack struct{} `msgpack:",as_array"` //nolint:unused // read by the encoder

	Event  []byte
	Offset uint64
	Call   int // index into Calls, or -1
}

type traceRecord struct {
	_msgpack struct{} `msgpack:",as_array"` //nolint:unused // read by the encoder

	Tenant, Trace string
	Next          uint64
	Last          int64
	Evidence      verdict.Completeness
	Weakened      int64
	Writers       []string
	Active        int64
	Session       bool
	Ended         bool
	Ends          []string
	Lapsed        bool
	Partial       bool
	Open          int // index into Calls, or -1
	Held          []int
	Queue         []queueRecord
	Known         []int // indices into Calls, oldest first
}

// AppendState appends the state in a deterministic encoding: equal states have
// equal bytes. The cost is linear in the state.
func (p *Partition) AppendState(dst []byte) ([]byte, error) {
	e := stateEncoder{index: map[*Call]int{}}
	rec := stateRecord{
		Version: stateVersion, ID: p.id, Next: p.next, Genesis: p.genesis, Lost: p.lost, Evicted: p.evicted,
		EvictedAt: p.evictedAt, TickN: p.tick.N, TickTime: p.tick.Time,
		Policy: policyRecord{
			Number: p.policy.Number, Digest: p.policy.Digest, Name: p.policy.Name,
			Revision: p.policy.Revision, Blocking: p.policy.Blocking, Until: p.policy.ObserveUntil, Reason: p.policy.Reason,
			At: p.policyAt,
		},
		Producers: p.producerRecords(), Distrusted: p.distrustRecords(), Crowded: slices.Sorted(maps.Keys(p.crowded)),
	}
	for _, t := range p.sortedTraces() {
		rec.Traces = append(rec.Traces, e.trace(t))
	}
	rec.Unresolved, rec.Unfinished = e.calls(p.unresolved), e.calls(p.unfinished)
	rec.Calls = e.records
	if e.err != nil {
		return dst, e.err
	}
	buf := bytes.NewBuffer(dst)
	enc := msgpack.NewEncoder(buf)
	enc.UseCompactInts(true)
	if err := enc.Encode(&rec); err != nil {
		return dst, fmt.Errorf("protocol: encoding the state: %w", err)
	}
	return buf.Bytes(), nil
}

func (p *Partition) producerRecords() []producerRecord {
	var out []producerRecord
	for name, list := range p.producers {
		for _, inc := range list {
			out = append(out, producerRecord{Name: name, Number: inc.number, Last: inc.last, Missing: inc.missing, Heard: inc.heard})
		}
	}
	sort.Slice(out, func(i, j int) bool {
		if out[i].Name != out[j].Name {
			return out[i].Name < out[j].Name
		}
		return out[i].Number < out[j].Number
	})
	return out
}

func (p *Partition) distrustRecords() []distrustRecord {
	var out []distrustRecord
	for k, why := range p.distrusted {
		out = append(out, distrustRecord{Tenant: k.tenant, ID: k.id, Why: why})
	}
	sort.Slice(out, func(i, j int) bool {
		if out[i].Tenant != out[j].Tenant {
			return out[i].Tenant < out[j].Tenant
		}
		return out[i].ID < out[j].ID
	})
	return out
}

// stateEncoder numbers calls in the order in which traces mention them.
type stateEncoder struct {
	index   map[*Call]int
	records []callRecord
	err     error
}

func (e *stateEncoder) event(ev *schema.Event) []byte {
	if ev == nil {
		return nil
	}
	b, err := ev.AppendBinary(nil)
	if err != nil && e.err == nil {
		e.err = fmt.Errorf("protocol: encoding the state: %w", err)
	}
	return b
}

func (e *stateEncoder) call(c *Call) int {
	if c == nil {
		return -1
	}
	if i, ok := e.index[c]; ok {
		return i
	}
	i := len(e.records)
	e.index[c] = i
	e.records = append(e.records, callRecord{
		Event: e.event(c.Event), Offset: c.Offset, ID: c.ID, Session: c.Session, CallID: c.CallID, Principal: c.principal,
		Digest: c.Digest, Status: c.Status, Partition: c.Attempt.Partition, Opening: c.Attempt.Opening,
		Deadline: c.Deadline, SettledAt: c.SettledAt, SettledTime: c.SettledTime, Claim: c.Claim,
		TimePoint: c.timePoint, Timestamp: c.timestamp, Evidence: c.evidence, Weakened: c.weakened, Distrusted: c.distrusted,
		Observe: c.observe,
		Awaits:  c.awaits, Escalated: c.escalated, Ready: c.ready,
	})
	return i
}

func (e *stateEncoder) calls(list []*Call) []int {
	var out []int
	for _, c := range list {
		out = append(out, e.call(c))
	}
	return out
}

func (e *stateEncoder) trace(t *trace) traceRecord {
	r := traceRecord{
		Tenant: t.id.Tenant, Trace: t.id.Trace, Next: t.next, Last: t.last, Evidence: t.evidence, Weakened: t.weakened,
		Writers: t.writers, Active: t.active, Session: t.session, Ended: t.ended, Partial: t.partial,
		Ends: t.ends, Lapsed: t.lapsed,
		Open: e.call(t.open), Held: e.calls(t.held),
	}
	for _, q := range t.queue {
		rec := queueRecord{Offset: q.offset, Call: e.call(q.call)}
		if q.call == nil {
			rec.Event = e.event(q.event)
		}
		r.Queue = append(r.Queue, rec)
	}
	for _, k := range t.known {
		r.Known = append(r.Known, e.call(t.calls[k]))
	}
	return r
}
