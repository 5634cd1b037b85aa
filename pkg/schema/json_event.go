package schema

// MarshalJSON writes the full readable form: one line, members in the order of the
// documentation (identity, the twelve fields, payload, body), those with zero
// values left out except schema, kind and a result's status. Arguments and results
// stand inline; kinds, classes and states by name; digests and signatures in
// hexadecimal; times as integer nanoseconds. ParseEventJSON reads it back, Position
// and Timestamp included. It fails, with ErrEncode, on an event that Validate
// refuses for its payloads or closed sets, and on an Unknown field that is not a
// canonical value. Text that is not UTF-8 is repaired with U+FFFD.
func (e *Event) MarshalJSON() ([]byte, error) {
	w := textWriter{b: make([]byte, 0, 512)}
	w.open('{')
	w.number("schema", Version)
	w.identity(e)
	w.twelve(e)
	w.carried(e)
	w.body(e)
	w.unknown(e.Unknown)
	w.close('}')
	return w.done()
}

// closed writes the name of an element of a closed set whose largest is last.
func closed[E interface {
	~uint8
	String() string
}](w *textWriter, k string, v, last E) {
	if v > last {
		w.fail("the member %q holds %d, which is outside its closed set (0 to %d)", k, uint8(v), uint8(last))
		return
	}
	w.name(k, v.String())
}

func (w *textWriter) identity(e *Event) {
	w.str("id", e.ID)
	w.str("tenant", e.Tenant)
	w.str("trace", e.Trace)
	w.str("producer", e.Producer)
	w.uint("incarnation", e.Incarnation)
	w.uint("producer_seq", e.Seq)
	closed(w, "kind", e.Kind, KindWithdrawn)
	w.str("call_id", e.CallID)
	if e.Position != (Position{}) {
		w.key("position")
		w.open('{')
		w.number("partition", uint64(e.Position.Partition))
		w.number("offset", e.Position.Offset)
		w.close('}')
	}
	if e.Vantage != Reported {
		closed(w, "vantage", e.Vantage, Observed)
	}
	w.int("claimed_ts", e.ClaimedTS)
}

func (w *textWriter) twelve(e *Event) {
	w.int("timestamp", e.Timestamp)
	if e.Actor != (Actor{}) {
		w.key("actor")
		w.open('{')
		w.str("id", e.Actor.ID)
		w.str("class", string(e.Actor.Class))
		w.close('}')
	}
	w.str("tool", e.Tool)
	w.strs("action", e.Action)
	w.strs("object", e.Object)
	w.strs("recipient", e.Recipient)
	w.str("source", e.Source)
	w.str("approval_id", e.ApprovalID)
	w.str("session_id", e.SessionID)
	w.str("state_before", e.StateBefore)
	w.str("state_after", e.StateAfter)
	w.str("trust_domain", e.TrustDomain)
}

func (w *textWriter) carried(e *Event) {
	w.str("server", e.Server)
	w.payload("args", &e.Args)
	w.payload("result", &e.Result)
	if e.Kind == KindResult || e.Status != ResultOK {
		closed(w, "status", e.Status, ResultUnknown)
	}
	w.str("text", e.Text)
	w.answers(e.Answers)
	if len(e.Labels) > 0 {
		w.key("labels")
		w.open('{')
		for _, k := range sortedKeys(nil, e.Labels) {
			w.name(k, e.Labels[k])
		}
		w.close('}')
	}
	w.str("issuer", string(e.Issuer))
	w.int("deadline", e.Deadline)
	w.hex("digest", e.Digest)
}

func (w *textWriter) answers(list []Answer) {
	if len(list) == 0 {
		return
	}
	w.key("answers")
	w.open('[')
	for i := range list {
		w.next()
		w.open('{')
		w.str("name", list[i].Name)
		w.str("version", list[i].Version)
		w.float("score", list[i].Score)
		w.str("label", list[i].Label)
		w.flag("missing", list[i].Missing)
		w.hex("of", list[i].Of)
		w.close('}')
	}
	w.close(']')
}

func (w *textWriter) body(e *Event) {
	if e.Resolution != nil {
		w.key("resolution")
		w.resolution(e.Resolution)
	}
	if t := e.Tick; t != nil {
		w.key("tick")
		w.open('{')
		w.uint("n", t.N)
		w.int("time", t.Time)
		if len(t.Marks) > 0 {
			w.key("marks")
			w.open('{')
			for _, k := range sortedKeys(nil, t.Marks) {
				w.number(k, t.Marks[k])
			}
			w.close('}')
		}
		w.close('}')
	}
	if g := e.Grant; g != nil {
		w.key("grant")
		w.open('{')
		w.str("revokes", g.Revokes)
		w.int("not_before", g.NotBefore)
		w.hex("call_digest", g.CallDigest)
		w.close('}')
	}
	if p := e.Activation; p != nil {
		w.key("activation")
		w.open('{')
		w.uint("number", p.Number)
		w.hex("digest", p.Digest)
		w.str("name", p.Name)
		w.int("revision", p.Revision)
		w.uint("blocking", uint64(p.Blocking))
		w.int("observe_until", p.ObserveUntil)
		w.str("reason", p.Reason)
		w.close('}')
	}
	if s := e.Session; s != nil {
		w.key("session_mark")
		w.open('{')
		w.flag("end", s.End)
		w.close('}')
	}
}

// unknown writes fields of a later version: the bytes, which are what counts, and
// for people what they say.
func (w *textWriter) unknown(u map[string][]byte) {
	if len(u) == 0 {
		return
	}
	w.key("unknown")
	w.open('{')
	for _, k := range sortedKeys(nil, u) {
		value, err := DecodeRaw(u[k])
		if err != nil {
			w.fail("the unknown field %q: %w", k, err)
			return
		}
		w.key(k)
		w.open('{')
		w.hex("raw", u[k])
		w.key("value")
		w.any(value)
		w.close('}')
	}
	w.close('}')
}
