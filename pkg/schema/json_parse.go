package schema

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// ParseEventJSON reads one event from a line of JSON: the full form that
// MarshalJSON writes, or the short form for people and tests, in which
//
//   - `session`, `call` and `ts` stand for session_id, call_id and claimed_ts, and
//     `"ok": true|false` for a status of ok or error;
//   - `actor` may be a string: a class of principal, or else the id of an agent (the
//     class without authority);
//   - `kind` defaults to call;
//   - a time (ts, claimed_ts, timestamp, deadline) may be RFC 3339 text, or a
//     duration since 0 such as "90s", "12m", "0h", "2d" or "1h30m".
//
// The forms may be mixed, but a field is given once, under one of its names. It is
// strict: member names are case-sensitive, unknown and duplicate ones are refused,
// and so is what Canonical refuses. Arguments and results are canonicalised.
// Nothing is made up: missing ids stay empty, and a missing actor stays zero.
// The content is not judged; see Validate. Errors are a *JSONError.
func ParseEventJSON(line []byte) (*Event, error) {
	if len(line) > MaxLine {
		return nil, tooLong(len(line), MaxLine)
	}
	p := eventParser{textReader: newTextReader(line), e: &Event{}, seen: map[string]string{}}
	p.members("an event", p.member)
	p.end()
	p.settle("args", &p.e.Args, p.args)
	p.settle("result", &p.e.Result, p.result)
	if p.err != nil {
		return nil, p.err
	}
	return p.e, nil
}

// eventParser reads the members of an event into e.
type eventParser struct {
	*textReader
	e    *Event
	seen map[string]string // full name of a field read → the name it was given under
	// What args_status and result_status say; they may come before the value.
	args, result PayloadStatus
}

// settle brings together a payload and the status given for it.
func (p *eventParser) settle(name string, to *Payload, said PayloadStatus) {
	_, saysSo := p.seen[name+"_status"]
	if p.err != nil || !saysSo {
		return
	}
	if given := to.Status == PayloadOK; given != (said == PayloadOK) {
		p.err = &JSONError{
			Pointer: "/" + name + "_status",
			Problem: fmt.Sprintf("the status %q disagrees with the member %q", said, name),
			Repair:  "give the value itself for status ok, and only then",
		}
	}
	to.Status = said
}

// fullName resolves the short names.
func fullName(name string) string {
	switch name {
	case "session":
		return "session_id"
	case "call":
		return "call_id"
	case "ts":
		return "claimed_ts"
	case "ok":
		return "status"
	}
	return name
}

func (p *eventParser) member(name string) bool {
	full := fullName(name)
	if before, twice := p.seen[full]; twice {
		p.fail(0, fmt.Sprintf("%s and %s are one field", before, name), "give it once")
		return true
	}
	p.seen[full] = name
	if name == "ok" {
		if !p.flag() {
			p.e.Status = ResultError
		}
		return true
	}
	return p.identity(full) || p.twelve(full) || p.carried(full) || p.body(full)
}

func (p *eventParser) identity(name string) bool {
	e := p.e
	switch name {
	case "schema":
		p.schema()
	case "id":
		e.ID = p.str()
	case "tenant":
		e.Tenant = p.str()
	case "trace":
		e.Trace = p.str()
	case "producer":
		e.Producer = p.str()
	case "incarnation":
		e.Incarnation = p.uint(64)
	case "producer_seq":
		e.Seq = p.uint(64)
	case "kind":
		e.Kind = element(p.textReader, ParseKind)
	case "call_id":
		e.CallID = p.str()
	case "position":
		p.position()
	case "vantage":
		e.Vantage = element(p.textReader, ParseVantage)
	case "claimed_ts":
		e.ClaimedTS = p.time()
	default:
		return false
	}
	return true
}

func (p *eventParser) twelve(name string) bool {
	e := p.e
	switch name {
	case "timestamp":
		e.Timestamp = p.time()
	case "actor":
		p.actor()
	case "tool":
		e.Tool = p.str()
	case "action":
		e.Action = p.strs()
	case "object":
		e.Object = p.strs()
	case "recipient":
		e.Recipient = p.strs()
	case "source":
		e.Source = p.str()
	case "approval_id":
		e.ApprovalID = p.str()
	case "session_id":
		e.SessionID = p.str()
	case "state_before":
		e.StateBefore = p.str()
	case "state_after":
		e.StateAfter = p.str()
	case "trust_domain":
		e.TrustDomain = p.str()
	default:
		return false
	}
	return true
}

func (p *eventParser) carried(name string) bool {
	e := p.e
	switch name {
	case "server":
		e.Server = p.str()
	case "args":
		e.Args.Canon, e.Args.Status = p.inline(), PayloadOK
	case "args_status":
		p.args = element(p.textReader, ParsePayloadStatus)
	case "args_digest":
		e.Args.RawDigest = p.hex()
	case "result":
		e.Result.Canon, e.Result.Status = p.inline(), PayloadOK
	case "result_status":
		p.result = element(p.textReader, ParsePayloadStatus)
	case "result_digest":
		e.Result.RawDigest = p.hex()
	case "status":
		e.Status = element(p.textReader, ParseResultStatus)
	case "text":
		e.Text = p.str()
	case "answers":
		p.each(p.answer)
	case "labels":
		e.Labels = object(p.textReader, p.str)
	case "issuer":
		e.Issuer = element(p.textReader, ParseIssuer)
	case "deadline":
		e.Deadline = p.time()
	case "digest":
		e.Digest = p.hex()
	default:
		return false
	}
	return true
}

