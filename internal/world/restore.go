package world

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// Reopen returns the world of the spec of w that AppendState encoded. It fails on bytes that
// AppendState did not write. Its cost is that of what differs from the spec, and of what has
// become reachable.
func (w *World) Reopen(state []byte) (*World, error) {
	initial := w.base.initial.Fork()
	next, err := initial.reopen(state)
	if err != nil {
		return nil, fmt.Errorf("world: the encoded state is damaged or of another version or spec: %w", err)
	}
	if !bytes.Equal(next.AppendState(nil), state) {
		return nil, errors.New("world: the encoded state is damaged: it is not in the form that a world writes")
	}
	return next, nil
}

func (w *World) reopen(state []byte) (*World, error) {
	r := &decoder{rest: string(state)}
	if v := r.byte(); v != version {
		return nil, fmt.Errorf("version %d, want %d", v, version)
	}
	if r.take(len(w.base.digest)) != string(w.base.digest[:]) {
		return nil, errors.New("it belongs to another spec")
	}
	d := w.draft(Origin{})
	d.overflow = r.bool()
	d.changed = true
	for _, part := range []func(*decoder){d.readCells, d.readCalls, d.readStacks} {
		if part(r); r.err != nil {
			return nil, r.err
		}
	}
	if r.rest != "" {
		return nil, fmt.Errorf("%d bytes too many", len(r.rest))
	}
	d.flush()
	return d.World, nil
}

func (d *draft) readCells(r *decoder) {
	for range r.count() {
		c := d.readCell(r)
		im := d.readImage(r, c.kind)
		if r.err != nil {
			return
		}
		d.put(d.key(c), c, im)
	}
	if d.graph.lines > maxEdges || d.things.replicas > maxReplicas || d.things.links > maxTuples || d.things.tuples.len() > maxTuples {
		r.fail("more than a world can hold")
	}
}

// readCell reads a key and meets the names in it.
func (d *draft) readCell(r *decoder) cell {
	key := r.string()
	if r.err != nil || key == "" {
		r.fail("a cell without a name")
		return cell{}
	}
	kind := cellKind(key[0])
	if kind == tupleCell {
		if !d.validTuple(key) {
			r.fail("a tuple of no relation")
		}
		return cell{kind: kind, tuple: key}
	}
	a, b, ok := cutPair(key[1:], kind.pairs())
	if !ok || kind == 0 || kind > tupleCell || !d.meet(kind, a, b) {
		r.fail("a cell of no kind")
		return cell{}
	}
	c, ok := d.parse(key)
	if !ok || kind == edgeCell && d.edgeCell(V(c.x), V(c.y)) != c {
		r.fail("a cell of no kind")
	}
	return c
}

// meet interns the names of a cell.
func (d *draft) meet(kind cellKind, a, b string) bool {
	ok, there := true, true
	switch kind {
	case vertexCell, domainCell:
		_, ok = d.internVertex(a)
	case labelCell:
		_, ok = d.internVertex(a)
		_, there = d.internLabel(b)
	case edgeCell, channelCell:
		_, _, ok = d.internVertices(a, b)
	case replicaCell:
		_, ok = d.internObject(a)
		_, there = d.internVertex(b)
	case existsCell, emptiedCell:
		_, ok = d.internObject(a)
	case linkCell:
		_, ok = d.internObject(a)
		_, there = d.internObject(b)
	case tupleCell:
	}
	return ok && there
}

// validTuple tells whether a key is that of a tuple of the spec, in the form that is written.
func (w *World) validTuple(key string) bool {
	table, args, ok := cutTuple(key, nil)
	if !ok || !mayStore(args) || string(tuplePrefix(table, args...)) != key {
		return false
	}
	t, ok := w.base.tables[table]
	if t.Kinds == nil {
		t.Kinds = []schema.ValueKind{schema.KindString, schema.KindString}
	}
	return ok && t.takes(args)
}

