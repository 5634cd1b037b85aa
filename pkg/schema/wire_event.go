package schema

import (
	"slices"

	"github.com/aspis-rv/aspis/pkg/verdict"
)

// The wire keys of an event. A record starts with its schema version, under E for
// an event and V for a verdict, so that neither is read as the other and nothing
// is read before the version is known. All other keys are lower case.
//
//	E   schema version           p   Producer
//	a   Args: payload            po  Activation: b Blocking, d Digest, n Number,
//	ac  Action                       na Name, ou ObserveUntil, r Reason, rv Revision
//	ai  ApprovalID               q   Seq
//	an  Answers: l Label,        r   Result: payload
//	      m Missing, n Name,     rc  Recipient
//	      s Score, v Version     rs  Resolution, see appender.resolution
//	ao  Of of each answer        s   SessionID
//	by  Actor: c Class, i ID     sa  StateAfter
//	c   CallID                   sb  StateBefore
//	ct  ClaimedTS                se  Session: e End
//	dg  Digest                   so  Source
//	dl  Deadline                 st  Status
//	g   Grant: cd CallDigest,    sv  Server
//	      nb NotBefore,          t   Tool
//	      rv Revokes             td  TrustDomain
//	i   ID                       te  Tenant
//	in  Incarnation              tk  Tick: m Marks, n N, t Time
//	is  Issuer                   tr  Trace
//	k   Kind                     tx  Text
//	l   Labels                   vt  Vantage
//	o   Object
//
//	payload: c Canon, d RawDigest, s Status
//
// Only the record's own map may hold keys that this version does not know. Nested
// maps are closed: what a resolution's signature or a verdict's hash covers must be
// known to whoever checks it. A later version adds fields at the top or changes the
// version number.
const (
	keyEventVersion   = "E"
	keyVerdictVersion = "V"
)

// eventKeys lists the wire keys of an event in ascending order.
func eventKeys() []string {
	return []string{
		"E", "a", "ac", "ai", "an", "ao", "by", "c", "ct", "dg", "dl", "g", "i", "in", "is", "k", "l",
		"o", "p", "po", "q", "r", "rc", "rs", "s", "sa", "sb", "se", "so", "st", "sv", "t", "td",
		"te", "tk", "tr", "tx", "vt",
	}
}

// AppendBinary appends the event's wire form to dst and returns the extended
// slice. Equal events have equal bytes; Position and Timestamp, which the log and
// the fold give, are not part of them. On error dst is returned as it was. The
// error wraps ErrEncode: an element outside its closed set, a float NaN, an Unknown
// field that is not a canonical value or has a key of this version, or a record
// over MaxRecord. It allocates only to grow dst, unless the event has unknown
// fields or more than 16 labels.
func (e *Event) AppendBinary(dst []byte) ([]byte, error) {
	a := appender{b: dst}
	m := a.open()
	a.mergeUnknown(e.Unknown)
	a.uint(keyEventVersion, Version)
	a.eventHead(e)
	a.eventTail(e)
	a.close(m)
	if size := len(a.b) - len(dst); size > MaxRecord {
		a.fail("the record has %d bytes, the limit is %d; keep large values elsewhere and record their digest", size, MaxRecord)
	}
	if a.err != nil {
		return dst, a.err
	}
	return a.b, nil
}

// eventHead writes the fields from a to l, eventTail the rest.
func (a *appender) eventHead(e *Event) {
	a.payload("a", &e.Args)
	a.strs("ac", e.Action)
	a.str("ai", e.ApprovalID)
	a.answers("an", e.Answers)
	a.subjects("ao", e.Answers)
	if e.Actor != (Actor{}) {
		a.key("by")
		m := a.open()
		a.str("c", string(e.Actor.Class))
		a.str("i", e.Actor.ID)
		a.close(m)
	}
	a.str("c", e.CallID)
	a.int("ct", e.ClaimedTS)
	a.bin("dg", e.Digest)
	a.int("dl", e.Deadline)
	a.grant("g", e.Grant)
	a.str("i", e.ID)
	a.uint("in", e.Incarnation)
	a.str("is", string(e.Issuer))
	a.enum("k", uint8(e.Kind), uint8(KindWithdrawn))
	a.labels("l", e.Labels)
}

func (a *appender) eventTail(e *Event) {
	a.strs("o", e.Object)
	a.str("p", e.Producer)
	a.activation("po", e.Activation)
	a.uint("q", e.Seq)
	a.payload("r", &e.Result)
	a.strs("rc", e.Recipient)
	if e.Resolution != nil {
		a.key("rs")
		a.resolution(e.Resolution, false)
	}
	a.str("s", e.SessionID)
	a.str("sa", e.StateAfter)
	a.str("sb", e.StateBefore)
	a.session("se", e.Session)
	a.str("so", e.Source)
	a.enum("st", uint8(e.Status), uint8(ResultUnknown))
	a.str("sv", e.Server)
	a.str("t", e.Tool)
	a.str("td", e.TrustDomain)
	a.str("te", e.Tenant)
	a.tick("tk", e.Tick)
	a.str("tr", e.Trace)
	a.str("tx", e.Text)
	a.enum("vt", uint8(e.Vantage), uint8(Observed))
}

