package schema

import (
	"fmt"
	"slices"

	"github.com/aspis-rv/aspis/pkg/verdict"
)

// body checks that exactly the body of the event's kind is there, and its content.
func (j *judge) body() {
	e := j.e
	j.match("resolution", e.Resolution != nil, KindResolution)
	j.match("tick", e.Tick != nil, KindTick)
	j.match("grant", e.Grant != nil, KindGrant)
	j.match("activation", e.Activation != nil, KindPolicy)
	j.match("session_mark", e.Session != nil, KindSession)
	if e.Resolution != nil {
		j.resolution(e.Resolution)
	}
	if e.Tick != nil {
		j.tick(e.Tick)
	}
	if e.Grant != nil {
		j.grant(e.Grant)
	}
	if e.Activation != nil {
		j.activation(e.Activation)
	}
}

func (j *judge) match(field string, present bool, kind Kind) {
	switch {
	case present && j.e.Kind != kind:
		j.only(field, true, kind)
	case !present && j.e.Kind == kind:
		j.add(field, "is missing", fmt.Sprintf("an event of kind %s carries it", kind))
	}
}

func (j *judge) resolution(r *Resolution) {
	j.need("resolution.call_id", r.CallID)
	if r.Attempt != (Attempt{}) {
		j.need("resolution.attempt.call_id", r.Attempt.CallID) // of the call's record, not the agent's own id
	}
	if j.e.CallID != "" && j.e.CallID != r.CallID {
		j.add("resolution.call_id", "differs from the event's call_id", "leave the event's out or make them equal")
	}
	j.closed("resolution.outcome", uint8(r.Outcome), uint8(SettledExpired))
	j.reason(r)
	j.name("resolution.clause", r.Clause)
	j.text("resolution.message", r.Message, MaxField)
	j.text("resolution.detail", r.Detail, MaxField)
	j.closed("resolution.value", uint8(r.Value), uint8(verdict.F))
	j.closed("resolution.completeness", uint8(r.Completeness), uint8(verdict.Unavailable))
	j.list("resolution.flags", r.Flags, MaxID)
	j.partRefs(r.Parts)
	j.list("resolution.missing", r.Missing, MaxID)
	j.size("resolution.policy", r.Policy, DigestSize)
	j.size("resolution.call_digest", r.CallDigest, DigestSize)
	j.list("resolution.awaits", r.Awaits, MaxID)
	if len(r.Awaits) > 0 && r.Outcome != SettledHold {
		j.add("resolution.awaits", fmt.Sprintf("an outcome of %s waits for nothing", r.Outcome), "leave it out")
	}
	j.name("resolution.writer", r.Writer)
	j.size("resolution.signature", r.Signature, SignatureSize)
}

// reason checks that a permit has no reason and everything else names a known one.
func (j *judge) reason(r *Resolution) {
	known := slices.Contains(verdict.Reasons(), r.Reason)
	switch r.Outcome {
	case SettledPermit:
		// One of observe mode says what it would have been refused for.
		if r.Reason != verdict.NotAdmitted && !slices.Contains(r.Flags, "observe") {
			j.add("resolution.reason", "a permit has a reason class", "leave it out")
		}
	case SettledRefuse, SettledExpired:
		if !known {
			j.add("resolution.reason", fmt.Sprintf("an outcome of %s names no known reason class", r.Outcome), "use one of verdict.Reasons")
		}
	case SettledRedirect, SettledHold, SettledEscalate:
		if !known && r.Reason != verdict.NotAdmitted {
			j.add("resolution.reason", fmt.Sprintf("%q is no reason class", clip([]byte(r.Reason))), "use one of verdict.Reasons")
		}
	}
}

func (j *judge) partRefs(parts []PartRef) {
	if len(parts) > MaxParts {
		j.add("resolution.parts", fmt.Sprintf("has %d elements, the limit is %d", len(parts), MaxParts), "")
		j.unencodable = true
		return
	}
	for i := range parts {
		at := fmt.Sprintf("resolution.parts[%d]", i)
		j.need(at+".aspect", parts[i].Aspect)
		j.size(at+".hash", parts[i].Hash, DigestSize)
		j.closed(at+".value", uint8(parts[i].Value), uint8(verdict.F))
	}
}

func (j *judge) tick(t *Tick) {
	if t.N == 0 {
		j.add("tick.n", "is missing", "ticks count from 1")
	}
	j.time("tick.time", t.Time)
	if len(t.Marks) > MaxList {
		j.add("tick.marks", fmt.Sprintf("has %d elements, the limit is %d", len(t.Marks), MaxList), "")
		return
	}
	for _, k := range sortedKeys(nil, t.Marks) {
		j.text(fmt.Sprintf("tick.marks[%+q]", clip([]byte(k))), k, 2*MaxID)
	}
}

func (j *judge) grant(g *Grant) {
	j.name("grant.revokes", g.Revokes)
	j.time("grant.not_before", g.NotBefore)
	j.size("grant.call_digest", g.CallDigest, DigestSize)
	if g.Revokes == "" && len(g.CallDigest) == 0 && j.e.Tool == "" {
		j.add("grant", "grants nothing", "name the tool whose fact is granted, the grant that is revoked, or the digest of the call that is approved")
	}
}

func (j *judge) activation(a *Activation) {
	if a.Number == 0 {
		j.add("activation.number", "is missing", "activations count from 1")
	}
	if len(a.Digest) != DigestSize {
		j.add("activation.digest", fmt.Sprintf("has %d bytes, want %d", len(a.Digest), DigestSize), "")
	}
	j.need("activation.name", a.Name)
	if a.Blocking != 0 && !a.Blocking.Enforces() {
		j.add("activation.blocking", "does not contain F", "observing is said by observe_until")
	}
	if a.Revision < 0 {
		j.add("activation.revision", "is negative", "revisions ascend from 0")
	}
}
