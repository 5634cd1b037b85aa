package schema

import (
	"fmt"
	"slices"

	"github.com/aspis-rv/aspis/pkg/verdict"
)

// DecodeEvent reads an event from its wire form, which must be canonical: what is
// accepted encodes to the same bytes. It walks b first, so b may come from
// anywhere. Fields that this version does not know go to Unknown. Errors are a
// *WireError and wrap ErrWire, or ErrVersion for a schema version other than
// Version. The event shares no memory with b. The content is not judged; see
// Validate.
func DecodeEvent(b []byte) (*Event, error) {
	if err := Walk(b); err != nil {
		return nil, err
	}
	c := cursor{b: b}
	e := &Event{}
	n := c.version(keyEventVersion, "event")
	c.rest("event", n, func(key []byte) bool {
		if !c.identity(e, key) && !c.twelve(e, key) && !c.carried(e, key) && !c.body(e, key) {
			c.unknown(e, key)
		}
		return true
	})
	if c.err != nil {
		return nil, c.err
	}
	return e, nil
}

// identity reads the fields of identity and order.
func (c *cursor) identity(e *Event, key []byte) bool {
	switch string(key) {
	case "c":
		e.CallID = c.str()
	case "ct":
		e.ClaimedTS = c.int()
	case "i":
		e.ID = c.str()
	case "in":
		e.Incarnation = c.uint()
	case "k":
		e.Kind = Kind(c.enum(uint8(KindWithdrawn)))
	case "p":
		e.Producer = c.str()
	case "q":
		e.Seq = c.uint()
	case "te":
		e.Tenant = c.str()
	case "tr":
		e.Trace = c.str()
	case "vt":
		e.Vantage = Vantage(c.enum(uint8(Observed)))
	default:
		return false
	}
	return true
}

// twelve reads those of the twelve fields that are encoded.
func (c *cursor) twelve(e *Event, key []byte) bool {
	switch string(key) {
	case "ac":
		e.Action = c.strs()
	case "ai":
		e.ApprovalID = c.str()
	case "by":
		c.actor(&e.Actor)
	case "o":
		e.Object = c.strs()
	case "rc":
		e.Recipient = c.strs()
	case "s":
		e.SessionID = c.str()
	case "sa":
		e.StateAfter = c.str()
	case "sb":
		e.StateBefore = c.str()
	case "so":
		e.Source = c.str()
	case "t":
		e.Tool = c.str()
	case "td":
		e.TrustDomain = c.str()
	default:
		return false
	}
	return true
}

// carried reads the payload.
func (c *cursor) carried(e *Event, key []byte) bool {
	switch string(key) {
	case "a":
		c.payload(&e.Args)
	case "an":
		e.Answers = list(c, MaxList, (*cursor).answer)
	case "ao":
		c.subjects(e.Answers)
	case "dg":
		e.Digest = c.bin()
	case "dl":
		e.Deadline = c.int()
	case "is":
		e.Issuer = name(c, IssuerModel, IssuerProgram, IssuerUser, IssuerHosted, IssuerServer)
	case "l":
		e.Labels = table(c, (*cursor).anyStr)
	case "r":
		c.payload(&e.Result)
	case "st":
		e.Status = ResultStatus(c.enum(uint8(ResultUnknown)))
	case "sv":
		e.Server = c.str()
	case "tx":
		e.Text = c.str()
	default:
		return false
	}
	return true
}

// body reads the body of a kind.
func (c *cursor) body(e *Event, key []byte) bool {
	switch string(key) {
	case "g":
		e.Grant = c.grant()
	case "po":
		e.Activation = c.activation()
	case "rs":
		e.Resolution = c.resolution()
	case "se":
		e.Session = c.session()
	case "tk":
		e.Tick = c.tick()
	default:
		return false
	}
	return true
}

// unknown keeps a field as it is.
func (c *cursor) unknown(e *Event, key []byte) {
	w := walker{b: c.b}
	end := w.value(c.at, 1)
	if e.Unknown == nil {
		e.Unknown = map[string][]byte{}
	}
	e.Unknown[string(key)] = append([]byte(nil), c.b[c.at:end]...)
	c.at = end
}

func (c *cursor) actor(a *Actor) {
	c.some("actor", func(key []byte) bool {
		switch string(key) {
		case "c":
			a.Class = name(c, ClassAgent, ClassUser, ClassTool, ClassEnv, ClassCommand, ClassMonitor, ClassSystem)
		case "i":
			a.ID = c.str()
		default:
			return false
		}
		return true
	})
}

func (c *cursor) payload(p *Payload) {
	c.some("payload", func(key []byte) bool {
		switch string(key) {
		case "c":
			p.Canon = c.bin()
		case "d":
			p.RawDigest = c.bin()
		case "s":
			p.Status = PayloadStatus(c.enum(uint8(PayloadMalformed)))
		default:
			return false
		}
		return true
	})
}

