package schema

import (
	"strconv"

	"github.com/aspis-rv/aspis/pkg/verdict"
)

// MarshalJSON writes the resolution as the member `resolution` of an event's full
// form: value, completeness and outcome always, other members unless zero.
func (r *Resolution) MarshalJSON() ([]byte, error) {
	w := textWriter{}
	w.resolution(r)
	return w.done()
}

func (w *textWriter) resolution(r *Resolution) {
	w.open('{')
	w.str("call_id", r.CallID)
	w.attempt(&r.Attempt)
	closed(w, "outcome", r.Outcome, SettledExpired)
	w.str("reason", string(r.Reason))
	w.str("clause", r.Clause)
	w.str("message", r.Message)
	w.str("detail", r.Detail)
	closed(w, "value", r.Value, verdict.F)
	closed(w, "completeness", r.Completeness, verdict.Unavailable)
	w.strs("flags", r.Flags)
	if len(r.Parts) > 0 {
		w.key("parts")
		w.open('[')
		for i := range r.Parts {
			w.next()
			w.open('{')
			w.str("aspect", r.Parts[i].Aspect)
			w.hex("hash", r.Parts[i].Hash)
			closed(w, "value", r.Parts[i].Value, verdict.F)
			w.close('}')
		}
		w.close(']')
	}
	w.strs("missing", r.Missing)
	w.hex("policy", r.Policy)
	w.hex("call_digest", r.CallDigest)
	w.strs("awaits", r.Awaits)
	w.str("writer", r.Writer)
	w.hex("signature", r.Signature)
	w.close('}')
}

func (w *textWriter) attempt(a *Attempt) {
	if *a == (Attempt{}) {
		return
	}
	w.key("attempt")
	w.open('{')
	w.number("partition", uint64(a.Partition))
	w.number("opening", a.Opening)
	w.str("call_id", a.CallID)
	w.close('}')
}

// MarshalJSON writes the verdict for people: members in a stable order, the fused
// values of the verdict and of each part beside what they are fused from.
func (v *Verdict) MarshalJSON() ([]byte, error) {
	w := textWriter{}
	w.open('{')
	w.number("schema", Version)
	w.str("tenant", v.Tenant)
	w.attempt(&v.Attempt)
	w.str("aspect", v.Aspect)
	w.hex("policy", v.Policy)
	w.str("trace", v.Trace)
	w.number("time_point", v.TimePoint)
	w.int("timestamp", v.Timestamp)
	closed(&w, "value", v.Value(), verdict.F)
	closed(&w, "completeness", v.Completeness, verdict.Unavailable)
	w.key("parts")
	w.open('[')
	for i := range v.Parts {
		w.next()
		w.part(&v.Parts[i])
	}
	w.close(']')
	w.close('}')
	return w.done()
}

func (w *textWriter) part(p *Part) {
	w.open('{')
	w.str("clause", p.Clause)
	closed(w, "role", p.Role, RoleGuard)
	w.str("name", p.Name)
	closed(w, "value", p.Value(), verdict.F)
	closed(w, "completeness", p.Completeness, verdict.Unavailable)
	w.flag("absence", p.Absence)
	w.strs("columns", p.Columns)
	w.key("rows")
	w.open('[')
	for i := range p.Rows {
		w.next()
		w.row(&p.Rows[i])
	}
	w.close(']')
	w.close('}')
}

func (w *textWriter) row(r *Row) {
	w.open('{')
	w.key("values")
	w.open('[')
	for _, v := range r.Values {
		w.next()
		w.value(v)
	}
	w.close(']')
	closed(w, "mark", r.Mark, verdict.F)
	w.flag("documents", r.Documents)
	w.key("witness")
	w.open('[')
	for _, at := range r.Witness {
		w.next()
		w.b = strconv.AppendUint(w.b, at, 10)
	}
	w.close(']')
	w.paths(r.Paths)
	w.close('}')
}

// paths writes the walks of a row, if there are any.
func (w *textWriter) paths(paths []Path) {
	if len(paths) == 0 {
		return
	}
	w.key("paths")
	w.open('[')
	for i := range paths {
		w.next()
		w.open('{')
		w.str("of", paths[i].Of)
		w.strs("vertices", paths[i].Vertices)
		w.int("distance", paths[i].Distance)
		w.close('}')
	}
	w.close(']')
}
