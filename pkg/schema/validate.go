package schema

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"unicode"
	"unicode/utf8"
)

// Validate checks an event by itself: that its body is the one of its kind, that
// the fields its kind needs are there and those it cannot have are not, that every
// field is within its limit, that names are free of control characters and all text
// is UTF-8, that payloads are canonical and that a call's deadline lies after its
// claimed time by at most MaxTimeout. It knows no policy and no history. The error
// is an *InvalidError with every problem, in the order of the JSON form, and wraps
// ErrInvalid. A valid event can be encoded in both forms.
//
// What is not required: ids that can be derived from the position (of a call
// without call_id), the principal's id in offline input, a deadline.
func (e *Event) Validate() error {
	j := judge{e: e}
	j.identity()
	j.actor()
	j.fields()
	j.payloads()
	j.body()
	if !j.unencodable {
		if _, err := e.AppendBinary(nil); err != nil {
			j.add("record", err.Error(), "")
		}
	}
	if len(j.problems) == 0 {
		return nil
	}
	return &InvalidError{Kind: e.Kind, Problems: j.problems}
}

// judge collects the problems of an event.
type judge struct {
	e           *Event
	problems    []Problem
	unencodable bool // and the reason is among the problems
}

func (j *judge) add(field, what, repair string) {
	j.problems = append(j.problems, Problem{Field: field, What: what, Repair: repair})
}

// closed checks an element of a closed set whose largest is last.
func (j *judge) closed(field string, v, last uint8) {
	if v > last {
		j.add(field, fmt.Sprintf("%d is outside the closed set (0 to %d)", v, last), "")
		j.unencodable = true
	}
}

// name checks an identifier: bounded, UTF-8, without control characters.
func (j *judge) name(field, v string) {
	if !j.text(field, v, MaxID) {
		return
	}
	for i, r := range v {
		if unicode.IsControl(r) {
			j.add(field, fmt.Sprintf("control character %U at byte %d", r, i), "remove it or escape it")
			return
		}
	}
}

// need checks an identifier that may not be empty.
func (j *judge) need(field, v string) {
	if v == "" {
		j.add(field, "is missing", fmt.Sprintf("an event of kind %s needs it", j.e.Kind))
		return
	}
	j.name(field, v)
}

// text checks free text: bounded and UTF-8.
func (j *judge) text(field, v string, most int) bool {
	switch {
	case len(v) > most:
		j.add(field, fmt.Sprintf("has %d bytes, the limit is %d", len(v), most), "pass large content by reference")
	case !utf8.ValidString(v):
		j.add(field, "is not valid UTF-8", "encode the text as UTF-8")
	default:
		return true
	}
	return false
}

// size checks the size of a digest or signature that may be left out.
func (j *judge) size(field string, v []byte, want int) {
	if len(v) != 0 && len(v) != want {
		j.add(field, fmt.Sprintf("has %d bytes, want %d", len(v), want), "")
	}
}

// time checks a time that may be left out.
func (j *judge) time(field string, ns int64) {
	if ns < 0 {
		j.add(field, fmt.Sprintf("%d ns is before 1970", ns), "write nanoseconds since the Unix epoch")
	}
}

// only says that a field does not belong to the event's kind, if that is known.
func (j *judge) only(field string, present bool, kinds ...Kind) {
	if present && j.e.Kind <= KindWithdrawn && !slices.Contains(kinds, j.e.Kind) {
		j.add(field, fmt.Sprintf("does not belong to an event of kind %s", j.e.Kind), "leave it out")
	}
}

// spoken reports whether the event is something that an actor did or said, as
// opposed to a record of the log's own.
func (k Kind) spoken() bool {
	switch k {
	case KindCall, KindResult, KindMessage, KindGrant, KindObservation, KindSession:
		return true
	case KindResolution, KindTick, KindPolicy, KindWithdrawn:
		return false
	}
	return false
}

func (j *judge) identity() {
	e := j.e
	if e.Kind.spoken() {
		j.need("id", e.ID)
	} else {
		j.name("id", e.ID)
	}
	if e.Kind == KindTick || e.Kind == KindPolicy { // of the whole partition
		j.name("tenant", e.Tenant)
		j.name("trace", e.Trace)
	} else {
		j.need("tenant", e.Tenant)
		j.need("trace", e.Trace)
	}
	if e.Seq > 0 {
		j.need("producer", e.Producer)
	} else {
		j.name("producer", e.Producer)
	}
	j.closed("kind", uint8(e.Kind), uint8(KindWithdrawn))
	switch e.Kind {
	case KindResult, KindWithdrawn:
		j.need("call_id", e.CallID)
	case KindCall, KindResolution, KindMessage, KindGrant, KindObservation, KindTick, KindPolicy, KindSession:
		j.name("call_id", e.CallID)
	}
	j.closed("vantage", uint8(e.Vantage), uint8(Observed))
	j.time("claimed_ts", e.ClaimedTS)
	j.time("timestamp", e.Timestamp)
}

func (j *judge) actor() {
	a := &j.e.Actor
	j.name("actor.id", a.ID)
	switch {
	case a.Class == "":
		if j.e.Kind.spoken() {
			j.add("actor.class", "is missing", "name the class of the principal")
		}
	case !slices.Contains(ActorClasses(), a.Class):
		j.add("actor.class", fmt.Sprintf("%q is no class of principal", clip([]byte(a.Class))), "use agent, user, tool, env, command, monitor or system")
	}
}

