package mfotl

import "math/bits"

// hashWords hashes a tuple. The seed comes from the plan's fingerprint. Nothing
// visible depends on hashes; colliding keys cost time, which the tuple budget
// bounds.
func hashWords(seed uint64, key []word) uint64 {
	h := seed
	for _, w := range key {
		hi, lo := bits.Mul64(h^w, 0x9E3779B97F4A7C15)
		h = hi ^ lo ^ bits.RotateLeft64(w, 23)
	}
	return h ^ h>>29
}

// index finds the slots of a store by some of their columns. Slots that agree on
// the columns form a group; all operations are O(1) amortised.
type index struct {
	cols   []int
	heads  []int32 // hash buckets of groups; power of two
	groups []group
	free   int32 // list of unused groups through next, -1 ends
	n      int   // groups in use
	// By slot: its group and neighbours within the group.
	groupOf, next, prev []int32
	key                 []word // scratch
}

// group is the list of slots with one key.
type group struct {
	hash  uint64
	first int32 // slot; -1: the group is unused
	next  int32 // in the bucket, or in the free list
}

func newIndex(cols []int) index {
	return index{cols: cols, free: -1, key: make([]word, len(cols))}
}

// find returns the group of a key, or -1.
func (x *index) find(s *store, key []word) int32 {
	if x.n == 0 {
		return -1
	}
	h := hashWords(s.seed, key)
	for g := x.heads[h&uint64(len(x.heads)-1)]; g >= 0; g = x.groups[g].next {
		if x.groups[g].hash == h && x.matches(s, x.groups[g].first, key) {
			return g
		}
	}
	return -1
}

func (x *index) matches(s *store, slot int32, key []word) bool {
	t := s.tuple(slot)
	for i, c := range x.cols {
		if t[c] != key[i] {
			return false
		}
	}
	return true
}

// keyOf returns the key of a slot in scratch memory of the index.
func (x *index) keyOf(s *store, slot int32) []word {
	t := s.tuple(slot)
	for i, c := range x.cols {
		x.key[i] = t[c]
	}
	return x.key
}

// insert adds a slot, whose tuple is in place.
func (x *index) insert(s *store, slot int32) {
	for int(slot) >= len(x.groupOf) {
		x.groupOf = append(x.groupOf, -1)
		x.next = append(x.next, -1)
		x.prev = append(x.prev, -1)
	}
	key := x.keyOf(s, slot)
	g := x.find(s, key)
	if g < 0 {
		g = x.open(hashWords(s.seed, key))
	}
	first := x.groups[g].first
	x.groupOf[slot], x.next[slot], x.prev[slot] = g, first, -1
	if first >= 0 {
		x.prev[first] = slot
	}
	x.groups[g].first = slot
}

// remove takes a slot out.
func (x *index) remove(slot int32) {
	g, next, prev := x.groupOf[slot], x.next[slot], x.prev[slot]
	if next >= 0 {
		x.prev[next] = prev
	}
	if prev >= 0 {
		x.next[prev] = next
		return
	}
	x.groups[g].first = next
	if next < 0 {
		x.close(g)
	}
}

func (x *index) open(hash uint64) int32 {
	if x.n >= len(x.heads) {
		x.grow()
	}
	g := x.free
	if g >= 0 {
		x.free = x.groups[g].next
	} else {
		g = int32(len(x.groups))
		x.groups = append(x.groups, group{})
	}
	b := hash & uint64(len(x.heads)-1)
	x.groups[g] = group{hash: hash, first: -1, next: x.heads[b]}
	x.heads[b] = g
	x.n++
	return g
}

func (x *index) close(g int32) {
	b := x.groups[g].hash & uint64(len(x.heads)-1)
	if x.heads[b] == g {
		x.heads[b] = x.groups[g].next
	} else {
		p := x.heads[b]
		for x.groups[p].next != g {
			p = x.groups[p].next
		}
		x.groups[p].next = x.groups[g].next
	}
	x.groups[g] = group{first: -1, next: x.free}
	x.free = g
	x.n--
}

func (x *index) grow() {
	x.heads = make([]int32, max(8, 2*len(x.heads)))
	for i := range x.heads {
		x.heads[i] = -1
	}
	for g := range x.groups {
		if x.groups[g].first >= 0 {
			b := x.groups[g].hash & uint64(len(x.heads)-1)
			x.groups[g].next = x.heads[b]
			x.heads[b] = int32(g)
		}
	}
}
