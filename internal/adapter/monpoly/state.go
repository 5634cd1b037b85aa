package monpoly

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// stateVersion begins the encoding of a monitor: version, digest of the bundle, time
// of what was lost, number of moments, moments. Other engines' begin otherwise.
const stateVersion = "monpoly1"

// appendMoment appends a time point in a deterministic encoding.
func appendMoment(dst []byte, m *moment) []byte {
	dst = binary.AppendVarint(dst, m.ts)
	dst = binary.AppendUvarint(dst, uint64(len(m.facts)))
	for _, f := range m.facts {
		dst = appendText(dst, f.Name)
		dst = append(dst, byte(f.Strength))
		dst = binary.AppendUvarint(dst, uint64(len(f.Args)))
		for _, a := range f.Args {
			dst = appendValue(dst, a)
		}
	}
	return dst
}

func appendValue(dst []byte, v schema.Value) []byte {
	dst = append(dst, byte(v.Kind))
	switch v.Kind {
	case schema.KindInt:
		return binary.AppendVarint(dst, v.Int)
	case schema.KindString:
		return appendText(dst, v.Str)
	case schema.KindFloat:
		return binary.BigEndian.AppendUint64(dst, math.Float64bits(v.Float))
	}
	return dst
}

func appendText(dst []byte, s string) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(s))), s...)
}

// appendState appends the record. What a reader makes of it has the same future.
func (r *record) appendState(dst []byte) []byte {
	dst = binary.AppendVarint(dst, r.lost)
	dst = binary.AppendUvarint(dst, uint64(len(r.moments)))
	for i := range r.moments {
		dst = appendMoment(dst, &r.moments[i])
	}
	return dst
}

// restore fills an empty record with what appendState wrote.
func (r *record) restore(b []byte) error {
	d := decoder{rest: b}
	lost := d.varint()
	for n := d.count(); n > 0 && !d.bad; n-- {
		ts, read := d.moment()
		m, err := r.next(ts, read)
		if d.bad || err != nil || len(m.facts) != len(read) {
			return fmt.Errorf("%w: damaged", ErrState)
		}
		r.append(m)
	}
	if d.bad || len(d.rest) > 0 || lost < never || r.lost != never || r.first > 0 {
		return fmt.Errorf("%w: damaged", ErrState)
	}
	r.lost = lost
	return nil
}

// decoder reads an encoding. After damage it returns zeros.
type decoder struct {
	rest []byte
	bad  bool
}

// take returns the next n bytes.
func (d *decoder) take(n int) []byte {
	if d.bad || n > len(d.rest) {
		d.bad = true
		return make([]byte, min(n, 8))
	}
	b := d.rest[:n]
	d.rest = d.rest[n:]
	return b
}

func (d *decoder) varint() int64 {
	v, n := binary.Varint(d.rest)
	if n <= 0 {
		d.bad = true
		return 0
	}
	d.rest = d.rest[n:]
	return v
}

// count reads a number of things that take at least a byte each.
func (d *decoder) count() int {
	v, n := binary.Uvarint(d.rest)
	if n <= 0 || v > uint64(len(d.rest)-n) {
		d.bad = true
		return 0
	}
	d.rest = d.rest[n:]
	return int(v)
}

func (d *decoder) text() string { return string(d.take(d.count())) }

func (d *decoder) moment() (ts int64, facts []schema.Fact) {
	ts = d.varint()
	for n := d.count(); n > 0 && !d.bad; n-- {
		f := schema.Fact{Name: d.text(), Strength: verdict.Strength(d.take(1)[0])}
		for args := d.count(); args > 0 && !d.bad; args-- {
			f.Args = append(f.Args, d.value())
		}
		d.bad = d.bad || f.Strength > verdict.Presumptive
		facts = append(facts, f)
	}
	return ts, facts
}

func (d *decoder) value() schema.Value {
	switch k := schema.ValueKind(d.take(1)[0]); k {
	case schema.KindInt:
		return schema.IntValue(d.varint())
	case schema.KindString:
		return schema.StringValue(d.text())
	case schema.KindFloat:
		return schema.FloatValue(math.Float64frombits(binary.BigEndian.Uint64(d.take(8))))
	}
	d.bad = true
	return schema.Value{}
}
