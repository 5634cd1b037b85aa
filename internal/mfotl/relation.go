package mfotl

import (
	"slices"

	"github.com/aspis-rv/aspis/pkg/verdict"
)

// relation is a set of tuples, each with its mark and its witness, built anew at
// every use. A row is arity words followed by wit witness words: offsets plus one,
// descending, zero-padded.
type relation struct {
	arity, wit int
	seed       uint64
	words      []word
	marks      []verdict.Value
	heads      []int32 // hash buckets, only once there are more than scanRows rows
	next       []int32
}

// scanRows is the number of rows up to which comparing all of them is cheaper than
// hashing.
const scanRows = 8

// keepWords is the capacity above which a scratch buffer is given back after use:
// one huge event must not pin its size to the trace for ever (32 kB each).
const keepWords = 4096

func (r *relation) reset(arity, wit int, seed uint64) {
	if cap(r.words) > keepWords {
		*r = relation{}
	}
	r.arity, r.wit, r.seed = arity, wit, seed
	r.words, r.marks = r.words[:0], r.marks[:0]
	r.heads, r.next = r.heads[:0], r.next[:0]
}

func (r *relation) len() int { return len(r.marks) }

func (r *relation) tuple(i int) []word {
	o := i * (r.arity + r.wit)
	return r.words[o : o+r.arity : o+r.arity]
}

func (r *relation) witness(i int) []uint64 {
	o := i*(r.arity+r.wit) + r.arity
	return r.words[o : o+r.wit : o+r.wit]
}

// find returns the row of a tuple, or -1.
func (r *relation) find(key []word) int {
	if len(r.heads) == 0 {
		for i := range r.marks {
			if slices.Equal(r.tuple(i), key) {
				return i
			}
		}
		return -1
	}
	for i := r.heads[hashWords(r.seed, key)&uint64(len(r.heads)-1)]; i >= 0; i = r.next[i] {
		if slices.Equal(r.tuple(int(i)), key) {
			return int(i)
		}
	}
	return -1
}

// fuse adds a derivation of a tuple: the best one stays. The key must not share
// memory with the relation; raw is the unsorted witness.
func (r *relation) fuse(key []word, m verdict.Value, raw []uint64) {
	if i := r.find(key); i >= 0 {
		r.improve(i, m, raw)
		return
	}
	i := len(r.marks)
	r.words = append(r.words, key...)
	r.words = appendWitness(r.words, raw, r.wit)
	r.marks = append(r.marks, m)
	switch {
	case len(r.heads) > 0 && len(r.marks) <= 2*len(r.heads):
		r.link(i)
	case len(r.marks) > scanRows:
		r.rehash()
	}
}

func (r *relation) improve(i int, m verdict.Value, raw []uint64) {
	if m < r.marks[i] {
		return
	}
	if r.wit > 0 {
		n := len(r.words)
		r.words = appendWitness(r.words, raw, r.wit)
		if cand := r.words[n:]; m > r.marks[i] || better(cand, r.witness(i)) {
			copy(r.witness(i), cand)
		}
		r.words = r.words[:n]
	}
	r.marks[i] = m
}

func (r *relation) link(i int) {
	b := hashWords(r.seed, r.tuple(i)) & uint64(len(r.heads)-1)
	r.next = append(r.next, r.heads[b])
	r.heads[b] = int32(i)
}

func (r *relation) rehash() {
	size := 32
	for size < len(r.marks) {
		size *= 2
	}
	r.heads = slices.Grow(r.heads[:0], size)[:size]
	for i := range r.heads {
		r.heads[i] = -1
	}
	r.next = r.next[:0]
	for i := range r.marks {
		r.link(i)
	}
}

// appendWitness appends raw to dst sorted descending, without duplicates, cut or
// padded with zeros to width. The width of a plan's witnesses is never exceeded.
func appendWitness(dst, raw []uint64, width int) []uint64 {
	n := len(dst)
	for _, o := range raw {
		if o == 0 || width == 0 {
			continue
		}
		if k := len(dst); k < n+width && (k == n || dst[k-1] > o) { // often they come in order
			dst = append(dst, o)
			continue
		}
		at, dup := n, false
		for at < len(dst) && dst[at] >= o {
			dup = dup || dst[at] == o
			at++
		}
		if dup || len(dst)-n == width {
			continue
		}
		dst = slices.Insert(dst, at, o)
	}
	for len(dst)-n < width {
		dst = append(dst, 0)
	}
	return dst
}

// better reports whether witness a is preferred to b among derivations of one
// mark: the newer evidence, compared from the newest event on; of two that agree
// as far as the shorter goes, the shorter.
func better(a, b []uint64) bool {
	for i := range a {
		if a[i] != b[i] {
			return b[i] != 0 && (a[i] == 0 || a[i] > b[i])
		}
	}
	return false
}