func (c *cursor) answer(a *Answer) {
	c.fields("answer", func(key []byte) bool {
		switch string(key) {
		case "l":
			a.Label = c.str()
		case "m":
			a.Missing = c.flag()
		case "n":
			a.Name = c.str()
		case "s":
			a.Score = c.float()
		case "v":
			a.Version = c.str()
		default:
			return false
		}
		return true
	})
}

// subjects reads what each of the answers is about.
func (c *cursor) subjects(answers []Answer) {
	at := c.at
	of := list(c, MaxList, func(c *cursor, digest *[]byte) { *digest = c.anyBin() })
	switch {
	case c.err != nil:
	case len(of) != len(answers):
		c.fail(at, fmt.Sprintf("%d digests for %d answers", len(of), len(answers)), "write one for each, empty where an answer has none")
	case !slices.ContainsFunc(of, func(digest []byte) bool { return len(digest) > 0 }):
		c.zero(at)
	default:
		for i := range answers {
			answers[i].Of = of[i]
		}
	}
}

func (c *cursor) grant() *Grant {
	g := &Grant{}
	c.fields("grant", func(key []byte) bool {
		switch string(key) {
		case "cd":
			g.CallDigest = c.bin()
		case "nb":
			g.NotBefore = c.int()
		case "rv":
			g.Revokes = c.str()
		default:
			return false
		}
		return true
	})
	return g
}

func (c *cursor) activation() *Activation {
	p := &Activation{}
	c.fields("activation", func(key []byte) bool {
		switch string(key) {
		case "d":
			p.Digest = c.bin()
		case "n":
			p.Number = c.uint()
		case "na":
			p.Name = c.str()
		case "b":
			p.Blocking = verdict.BlockingSet(c.enum(15))
		case "ou":
			p.ObserveUntil = c.int()
		case "r":
			p.Reason = c.str()
		case "rv":
			p.Revision = c.int()
		default:
			return false
		}
		return true
	})
	return p
}

func (c *cursor) session() *SessionMark {
	s := &SessionMark{}
	c.fields("session mark", func(key []byte) bool {
		if string(key) != "e" {
			return false
		}
		s.End = c.flag()
		return true
	})
	return s
}

func (c *cursor) tick() *Tick {
	t := &Tick{}
	c.fields("tick", func(key []byte) bool {
		switch string(key) {
		case "m":
			t.Marks = table(c, (*cursor).anyUint)
		case "n":
			t.N = c.uint()
		case "t":
			t.Time = c.int()
		default:
			return false
		}
		return true
	})
	return t
}

func (c *cursor) attempt(t *Attempt) {
	c.some("attempt", func(key []byte) bool {
		switch string(key) {
		case "c":
			t.CallID = c.str()
		case "o":
			t.Opening = c.uint()
		case "p":
			at := c.at
			p := c.uint()
			if p > 1<<32-1 {
				c.fail(at, "a partition number over 32 bits", "")
			}
			t.Partition = uint32(p)
		default:
			return false
		}
		return true
	})
}

func (c *cursor) resolution() *Resolution {
	r := &Resolution{}
	c.fields("resolution", func(key []byte) bool {
		return c.decided(r, key) || c.evidence(r, key)
	})
	return r
}

// decided reads what a resolution says.
func (c *cursor) decided(r *Resolution, key []byte) bool {
	switch string(key) {
	case "a":
		c.attempt(&r.Attempt)
	case "aw":
		r.Awaits = c.strs()
	case "c":
		r.CallID = c.str()
	case "cl":
		r.Clause = c.str()
	case "de":
		r.Detail = c.str()
	case "ms":
		r.Message = c.str()
	case "o":
		r.Outcome = SettledAs(c.enum(uint8(SettledExpired)))
	case "re":
		r.Reason = name(c, verdict.Reasons()...)
	case "w":
		r.Writer = c.str()
	default:
		return false
	}
	return true
}

// evidence reads what a resolution rests on.
func (c *cursor) evidence(r *Resolution, key []byte) bool {
	switch string(key) {
	case "cd":
		r.CallDigest = c.bin()
	case "cm":
		r.Completeness = verdict.Completeness(c.enum(uint8(verdict.Unavailable)))
	case "fl":
		r.Flags = c.strs()
	case "mi":
		r.Missing = c.strs()
	case "p":
		r.Parts = list(c, MaxParts, (*cursor).partRef)
	case "po":
		r.Policy = c.bin()
	case "sg":
		r.Signature = c.bin()
	case "v":
		r.Value = verdict.Value(c.enum(uint8(verdict.F)))
	default:
		return false
	}
	return true
}

func (c *cursor) partRef(p *PartRef) {
	c.fields("part", func(key []byte) bool {
		switch string(key) {
		case "a":
			p.Aspect = c.str()
		case "h":
			p.Hash = c.bin()
		case "v":
			p.Value = verdict.Value(c.enum(uint8(verdict.F)))
		default:
			return false
		}
		return true
	})
}