func (p *eventParser) body(name string) bool {
	e := p.e
	switch name {
	case "resolution":
		e.Resolution = p.resolution()
	case "tick":
		e.Tick = p.tick()
	case "grant":
		e.Grant = p.grant()
	case "activation":
		e.Activation = p.activation()
	case "session_mark":
		e.Session = p.session()
	case "unknown":
		p.members("the member unknown", p.unknown)
	default:
		return false
	}
	return true
}

// element reads the name of an element of a closed set.
func element[E any](r *textReader, parse func(string) (E, error)) E {
	s := r.str()
	var zero E
	if r.err != nil {
		return zero
	}
	v, err := parse(s)
	if err != nil {
		_, problem, _ := strings.Cut(err.Error(), ": ")
		r.fail(len(s)+2, problem, "")
	}
	return v
}

// object reads an object with free names; nil when it is empty.
func object[V any](r *textReader, value func() V) map[string]V {
	var out map[string]V
	r.members("the object", func(name string) bool {
		if out == nil {
			out = map[string]V{}
		}
		out[name] = value()
		return true
	})
	return out
}

func (p *eventParser) schema() {
	if v := p.uint(64); p.err == nil && v != Version {
		p.err = &JSONError{
			Pointer: string(p.dec.StackPointer()), Offset: p.dec.InputOffset(),
			Problem: fmt.Sprintf("the event has schema version %d, this build reads version %d only", v, Version),
			Repair:  "upgrade the reader, or leave the member out for an event in the present form",
			cause:   ErrVersion,
		}
	}
}

// hex reads bytes written in hexadecimal; nil when there are none.
func (r *textReader) hex() []byte {
	s := r.str()
	b, err := hex.DecodeString(s)
	if err != nil {
		r.fail(len(s)+2, "not an even number of hexadecimal digits", "write each byte as two digits")
	}
	if len(b) == 0 {
		return nil
	}
	return b
}

// inline reads any value and returns its canonical form.
func (r *textReader) inline() []byte {
	c := canonicalizer{r: r, out: []byte{}}
	c.value(0)
	return c.out
}

func (p *eventParser) actor() {
	if p.kind() == '"' {
		name := p.str()
		if class, err := ParseActorClass(name); err == nil {
			p.e.Actor = Actor{Class: class}
		} else {
			p.e.Actor = Actor{ID: name, Class: ClassAgent}
		}
		return
	}
	p.members("an actor", func(name string) bool {
		switch name {
		case "id":
			p.e.Actor.ID = p.str()
		case "class":
			p.e.Actor.Class = element(p.textReader, ParseActorClass)
		default:
			return false
		}
		return true
	})
}

// time reads nanoseconds, RFC 3339 text or a duration since 0.
func (r *textReader) time() int64 {
	if r.kind() != '"' {
		return r.int()
	}
	s := r.str()
	if r.err != nil {
		return 0
	}
	if ns, ok := parseDuration(s); ok {
		return ns
	}
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil || t.Year() < 1678 || t.Year() > 2261 {
		r.fail(len(s)+2, fmt.Sprintf("%q is no time", clip([]byte(s))),
			`write nanoseconds as an integer, RFC 3339 such as "2026-01-02T15:04:05Z", or a duration such as "12m"`)
		return 0
	}
	return t.UnixNano()
}

// parseDuration reads a non-negative duration in the units of package time, and d
// for days in front.
func parseDuration(s string) (int64, bool) {
	const day = int64(24 * time.Hour)
	var days int64
	if i := strings.IndexByte(s, 'd'); i > 0 {
		n, err := strconv.ParseUint(s[:i], 10, 16) // 65535 days are 179 years
		if err != nil {
			return 0, false
		}
		days, s = int64(n)*day, s[i+1:]
		if s == "" {
			return days, true
		}
	}
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 || s[0] == '+' || days+int64(d) < days {
		return 0, false
	}
	return days + int64(d), true
}

func (p *eventParser) position() {
	p.members("a position", func(name string) bool {
		switch name {
		case "partition":
			p.e.Position.Partition = uint32(p.uint(32))
		case "offset":
			p.e.Position.Offset = p.uint(64)
		default:
			return false
		}
		return true
	})
}

// unknown reads a field of a later version. Its bytes count; the readable value
// beside them may be left out, but may not say something else.
func (p *eventParser) unknown(key string) bool {
	var raw, value []byte
	p.members("an unknown field", func(name string) bool {
		switch name {
		case "raw":
			raw = p.hex()
		case "value":
			value = p.inline()
		default:
			return false
		}
		return true
	})
	if p.err != nil {
		return true
	}
	says, err := DecodeRaw(raw)
	if err != nil {
		p.fail(0, fmt.Sprintf("the raw value of %q: %v", clip([]byte(key)), err), "copy it from a record")
		return true
	}
	w := textWriter{}
	w.any(says)
	if canon, err := Canonical(w.b); value != nil && (err != nil || !bytes.Equal(canon, value)) {
		p.fail(0, fmt.Sprintf("raw and value of %q disagree", clip([]byte(key))), "leave the value out")
		return true
	}
	if p.e.Unknown == nil {
		p.e.Unknown = map[string][]byte{}
	}
	p.e.Unknown[key] = raw
	return true
}

func (p *eventParser) answer() {
	var a Answer
	p.members("an answer", func(name string) bool {
		switch name {
		case "name":
			a.Name = p.str()
		case "version":
			a.Version = p.str()
		case "score":
			a.Score = p.float()
		case "label":
			a.Label = p.str()
		case "missing":
			a.Missing = p.flag()
		case "of":
			a.Of = p.hex()
		default:
			return false
		}
		return true
	})
	p.e.Answers = append(p.e.Answers, a)
}
