package mfotl

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// stateVersion is the version of the encoding of states. Version 2:
//
//	version byte, fingerprint of the plan (16 bytes), number of time points
//	the newest depth+1 time points, newest first: time stamp, then, all but the
//	  last of them, offset+1 and, for each relation that is still to be read, the
//	  number of its facts and these in ascending order: values, mark
//	every store of the plan: 0, or 1 if it was incomplete and the time stamp at which
//	  that was last found; number of tuples, and these in ascending order: values, number of entries, entries oldest first: time
//	  stamp, mark, width times a witness word; of a HISTORICALLY: mark, unless it is
//	  F the time stamps of the first and the last time point, the latter not if the
//	  segment is going on, and if the mark is T or F the witness words; and behind
//	  the tuples, if its interval has a lower bound, the number of gaps and these:
//	  1 if it is the time before the trace, else 0 and the time stamp before it, and
//	  the time stamp behind it
//
// Numbers are varints in their shortest form, time stamps zig-zag. A value is its
// kind and a zig-zag varint, or eight bytes of IEEE 754, or a length and bytes.
// Everything is normalised by the newest time point, so that equal states have
// equal encodings.
const stateVersion = 2

// AppendState appends the encoding of the state. It panics while a step is
// pending. Its cost is O(n log n) in the size of the state.
func (st *State) AppendState(dst []byte) []byte {
	if st.pending {
		panic("mfotl: AppendState with a pending step")
	}
	st.normalise()
	dst = append(dst, stateVersion)
	dst = append(dst, st.plan.print[:]...)
	dst = binary.AppendUvarint(dst, st.points)
	for k := 0; k <= st.plan.depth && uint64(k) < st.points; k++ {
		dst = st.appendFrame(dst, k)
	}
	for id, s := range st.stores {
		dst = st.appendLoss(dst, id)
		if s == nil {
			if dst = append(dst, 0); st.plan.stores[id].gapped() {
				dst = append(dst, 0)
			}
			continue
		}
		dst = st.appendStore(dst, s)
	}
	return dst
}

func (st *State) appendFrame(dst []byte, k int) []byte {
	f := st.frame(k)
	dst = binary.AppendVarint(dst, f.ts)
	if k == st.plan.depth {
		return dst
	}
	dst = binary.AppendUvarint(dst, f.source)
	for _, rel := range st.plan.keep[k] {
		dst = st.appendFacts(dst, f, f.find(rel), st.plan.rels[rel].arity)
	}
	return dst
}

// appendFacts appends the facts of one relation as a sorted set; of two equal
// facts the stronger counts.
func (st *State) appendFacts(dst []byte, f *frame, sp span, arity int) []byte {
	row := func(i int) []word { return f.words[sp.words+i*arity:][:arity] }
	order := make([]int, 0, sp.hi-sp.lo)
	for i := range sp.hi - sp.lo {
		order = append(order, i)
	}
	slices.SortFunc(order, func(a, b int) int {
		if c := st.compareTuples(row(a), row(b)); c != 0 {
			return c
		}
		return int(f.marks[sp.lo+b]) - int(f.marks[sp.lo+a])
	})
	order = slices.CompactFunc(order, func(a, b int) bool { return slices.Equal(row(a), row(b)) })
	dst = binary.AppendUvarint(dst, uint64(len(order)))
	for _, i := range order {
		dst = st.appendTuple(dst, row(i))
		dst = append(dst, byte(f.marks[sp.lo+i]))
	}
	return dst
}

func (st *State) appendStore(dst []byte, s *store) []byte {
	slots := make([]int32, 0, s.n)
	s.eachSlot(func(slot int32) { slots = append(slots, slot) })
	slices.SortFunc(slots, func(a, b int32) int { return st.compareTuples(s.tuple(a), s.tuple(b)) })
	dst = binary.AppendUvarint(dst, uint64(len(slots)))
	for _, slot := range slots {
		dst = st.appendTuple(dst, s.tuple(slot))
		e := s.ents[slot]
		dst = binary.AppendUvarint(dst, uint64(len(e)/s.stride))
		for at := 0; at < len(e); at += s.stride {
			if s.spec.universal {
				dst = appendHeld(dst, e[at:at+s.stride], at+s.stride == len(e))
				continue
			}
			dst = binary.AppendVarint(dst, int64(e[at+entTS]))
			dst = append(dst, byte(e[at+entMark]))
			dst = appendWords(dst, e[at+entWit:at+s.stride])
		}
	}
	if s.spec.gapped() {
		dst = appendGaps(dst, s.gaps)
	}
	return dst
}

func appendWords(dst []byte, words []uint64) []byte {
	for _, w := range words {
		dst = binary.AppendUvarint(dst, w)
	}
	return dst
}

// appendHeld appends an entry of a HISTORICALLY.
func appendHeld(dst []byte, e []uint64, newest bool) []byte {
	m := entryMark(e, 0)
	dst = append(dst, byte(m))
	if m != verdict.F {
		dst = binary.AppendVarint(dst, firstOf(e, 0))
		if !newest {
			dst = binary.AppendVarint(dst, lastOf(e, 0))
		}
	}
	if m == verdict.T || m == verdict.F {
		dst = appendWords(dst, e[heldWit:])
	}
	return dst
}

func appendGaps(dst []byte, gaps []gap) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(gaps)))
	for _, g := range gaps {
		if g.first {
			dst = append(dst, 1)
		} else {
			dst = binary.AppendVarint(append(dst, 0), g.before)
		}
		dst = binary.AppendVarint(dst, g.after)
	}
	return dst
}

func (st *State) appendTuple(dst []byte, t []word) []byte {
	for _, w := range t {
		v := st.value(w)
		dst = append(dst, byte(v.Kind))
		switch v.Kind {
		case schema.KindInt:
			dst = binary.AppendVarint(dst, v.Int)
		case schema.KindString:
			dst = binary.AppendUvarint(dst, uint64(len(v.Str)))
			dst = append(dst, v.Str...)
		case schema.KindFloat:
			dst = binary.BigEndian.AppendUint64(dst, math.Float64bits(v.Float))
		}
	}
	return dst
}

// markOf reads a mark of a tuple that is present.
func markOf(b byte) (verdict.Value, bool) {
	v := verdict.Value(b)
	return v, v.Valid() && v != verdict.T
}

// appendLoss appends whether a store is incomplete, and if so since when.
func (st *State) appendLoss(dst []byte, id int) []byte {
	if st.lost == nil || !st.lost[id].is {
		return append(dst, 0)
	}
	return binary.AppendVarint(append(dst, 1), st.lost[id].at)
}
