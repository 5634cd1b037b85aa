package judge

import (
	"cmp"
	"slices"
	"strings"

	"github.com/aspis-rv/aspis/internal/protocol"
	"github.com/aspis-rv/aspis/pkg/aspects"
	"github.com/aspis-rv/aspis/pkg/policy"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// doubts are the facts of a trace's history that are unknown.
type doubts struct {
	// facts are sorted by relation: the latest unknown one of each, and behind it the latest
	// degraded one if that is later.
	facts []aspects.Uncertain
	calls []openOutcome // permitted calls whose outcome is unknown, oldest first
}

// openOutcome is a call of which nobody knows whether its result would have supplied
// facts of the relations.
type openOutcome struct {
	call      string // id of the call record
	at        int64  // log time at which its outcome became unknown
	relations []string
}

// maxOpenOutcomes bounds the calls remembered per trace so that a late result can
// settle the doubt. The doubt of an older one stays until no formula reaches back to
// it; a session with so many lost results has lost its harness.
const maxOpenOutcomes = 64

// add notes that a fact is unknown, or degraded. Of two facts of a relation the later matters,
// unless it is degraded and the other one is not.
func (d *doubts) add(u aspects.Uncertain) {
	covers := func(a, b aspects.Uncertain) bool {
		return a.Relation == b.Relation && a.At >= b.At && (b.Degraded || !a.Degraded)
	}
	if slices.ContainsFunc(d.facts, func(f aspects.Uncertain) bool { return covers(f, u) }) {
		return
	}
	d.facts = slices.DeleteFunc(d.facts, func(f aspects.Uncertain) bool { return covers(u, f) })
	i, _ := slices.BinarySearchFunc(d.facts, u, func(f, u aspects.Uncertain) int {
		return cmp.Or(strings.Compare(f.Relation, u.Relation), cmp.Compare(u.Completeness(), f.Completeness()))
	})
	d.facts = slices.Insert(d.facts, i, u)
}

// list is what a monitor is told; it shares no memory with d. d may be nil.
func (d *doubts) list() []aspects.Uncertain {
	if d == nil || len(d.facts) == 0 && len(d.calls) == 0 {
		return nil
	}
	all := doubts{facts: slices.Clone(d.facts)}
	for _, c := range d.calls {
		for _, r := range c.relations {
			all.add(aspects.Uncertain{Relation: r, At: c.at})
		}
	}
	return all.facts
}

func (j *Judge) doubt(id protocol.TraceID) *doubts {
	d := j.doubts[id]
	if d == nil {
		d = &doubts{}
		j.doubts[id] = d
	}
	return d
}

// remember notes relations of which a fact is unknown from here on: the expression
// that would have made it failed on an adopted event, or its text was too long. A result with a known outcome
// settles the doubt about its call: an ok one supplied its facts, an error none.
func (j *Judge) remember(e *protocol.Effect, typing *policy.Typing) {
	if d := j.doubts[e.Trace]; d != nil && e.Call != nil && e.Event.Kind == schema.KindResult && e.Event.Status != schema.ResultUnknown {
		d.calls = slices.DeleteFunc(d.calls, func(c openOutcome) bool { return c.call == e.Call.ID })
		if len(d.calls) == 0 && len(d.facts) == 0 {
			delete(j.doubts, e.Trace)
		}
	}
	for _, r := range typing.Uncertain {
		j.doubt(e.Trace).add(aspects.Uncertain{Relation: r, At: e.Timestamp})
	}
	for _, r := range typing.Degraded {
		j.doubt(e.Trace).add(aspects.Uncertain{Relation: r, At: e.Timestamp, Degraded: true})
	}
}

// finished notes what the result of a call would have supplied, when its outcome is
// unknown.
func (j *Judge) finished(e *protocol.Effect) {
	j.settle(e)
	if e.Outcome != protocol.CallUnknown || e.Proposed == nil {
		return
	}
	relations := j.cfg.Bundle.ResultRelations(e.Proposed.Tool)
	if len(relations) == 0 {
		return
	}
	j.monitor(e.Trace) // doubts are stored with it
	d := j.doubt(e.Trace)
	d.calls = append(d.calls, openOutcome{call: e.Call.ID, at: e.Timestamp, relations: relations})
	if len(d.calls) > maxOpenOutcomes {
		for _, r := range d.calls[0].relations {
			d.add(aspects.Uncertain{Relation: r, At: d.calls[0].at})
		}
		d.calls = slices.Delete(d.calls, 0, 1)
	}
}

type factRecord struct {
	_msgpack struct{} `msgpack:",as_array"` //nolint:unused // read by the encoder

	Relation string
	At       int64
	Degraded bool
}

type callRecord struct {
	_msgpack struct{} `msgpack:",as_array"` //nolint:unused // read by the encoder

	Call      string
	At        int64
	Relations []string
}

func (d *doubts) records() (facts []factRecord, calls []callRecord) {
	if d == nil {
		return nil, nil
	}
	for _, f := range d.facts {
		facts = append(facts, factRecord{Relation: f.Relation, At: f.At, Degraded: f.Degraded})
	}
	for _, c := range d.calls {
		calls = append(calls, callRecord{Call: c.call, At: c.at, Relations: c.relations})
	}
	return facts, calls
}

// askedRecords lists, by trace, what was uncertain when the open attempts opened.
func (j *Judge) askedRecords() []askedRecord {
	var out []askedRecord
	j.part.Opened(func(e *protocol.Effect) {
		if list := j.asked[e.Trace]; len(list) > 0 {
			facts, _ := (&doubts{facts: list}).records()
			out = append(out, askedRecord{Tenant: e.Trace.Tenant, Trace: e.Trace.Trace, Facts: facts})
		}
	})
	return out
}

func restoreDoubts(facts []factRecord, calls []callRecord) *doubts {
	if len(facts) == 0 && len(calls) == 0 {
		return nil
	}
	d := &doubts{}
	for _, f := range facts {
		d.add(aspects.Uncertain{Relation: f.Relation, At: f.At, Degraded: f.Degraded})
	}
	for _, c := range calls {
		d.calls = append(d.calls, openOutcome{call: c.Call, at: c.At, relations: c.Relations})
	}
	return d
}