// mergeUnknown has the fields of u written in their sorted places.
func (a *appender) mergeUnknown(u map[string][]byte) {
	if len(u) == 0 {
		return
	}
	a.unknown = u
	a.pending = sortedKeys(nil, u)
	known := eventKeys()
	for _, k := range a.pending {
		if _, found := slices.BinarySearch(known, k); found || k < keyEventVersion {
			a.fail("Unknown has the key %q, which this version knows or which sorts before the version", k)
		}
		w := walker{b: u[k]}
		if w.value(0, 1) != len(u[k]) {
			a.fail("the unknown field %q is not one canonical value", k)
		}
	}
}

func (a *appender) payload(k string, p *Payload) {
	if p.Status == PayloadAbsent && len(p.Canon) == 0 && len(p.RawDigest) == 0 {
		return
	}
	a.key(k)
	m := a.open()
	a.bin("c", p.Canon)
	a.bin("d", p.RawDigest)
	a.enum("s", uint8(p.Status), uint8(PayloadMalformed))
	a.close(m)
}

func (a *appender) answers(k string, list []Answer) {
	if len(list) == 0 {
		return
	}
	a.key(k)
	a.array(len(list), MaxList)
	for i := range list {
		m := a.open()
		a.str("l", list[i].Label)
		a.flag("m", list[i].Missing)
		a.str("n", list[i].Name)
		a.float("s", list[i].Score)
		a.str("v", list[i].Version)
		a.close(m)
	}
}

// subjects writes what the answers are about: as many digests as there are answers, in
// their order, or nothing when no answer has one. It stands beside the answers because
// versions before it know what an answer holds.
func (a *appender) subjects(k string, list []Answer) {
	if !slices.ContainsFunc(list, func(x Answer) bool { return len(x.Of) > 0 }) {
		return
	}
	a.key(k)
	a.array(len(list), MaxList)
	for i := range list {
		a.b = appendBin(a.b, list[i].Of)
	}
}

func (a *appender) grant(k string, g *Grant) {
	if g == nil {
		return
	}
	a.key(k)
	m := a.open()
	a.bin("cd", g.CallDigest)
	a.int("nb", g.NotBefore)
	a.str("rv", g.Revokes)
	a.close(m)
}

func (a *appender) activation(k string, p *Activation) {
	if p == nil {
		return
	}
	a.key(k)
	m := a.open()
	a.uint("b", uint64(p.Blocking))
	a.bin("d", p.Digest)
	a.uint("n", p.Number)
	a.str("na", p.Name)
	a.int("ou", p.ObserveUntil)
	a.str("r", p.Reason)
	a.int("rv", p.Revision)
	a.close(m)
}

func (a *appender) session(k string, s *SessionMark) {
	if s == nil {
		return
	}
	a.key(k)
	m := a.open()
	a.flag("e", s.End)
	a.close(m)
}

func (a *appender) tick(k string, t *Tick) {
	if t == nil {
		return
	}
	a.key(k)
	m := a.open()
	a.marks("m", t.Marks)
	a.uint("n", t.N)
	a.int("t", t.Time)
	a.close(m)
}

// resolution writes a resolution as a map of
//
//	a Attempt: c CallID, o Opening, p Partition     mi Missing
//	aw Awaits                                       ms Message
//	c CallID                                        o  Outcome
//	cd CallDigest                                   p  Parts: a Aspect, h Hash, v Value
//	cl Clause                                       po Policy
//	cm Completeness                                 re Reason
//	de Detail                                       sg Signature
//	fl Flags                                        v  Value
//	                                                w  Writer
//
// For signing, the map starts with R, the schema version, and has no signature.
func (a *appender) resolution(r *Resolution, signing bool) {
	m := a.open()
	if signing {
		a.uint("R", Version)
	}
	a.attempt("a", &r.Attempt)
	a.strs("aw", r.Awaits)
	a.str("c", r.CallID)
	a.bin("cd", r.CallDigest)
	a.str("cl", r.Clause)
	a.enum("cm", uint8(r.Completeness), uint8(verdict.Unavailable))
	a.str("de", r.Detail)
	a.strs("fl", r.Flags)
	a.strs("mi", r.Missing)
	a.str("ms", r.Message)
	a.enum("o", uint8(r.Outcome), uint8(SettledExpired))
	if len(r.Parts) > 0 {
		a.key("p")
		a.array(len(r.Parts), MaxParts)
		for i := range r.Parts {
			p := a.open()
			a.str("a", r.Parts[i].Aspect)
			a.bin("h", r.Parts[i].Hash)
			a.enum("v", uint8(r.Parts[i].Value), uint8(verdict.F))
			a.close(p)
		}
	}
	a.bin("po", r.Policy)
	a.str("re", string(r.Reason))
	if !signing {
		a.bin("sg", r.Signature)
	}
	a.enum("v", uint8(r.Value), uint8(verdict.F))
	a.str("w", r.Writer)
	a.close(m)
}

func (a *appender) attempt(k string, t *Attempt) {
	if *t == (Attempt{}) {
		return
	}
	a.key(k)
	m := a.open()
	a.str("c", t.CallID)
	a.uint("o", t.Opening)
	a.uint("p", uint64(t.Partition))
	a.close(m)
}
