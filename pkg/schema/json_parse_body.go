package schema

import "github.com/aspis-rv/aspis/pkg/verdict"

// The readers of an event's bodies in JSON; what they name is in event.schema.json.

func (r *textReader) tick() *Tick {
	t := &Tick{}
	r.members("a tick", func(name string) bool {
		switch name {
		case "n":
			t.N = r.uint(64)
		case "time":
			t.Time = r.time()
		case "marks":
			t.Marks = object(r, func() uint64 { return r.uint(64) })
		default:
			return false
		}
		return true
	})
	return t
}

func (r *textReader) grant() *Grant {
	g := &Grant{}
	r.members("a grant", func(name string) bool {
		switch name {
		case "revokes":
			g.Revokes = r.str()
		case "not_before":
			g.NotBefore = r.time()
		case "call_digest":
			g.CallDigest = r.hex()
		default:
			return false
		}
		return true
	})
	return g
}

func (r *textReader) activation() *Activation {
	a := &Activation{}
	r.members("an activation", func(name string) bool {
		switch name {
		case "number":
			a.Number = r.uint(64)
		case "digest":
			a.Digest = r.hex()
		case "name":
			a.Name = r.str()
		case "revision":
			a.Revision = r.int()
		case "blocking":
			a.Blocking = verdict.BlockingSet(r.uint(8))
		case "observe_until":
			a.ObserveUntil = r.int()
		case "reason":
			a.Reason = r.str()
		default:
			return false
		}
		return true
	})
	return a
}

func (r *textReader) session() *SessionMark {
	s := &SessionMark{}
	r.members("a session mark", func(name string) bool {
		if name != "end" {
			return false
		}
		s.End = r.flag()
		return true
	})
	return s
}

func (r *textReader) resolution() *Resolution {
	out := &Resolution{}
	r.members("a resolution", func(name string) bool {
		return r.decided(out, name) || r.evidence(out, name)
	})
	return out
}

// decided reads what a resolution says.
func (r *textReader) decided(out *Resolution, name string) bool {
	switch name {
	case "call_id":
		out.CallID = r.str()
	case "attempt":
		out.Attempt = r.attempt()
	case "outcome":
		out.Outcome = element(r, ParseSettledAs)
	case "reason":
		out.Reason = element(r, verdict.ParseReason)
	case "clause":
		out.Clause = r.str()
	case "message":
		out.Message = r.str()
	case "detail":
		out.Detail = r.str()
	case "awaits":
		out.Awaits = r.strs()
	case "writer":
		out.Writer = r.str()
	default:
		return false
	}
	return true
}

// evidence reads what a resolution rests on.
func (r *textReader) evidence(out *Resolution, name string) bool {
	switch name {
	case "value":
		out.Value = element(r, verdict.ParseValue)
	case "completeness":
		out.Completeness = element(r, verdict.ParseCompleteness)
	case "flags":
		out.Flags = r.strs()
	case "parts":
		r.each(func() { out.Parts = append(out.Parts, r.partRef()) })
	case "missing":
		out.Missing = r.strs()
	case "policy":
		out.Policy = r.hex()
	case "call_digest":
		out.CallDigest = r.hex()
	case "signature":
		out.Signature = r.hex()
	default:
		return false
	}
	return true
}

func (r *textReader) attempt() Attempt {
	var a Attempt
	r.members("an attempt", func(name string) bool {
		switch name {
		case "partition":
			a.Partition = uint32(r.uint(32))
		case "opening":
			a.Opening = r.uint(64)
		case "call_id":
			a.CallID = r.str()
		default:
			return false
		}
		return true
	})
	return a
}

func (r *textReader) partRef() PartRef {
	var p PartRef
	r.members("a part", func(name string) bool {
		switch name {
		case "aspect":
			p.Aspect = r.str()
		case "hash":
			p.Hash = r.hex()
		case "value":
			p.Value = element(r, verdict.ParseValue)
		default:
			return false
		}
		return true
	})
	return p
}
