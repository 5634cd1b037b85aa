package check

import (
	"encoding/binary"
	"math/bits"

	"github.com/aspis-rv/aspis/internal/lang/syntax"
)

// vset is a set of variables: a bit for each name that was numbered.
type vset []uint64

func (s vset) has(v int) bool { return v/64 < len(s) && s[v/64]>>(v%64)&1 == 1 }

func (s vset) union(t vset) vset {
	if len(s) < len(t) {
		s, t = t, s
	}
	if t.within(s) {
		return s
	}
	u := append(vset{}, s...)
	for i, w := range t {
		u[i] |= w
	}
	return u
}

func (s vset) minus(t vset) vset {
	u := append(vset{}, s...)
	for i := range min(len(u), len(t)) {
		u[i] &^= t[i]
	}
	return u
}

// within tells whether every element of s is in t.
func (s vset) within(t vset) bool {
	for i, w := range s {
		if i < len(t) {
			w &^= t[i]
		}
		if w != 0 {
			return false
		}
	}
	return true
}

// key is the set as a map key.
func (s vset) key() string {
	for len(s) > 0 && s[len(s)-1] == 0 {
		s = s[:len(s)-1]
	}
	b := make([]byte, 0, 8*len(s))
	for _, w := range s {
		b = binary.LittleEndian.AppendUint64(b, w)
	}
	return string(b)
}

func (s vset) empty() bool { return s.within(nil) }

func (s vset) equal(t vset) bool { return s.within(t) && t.within(s) }

// measure computes, once for each node, what the later stages ask about formulas.
// Formulas may share nodes.
type measure struct {
	numbers map[string]int
	names   []string
	sizes   map[syntax.Formula]int
	frees   map[syntax.Formula]vset
	rigids  map[syntax.Formula]bool
	// constants are variables that do not count: they have their values from outside of
	// the formulas that are measured.
	constants map[string]bool
}

func newMeasure() *measure {
	return &measure{
		numbers: map[string]int{}, sizes: map[syntax.Formula]int{}, frees: map[syntax.Formula]vset{},
		rigids: map[syntax.Formula]bool{},
	}
}

// size is the number of nodes of f written out, at most a little above MaxCore.
func (m *measure) size(f syntax.Formula) int {
	if n, ok := m.sizes[f]; ok {
		return n
	}
	n := 1
	for _, c := range syntax.Children(f) {
		n += m.size(c)
	}
	n = min(n, MaxCore+1)
	m.sizes[f] = n
	return n
}

// rigid tells whether f does not depend on time: neither predicates nor operators that
// look at time points or at the world occur in it.
func (m *measure) rigid(f syntax.Formula) bool {
	if r, ok := m.rigids[f]; ok {
		return r
	}
	r := true
	switch f.(type) {
	case *syntax.Pred, *syntax.New, *syntax.Prev, *syntax.Once, *syntax.Historically, *syntax.Since, *syntax.Next,
		*syntax.Eventually, *syntax.Always, *syntax.Until,
		*syntax.At, *syntax.Label, *syntax.Somewhere, *syntax.Everywhere, *syntax.Escape, *syntax.Reach, *syntax.Surround:
		r = false
	case *syntax.Bool, *syntax.Cmp, *syntax.Match, *syntax.Not, *syntax.And, *syntax.Or, *syntax.Implies, *syntax.Equiv,
		*syntax.Exists, *syntax.Forall, *syntax.Agg, *syntax.Let:
		for _, c := range syntax.Children(f) {
			r = r && m.rigid(c)
		}
	}
	m.rigids[f] = r
	return r
}

func (m *measure) number(name string) int {
	n, ok := m.numbers[name]
	if !ok {
		n = len(m.names)
		m.numbers[name] = n
		m.names = append(m.names, name)
	}
	return n
}

func (m *measure) single(name string) vset {
	n := m.number(name)
	s := make(vset, n/64+1)
	s[n/64] = 1 << (n % 64)
	return s
}

func (m *measure) terms(ts ...syntax.Term) vset {
	var s vset
	for _, t := range ts {
		syntax.TermVars(t, func(v syntax.Var) {
			if !m.constants[v.Name] {
				s = s.union(m.single(v.Name))
			}
		})
	}
	return s
}

// free is the set of free variables of f, in which names are unique to a variable and
// definitions are in place.
func (m *measure) free(f syntax.Formula) vset {
	if s, ok := m.frees[f]; ok {
		return s
	}
	var s vset
	switch f := f.(type) {
	case *syntax.Pred:
		s = m.terms(f.Args...)
	case *syntax.Cmp:
		s = m.terms(f.Left, f.Right)
	case *syntax.Match:
		s = m.terms(f.Left, f.Right).union(m.terms(f.Groups...))
	case *syntax.At:
		s = m.terms(f.Loc).union(m.free(f.F))
	case *syntax.Agg:
		s = m.single(f.Result.Name).union(m.variables(f.Groups))
	case *syntax.Exists:
		s = m.free(f.F).minus(m.variables(f.Vars))
	case *syntax.Forall:
		s = m.free(f.F).minus(m.variables(f.Vars))
	case *syntax.Bool, *syntax.Not, *syntax.And, *syntax.Or, *syntax.Implies, *syntax.Equiv, *syntax.Let, *syntax.New,
		*syntax.Prev, *syntax.Once, *syntax.Historically, *syntax.Since, *syntax.Next, *syntax.Eventually, *syntax.Always,
		*syntax.Until,
		*syntax.Label, *syntax.Somewhere, *syntax.Everywhere, *syntax.Escape, *syntax.Reach, *syntax.Surround:
		for _, c := range syntax.Children(f) {
			s = s.union(m.free(c))
		}
	}
	m.frees[f] = s
	return s
}

func (m *measure) variables(vars []syntax.Var) vset {
	var s vset
	for _, v := range vars {
		s = s.union(m.single(v.Name))
	}
	return s
}

// list names the variables of a set in the order of their numbers.
func (m *measure) list(s vset) []string {
	var names []string
	for i, w := range s {
		for ; w != 0; w &= w - 1 {
			names = append(names, m.names[i*64+bits.TrailingZeros64(w)])
		}
	}
	return names
}