func (j *judge) fields() {
	e := j.e
	if e.Kind == KindCall {
		j.need("tool", e.Tool)
	} else {
		j.name("tool", e.Tool)
	}
	j.list("action", e.Action, MaxID)
	j.list("object", e.Object, MaxField)
	j.list("recipient", e.Recipient, MaxField)
	j.text("source", e.Source, MaxField)
	j.name("approval_id", e.ApprovalID)
	if e.Kind == KindSession {
		j.need("session_id", e.SessionID)
	} else {
		j.name("session_id", e.SessionID)
	}
	j.text("state_before", e.StateBefore, MaxState)
	j.text("state_after", e.StateAfter, MaxState)
	j.name("trust_domain", e.TrustDomain)
	j.name("server", e.Server)
}

// list checks a list of texts.
func (j *judge) list(field string, list []string, most int) {
	if len(list) > MaxList {
		j.add(field, fmt.Sprintf("has %d elements, the limit is %d", len(list), MaxList), "")
		return
	}
	for i, v := range list {
		at := fmt.Sprintf("%s[%d]", field, i)
		if v == "" {
			j.add(at, "is empty", "leave the element out")
			continue
		}
		j.text(at, v, most)
	}
}

func (j *judge) payloads() {
	e := j.e
	spoken := []Kind{KindCall, KindResult, KindMessage, KindGrant, KindObservation}
	j.payload("args", &e.Args, spoken...)
	j.payload("result", &e.Result, KindResult, KindObservation)
	j.closed("status", uint8(e.Status), uint8(ResultUnknown))
	j.only("status", e.Status != ResultOK, KindResult)
	j.text("text", e.Text, MaxText)
	j.only("text", e.Text != "", KindMessage)
	j.answers()
	j.labels()
	if e.Issuer != "" && !slices.Contains(Issuers(), e.Issuer) {
		j.add("issuer", fmt.Sprintf("%q is no issuer", clip([]byte(e.Issuer))), "use model, program, user, hosted or server")
	}
	j.only("deadline", e.Deadline != 0, KindCall)
	j.deadline()
	j.size("digest", e.Digest, DigestSize)
}

func (j *judge) deadline() {
	claimed, deadline := j.e.ClaimedTS, j.e.Deadline
	switch {
	case deadline == 0:
	case deadline < 0 || deadline <= claimed:
		j.add("deadline", fmt.Sprintf("%d does not lie after the claimed time %d", deadline, claimed), "add the time the call may take")
	case deadline-claimed > MaxTimeout && claimed >= 0:
		j.add("deadline", fmt.Sprintf("lies %d s after the claimed time, the limit is %d s", (deadline-claimed)/1e9, int64(MaxTimeout/1e9)), "propose the call again later")
	}
}

func (j *judge) payload(field string, p *Payload, kinds ...Kind) {
	j.only(field, p.Status != PayloadAbsent || len(p.Canon) > 0 || len(p.RawDigest) > 0, kinds...)
	j.closed(field+"_status", uint8(p.Status), uint8(PayloadMalformed))
	switch {
	case p.Status == PayloadOK:
		canon, err := Canonical(p.Canon)
		if err != nil {
			j.add(field, err.Error(), "set it to the output of Canonical")
		} else if !bytes.Equal(canon, p.Canon) {
			j.add(field, "is not in canonical form", "set it to the output of Canonical")
		}
	case len(p.Canon) > 0:
		j.add(field+"_status", fmt.Sprintf("is %s although there is a value", p.Status), "set it to ok or remove the value")
	}
	j.size(field+"_digest", p.RawDigest, DigestSize)
}

func (j *judge) answers() {
	list := j.e.Answers
	if len(list) > MaxList {
		j.add("answers", fmt.Sprintf("has %d elements, the limit is %d", len(list), MaxList), "")
		j.unencodable = true
		return
	}
	for i := range list {
		a, at := &list[i], fmt.Sprintf("answers[%d]", i)
		j.need(at+".name", a.Name)
		j.name(at+".version", a.Version)
		if math.IsNaN(a.Score) || math.IsInf(a.Score, 0) {
			j.add(at+".score", "is not finite", "mark the answer as missing")
			j.unencodable = true
		}
		j.text(at+".label", a.Label, MaxField)
		j.size(at+".of", a.Of, DigestSize)
		if a.Missing && (a.Score != 0 || a.Label != "") {
			j.add(at+".missing", "an answer that is missing has a score or label", "drop one of the two")
		}
	}
}

func (j *judge) labels() {
	labels := j.e.Labels
	if len(labels) > MaxList {
		j.add("labels", fmt.Sprintf("has %d elements, the limit is %d", len(labels), MaxList), "")
		return
	}
	for _, k := range sortedKeys(nil, labels) {
		if k == "" {
			j.add("labels", "a label without name", "name it or leave it out")
			continue
		}
		at := fmt.Sprintf("labels[%+q]", clip([]byte(k)))
		j.name(at, k)
		j.text(at, labels[k], MaxField)
	}
}
