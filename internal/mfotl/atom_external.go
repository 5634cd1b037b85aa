package mfotl

import (
	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// externalAtom reads an external relation.
type externalAtom struct {
	rel   int
	args  []predArg
	bound uint64 // positions whose value is known before the relation is asked
	at    fault
}

func (a *externalAtom) run(st *State, c *chain, k int, m verdict.Value) bool {
	if st.asked.source == nil {
		panic("mfotl: a formula reads an external relation, and the step has no source; use StepIn")
	}
	s := st.asked.open(st)
	s.atom, s.chain, s.k, s.mark, s.more = a, c, k, m, true
	for i := range a.args {
		s.known = append(s.known, a.args[i].value(st, a.bound>>i&1 == 1))
	}
	complete := st.asked.source.Scan(a.rel, s.known, a.bound, s.yield)
	st.asked.under--
	if !complete {
		st.fail(a.at, causeUncertain)
	}
	return s.more
}

// value is that of an argument if it is known.
func (a *predArg) value(st *State, known bool) schema.Value {
	switch {
	case !known:
		return schema.Value{}
	case a.kind == argConst:
		return st.value(a.word)
	}
	return st.value(st.env[a.slot])
}

// scan is a question to the source under way. They are nested as conjuncts are, and kept
// for the next question at the same depth.
type scan struct {
	st    *State
	atom  *externalAtom
	chain *chain
	k     int
	mark  verdict.Value
	more  bool
	known []schema.Value
	yield func(ExternalTuple) bool
}

// asked is the source of the pending step with what is asked of it.
type asked struct {
	source Source
	scans  []*scan // by depth
	under  int     // how many are under way
}

func (a *asked) open(st *State) *scan {
	if a.under == len(a.scans) {
		s := &scan{st: st}
		s.yield = s.take
		a.scans = append(a.scans, s)
	}
	s := a.scans[a.under]
	s.known = s.known[:0]
	a.under++
	return s
}

// take binds the variables of a tuple and goes on with the chain.
func (s *scan) take(t ExternalTuple) bool {
	st := s.st
	if t.Mark == verdict.T {
		return true
	}
	for i := range s.atom.args {
		arg := &s.atom.args[i]
		switch {
		case s.atom.bound>>i&1 == 1: // the source sees to it
		case arg.kind == argBind:
			st.env[arg.slot] = st.intern(t.Args[i])
		case st.env[arg.slot] != st.intern(t.Args[i]): // the variable occurs before
			return true
		}
	}
	n := len(st.wit)
	st.wit = append(st.wit, t.Offset)
	s.more = s.chain.next(st, s.k, verdict.Meet(s.mark, t.Mark))
	st.wit = st.wit[:n]
	return s.more
}
