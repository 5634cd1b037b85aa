package mfotl

import (
	"math"
	"strings"

	"github.com/aspis-rv/aspis/pkg/schema"
)

// word is a value in one machine word, so that a tuple is a fixed-width run of
// words and equality of values is equality of words. The two low bits are the tag:
//
//	00  an integer of 62 bits, shifted left by two
//	10  a float whose two low bits are zero, in place
//	01  a string, 11 a number that fits neither form: an id shifted left by two
//
// Ids are given out by a dictionary and mean nothing outside their State.
type word = uint64

const (
	tagInt   word = 0
	tagStr   word = 1
	tagFloat word = 2
	tagNum   word = 3
	tagMask  word = 3
)

// inline returns the word of a value that needs no dictionary.
func inline(v schema.Value) (word, bool) {
	switch v.Kind {
	case schema.KindInt:
		w := word(v.Int) << 2
		return w, int64(w)>>2 == v.Int
	case schema.KindFloat:
		b := floatBits(v.Float)
		return b | tagFloat, b&tagMask == 0
	case schema.KindString:
		return 0, false
	}
	return 0, false
}

// floatBits is the bit pattern of f with the two zeros made one.
func floatBits(f float64) uint64 {
	if f == 0 {
		return 0
	}
	return math.Float64bits(f)
}

// numKey is a number that has no inline form.
type numKey struct {
	kind schema.ValueKind
	bits uint64
}

func keyOf(v schema.Value) numKey {
	if v.Kind == schema.KindFloat {
		return numKey{v.Kind, floatBits(v.Float)}
	}
	return numKey{v.Kind, uint64(v.Int)}
}

// dict gives ids to values without an inline form. Ids start at base; smaller ones
// belong to the dictionary of the plan's constants.
type dict struct {
	base uint64
	strs map[string]uint64
	nums map[numKey]uint64
	vals []schema.Value // by id - base
	free []uint64       // ids to be given out again

	sweeps uint64 // how often ids were taken back
}

// find returns the word of v if v has an id already.
func (d *dict) find(v schema.Value) (word, bool) {
	if v.Kind == schema.KindString {
		id, ok := d.strs[v.Str]
		return id<<2 | tagStr, ok
	}
	id, ok := d.nums[keyOf(v)]
	return id<<2 | tagNum, ok
}

// add gives v an id. Strings are copied, so that a small string does not keep the
// record alive from which it was cut.
func (d *dict) add(v schema.Value) word {
	if v.Kind == schema.KindString {
		v.Str = strings.Clone(v.Str)
	}
	if n := len(d.free); n > 0 {
		id := d.free[n-1]
		d.free = d.free[:n-1]
		d.vals[id-d.base] = v
		return d.enter(id, v)
	}
	d.vals = append(d.vals, v)
	return d.enter(d.base+uint64(len(d.vals)-1), v)
}

// enter makes a value's id known to find.
func (d *dict) enter(id uint64, v schema.Value) word {
	if v.Kind == schema.KindString {
		if d.strs == nil {
			d.strs = make(map[string]uint64)
		}
		d.strs[v.Str] = id
		return id<<2 | tagStr
	}
	if d.nums == nil {
		d.nums = make(map[numKey]uint64)
	}
	d.nums[keyOf(v)] = id
	return id<<2 | tagNum
}

// size is the number of values that have an id.
func (d *dict) size() int { return len(d.vals) - len(d.free) }

// sweep takes back every id that live does not report. The maps are filled anew: one that
// ever loses some of its keys and gains others would grow without need.
func (d *dict) sweep(live []bool) {
	d.sweeps++
	d.free = d.free[:0]
	clear(d.strs)
	clear(d.nums)
	for i := len(d.vals) - 1; i >= 0; i-- {
		id := d.base + uint64(i)
		if live[i] {
			d.enter(id, d.vals[i])
			continue
		}
		d.vals[i] = schema.Value{}
		d.free = append(d.free, id)
	}
}

// intern returns the word of v, giving it an id if it needs one.
func (st *State) intern(v schema.Value) word {
	if w, ok := inline(v); ok {
		return w
	}
	if len(st.plan.consts.vals) > 0 {
		if w, ok := st.plan.consts.find(v); ok {
			return w
		}
	}
	if w, ok := st.dict.find(v); ok {
		return w
	}
	return st.dict.add(v)
}

// value is the inverse of intern.
func (st *State) value(w word) schema.Value {
	switch w & tagMask {
	case tagInt:
		return schema.IntValue(int64(w) >> 2)
	case tagFloat:
		return schema.FloatValue(math.Float64frombits(w &^ tagMask))
	}
	id := w >> 2
	if id < st.dict.base {
		return st.plan.consts.vals[id]
	}
	return st.dict.vals[id-st.dict.base]
}

// compareWords orders two words by their values.
func (st *State) compareWords(a, b word) int {
	if a&tagMask == tagInt && b&tagMask == tagInt {
		return compareInts(int64(a), int64(b))
	}
	if a == b {
		return 0
	}
	return schema.Compare(st.value(a), st.value(b))
}

// compareTuples orders two tuples of equal width column by column.
func (st *State) compareTuples(a, b []word) int {
	for i := range a {
		if c := st.compareWords(a[i], b[i]); c != 0 {
			return c
		}
	}
	return 0
}

// sweepSlack is the number of dictionary entries below which collecting garbage is
// not worth its cost: 1,024 short strings are some 100 kB at worst.
const sweepSlack = 1024

// sweepIfDue takes back the ids that no window and no retained time point uses,
// once their number has doubled since the last time: amortised O(1) per new value.
func (st *State) sweepIfDue() {
	if st.dict.size() <= st.sweepAt {
		return
	}
	st.expireAll()
	live := make([]bool, len(st.dict.vals))
	mark := func(ws []word) {
		for _, w := range ws {
			if t := w & tagMask; t == tagStr || t == tagNum {
				if id := w >> 2; id >= st.dict.base {
					live[id-st.dict.base] = true
				}
			}
		}
	}
	for d := 0; d <= st.plan.depth; d++ {
		mark(st.frame(d).words)
	}
	for _, s := range st.stores {
		if s != nil {
			s.eachKey(mark)
		}
	}
	st.dict.sweep(live)
	st.sweepAt = 2*st.dict.size() + sweepSlack
}
