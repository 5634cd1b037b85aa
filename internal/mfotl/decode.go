package mfotl

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// Restore returns the state that AppendState encoded. It fails with ErrOther if
// the state belongs to another plan or version, and with ErrState if AppendState
// cannot have written it: Restore succeeds on exactly the encodings of states, and
// AppendState then gives the same bytes. Memory is bounded by a multiple of the
// input.
func (p *Plan) Restore(state []byte) (*State, error) {
	head := 1 + len(p.print)
	if len(state) < head {
		return nil, fmt.Errorf("%w: %d bytes are too short", ErrState, len(state))
	}
	if state[0] != stateVersion {
		return nil, fmt.Errorf("%w: version %d; this program reads %d", ErrOther, state[0], stateVersion)
	}
	if !bytes.Equal(state[1:head], p.print[:]) {
		return nil, fmt.Errorf("%w: plan %x; this plan is %x", ErrOther, state[1:head], p.print[:])
	}
	st := p.New()
	d := decoder{st: st, rest: state[head:], total: len(state)}
	d.state()
	if d.err == nil && len(d.rest) > 0 {
		d.fail("%d bytes too many", len(d.rest))
	}
	if d.err != nil {
		return nil, d.err
	}
	if !bytes.Equal(st.AppendState(make([]byte, 0, len(state))), state) {
		return nil, fmt.Errorf("%w: it is not in normal form", ErrState)
	}
	return st, nil
}

// decoder reads an encoded state. After the first error every read yields zero.
type decoder struct {
	st    *State
	rest  []byte
	total int
	err   error
}

func (d *decoder) fail(format string, args ...any) {
	if d.err == nil {
		at := d.total - len(d.rest)
		d.err = fmt.Errorf("%w: at byte %d: %s", ErrState, at, fmt.Sprintf(format, args...))
	}
	d.rest = nil
}

func (d *decoder) byte() byte {
	if len(d.rest) == 0 {
		d.fail("it ends early")
		return 0
	}
	b := d.rest[0]
	d.rest = d.rest[1:]
	return b
}

func (d *decoder) uvarint() uint64 {
	v, n := binary.Uvarint(d.rest)
	if n <= 0 {
		d.fail("bad number")
		return 0
	}
	d.rest = d.rest[n:]
	return v
}

func (d *decoder) varint() int64 {
	v, n := binary.Varint(d.rest)
	if n <= 0 {
		d.fail("bad number")
		return 0
	}
	d.rest = d.rest[n:]
	return v
}

// count reads the number of things of at least size bytes each that follow.
func (d *decoder) count(size int) int {
	n := d.uvarint()
	if n > uint64(len(d.rest)/max(size, 1)) {
		d.fail("%d items cannot follow", n)
		return 0
	}
	return int(n)
}

func (d *decoder) value() schema.Value {
	switch kind := schema.ValueKind(d.byte()); kind {
	case schema.KindInt:
		return schema.IntValue(d.varint())
	case schema.KindString:
		n := d.count(1)
		v := schema.StringValue(string(d.rest[:n]))
		d.rest = d.rest[n:]
		return v
	case schema.KindFloat:
		if len(d.rest) < 8 {
			d.fail("it ends early")
			return schema.Value{}
		}
		f := math.Float64frombits(binary.BigEndian.Uint64(d.rest))
		d.rest = d.rest[8:]
		if math.IsNaN(f) {
			d.fail("not a number")
		}
		return schema.FloatValue(f)
	}
	d.fail("unknown kind of value")
	return schema.Value{}
}

func (d *decoder) tuple(dst []word, arity int) []word {
	for range arity {
		dst = append(dst, d.st.intern(d.value()))
	}
	return dst
}

func (d *decoder) mark() byte {
	b := d.byte()
	if _, ok := markOf(b); !ok {
		d.fail("%d is not a mark", b)
	}
	return b
}

