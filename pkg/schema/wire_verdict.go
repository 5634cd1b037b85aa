package schema

import "github.com/aspis-rv/aspis/pkg/verdict"

// AppendBinary appends the verdict's wire form to dst and returns the extended
// slice. Equal verdicts have equal bytes if their parts and rows are in canonical
// order; see Canonicalize. On error, which wraps ErrEncode, dst is returned as it
// was. It allocates only to grow dst.
//
// The wire keys:
//
//	V  schema version                         pt Parts: a Absence, c Clause, cl Columns,
//	a  Attempt: c CallID, o Opening,             cm Completeness, n Name, r Role, rw Rows
//	   p Partition                            t  Trace
//	as Aspect                                 te Tenant
//	cm Completeness                           tp TimePoint
//	p  Policy                                 ts Timestamp
//
//	Rows: d Documents, m Mark, p Paths (d Distance, o Of, v Vertices), v Values,
//	w Witness. A value is a bare integer, string or float.
//
// All maps are closed: a verdict is compared by hash, so a reader must know all of it.
func (v *Verdict) AppendBinary(dst []byte) ([]byte, error) {
	a := appender{b: dst}
	m := a.open()
	a.uint(keyVerdictVersion, Version)
	a.attempt("a", &v.Attempt)
	a.str("as", v.Aspect)
	a.enum("cm", uint8(v.Completeness), uint8(verdict.Unavailable))
	a.bin("p", v.Policy)
	a.parts("pt", v.Parts)
	a.str("t", v.Trace)
	a.str("te", v.Tenant)
	a.uint("tp", v.TimePoint)
	a.int("ts", v.Timestamp)
	a.close(m)
	if size := len(a.b) - len(dst); size > MaxRecord {
		a.fail("the verdict has %d bytes, the limit is %d; the clause has too many bindings", size, MaxRecord)
	}
	if a.err != nil {
		return dst, a.err
	}
	return a.b, nil
}

func (a *appender) parts(k string, parts []Part) {
	if len(parts) == 0 {
		return
	}
	a.key(k)
	a.array(len(parts), MaxParts)
	for i := range parts {
		p := &parts[i]
		m := a.open()
		a.flag("a", p.Absence)
		a.str("c", p.Clause)
		a.strs("cl", p.Columns)
		a.enum("cm", uint8(p.Completeness), uint8(verdict.Unavailable))
		a.str("n", p.Name)
		a.enum("r", uint8(p.Role), uint8(RoleGuard))
		a.rows("rw", p.Rows)
		a.close(m)
	}
}

func (a *appender) rows(k string, rows []Row) {
	if len(rows) == 0 {
		return
	}
	a.key(k)
	a.b = appendArrayHeader(a.b, len(rows))
	for i := range rows {
		r := &rows[i]
		m := a.open()
		a.flag("d", r.Documents)
		a.enum("m", uint8(r.Mark), uint8(verdict.F))
		a.paths("p", r.Paths)
		a.values("v", r.Values)
		if len(r.Witness) > 0 {
			a.key("w")
			a.b = appendArrayHeader(a.b, len(r.Witness))
			for _, w := range r.Witness {
				a.b = appendUint(a.b, w)
			}
		}
		a.close(m)
	}
}

func (a *appender) paths(k string, paths []Path) {
	if len(paths) == 0 {
		return
	}
	a.key(k)
	a.b = appendArrayHeader(a.b, len(paths))
	for i := range paths {
		m := a.open()
		a.int("d", paths[i].Distance)
		a.str("o", paths[i].Of)
		a.strs("v", paths[i].Vertices)
		a.close(m)
	}
}

func (a *appender) values(k string, values []Value) {
	if len(values) == 0 {
		return
	}
	a.key(k)
	a.b = appendArrayHeader(a.b, len(values))
	for i := range values {
		switch v := &values[i]; v.Kind {
		case KindInt:
			a.b = appendInt(a.b, v.Int)
		case KindString:
			a.b = appendStr(a.b, v.Str)
		case KindFloat:
			a.floatValue(v.Float)
		default:
			a.fail("a value of kind %d, which is outside its closed set", v.Kind)
		}
	}
}

// DecodeVerdict reads a verdict from its wire form, which must be canonical: what
// is accepted encodes to the same bytes. Errors are a *WireError and wrap ErrWire,
// or ErrVersion for a schema version other than Version. The verdict shares no
// memory with b.
func DecodeVerdict(b []byte) (*Verdict, error) {
	if err := Walk(b); err != nil {
		return nil, err
	}
	c := cursor{b: b}
	v := &Verdict{}
	n := c.version(keyVerdictVersion, "verdict")
	c.rest("verdict", n, func(key []byte) bool {
		switch string(key) {
		case "a":
			c.attempt(&v.Attempt)
		case "as":
			v.Aspect = c.str()
		case "cm":
			v.Completeness = verdict.Completeness(c.enum(uint8(verdict.Unavailable)))
		case "p":
			v.Policy = c.bin()
		case "pt":
			v.Parts = list(&c, MaxParts, (*cursor).part)
		case "t":
			v.Trace = c.str()
		case "te":
			v.Tenant = c.str()
		case "tp":
			v.TimePoint = c.uint()
		case "ts":
			v.Timestamp = c.int()
		default:
			return false
		}
		return true
	})
	if c.err != nil {
		return nil, c.err
	}
	return v, nil
}

func (c *cursor) part(p *Part) {
	c.fields("part", func(key []byte) bool {
		switch string(key) {
		case "a":
			p.Absence = c.flag()
		case "c":
			p.Clause = c.str()
		case "cl":
			p.Columns = c.strs()
		case "cm":
			p.Completeness = verdict.Completeness(c.enum(uint8(verdict.Unavailable)))
		case "n":
			p.Name = c.str()
		case "r":
			p.Role = Role(c.enum(uint8(RoleGuard)))
		case "rw":
			p.Rows = list(c, MaxRecord, (*cursor).row)
		default:
			return false
		}
		return true
	})
}

func (c *cursor) row(r *Row) {
	c.fields("row", func(key []byte) bool {
		switch string(key) {
		case "d":
			r.Documents = c.flag()
		case "m":
			r.Mark = verdict.Value(c.enum(uint8(verdict.F)))
		case "p":
			r.Paths = list(c, MaxRecord, (*cursor).path)
		case "v":
			r.Values = list(c, MaxRecord, (*cursor).value)
		case "w":
			r.Witness = list(c, MaxRecord, func(c *cursor, w *uint64) { *w = c.anyUint() })
		default:
			return false
		}
		return true
	})
}

func (c *cursor) path(p *Path) {
	c.fields("path", func(key []byte) bool {
		switch string(key) {
		case "d":
			p.Distance = c.int()
		case "o":
			p.Of = c.str()
		case "v":
			p.Vertices = c.strs()
		default:
			return false
		}
		return true
	})
}

func (c *cursor) value(v *Value) {
	switch code := c.b[c.at]; {
	case isStr(code):
		*v = StringValue(c.anyStr())
	case code == codeFloat64:
		*v = FloatValue(c.anyFloat())
	default:
		*v = IntValue(c.anyInt())
	}
}
