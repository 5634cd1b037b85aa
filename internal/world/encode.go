package world

import (
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"slices"

	"github.com/aspis-rv/aspis/pkg/verdict"
)

// The encoding of a world is that of its spec's digest and of what differs from the spec: the
// cells in the order of their keys, the calls in flight, and the stacks of what they wrote.
// It holds names and no ids, so it does not depend on how the world came about.

// version is the first byte of an encoding.
const version = 2

// encoder appends to buf, and hands it on as it goes where there is a hash.
type encoder struct {
	buf  []byte
	hash hash.Hash
}

func (e *encoder) byte(b byte)     { e.buf = append(e.buf, b) }
func (e *encoder) string(s string) { e.buf = appendName(e.buf, s) }
func (e *encoder) uint(n uint64)   { e.buf = binary.AppendUvarint(e.buf, n) }
func (e *encoder) int(n int64)     { e.buf = binary.AppendVarint(e.buf, n) }
func (e *encoder) strings(s []string) {
	e.uint(uint64(len(s)))
	for _, x := range s {
		e.string(x)
	}
}

// drain ends an item.
func (e *encoder) drain() {
	if e.hash != nil {
		e.hash.Write(e.buf)
		e.buf = e.buf[:0]
	}
}

// AppendState appends the world in a deterministic encoding; equal worlds have equal bytes.
// Its length and cost are those of what differs from the spec.
func (w *World) AppendState(dst []byte) []byte {
	e := &encoder{buf: dst}
	w.encode(e)
	return e.buf
}

// Hash is the SHA-256 of the encoding, computed without making it.
func (w *World) Hash() [32]byte {
	e := &encoder{hash: sha256.New()}
	w.encode(e)
	return [32]byte(e.hash.Sum(nil))
}

func (w *World) encode(e *encoder) {
	e.byte(version)
	e.buf = append(e.buf, w.base.digest[:]...)
	e.bool(w.overflow)
	e.uint(uint64(w.diff.len()))
	w.diff.scan(func(key string, _ struct{}) bool {
		c, _ := w.parse(key)
		e.string(key)
		e.image(c.kind, w.get(c))
		e.drain()
		return true
	})
	e.uint(uint64(w.flying.calls.len()))
	w.flying.calls.scan(func(_ string, f *flight) bool {
		e.flight(f)
		e.drain()
		return true
	})
	e.uint(uint64(w.flying.stacks.len()))
	w.flying.stacks.scan(func(key string, stack []entry) bool {
		e.string(key)
		e.uint(uint64(len(stack)))
		for _, x := range stack {
			e.string(x.call)
			e.image(cellKind(key[0]), x.before)
		}
		e.drain()
		return true
	})
	e.drain()
}

func (e *encoder) bool(b bool) { e.byte(byte(presence(b))) }

// The bits of an image.
const (
	imagePresent = 1 << iota
	imageOpen
	imagePresumptive
	imageWeak // written by a presumptive mark
)

// image writes what the cells of a kind use.
func (e *encoder) image(kind cellKind, im image) {
	if !im.present {
		e.byte(0)
		return
	}
	bits := byte(imagePresent)
	if im.open {
		bits |= imageOpen
	}
	if im.strength == verdict.Presumptive {
		bits |= imagePresumptive
	}
	if im.own == verdict.Presumptive {
		bits |= imageWeak
	}
	e.byte(bits)
	e.uint(im.origin)
	switch kind {
	case vertexCell, edgeCell, channelCell:
		e.int(im.n)
	case domainCell:
		e.string(im.s)
	case labelCell, replicaCell, existsCell, emptiedCell, linkCell, tupleCell:
	}
}

// The bits of a flight.
const (
	flightDoubt = 1 << iota
	flightSpent
)

func (e *encoder) flight(f *flight) {
	e.string(f.call)
	e.uint(f.offset)
	bits := byte(0)
	if f.doubt {
		bits |= flightDoubt
	}
	if f.spent {
		bits |= flightSpent
	}
	e.byte(bits)
	e.strings(f.names)
}

// digest identifies the spec in encodings: the order of its parts does not matter.
func (w *World) digest() [32]byte {
	e := &encoder{hash: sha256.New()}
	w.digestGraph(e)
	w.digestThings(e)
	return [32]byte(e.hash.Sum(nil))
}

func (w *World) digestGraph(e *encoder) {
	e.uint(uint64(w.Vertices()))
	for v := range V(w.Vertices()) { // by name: see builder
		x := w.vertex(v)
		e.string(x.name)
		e.byte(byte(x.sort))
		e.string(x.domain)
		e.strings(x.labels)
		e.uint(uint64(len(w.Edges(v))))
		for _, c := range w.Edges(v) {
			e.uint(uint64(c.To))
			e.int(c.Distance)
		}
		e.uint(uint64(len(w.Out(v))))
		for _, c := range w.Out(v) {
			e.uint(uint64(c.To))
			e.image(channelCell, c.image())
		}
		e.drain()
	}
	for _, gs := range []groups{w.graph.labels, w.graph.domains} {
		e.uint(uint64(gs.ids.len()))
		gs.ids.scan(func(name string, _ uint32) bool {
			e.string(name)
			e.drain()
			return true
		})
	}
}

func (w *World) digestThings(e *encoder) {
	e.uint(uint64(w.things.names.len()))
	w.things.names.scan(func(name string, id uint32) bool {
		e.string(name)
		e.uint(uint64(len(w.object(id).at)))
		for _, r := range w.object(id).at {
			e.uint(uint64(r.v))
		}
		e.drain()
		return true
	})
	e.uint(uint64(w.things.tuples.len()))
	w.things.tuples.scan(func(key string, _ tuple) bool {
		e.string(key)
		e.drain()
		return true
	})
	names := make([]string, 0, len(w.base.tables))
	for name := range w.base.tables {
		names = append(names, name)
	}
	slices.Sort(names)
	e.uint(uint64(len(names)))
	for _, name := range names {
		t := w.base.tables[name]
		e.string(name)
		e.bool(t.Kinds == nil)
		e.uint(uint64(len(t.Kinds)))
		for _, k := range t.Kinds {
			e.byte(byte(k))
		}
	}
	e.drain()
}