func (d *decoder) state() {
	st := d.st
	if st.points = d.uvarint(); st.points > math.MaxInt64 {
		d.fail("%d time points are more than a log can hold", st.points)
	}
	newer := int64(math.MaxInt64)
	for k := 0; k <= st.plan.depth && uint64(k) < st.points && d.err == nil; k++ {
		f := st.frame(k)
		f.ts = d.varint()
		if f.ts > newer {
			d.fail("time stamps descend")
		}
		newer = f.ts
		if k < st.plan.depth {
			d.frame(f, k)
		}
	}
	for id := range st.stores {
		if d.err != nil {
			return
		}
		switch d.byte() {
		case 0:
		case 1:
			st.lose(int32(id), loss{true, d.varint()})
		default:
			d.fail("bad flag")
		}
		d.store(st.plan.stores[id])
	}
	if st.entries > st.plan.budget {
		d.fail("%d window entries exceed the budget of %d", st.entries, st.plan.budget)
	}
}

func (d *decoder) frame(f *frame, k int) {
	f.source = d.uvarint()
	for _, rel := range d.st.plan.keep[k] {
		arity := d.st.plan.rels[rel].arity
		for range d.count(2*arity + 1) {
			f.open(rel)
			f.words = d.tuple(f.words, arity)
			m, _ := markOf(d.mark())
			f.marks = append(f.marks, m)
			if d.err != nil {
				return
			}
		}
	}
	slices.SortFunc(f.spans, func(a, b span) int { return a.rel - b.rel })
}

// slotState is one tuple of a store with its entries.
type slotState struct {
	key  []word
	ents []uint64
}

func (d *decoder) store(spec *storeSpec) {
	slots := d.slots(spec)
	var gaps []gap
	if spec.gapped() {
		gaps = d.gaps(spec)
	}
	if len(slots)+len(gaps) == 0 || d.err != nil {
		return
	}
	s := newStore(spec, d.st.plan.seed, &d.st.entries)
	d.st.stores[spec.id] = s
	s.gaps = gaps
	s.resize(len(gaps))
	slices.SortStableFunc(slots, func(a, b slotState) int {
		return compareInts(spec.rank(a.ents), spec.rank(b.ents))
	})
	for _, sl := range slots {
		if s.find(sl.key) >= 0 {
			d.fail("a tuple occurs twice")
			return
		}
		slot := s.make(sl.key)
		s.count(slot, func() { s.ents[slot] = sl.ents })
		s.noted(slot, rowChanged)
	}
}

// rank orders slots as they are linked: by the time stamp of the newest entry, with
// the runs of a HISTORICALLY, which reach the present, last.
func (p *storeSpec) rank(ents []uint64) int64 {
	at := len(ents) - p.stride()
	switch {
	case !p.universal:
		return int64(ents[at+entTS])
	case entryMark(ents, at) == verdict.F:
		return math.MaxInt64
	}
	return firstOf(ents, at)
}

func (d *decoder) slots(spec *storeSpec) []slotState {
	n := d.count(2*spec.arity + 1)
	if n == 0 {
		return nil
	}
	clock, ok := d.st.clock(spec.delay)
	if !ok {
		d.fail("a window of a time point that was not yet")
		return nil
	}
	var slots []slotState
	for range n {
		sl := slotState{key: d.tuple(nil, spec.arity)}
		if spec.universal {
			sl.ents = d.heldEntries(spec, clock)
		} else {
			sl.ents = d.entries(spec, clock.ts)
		}
		if d.err != nil {
			return nil
		}
		slots = append(slots, sl)
	}
	return slots
}

func (d *decoder) entries(spec *storeSpec, clock int64) []uint64 {
	n := d.count(2 + spec.wit)
	if n == 0 {
		d.fail("a tuple without entries")
	}
	var ents []uint64
	for i := range n {
		ts := d.varint()
		if ts > clock || (i > 0 && ts < int64(ents[len(ents)-entWit-spec.wit])) || age(clock, ts) > spec.hi {
			d.fail("time stamp %d out of order or expired", ts)
		}
		ents = append(ents, uint64(ts), uint64(d.mark()))
		ents = d.witness(ents, spec.wit)
		if d.err != nil {
			return nil
		}
	}
	return ents
}

// witness reads the words of one witness.
func (d *decoder) witness(dst []uint64, width int) []uint64 {
	last := uint64(math.MaxUint64)
	for range width {
		w := d.uvarint()
		if w > last || (w == last && w != 0) {
			d.fail("witness out of order")
		}
		last = w
		dst = append(dst, w)
	}
	return dst
}
