package world

// scratch is memory for searches. Whoever uses it is done with it before anybody else's code
// runs.
type scratch struct {
	states  stamps // of a search
	members stamps // of a set
	pending []uint64
	ball    []V
	visited []V
	todo    []V
	set     []V
	tarjan
	routes []route
	heap   []hop

	worn, fresh *World // the world that was renewed last, and what it became
}

// stamps holds a small state per vertex and forgets all of them at once.
type stamps struct {
	round uint32
	at    []uint32
}

const (
	stateBits = 2
	stateMask = 1<<stateBits - 1
)

// reset makes the state of n vertices zero.
func (s *stamps) reset(n int) {
	if len(s.at) < n {
		s.at = append(s.at, make([]uint32, n-len(s.at))...)
	}
	if s.round++; s.round == 1<<(32-stateBits) {
		clear(s.at)
		s.round = 1
	}
}

func (s *stamps) get(v V) uint32 {
	if x := s.at[v]; x>>stateBits == s.round {
		return x & stateMask
	}
	return 0
}

func (s *stamps) set(v V, state uint32) { s.at[v] = s.round<<stateBits | state }

// pendings returns room for n words. What is in it is undefined.
func (s *scratch) pendings(n int) []uint64 {
	if len(s.pending) < n {
		s.pending = make([]uint64, n+n/4)
	}
	return s.pending
}