// readImage reads what the cells of a kind use.
func (d *draft) readImage(r *decoder, kind cellKind) (im image) {
	bits := r.byte()
	if bits == 0 || r.err != nil {
		return image{}
	}
	im.present = true
	im.open = bits&imageOpen != 0
	if bits&imagePresumptive != 0 {
		im.strength = verdict.Presumptive
	}
	if bits&imageWeak != 0 {
		im.own = verdict.Presumptive
	}
	im.origin = r.uint()
	ok := bits&imagePresent != 0 && bits < imageWeak<<1 &&
		(!im.open || kind == channelCell) && (im.own == verdict.Definite || kind == tupleCell) && im.strength <= im.own
	switch kind {
	case vertexCell:
		im.n = r.int()
		ok = ok && (im.n == int64(Physical) || im.n == int64(Informational))
	case edgeCell:
		im.n = r.int()
		ok = ok && im.n >= 0 && im.n <= maxDistance
	case channelCell:
		im.n = r.int()
		ok = ok && im.n >= WeightByDomain && im.n <= maxDistance
	case domainCell:
		im.s = r.string()
		ok = ok && im.s != "" && im.s != UnknownDomain
		if ok {
			_, ok = d.internDomain(im.s)
		}
	case labelCell, replicaCell, existsCell, emptiedCell, linkCell, tupleCell:
	}
	if !ok {
		r.fail("a value out of range")
	}
	return im
}

func (d *draft) readCalls(r *decoder) {
	fresh := 0
	for range r.count() {
		f := &flight{call: r.string(), offset: r.uint()}
		bits := r.byte()
		f.doubt, f.spent = bits&flightDoubt != 0, bits&flightSpent != 0
		for range r.count() {
			f.names = append(f.names, r.string())
		}
		if r.err != nil {
			return
		}
		if f.call == "" || f.spent && !f.doubt || !slices.IsSorted(f.names) {
			r.fail("a call that cannot be")
			return
		}
		if f.doubt {
			d.flying.doubts++
			fresh += presence(!f.spent)
			for _, name := range f.names {
				d.countName(name, 1)
			}
		}
		d.flying.calls.set(f.call, f, d.owner)
	}
	if fresh > maxDoubts || d.flying.calls.len() > maxCalls {
		r.fail("more calls than a world can hold")
	}
}

func (d *draft) readStacks(r *decoder) {
	for range r.count() {
		c := d.readCell(r)
		if r.err != nil {
			return
		}
		var stack []entry
		for range r.count() {
			x := entry{call: r.string()}
			x.before = d.readImage(r, c.kind)
			f, ok := d.flying.calls.get(x.call)
			if !ok || f.spent || r.err != nil {
				r.fail("a write of no call")
				return
			}
			f.cells = append(f.cells, c)
			stack = append(stack, x)
		}
		if len(stack) == 0 {
			r.fail("a cell that no call wrote")
			return
		}
		d.flying.stacks.set(d.key(c), stack, d.owner)
	}
}

// decoder reads what encoder writes. After an error everything it reads is zero.
type decoder struct {
	rest string
	err  error
}

func (r *decoder) fail(what string) {
	if r.err == nil {
		r.err = errors.New(what)
	}
	r.rest = ""
}

func (r *decoder) take(n int) string {
	if len(r.rest) < n {
		r.fail("it ends too early")
		return ""
	}
	s := r.rest[:n]
	r.rest = r.rest[n:]
	return s
}

func (r *decoder) byte() byte {
	if s := r.take(1); s != "" {
		return s[0]
	}
	return 0
}

func (r *decoder) bool() bool { return r.byte() == 1 }

func (r *decoder) string() string {
	s, rest, ok := cutName(r.rest)
	if !ok {
		r.fail("it ends too early")
		return ""
	}
	r.rest = rest
	return s
}

func (r *decoder) uint() uint64 {
	n, width := binary.Uvarint([]byte(r.rest[:min(len(r.rest), binary.MaxVarintLen64)]))
	if width <= 0 {
		r.fail("a number out of range")
		return 0
	}
	r.take(width)
	return n
}

func (r *decoder) int() int64 {
	n, width := binary.Varint([]byte(r.rest[:min(len(r.rest), binary.MaxVarintLen64)]))
	if width <= 0 {
		r.fail("a number out of range")
		return 0
	}
	r.take(width)
	return n
}

// count reads how many items follow; each takes a byte at least.
func (r *decoder) count() int {
	n := r.uint()
	if n > uint64(len(r.rest)) {
		r.fail("it ends too early")
		return 0
	}
	return int(n)
}
