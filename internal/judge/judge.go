// Package judge folds one partition for one aspect: it runs the log protocol,
// keeps a monitor per trace, and yields a part verdict for every attempt that
// opens. It is a pure state machine; aspect workers, replays and simulations all
// drive this one.
package judge

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"sort"

	"github.com/vmihailenco/msgpack/v5"

	"github.com/aspis-rv/aspis/internal/protocol"
	"github.com/aspis-rv/aspis/pkg/aspects"
	"github.com/aspis-rv/aspis/pkg/policy"
	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// Config is what a judge needs besides the log.
type Config struct {
	Bundle *policy.Bundle
	Engine aspects.Engine
	Rules  protocol.Rules
	// Recorded says that the events are recorded or written by hand, where results are often
	// left out: a call that never gets one has had its effects, instead of leaving them in doubt.
	Recorded bool
}

// Judge is the state of one aspect over one partition. It is owned by one goroutine.
type Judge struct {
	cfg      Config
	part     *protocol.Partition
	monitors map[protocol.TraceID]aspects.Monitor
	doubts   map[protocol.TraceID]*doubts
	// asked is, for each trace with an open attempt, what was uncertain when that opened: an outcome may
	// become unknown while it is open, and it is judged again after a restart (rule 7).
	asked map[protocol.TraceID][]aspects.Uncertain
	// ends are the calls of a trace that ended without a result while an attempt was
	// open: its monitor hears of them when the attempt is over, for the same reason.
	ends map[protocol.TraceID][]aspects.Ended
	// foreign is set while the log's active policy is not the loaded one: nothing is
	// judged then, so that calls end as unavailable rather than wrongly judged.
	foreign bool
	folding schema.Kind // of the record that is being folded
	out     []*schema.Verdict
}

// New returns the judge of a partition before its first record.
func New(partition uint32, cfg Config) *Judge {
	return &Judge{
		cfg: cfg, part: protocol.New(partition, cfg.Rules),
		monitors: map[protocol.TraceID]aspects.Monitor{}, doubts: map[protocol.TraceID]*doubts{},
		asked: map[protocol.TraceID][]aspects.Uncertain{}, ends: map[protocol.TraceID][]aspects.Ended{},
	}
}

// SnapshotKey is the key under which a worker of an aspect stores the snapshot of a
// partition.
func SnapshotKey(k aspects.Kind, partition uint32) string {
	return fmt.Sprintf("judge.%s.%d", k, partition)
}

// Next returns the offset after the last folded record.
func (j *Judge) Next() uint64 { return j.part.Next() }

// Foreign reports whether the active policy of the log is another than the loaded
// one, and its digest.
func (j *Judge) Foreign() (digest []byte, foreign bool) {
	return j.part.Policy().Digest, j.foreign
}

// Step folds the record at offset and returns the verdicts on the attempts that it
// opened, in order. The slice is valid until the next Step; the verdicts stay valid.
func (j *Judge) Step(offset uint64, ev *schema.Event) []*schema.Verdict {
	j.out, j.folding = j.out[:0], ev.Kind
	for _, e := range j.part.Step(offset, ev) {
		j.apply(&e)
	}
	return j.out
}

func (j *Judge) apply(e *protocol.Effect) {
	switch e.Kind {
	case protocol.Opened:
		j.asked[e.Trace] = j.doubts[e.Trace].list()
		if v := j.judge(e); v != nil {
			j.out = append(j.out, v)
		}
	case protocol.Closed, protocol.Dropped:
		j.over(e.Trace)
	case protocol.Adopted, protocol.Stepped:
		in, typing := j.input(e)
		j.monitor(e.Trace).Adopt(in)
		j.over(e.Trace)
		j.remember(e, &typing)
	case protocol.Evicted:
		delete(j.monitors, e.Trace)
		delete(j.doubts, e.Trace)
		delete(j.ends, e.Trace)
	case protocol.Activated:
		j.activate(e.Activation)
	case protocol.Finished:
		j.finished(e)
	case protocol.Advanced, protocol.Settled, protocol.Interim,
		protocol.Voided, protocol.Repeated, protocol.Violated:
	}
}

