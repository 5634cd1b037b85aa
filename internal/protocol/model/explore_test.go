package model

import (
	"fmt"
	"hash/maphash"
	"strings"
)

// node is a state that was reached, and from which one.
type node struct {
	state  state
	parent uint32
}

// explorer is a breadth-first search. Nodes are kept in the order in which they were
// found, which is the queue and the record of how they were reached; the set of
// states is an open hash table of their indices.
type explorer struct {
	cfg       *config
	seed      maphash.Seed
	table     []uint32 // index + 1; 0: free
	nodes     []node
	depth     int
	ends      int
	steps     int
	violation string
	at        uint32 // the node that violates
	limit     int    // stop at so many states; 0: none
	log       func(*reader)
}

func explore(cfg *config, limit int, log func(*reader)) *explorer {
	e := &explorer{cfg: cfg, seed: maphash.MakeSeed(), table: make([]uint32, 1<<16), limit: limit, log: log}
	starts := []uint8{1}
	if cfg.plain {
		starts = append(starts, 0)
	}
	for _, once := range starts {
		e.add(&state{once: once}, 0)
	}
	e.run()
	return e
}

func (e *explorer) run() {
	level := len(e.nodes)
	for i := 0; i < len(e.nodes) && e.violation == "" && (e.limit == 0 || len(e.nodes) < e.limit); i++ {
		if i == level {
			e.depth++
			level = len(e.nodes)
		}
		e.expand(uint32(i))
	}
}

// expand checks the state of node i and adds its successors.
func (e *explorer) expand(i uint32) {
	s := e.nodes[i].state // a copy: the nodes move as they grow
	n := s.len()
	r := read(e.cfg.rule, s.log[:n])
	if bad := checkState(&s, &r, e.cfg.rule); bad != "" {
		e.fail(bad, i)
		return
	}
	from, moved := rank(&s, n), false
	w := steps{cfg: e.cfg, s: &s, r: &r}
	w.visit = func(a action, t *state) {
		moved = true
		e.steps++
		if bad := checkStep(&s, t); bad != "" {
			e.fail(bad, i)
		}
		m := n
		if m < maxLog && t.log[m] != 0 {
			m++
		}
		if to := rank(t, m); !less(from, to) {
			e.fail(fmt.Sprintf("the model itself is wrong: %q leads from rank %v to %v", a.what, from, to), i)
		}
		t.canonical()
		k, isNew := e.add(t, i)
		if isNew && m > n {
			e.appended(&r, t, k)
		}
	}
	w.all()
	if !moved {
		e.ends++
		if bad := checkEnd(&s, &r); bad != "" {
			e.fail(bad, i)
		}
	}
}

// appended compares three readers of the log of node k: one that stood before the
// last record, one that begins anew, and, in a sample, the real one.
func (e *explorer) appended(before *reader, t *state, k uint32) {
	after := *before
	after.step(t.log[before.n])
	if bad := checkAppend(before, &after); bad != "" {
		e.fail(bad, k)
	}
	if again := read(e.cfg.rule, t.log[:after.n]); again != after {
		e.fail("(3) a reader that begins anew disagrees", k)
	}
	if e.log != nil {
		e.log(&after)
	}
}

func (e *explorer) fail(what string, i uint32) {
	if e.violation == "" {
		e.violation, e.at = what, i
	}
}

// add returns the index of a state, and whether it is new.
func (e *explorer) add(s *state, parent uint32) (uint32, bool) {
	if 2*len(e.nodes) >= len(e.table) {
		e.grow()
	}
	for slot := e.slot(s); ; slot = (slot + 1) & (len(e.table) - 1) {
		k := e.table[slot]
		if k == 0 {
			e.nodes = append(e.nodes, node{*s, parent})
			e.table[slot] = uint32(len(e.nodes))
			return uint32(len(e.nodes) - 1), true
		}
		if e.nodes[k-1].state == *s {
			return k - 1, false
		}
	}
}

func (e *explorer) slot(s *state) int {
	return int(maphash.Comparable(e.seed, *s) & uint64(len(e.table)-1))
}

func (e *explorer) grow() {
	e.table = make([]uint32, 2*len(e.table))
	for i := range e.nodes {
		slot := e.slot(&e.nodes[i].state)
		for e.table[slot] != 0 {
			slot = (slot + 1) & (len(e.table) - 1)
		}
		e.table[slot] = uint32(i + 1)
	}
}

// path tells how the violation was reached.
func (e *explorer) path() string {
	var chain []uint32
	for i := e.at; ; i = e.nodes[i].parent {
		chain = append(chain, i)
		if e.nodes[i].parent == i || e.nodes[i].state == (state{once: e.nodes[i].state.once}) {
			break
		}
	}
	var b strings.Builder
	for k := len(chain) - 1; k > 0; k-- {
		e.describe(&b, &e.nodes[chain[k]].state, &e.nodes[chain[k-1]].state)
	}
	last := &e.nodes[e.at].state
	b.WriteString("the log then:\n")
	for i, rec := range last.log[:last.len()] {
		fmt.Fprintf(&b, "  %2d %s\n", i, describe(rec))
	}
	return b.String()
}

// describe prints the step from one state to another.
func (e *explorer) describe(b *strings.Builder, from, to *state) {
	r := read(e.cfg.rule, from.log[:from.len()])
	name := "?"
	w := steps{cfg: e.cfg, s: from, r: &r}
	w.visit = func(a action, t *state) {
		if t.canonical(); *t == *to {
			name = fmt.Sprintf("%s %d %d", a.what, a.a, a.b)
		}
	}
	w.all()
	fmt.Fprintf(b, "  %s\n", name)
}
