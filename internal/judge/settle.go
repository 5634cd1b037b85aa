package judge

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/aspis-rv/aspis/internal/protocol"
	"github.com/aspis-rv/aspis/pkg/aspects"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// callOf is the name under which a monitor keeps the effects of a call: the offset of
// its record, which nobody can choose. It is empty for events that are no calls.
func callOf(e *protocol.Effect) string {
	if e.Event.Kind != schema.KindCall {
		return ""
	}
	return strconv.FormatUint(e.Offset, 10)
}

// endedBy says which call a result ends, and how.
func endedBy(e *protocol.Effect) aspects.Ended {
	if e.Event.Kind != schema.KindResult || e.Call == nil {
		return aspects.Ended{}
	}
	end := aspects.Ended{Call: strconv.FormatUint(e.Call.Offset, 10)}
	switch e.Event.Status {
	case schema.ResultOK:
		end.Outcome = aspects.EffectsStay
	case schema.ResultError:
		end.Outcome = aspects.EffectsGo
	case schema.ResultUnknown:
		end.Outcome = aspects.EffectsDoubt
	}
	return end
}

// settle tells the monitor of a call that ended without a result, at once or, so that an
// open attempt is judged on one state however often, when the attempt is over.
func (j *Judge) settle(e *protocol.Effect) {
	var end aspects.Ended
	switch e.Outcome {
	case protocol.CallWithdrawn:
		end.Outcome = aspects.EffectsGo
	case protocol.CallUnknown:
		end.Outcome = aspects.EffectsDoubt
		if j.cfg.Recorded && j.folding == schema.KindTick { // not by a result that says so
			end.Outcome = aspects.EffectsStay
		}
	case protocol.CallQueued, protocol.CallOpen, protocol.CallHeld, protocol.CallPermitted, protocol.CallDone,
		protocol.CallRefused, protocol.CallExpired:
		return
	}
	if _, ok := j.monitors[e.Trace].(aspects.Settler); !ok || j.cfg.Bundle.World == nil {
		return
	}
	end.Call = strconv.FormatUint(e.Offset, 10)
	j.ends[e.Trace] = append(j.ends[e.Trace], end)
	if _, open := j.asked[e.Trace]; !open {
		j.over(e.Trace)
	}
}

// over ends the time of a trace's open attempt.
func (j *Judge) over(id protocol.TraceID) {
	delete(j.asked, id)
	ends := j.ends[id]
	if len(ends) == 0 {
		return
	}
	delete(j.ends, id)
	m, ok := j.monitors[id].(aspects.Settler)
	for _, end := range ends {
		if ok {
			m.Settle(end)
		}
	}
}

// endRecord is a call whose end the monitor has not heard of.
type endRecord struct {
	_msgpack struct{} `msgpack:",as_array"` //nolint:unused // read by the encoder

	Tenant, Trace string
	Call          string
	Outcome       uint8
}

func (j *Judge) endRecords() []endRecord {
	var out []endRecord
	for id, ends := range j.ends {
		for _, end := range ends {
			out = append(out, endRecord{Tenant: id.Tenant, Trace: id.Trace, Call: end.Call, Outcome: uint8(end.Outcome)})
		}
	}
	slices.SortStableFunc(out, func(a, b endRecord) int {
		return cmp.Or(cmp.Compare(a.Tenant, b.Tenant), cmp.Compare(a.Trace, b.Trace))
	})
	return out
}

func restoreEnds(records []endRecord) map[protocol.TraceID][]aspects.Ended {
	out := map[protocol.TraceID][]aspects.Ended{}
	for _, r := range records {
		id := protocol.TraceID{Tenant: r.Tenant, Trace: r.Trace}
		out[id] = append(out[id], aspects.Ended{Call: r.Call, Outcome: aspects.Outcome(r.Outcome)})
	}
	return out
}