// activate starts all monitors afresh when the policy changed: the protocol has
// marked their traces incomplete (rule 19).
func (j *Judge) activate(a *schema.Activation) {
	foreign := !bytes.Equal(a.Digest, j.cfg.Bundle.Digest[:])
	if a.Number > 1 && (foreign || j.foreign) {
		clear(j.monitors)
		clear(j.doubts)
		clear(j.ends)
	}
	j.foreign = foreign
}

func (j *Judge) monitor(id protocol.TraceID) aspects.Monitor {
	m := j.monitors[id]
	if m == nil {
		m = j.cfg.Engine.New()
		j.monitors[id] = m
	}
	return m
}

// input types the event of an effect. A result is typed with its call at hand.
func (j *Judge) input(e *protocol.Effect) (aspects.Input, policy.Typing) {
	var typing policy.Typing
	if e.Event.Kind == schema.KindResult && e.Proposed != nil {
		typing = j.cfg.Bundle.TypeResult(e.Proposed, e.Event, e.Observe)
	} else {
		typing = j.cfg.Bundle.Type(e.Event, e.Observe)
	}
	in := aspects.Input{
		TimePoint: e.TimePoint, Timestamp: e.Timestamp, Offset: e.Offset, Event: e.Event,
		Facts: typing.Facts, Evidence: e.Evidence, Weakened: e.Weakened, Uncertain: j.doubts[e.Trace].list(),
		Edits: typing.Edits, Documents: typing.Documents,
	}
	if j.cfg.Bundle.World != nil {
		in.Call, in.Ended = callOf(e), endedBy(e)
	}
	return in, typing
}

func (j *Judge) judge(e *protocol.Effect) *schema.Verdict {
	if j.foreign {
		return nil
	}
	in, _ := j.input(e)
	in.Uncertain = j.asked[e.Trace]
	m := j.monitors[e.Trace]
	if m == nil {
		m = j.cfg.Engine.New() // not kept: a call that is refused leaves no monitor behind
	}
	v := &schema.Verdict{
		Tenant: e.Trace.Tenant, Trace: e.Trace.Trace, Attempt: e.Attempt,
		Aspect: string(j.cfg.Engine.Kind()), Policy: j.cfg.Bundle.Digest[:],
		TimePoint: e.TimePoint, Timestamp: e.Timestamp,
		Parts: m.Judge(in),
	}
	for i := range v.Parts {
		v.Completeness = verdict.Worse(v.Completeness, v.Parts[i].Completeness)
	}
	v.Canonicalize()
	return v
}

// Pending returns the verdicts on the attempts that are open, in log order: what a
// worker publishes again after it was restored, in case they were lost.
func (j *Judge) Pending() []*schema.Verdict {
	var out []*schema.Verdict
	j.part.Opened(func(e *protocol.Effect) {
		if v := j.judge(e); v != nil {
			out = append(out, v)
		}
	})
	return out
}

// StateHash is the SHA-256 of the committed states of the partition's traces: their
// monitors, and of which relations some fact is unknown. It does not depend on which
// calls are pending, or were refused.
func (j *Judge) StateHash() [32]byte {
	h := sha256.New()
	for _, id := range j.sortedTraces() {
		state := j.monitors[id].AppendState(nil)
		_, _ = fmt.Fprintf(h, "%d:%s%d:%s%d:", len(id.Tenant), id.Tenant, len(id.Trace), id.Trace, len(state))
		h.Write(state)
		if d := j.doubts[id]; d != nil {
			_, _ = fmt.Fprintf(h, "%v%v", d.facts, d.calls)
		}
	}
	return [32]byte(h.Sum(nil))
}

// Monitors calls yield for every trace that has a monitor, in order of tenant and trace. The
// monitors stay the judge's: they are only looked at.
func (j *Judge) Monitors(yield func(protocol.TraceID, aspects.Monitor) bool) {
	for _, id := range j.sortedTraces() {
		if !yield(id, j.monitors[id]) {
			return
		}
	}
}

func (j *Judge) sortedTraces() []protocol.TraceID {
	ids := make([]protocol.TraceID, 0, len(j.monitors))
	for id := range j.monitors {
		ids = append(ids, id)
	}
	sort.Slice(ids, func(a, b int) bool {
		if ids[a].Tenant != ids[b].Tenant {
			return ids[a].Tenant < ids[b].Tenant
		}
		return ids[a].Trace < ids[b].Trace
	})
	return ids
}

