package policy

import "strings"

// class is a declared tool class.
type class struct {
	name     string
	contains []string
	unless   []string // prefixes
	emitters []emitter
	effects  []emitter
}

// matcher finds the classes of a tool name in one pass, whatever their number: an
// automaton over the listed substrings (Aho and Corasick, 1975). It allocates
// nothing for names in ASCII.
type matcher struct {
	names  []string
	states []matchState
	// unless holds the exempting prefixes and the classes each exempts from.
	unless []prefix
}

// matchState is one state: where each byte leads, and the classes whose substrings
// end here.
type matchState struct {
	next [256]int32
	hit  uint64
}

type prefix struct {
	text    string
	classes uint64
}

// newMatcher builds the automaton. It takes time and space proportional to the
// total length of the substrings.
func newMatcher(classes []class) *matcher {
	m := &matcher{states: make([]matchState, 1)}
	exempt := map[string]int{}
	for i, c := range classes {
		m.names = append(m.names, c.name)
		for _, s := range c.contains {
			m.insert(s, 1<<i)
		}
		for _, p := range c.unless {
			at, ok := exempt[p]
			if !ok {
				at = len(m.unless)
				exempt[p] = at
				m.unless = append(m.unless, prefix{text: p})
			}
			m.unless[at].classes |= 1 << i
		}
	}
	m.link()
	return m
}

func (m *matcher) insert(s string, bit uint64) {
	at := int32(0)
	for i := range len(s) {
		if m.states[at].next[s[i]] == 0 {
			m.states = append(m.states, matchState{})
			m.states[at].next[s[i]] = int32(len(m.states) - 1)
		}
		at = m.states[at].next[s[i]]
	}
	m.states[at].hit |= bit
}

// link completes the tree to an automaton, breadth first: a byte that does not
// extend a substring leads where it would lead from the longest proper suffix.
func (m *matcher) link() {
	fail := make([]int32, len(m.states))
	var queue []int32
	for _, s := range m.states[0].next {
		if s != 0 {
			queue = append(queue, s)
		}
	}
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		for b, to := range m.states[at].next {
			back := m.states[fail[at]].next[b]
			if to == 0 {
				m.states[at].next[b] = back
				continue
			}
			fail[to] = back
			m.states[to].hit |= m.states[back].hit
			queue = append(queue, to)
		}
	}
}

// match returns the classes of a tool name as bits in the order of names.
func (m *matcher) match(tool string) uint64 {
	if len(m.states) <= 1 {
		return 0
	}
	for i := range len(tool) {
		if tool[i] >= 0x80 {
			tool = strings.ToLower(tool)
			break
		}
	}
	var hits uint64
	at := int32(0)
	for i := range len(tool) {
		at = m.states[at].next[lowerByte(tool[i])]
		hits |= m.states[at].hit
	}
	if hits == 0 {
		return 0
	}
	for _, p := range m.unless {
		if hits&p.classes != 0 && hasLowerPrefix(tool, p.text) {
			hits &^= p.classes
		}
	}
	return hits
}

func lowerByte(b byte) byte {
	if b >= 'A' && b <= 'Z' {
		return b + 'a' - 'A'
	}
	return b
}

func hasLowerPrefix(s, prefix string) bool {
	if len(s) < len(prefix) {
		return false
	}
	for i := range len(prefix) {
		if lowerByte(s[i]) != prefix[i] {
			return false
		}
	}
	return true
}