// ErrState is returned by Restore for bytes that are not a state of this version,
// aspect and policy.
var ErrState = errors.New("judge: not a state of this version, aspect and policy")

const stateVersion = 4

type stateRecord struct {
	_msgpack struct{} `msgpack:",as_array"` //nolint:unused // read by the encoder

	Version  int
	Aspect   string
	Policy   []byte
	Foreign  bool
	Protocol []byte
	Monitors []monitorRecord
	Asked    []askedRecord
	Ends     []endRecord
}

// askedRecord is what was uncertain when an attempt opened. Attempts without any are left out.
type askedRecord struct {
	_msgpack struct{} `msgpack:",as_array"` //nolint:unused // read by the encoder

	Tenant, Trace string
	Facts         []factRecord
}

type monitorRecord struct {
	_msgpack struct{} `msgpack:",as_array"` //nolint:unused // read by the encoder

	Tenant, Trace string
	State         []byte
	Facts         []factRecord
	Calls         []callRecord
}

// AppendState appends the state in a deterministic encoding: a snapshot of the
// partition as of Next. Pending attempts are part of it; their shadows are not,
// since judging leaves the committed state as it was (rule 21).
func (j *Judge) AppendState(dst []byte) ([]byte, error) {
	fold, err := j.part.AppendState(nil)
	if err != nil {
		return dst, err
	}
	rec := stateRecord{
		Version: stateVersion, Aspect: string(j.cfg.Engine.Kind()), Policy: j.cfg.Bundle.Digest[:],
		Foreign: j.foreign, Protocol: fold,
	}
	for _, id := range j.sortedTraces() {
		m := monitorRecord{Tenant: id.Tenant, Trace: id.Trace, State: j.monitors[id].AppendState(nil)}
		m.Facts, m.Calls = j.doubts[id].records()
		rec.Monitors = append(rec.Monitors, m)
	}
	rec.Asked, rec.Ends = j.askedRecords(), j.endRecords()
	buf := bytes.NewBuffer(dst)
	enc := msgpack.NewEncoder(buf)
	enc.UseCompactInts(true)
	if err := enc.Encode(&rec); err != nil {
		return dst, fmt.Errorf("judge: encoding the state: %w", err)
	}
	return buf.Bytes(), nil
}

// Restore returns the judge whose AppendState gave b. It fails with ErrState when
// b belongs to another version, aspect or policy; the caller then folds the log.
func Restore(b []byte, cfg Config) (*Judge, error) {
	var rec stateRecord
	if err := msgpack.Unmarshal(b, &rec); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrState, err)
	}
	if rec.Version != stateVersion || rec.Aspect != string(cfg.Engine.Kind()) || !bytes.Equal(rec.Policy, cfg.Bundle.Digest[:]) {
		return nil, ErrState
	}
	part, err := protocol.Restore(rec.Protocol, cfg.Rules)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrState, err)
	}
	j := &Judge{
		cfg: cfg, part: part, foreign: rec.Foreign, doubts: map[protocol.TraceID]*doubts{},
		asked: map[protocol.TraceID][]aspects.Uncertain{}, ends: restoreEnds(rec.Ends),
		monitors: make(map[protocol.TraceID]aspects.Monitor, len(rec.Monitors)),
	}
	for _, m := range rec.Monitors {
		mon, err := cfg.Engine.Restore(m.State)
		if err != nil {
			return nil, fmt.Errorf("%w: trace %q: %w", ErrState, m.Trace, err)
		}
		id := protocol.TraceID{Tenant: m.Tenant, Trace: m.Trace}
		j.monitors[id] = mon
		if d := restoreDoubts(m.Facts, m.Calls); d != nil {
			j.doubts[id] = d
		}
	}
	for _, r := range rec.Asked {
		j.asked[protocol.TraceID{Tenant: r.Tenant, Trace: r.Trace}] = restoreDoubts(r.Facts, nil).list()
	}
	part.Opened(func(e *protocol.Effect) {
		if _, ok := j.asked[e.Trace]; !ok {
			j.asked[e.Trace] = nil
		}
	})
	return j, nil
}
